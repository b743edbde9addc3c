"""Statements on random joints: ours must equal the definition, and the definition must keep what a paper states."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.papers.base import Setting
from discreet.papers.oracles import distributions as oracle
from discreet.papers.oracles import merging
from discreet.papers.tested import Tested

__all__ = ["Findings", "identities", "implications", "invariant_randomisation", "ldp_against_alip", "proposition_1"]

#: Room for rounding, and for bisections.
ROUNDING, BISECTION = 1e-9, 1e-7

ORDERS = (1.5, 2.0, 5.0)


class Findings:
    """What holds on every joint that was looked at, by name."""

    def __init__(self) -> None:
        self._kept: dict[str, bool] = {}

    def note(self, name: str, holds: Any) -> None:
        """One more joint."""
        self._kept[name] = self._kept.get(name, True) and bool(holds)

    def same(self, name: str, ours: Any, defined: Any, room: float = ROUNDING) -> None:
        """Ours is what the definition says, up to rounding."""
        ours, defined = np.asarray(ours, dtype=float), np.asarray(defined, dtype=float)
        with np.errstate(invalid="ignore"):  # two infinities are equal, and their difference is no number
            equal = (ours == defined) | (np.abs(ours - defined) <= room * np.maximum(1.0, np.abs(defined)))
        self.note(name, equal.all())

    def __getitem__(self, name: str) -> bool:
        return self._kept[name]

    def all(self) -> bool:
        """Whether everything holds."""
        return all(self._kept.values())

    def rows(self) -> list[dict[str, Any]]:
        """As lines of a table."""
        return [{"statement": name, "holds": holds} for name, holds in self._kept.items()]


def released(count: int) -> Iterator[Joint]:
    """Joints of (S, Y) of random releases, and two on which bounds fail that forget the low side of the lift."""
    yield Joint.from_counts(5 - 3 * np.eye(3, dtype=int))
    yield Joint.from_counts(4 + 3 * np.eye(3, dtype=int))
    for seed in range(count):
        rng = np.random.default_rng(seed)
        sizes = int(rng.integers(2, 6)), int(rng.integers(2, 7))
        yield Joint.random(*sizes, seed=seed, concentration=float(rng.uniform(0.3, 3)))


def budgets_of(cells: Any) -> tuple[float, float]:
    """The budgets that a release just meets."""
    lifts = oracle.lifts(cells)
    return -math.log(lifts.min()), math.log(lifts.max())


def proposition_1(setting: Setting, count: int) -> Findings:
    """What budgets (el, eu) imply, each at the budgets that a joint just meets."""
    tested, found = setting.tested, Findings()
    for joint in released(count):
        cells = joint.probabilities
        lower, upper = budgets_of(cells)
        top, worst = math.exp(upper) - 1, max(oracle.ratios(cells))
        found.same("ldp", tested.lift_ratio(joint).max(), worst)
        found.note("ldp", math.log(worst) <= lower + upper + ROUNDING)
        found.same("ldp by notion", tested.holds(tested.ldp(lower + upper + BISECTION), joint), 1)
        for name, ours, defined, bound in (
            ("mutual information", tested.mutual_information(joint), oracle.information(cells), upper),
            ("total variation", tested.total_variation(joint), oracle.total_variation(cells), top / 2),
            ("chi2", tested.chi2_divergence(joint), oracle.chi2(cells), top**2),
            ("maximal leakage", tested.maximal_leakage(joint), oracle.maximal_leakage(cells), upper),
        ):
            found.same(name, ours, defined)
            found.note(name, -ROUNDING <= defined <= bound + ROUNDING)
        for alpha in ORDERS:
            room = alpha / (alpha - 1) * upper + ROUNDING
            sibson = oracle.renyi(cells, _best_output(cells, alpha), alpha)
            found.same("sibson", tested.sibson_information(joint, alpha), sibson)
            found.note("sibson", sibson <= room)
            arimoto = oracle.arimoto(cells, alpha)
            found.same("arimoto", tested.arimoto_information(joint, alpha), arimoto)
            found.note("arimoto", arimoto <= room)
            largest = _averages(cells, "alpha", alpha)
            found.same("alpha-lift", tested.alpha_lift(joint, alpha), largest)
            found.note("alpha-lift", 1 - ROUNDING <= max(largest) <= math.exp(upper) + ROUNDING)
    return found


def _best_output(cells: Any, alpha: float) -> Any:
    """The law of the output that Sibson's infimum is attained at."""
    prior = cells.sum(axis=1)
    weights = (cells**alpha * prior[:, None] ** (1 - alpha)).sum(axis=0) ** (1 / alpha)
    return weights / weights.sum()


def _averages(cells: Any, kind: str, alpha: float = 2.0, *, inverse: bool = False) -> list[float]:
    return [oracle.average(cells, y, kind, alpha, inverse=inverse) for y in range(cells.shape[1])]


def implications(setting: Setting, count: int) -> Findings:
    """Propositions 3 to 6 as printed, at the budgets that a joint just meets."""
    tested, found = setting.tested, Findings()
    for joint in released(count):
        cells = joint.probabilities
        lower, upper = budgets_of(cells)
        lifts, prior = oracle.lifts(cells), cells.sum(axis=1)
        kinds = [("l1", 2.0, (tested.l1_lift(joint), tested.l1_lift_inverse(joint)))]
        kinds += [("chi2", 2.0, (tested.chi2_lift(joint), tested.chi2_lift_inverse(joint)))]
        kinds += [("alpha", a, (tested.alpha_lift(joint, a), tested.alpha_lift_inverse(joint, a))) for a in ORDERS]
        for kind, alpha, (plain, inverse) in kinds:
            up, down = _averages(cells, kind, alpha), _averages(cells, kind, alpha, inverse=True)
            for number, ours, defined, budget in ((3, plain, up, upper), (5, inverse, down, lower)):
                found.same(f"{number} {kind}", ours, defined)
                found.note(f"{number} {kind}", max(defined) <= _limit(kind, budget) + ROUNDING)
            found.same(f"4 {kind}", plain, up)
            found.same(f"6 {kind}", inverse, down)
            for y, (most, least) in enumerate(zip(lifts.max(axis=0), lifts.min(axis=0))):
                p, q = prior[lifts[:, y].argmax()], prior[lifts[:, y].argmin()]
                found.note(f"4 {kind}", most <= _most(kind, up[y], p, alpha) + ROUNDING)
                found.note(f"6 {kind}", least >= _least(kind, down[y], q, alpha) - ROUNDING)
    return found


def _limit(kind: str, budget: float) -> float:
    return {"l1": math.exp(budget) - 1, "chi2": (math.exp(budget) - 1) ** 2, "alpha": math.exp(budget)}[kind]


def _most(kind: str, bound: float, p: float, alpha: float) -> float:
    found = {"l1": bound / p + 1, "chi2": math.sqrt(bound / p) + 1, "alpha": bound / p ** (1 / alpha)}
    return float(found[kind])


def _least(kind: str, bound: float, q: float, alpha: float) -> float:
    root = math.sqrt(q)
    found = {"l1": q / (bound + q), "chi2": root / (math.sqrt(bound) + root), "alpha": q ** (1 / alpha) / bound}
    return float(found[kind])


def identities(setting: Setting, count: int) -> Findings:
    """Identities between the measures: both sides from their definitions, and ours equal to both."""
    tested, found = setting.tested, Findings()
    for number, joint in enumerate(released(count)):
        cells = joint.probabilities
        p_released, lifts, prior = cells.sum(axis=0), oracle.lifts(cells), cells.sum(axis=1)
        found.same("ratio of lifts", tested.lift_ratio(joint), oracle.ratios(cells))
        found.same("ratio of lifts", lifts.max(axis=0) / lifts.min(axis=0), oracle.ratios(cells))
        l1, chi2 = _averages(cells, "l1"), _averages(cells, "chi2")
        found.same("total variation from l1", tested.l1_lift(joint), l1)
        found.same("total variation from l1", tested.total_variation(joint), oracle.total_variation(cells))
        found.same("total variation from l1", p_released @ l1 / 2, oracle.total_variation(cells))
        found.same("chi2 from chi2-lift", tested.chi2_lift(joint), chi2)
        found.same("chi2 from chi2-lift", tested.chi2_divergence(joint), oracle.chi2(cells))
        found.same("chi2 from chi2-lift", p_released @ chi2, oracle.chi2(cells))
        for alpha in ORDERS:
            _of_order(tested, found, joint, alpha, by_search=number < 20)
        information = oracle.information(cells)
        found.same("alpha to 1", tested.sibson_information(joint, 1 + 1e-6), information, 1e-4)
        found.same("alpha to 1", tested.arimoto_information(joint, 1 + 1e-6), information, 1e-4)
        found.same("arimoto at infinity", tested.arimoto_information(joint, math.inf), oracle.arimoto(cells, math.inf))
        near = tested.alpha_lift(joint, 2_000.0)
        found.same("alpha-lift at infinity", near, _averages(cells, "alpha", 2_000.0))
        found.same("alpha-lift at infinity", near, lifts.max(axis=0), 1e-2)
        leakage = oracle.maximal_leakage(cells)
        found.same("sibson at infinity", tested.sibson_information(joint, math.inf), leakage)
        found.same("sibson at infinity", tested.maximal_leakage(joint), leakage)
        found.same("sibson at infinity", math.log(float(p_released @ lifts.max(axis=0))), leakage)
        found.same("prior", prior.sum(), 1)
    return found


def _of_order(tested: Tested, found: Findings, joint: Joint, alpha: float, *, by_search: bool) -> None:
    cells = joint.probabilities
    p_released, lifts, prior = cells.sum(axis=0), oracle.lifts(cells), cells.sum(axis=1)
    factor, ours = alpha / (alpha - 1), tested.sibson_information(joint, alpha)
    if by_search:
        found.same("sibson is an infimum", ours, oracle.sibson(cells, alpha), BISECTION)
    rng = np.random.default_rng(0)
    some = rng.dirichlet(np.ones(len(p_released)), 20)
    found.note("sibson is an infimum", all(ours <= oracle.renyi(cells, q, alpha) + ROUNDING for q in some))
    mean = float(p_released @ _averages(cells, "alpha", alpha))
    found.same("sibson from alpha-lift", ours, factor * math.log(mean))
    found.same("sibson from alpha-lift", ours, oracle.renyi(cells, _best_output(cells, alpha), alpha))
    found.same("sibson from alpha-lift", tested.alpha_lift(joint, alpha), _averages(cells, "alpha", alpha))
    tilted = prior**alpha / (prior**alpha).sum()
    inner = [float(tilted @ lifts[:, y] ** alpha) ** (1 / alpha) for y in range(len(p_released))]
    found.same("arimoto, tilted", factor * math.log(float(p_released @ inner)), oracle.arimoto(cells, alpha))
    found.same("arimoto, tilted", tested.arimoto_information(joint, alpha), oracle.arimoto(cells, alpha))


def invariant_randomisation(setting: Setting, count: int) -> Findings:
    """No randomisation of a set of symbols leaks less than one that does not depend on the symbol."""
    tested, found = setting.tested, Findings()
    for seed in range(count):
        rng = np.random.default_rng(seed)
        joint = Joint.random(4, 5, seed=seed)
        cells = joint.probabilities
        block = cells[:, :3].sum(axis=1) / cells[:, :3].sum() / cells.sum(axis=1)
        channel = np.eye(5)
        channel[:3, :3] = rng.dirichlet(np.ones(3), 3)
        mixed = Mechanism.from_channel(channel, useful=joint.useful)
        inside = oracle.lifts(cells @ channel)[:, :3]
        one = Mechanism.from_blocks(joint, [0, 0, 0, 1, 2])
        drawn = Mechanism.from_blocks(joint, [0, 0, 0, 1, 2], uniform=[0])
        for name in ("upper", "lower", "ratio", "uniform leaks as merging"):
            found.same(name, tested.lift(joint.through(mixed))[:, :3], inside, BISECTION)
            found.same(name, tested.lift(joint.through(one))[:, 0], block, BISECTION)
        found.note("upper", inside.max() >= block.max() - ROUNDING)
        found.note("lower", inside.min() <= block.min() + ROUNDING)
        worst = (inside.max(axis=0) / inside.min(axis=0)).max()
        found.note("ratio", worst >= block.max() / block.min() - ROUNDING)
        found.same("ratio", tested.lift_ratio(joint.through(one))[0], block.max() / block.min(), BISECTION)
        found.same("uniform leaks as merging", tested.lift(joint.through(drawn))[:, :3], np.tile(block, (3, 1)).T, 1e-7)
        p = cells.sum(axis=0)
        for name, blocks, members in (
            ("information, one block", [0, 0, 0, 1, 2], [[0, 1, 2]]),
            ("information, blocks", [0, 0, 1, 1, 2], [[0, 1], [2, 3]]),
        ):
            lost = sum(p[x] * math.log(p[b].sum() / p[x]) for b in members for x in b)
            found.same(name, oracle.useful_information(cells, np.eye(5)[blocks]), oracle.entropy(p) - lost)
            made = Mechanism.from_blocks(joint, blocks)
            found.same(name, tested.useful_information(joint, made), oracle.entropy(p) - lost)
        for name, finer in (("refinement", [0, 0, 1, 2, 3]), ("smaller high-risk set", [0, 1, 1, 2, 3])):
            kept = [tested.useful_information(joint, Mechanism.from_blocks(joint, b)) for b in (finer, [0, 0, 0, 1, 2])]
            real = [oracle.useful_information(cells, np.eye(5)[b]) for b in (finer, [0, 0, 0, 1, 2])]
            found.same(name, kept, real)
            found.note(name, real[0] > real[1])
        found.same("nmi", tested.nmi(joint, mixed), oracle.nmi(cells, channel))
        found.note("nmi", oracle.nmi(cells, channel) <= 1)
        found.same("nmi", tested.nmi(joint, Mechanism.from_blocks(joint, range(5))), 1)
    return found


def posterior_factor(setting: Setting, count: int) -> bool:
    """(4) of LTS20 in fractions: P(y | s) / P(y), P(s | y) / P(s) and ours are one number."""
    equal = True
    for seed in range(count):
        counts = np.random.default_rng(seed).integers(1, 50, (3, 4))
        ours = setting.tested.lift(Joint.from_counts(counts))
        total = int(counts.sum())
        for s in range(3):
            for y in range(4):
                cell, row, column = (Fraction(int(v)) for v in (counts[s, y], counts[s].sum(), counts[:, y].sum()))
                one, other = (cell / row) / (column / total), (cell / column) / (row / total)
                equal &= one == other and abs(ours[s, y] - float(one)) <= ROUNDING * float(one)
    return equal


def ldp_against_alip(setting: Setting, count: int) -> dict[str, Any]:
    """Proposition 2 as stated, without repair: high-risk sets, utility and leakage of complete merging."""
    tested = setting.tested
    found = Findings()
    leaks, missed = [], []
    for seed in range(count):
        joint = tested.joint(5, 12, seed=seed)
        cells = joint.probabilities[None]
        for epsilon in (1.0, 2.0):
            ldp = tested.ldp(epsilon)
            risky = ~np.asarray(tested.allowed(ldp, joint))[None]
            found.same("inclusion", risky, merging.high_risk(cells, epsilon / 2, epsilon / 2, together=True))
            one = merging.judged(cells, merging.merged_once(cells, risky))[0]
            for lam in (0.35, 0.5, 0.65):
                alip = tested.split(epsilon, lam)
                more = ~np.asarray(tested.allowed(alip, joint))[None]
                found.same("inclusion", more, merging.high_risk(cells, lam * epsilon, (1 - lam) * epsilon))
                found.note("inclusion", (risky <= more).all())
                other = merging.judged(cells, merging.merged_once(cells, more))[0]
                found.same("utility", risky, merging.high_risk(cells, epsilon / 2, epsilon / 2, together=True))
                found.note("utility", one[0] >= other[0] - ROUNDING)
                leaks.append(one[1:].sum() >= other[1:].sum() - ROUNDING)
                missed.append(one[1] > lam * epsilon + ROUNDING or one[2] > (1 - lam) * epsilon + ROUNDING)
    return {
        "inclusion": found["inclusion"],
        "utility": found["utility"],
        "leakage share": float(np.mean(leaks)),
        "may miss": any(missed) and found["inclusion"],
    }
