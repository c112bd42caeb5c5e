"""`expect`: the vocabulary of the course's tests.

    exercise("counting.attention_parameters")
    expect(attention_parameters(2)).equals(24, diagnose={
        "The biases are missing: each of the four projections has one.": 16,
    })

`diagnose` maps a sentence to the wrong value that a student with that belief gets. On failure the student reads what came, what was
expected, and the sentence whose value matches. `expect(lambda: f(x))` calls `f` inside the test, so that an exception of the answer
becomes a message too; its type can stand as a wrong value: `{"Divide with //.": ZeroDivisionError}`.
"""

from __future__ import annotations

import hashlib
import io
import re
import types
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any, NoReturn

from autograder import ties
from autograder.frames import asked, line_that_raised
from autograder.plain import array_shape, is_array, is_module, kind, plain, shorten, show, two_digits, type_name, with_article
from autograder.values import EXACTLY, Difference, Tolerance, difference

MOST_LINES = 6
EXERCISE_NAME = re.compile(r"[a-z][a-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*")

Diagnose = Mapping[str, Any]


class _SaidAlone:
    """An exception of which IPython shows the text, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


class ExpectationFailed(_SaidAlone, AssertionError):
    """An answer is not right. `message` is all a student reads; `diagnosis` is the sentence of `diagnose` that matched, or ''."""

    def __init__(self, message: str, diagnosis: str = ""):
        super().__init__(message)
        self.message = message
        self.diagnosis = diagnosis


class AuthorError(_SaidAlone, Exception):
    """A test, not an answer, is written wrongly."""


_current = ""


def exercise(name: str) -> None:
    """Say which exercise the following expectations belong to. The first statement of every test cell."""
    global _current
    if not isinstance(name, str) or not EXERCISE_NAME.fullmatch(name):
        raise AuthorError(f"an exercise is called topic.name, like counting.attention_parameters; not {name!r}")
    _current = name


def expect(value: Any) -> Expectation:
    """What follows is expected of `value`, or, when it is a `lambda:`, of what calling it gives."""
    return Expectation(value)


def digest(choice: str) -> str:
    """What stands in a test for the right `choice` of the current exercise, so that the test does not give it away."""
    return hashlib.sha256(f"{_current}:{choice}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Outcome:
    """What came of evaluating an answer: a value, or the exception it raised."""

    value: Any = None
    error: BaseException | None = None

    @classmethod
    def of(cls, call: Callable[[], Any], through: tuple[type[Exception], ...] = (NotImplementedError,)) -> Outcome:
        """The outcome of a call; exceptions go `through` that say nothing of an answer, as of an exercise nobody has written yet."""
        try:
            return cls(call())
        except (AuthorError, *through):
            raise
        except (Exception, SystemExit) as error:
            return cls(error=error)

    def matches(self, wrong: Any, tolerance: Tolerance = EXACTLY) -> bool:
        if isinstance(wrong, type) and issubclass(wrong, BaseException):
            return issubclass(type(self.error), wrong)
        return self.error is None and difference(self.value, wrong, tolerance) is None

    def diagnosis(self, diagnose: Diagnose, tolerance: Tolerance = EXACTLY) -> str:
        return next((sentence for sentence, wrong in diagnose.items() if self.matches(wrong, tolerance)), "")


class Expectation:
    def __init__(self, value: Any):
        self._value = value

    # --- values ---

    def equals(self, want: Any, diagnose: Diagnose | None = None) -> None:
        """Exactly `want`: same type, same structure, same numbers."""
        self._judge(self._evaluate(), want, diagnose or {}, EXACTLY, verb="gave")

    def close_to(self, want: Any, rtol: float = 1e-5, atol: float = 1e-6, diagnose: Diagnose | None = None) -> None:
        """Every number within `atol + rtol * |wanted|`; shapes and dtypes exactly."""
        self._judge(self._evaluate(), want, diagnose or {}, Tolerance(rtol, atol), verb="gave")

    def prints(self, want: str, diagnose: Diagnose | None = None) -> None:
        """Calling the value prints exactly `want` (blanks at line ends and a last newline do not count)."""

        def printed() -> str:
            output = io.StringIO()
            with redirect_stdout(output):
                self._callable()()
            return _without_blank_ends(output.getvalue())

        diagnose = {
            sentence: _without_blank_ends(wrong) if isinstance(wrong, str) else wrong for sentence, wrong in (diagnose or {}).items()
        }
        self._judge(Outcome.of(printed), _without_blank_ends(want), diagnose, EXACTLY, verb="printed")

    def has_shape(self, *want: int, diagnose: Diagnose | None = None) -> None:
        """A tensor or array of this shape."""
        diagnose, outcome = diagnose or {}, self._evaluate()
        _refuse_useless(diagnose, want, EXACTLY)
        if outcome.error is not None or not is_array(outcome.value):
            self._fail(outcome, "gave", f"a tensor of shape {show(want)}", diagnose)
        shape = Outcome(array_shape(outcome.value))
        if not shape.matches(want):
            self._fail(shape, "has shape", show(want), diagnose)

    def chooses(self, right: str, among: Iterable[str], diagnose: Diagnose) -> None:
        """One of the letters `among`; `right` is the `digest` of the right one. `diagnose` explains every wrong one."""
        among = tuple(among)
        digests = {choice: digest(choice) for choice in among}
        if right not in digests.values():
            raise AuthorError(f"no choice has the digest {right!r}; for {_current or 'no exercise'} they are {digests}")
        if sorted(wrong for wrong in diagnose.values() if isinstance(wrong, str)) != sorted(c for c in among if digests[c] != right):
            raise AuthorError("diagnose must explain each wrong choice once, and only those")
        outcome = self._evaluate()
        choice = plain(outcome.value)
        if outcome.error is not None or type(choice) is not str or choice not in digests:
            self._fail(outcome, "gave", f"one of {', '.join(map(repr, among))}", diagnose)
        if digests[choice] != right:
            self._fail(outcome, "chose", "", diagnose)

    # --- exceptions ---

    def raises(self, want: type[Exception] | tuple[type[Exception], ...], match: str = "", diagnose: Diagnose | None = None) -> None:
        """Calling the value raises `want`, with a message in which the regular expression `match` is found."""
        diagnose, wanted = diagnose or {}, want if isinstance(want, tuple) else (want,)
        for sentence, wrong in diagnose.items():
            if not match and isinstance(wrong, type) and issubclass(wrong, wanted):
                raise AuthorError(f"this diagnosis has the right answer as its wrong value ({wrong.__name__}): {sentence!r}")
        outcome = Outcome.of(self._callable(), through=() if NotImplementedError in wanted else (NotImplementedError,))
        if issubclass(type(outcome.error), wanted) and re.search(match, _text_of(outcome.error)):
            return
        names = " or ".join(error.__name__ for error in wanted)
        naming = f" whose message names {match}" if re.fullmatch(r"\w+", match) else f" whose message matches {match!r}" if match else ""
        self._fail(outcome, "gave", f"{with_article(names)}{naming}", diagnose)

    # --- modules ---

    def has_parameters(self, want: int, diagnose: Diagnose | None = None) -> None:
        """A module with `want` parameters, each counted once."""
        outcome = self._evaluate()
        if outcome.error is None:
            counted = Outcome.of(lambda: sum(parameter.numel() for parameter in outcome.value.parameters()), through=())
            if counted.error is not None:
                self._fail_as_module(outcome, counted.error)
            outcome = counted
        self._judge(outcome, want, diagnose or {}, EXACTLY, verb="has", unit=" parameters")

    def ties(self, first: str, second: str, diagnose: Diagnose | None = None) -> None:
        """The parameters of these names are one: in memory, for an optimizer, and after a step."""
        told = {
            ties.ONE_STORAGE: f"{first} and {second} share their memory, but an optimizer sees two parameters and updates it twice.",
            ties.PARTLY: f"{first} and {second} share only a part of their memory.",
            ties.EQUAL_COPIES: f"{first} and {second} have equal values now, but writing to one does not change the other.",
            ties.SEPARATE: f"{first} and {second} are two separate parameters: writing to one does not change the other.",
        }
        self._relate(first, second, told, diagnose or {})

    def unties(self, first: str, second: str, diagnose: Diagnose | None = None) -> None:
        """The parameters of these names do not share memory; their values may be equal."""
        told = dict.fromkeys(
            (ties.TIED, ties.ONE_STORAGE, ties.PARTLY), f"{first} and {second} share their memory: writing to one changes the other."
        )
        self._relate(first, second, told, diagnose or {})

    def _relate(self, first: str, second: str, told: Mapping[str, str], diagnose: Diagnose) -> None:
        """Fail when the relation of the two tensors is one of `told`, which says what is wrong with it."""
        for sentence, wrong in diagnose.items():
            if wrong not in told:
                raise AuthorError(f"a wrong value here is one of {', '.join(map(repr, told))}; not {wrong!r} ({sentence!r})")
        module = self._evaluate()
        if module.error is not None:
            self._fail(module, "gave", "a torch module", diagnose)
        found = Outcome.of(lambda: ties.relation(module.value, first, second), through=())
        if found.error is not None:
            self._fail_as_module(module, found.error)
        if found.value in told:
            raise _failure([told[found.value]], found.diagnosis(diagnose))

    # --- how it works ---

    def _evaluate(self) -> Outcome:
        is_lambda = type(self._value) is types.FunctionType and self._value.__name__ == "<lambda>"
        return Outcome.of(self._value) if is_lambda else Outcome(self._value)

    def _callable(self) -> Callable[[], Any]:
        if not callable(self._value):
            raise AuthorError(f"write expect(lambda: ...): there is nothing to call in {kind(self._value)}")
        return self._value

    def _judge(self, outcome: Outcome, want: Any, diagnose: Diagnose, tolerance: Tolerance, verb: str, unit: str = "") -> None:
        _refuse_useless(diagnose, want, tolerance)
        if outcome.error is not None:
            self._fail(outcome, verb, show(want, _digits(tolerance)) + unit, diagnose)
        found = difference(outcome.value, want, tolerance)
        if found is not None:
            diagnosis = outcome.diagnosis(diagnose, tolerance) or Outcome(found.got).diagnosis(diagnose, tolerance)
            raise _failure(_difference_lines(found, verb, tolerance, unit), diagnosis)

    def _fail(self, outcome: Outcome, verb: str, expected: str, diagnose: Diagnose) -> NoReturn:
        """Say what came, as a whole, and what was expected."""
        came = f"{verb} {show(outcome.value)}" if outcome.error is None else f"raised {type_name(outcome.error)}"
        lines = [f"{asked().text} {came}" + (f", expected {expected}." if expected else ".")]
        if outcome.error is not None:
            text, line = shorten(_text_of(outcome.error)), line_that_raised(outcome.error)
            lines += [f"    It says: {text}"] * bool(text) + [f"    in the line: {line}"] * bool(line)
        raise _failure(lines, outcome.diagnosis(diagnose))

    def _fail_as_module(self, outcome: Outcome, error: BaseException) -> NoReturn:
        is_reason = isinstance(error, LookupError) or is_module(outcome.value)
        reason = f": {shorten(_text_of(error)).rstrip('.')}." if is_reason else "; a torch module is expected."
        raise _failure([f"{asked().text} is {kind(outcome.value)}{reason}"])


def _failure(lines: Iterable[str], diagnosis: str = "") -> ExpectationFailed:
    """The lines, what the names in the test stand for, and the diagnosis, cut to MOST_LINES."""
    lines = [line for text in [*lines, asked().givens] if text for line in text.split("\n")]
    ending = diagnosis.split("\n") if diagnosis else []
    room = MOST_LINES - len(ending)
    if len(lines) > room:
        lines = [*lines[: room - 1], "…"]
    return ExpectationFailed("\n".join(lines + ending), diagnosis)


def _difference_lines(found: Difference, verb: str, tolerance: Tolerance, unit: str) -> list[str]:
    place = asked().at(found.path)
    if type(found.got) is type(found.want) is str and found.detail:  # the line that differs says it all
        return [f"{place} {verb} another text than expected.", found.detail]
    got, want = (show(value, _digits(tolerance)) for value in (found.got, found.want))
    kinds, note = {type(found.got), type(found.want)}, ""
    if got == want and kinds in ({float}, {int, float}):
        note = f" They are {two_digits(abs(found.got - found.want))} apart."
    elif got == want and not found.detail:
        note = " They look alike here, but are not the same."
    return [f"{place} {verb} {got}{unit}, expected {want}.{note}", found.detail]


def _refuse_useless(diagnose: Diagnose, want: Any, tolerance: Tolerance) -> None:
    """A diagnosis must have a wrong value, and one of its own: else it would never be read, or be read by the wrong student."""
    seen: list[tuple[str, Any]] = []
    for sentence, wrong in diagnose.items():
        if Outcome(want).matches(wrong, tolerance):
            raise AuthorError(f"this diagnosis has the right answer as its wrong value ({show(wrong)}): {sentence!r}")
        for other, earlier in seen:
            if earlier is wrong or (not isinstance(earlier, type) and Outcome(earlier).matches(wrong, tolerance)):
                raise AuthorError(f"two diagnoses have the same wrong value ({show(wrong)}): {other!r} and {sentence!r}")
        seen.append((sentence, wrong))


def _digits(tolerance: Tolerance) -> int | None:
    return None if tolerance.exact else 2


def _text_of(error: BaseException) -> str:
    try:
        return plain(str(error))
    except Exception:  # an answer's exception may have a broken __str__
        return ""


def _without_blank_ends(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))
