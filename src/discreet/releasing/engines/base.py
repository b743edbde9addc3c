"""What an engine is: whoever holds an open table and can draw from it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from discreet.drawing.keys import DrawKeys
from discreet.drawing.statement import Joined, joined_tables
from discreet.drawing.thresholds import draws_of
from discreet.releasing.plan import Plan
from discreet.releasing.request import Request
from discreet.tables.session import Table

__all__ = ["Drawing", "Drawn", "Engine"]


@dataclass(frozen=True)
class Drawing:
    """All that a draw needs.

    Attributes
    ----------
    plan : Plan
        Columns that are looked up, drawn and kept.
    keys : DrawKeys
        The secrets of the draw.
    suppressed : dict
        Unknown values, each with the known one that it is drawn like.
    tables : tuple of Joined
        The thresholds of every released column, as tables that a query joins.
    """

    plan: Plan
    keys: DrawKeys
    suppressed: Mapping[tuple[Any, ...], tuple[Any, ...]]
    tables: tuple[Joined, ...]

    @classmethod
    def of(cls, plan: Plan, keys: DrawKeys, suppressed: Mapping[tuple[Any, ...], tuple[Any, ...]]) -> Drawing:
        """With the lookup tables of the plan's mechanism."""
        return cls(plan, keys, suppressed, joined_tables(draws_of(plan.mechanism), shuffle=plan.shuffle))


class Drawn(NamedTuple):
    """What a draw gave: a frame, or nothing where a file was written; how many rows, where that is known.

    The digest of a file where it is computed beside other work already, and else None.
    """

    table: Any
    rows: int | None
    digest: Future[str] | None = None


class Engine(Protocol):
    """Whoever draws. A new engine is this one page: it opens a table that answers questions, and draws from it."""

    name: ClassVar[str]
    writes_folder: ClassVar[bool]
    table: Table

    @classmethod
    def opened(cls, request: Request, spill: Path | None) -> AbstractContextManager[Engine]:
        """The engine with the request's table open; ``spill`` is a private folder for what does not fit in memory."""
        ...

    def draw(self, drawing: Drawing, target: Path | None) -> Drawn:
        """The release as a file or folder of this name, whose ending says its format; as a frame without one."""
        ...
