"""The secret of an attack: a code for each record, and what the codes stand for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.labels import plain, text
from discreet.twins.cells import Cells, cells_of

__all__ = ["Secret", "secret_of"]

#: Numbers of more values than this are cut into so many parts of about equal size.
MOST_NUMBERS, PARTS = 10, 5

#: Values that are told apart, the commonest, fewer where they would have fewer records on average; others are one.
MOST_VALUES, FEWEST_VALUES, RECORDS = 40, 10, 20

OTHERS = "other values"


@dataclass(frozen=True, eq=False)
class Secret:
    """What an attack tries to learn.

    Attributes
    ----------
    codes : ndarray of int
        Of each record, from 0 on.
    values : tuple
        Labels of the codes; null is None, tuples where several columns are sensitive.
    notes : tuple of str
        What was cut or put together.
    """

    codes: IntArray
    values: tuple[Any, ...]
    notes: tuple[str, ...]

    @property
    def shares(self) -> FloatArray:
        """How common each value is: P(s)."""
        result: FloatArray = np.bincount(self.codes, minlength=len(self.values)) / len(self.codes)
        return result


def secret_of(columns: Sequence[tuple[str, Any]]) -> Secret:
    """One or several sensitive columns of an Arrow table as one secret."""
    parts = [_of_column(name, column) for name, column in columns]
    notes = tuple(note for part in parts for note in part.notes)
    codes, values = parts[0].codes, [(value,) for value in parts[0].values]
    for part in parts[1:]:
        found, codes = np.unique(codes * len(part.values) + part.codes, return_inverse=True)
        values = [(*values[k // len(part.values)], part.values[k % len(part.values)]) for k in found.tolist()]
    named = [value[0] if len(columns) == 1 else value for value in values]
    whole = _commonest(Secret(codes, tuple(named), notes))
    if len(whole.values) < 2:
        listed = " + ".join(name for name, _ in columns)
        raise InputError(f"the sensitive column {listed} has one value only: there is nothing to learn. Use another.")
    return whole


def _of_column(name: str, column: Any) -> Secret:
    cells = cells_of(name, column)
    if cells.numbers is not None and cells.n_values > MOST_NUMBERS:
        return _cut(cells, column)
    _, first, codes = np.unique(cells.codes, return_index=True, return_inverse=True)
    return Secret(codes, tuple(plain(column[int(row)].as_py()) for row in first), ())


def _cut(cells: Cells, column: Any) -> Secret:
    """Numbers or times in parts of about equal size, null apart."""
    part = np.append(np.minimum((cells.ranks * PARTS).astype(np.int64), PARTS - 1), PARTS)
    found, codes = np.unique(part[cells.codes], return_inverse=True)
    given = [k for k in found.tolist() if k < PARTS]
    values = [_span(cells, column, np.flatnonzero(part[:-1] == k), k == given[0], k == given[-1]) for k in given]
    labels = (*values, None) if len(given) < len(found) else tuple(values)
    return Secret(codes, labels, (f"{cells.name} is cut into {len(given)} parts of about equal size.",))


def _span(cells: Cells, column: Any, values: IntArray, is_first: bool, is_last: bool) -> str:
    """A part by its ends; the smallest and the largest value of all are somebody's own, and not named."""
    low, high = (_text(column[int(np.argmax(cells.codes == value))].as_py()) for value in (values[0], values[-1]))
    if is_first:
        return f"up to {high}"
    return f"{low} and above" if is_last else f"{low} to {high}"


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else text(value)


def _commonest(secret: Secret) -> Secret:
    """The commonest values, all others as one."""
    most = int(np.clip(len(secret.codes) // RECORDS, FEWEST_VALUES, MOST_VALUES))
    if len(secret.values) <= most:
        return secret
    counts = np.bincount(secret.codes)
    kept = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
    place = np.full(len(counts), len(kept))
    place[kept] = np.arange(len(kept))
    values = (*(secret.values[k] for k in kept.tolist()), OTHERS)
    note = f"{len(counts) - len(kept)} rarer values of S are taken as one, {OTHERS!r}."
    return Secret(place[secret.codes], values, (*secret.notes, note))
