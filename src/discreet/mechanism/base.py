"""Mechanisms P(y | x): integer weights over 2**60 with labels, able to drive a release by themselves."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import html
import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from discreet._support import files
from discreet._support.errors import InputError, InvalidMechanismError, UnseenSymbolError
from discreet._support.numeric import (
    DENOMINATOR,
    DENOMINATOR_BITS,
    SUM_TOLERANCE,
    BoolArray,
    FloatArray,
    IntArray,
    ObjectArray,
)
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism.estimate import Estimate, estimate_frequencies
from discreet.mechanism.store import check_stored

__all__ = ["JudgedKind", "Mechanism", "provenance"]

FORMAT = "discreet-mechanism/1"


class Spread(NamedTuple):
    """Where the mass of each symbol goes: entries sorted by released symbol, one run per released symbol."""

    source: IntArray  # useful symbol of the entry
    weight: IntArray
    starts: IntArray  # first entry of each released symbol

    def floats(self, cells: FloatArray) -> FloatArray:
        """``cells @ channel`` in floats."""
        moved = cells[:, self.source] * (self.weight / DENOMINATOR)
        return np.add.reduceat(moved, self.starts, axis=1)

    def integers(self, masses: ObjectArray) -> ObjectArray:
        """``masses @ weights`` in integers, up to a common factor."""
        moved = masses[:, self.source]
        if not (self.weight == DENOMINATOR).all():
            moved = moved * self.weight.astype(object)
        return np.add.reduceat(moved, self.starts, axis=1)


class JudgedKind(Protocol):
    """What a mechanism asks of a bounded measure, to choose the symbols on which it is decided."""

    @property
    def is_on_lifts(self) -> bool:
        """Whether it bounds lifts or their ratios, nothing else."""

    @property
    def compares_pairs(self) -> bool:
        """Whether it compares two sensitive values with each other, not one with the mean."""


class Mechanism:
    r"""A channel :math:`P(y \mid x)` as integer weights: row ``x`` sums to exactly :math:`2^{60}`.

    The integers are the mechanism: they are what is checked, stored and drawn from, and ``channel`` is only
    their quotient. Rows are sparse, since a symbol is usually released as one of a few.

    Parameters
    ----------
    entries : triple of integer arrays
        ``(useful index, released index, weight)`` of the positive weights.
    useful, released : sequence
        Labels of rows and columns. Released labels are distinct strings, each released by some row.
    p_useful : array_like, optional
        :math:`P_X` of the design, for the codebook.
    sensitive_columns, useful_columns, bins, notion, method
        Where the mechanism comes from and what it promises, carried along in its JSON.

    Examples
    --------
    >>> mechanism = Mechanism.from_channel([[1, 0], [0.25, 0.75]], useful=["a", "b"], released=["low", "high"])
    >>> mechanism.weights.tolist() == [[2**60, 0], [2**58, 3 * 2**58]]
    True
    """

    kind: ClassVar[str] = "channel"
    kinds: ClassVar[dict[str, type[Mechanism]]] = {}
    reads_sensitive: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        Mechanism.kinds[cls.kind] = cls

    def __init__(
        self,
        entries: tuple[Any, Any, Any],
        useful: Sequence[Any],
        released: Sequence[str],
        *,
        p_useful: Any = None,
        sensitive_columns: Sequence[str] = (),
        useful_columns: Sequence[str] = (),
        bins: Mapping[str, Sequence[float]] | None = None,
        notion: Mapping[str, Any] | None = None,
        method: str | None = None,
    ) -> None:
        self.useful = tuple(useful)
        self.released = tuple(released)
        self._rows, self._columns, self._weights = _checked_entries(entries, self.n_rows, self.released)
        self._set_about(
            p_useful=p_useful,
            sensitive_columns=sensitive_columns,
            useful_columns=useful_columns,
            bins=bins,
            notion=notion,
            method=method,
        )
        if len(set(self.useful)) != len(self.useful):
            raise InvalidMechanismError("useful labels must be distinct.")

    def _set_about(
        self,
        *,
        p_useful: Any = None,
        sensitive_columns: Sequence[str] = (),
        useful_columns: Sequence[str] = (),
        bins: Mapping[str, Sequence[float]] | None = None,
        notion: Mapping[str, Any] | None = None,
        method: str | None = None,
    ) -> None:
        self.p_useful = None if p_useful is None else np.asarray(p_useful, dtype=np.float64)
        if self.p_useful is not None and self.p_useful.shape != (len(self.useful),):
            raise InvalidMechanismError(
                f"p_useful must have {len(self.useful)} entries, got shape {self.p_useful.shape}."
            )
        self.sensitive_columns = tuple(sensitive_columns)
        self.useful_columns = tuple(useful_columns)
        self.bins = {name: tuple(edges) for name, edges in (bins or {}).items()}
        self.notion = None if notion is None else dict(notion)
        self.method = method

    @classmethod
    def from_channel(
        cls,
        channel: Any,
        *,
        useful: Iterable[Any] | None = None,
        released: Iterable[Any] | None = None,
        **about: Any,
    ) -> Mechanism:
        """A mechanism from a matrix of floats, rounded to weights over 2**60.

        Zeros stay zeros, equal rows stay equal, and the largest entry of a row takes up its rounding.
        Rounding may push a borderline channel over its budget: check with ``notion.holds``.
        """
        matrix = np.asarray(channel, dtype=np.float64)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InvalidMechanismError(f"channel must be a matrix (useful, released), got shape {matrix.shape}.")
        if not np.isfinite(matrix).all() or (matrix < 0).any():
            raise InvalidMechanismError("channel must hold finite probabilities of at least 0.")
        off = np.abs(matrix.sum(axis=1) - 1).max()
        if off > SUM_TOLERANCE:
            raise InvalidMechanismError(f"rows of a channel must sum to 1 within {SUM_TOLERANCE:g}, got {off:g} off.")
        weights = np.floor(np.ldexp(matrix / matrix.sum(axis=1, keepdims=True), DENOMINATOR_BITS)).astype(np.int64)
        weights[np.arange(len(weights)), weights.argmax(axis=1)] += DENOMINATOR - weights.sum(axis=1)
        return cls.from_weights(weights, useful=useful, released=released, **about)

    @classmethod
    def from_weights(
        cls,
        weights: Any,
        *,
        useful: Iterable[Any] | None = None,
        released: Iterable[Any] | None = None,
        **about: Any,
    ) -> Mechanism:
        """A mechanism from a matrix of integer weights; released symbols that never occur are left out."""
        matrix = np.asarray(weights)
        if matrix.ndim != 2 or not np.issubdtype(matrix.dtype, np.integer):
            raise InvalidMechanismError("weights must be a matrix of integers (useful, released).")
        names = range(matrix.shape[1]) if released is None else list(released)
        used = np.flatnonzero((matrix > 0).any(axis=0))
        rows, columns = np.nonzero(matrix[:, used])
        return cls(
            (rows, columns, matrix[:, used][rows, columns]),
            tuple(range(matrix.shape[0])) if useful is None else [labels.plain(label) for label in useful],
            [labels.text(names[j]) for j in used],
            **about,
        )

    @classmethod
    def from_blocks(cls, joint: Joint, block_of: Any, *, uniform: Iterable[int] = (), **about: Any) -> Mechanism:
        """Release, for every symbol, the block that it belongs to.

        Parameters
        ----------
        joint : Joint
            Gives the labels, the columns' names and :math:`P_X`.
        block_of : array_like of int, shape (n_useful,)
            Symbols with equal numbers are merged.
        uniform : iterable of int
            Blocks whose members are not merged but drawn uniformly: each of them is released as any member
            with the same probability, whatever it was. This leaks exactly as much as merging.
        """
        _, first, place = np.unique(np.asarray(block_of), return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))  # blocks in the order of their first members
        number = np.asarray(block_of)[np.sort(first)]
        target = rank[place.reshape(-1)]
        members: list[list[int]] = [[] for _ in number]
        for x, k in enumerate(target.tolist()):
            members[k].append(x)
        drawn = np.isin(number, list(uniform))
        width = np.where(drawn, [len(block) for block in members], 1)
        column = np.cumsum(width) - width  # first released symbol of each block
        repeat = width[target]
        rows = np.repeat(np.arange(len(target)), repeat)
        offset = np.arange(len(rows)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        weight = DENOMINATOR // repeat[rows] + (offset < DENOMINATOR % repeat[rows])
        names = [
            labels.block_text([joint.useful[x] for x in part])
            for block, one_by_one in zip(members, drawn)
            for part in ([[x] for x in block] if one_by_one else [block])
        ]
        return cls(
            (rows, column[target][rows] + offset, weight),
            joint.useful,
            labels.unique_texts(names),
            **provenance(joint),
            **about,
        )

    @property
    def n_useful(self) -> int:
        """Number of useful symbols."""
        return len(self.useful)

    @property
    def n_rows(self) -> int:
        """Number of rows of weights: one for each useful symbol, unless the mechanism reads S."""
        return self.n_useful

    @property
    def n_released(self) -> int:
        """Number of columns."""
        return len(self.released)

    @cached_property
    def weights(self) -> IntArray:
        """The integer weights as a dense matrix (n_useful, n_released); rows sum to 2**60."""
        dense = np.zeros((self.n_useful, self.n_released), dtype=np.int64)
        dense[self._rows, self._columns] = self._weights
        dense.setflags(write=False)
        return dense

    @property
    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        """The positive weights as ``(useful index, released index, weight)``, row by row."""
        return self._rows, self._columns, self._weights

    @cached_property
    def channel(self) -> FloatArray:
        """``weights / 2**60`` (n_useful, n_released); rows sum to one."""
        quotient = self.weights / DENOMINATOR
        quotient.setflags(write=False)
        return quotient

    @property
    def is_deterministic(self) -> bool:
        """Whether every useful symbol is always released as the same one."""
        return bool((self._weights == DENOMINATOR).all())

    def spread_over(self, useful: Sequence[Any], occurs: BoolArray) -> Spread:
        """The entries that apply to another alphabet, matched by label; what never occurs needs no row."""
        if tuple(useful) == self.useful:
            rows, columns, weights = self.entries
        else:
            place = {label: i for i, label in enumerate(useful)}
            self.check_known(useful, occurs)
            target = np.array([place.get(label, -1) for label in self.useful])[self._rows]
            # Rows of absent symbols stay as zero weights of symbol 0, so that every released symbol keeps a run.
            rows = np.maximum(target, 0)
            columns = self._columns
            weights = np.where(target >= 0, self._weights, 0)
        order = np.argsort(columns, kind="stable")
        starts = np.searchsorted(columns[order], np.arange(self.n_released))
        return Spread(rows[order], weights[order], starts)

    def check_known(self, useful: Sequence[Any], occurs: BoolArray) -> None:
        """An `UnseenSymbolError` where a value occurs that the mechanism has no row for."""
        known = set(self.useful)
        unseen = sum(bool(here) for label, here in zip(useful, occurs) if label not in known)
        if unseen:
            raise UnseenSymbolError(
                f"{unseen} of {len(useful)} useful values do not occur in the mechanism. "
                "Design it on a table that has them."
            )

    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        """P(s, y) in floats, and how to make it in integers up to a common factor."""
        spread = self.spread_over(joint.useful, joint.occurs)
        return spread.floats(joint.probabilities), lambda: spread.integers(joint.masses)

    def judged(self, joint: Joint, kinds: Iterable[JudgedKind]) -> Joint:
        """The joint of (sensitive, released) on which bounds of these kinds are decided."""
        return joint.through(self)

    def useful_information(self, joint: Joint) -> float:
        """I(X; Y), nats; see `discreet.measures.useful_information`."""
        spread = self.spread_over(joint.useful, joint.p_useful > 0)
        p_released = spread.floats(joint.p_useful[None, :])[0]
        share = spread.weight / DENOMINATOR
        target = np.repeat(np.arange(len(spread.starts)), np.diff(spread.starts, append=len(share)))
        mass = joint.p_useful[spread.source] * share
        used = mass > 0
        return max(0.0, float((mass[used] * np.log(share[used] / p_released[target[used]])).sum()))

    def estimate(self, released_counts: Any) -> Estimate:
        """Unbiased estimate of P(x) from counts of released symbols, with standard errors.

        Parameters
        ----------
        released_counts : mapping or array_like
            Records of each released symbol, by label or in the order of ``released``.

        Raises
        ------
        InvalidMechanismError
            The channel has not full rank: different P(x) give the same P(y), and no estimate tells them apart.

        Examples
        --------
        >>> mechanism = Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75]], useful=["a", "b"], released=["a", "b"])
        >>> mechanism.estimate({"a": 600, "b": 400}).probabilities
        array([0.7, 0.3])
        """
        return estimate_frequencies(self.useful, self.released, self.channel, released_counts)

    def sample(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> IntArray:
        """A released symbol (by index) for each given useful symbol (by index): for simulations, not for releases.

        Parameters
        ----------
        symbols : array_like of int
            Indices into ``useful``.
        rng : numpy.random.Generator
            Source of the draws.
        sensitive : array_like of int
            Indices into ``sensitive``, where the mechanism reads S.
        """
        rows = self._rows_of(np.asarray(symbols), sensitive)
        drawn = rng.integers(0, DENOMINATOR, len(rows))
        order = np.argsort(rows, kind="stable")
        starts = np.searchsorted(self._rows, np.arange(self.n_rows + 1))
        result = np.empty(len(rows), dtype=np.int64)
        for row in np.unique(rows).tolist():
            here = order[slice(*np.searchsorted(rows[order], [row, row + 1]))]
            part = slice(starts[row], starts[row + 1])
            # The cumulated weights are the thresholds: entry k is drawn for draws from its threshold's predecessor on.
            result[here] = self._columns[part][np.searchsorted(np.cumsum(self._weights[part]), drawn[here], "right")]
        return result

    def _rows_of(self, symbols: IntArray, sensitive: Any) -> IntArray:
        return symbols

    def compose(self, other: Mechanism) -> Mechanism:
        """This mechanism followed by ``other``, which takes this one's released symbols.

        Weights are rounded to 2**60 where ``other`` randomises. The result carries no notion: not every one
        survives post-processing (the inverse l1 and chi-square lifts do not), so check it anew.
        """
        known = {labels.text(label): i for i, label in enumerate(other.useful)}
        if len(known) < other.n_useful:
            raise InvalidMechanismError("two useful labels of the second mechanism read the same; rename one.")
        missing = [y for y in self.released if y not in known]
        if missing:
            raise InvalidMechanismError(
                f"{len(missing)} of {self.n_released} released symbols have no row in the second mechanism."
            )
        second = other.weights[[known[y] for y in self.released]].astype(object)
        product = (self.weights.reshape(self.n_rows, -1).astype(object) @ second) // DENOMINATOR
        largest = np.argmax(product, axis=1)
        product[np.arange(len(product)), largest] += DENOMINATOR - product.sum(axis=1)
        return self.reweighted(product.astype(np.int64), other.released)

    def reweighted(self, weights: Any, released: Iterable[Any]) -> Mechanism:
        """Other weights for the same useful symbols, columns and bins; what was promised of the old ones is gone."""
        return Mechanism.from_weights(
            weights,
            useful=self.useful,
            released=released,
            p_useful=self.p_useful,
            sensitive_columns=self.sensitive_columns,
            useful_columns=self.useful_columns,
            bins=self.bins,
        )

    def codebook(self) -> dict[str, dict[Any, float]]:
        """What a released symbol stands for: P(x | y), likeliest first.

        Examples
        --------
        >>> joint = Joint.from_counts([[1, 1, 0], [0, 1, 1]], useful=["a", "b", "c"])
        >>> Mechanism.from_blocks(joint, [0, 0, 1]).codebook()
        {'{a, b}': {'b': 0.6666666666666666, 'a': 0.3333333333333333}, 'c': {'c': 1.0}}
        """
        if self.p_useful is None:
            raise InvalidMechanismError("the mechanism carries no P(x), which a codebook needs: pass p_useful.")
        mass = self.p_useful[self._rows] * (self._weights / DENOMINATOR)
        total = np.bincount(self._columns, mass, minlength=self.n_released)
        share = np.divide(mass, total[self._columns], out=np.zeros_like(mass), where=total[self._columns] > 0)
        order = np.lexsort((self._rows, -share))
        book: dict[str, dict[Any, float]] = {label: {} for label in self.released}
        for k in order.tolist():
            book[self.released[self._columns[k]]][self.useful[self._rows[k]]] = float(share[k])
        return book

    def to_dict(self) -> dict[str, Any]:
        """All of the mechanism as plain data, the content of its JSON."""
        bounds = np.searchsorted(self._rows, np.arange(self.n_rows + 1))
        pairs = list(zip(self._columns.tolist(), self._weights.tolist()))
        return {
            **self._about_dict(),
            "released": list(self.released),
            "rows": [[list(pair) for pair in pairs[a:b]] for a, b in itertools.pairwise(bounds)],
        }

    def _about_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "kind": self.kind,
            "method": self.method,
            "notion": self.notion,
            "reads_sensitive": self.reads_sensitive,
            "sensitive_columns": list(self.sensitive_columns),
            "useful_columns": list(self.useful_columns),
            "bins": {name: list(edges) for name, edges in self.bins.items()},
            "denominator": DENOMINATOR,
            "useful": [labels.encode(label) for label in self.useful],
            "p_useful": None if self.p_useful is None else self.p_useful.tolist(),
        }

    def public_dict(self) -> dict[str, Any]:
        """What determines the draw and the labels, without the distribution of the table that it was designed on."""
        return {name: value for name, value in self.to_dict().items() if name not in ("p_useful", "p_joint")}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of `public_dict` as JSON with sorted names: two mechanisms that draw alike share it."""
        canonical = json.dumps(self.public_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Mechanism:
        """The inverse of `to_dict`, and of `public_dict` but for the distribution; everything is checked again."""
        if not isinstance(stored, Mapping) or stored.get("format") != FORMAT:
            raise InvalidMechanismError(f"not a mechanism of format {FORMAT!r}.")
        try:
            json.dumps(stored, ensure_ascii=False).encode()  # lone surrogates could not be written again
            check_stored(stored, DENOMINATOR)
            kind = cls.kinds.get(stored["kind"], Mechanism)
            if stored["kind"] != kind.kind or stored["reads_sensitive"] is not kind.reads_sensitive:
                raise InvalidMechanismError("this version does not know the kind of a stored mechanism.")
            return kind._restored(stored)
        except KeyError as error:
            raise InvalidMechanismError(f"a stored mechanism lacks {error}.") from None
        except InvalidMechanismError:
            raise
        except (InputError, TypeError, ValueError, OverflowError, RecursionError):
            raise InvalidMechanismError("a stored mechanism is damaged.") from None

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> Mechanism:
        return cls(
            stored_entries(stored["rows"]),
            [labels.decode(label) for label in stored["useful"]],
            stored["released"],
            **stored_about(stored),
        )

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism; the file appears whole or not at all."""
        files.write_text(path, json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False) + "\n")

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Mechanism:
        """Read what `to_json` wrote."""
        try:
            stored = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidMechanismError(f"cannot read {os.fspath(path)!r}: {error.strerror}.") from None
        except (ValueError, RecursionError):
            raise InvalidMechanismError(f"{os.fspath(path)!r} is not a JSON file in UTF-8.") from None
        return cls.from_dict(stored)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = "merging" if self.is_deterministic else "randomising"
        method = f", {self.method}" if self.method else ""
        return f"Mechanism({self.n_useful} useful -> {self.n_released} released, {kind}{method})"

    def _repr_html_(self) -> str:
        shown = 20
        lines = []
        for i in range(min(self.n_useful, shown)):
            here = self._rows == i
            parts = ", ".join(
                f"{html.escape(self.released[j])} ({w / DENOMINATOR:.3g})"
                for j, w in zip(self._columns[here].tolist(), self._weights[here].tolist())
            )
            lines.append(f"<tr><th>{html.escape(labels.text(self.useful[i]))}</th><td>{parts}</td></tr>")
        more = f"<p>and {self.n_useful - shown} more</p>" if self.n_useful > shown else ""
        return (
            f"<p>{html.escape(repr(self))}</p>"
            f"<table><tr><th>useful</th><th>released as</th></tr>{''.join(lines)}</table>{more}"
        )


def stored_entries(rows: Any) -> tuple[IntArray, IntArray, IntArray]:
    """Entries out of the rows of a stored mechanism."""
    triples = [(i, j, w) for i, row in enumerate(rows) for j, w in row]
    if not all(type(n) is int for triple in triples for n in triple):
        raise InvalidMechanismError("rows of a mechanism must be pairs of integers.")
    columns = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]


def stored_about(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Where a stored mechanism comes from and what it promises."""
    about = {name: stored[name] for name in ("sensitive_columns", "useful_columns", "bins", "notion", "method")}
    return {"p_useful": stored.get("p_useful"), **about}


def provenance(joint: Joint) -> dict[str, Any]:
    """What a mechanism remembers of the joint that it was designed on."""
    return {
        "p_useful": joint.p_useful,
        "sensitive_columns": joint.sensitive_columns,
        "useful_columns": joint.useful_columns,
        "bins": joint.bins,
    }


def _checked_entries(
    entries: tuple[Any, Any, Any], n_rows: int, released: tuple[str, ...]
) -> tuple[IntArray, IntArray, IntArray]:
    rows, columns, weights = (np.asarray(part, dtype=np.int64) for part in entries)
    if not (rows.shape == columns.shape == weights.shape) or rows.ndim != 1:
        raise InvalidMechanismError("entries must be three vectors of one length.")
    if not all(isinstance(label, str) for label in released) or len(set(released)) != len(released):
        raise InvalidMechanismError("released labels must be distinct strings.")
    if len(rows) and (rows.min() < 0 or rows.max() >= n_rows or columns.min() < 0 or columns.max() >= len(released)):
        raise InvalidMechanismError("an entry points outside the alphabets.")
    order = np.lexsort((columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    if ((np.diff(rows) == 0) & (np.diff(columns) == 0)).any():
        raise InvalidMechanismError("an entry occurs twice.")
    if len(weights) and (weights.min() <= 0 or weights.max() > DENOMINATOR):
        raise InvalidMechanismError("weights must lie between 1 and 2**60.")
    starts = np.searchsorted(rows, np.arange(n_rows))
    if len(rows) == 0 or (np.bincount(rows, minlength=n_rows) == 0).any():
        raise InvalidMechanismError("every useful symbol needs a released one.")
    # At most 2**60 each, so a row of over 8 entries could overflow 64 bits: halves are summed apart.
    low = np.add.reduceat(weights & 0xFFFFFFFF, starts)
    high = np.add.reduceat(weights >> 32, starts)
    if (low & 0xFFFFFFFF).any() or (high + (low >> 32) != DENOMINATOR >> 32).any():
        raise InvalidMechanismError("the weights of every useful symbol must sum to exactly 2**60.")
    if (np.bincount(columns, minlength=len(released)) == 0).any():
        raise InvalidMechanismError("every released symbol needs a useful one.")
    for part in (rows, columns, weights):
        part.setflags(write=False)
    return rows, columns, weights
