"""(o) Promises with confidence: how often limits cover, how often designs keep their promise for the population."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.common import Row
from discreet import LIP, Joint, Mechanism, design, samples
from discreet.measures import belief_limits

RECORDS, CONFIDENCE, BUDGETS = (3_000, 30_000, 300_000), 0.95, (0.5, 1.0)
SAMPLES, DESIGNS, MONTHS, SECONDS = 2000, 20, 200, 2.0


def populations() -> dict[str, np.ndarray]:
    """Known joints P(s, x): Adult, a uniform one, and one whose useful values are mostly rare."""
    rng = np.random.default_rng(0)
    adult = Joint.from_table(samples.adult(), "relationship", "occupation").probabilities
    rare = 1.0 / np.arange(1, 31) ** 1.6
    sparse = rng.dirichlet(np.full(4, 0.5), 30).T * (rare / rare.sum())
    return {
        "Adult 15 x 6": adult,
        "uniform 17 x 5": Joint.random(5, 17, seed=1).probabilities,
        "sparse 30 x 4": sparse / sparse.sum(),
    }


class Population:
    """A joint that tables are samples of, given how often each useful value occurs in them or not."""

    def __init__(self, joint: np.ndarray, records: int, seed: int) -> None:
        self.joint, self.records = joint, records
        self.beliefs = joint / joint.sum(axis=0)
        self.rng = np.random.default_rng(seed)
        self.of_x = self.rng.multinomial(records, joint.sum(axis=0))

    def table(self) -> Joint:
        """A sample given X; sensitive values that do not occur are none of it."""
        pairs = zip(self.of_x, self.beliefs.T)
        return Joint.from_counts(np.array([self.rng.multinomial(n, belief) for n, belief in pairs]).T)

    def fresh(self) -> Joint:
        """A sample whose useful values are drawn as well."""
        return Joint.from_counts(self.rng.multinomial(self.records, self.joint.ravel()).reshape(self.joint.shape))

    def covered(self, table: Joint) -> bool:
        low, high = belief_limits(table, CONFIDENCE).floats
        some = table.occurs
        return bool(((low <= self.beliefs) & (self.beliefs <= high))[:, some].all())

    def worst(self, mechanism: Mechanism, shares: np.ndarray) -> float:
        """The largest log-lift of the population, in either direction, where useful values have these shares."""
        joint = shares * self.beliefs
        cells = joint @ mechanism.channel
        seen = cells.sum(axis=0) > 0
        lifts = cells[:, seen] / np.outer(joint.sum(axis=1), cells.sum(axis=0)[seen])
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(lifts)).max())


def coverage() -> Iterator[Row]:
    for name, joint in populations().items():
        for records in RECORDS:
            start = time.perf_counter()
            population = Population(joint, records, seed=records)
            share = np.mean([population.covered(population.table()) for _ in range(SAMPLES)])
            quality = f"all limits cover in {100 * share:.2f} % of {SAMPLES} samples (at least {100 * CONFIDENCE:g})"
            yield Row(f"(o) {name}, n {records:,}", time.perf_counter() - start, "given X", None, quality)


def designs() -> Iterator[Row]:
    for name, joint in populations().items():
        for records in RECORDS:
            for epsilon in BUDGETS:
                yield _designs(name, Population(joint, records, seed=records + 1), epsilon)


def _designs(name: str, population: Population, epsilon: float) -> Row:
    """How many of some designs break their promise for the population, with confidence and as if tables were it."""
    start = time.perf_counter()
    found: dict[str, list[tuple[float, float, float]]] = {"confident": [], "nominal": []}
    shares = population.joint.sum(axis=0)
    while len(found["nominal"]) < DESIGNS:
        table = population.table()
        if (table.counts.sum(axis=1) == 0).any():
            continue
        for kind, notion in (("confident", LIP(epsilon, confidence=CONFIDENCE)), ("nominal", LIP(epsilon))):
            made = design(table, notion, time_limit=SECONDS)
            given = population.worst(made.mechanism, table.p_useful)
            found[kind].append((made.nmi, given, population.worst(made.mechanism, shares)))
    parts = []
    for kind, rows in found.items():
        nmi, given, anew = np.array(rows).T
        parts.append(
            f"{kind}: NMI {nmi.mean():.3f}, broken {int((given > epsilon).sum())} of {DESIGNS} (largest log-lift "
            f"{given.max():.2f}), with P(x) anew {int((anew > epsilon).sum())}"
        )
    title = f"(o) {name}, n {population.records:,}, LIP({epsilon:g})"
    return Row(title, time.perf_counter() - start, f"{DESIGNS} designs each", None, "; ".join(parts))


def adult_counts() -> Iterator[Row]:
    """The counts of Adult, and as many times over as make a billion records."""
    joint = Joint.from_table(samples.adult(), "relationship", "occupation")
    billion = Joint.from_counts(joint.counts * (10**9 // int(joint.counts.sum())))
    for counted, budgets in ((joint, (2.0, 1.0, 0.5)), (billion, (0.5,))):
        for epsilon in budgets:
            made = design(counted, LIP(epsilon, confidence=CONFIDENCE), time_limit=28.0)
            nominal = design(counted, LIP(epsilon), time_limit=28.0).nmi
            quality = f"NMI {made.nmi:.4f}, limit {made.bound:.4f}, {made.status}; nominal {nominal:.4f}"
            yield Row(f"(o) {counted.records:,} records, LIP({epsilon:g}), 95 %", made.seconds, "", None, quality)


def later() -> Iterator[Row]:
    """Tables of the next months, released by designs of this one."""
    joint = populations()["Adult 15 x 6"]
    for epsilon in BUDGETS:
        start = time.perf_counter()
        kept: dict[str, list[float]] = {"for later": [], "nominal": []}
        population = Population(joint, 32_561, seed=5)
        nmi = []
        for _ in range(5):
            table = population.fresh()
            months = [population.fresh() for _ in range(MONTHS)]
            for kind, options in (("for later", {"for_later": 0.95}), ("nominal", {})):
                made = design(table, LIP(epsilon), time_limit=10.0, **options)
                kept[kind].append(np.mean([LIP(epsilon).holds(month, made.mechanism) for month in months]))
                nmi.append(made.nmi)
        figures = "; ".join(f"{kind} {', '.join(f'{100 * s:.1f} %' for s in shares)}" for kind, shares in kept.items())
        quality = f"{MONTHS} next months that keep it, of five tables: {figures}; NMI {nmi[-2]:.3f} and {nmi[-1]:.3f}"
        yield Row(f"(o) Adult, LIP({epsilon:g}), 95 % of next months", time.perf_counter() - start, "", None, quality)


def utility_by_records() -> Iterator[Row]:
    """What a promise with confidence keeps of Adult, by the number of records."""
    joint = populations()["Adult 15 x 6"]
    for epsilon in BUDGETS:
        kept = []
        for records in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000):
            table = Population(joint, records, seed=3).fresh()
            table = table.given(table.occurs)
            kept.append(f"{records:,} {design(table, LIP(epsilon, confidence=CONFIDENCE), time_limit=10.0).nmi:.3f}")
        yield Row(f"(o) Adult, LIP({epsilon:g}), 95 %, NMI by records", 0.0, "", None, ", ".join(kept))


def rows(large: bool = False) -> Iterator[Row]:
    yield from adult_counts()
    yield from later()
    yield from utility_by_records()
    if large:
        yield from coverage()
        yield from designs()
