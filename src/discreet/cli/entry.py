"""Where the ``discreet`` command begins: the overview and the version at once, all else by the `app`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys

from discreet._support.version import version
from discreet.cli.overview import ASKS_FOR_OVERVIEW, overview
from discreet.cli.streams import print_lines, say_error

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Entry point of the console script."""
    _open_streams()
    asked = sys.argv[1:]
    if asked in ASKS_FOR_OVERVIEW:
        _show(overview())
    elif asked == ["--version"]:
        _show(version())
    else:
        try:
            from discreet.cli.app import main as command
        except KeyboardInterrupt:
            say_error("discreet: error: interrupted: nothing half-done is left.")
            sys.exit(INTERRUPTED)
        command()


def _open_streams() -> None:
    """Whoever closed stdout or stderr does not want to see them, and the work is done all the same."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (for as long as the process runs)


def _show(text: str) -> None:
    try:
        print_lines(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be written at exit
        if not isinstance(error, BrokenPipeError):  # whose reader has seen enough
            say_error(f"discreet: error: cannot write the result: {error.strerror}.")
            sys.exit(2)
