"""What of a record is its secret: the values of sensitive columns as labels, cut, gathered and taken together.

Numbers are cut at edges, values too rare to promise anything about are gathered, and several columns are one secret
together, or one secret each: then every record counts for one of them, which its key chose.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import FloatArray, IntArray
from discreet.core import labels
from discreet.tables.binning import interval_text
from discreet.twins.cells import FOUND, Cells, cells_of

__all__ = ["RARER", "Secret", "SecretRule"]

#: The label of gathered values.
RARER = "rarer values"

Texts = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Secret:
    """The secret of every record.

    Attributes
    ----------
    codes : ndarray of int
        Of each record, the place of its label.
    labels : tuple of str
        All that occur, sorted.
    """

    codes: IntArray
    labels: tuple[str, ...]

    @classmethod
    def of(cls, texts: Texts) -> Secret:
        """Labels as codes."""
        found, codes = np.unique(texts.astype(str), return_inverse=True)
        return cls(codes.reshape(-1).astype(np.int64), tuple(found.tolist()))


@dataclass(frozen=True)
class SecretRule:
    """How secrets are read from a table.

    Attributes
    ----------
    columns : tuple of str
        The sensitive ones.
    each : bool
        Whether they are secrets of their own, or one together.
    edges : mapping of str to tuple of float
        Where numeric columns are cut.
    gathered : tuple of str
        Labels that are rare and count as one.
    kept : tuple of str or None
        Where not all labels are known, those that do not count as that one.
    ways : mapping of str to str or None
        How texts of columns are read as numbers; left out, as most are written.
    """

    columns: tuple[str, ...]
    each: bool = False
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    gathered: tuple[str, ...] = ()
    kept: tuple[str, ...] | None = None
    ways: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def n_turns(self) -> int:
        """Secrets of which every record counts for one."""
        return len(self.columns) if self.each else 1

    def columns_of(self, table: Any) -> list[Texts]:
        """Labels of every record, of each secret by itself."""
        texts = [self._texts(cells_of(name, table.column(name), self.ways.get(name, FOUND))) for name in self.columns]
        if self.each and len(texts) > 1:
            texts = [_named(name, own) for name, own in zip(self.columns, texts)]
        elif len(texts) > 1:
            texts = [_together(texts)]
        return [self._gathered(own, column) for own, column in zip(texts, self.columns)]

    def read(self, table: Any, turns: IntArray) -> Secret:
        """The secret of every record: that whose turn it is, from 0 on."""
        found = self.columns_of(table)
        return Secret.of(found[0] if len(found) == 1 else np.choose(np.maximum(turns, 0), found))

    def _texts(self, cells: Cells) -> Texts:
        edges = self.edges.get(cells.name)
        if edges is not None and cells.numbers is not None:
            codes = np.searchsorted(np.array(edges), cells.numbers, side="right")
            names = [interval_text(int(code), edges) for code in codes]
            names = ["null" if np.isnan(n) else name for n, name in zip(cells.numbers, names)]
        else:
            names = [labels.text(value) for value in cells.values.to_pylist()]
        return np.array([*names, "null"], dtype=object)[cells.codes]

    def _gathered(self, texts: Texts, column: str) -> Texts:
        if not self.gathered and self.kept is None:
            return texts
        name = f"{column}: {RARER}" if self.each and len(self.columns) > 1 else RARER
        different, codes = np.unique(texts.astype(str), return_inverse=True)
        shown = np.array([name if self._is_rare(text) else text for text in different], dtype=object)
        result: Texts = shown[codes.reshape(-1)]
        return result

    def _is_rare(self, text: str) -> bool:
        return text in self.gathered or (self.kept is not None and text not in self.kept)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "columns": list(self.columns),
            "each": self.each,
            "edges": {name: list(edges) for name, edges in self.edges.items()},
            "gathered": list(self.gathered),
            **({} if self.kept is None else {"kept": list(self.kept)}),
            **({"ways": dict(self.ways)} if self.ways else {}),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> SecretRule:
        """What `to_dict` gave."""
        edges = {name: tuple(own) for name, own in stored["edges"].items()}
        kept = None if stored.get("kept") is None else tuple(stored["kept"])
        gathered, ways = tuple(stored["gathered"]), dict(stored.get("ways", {}))
        return cls(tuple(stored["columns"]), bool(stored["each"]), edges, gathered, kept, ways)


def _named(column: str, texts: Texts) -> Texts:
    return _shown(texts, lambda text: f"{column}: {text}")


def _together(columns: Sequence[Texts]) -> Texts:
    """Labels of several columns as one."""
    parts = [np.unique(texts.astype(str), return_inverse=True) for texts in columns]
    whole: IntArray = np.zeros(len(columns[0]), dtype=np.int64)
    for different, codes in parts:
        whole = whole * len(different) + codes.reshape(-1)
    found, places = np.unique(whole, return_inverse=True)
    shown = []
    for number in found.tolist():
        names, rest = [], number
        for different, _ in reversed(parts):
            rest, place = divmod(rest, len(different))
            names.append(str(different[place]))
        shown.append("(" + ", ".join(reversed(names)) + ")")
    result: Texts = np.array(shown, dtype=object)[places.reshape(-1)]
    return result


def _shown(texts: Texts, words: Any) -> Texts:
    different, codes = np.unique(texts.astype(str), return_inverse=True)
    result: Texts = np.array([words(str(text)) for text in different], dtype=object)[codes.reshape(-1)]
    return result


def quantile_edges(numbers: FloatArray, parts: int) -> tuple[float, ...]:
    """Where numbers are cut into parts of about equally many; edges that fall together are one."""
    inside = numbers[~np.isnan(numbers)]
    if not len(inside):
        return ()
    shares = np.arange(1, parts) / parts
    found = np.unique(np.quantile(inside, shares, method="higher"))
    return tuple(float(edge) for edge in found if edge > inside.min())
