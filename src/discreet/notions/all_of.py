"""Several promises at once: what ``a & b`` makes of two notions."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet._support.errors import InvalidNotionError
from discreet.notions.base import Notion, from_dict
from discreet.notions.bound import Bound, BoundKind

__all__ = ["AllOf"]


@dataclass(frozen=True)
class AllOf(Notion):
    r"""All of several promises, made by ``a & b``.

    .. math:: \text{level}_k(y) \le \varepsilon_k \quad \text{for all } y \text{ and all bounds } k \text{ of the parts}

    Parameters
    ----------
    parts : tuple of Notion
        None of them conditional.

    Notes
    -----
    Its bounds are those of all parts, of equal kinds the smallest; so it is decided exactly, implies what they imply
    together, and is a polytope where they all are. No certificate states it as a whole: certify the parts. `ALIP` is
    such a pair of one-sided bounds. Source: [ZDS23]_, Definition 3, for that pair; the general form is our own.

    Examples
    --------
    >>> from discreet import LDP, ALIP, MaxLift
    >>> both = MaxLift(0.25) & LDP(1)
    >>> print(both)
    MaxLift(eps_upper=0.25) & LDP(1)
    >>> both.implies(ALIP(eps_lower=1, eps_upper=0.25))
    True
    """

    parts: tuple[Notion, ...]
    name: ClassVar[str] = "all-of"

    def __post_init__(self) -> None:
        given = tuple(self.parts)
        if not given or not all(isinstance(part, Notion) for part in given):
            raise InvalidNotionError("parts must be one or more notions.")
        for part in given:
            if part.is_conditional:
                raise InvalidNotionError(
                    f"{part} speaks of people who know part of x, which bounds on lifts do not tell, so it cannot be "
                    "combined with others. Check it by itself with holds."
                )
            if part.confidence is not None:
                raise InvalidNotionError(
                    f"{part} is decided on limits of what a sample tells, so it cannot be combined with others. Check "
                    "it by itself with holds; both sides of a lift are bounded by one ALIP."
                )
        flat = [inner for part in given for inner in (part.parts if isinstance(part, AllOf) else (part,))]
        object.__setattr__(self, "parts", tuple(flat))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        smallest: dict[BoundKind, float] = {}
        for part in self.parts:
            for bound in part.bounds:
                smallest[bound.kind] = min(bound.epsilon, smallest.get(bound.kind, bound.epsilon))
        return tuple(Bound(kind, epsilon) for kind, epsilon in smallest.items())

    def tightened(self, margin: float) -> Notion:
        return AllOf(tuple(part.tightened(margin) for part in self.parts))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "parts": [part.to_dict() for part in self.parts]}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Notion:
        rest = dict(fields)
        parts = rest.pop("parts")
        if rest or not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise TypeError("parts is a list of notions as plain data, and nothing else is stored")
        return cls(tuple(from_dict(part) for part in parts))

    def __str__(self) -> str:
        return " & ".join(str(part) for part in self.parts)
