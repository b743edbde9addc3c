"""Side-channel-resistant local information privacy: LIP even towards someone who knows some attributes of X."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._support import validate
from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.measures.lift import lift
from discreet.mechanism import Mechanism
from discreet.notions.base import Notion, two_sided
from discreet.notions.bound import Bound, factor
from discreet.notions.lift_kinds import LargestLift, SmallestLift
from discreet.notions.lip import LIP
from discreet.notions.rows import Label, PosteriorRows

__all__ = ["SRLIP", "slices"]

NEEDS_MECHANISM = "SRLIP is a promise about a mechanism: pass the joint of (S, X) and the mechanism."


@dataclass(frozen=True)
class SRLIP(Notion):
    r"""Side-channel-resistant LIP: whoever knows some attributes of a record learns no more about ``s`` from ``y``.

    .. math:: e^{-\varepsilon} \le \frac{P(s \mid y, x_J)}{P(s \mid x_J)} \le e^{\varepsilon}
        \quad \text{for all } J, x_J, s, y

    J runs over all sets of attributes, the empty one included; conditions of probability zero ask for nothing.

    Parameters
    ----------
    epsilon : float
        Budget of each side, nats.

    Notes
    -----
    It is a promise about a mechanism, so `holds` and `slack` need one. Attributes are the parts of useful values that
    are tuples, as several useful columns make them; with one attribute it is ``LIP(epsilon)``, which it always
    implies. Source: [LTS20]_, Definition 4.

    Examples
    --------
    >>> joint = Joint.from_counts([[2, 1, 1, 2], [1, 2, 2, 1]], useful=[(0, 0), (0, 1), (1, 0), (1, 1)])
    >>> first_bit = Mechanism.from_blocks(joint, [0, 0, 1, 1])
    >>> LIP(0.0).holds(joint, first_bit), SRLIP(0.3).holds(joint, first_bit)
    (True, False)
    """

    epsilon: float
    name: ClassVar[str] = "srlip"
    is_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", validate.budget(self.epsilon, "epsilon"))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return two_sided(self.epsilon, self.epsilon, SmallestLift(), LargestLift())

    def holds(self, joint: Joint, mechanism: Mechanism | None = None) -> bool:
        """Whether the mechanism keeps the promise inside every slice, decided exactly."""
        checked = _needed(mechanism)
        found = slices(joint, even_single=checked.reads_sensitive)
        return all(LIP(self.epsilon).holds(joint.given(symbols), checked) for symbols in found)

    def slack(self, joint: Joint, mechanism: Mechanism | None = None) -> float:
        """Nats of budget left in the worst slice."""
        checked = _needed(mechanism)
        found = slices(joint, even_single=checked.reads_sensitive)
        return min(LIP(self.epsilon).slack(joint.given(symbols), checked) for symbols in found)

    def allowed(self, joint: Joint) -> BoolArray:
        """Not defined: a released symbol alone does not tell what someone who knows part of x learns."""
        raise InputError(NEEDS_MECHANISM)

    def rows(self, joint: Joint) -> PosteriorRows:
        """Homogeneous rows: in every slice, lifts inside their range times the mass of the slice."""
        found: list[FloatArray] = []
        labels: list[Label] = []
        for symbols in slices(joint):
            inside = joint.given(symbols)
            lifts = lift(inside)
            values = [joint.sensitive.index(s) for s in inside.sensitive]
            upper, lower = lifts - factor(self.epsilon), math.exp(-self.epsilon) - lifts
            for kind, block in (("upper", upper), ("lower", lower)):
                rows = np.zeros((len(block), joint.n_useful))
                rows[:, symbols] = block
                found.append(rows)
                labels += [(kind, s, s, tuple(symbols.tolist())) for s in values]
        matrix = np.vstack(found)
        return PosteriorRows.at_most(matrix, np.zeros(len(matrix)), labels=tuple(labels))


def slices(joint: Joint, *, even_single: bool = False) -> Iterator[IntArray]:
    """Useful values that agree with what someone knows: for every set of attributes, every value of it.

    Slices that never occur are left out, and so are slices of one value: nothing is left to learn from a mechanism
    that sees x alone. ``even_single`` keeps them, for mechanisms that read S.
    """
    lengths = {len(x) if isinstance(x, tuple) else 1 for x, here in zip(joint.useful, joint.occurs) if here}
    if len(lengths) > 1:
        raise InputError("SRLIP needs useful values of one number of attributes: tuples of one length.")
    codes, everyone = joint.attributes, np.flatnonzero(joint.occurs)
    seen: set[bytes] = set()
    for size in range(len(codes) + 1):
        for known in itertools.combinations(range(len(codes)), size):
            if not known:
                groups = [everyone]
            else:
                _, group = np.unique(codes[list(known)][:, everyone], axis=1, return_inverse=True)
                group = group.reshape(-1)
                groups = [everyone[group == k] for k in range(int(group.max()) + 1)]
            for symbols in groups:
                if (len(symbols) > 1 or not known or even_single) and symbols.tobytes() not in seen:
                    seen.add(symbols.tobytes())
                    yield symbols


def _needed(mechanism: Mechanism | None) -> Mechanism:
    if mechanism is None:
        raise InputError(NEEDS_MECHANISM)
    return mechanism
