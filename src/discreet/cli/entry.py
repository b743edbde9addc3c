"""Where the ``discreet`` command begins: the overview and the version at once, all else by the `app`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys

from discreet._support.version import version
from discreet.cli.overview import ASKS_FOR_OVERVIEW, overview

__all__ = ["main"]


def main() -> None:
    """Entry point of the console script."""
    asked = sys.argv[1:]
    if asked in ASKS_FOR_OVERVIEW:
        _print(overview())
    elif asked == ["--version"]:
        _print(version())
    else:
        from discreet.cli.app import main as command

        command()


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
