r"""What was published before: of every outcome that a reader may have seen, how many records of (s, x) had it.

After mechanisms :math:`Q_1, Q_2, \dots` were applied to the same records, a reader of a further one knows an outcome
:math:`y = (y_1, y_2, \dots)` of those too. All that a promise about both needs is

.. math:: T_y(s, x) = \sum_{x'} P(s, x, x') \, Q_1(y_1 \mid s, x') \, Q_2(y_2 \mid s, x') \cdots

over what the earlier ones were applied to: the same column, or others of the same record; few of them read s. What bits
and attributes release are all their combinations. Outcomes that tell the same (tables in proportion) are one.
Everything is in integers.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError, UnseenSymbolError
from discreet._support.numeric import IntArray, ObjectArray
from discreet.core.joint import Joint
from discreet.mechanism.base import Mechanism

__all__ = ["Earlier", "values_beside"]

#: Numbers that all tables together hold at most.
MOST_NUMBERS = 5_000_000

#: Outcomes of one release: the sets of 16 bits, which are all that such mechanisms list.
MOST_OUTCOMES = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Earlier:
    """Releases that came before, as outcomes of one table of (sensitive, useful).

    Attributes
    ----------
    joint : Joint
        P(s, x) of the useful values that are to be published next.
    outcomes : tuple of ndarray of int
        T_y(s, x) of every outcome, in integers of one scale; they sum to a multiple of the joint's.
    mechanisms : tuple of Mechanism
        Those that were applied.
    """

    joint: Joint
    outcomes: tuple[ObjectArray, ...] = field(repr=False)
    mechanisms: tuple[Mechanism, ...]

    @classmethod
    def of(cls, joint: Joint, mechanisms: Sequence[Mechanism]) -> Earlier:
        """Releases of the same useful values.

        >>> joint = Joint.from_counts([[3, 1], [1, 3]], useful=["a", "b"])
        >>> Earlier.of(joint, [Mechanism.from_channel([[1, 0], [0.5, 0.5]], useful=["a", "b"])])
        Earlier(1 release, 2 outcomes)
        """
        given = _checked(mechanisms)
        for mechanism in given:
            if mechanism.useful_columns and joint.useful_columns and mechanism.useful_columns != joint.useful_columns:
                raise InputError(
                    f"the earlier release is about {', '.join(mechanism.useful_columns)}, not about "
                    f"{', '.join(joint.useful_columns)}: count both together, by Earlier.from_table."
                )
        seen = [_Seen.by(mechanism, joint, joint.useful) for mechanism in given]
        return cls(joint, _outcomes([joint.masses], seen, np.arange(joint.n_useful)), given)

    @classmethod
    def from_table(
        cls,
        table: Any,
        sensitive: str | Sequence[str],
        useful: str | Sequence[str],
        mechanisms: Sequence[Mechanism],
        *,
        shown: Sequence[str] = (),
        bins: Mapping[str, Any] | None = None,
    ) -> Earlier:
        """Releases of this or other columns of the same records, counted together with the useful ones.

        Parameters
        ----------
        table, sensitive, useful, bins
            As in `Joint.from_table`.
        mechanisms : sequence of Mechanism
            Each knows the columns that it was applied to.
        shown : sequence of str
            Columns that were published as they are.
        """
        given = _checked(mechanisms) if mechanisms or not shown else ()
        own = [useful] if isinstance(useful, str) else list(useful)
        wanted = list(dict.fromkeys([*own, *shown]))
        for mechanism in given:
            wanted += [column for column in mechanism.checked_columns() if column not in wanted]
        cuts = _cuts(own, shown, given, bins or {})
        whole = Joint.from_table(table, sensitive, wanted, bins=cuts or None)
        joint = Joint.from_table(table, sensitive, useful, bins=bins)
        labels = [label if len(wanted) > 1 else (label,) for label in whole.useful]

        def of_columns(columns: Sequence[str]) -> list[Any]:
            where = [wanted.index(column) for column in columns]
            return [label[where[0]] if len(where) == 1 else tuple(label[k] for k in where) for label in labels]

        seen = [_Seen.by(one, whole, of_columns(one.useful_columns)) for one in given]
        place = {label: k for k, label in enumerate(joint.useful)}
        to = np.array([place[label] for label in of_columns(own)])
        parts = _by_value(whole.masses, of_columns(list(shown))) if shown else [whole.masses]
        return cls(joint, _outcomes(parts, seen, to), given)

    def over(self, joint: Joint) -> Earlier:
        """The same for the joint of the same records with its values in another order."""
        place = {label: k for k, label in enumerate(self.joint.useful)}
        missing = [label for label, occurs in zip(joint.useful, joint.occurs) if occurs and label not in place]
        if missing or joint.sensitive != self.joint.sensitive or joint.records != self.joint.records:
            raise InputError("the releases before were counted on other records. Count them on this table.")
        columns = [place.get(label, -1) for label in joint.useful]
        nothing = np.zeros((joint.n_sensitive, 1), dtype=object)
        moved = tuple(np.hstack([table, nothing])[:, columns] for table in self.outcomes)
        return Earlier(joint, moved, self.mechanisms)

    def through(self, mechanism: Mechanism | None = None) -> Joint:
        """The joint of S and all that is seen: the outcomes so far, and what a further mechanism releases; exact."""
        parts = []
        for table in self.outcomes:
            seen = Joint.counted(table, useful=self.joint.useful, **self._described)
            parts.append(table.sum(axis=1, keepdims=True) if mechanism is None else mechanism.expected(seen).masses)
        cells: ObjectArray = np.hstack(parts)
        return Joint.counted(cells, useful=tuple(range(cells.shape[1])), **self._described)

    @property
    def _described(self) -> dict[str, Any]:
        return {"sensitive": self.joint.sensitive, "sensitive_columns": self.joint.sensitive_columns}

    def __repr__(self) -> str:
        count = len(self.mechanisms)
        return f"Earlier({count} release{'' if count == 1 else 's'}, {len(self.outcomes)} outcomes)"


def _cuts(
    useful: Sequence[str], shown: Sequence[str], mechanisms: Sequence[Mechanism], bins: Mapping[str, Any]
) -> dict[str, Any]:
    """Bins of all columns, each cut in one way: whoever sees a column in two sees more than either."""
    found: dict[str, Any] = {}
    roles = [(column, bins.get(column)) for column in useful] + [(column, None) for column in shown]
    roles += [(column, one.bins.get(column)) for one in mechanisms for column in one.checked_columns()]
    for column, cut in roles:
        same = found.setdefault(column, cut)
        if _spelled(same) != _spelled(cut):
            raise InputError(
                f"the column {column!r} is published in two ways, cut into other parts or as it is, which are not "
                "counted together. Publish it in the same parts as before (bins, --bins)."
            )
    others = {column: cut for one in mechanisms for column, cut in one.bins.items() if column not in found}  # sensitive
    every = {**others, **bins, **found}
    return {column: list(cut) if isinstance(cut, tuple) else cut for column, cut in every.items() if cut is not None}


def _spelled(cut: Any) -> Any:
    """A cut as a value that equals another of the same edges."""
    return [float(edge) for edge in cut] if isinstance(cut, tuple | list) else cut


def _checked(mechanisms: Any) -> tuple[Mechanism, ...]:
    given = tuple(mechanisms) if isinstance(mechanisms, Iterable) else (mechanisms,)
    if not given or not all(isinstance(one, Mechanism) for one in given):
        raise InputError("earlier releases are given as a list of mechanisms.")
    return given


def values_beside(mechanism: Mechanism, joint: Joint, outcomes: int = 1) -> int:
    """How many values another column may have to be counted beside a release, after so many outcomes of others.

    None is 0: this release is the last that can be counted. Refused is one that by itself nothing could be counted
    beside, or that cannot be counted with the others.
    """
    cells = joint.n_sensitive * joint.n_useful
    if _is_too_much(mechanism, 1, cells) or _is_too_much(mechanism, outcomes, joint.n_sensitive):
        raise InputError(
            "all that can be released, together with what was published before, is too much to be counted, so that no "
            "release could follow this one, and nothing was released. Coarsen the columns, design it by another "
            "method (of a unary encoding every set of values is an outcome), or release it without a ledger."
        )
    return MOST_NUMBERS // (outcomes * mechanism.n_released * cells)


def _is_too_much(mechanism: Mechanism, outcomes: int, cells: int) -> bool:
    """Whether tables of so many cells for all outcomes, each with all that a mechanism releases, are too many."""
    return mechanism.n_released > MOST_OUTCOMES or outcomes * mechanism.n_released * cells > MOST_NUMBERS


class _Seen(NamedTuple):
    """A mechanism, and where it finds the sensitive and useful values of a joint."""

    mechanism: Mechanism
    rows: IntArray
    columns: IntArray

    @classmethod
    def by(cls, mechanism: Mechanism, joint: Joint, values: Sequence[Any]) -> _Seen:
        """``values`` are those of its own columns, one for each useful value of the joint."""
        columns = _places(mechanism, mechanism.useful, values, joint.occurs)
        if not mechanism.reads_sensitive:
            return cls(mechanism, np.zeros(1, dtype=np.int64), columns)
        read, own = mechanism.sensitive_columns, joint.sensitive_columns
        if read and own and read != own:
            raise InputError(
                f"the earlier release is by a mechanism that reads {', '.join(read)}, and not {', '.join(own)}: what "
                "it told about that cannot be counted. Keep releases about other secrets apart."
            )
        rows = _places(mechanism, mechanism.sensitive, joint.sensitive, joint.masses.any(axis=1))
        return cls(mechanism, rows, columns)

    def weights(self) -> ObjectArray:
        """Of every outcome, by the values of the joint; one row where no sensitive value is read."""
        result: ObjectArray = self.mechanism.outcome_weights()[:, self.rows][:, :, self.columns]
        return result


def _places(mechanism: Mechanism, known: Sequence[Any], values: Sequence[Any], occurs: Any) -> IntArray:
    """Place of each of several values among those that a mechanism knows; of those that never occur, the first."""
    place = {label: k for k, label in enumerate(known)}
    if any(here and value not in place for value, here in zip(values, occurs)):
        of = f" of {', '.join(mechanism.useful_columns)}" if mechanism.useful_columns else ""
        raise UnseenSymbolError(
            f"the earlier release{of} is by a mechanism that does not know some values of this table, so what it told "
            "about their records is unknown. Count on the table that was released, or leave those records out."
        )
    return np.array([place.get(value, 0) for value in values], dtype=np.int64)


def _by_value(masses: ObjectArray, values: Sequence[Any]) -> list[ObjectArray]:
    """Records with each value, all others left out."""
    found: dict[Any, ObjectArray] = {}
    for k, value in enumerate(values):
        found.setdefault(value, np.zeros(masses.shape, dtype=object))[:, k] = masses[:, k]
        if len(found) * masses.size > MOST_NUMBERS:
            raise InputError("columns that were published as they are have too many values to be counted with others.")
    return list(found.values())


def _outcomes(parts: Sequence[ObjectArray], releases: Sequence[_Seen], to: IntArray) -> tuple[ObjectArray, ...]:
    """Tables of all outcomes over the values that records are gathered ``to``."""
    found = list(parts)
    for seen in releases:
        if _is_too_much(seen.mechanism, len(found), parts[0].size):
            raise InputError(
                "the earlier releases have too many outcomes together to be counted. Coarsen the columns, or publish "
                "under mechanisms of fewer released values."
            )
        weights = seen.weights()
        found = _merged([table * outcome for table in found for outcome in weights])
    n_useful = int(to.max()) + 1
    return tuple(_merged([_gathered(table, to, n_useful) for table in found]))


def _gathered(table: ObjectArray, to: IntArray, size: int) -> ObjectArray:
    result: ObjectArray = np.zeros((len(table), size), dtype=object)
    for k, column in zip(to.tolist(), table.T):
        result[:, k] += column
    return result


def _merged(tables: Sequence[ObjectArray]) -> list[ObjectArray]:
    """Tables in proportion to each other as one, their sum; those without records are left out."""
    found: dict[tuple[int, ...], ObjectArray] = {}
    for table in tables:
        flat = table.ravel().tolist()
        common = math.gcd(*flat)
        if common:
            key = tuple(n // common for n in flat)
            found[key] = found[key] + table if key in found else table
    return list(found.values())
