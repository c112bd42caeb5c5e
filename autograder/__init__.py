"""What a notebook of this course imports: the vocabulary of its tests.

`from autograder import exercise, expect` needs the standard library and `executing`; torch is imported when a test touches a tensor.
"""

from autograder.expect import exercise, expect
from autograder.factory import factory

__all__ = ["exercise", "expect", "factory"]


def load_ipython_extension(shell) -> None:
    """`%load_ext autograder`: the magics `%%mistake` and `%%alternative`, for authors."""
    from autograder.magics import AuthoringMagics

    shell.register_magics(AuthoringMagics)
