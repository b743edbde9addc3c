"""What a command says: the one place that writes to stdout and stderr, where no label can steer a terminal."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from discreet._support.visible import visible

__all__ = ["print_debug", "print_lines", "print_result", "say", "say_error", "say_written", "silenced"]

_SILENCED: ContextVar[bool] = ContextVar("discreet-silenced", default=False)


@contextmanager
def silenced() -> Iterator[None]:
    """Say nothing on stderr but errors."""
    token = _SILENCED.set(True)
    try:
        yield
    finally:
        _SILENCED.reset(token)


def print_result(rendered: Any) -> None:
    """A text of `reporting.text` on stdout."""
    from discreet.reporting.text.console import make_console

    make_console(sys.stdout).print(rendered)


def print_lines(text: str) -> None:
    """Text of several lines on stdout: JSON or SQL, whose own ends of lines stay."""
    sys.stdout.write(_lines(text) + "\n")


def say(message: str) -> None:
    """One line on stderr, unless it is not wanted there."""
    if not _SILENCED.get():
        say_error(message)


def say_error(message: str) -> None:
    """One line on stderr that nothing silences."""
    sys.stderr.write(visible(message) + "\n")


def say_written(what: str, path: str | os.PathLike[str]) -> None:
    """Where a file went."""
    say(f"{what} written to {os.fspath(path)}")


def print_debug() -> None:
    """The traceback of the error at hand, on stderr."""
    sys.stderr.write(_lines(traceback.format_exc()))


def _lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))
