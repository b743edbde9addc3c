r"""From a mixture of posteriors to a mechanism: polished posteriors, exact weights, readable labels, integers.

A solver returns points that may be off by 1e-9. Here the rows that such a point touches are solved again, a hair
inside, and so are the weights of the mixture; what is left of rounding is then far smaller than the hair, and the
exact check passes. The hair grows until it does; as a last resort all posteriors are mixed with a little of P_X.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism import ChannelMechanism, Mechanism, provenance
from discreet.proof.polytope import Polytope

__all__ = ["label_of", "realise", "released_labels"]

#: How far inside the touched rows a posterior is put, relative to their largest entry; tried in turn.
MARGINS = (1e-13, 1e-11, 1e-9, 1e-7)

#: Posteriors whose supports have cubes of more than this in sum are not polished, which solves a system for each: some
#: seconds. They are mixed with P_X, at first by more than a solver's tolerance, which leaves floats no doubt either.
POLISHED_UP_TO, UNPOLISHED = 300_000_000, 1e-7

#: Shares of P_X that all posteriors are mixed with where polishing does not do; tried in turn.
PULLS = (1e-9, 1e-7, 1e-5, 1e-3)

#: Weight of a rest: at least this, and so many times what the mixture is off by; past the last it is no rest.
LEAST_REST, REST_FACTOR, MOST_REST = 1e-11, 10.0, 1e-2

#: Alphabets up to this size have their weights solved for; beyond, a rest is cheaper than a dense system.
SOLVED_EXACTLY = 600

#: Larger alphabets have them solved for by equations of as many unknowns, in so many steps at most until they are right
#: to so small a share: singular values, which others are solved by, take a second where other programs use the cores.
SPLIT_UP_TO, STEPS, SOLVED = 100, 6, 2.0**-50

#: Rows closer than this to zero are touched.
TOUCHED = 1e-7

#: Entries below this are the solver's tolerance, and are not part of a posterior's support; nor are those below a share
#: of P(x), where that is less.
OUTSIDE, OUTSIDE_SHARE = 1e-9, 1e-3

#: Symbols rarer than this are hardly seen by a solver with a tolerance of 1e-9, and released like the commonest one.
RARE = 1e-7

#: The same where the solver was given shares of each symbol as units, tried in turn: for the rarest, integers may be
#: too coarse to keep the notion.
RARE_IN_SHARES = (0.0, 1e-12, RARE)

#: Posteriors with a larger share of rare symbols are left out; a rest takes their place.
RARE_SHARE = 1e-9

#: Posteriors of less weight than this are left out, as their integer weights would be too coarse, unless they are more
#: than such a share of what some symbol is released as.
LIGHT, LIGHT_SHARE = 1e-10, 1e-4

#: Entries named in the label of a released symbol, and the share from which one name says it all.
NAMED, ALMOST_ALL = 3, 0.9995

#: A posterior without any larger entry says nothing that a name could tell.
SPREAD_OUT = 0.02


def realise(
    joint: Joint,
    polytope: Polytope,
    symbols: IntArray,
    points: FloatArray,
    weights: FloatArray,
    accepted: Callable[[ChannelMechanism], Mechanism | None],
    *,
    in_shares: bool,
) -> Mechanism | None:
    """The mechanism that mixes ``points`` (posteriors over ``symbols``), or None where no hair helps.

    ``accepted`` decides on each attempt, and may make another mechanism of it. ``in_shares`` says in which units the
    points were found (`ColumnGeneration`).

    Symbols that are not among ``symbols``, or too rare for the solver or for integers, are released like the commonest
    one.
    """
    for rare in RARE_IN_SHARES if in_shares else (RARE,):
        common = polytope.p_useful >= rare
        # Rare symbols go with the commonest, so posteriors that lean on them are not what they seem.
        rare_share = points[:, ~common].sum(axis=1)
        share = (weights[:, None] * points / polytope.p_useful).max(axis=1)
        heavy = ((weights > LIGHT) | (share > LIGHT_SHARE)) & (rare_share < RARE_SHARE)
        for moved, exact in (
            _attempts(polytope, points[heavy], weights[heavy], common, in_shares=in_shares) if heavy.any() else ()
        ):
            mechanism = _mechanism(joint, symbols, moved, exact, polytope.p_useful, common)
            made = None if mechanism is None else accepted(mechanism)
            if made is not None:
                return made
    return None


def _attempts(
    polytope: Polytope, points: FloatArray, weights: FloatArray, common: BoolArray, *, in_shares: bool
) -> Iterable[tuple[FloatArray, FloatArray]]:
    """Mixtures ever further inside: polished, then with a rest, then mixed with P_X, which is inside of everything."""
    target = polytope.p_useful
    if polytope.curved is not None:  # no system of rows has its border as a solution, but a step towards P_X leaves it
        for share in (*MARGINS, *PULLS):
            yield from _mixed((1 - share) * points + share * target, weights, target, common)
        return
    is_long = bool(((points > OUTSIDE).sum(axis=1, dtype=np.float64) ** 3).sum() > POLISHED_UP_TO)
    if is_long:
        for share in PULLS:
            if share >= UNPOLISHED:
                yield with_rest((1 - share) * points + share * target, weights, target, common)
        return
    if not polytope.is_lifted or polytope.is_banded:  # rows with auxiliary variables do not determine the point
        for margin in MARGINS:
            moved = polish(polytope, points, margin, in_shares=in_shares)
            yield from _mixed(moved, weights, target, common)
    for share in PULLS:
        yield with_rest((1 - share) * points + share * target, weights, target, common)


def _mixed(
    moved: FloatArray, weights: FloatArray, target: FloatArray, common: BoolArray
) -> Iterable[tuple[FloatArray, FloatArray]]:
    """Mixtures of moved points: with weights solved for, where that is exact and none is negative, then with a rest."""
    if len(target) <= SOLVED_EXACTLY:
        exact = mixture_weights(moved, weights, target)
        if exact.min() >= 0:
            yield moved, exact
    yield with_rest(moved, weights, target, common)


def with_rest(
    points: FloatArray, weights: FloatArray, target: FloatArray, common: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Slightly smaller weights, and one more posterior, close to P_X, that makes common symbols exact."""
    off = np.abs(target - weights @ points)[common] / target[common]
    share = max(LEAST_REST, REST_FACTOR * float(off.max()))
    if share > MOST_REST:
        return points, weights
    rest = np.maximum(target - (1 - share) * (weights @ points), 0.0)
    return np.vstack([points, rest / rest.sum()]), np.append((1 - share) * weights, rest.sum())


def polish(polytope: Polytope, points: FloatArray, margin: float, *, in_shares: bool = False) -> FloatArray:
    """Each posterior moved, as little as possible, to where the rows that it touches hold by ``margin``.

    ``in_shares`` measures steps and rows in shares of P(x), in which the entries of rare symbols are no smaller than
    others; the margin is then one of the largest entry of the row in these units.
    """
    result = points.copy()
    least = np.minimum(OUTSIDE, OUTSIDE_SHARE * polytope.p_useful)
    for k, point in enumerate(points):
        support = np.flatnonzero(point > least)
        value = point[support] / point[support].sum()
        used = np.append(support, np.arange(polytope.n_own, polytope.rows.shape[1]))  # and the t of bands
        units, sizes = _units(polytope, used, len(support), in_shares=in_shares)
        touched, lowest = polytope.touched(support, value, TOUCHED * sizes)
        total = np.append(units[: len(support)], np.zeros(len(used) - len(support)))
        system = np.vstack([polytope.rows[np.ix_(touched, used)] * units / sizes[touched, None], total])
        goal = np.append(np.where(polytope.equal[touched], 0.0, -margin), 1.0)
        both = np.append(value, lowest) / units
        for _ in range(2):  # the second step takes up the rounding of the first
            both = both + np.linalg.lstsq(system, goal - system @ both, rcond=None)[0]
        value = (both * units)[: len(support)]
        if (value > 0).all():
            result[k] = 0.0
            result[k, support] = value / value.sum()
    return result


def _units(polytope: Polytope, used: IntArray, count: int, *, in_shares: bool) -> tuple[FloatArray, FloatArray]:
    """What entries, ``count`` of symbols and then others, and rows are measured in."""
    units, sizes = np.ones(len(used)), np.ones(len(polytope.rows))
    if in_shares:
        units[:count] = polytope.p_useful[used[:count]]
        sizes = np.maximum(np.abs(polytope.rows[:, used] * units).max(axis=1), np.finfo(float).tiny)
    return units, sizes


def mixture_weights(points: FloatArray, weights: FloatArray, target: FloatArray) -> FloatArray:
    """Weights close to the given ones whose mixture of the points is the target to the last digits."""
    if len(target) > SPLIT_UP_TO:
        found = _moved_least(points, weights, target)
        if found is not None:
            return found
    for _ in range(2):
        weights = weights + np.linalg.lstsq(points.T, target - weights @ points, rcond=None)[0]
    return weights


def _moved_least(points: FloatArray, weights: FloatArray, target: FloatArray) -> FloatArray | None:
    """The same by equations that are solved at once, step by step; None where they are nearly dependent."""
    gram = points.T @ points if len(points) >= len(target) else points @ points.T
    for _ in range(STEPS):
        left = target - weights @ points
        if np.abs(left).max() <= SOLVED * target.max():
            return weights
        try:
            if len(points) >= len(target):
                weights = weights + points @ np.linalg.solve(gram, left)
            else:
                weights = weights + np.linalg.solve(gram, points @ left)
        except np.linalg.LinAlgError:
            return None
    return None


def _mechanism(
    joint: Joint,
    symbols: IntArray,
    points: FloatArray,
    weights: FloatArray,
    p_useful: FloatArray,
    common: BoolArray,
) -> ChannelMechanism | None:
    used = np.flatnonzero(weights > 0)
    points, weights = points[used], weights[used]
    channel = (weights[:, None] * points).T / p_useful[:, None]
    total = channel.sum(axis=1)
    if np.abs(total[common] - 1).max() > 1e-4:  # a symbol that the mixture does not cover
        return None
    channel[common] /= total[common, None]
    full = np.repeat(channel[[int(p_useful.argmax())]], joint.n_useful, axis=0)
    full[symbols[common]] = channel[common]
    return ChannelMechanism.from_channel(
        full,
        useful=joint.useful,
        released=released_labels(joint, symbols, points),
        **provenance(joint),
    )


def released_labels(joint: Joint, symbols: IntArray, points: FloatArray) -> tuple[str, ...]:
    """What each posterior mostly stands for, with shares: ``Sales 80 %, Tech-support 20 %``."""
    names = []
    for point in points:
        order = np.argsort(-point, kind="stable")[: NAMED + 1]
        names.append(label_of([joint.useful[x] for x in symbols[order].tolist()], point[order]))
    return labels.unique_texts(names)


def label_of(useful: Sequence[Any], shares: FloatArray) -> str:
    """What a posterior mostly stands for, by its largest entries, the largest first.

    >>> label_of(["Sales", "Tech-support"], np.array([0.8, 0.2]))
    'Sales 80 %, Tech-support 20 %'
    """
    if shares[0] < SPREAD_OUT:
        return "anything"
    if shares[0] >= ALMOST_ALL:
        return labels.text(useful[0])
    shown = int((shares[: NAMED + 1] > 5e-4).sum())
    parts = [f"{labels.text(x)} {100 * share:.0f} %" for x, share in zip(useful[: min(shown, NAMED)], shares.tolist())]
    return ", ".join(parts) + (", ..." if shown > NAMED else "")
