"""What every mechanism can do: give a joint of (sensitive, released), say what a release draws, store itself.

The integers are the mechanism: they are what is checked, stored and drawn from. How they are laid out is the business
of the kinds: a plain channel, one that reads S, bits, attributes.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Protocol, Self

import numpy as np

from discreet._support import files
from discreet._support.errors import InputError, InvalidMechanismError, UnseenSymbolError
from discreet._support.numeric import DENOMINATOR, BoolArray, FloatArray, IntArray, ObjectArray, exact_integers
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism.about import About
from discreet.mechanism.draw import Draw
from discreet.mechanism.estimate import Estimate, estimate_frequencies
from discreet.mechanism.store import FORMAT, check_stored, read_json
from discreet.mechanism.values import AS_LABELS

__all__ = ["JudgedKind", "Mechanism"]


class JudgedKind(Protocol):
    """What a mechanism asks of a bounded measure, to choose the symbols on which it is decided."""

    @property
    def is_on_lifts(self) -> bool:
        """Whether it bounds lifts or their ratios, nothing else."""

    @property
    def compares_pairs(self) -> bool:
        """Whether it compares two sensitive values with each other, not one with the mean."""


class Mechanism(ABC):
    r"""A randomised map from useful to released values, in integers over :math:`2^{60}` (in values :math:`2^{120}`).

    A mechanism never changes; `promising` makes one that carries another promise. Make plain ones with `from_channel`,
    `from_weights` or `from_blocks`, or read a stored one of any kind with `from_json`.

    Attributes
    ----------
    useful : tuple
        Labels of the values that it takes, distinct.
    about : About
        Where it comes from and what it promises; ``notion``, ``method``, ``useful_columns`` and the others lead there.

    Examples
    --------
    >>> mechanism = Mechanism.from_channel([[1, 0], [0.25, 0.75]], useful=["a", "b"], released=["low", "high"])
    >>> mechanism.weights.tolist() == [[2**60, 0], [2**58, 3 * 2**58]]
    True
    """

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Mechanism]]] = {}
    #: Whether released values are listed, each with its own few values behind it; else they are made of parts.
    is_sparse: ClassVar[bool] = False
    reads_sensitive: ClassVar[bool] = False

    useful: tuple[Any, ...]
    sensitive: tuple[Any, ...] = ()  # labels of the sensitive values that it reads
    about: About

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:  # not what several kinds share
            Mechanism.kinds[cls.kind] = cls

    def __init__(self, useful: Sequence[Any], about: About, **parts: Any) -> None:
        self.__dict__.update(useful=tuple(useful), about=about, **parts)
        if len(set(self.useful)) != len(self.useful) or not self.useful:
            raise InvalidMechanismError("useful labels must be distinct, and at least one.")
        about.check_for(len(self.useful))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a mechanism never changes, so {name!r} cannot be set.")

    # How plain ones are made; kinds that are made otherwise have makers of their own.

    @classmethod
    def from_channel(cls, channel: Any, **options: Any) -> Mechanism:
        """A plain mechanism from a matrix of floats; see `ChannelMechanism.from_channel`."""
        return Mechanism.kinds["channel"].from_channel(channel, **options)

    @classmethod
    def from_weights(cls, weights: Any, **options: Any) -> Mechanism:
        """A plain mechanism from a matrix of integer weights; see `ChannelMechanism.from_weights`."""
        return Mechanism.kinds["channel"].from_weights(weights, **options)

    @classmethod
    def from_blocks(cls, joint: Joint, block_of: Any, **options: Any) -> Mechanism:
        """A plain mechanism that releases blocks of values; see `ChannelMechanism.from_blocks`."""
        return Mechanism.kinds["channel"].from_blocks(joint, block_of, **options)

    # What it is.

    @property
    @abstractmethod
    def released(self) -> tuple[str, ...]:
        """Labels of the released values."""

    @property
    def released_values(self) -> tuple[Any, ...] | None:
        """The useful value that each released label is, where the mechanism is in values; else None."""
        return None

    @property
    def is_in_values(self) -> bool:
        """Whether released labels are useful values, and published as such."""
        return self.released_values is not None

    @property
    def denominator(self) -> int:
        """What the integer weights of a row sum to: 2**60, in values 2**120."""
        return DENOMINATOR

    @property
    def own_places(self) -> tuple[int, ...] | None:
        """Where every released symbol is a useful value: the place of each among those; None where some are not."""
        return None

    @property
    def has_mixed_labels(self) -> bool:
        """Whether a design named symbols that it draws by what they stand for, and not by a value or a merged block."""
        return False

    @property
    @abstractmethod
    def channel(self) -> FloatArray:
        """P(y | x) in floats."""

    @property
    @abstractmethod
    def is_deterministic(self) -> bool:
        """Whether every value is always released as the same one."""

    @abstractmethod
    def describe(self) -> str:
        """How a value is released, in a sentence."""

    @property
    def n_useful(self) -> int:
        """Number of useful values."""
        return len(self.useful)

    @property
    def n_released(self) -> int:
        """Number of released values."""
        return len(self.released)

    @property
    def p_useful(self) -> FloatArray | None:
        """P(x) of the design, where it is known."""
        return self.about.p_useful

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """Columns that it protects."""
        return self.about.sensitive_columns

    @property
    def useful_columns(self) -> tuple[str, ...]:
        """Columns that it takes."""
        return self.about.useful_columns

    @property
    def bins(self) -> Mapping[str, tuple[float, ...]]:
        """Edges of the columns that were cut into intervals."""
        return self.about.bins

    @property
    def notion(self) -> Mapping[str, Any] | None:
        """The promise that it was designed for, as plain data."""
        return self.about.notion

    @property
    def method(self) -> str | None:
        """Name of the designer."""
        return self.about.method

    @property
    def is_private(self) -> bool:
        """Whether its weights tell about single people, since few records stand behind useful values."""
        return self.about.is_private

    def promising(self, notion: Mapping[str, Any] | None, method: str | None = None) -> Self:
        """The same mechanism with another promise written on it."""
        return self._changed(about=replace(self.about, notion=notion, method=method))

    def applied_to(self, columns: Sequence[str], useful: Sequence[Any]) -> Self:
        """The same mechanism for columns, and useful values, of other names."""
        return self._changed(about=replace(self.about, useful_columns=tuple(columns)), useful=tuple(useful))

    def kept_private(self) -> Self:
        """The same mechanism, marked as one whose weights tell about single people."""
        return self._changed(about=replace(self.about, is_private=True))

    def made_public(self) -> Self:
        """The same mechanism, whose weights may be told: what they tell about single people is public anyway."""
        return self._changed(about=replace(self.about, is_private=False))

    def unnamed(self) -> Self:
        """The same mechanism, with numbers for released labels that would tell its weights."""
        return self

    def in_values(self, joint: Joint | None = None) -> Mechanism:
        r"""The mechanism that publishes the column's own values: X -> X', each symbol read as a value behind it.

        .. math:: R(x' \mid x) = \sum_y P(y \mid x) \, q(x' \mid y), \qquad q(x' \mid y) = P(x') P(y \mid x') / P(y)

        R is drawn in one step, and its weights are exact: sums of products of weights over 2**60, so integers over
        2**120. It is a post-processing of y, so x' keeps every convex promise that y keeps (all but the inverse l1 and
        chi-square lifts), and P(x) is kept on average.

        Parameters
        ----------
        joint : Joint, optional
            Gives P(x), matched by label. Left out: that of the design, which the public part of a stored mechanism does
            not hold.

        Returns
        -------
        Mechanism
            Of the same kind, with typed ``released_values``. It still names the promise of the design, which whoever
            releases it decides anew.

        Notes
        -----
        Cost: one product for each pair of values that share a released symbol. Source: [GKW98]_, whose invariant
        matrices R is one of.

        Examples
        --------
        >>> joint = Joint.from_counts([[1, 1], [1, 1]], useful=[10, None])
        >>> mechanism = Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75]], useful=[10, None])
        >>> mechanism.in_values(joint).released_values, mechanism.in_values(joint).channel.tolist()
        ((10, None), [[0.625, 0.375], [0.375, 0.625]])
        """
        raise InputError(f"what {type(self).__name__} releases stands for no single value. {AS_LABELS}")

    def _changed(self, **parts: Any) -> Self:
        other = copy.copy(self)
        other.__dict__.update(parts)
        for derived in ("fingerprint", "own_places"):
            other.__dict__.pop(derived, None)
        return other

    # What it does to a joint.

    @abstractmethod
    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        """P(s, y) in floats, and how to make it in integers up to a common factor."""

    @abstractmethod
    def useful_information(self, joint: Joint) -> float:
        """I(X; Y), nats; see `discreet.measures.useful_information`."""

    def expected(self, joint: Joint) -> Joint:
        """The joint of (sensitive, released), expected over the draw; its masses stay exact.

        Values are matched by label, so the joint may come from another table; a value with mass that the mechanism does
        not know is an `UnseenSymbolError`.
        """
        cells, masses = self.carried(joint)
        suffice = None if joint.floats_suffice else False
        return Joint(cells, masses, useful=self.released, **joint.described(), floats_suffice=suffice)

    def judged(self, joint: Joint, kinds: Iterable[JudgedKind]) -> Joint:
        """The joint of (sensitive, released) on which bounds of these kinds are decided."""
        return self.expected(joint)

    def applied(self, counts: IntArray, sensitive: Sequence[Any]) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        """P(s, z, y) from counts of (s, z, x), whatever z stands between them, in floats and as `carried` makes masses.

        ``sensitive`` names the rows; the last axis runs over ``useful``.
        """
        n_sensitive, n_between, _ = counts.shape
        flat = Joint.from_counts(counts.reshape(n_sensitive * n_between, -1), useful=self.useful)
        cells, masses = self.carried(flat)
        return (
            cells.reshape(n_sensitive, n_between, -1),
            lambda: masses().reshape(n_sensitive, n_between, -1),
        )

    def outcome_weights(self) -> ObjectArray:
        """Weights of all that can be released, shape (n_released, 1 or n_sensitive, n_useful), integers of one scale.

        There is a row for each sensitive value where the mechanism reads them, else one for all.
        """
        read: Sequence[Any] = self.sensitive if self.reads_sensitive else (None,)
        each = np.broadcast_to(np.eye(self.n_useful, dtype=np.int64), (len(read), self.n_useful, self.n_useful))
        _, masses = self.applied(each, read)
        return np.moveaxis(masses(), 2, 0)

    def outcomes(self, joint: Joint) -> tuple[IntArray, IntArray, FloatArray]:
        """What somebody with each useful value can expect: (useful index, released index, probability), row by row."""
        rows, columns = np.nonzero(self.channel)
        return rows, columns, self.channel[rows, columns]

    def releases_everything(self, joint: Joint) -> bool:
        """Whether different values that occur always stay different, so that nothing is lost."""
        return False

    def check_kind(self) -> None:
        """An error for a class that stands under the kind of another: what it says of itself is not its weights."""
        if Mechanism.kinds.get(self.kind) is not type(self):
            raise InvalidMechanismError(
                f"{type(self).__name__} goes by the kind {self.kind!r} of another class. Give it a kind of its own."
            )

    def check_known(self, useful: Sequence[Any], occurs: BoolArray) -> None:
        """An `UnseenSymbolError` where a value occurs that the mechanism has no row for."""
        known = set(self.useful)
        unseen = sum(bool(here) for label, here in zip(useful, occurs) if label not in known)
        if unseen:
            raise UnseenSymbolError(
                f"{unseen} of {len(useful)} useful values do not occur in the mechanism. "
                "Design it on a table that has them."
            )

    # What a release draws.

    @abstractmethod
    def draws(self) -> tuple[Draw, ...]:
        """One draw for each column that is released."""

    @abstractmethod
    def sample(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> Any:
        """A released value (by index) for each given useful one (by index): for simulations, not for releases.

        Parameters
        ----------
        symbols : array_like of int
            Indices into ``useful``.
        rng : numpy.random.Generator
            Source of the draws.
        sensitive : array_like of int
            Indices into ``sensitive``, where the mechanism reads S.
        """

    def sample_labels(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> list[str]:
        """The same by label."""
        return [self.released[y] for y in self.sample(symbols, rng, sensitive).tolist()]

    def released_columns(self, rename: str | None = None, *, as_values: bool = False) -> tuple[str, ...]:
        """Names of the released columns: one for all useful columns, unless each is released by itself or in values."""
        columns = self.checked_columns()
        if len(columns) > 1 and rename is None:
            raise InputError("several useful columns are released as one: name it with rename (--as).")
        return (rename or columns[0],)

    def checked_columns(self) -> tuple[str, ...]:
        """The useful columns, without which nothing can be released."""
        if not self.useful_columns:
            raise InputError(
                "the mechanism does not know which columns it is for. Design it from a table, or make it with "
                "useful_columns=[...]."
            )
        return self.useful_columns

    def stand_in(self, chosen: Any = None) -> Any:
        """The known value that unknown ones are treated as: the chosen one, or null."""
        empty = None if len(self.useful_columns) < 2 else (None,) * len(self.useful_columns)
        for value in (None, empty) if chosen is None else (chosen,):
            if value in self.useful:
                return value
        raise InputError(
            "the mechanism has no null to suppress unknown values to. Name one of its values (suppress_as, "
            "--suppress-as)."
            if chosen is None
            else "the value to suppress unknown values to is itself unknown to the mechanism."
        )

    # What can be learnt from a release.

    @abstractmethod
    def codebook(self, joint: Joint | None = None) -> dict[str, dict[Any, float]]:
        """What a released value stands for: P(x | y), likeliest first.

        Parameters
        ----------
        joint : Joint, optional
            Gives P(x), matched by label. Left out: the one that it was designed on, which the public part of a stored
            mechanism does not hold.
        """

    def estimate(self, released_counts: Any) -> Estimate:
        """Unbiased estimate of P(x) from counts of released symbols, with standard errors.

        ``standard_errors`` are those of the population that the records are a sample of; ``table_errors``, which are
        smaller, those of the shares in the released table itself.

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

    def known_p_useful(self, joint: Joint | None = None) -> FloatArray:
        """P(x) of a joint, or else of the design; an error that says what a codebook needs where neither is known."""
        if joint is not None:
            self.check_known(joint.useful, joint.occurs)
            share = dict(zip(joint.useful, joint.p_useful.tolist()))
            return np.array([share.get(label, 0.0) for label in self.useful])
        if self.p_useful is None:
            raise InvalidMechanismError(
                "the mechanism carries no P(x), which a codebook needs. Give a joint of the table: codebook(joint)."
            )
        return self.p_useful

    def known_masses(self, joint: Joint | None = None) -> ObjectArray:
        """The same as integers in exactly these proportions, for values."""
        if joint is None:
            if self.p_useful is None:
                raise InvalidMechanismError(
                    "the mechanism carries no P(x), which values need. Give a joint of the table: in_values(joint)."
                )
            return exact_integers(self.p_useful)
        self.check_known(joint.useful, joint.occurs)
        mass = dict(zip(joint.useful, joint.whole.sum(axis=0).tolist()))
        return np.array([mass.get(label, 0) for label in self.useful], dtype=object)

    # How it is stored.

    def to_dict(self) -> dict[str, Any]:
        """All of the mechanism as plain data, the content of its JSON."""
        about = self.about
        return {
            "format": FORMAT,
            "kind": self.kind,
            "method": about.method,
            "notion": about.notion,
            "reads_sensitive": self.reads_sensitive,
            "sensitive_columns": list(about.sensitive_columns),
            "useful_columns": list(about.useful_columns),
            "bins": {name: list(edges) for name, edges in about.bins.items()},
            "denominator": self.denominator,
            "useful": [labels.encode(label) for label in self.useful],
            "private": about.is_private,
            "p_useful": None if about.p_useful is None else about.p_useful.tolist(),
            **self._stored_parts(),
        }

    @abstractmethod
    def _stored_parts(self) -> dict[str, Any]:
        """What a kind stores besides what all of them do."""

    @classmethod
    @abstractmethod
    def _restored(cls, stored: Mapping[str, Any], useful: Sequence[Any], about: About) -> Mechanism:
        """The inverse of `_stored_parts`."""

    def public_dict(self) -> dict[str, Any]:
        """What determines the draw and the labels, without the distribution of the table that it was designed on."""
        return {name: value for name, value in self.to_dict().items() if name not in ("p_useful", "p_joint")}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what determines the draw: two mechanisms that draw alike share it, whatever they promise."""
        canonical = json.dumps(_drawn(self.public_dict()), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Mechanism:
        """The inverse of `to_dict`, and of `public_dict` but for the distribution; everything is checked again."""
        if not isinstance(stored, Mapping) or stored.get("format") != FORMAT:
            raise InvalidMechanismError(f"not a mechanism of format {FORMAT!r}.")
        try:
            check_stored(stored)
            kind = Mechanism.kinds.get(stored["kind"])
            if kind is None or stored["reads_sensitive"] is not kind.reads_sensitive:
                raise InvalidMechanismError("this version does not know the kind of a stored mechanism.")
            return kind._restored(stored, [labels.decode(label) for label in stored["useful"]], About.stored(stored))
        except KeyError as error:
            raise InvalidMechanismError(f"a stored mechanism lacks {error}.") from None
        except InvalidMechanismError:
            raise
        except (InputError, TypeError, ValueError, OverflowError, RecursionError):
            raise InvalidMechanismError("a stored mechanism is damaged.") from None

    def to_json(self, path: str | os.PathLike[str], *, private: bool | None = None) -> None:
        """Write the mechanism; the file appears whole or not at all.

        Parameters
        ----------
        path : path
            The file.
        private : bool, optional
            Left out: what draws need (`public_dict`), for its owner alone where the mechanism is private. True:
            everything, P(x) or P(s, x) of the table too, for its owner alone. False: what draws need, for everyone,
            whatever the mechanism says; a decision to publish it.
        """
        content = self.to_dict() if private else self.public_dict()
        hidden = self.is_private if private is None else private
        files.write_text(path, json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n", private=hidden)

    @staticmethod
    def from_json(path: str | os.PathLike[str]) -> Mechanism:
        """Read what `to_json` wrote, either part."""
        stored = read_json(path)
        try:
            return Mechanism.from_dict(stored)
        except InvalidMechanismError as error:
            raise InvalidMechanismError(f"{os.fspath(path)!r}: {error}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def _repr_html_(self) -> str: ...


def _drawn(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A stored mechanism, and each of its parts, without where it comes from and what it promises."""
    rest = {name: value for name, value in stored.items() if name not in ("notion", "method", "private")}
    return rest if "parts" not in rest else {**rest, "parts": [_drawn(part) for part in rest["parts"]]}
