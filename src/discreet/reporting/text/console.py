"""Where text goes: a console for a terminal or a pipe, headings, and labels as texts.

Labels, names of columns and texts of certificates come from whoever made the table. The console itself keeps them from
steering a terminal: whatever is printed on it, controls and other characters that hide are spelt out, and a text is one
line, or an indented paragraph, so that no label can write a line of its own. Blank lines are texts of their own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from discreet._support.visible import visible
from discreet.core import labels

__all__ = ["VisibleConsole", "bold", "label_text", "listing", "make_console"]

#: Width of text that goes to a file or a pipe.
PLAIN_WIDTH = 110

#: Before every further line of a text.
INDENT = "  "


class VisibleConsole(Console):
    """A console that shows what hides in a text instead of sending it on."""

    def render_str(self, text: str, **options: Any) -> Text:
        """A plain string, in one line."""
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments without hidden characters, but for rich's own controls and ends of lines."""
        if isinstance(renderable, str):
            renderable = self.render_str(renderable)
        if isinstance(renderable, Text):
            renderable = self._hanging(self._one_line(renderable), options or self.options)
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_visible_lines(segment.text), segment.style)

    def _one_line(self, text: Text) -> Text:
        if visible(text.plain) == text.plain:
            return text
        shown = text.blank_copy()
        for segment in text.render(self):
            shown.append(visible(segment.text), segment.style)
        return shown

    def _hanging(self, text: Text, options: ConsoleOptions) -> Text:
        """A text that is too long for its line, its further lines indented: no label can begin one of them."""
        width = options.max_width
        if text.cell_len <= width or width <= 2 * len(INDENT) or text.no_wrap or options.no_wrap:
            return text
        lines = text.wrap(self, width - len(INDENT), overflow=text.overflow or options.overflow or "fold")
        for line in lines:
            line.rstrip()
        return Text(f"\n{INDENT}").join(lines)


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def make_console(stream: Any) -> VisibleConsole:
    """A console for a stream: full colour on a terminal, plain text of a fixed width elsewhere."""
    # Labels come from users: nothing in them is markup or the name of an emoji.
    plain: dict[str, Any] = {"file": stream, "highlight": False, "markup": False, "emoji": False}
    if getattr(stream, "isatty", lambda: False)():
        return VisibleConsole(**plain)
    return VisibleConsole(**plain, width=PLAIN_WIDTH, no_color=True)


def bold(text: str) -> Text:
    """A heading."""
    return Text(visible(text), style="bold")


def label_text(stored: Any) -> str:
    """A label in its stored form as text."""
    return visible(labels.text(labels.decode(stored)))


def listing(stored: Sequence[Any], most: int = 6) -> str:
    """Several of them, the first by name."""
    shown = ", ".join(label_text(item) for item in stored[:most])
    return shown if len(stored) <= most else f"{shown} and {len(stored) - most} more"
