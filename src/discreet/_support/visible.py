"""Text for people, in which nothing hides: characters that move a cursor, break a line or cannot be seen, spelt out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import unicodedata

__all__ = ["is_hidden", "visible"]

#: Invisible characters that belong to words and emoji.
JOINERS = "\u200c\u200d"

#: Categories of Unicode: controls, formats (which turn the direction, too), surrogates, ends of lines and paragraphs.
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")

#: Letters, marks and signs that are drawn as nothing, or as a blank.
BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"


def is_hidden(character: str) -> bool:
    """Whether a character cannot be seen as itself; the joiners of words and emoji cannot either."""
    return (
        unicodedata.category(character) in HIDDEN
        or character in BLANKS
        or "\U000e0100" <= character <= "\U000e01ef"  # variants of letters, hundreds of them, for nothing that we show
    )


def visible(text: str) -> str:
    """Text in which characters that hide, break lines or turn the direction are spelt out.

    >>> print(visible("a\\nb\\u202ec"))
    a\\nb\\u202ec
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelt(c) if is_hidden(c) and c not in JOINERS else c for c in text)


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()
