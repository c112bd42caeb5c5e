"""The rules of `course lint`: each a function that takes a source and gives findings. To add one, write it and list it here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autograder.authoring.rules import code, exercises, figures, markers, names, outputs, prose, rooms, tests
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import Source

Rule = Callable[[Source], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    # the parts of a chapter
    prose.title_says_what_it_takes,
    prose.opens_cold,
    prose.has_its_sections,
    prose.has_an_open_cell,
    prose.quiz_has_three_questions,
    prose.questions_stand_alone,
    prose.text_is_short,
    # the parts of an exercise
    exercises.has_a_card,
    exercises.has_three_hints,
    exercises.has_tests,
    exercises.tests_have_a_solution,
    exercises.has_three_mistakes,
    exercises.has_an_alternative,
    exercises.answers_stand_below_tests,
    exercises.mistakes_name_a_diagnosis,
    # what nbgrader goes by
    names.grade_ids_are_unique,
    names.grade_ids_are_cell_ids,
    names.grade_ids_name_their_part,
    names.tests_have_points,
    markers.solutions_are_marked,
    markers.hidden_tests_are_marked,
    # tests
    tests.begins_with_its_exercise,
    tests.ends_in_no_value,
    tests.prints_nothing,
    rooms.tests_run_in_a_room_of_their_own,
    # code
    code.is_python,
    code.graded_and_exported_cells_have_no_magics,
    code.has_docstrings,
    code.has_type_hints,
    code.code_is_short,
    code.asks_nobody,
    code.needs_no_network,
    # pictures and outputs
    figures.figures_have_alt_text,
    figures.figures_are_shown_with_alt_text,
    figures.images_in_text_have_alt_text,
    figures.figures_are_not_compared,
    outputs.outputs_have_no_stderr,
    outputs.outputs_have_no_error,
    outputs.ignored_outputs_are_asserted,
)

__all__ = ["RULES", "Finding", "Rule"]
