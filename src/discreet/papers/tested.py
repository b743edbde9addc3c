"""What the verdicts rest on: every function of discreet that a check calls, by a name under which a broken one can stand in."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet import measures, ranges, samples
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.core.range import Range
from discreet.designers import design
from discreet.designers.merging import subset_merging, watchdog
from discreet.designers.merging.batch import MergingBatch
from discreet.designers.posteriors.vertices import vertices
from discreet.designers.protocols.grr import grr_strength
from discreet.designers.with_sensitive.conditional_reporting import reporting_strength
from discreet.mechanism import BitMechanism, Mechanism
from discreet.notions import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, Notion
from discreet.papers.oracles import protocols
from discreet.proof.polytope import Polytope
from discreet.quantising import quantise

__all__ = ["TESTED", "Tested"]


def _designed(joint: Joint, notion: Notion, method: str = "optimal") -> Any:
    """P(y | x), or P(y | s, x) where S is read, of the mechanism that a method makes."""
    return dense(design(joint, notion, method).mechanism)


def dense(mechanism: Mechanism) -> Any:
    """The chances that a mechanism's integers stand for."""
    if isinstance(mechanism, BitMechanism):
        true, other = (weight / mechanism.denominator for weight in (mechanism.true_weight, mechanism.other_weight))
        return protocols.bits(mechanism.n_useful, true, other)
    return np.asarray(mechanism.channel, dtype=float)


def _watchdog(joints: Sequence[Joint], notions: Sequence[Notion]) -> IntArray:
    return watchdog.partitions(joints, notions)


def _subset_merging(joints: Sequence[Joint], notions: Sequence[Notion]) -> IntArray:
    return subset_merging.partitions(joints, notions)


def _left_over(joint: Joint, notion: Notion) -> bool:
    """Whether the last block of Algorithm 1 is not allowed by itself."""
    return len(subset_merging._form_blocks(MergingBatch([joint], [notion]))[0]) > 0


def _holds(notion: Notion, joint: Joint, mechanism: Mechanism | None = None) -> bool:
    return notion.holds(joint) if mechanism is None else notion.holds(joint, mechanism)


def _allowed(notion: Notion, joint: Joint) -> BoolArray:
    return notion.allowed(joint)


def _vertices(joint: Joint, notion: Notion) -> FloatArray:
    return vertices(Polytope.of(joint, notion))


def _rows(notion: Notion, joint: Joint) -> int:
    return len(notion.rows(joint).matrix)


def _adult(sensitive: str, useful: str) -> Joint:
    return Joint.from_table(samples.adult(), sensitive, useful)


def _records(path: Path) -> list[tuple[str, ...]]:
    """Lines of a file, a repeated one once."""
    with open(path, newline="") as stream:
        return list(dict.fromkeys(tuple(row) for row in csv.reader(stream)))


def _components(whole: Range) -> set[frozenset[int]]:
    """Useful values of each component."""
    found = ranges.components(whole)
    codes = np.asarray(found.useful)
    return {frozenset(np.flatnonzero(codes == k).tolist()) for k in range(int(found.number))}


def _response_alpha(joint: Joint, epsilon: float) -> float:
    return float(np.log1p(grr_strength(joint, LIP(epsilon))))


def _reporting_alpha(joint: Joint, epsilon: float) -> float:
    return float(np.log1p(reporting_strength(joint, LIP(epsilon))))


@dataclass(frozen=True)
class Tested:
    """The functions under test; `dataclasses.replace` puts a broken one in the place of one of them."""

    lift: Any = measures.lift
    min_lift: Any = measures.min_lift
    max_lift: Any = measures.max_lift
    lift_ratio: Any = measures.lift_ratio
    l1_lift: Any = measures.l1_lift
    chi2_lift: Any = measures.chi2_lift
    alpha_lift: Any = measures.alpha_lift
    l1_lift_inverse: Any = measures.l1_lift_inverse
    chi2_lift_inverse: Any = measures.chi2_lift_inverse
    alpha_lift_inverse: Any = measures.alpha_lift_inverse
    mutual_information: Any = measures.mutual_information
    total_variation: Any = measures.total_variation
    chi2_divergence: Any = measures.chi2_divergence
    sibson_information: Any = measures.sibson_information
    arimoto_information: Any = measures.arimoto_information
    maximal_leakage: Any = measures.maximal_leakage
    realizable_leakage: Any = measures.realizable_leakage
    useful_information: Any = measures.useful_information
    nmi: Any = measures.nmi
    common_information: Any = ranges.common_information
    maximin_information: Any = ranges.maximin_information
    uncertainty_reduction: Any = ranges.uncertainty_reduction
    non_stochastic_information: Any = ranges.non_stochastic_information
    distinct_sensitive: Any = ranges.distinct_sensitive
    overlap_partition: Any = ranges.overlap_partition
    components: Any = _components
    quantise: Any = quantise
    holds: Any = _holds
    allowed: Any = _allowed
    rows: Any = _rows
    vertices: Any = _vertices
    designed: Any = _designed
    watchdog: Any = _watchdog
    subset_merging: Any = _subset_merging
    left_over: Any = _left_over
    response_alpha: Any = _response_alpha
    reporting_alpha: Any = _reporting_alpha
    lip: Any = LIP
    ldp: Any = LDP
    srlip: Any = SRLIP
    split: Any = ALIP.split
    against_breach: Any = ALIP.against_breach
    l1: Any = L1Lift
    chi2: Any = Chi2Lift
    alpha: Any = AlphaLift
    joint: Any = Joint.random
    adult: Any = _adult
    records: Any = _records


TESTED = Tested()
