"""Where text goes: a console for a terminal or a pipe, headings, and labels as texts."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.core import labels

__all__ = ["bold", "label_text", "listing", "make_console"]

#: Width of text that goes to a file or a pipe.
PLAIN_WIDTH = 110


def make_console(stream: Any) -> Console:
    """A console for a stream: full colour on a terminal, plain text of a fixed width elsewhere."""
    # Labels come from users: nothing in them is markup or the name of an emoji.
    plain: dict[str, Any] = {"file": stream, "highlight": False, "markup": False, "emoji": False}
    if getattr(stream, "isatty", lambda: False)():
        return Console(**plain)
    return Console(**plain, width=PLAIN_WIDTH, no_color=True)


def bold(text: str) -> Text:
    """A heading."""
    return Text(text, style="bold")


def label_text(stored: Any) -> str:
    """A label in its stored form as text."""
    return labels.text(labels.decode(stored))


def listing(stored: Sequence[Any], most: int = 6) -> str:
    """Several of them, the first by name."""
    shown = ", ".join(label_text(item) for item in stored[:most])
    return shown if len(stored) <= most else f"{shown} and {len(stored) - most} more"
