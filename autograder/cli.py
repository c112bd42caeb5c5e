"""The `course` command. Each command is one line to the module that does the work."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from autograder.commands import app
    except ModuleNotFoundError as error:
        sys.exit(f"the `course` command needs {error.name}, which is not installed: pip install 'paramshare[lab]'")
    app()
