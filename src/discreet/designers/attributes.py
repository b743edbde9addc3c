r"""One protocol for each attribute of X, side-channel resistant together: the sound sequential version.

Theorem 4 of [LTS20]_ asks each Q^j to be eps/m-LIP with respect to P(S, X^j | x_J) for all J, and claims that then the
product is eps-SRLIP. That is false: two releases that tell nothing one by one may tell everything together (two bits
whose exclusive or is S). What holds is the chain rule, with K the attributes before j that are not in J,

.. math:: P(y \mid s, x_J) = P(y^J \mid x_J) \prod_{j \notin J} P(y^j \mid s, x_J, y^K),

so it is enough that each Q^j is eps_j-LIP with respect to P(S, X^j | x_J, y^K) for all J without j and all y^K, with
budgets that sum to epsilon. Attributes are designed one after the other, each optimally under these conditions.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError, UnsupportedNotionError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.designers.posteriors.optimal import optimal
from discreet.mechanism import Mechanism, ProductMechanism, provenance
from discreet.notions import LIP, SRLIP, Notion
from discreet.utilities import Utility

__all__ = ["attribute_joints", "independent_attributes"]

#: Conditions, and sensitive values under one, of less probability than this would be rounding.
IMPOSSIBLE = 1e-12


def independent_attributes(
    joint: Joint, notion: Notion, *, utility: Utility, seed: int = 0, time_limit: float | None = None
) -> Mechanism:
    """The product of one optimal protocol for each attribute, budgets shared equally."""
    if not isinstance(notion, SRLIP):
        raise UnsupportedNotionError(f"independent-attributes serves SRLIP, not {notion}. Use 'optimal'.")
    count = len(joint.attributes)
    if count < 2:
        raise InputError("independent-attributes needs useful values of several attributes: name several columns.")
    budget = LIP(notion.epsilon / count)
    each = None if time_limit is None else time_limit / count
    parts: list[Mechanism] = []
    with progress.stage("designing attribute by attribute") as stage:
        for j in range(count):
            values = tuple(dict.fromkeys(x[j] for x in joint.useful))
            own, *others = attribute_joints(joint, j, parts, values)
            parts.append(optimal(own, budget, utility=utility, seed=seed, time_limit=each, also=others).mechanism)
            stage.update(j + 1, count)
    product = ProductMechanism(parts, joint.useful, **provenance(joint))
    if notion.holds(joint, product):
        return product
    # Conditions are known in floats; without any budget they may be off by rounding, and only constants are private.
    constant = [Mechanism.from_channel(np.ones((part.n_useful, 1)), useful=part.useful) for part in parts]
    return ProductMechanism(constant, joint.useful, **provenance(joint))


def attribute_joints(
    joint: Joint, j: int, parts: list[Mechanism], values: tuple[object, ...], *, with_released: bool = True
) -> Iterator[Joint]:
    """P(S, X^j), then P(S, X^j | x_J, y^K) for every J without j and K the earlier attributes outside of J.

    ``parts`` are the mechanisms of the earlier attributes. ``with_released=False`` leaves y^K out: the premises of
    the theorem that is false.
    """
    codes = joint.attributes
    yield _grouped(joint, joint.probabilities, codes[j], values)
    others = [i for i in range(len(codes)) if i != j]
    for known in itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(len(codes))):
        earlier = [i for i in range(j) if i not in known] if with_released else []
        if not known and not earlier:
            continue  # the joint that came first
        _, group = np.unique(codes[list(known)], axis=1, return_inverse=True) if known else (None, 0 * codes[j])
        for cells in _conditions(joint.probabilities, np.asarray(group).reshape(-1), codes, earlier, parts):
            yield _grouped(joint, cells, codes[j], values)


def _conditions(
    cells: FloatArray, group: IntArray, codes: IntArray, earlier: list[int], parts: list[Mechanism]
) -> Iterator[FloatArray]:
    """P(s, x, y^K) inside every slice and for every y^K, up to a factor."""
    for k in range(int(group.max()) + 1):
        inside = cells * (group == k)
        for released in itertools.product(*(range(parts[i].n_released) for i in earlier)):
            weighted = inside
            for i, y in zip(earlier, released):
                weighted = weighted * parts[i].channel[codes[i], y]
            if weighted.sum() > IMPOSSIBLE:
                yield weighted


def _grouped(joint: Joint, cells: FloatArray, code: IntArray, values: tuple[object, ...]) -> Joint:
    table = np.zeros((len(cells), len(values)))
    np.add.at(table.T, code, cells.T)
    rows = np.flatnonzero(table.sum(axis=1) > IMPOSSIBLE * table.sum())
    kept = table[rows]
    return Joint.from_array(kept / kept.sum(), sensitive=[joint.sensitive[s] for s in rows], useful=values)
