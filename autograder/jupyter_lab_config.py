"""JupyterLab for this course: rooted at the course, and asking nothing of the network.

Found like nbgrader_config.py beside it. labconfig/page_config.json takes away JupyterLab's news and update prompt, and nbgrader's
Assignment List and Course List, which look for an exchange folder that this course does without.
"""

from pathlib import Path

c = get_config()
c.ServerApp.root_dir = str(Path(__file__).resolve().parents[1])
c.ServerApp.allow_root = True  # in a container people are root; the server still listens on localhost alone, behind its token
c.LabApp.extension_manager = "readonly"
