"""nbgrader in JupyterLab and on the command line: the class lives in class/, chapters come from solutions/.

Found through JUPYTER_CONFIG_PATH=autograder, from the root of the course: for `nbgrader ...` and for `jupyter lab`.
"""

from pathlib import Path

from autograder.course import Course
from autograder.grading import feedback, rules
from autograder.nbgrader_settings import settings

course = Course(Path(__file__).resolve().parents[1])
class_root = course.root / "class"
class_root.mkdir(exist_ok=True)  # the formgrader makes the gradebook in it, but not the folder

c = get_config()
c.merge(feedback.apply(rules.apply(settings(course, class_root))))
# JupyterLab shows the formgrader only for a course whose root is its own.
c.CourseDirectory.root = str(course.root)
c.CourseDirectory.source_directory = "solutions"
for step in ("source_with_tests", "solution", "release", "submitted", "autograded", "feedback"):
    c.CourseDirectory[f"{step}_directory"] = f"class/{step}"
