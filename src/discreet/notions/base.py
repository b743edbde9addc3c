"""What every privacy notion can do: decide, measure its slack, rank merges, give linear rows, imply others."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from discreet._support import validate
from discreet._support.errors import InputError, InvalidNotionError, UnsupportedNotionError
from discreet._support.numeric import BoolArray, FloatArray
from discreet.core.joint import Joint
from discreet.measures.lift import lift
from discreet.measures.limits import BeliefLimits, belief_limits
from discreet.mechanism import Mechanism
from discreet.notions import exact, implication
from discreet.notions.bound import Bound, BoundKind
from discreet.notions.confident import Sample, confident_rows
from discreet.notions.rows import PosteriorRows, stacked

__all__ = ["Notion", "check_confidence", "check_sides", "check_subject", "from_dict", "two_sided"]


class Notion:
    """A promise about the lifts of every released symbol; a small immutable value, budgets in nats.

    Subclasses are frozen dataclasses with a ``name``, whose ``bounds`` say what is promised; all else follows from
    those. ``a & b`` promises both.
    """

    name: ClassVar[str]
    #: Whether it speaks of people who know part of x, which bounds on the lifts of y alone do not tell.
    is_conditional: ClassVar[bool] = False
    registry: ClassVar[dict[str, type[Notion]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.__dict__.get("name")
        if name is None:
            return  # without a name of its own it cannot be stored, and must not stand for its parent
        taken = Notion.registry.get(name)
        # A dataclass with slots is made twice, and a cell of a notebook runs more than once.
        if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise InvalidNotionError(f"{cls.__name__} needs a name of its own: {taken.__name__} is called {name!r}.")
        Notion.registry[name] = cls

    @property
    def confidence(self) -> float | None:
        """How sure it is that the promise holds for the population that a table is a sample of; None: of the table."""
        return None

    def limits(self, joint: Joint) -> BeliefLimits | None:
        """Within which P(s | x) may be anything where the promise is about a population; None: it is as counted."""
        return None if self.confidence is None else belief_limits(joint, self.confidence)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The measures that are bounded, each with its budget."""
        raise InvalidNotionError(f"{type(self).__name__} needs bounds: a property that gives a tuple of Bound.")

    @property
    def only_side(self) -> str | None:
        """Which side alone is limited, ``upper`` or ``lower``; None where no side is left open.

        >>> from discreet import ALIP, LIP
        >>> ALIP(eps_upper=0.5).only_side, LIP(0.5).only_side
        ('upper', None)
        """
        limited = [side for side in ("lower", "upper") if getattr(self, f"eps_{side}", None) is not None]
        return limited[0] if len(limited) == 1 else None

    def holds(self, joint: Joint, mechanism: Mechanism | None = None) -> bool:
        """Whether every released symbol keeps the promise, decided exactly.

        Parameters
        ----------
        joint : Joint
            P(s, y), or P(s, x) where a mechanism is given.
        mechanism : Mechanism, optional
            P(y | x), taken as its integer weights.

        Returns
        -------
        bool
            Floats settle what is clear; whatever comes within their rounding of a budget is decided in integers.
        """
        limits = self.limits(joint)
        if limits is not None and not Sample.of(joint, limits, mechanism).allowed(self.bounds).all():
            return False
        return bool(self._as_counted(self._seen(joint, mechanism)).all())

    def _seen(self, joint: Joint, mechanism: Mechanism | None) -> Joint:
        """The joint that is judged."""
        return joint if mechanism is None else mechanism.judged(joint, [bound.kind for bound in self.bounds])

    def allowed(self, joint: Joint) -> BoolArray:
        """Which symbols keep the promise, each taken alone; decided exactly.

        A symbol without mass is never seen and passes.
        """
        counted = self._as_counted(joint)
        limits = self.limits(joint)
        return counted if limits is None else counted & Sample.of(joint, limits, None).allowed(self.bounds)

    def allowed_of(self, joint: Joint, mechanism: Mechanism) -> BoolArray:
        """Which released symbols of a mechanism keep the promise on a joint of (sensitive, useful); decided exactly."""
        counted = self._as_counted(mechanism.expected(joint))
        limits = self.limits(joint)
        return counted if limits is None else counted & Sample.of(joint, limits, mechanism).allowed(self.bounds)

    def _as_counted(self, joint: Joint) -> BoolArray:
        """The same of the joint as it is, which limits of beliefs contain."""
        verdict, unsure = self.screen(joint)
        if unsure.any():
            columns = np.flatnonzero(unsure)
            verdict[columns] = exact.keeps(joint.whole, self.bounds, columns.tolist())
        return verdict

    def screen(self, joint: Joint) -> tuple[BoolArray, BoolArray]:
        """Verdicts in floats, and which of them rounding could turn."""
        if not joint.floats_suffice:
            everything = np.ones(joint.n_useful, dtype=bool)
            return everything, everything.copy()
        lifts = lift(joint)
        verdict = np.ones(joint.n_useful, dtype=bool)
        unsure = np.zeros(joint.n_useful, dtype=bool)
        for bound in self.bounds:
            excess = bound.level(bound.value(lifts, joint.p_sensitive)) - bound.epsilon
            verdict &= excess <= 0
            unsure |= np.abs(excess) <= joint.guard
        return verdict, unsure

    def levels(self, joint: Joint) -> FloatArray:
        """Nats that each bound needs at each symbol, shape (number of bounds, n_released)."""
        limits = self.limits(joint)
        if limits is not None:
            return Sample.of(joint, limits, None).levels(self.bounds)
        lifts = lift(joint)
        return np.stack([bound.level(bound.value(lifts, joint.p_sensitive)) for bound in self.bounds])

    def slack(self, joint: Joint, mechanism: Mechanism | None = None) -> float:
        """Nats of budget left at the worst symbol and bound.

        Returns
        -------
        float
            At least 0 exactly where the notion holds; -inf where a finite budget meets a lift of 0.
        """
        limits = self.limits(joint)
        if limits is not None:
            sample = Sample.of(joint, limits, mechanism)
            levels, holds = sample.levels(self.bounds), bool(sample.allowed(self.bounds).all())
        else:
            seen = self._seen(joint, mechanism)
            levels, holds = self.levels(seen), self.holds(seen)
        worst = levels.max(axis=1)
        left = min(bound.epsilon - float(level) for bound, level in zip(self.bounds, worst))
        if holds:
            return max(left, 0.0)
        return min(left, math.nextafter(0.0, -1.0))

    def on_averages(self, joint: Joint, mechanism: Mechanism | None = None) -> list[dict[str, Any]]:
        """What each bound that is not on single lifts measures at the worst symbol, and what it allows, as plain data.

        Lifts say little about such a promise: the belief in a rare value may change more than the average. ``value``
        is at most ``limit`` where ``level``, its nats, is at most ``epsilon``. Empty for promises on lifts alone.
        """
        if all(bound.kind.is_on_lifts for bound in self.bounds):
            return []
        seen = self._seen(joint, mechanism)
        worst, holds = self.levels(seen).max(axis=1), self.holds(seen)
        found = []
        for bound, needed in zip(self.bounds, worst):
            if not bound.kind.is_on_lifts:
                # Integers decide whether it holds, not these floats.
                level = min(float(needed), bound.epsilon) if holds else float(needed)
                value, limit = map(float, bound.limit(np.array([level, bound.epsilon])))
                found.append(
                    {
                        "measure": bound.kind.title,
                        "value": value,
                        "limit": limit,
                        "level": level,
                        "epsilon": bound.epsilon,
                    }
                )
        return found

    def merge_risk(self, joint: Joint) -> FloatArray:
        """Risk by which greedy merging ranks symbols: the sum of the bounded measures at each of them.

        For ALIP it is max-lift plus the inverse of min-lift, for LDP the lift ratio.
        """
        if self.confidence is not None:
            return np.asarray(np.exp(self.levels(joint)).sum(axis=0), dtype=np.float64)
        lifts = lift(joint)
        risk: FloatArray = np.sum([bound.value(lifts, joint.p_sensitive) for bound in self.bounds], axis=0)
        return risk

    def implies(self, other: Notion) -> bool:
        """Whether this promise is proven to entail the other, whatever the joint.

        True follows from Lemma 1 of [LTS20]_, Propositions 1, 3 and 5 of [ZDS23]_ in their corrected form, and
        inequalities between means. False says that these do not prove it.
        """
        if other.is_conditional and not self.is_conditional:
            return False
        if (other.confidence or 0.0) > (self.confidence or 0.0):
            return False  # limits that hold with more confidence are wider, and contain the counted table
        return implication.implies(self.bounds, other.bounds)

    def __and__(self, other: Notion) -> Notion:
        if not isinstance(other, Notion):
            return NotImplemented
        from discreet.notions.all_of import AllOf  # it is a notion itself

        return AllOf((self, other))

    @property
    def is_polyhedral(self) -> bool:
        """Whether the allowed posteriors form a polytope, so that `rows` exist."""
        return all(bound.kind.is_linear for bound in self.bounds)

    @property
    def is_enclosed(self) -> bool:
        """Whether rows enclose the allowed posteriors as closely as one likes, those of a polytope or cuts."""
        return all(bound.kind.is_linear or bound.kind.has_lines for bound in self.bounds)

    def rows(self, joint: Joint) -> PosteriorRows:
        """Linear rows of the allowed posteriors P(x | y), where every bound has such."""
        limits = self.limits(joint)
        if limits is not None:
            return confident_rows(joint, self.bounds, limits)
        for bound in self.bounds:
            if not bound.kind.is_linear:
                raise UnsupportedNotionError(
                    f"{self} has no linear rows: under a bound on the {bound.kind.title} the allowed posteriors are "
                    "not a polytope."
                )
        return stacked([bound.kind.rows(joint, bound.epsilon) for bound in self.bounds])

    def tightened(self, margin: float) -> Notion:
        """The same promise with every budget smaller by a margin, nats.

        >>> from discreet import LIP
        >>> LIP(0.5).tightened(0.125)
        LIP(epsilon=0.375)
        """
        less = validate.budget(margin, "margin") or 0.0
        budgets = [field.name for field in dataclasses.fields(self) if field.name.startswith("eps")]  # type: ignore[arg-type]
        values = {name: getattr(self, name) for name in budgets if getattr(self, name) is not None}
        if not values or min(values.values()) < less:
            raise InvalidNotionError(f"a margin of {less:g} nats leaves nothing of {self}. Use a smaller one.")
        return dataclasses.replace(self, **{name: value - less for name, value in values.items()})  # type: ignore[type-var]

    def on_counts(self) -> Notion:
        """The same promise about the counted table, without confidence.

        >>> from discreet import LIP
        >>> LIP(0.5, confidence=0.95).on_counts()
        LIP(epsilon=0.5)
        """
        return self if self.confidence is None else dataclasses.replace(self, confidence=None)  # type: ignore[type-var]

    def to_dict(self) -> dict[str, Any]:
        """Name and budgets as plain data; the confidence where there is one."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        if values.get("confidence", 0) is None:
            del values["confidence"]
        return {"name": self.name, **values}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Notion:
        """The notion whose `to_dict` gave these values besides its name."""
        return cls(**fields)

    def __str__(self) -> str:
        given = {k: v for k, v in self.to_dict().items() if k != "name" and v is not None}
        named = [f"{k}={exact_text(v)}" for k, v in given.items() if k != "epsilon" or len(given) > 2]
        if "epsilon" in given and len(named) < len(given):
            named.insert(0, exact_text(given["epsilon"]))
        return f"{type(self).__name__}({', '.join(named)})"

    def __repr__(self) -> str:
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        if self.confidence is None:
            given.pop("confidence", None)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _repr_html_(self) -> str:
        return f"<code>{self}</code>"


def from_dict(stored: Mapping[str, Any]) -> Notion:
    """The notion that `Notion.to_dict` described.

    >>> from_dict({"name": "lip", "epsilon": 0.5})
    LIP(epsilon=0.5)
    """
    rest = dict(stored)
    try:
        return Notion.registry[rest.pop("name")].from_fields(rest)
    except (KeyError, TypeError):
        known = ", ".join(Notion.registry)
        raise InvalidNotionError(f"not the description of a notion; known names: {known}.") from None


def exact_text(value: float) -> str:
    """A budget in as few digits as tell it apart from all others.

    >>> exact_text(1.0), exact_text(0.12345649)
    ('1', '0.12345649')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def check_subject(joint: Any, notion: Any, who: str) -> None:
    """A joint and a notion, for functions that take both; a notion from outside the package is whole."""
    if not isinstance(joint, Joint) or not isinstance(notion, Notion):
        raise InputError(f"{who} takes a Joint and a Notion, got {type(joint).__name__}, {type(notion).__name__}.")
    kind = type(notion).__name__
    if not dataclasses.is_dataclass(notion) or not isinstance(getattr(notion, "name", None), str):
        raise InvalidNotionError(f"{kind} needs a name, and to be a frozen dataclass: @dataclass(frozen=True).")
    if Notion.registry.get(notion.name) is not type(notion):
        raise InvalidNotionError(f"{kind} needs a name of its own: {notion.name!r} stands for another notion.")
    bounds = notion.bounds
    if not isinstance(bounds, tuple) or not bounds or not all(isinstance(bound, Bound) for bound in bounds):
        raise InvalidNotionError(f"bounds of {kind} must be a property that gives a tuple of Bound, at least one.")


def two_sided(
    eps_lower: float | None, eps_upper: float | None, lower: BoundKind, upper: BoundKind
) -> tuple[Bound, ...]:
    """The bounds of a notion with an upper and a lower side, either of which may be open."""
    sides = ((upper, eps_upper), (lower, eps_lower))
    return tuple(Bound(kind, epsilon) for kind, epsilon in sides if epsilon is not None)


def check_confidence(notion: Notion) -> None:
    """A share that is neither none nor all: nothing is certain of a sample."""
    given = notion.confidence
    if given is not None:
        object.__setattr__(notion, "confidence", validate.confidence(given))


def check_sides(notion: Notion) -> None:
    """Both budgets are valid, and at least one is given."""
    values = [validate.budget(getattr(notion, side), side, optional=True) for side in ("eps_lower", "eps_upper")]
    if values == [None, None]:
        raise InvalidNotionError(
            f"{type(notion).__name__} needs eps_lower or eps_upper: with both open it promises nothing."
        )
    for side, value in zip(("eps_lower", "eps_upper"), values):
        object.__setattr__(notion, side, value)
