"""Optimal random response: the front door of ``method="optimal"``, for notions whose posteriors form a polytope.

``search="columns"`` (the default) generates columns and proves a bound; ``search="vertices"`` lists all vertices of a
small polytope and solves one linear programme. Source: [ZDS23]_, (12); [LTS20]_, Theorem 2; the rest is our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet._support.errors import InputError, UnsupportedNotionError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.designers.merging.subset_merging import partitions
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.columns import Columns
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.lp import MasterLP
from discreet.designers.posteriors.perfect import private_weights
from discreet.designers.posteriors.prover import prove
from discreet.designers.posteriors.realise import realise, released_labels
from discreet.designers.posteriors.truth import coefficients, most_truthful
from discreet.designers.posteriors.vertices import vertices
from discreet.measures import entropy, useful_information
from discreet.mechanism import Mechanism, provenance
from discreet.notions import Notion, PerfectPrivacy
from discreet.proof.boxes import Proof
from discreet.proof.polytope import Polytope

__all__ = ["Problem", "optimal"]

#: Entries of tableaus gone over in pricing where no time limit is given: seconds, and the same result on every machine.
WORK = 300_000_000

#: Smaller alphabets under few rows need no search before the proof, which finds all that is missing on its way.
SEARCH_FROM = 40

#: Share of the time that goes to the search for mechanisms; the rest proves how good they are.
SEARCH_SHARE = 0.35

#: Larger proofs are not kept: the bound is then claimed, and nobody can check it.
MOST_PROOF_NUMBERS = 20_000_000

#: Rows that a given posterior may exceed by rounding; it is polished like any other.
INSIDE = 1e-12

#: Coefficients of a programme that may be solved for a first mechanism.
MOST_FOR_A_START = 1_000_000

#: Share of the time that search and proof may take; the rest turns the result into a mechanism.
WORK_SHARE = 0.97


def optimal(
    joint: Joint,
    notion: Notion,
    *,
    search: str = "columns",
    seed: int = 0,
    time_limit: float | None = None,
    also: Sequence[Joint] = (),
    start: Mechanism | None = None,
) -> Outcome:
    """The best mechanism found, with a proven upper limit of what any mechanism under the notion keeps."""
    if search not in ("columns", "vertices"):
        raise InputError(f"search must be 'columns' or 'vertices', got {search!r}.")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be a positive number of seconds, got {time_limit}.")
    problem = Problem(joint, notion, also, start)
    if search == "vertices":
        return problem.by_vertices()
    return problem.by_columns(seed, Budget(time_limit).share(WORK_SHARE), time_limit is not None)


class Problem:
    """One joint, or several over the same alphabets, and the symbols that need a decision."""

    def __init__(
        self, joint: Joint, notion: Notion, also: Sequence[Joint] = (), start: Mechanism | None = None
    ) -> None:
        if not notion.is_polyhedral:
            raise UnsupportedNotionError(
                f"the allowed posteriors of {notion} are not a polytope. Use method='subset-merging', which serves it."
            )
        self.joint, self.notion, self.also = joint, notion, also
        self.symbols: IntArray = np.flatnonzero(joint.p_useful > 0)
        inner = joint if len(self.symbols) == joint.n_useful else joint.given(self.symbols)
        # A zero budget on either side is perfect privacy, whose equations are easier to solve than its inequalities.
        self.is_perfect = any(bound.epsilon == 0 for bound in notion.bounds)
        allowed = PerfectPrivacy() if self.is_perfect else notion
        self.polytope = Polytope.of(inner, allowed, [_folded(other, joint, self.symbols) for other in also])
        self.fallback = self._merged()
        if start is not None and start.useful != joint.useful:
            raise InputError("start takes a mechanism over the useful values of the joint, in the same order.")
        self.given = start

    def _merged(self) -> IntArray:
        """Partition of the symbols that keeps the notion: subset merging, or all in one where others object."""
        blocks: IntArray = partitions([self.joint], [self.notion])[0]
        if self.holds(Mechanism.from_blocks(self.joint, blocks)):
            return blocks
        return np.zeros(self.joint.n_useful, dtype=np.int64)

    def holds(self, mechanism: Mechanism) -> bool:
        """The exact check, under every joint."""
        return all(self.notion.holds(joint, mechanism) for joint in (self.joint, *self.also))

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Posteriors of the fallback's blocks and their weights: they average to P_X, a first mechanism."""
        p = self.polytope.p_useful
        _, blocks = np.unique(self.fallback[self.symbols], return_inverse=True)
        weights = np.zeros(int(blocks.max()) + 1)
        np.add.at(weights, blocks, p)
        points = np.zeros((len(weights), len(p)))
        points[blocks, np.arange(len(p))] = p / weights[blocks]
        return points, weights

    def known(self) -> FloatArray:
        """Posteriors of the mechanism given to start from, those that are allowed."""
        if self.given is None or self.polytope.is_lifted:
            return np.empty((0, self.polytope.n_useful))
        cells = (self.joint.p_useful[:, None] * self.given.channel)[self.symbols].T
        points: FloatArray = cells[cells.sum(axis=1) > 0]
        points /= points.sum(axis=1, keepdims=True)
        return points[self.polytope.exceeded(points) <= INSIDE]

    def by_columns(self, seed: int, budget: Budget, limited: bool) -> Outcome:
        """Column generation, then a proof of how good it is."""
        n = self.polytope.n_useful
        generation = ColumnGeneration(self.polytope, *self.start(), seed)
        generation.add(Columns.of(self.known()))
        if len(self.start()[1]) == 1 and coefficients(self.polytope) <= MOST_FOR_A_START:
            # Merging keeps nothing, and single columns do not help unless they average to P_X with others.
            truthful = most_truthful(self.polytope)
            generation.add(Columns.of(np.empty((0, n)) if truthful is None else truthful[0]))
        searching = budget.share(SEARCH_SHARE)
        generation.list_small_supports(searching)
        if n > SEARCH_FROM or len(self.polytope.rows) > n:
            generation.search(searching)
        proof = prove(generation, budget, math.inf if limited else generation.pricing.work + WORK)
        used = generation.used()
        points = generation.columns.dense(used, n)
        return self.outcome(points, generation.weights[used], proof)

    def by_vertices(self) -> Outcome:
        """All vertices and one linear programme: its value is the limit, up to the solver's tolerance."""
        points = vertices(self.polytope)
        columns = Columns.of(points)
        master = MasterLP(self.polytope.p_useful)
        master.add(columns.entropy, columns.starts, columns.symbol, columns.value)
        solution = master.solve()
        if solution is None:
            raise InputError("the vertices do not average to P(x) within the solver's tolerance. Use search='columns'.")
        value, _, weights = solution
        found = self.outcome(points[weights > 0], weights[weights > 0], None)
        limit = max(entropy(self.joint) - value, useful_information(self.joint, found.mechanism))
        return Outcome(found.mechanism, limit)

    def outcome(self, points: FloatArray, weights: FloatArray, proof: Proof | None) -> Outcome:
        """The mixture as a mechanism, or the fallback where that keeps more."""
        candidates = [Mechanism.from_blocks(self.joint, self.fallback)]
        if self.given is not None and self.holds(self.given):
            candidates.append(self.given)
        if self.is_perfect:
            made = self._perfect(points, weights)
        else:
            made = realise(self.joint, self.polytope, self.symbols, points, weights, self.holds)
        if made is not None:
            candidates.append(made)
        best = max(candidates, key=lambda mechanism: useful_information(self.joint, mechanism))
        limit = None if proof is None else max(entropy(self.joint) - proof.limit, useful_information(self.joint, best))
        return Outcome(best, limit, proof if proof is not None and proof.size <= MOST_PROOF_NUMBERS else None)

    def _perfect(self, points: FloatArray, weights: FloatArray) -> Mechanism | None:
        """The mixture in integers that are exactly private, where 60 bits can hold them."""
        channel = (weights[:, None] * points).T / self.polytope.p_useful[:, None]
        masses = [joint.masses[:, self.symbols] for joint in (self.joint, *self.also)]
        exact = private_weights(masses, points, channel)
        if exact is None:
            return None
        rows = np.repeat(exact[[int(self.polytope.p_useful.argmax())]], self.joint.n_useful, axis=0)
        rows[self.symbols] = exact
        posteriors = (exact * self.polytope.p_useful[:, None]).T.astype(np.float64)
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        mechanism = Mechanism.from_weights(
            rows,
            useful=self.joint.useful,
            released=released_labels(self.joint, self.symbols, posteriors),
            **provenance(self.joint),
        )
        return mechanism if self.holds(mechanism) else None


def _folded(other: Joint, joint: Joint, symbols: IntArray) -> Joint:
    """Another joint over the first one's symbols; what never occurs in the first goes with its commonest symbol."""
    if other.useful != joint.useful:
        raise InputError("also takes joints over the same useful values, in the same order.")
    cells = other.probabilities[:, symbols].copy()
    rest = np.setdiff1d(np.arange(joint.n_useful), symbols)
    cells[:, int(joint.p_useful[symbols].argmax())] += other.probabilities[:, rest].sum(axis=1)
    return Joint.from_array(
        cells / cells.sum(), sensitive=other.sensitive, useful=[joint.useful[x] for x in symbols.tolist()]
    )
