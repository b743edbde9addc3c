"""Joint distributions P(s, x) of a sensitive and a useful variable, with labels and exact masses."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import (
    LEVEL_GUARD,
    MOST_SUMMED,
    SMALLEST_SCREENED,
    BoolArray,
    FloatArray,
    IntArray,
    ObjectArray,
    exact_integers,
)
from discreet._support.visible import visible
from discreet.core import cells, labels

if TYPE_CHECKING:
    from discreet.mechanism import Mechanism

__all__ = ["Joint"]


class Joint:
    r"""A joint distribution :math:`P(s, x)`: rows are sensitive values, columns are useful values.

    Build one with `from_array`, `from_counts`, `from_table` or `random`. Declared values may have no mass
    (another year's values); the measures skip such useful symbols. Two descriptions are kept side by side:
    ``probabilities`` in floats for speed, ``masses`` as integers in exactly the same proportions for proofs.

    Attributes
    ----------
    probabilities : ndarray of shape (n_sensitive, n_useful)
        Sums to one.
    sensitive, useful : tuple
        Labels of the rows and the columns, distinct; ``released`` is another name of ``useful`` for joints
        that came out of a mechanism.
    counts : ndarray or None
        The integers given to `from_counts` or counted by `from_table`.
    sensitive_columns, useful_columns : tuple of str
        Where the labels come from; empty for joints that no table stands behind.
    bins : dict
        Column name to the increasing edges it was cut at.

    Examples
    --------
    >>> joint = Joint.from_counts([[3, 1], [1, 5]], sensitive=["ill", "well"], useful=["a", "b"])
    >>> joint.p_useful
    array([0.4, 0.6])
    >>> joint
    Joint(2 sensitive x 2 useful, 10 records)
    """

    def __init__(
        self,
        probabilities: FloatArray,
        masses: Callable[[], ObjectArray],
        *,
        sensitive: tuple[Any, ...],
        useful: Sequence[Any],
        counts: IntArray | ObjectArray | None = None,
        sensitive_columns: Sequence[str] = (),
        useful_columns: Sequence[str] = (),
        bins: Mapping[str, Sequence[float]] | None = None,
        floats_suffice: bool | None = None,
        guard: FloatArray | None = None,
        p_sensitive: FloatArray | None = None,
        is_rounded_once: bool = False,
    ) -> None:
        probabilities.setflags(write=False)
        self.probabilities = probabilities
        self._make_masses = masses
        self.sensitive = sensitive
        #: The useful labels in their order; those counted from a table become Python values where they are looked at.
        self.alphabet = useful
        if counts is not None:
            counts.setflags(write=False)
        self.counts = counts
        self.sensitive_columns = tuple(sensitive_columns)
        self.useful_columns = tuple(useful_columns)
        self.bins = {name: tuple(edges) for name, edges in (bins or {}).items()}
        #: Nats by which levels of privacy computed in floats may be off, where it is known for each symbol.
        self.guard: float | FloatArray = LEVEL_GUARD if guard is None else np.minimum(guard, LEVEL_GUARD)
        #: Whether every cell is off by one rounding, up to a factor that all of them share.
        self.is_rounded_once = is_rounded_once
        if p_sensitive is not None:  # known without sums
            self.__dict__["p_sensitive"] = p_sensitive
        #: Whether lifts computed in floats are off by rounding only; else every decision is made in integers.
        self.floats_suffice = self._is_well_scaled() if floats_suffice is None else floats_suffice

    @classmethod
    def from_array(
        cls,
        probabilities: Any,
        *,
        sensitive: Iterable[Any] | None = None,
        useful: Iterable[Any] | None = None,
    ) -> Joint:
        """A joint from a matrix of probabilities.

        Parameters
        ----------
        probabilities : array_like of shape (n_sensitive, n_useful)
            Non-negative, summing to one within 1e-9. Each float is read as the exact rational that it is,
            and the whole is normalised exactly.
        sensitive, useful : iterable, optional
            Labels; 0, 1, 2, ... where left out.

        Examples
        --------
        >>> Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]]).p_sensitive
        array([0.5, 0.5])
        """
        array = cells.probabilities(probabilities)
        rows, columns = array.shape
        return cls(
            array / array.sum(),
            lambda: exact_integers(array),
            sensitive=cells.label_list(sensitive, rows, "sensitive"),
            useful=cells.label_list(useful, columns, "useful"),
            is_rounded_once=True,
        )

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        sensitive: Iterable[Any] | None = None,
        useful: Iterable[Any] | None = None,
        sensitive_columns: Sequence[str] = (),
        useful_columns: Sequence[str] = (),
        bins: Mapping[str, Sequence[float]] | None = None,
    ) -> Joint:
        """A joint from a matrix of integer counts, which are kept exactly.

        Parameters
        ----------
        counts : array_like of int, shape (n_sensitive, n_useful)
            How many records carry each pair; integers of any size.
        sensitive, useful : iterable, optional
            Labels; 0, 1, 2, ... where left out.
        sensitive_columns, useful_columns : sequence of str, optional
            Names of the table's columns, kept for mechanisms and reports.
        bins : mapping, optional
            Edges of the columns that were cut into intervals.

        Examples
        --------
        >>> Joint.from_counts([[1, 2], [3, 4]]).probabilities
        array([[0.1, 0.2],
               [0.3, 0.4]])
        """
        whole = cells.counts(counts)
        rows, columns = whole.shape
        return cls.counted(
            whole,
            sensitive=cells.label_list(sensitive, rows, "sensitive"),
            useful=cells.label_list(useful, columns, "useful"),
            sensitive_columns=sensitive_columns,
            useful_columns=useful_columns,
            bins=bins,
        )

    @classmethod
    def counted(cls, whole: IntArray | ObjectArray, **described: Any) -> Joint:
        """A joint from counts and labels that are known to be sound; it takes the array over."""
        quotient = (whole / whole.sum()).astype(np.float64, copy=False)
        vanished = whole.dtype == object and bool(((quotient == 0) & (whole != 0)).any())
        return cls(
            quotient,
            lambda: whole.astype(object),
            counts=whole,
            floats_suffice=False if vanished else None,
            **described,
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        sensitive: str | Sequence[str],
        useful: str | Sequence[str],
        *,
        bins: Mapping[str, Any] | None = None,
    ) -> Joint:
        """A joint counted from a table, by one GROUP BY inside DuckDB.

        Parameters
        ----------
        table : pandas or Polars frame, Polars lazy frame, Arrow table, DuckDB relation, or path
            A path names a CSV (first line: column names) or Parquet file, or is a glob over such files.
            CSV values are read as text.
        sensitive, useful : str or sequence of str
            Column names; several columns form tuples.
        bins : mapping, optional
            Numeric columns to cut: a list of edges ``[0, 18, 65]``, or ``"quantiles:10"``. Intervals include
            their lower edge; values beyond the outer edges fall in two open intervals.

        Returns
        -------
        Joint
            With ``counts``. A null is a symbol of its own, and so is NaN, which counts as a null.

        Examples
        --------
        >>> import pyarrow as pa
        >>> table = pa.table({"ill": [True, False, False, True], "job": ["a", "b", "b", None]})
        >>> joint = Joint.from_table(table, sensitive="ill", useful="job")
        >>> joint.useful, joint.counts.tolist()
        (('a', 'b', None), [[0, 2, 0], [1, 0, 1]])
        """
        # With Range.from_table, the one import against the order of layers.
        from discreet.tables import columns_to_count, group_pairs, open_table

        with open_table(table, columns_to_count(sensitive, useful)) as source:
            found = group_pairs(source, sensitive, useful, bins=bins)
        return found.joint()

    @classmethod
    def random(cls, n_sensitive: int, n_useful: int, *, seed: int = 0, concentration: float | None = None) -> Joint:
        """A random joint, the same one for the same seed.

        Parameters
        ----------
        n_sensitive, n_useful : int
            Sizes of the alphabets.
        seed : int
            Seed of numpy's default generator.
        concentration : float, optional
            None: independent uniform cells, normalised, as in [ZDS23]_. A number: Dirichlet with this
            parameter in every cell; 0.5 is Jeffreys' prior, used in [LTS20]_.

        Examples
        --------
        >>> Joint.random(2, 3, seed=1).probabilities.round(3)
        array([[0.156, 0.289, 0.044],
               [0.288, 0.095, 0.129]])
        """
        if n_sensitive < 1 or n_useful < 1:
            raise InputError(f"alphabets must have at least one symbol, got {n_sensitive} x {n_useful}.")
        rng = np.random.default_rng(seed)
        if concentration is None:
            cells = rng.random((n_sensitive, n_useful))
        else:
            if not concentration > 0 or not np.isfinite(concentration):
                raise InputError(f"concentration must be a positive number, got {concentration:g}.")
            cells = rng.dirichlet(np.full(n_sensitive * n_useful, concentration)).reshape(n_sensitive, n_useful)
        return cls.from_array(cells / cells.sum())

    @property
    def n_sensitive(self) -> int:
        """Number of sensitive values."""
        return len(self.sensitive)

    @property
    def n_useful(self) -> int:
        """Number of useful (or released) values."""
        return len(self.alphabet)

    @cached_property
    def useful(self) -> tuple[Any, ...]:
        """Labels of the columns, all of them made."""
        return tuple(self.alphabet)

    @property
    def released(self) -> tuple[Any, ...]:
        """Labels of the columns of a joint that came out of a mechanism."""
        return self.useful

    @property
    def records(self) -> int | None:
        """Number of records counted, None for joints given as probabilities."""
        return None if self.counts is None else int(self.counts.sum())

    @cached_property
    def p_sensitive(self) -> FloatArray:
        """Marginal distribution of the sensitive variable."""
        if self._sums_exactly:
            return self._share_of(1)
        marginal: FloatArray = self.probabilities.sum(axis=1)
        return marginal

    @cached_property
    def p_useful(self) -> FloatArray:
        """Marginal distribution of the useful variable."""
        if self._sums_exactly:
            return self._share_of(0)
        marginal: FloatArray = self.probabilities.sum(axis=0)
        return marginal

    @property
    def _sums_exactly(self) -> bool:
        """Whether there are so many values that floats lose too much in sums, and counts that lose nothing."""
        return max(self.probabilities.shape) > MOST_SUMMED and self._has_small_counts

    @property
    def _has_small_counts(self) -> bool:
        return self.counts is not None and self.counts.dtype != object

    @cached_property
    def shares_rounded_once(self) -> FloatArray | None:
        """P(s) without the rounding of sums; None where cells themselves are sums that were rounded."""
        if self._has_small_counts:
            return self._share_of(1)
        if not self.is_rounded_once:
            return None
        sums = np.array([math.fsum(row) for row in self.probabilities.tolist()])
        return sums / math.fsum(sums)

    def described(self) -> dict[str, Any]:
        """What a joint of the same sensitive values takes over from this one, as arguments."""
        return {
            "sensitive": self.sensitive,
            "sensitive_columns": self.sensitive_columns,
            "useful_columns": self.useful_columns,
            "bins": self.bins,
        }

    def _share_of(self, axis: int) -> FloatArray:
        assert self.counts is not None
        share: FloatArray = self.counts.sum(axis=axis) / self.counts.sum()
        return share

    @property
    def whole(self) -> IntArray | ObjectArray:
        """Integers in exactly the proportions of this joint: its counts where they have them, else its `masses`.

        Sums of them are exact; products may need the Python integers of ``masses``.
        """
        return self.counts if self.counts is not None and self._has_small_counts else self.masses

    @cached_property
    def masses(self) -> ObjectArray:
        """Integers in exactly the proportions of this joint."""
        masses = self._make_masses()
        masses.setflags(write=False)
        return masses

    @cached_property
    def occurs(self) -> BoolArray:
        """Which useful symbols have mass, however little."""
        if self.floats_suffice:
            return self.p_useful > 0
        result: BoolArray = (self.whole != 0).any(axis=0)
        return result

    def through(self, mechanism: Mechanism) -> Joint:
        """The joint of (sensitive, released) after the mechanism; its masses stay exact.

        Parameters
        ----------
        mechanism : Mechanism
            Rows are matched by label, so the joint may come from another table; a value with mass that the
            mechanism does not know is an `UnseenSymbolError`.
        """
        return mechanism.expected(self)

    @cached_property
    def attributes(self) -> IntArray:
        """Codes of each attribute of the useful values, shape (n_attributes, n_useful).

        Useful values that are tuples of one length, as several useful columns make them, have an attribute for
        each part; all others have one.

        >>> Joint.from_counts([[1, 2, 3]], useful=[("a", 1), ("a", 2), ("b", 1)]).attributes.tolist()
        [[0, 0, 1], [0, 1, 0]]
        """
        lengths = {len(x) if isinstance(x, tuple) else 1 for x, here in zip(self.useful, self.occurs) if here}
        if len(lengths) != 1 or lengths <= {0, 1}:
            return np.arange(self.n_useful)[None]
        # Declared values that never occur may be of any form.
        (length,) = lengths
        parts = [x if isinstance(x, tuple) and len(x) == length else (x,) * length for x in self.useful]
        codes = []
        for part in zip(*parts):
            known: dict[Any, int] = {}
            codes.append([known.setdefault(value, len(known)) for value in part])
        return np.array(codes)

    def given(self, symbols: Any) -> Joint:
        """The joint of those records whose useful value is among ``symbols`` (indices or a mask), exactly.

        Sensitive values that do not occur with any of them are left out.
        """
        columns = np.arange(self.n_useful)[symbols]
        rows = np.flatnonzero((self.whole[:, columns] != 0).any(axis=1))
        if not len(rows):
            raise InputError("a joint cannot be restricted to useful values that never occur.")
        cells = self.probabilities[np.ix_(rows, columns)]
        counts = None if self.counts is None else self.counts[np.ix_(rows, columns)]
        return Joint(
            cells / cells.sum() if cells.sum() > 0 else cells,
            lambda: self.masses[np.ix_(rows, columns)],
            sensitive=tuple(self.sensitive[k] for k in rows),
            useful=tuple(self.alphabet[k] for k in columns.tolist()),
            counts=counts,
            sensitive_columns=self.sensitive_columns,
            useful_columns=self.useful_columns,
            bins=self.bins,
            floats_suffice=None if self.floats_suffice else False,
        )

    def over(self, useful: Sequence[Any]) -> Joint:
        """The same counts over another alphabet that has all useful values that occur, in its order.

        >>> Joint.from_counts([[1, 2], [3, 4]], useful=["b", "a"]).over(["a", "b", "c"]).counts.tolist()
        [[2, 1, 0], [4, 3, 0]]
        """
        if self.counts is None:
            raise InputError("only counts are laid out over another alphabet. Make the joint with Joint.from_counts.")
        place = {label: k for k, label in enumerate(useful)}
        if any(label not in place for label, here in zip(self.useful, self.occurs) if here):
            raise InputError("a useful value that occurs is missing in the other alphabet.")
        counts: Any = np.zeros((self.n_sensitive, len(place)), dtype=self.counts.dtype)
        for k, label in enumerate(self.useful):
            if label in place:
                counts[:, place[label]] = self.counts[:, k]
        return Joint.counted(counts, useful=tuple(useful), **self.described())

    def split(self, share: float, *, seed: int = 0) -> tuple[Joint, Joint]:
        """Its records in two parts at random, the second with this share of them; the same ones for the same seed.

        Records of a pair are alike, so that drawing how many of each pair go where is drawing them.

        >>> first, second = Joint.from_counts([[30, 15], [10, 45]]).split(0.25)
        >>> first.records, second.records
        (75, 25)
        """
        if self.counts is None or not self._has_small_counts:
            raise InputError("records are split where they were counted. Make the joint with Joint.from_counts.")
        if isinstance(share, bool | str) or not 0 < share < 1:
            raise InputError(
                f"the share of a part (holdout, --holdout) must lie between 0 and 1, such as 0.5, got {share!r}."
            )
        counts = self.counts.ravel().astype(np.int64)
        size = round(float(share) * int(counts.sum()))
        if not 0 < size < int(counts.sum()):
            raise InputError("a part has no records. Use a larger table, or another share.")
        rng = np.random.default_rng(seed)
        drawn = rng.multivariate_hypergeometric(counts, size, method="marginals")
        parts = (drawn_counts.reshape(self.counts.shape) for drawn_counts in (counts - drawn, drawn))
        first, second = (Joint.counted(part, useful=self.alphabet, **self.described()) for part in parts)
        return first, second

    def _is_well_scaled(self) -> bool:
        is_summed = self.n_sensitive <= MOST_SUMMED and (self._sums_exactly or "p_sensitive" in self.__dict__)
        if max(self.probabilities.shape) > MOST_SUMMED and not is_summed:
            return False  # sums of floats over the sensitive values are part of many a measure
        if self._has_small_counts:
            return True  # no share of them is that small
        smallest = float(np.min(self.probabilities, initial=np.inf, where=self.probabilities > 0))
        return SMALLEST_SCREENED <= smallest < np.inf

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: the exact masses themselves instead of how to make them."""
        return {**self.__dict__, "alphabet": self.useful, "masses": self.masses, "_make_masses": None}

    def to_dict(self) -> dict[str, Any]:
        """Labels, sizes and cells as plain data."""
        return {
            "sensitive": [labels.encode(label) for label in self.sensitive],
            "useful": [labels.encode(label) for label in self.useful],
            "sensitive_columns": list(self.sensitive_columns),
            "useful_columns": list(self.useful_columns),
            "bins": {name: list(edges) for name, edges in self.bins.items()},
            "counts": None if self.counts is None else self.counts.tolist(),
            "probabilities": self.probabilities.tolist(),
        }

    def __repr__(self) -> str:
        size = f"{self.n_sensitive} sensitive x {self.n_useful} useful"
        names = ""
        if self.sensitive_columns and self.useful_columns:
            names = f", {' + '.join(self.sensitive_columns)} given by {' + '.join(self.useful_columns)}"
        records = "" if self.records is None else f", {self.records} records"
        return visible(f"Joint({size}{names}{records})")

    def _repr_html_(self) -> str:
        shown = 12
        head = "".join(f"<th>{html.escape(visible(labels.text(x)))}</th>" for x in self.alphabet[:shown])
        rows = "".join(
            f"<tr><th>{html.escape(visible(labels.text(s)))}</th>"
            + "".join(f"<td>{p:.4g}</td>" for p in cells[:shown])
            + "</tr>"
            for s, cells in zip(self.sensitive[:shown], self.probabilities[:shown])
        )
        return f"<p>{html.escape(repr(self))}</p><table><tr><th></th>{head}</tr>{rows}</table>"
