"""Statements checked on random joints: implications, identities and what a randomisation can leak."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from discreet import measures
from discreet.core.joint import Joint
from discreet.designers import design
from discreet.mechanism import Mechanism
from discreet.notions import ALIP, LDP
from discreet.papers.base import Answer

__all__ = ["as_drawn", "identities", "implications", "invariant_randomisation", "proposition_1"]

#: Room for rounding.
ROUNDING = 1e-9

ORDERS = (1.5, 2.0, 5.0)


def as_drawn() -> Answer:
    """A figure is answered by drawing it."""
    return Answer(True, "see the figure and its CSV", basis="drawn")


def _released(count: int) -> Iterator[tuple[Joint, float, float]]:
    """Joints of (S, Y) of random releases, with the budgets that they just meet."""
    # Two joints on which bounds fail that forget the low side of the lift; random ones rarely show it.
    yield _with_budgets(Joint.from_counts(5 - 3 * np.eye(3, dtype=int)))
    yield _with_budgets(Joint.from_counts(4 + 3 * np.eye(3, dtype=int)))
    for seed in range(count):
        rng = np.random.default_rng(seed)
        sizes = int(rng.integers(2, 6)), int(rng.integers(2, 7))
        yield _with_budgets(Joint.random(*sizes, seed=seed, concentration=float(rng.uniform(0.3, 3))))


def _with_budgets(joint: Joint) -> tuple[Joint, float, float]:
    upper = float(np.log(measures.max_lift(joint).max()))
    lower = float(-np.log(measures.min_lift(joint).min()))
    return joint, lower, upper


def proposition_1(count: int) -> dict[str, bool]:
    """What budgets (el, eu) imply, each at the budgets that a joint just meets."""
    kept: dict[str, list[bool]] = {}

    def note(name: str, holds: bool) -> None:
        kept.setdefault(name, []).append(bool(holds))

    for joint, lower, upper in _released(count):
        top = math.exp(upper) - 1
        note("ldp", np.log(measures.lift_ratio(joint).max()) <= lower + upper + ROUNDING)
        note("mutual information", measures.mutual_information(joint) <= upper + ROUNDING)
        note("total variation", measures.total_variation(joint) <= top / 2 + ROUNDING)
        note("chi2", measures.chi2_divergence(joint) <= top**2 + ROUNDING)
        note("maximal leakage", measures.maximal_leakage(joint) <= upper + ROUNDING)
        for alpha in ORDERS:
            room = alpha / (alpha - 1) * upper + ROUNDING
            note("sibson", measures.sibson_information(joint, alpha) <= room)
            note("arimoto", measures.arimoto_information(joint, alpha) <= room)
            note("alpha-lift", measures.alpha_lift(joint, alpha).max() <= math.exp(upper) + ROUNDING)
    return {name: all(values) for name, values in kept.items()}


def implications(count: int) -> dict[str, bool]:
    """Propositions 3 to 6 as printed, at the budgets that a joint just meets."""
    kept: dict[str, list[bool]] = {}

    def note(name: str, holds: bool) -> None:
        kept.setdefault(name, []).append(bool(holds))

    for joint, lower, upper in _released(count):
        up, down = math.exp(upper) - 1, math.exp(lower) - 1
        note("3 l1", measures.l1_lift(joint).max() <= up + ROUNDING)
        note("3 chi2", measures.chi2_lift(joint).max() <= up**2 + ROUNDING)
        note("5 l1", measures.l1_lift_inverse(joint).max() <= down + ROUNDING)
        note("5 chi2", measures.chi2_lift_inverse(joint).max() <= down**2 + ROUNDING)
        for alpha in ORDERS:
            note("3 alpha", measures.alpha_lift(joint, alpha).max() <= math.exp(upper) + ROUNDING)
            note("5 alpha", measures.alpha_lift_inverse(joint, alpha).max() <= math.exp(lower) + ROUNDING)
        lifts = measures.lift(joint)
        for y in range(joint.n_useful):
            high, low = int(lifts[:, y].argmax()), int(lifts[:, y].argmin())
            p, q = joint.p_sensitive[high], joint.p_sensitive[low]
            largest, smallest = lifts[high, y], lifts[low, y]
            note("4 l1", largest <= measures.l1_lift(joint)[y] / p + 1 + ROUNDING)
            note("4 chi2", largest <= math.sqrt(measures.chi2_lift(joint)[y] / p) + 1 + ROUNDING)
            inverse, root = measures.l1_lift_inverse(joint)[y], math.sqrt(measures.chi2_lift_inverse(joint)[y])
            note("6 l1", smallest >= q / (inverse + q) - ROUNDING)
            note("6 chi2", smallest >= math.sqrt(q) / (root + math.sqrt(q)) - ROUNDING)
            for alpha in ORDERS:
                note("4 alpha", largest <= measures.alpha_lift(joint, alpha)[y] / p ** (1 / alpha) + ROUNDING)
                note("6 alpha", smallest >= q ** (1 / alpha) / measures.alpha_lift_inverse(joint, alpha)[y] - ROUNDING)
    return {name: all(values) for name, values in kept.items()}


def identities(count: int) -> dict[str, bool]:
    """Identities between the measures."""
    kept: dict[str, list[bool]] = {}

    def note(name: str, one: float, other: float, tolerance: float = 1e-9) -> None:
        kept.setdefault(name, []).append(abs(one - other) <= tolerance * max(1.0, abs(one)))

    for joint, _, _ in _released(count):
        p_released, lifts = joint.p_useful, measures.lift(joint)
        prior = joint.p_sensitive
        note(
            "ratio of lifts",
            float(measures.lift_ratio(joint).max()),
            float((lifts.max(axis=0) / lifts.min(axis=0)).max()),
        )
        note(
            "total variation from l1",
            measures.total_variation(joint),
            float((p_released * measures.l1_lift(joint)).sum()) / 2,
        )
        note(
            "chi2 from chi2-lift",
            measures.chi2_divergence(joint),
            float((p_released * measures.chi2_lift(joint)).sum()),
        )
        for alpha in ORDERS:
            factor = alpha / (alpha - 1)
            mean = float((p_released * measures.alpha_lift(joint, alpha)).sum())
            note("sibson from alpha-lift", measures.sibson_information(joint, alpha), factor * math.log(mean))
            given = joint.probabilities / prior[:, None]
            best = ((prior[:, None] * given**alpha).sum(axis=0)) ** (1 / alpha)
            chosen = best / best.sum()
            divergence = math.log(float((prior[:, None] * given**alpha * chosen ** (1 - alpha)).sum())) / (alpha - 1)
            note("sibson is an infimum", measures.sibson_information(joint, alpha), divergence)
            tilted = prior**alpha / (prior**alpha).sum()
            inner = ((tilted[:, None] * lifts**alpha).sum(axis=0)) ** (1 / alpha)
            note(
                "arimoto, tilted",
                measures.arimoto_information(joint, alpha),
                factor * math.log(float((p_released * inner).sum())),
            )
        information = measures.mutual_information(joint)
        note("alpha to 1", measures.sibson_information(joint, 1 + 1e-6), information, 1e-4)
        note("alpha to 1", measures.arimoto_information(joint, 1 + 1e-6), information, 1e-4)
        most = joint.probabilities.max(axis=0).sum() / prior.max()
        note("arimoto at infinity", measures.arimoto_information(joint, math.inf), math.log(float(most)))
        note("alpha-lift at infinity", float(measures.alpha_lift(joint, 2_000.0).max()), float(lifts.max()), 5e-3)
        note("sibson at infinity", measures.sibson_information(joint, math.inf), measures.maximal_leakage(joint))
    return {name: all(values) for name, values in kept.items()}


def invariant_randomisation(count: int) -> dict[str, bool]:
    """No randomisation of a set of symbols leaks less than one that does not depend on the symbol."""
    kept: dict[str, list[bool]] = {}

    def note(name: str, holds: bool) -> None:
        kept.setdefault(name, []).append(bool(holds))

    for seed in range(count):
        rng = np.random.default_rng(seed)
        joint = Joint.random(4, 5, seed=seed)
        merged = Mechanism.from_blocks(joint, [0] * 5)
        members = [0, 1, 2]
        block = joint.probabilities[:, members].sum(axis=1) / joint.probabilities[:, members].sum() / joint.p_sensitive
        channel = np.eye(5)
        channel[:3, :3] = rng.dirichlet(np.ones(3), 3)
        seen = measures.lift(joint.through(Mechanism.from_channel(channel, useful=joint.useful)))
        inside = seen[:, :3]
        note("upper", np.log(inside.max()) >= np.log(block.max()) - ROUNDING)
        note("lower", np.log(inside.min()) <= np.log(block.min()) + ROUNDING)
        note("ratio", (inside.max(axis=0) / inside.min(axis=0)).max() >= block.max() / block.min() - ROUNDING)
        drawn = Mechanism.from_blocks(joint, [0, 0, 0, 1, 2], uniform=[0])
        one = Mechanism.from_blocks(joint, [0, 0, 0, 1, 2])
        first, second = (measures.lift(joint.through(m)) for m in (drawn, one))
        note(
            "uniform leaks as merging",
            abs(first.max() - second.max()) < ROUNDING and abs(first.min() - second.min()) < ROUNDING,
        )
        p = joint.p_useful
        lost = (p[:3] * np.log(p[:3].sum() / p[:3])).sum()
        note(
            "information formula",
            abs(measures.useful_information(joint, one) - (measures.entropy(p) - lost)) < ROUNDING,
        )
        refined = Mechanism.from_blocks(joint, [0, 0, 1, 2, 3])
        note(
            "refinement",
            measures.useful_information(joint, refined) >= measures.useful_information(joint, one) - ROUNDING,
        )
        note("nothing from one block", measures.useful_information(joint, merged) < ROUNDING)
    return {name: all(values) for name, values in kept.items()}


def ldp_against_alip(count: int) -> dict[str, bool]:
    """Proposition 2: the high-risk set of LDP is the smaller one, so more is kept and more leaks."""
    included, utility, leakage, fails = [], [], [], False
    for seed in range(count):
        joint = Joint.random(5, 12, seed=seed)
        for lam in (0.35, 0.5, 0.65):
            epsilon = 2.0
            ldp, alip = LDP(epsilon), ALIP.split(epsilon, lam)
            included.append(bool((~ldp.allowed(joint) <= ~alip.allowed(joint)).all()))
            one, other = design(joint, ldp, "watchdog"), design(joint, alip, "watchdog")
            utility.append(one.nmi >= other.nmi - ROUNDING)
            figures = [d.to_dict() for d in (one, other)]
            spread = [f["log_max_lift"] - f["log_min_lift"] for f in figures]
            leakage.append(spread[0] >= spread[1] - ROUNDING)
            fails |= not alip.holds(joint, one.mechanism)
    return {
        "inclusion": all(included),
        "utility": all(utility),
        "leakage share": float(np.mean(leakage)) >= 0.99,
        "may miss": fails,
    }
