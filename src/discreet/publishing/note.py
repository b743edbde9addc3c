"""`Note`: what an owner is told with a publication, a sentence with a name that programs can go by."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

__all__ = ["Note"]


class Note(str):
    """A text, which may be worded anew from version to version, with a ``code`` that stays what it is.

    >>> note = Note("ids", "left out as ids: nr")
    >>> note.code, str(note)
    ('ids', 'left out as ids: nr')
    """

    code: str

    def __new__(cls, code: str, text: str) -> Note:
        """A text under its code."""
        made = super().__new__(cls, text)
        made.code = code
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """How a copy is made."""
        return self.code, str(self)
