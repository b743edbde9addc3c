"""An audit: measures of the whole, every symbol, and the verdict of a notion."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet import measures
from discreet._support import validate
from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.measures.chance import chance_information, independence_test, is_sample
from discreet.measures.profile import profile
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.notions.base import check_subject
from discreet.reporting.audited import AuditedSymbols, order_of_risk
from discreet.reporting.formats import between, named, number, percent, times, visible
from discreet.reporting.heldout import HeldOut, held_out_of
from discreet.reporting.model import ChanceFacts, Part
from discreet.reporting.sampled import Sampled, sampled

__all__ = ["Audit", "AuditVerdict", "JointFacts", "audit", "audit_summary", "scalar_measures", "worst_first"]

#: Order of the Sibson and Arimoto information that an audit prints.
AUDIT_ALPHA = 2.0

#: Confidence of the intervals of lifts, where none is asked for.
CONFIDENCE = 0.95

#: Symbols that a notebook shows.
MOST_IN_NOTEBOOK = 12


@dataclass(frozen=True)
class JointFacts(Part):
    """Sizes of a joint, its cells without mass, and the edges of binned columns."""

    n_sensitive: int
    n_useful: int
    zero_cells: int
    bins: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class AuditVerdict(Part):
    """What a notion says of the table as it is; symbols are None where it judges the release as a whole.

    ``population`` is what the records tell with the audit's confidence of the population they are a sample of: "broken"
    where some symbol breaks a bound wherever in their intervals its lifts are, "kept" where all symbols keep all bounds
    wherever they are, and else "undecided"; beside it numbers of symbols and shares of records by the same words. All
    three are None without records, and for notions that are not about single lifts or their ratios.
    """

    notion: Mapping[str, Any]
    holds: bool
    slack: float
    violating_symbols: int | None
    violating_probability: float | None
    population: str | None = None
    population_symbols: Mapping[str, int] | None = None
    population_probability: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Audit(Part):
    """What the useful columns tell about the sensitive ones.

    Attributes
    ----------
    sensitive, useful : tuple of str
        Names of the columns.
    rows : int or None
        Records, where they were counted.
    joint : JointFacts
        Sizes of the joint.
    measures : dict
        The measures of the whole by name; informations and leakages in nats.
    per_symbol : sequence of AuditedSymbol
        Every useful value, made where it is looked at: those that break the promise for sure first, without a promise
        those that surely tell anything, each part worst first; labels as in the mechanism's JSON.
    verdict : AuditVerdict or None
        What the notion says.
    confidence : float or None
        Of all intervals of lifts together; None where no records were counted.
    chance : ChanceFacts or None
        How much of all this chance alone gives; None where no records were counted.
    notion : Notion or None
        The promise that was judged.
    held_out : HeldOut or None
        What the worst symbols tell among records that the audit did not see, where some were held out.
    """

    sensitive: tuple[str, ...]
    useful: tuple[str, ...]
    rows: int | None
    joint: JointFacts
    measures: Mapping[str, float]
    per_symbol: AuditedSymbols
    verdict: AuditVerdict | None
    notion: Notion | None = None
    confidence: float | None = None
    chance: ChanceFacts | None = None
    held_out: HeldOut | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the table as it is keeps the promise, held-out records as well; None where none was named."""
        if self.verdict is None:
            return None
        return self.verdict.holds and (self.held_out is None or self.held_out.holds is not False)

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """All of it as plain data; the notion is part of the verdict.

        With ``most``, the worst so many symbols; ``per_symbol_left_out`` then tells how many others there are, if any.
        """
        data = {name: value for name, value in super().to_dict().items() if name != "notion"}
        if self.held_out is None:
            del data["held_out"]
        data["per_symbol"] = [entry.to_dict() for entry in self.per_symbol[:most]]
        left_out = len(self.per_symbol) - len(data["per_symbol"])
        return {**data, "per_symbol_left_out": left_out} if left_out else data

    def __repr__(self) -> str:
        judged = "" if self.verdict is None else f", {self.notion} {'holds' if self.verdict.holds else 'is broken'}"
        low, high = self.measures["log_min_lift"], self.measures["log_max_lift"]
        return visible(
            f"Audit({named(self.useful, 'X')} about {named(self.sensitive, 'S')}: "
            f"log-lifts {number(low)} to {number(high)} nats{judged})"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{_shown(entry.symbol)}</th><td>{percent(entry.probability)}</td>"
            f"<td>{_shown(entry.likelier)}</td><td>{times(entry.max_lift)}{between(entry.max_lift_interval)}</td>"
            f"<td>{_shown(entry.unlikelier)}</td><td>{times(entry.min_lift)}{between(entry.min_lift_interval)}</td></tr>"
            for entry in self.per_symbol[:MOST_IN_NOTEBOOK]
        )
        heads = ("", "share", "makes likelier", "by", "makes unlikelier", "by")
        cells = "".join(f"<th>{head}</th>" for head in heads)
        return f"<p>{html.escape(repr(self))}</p><table><tr>{cells}</tr>{rows}</table>"


def audit(
    joint: Joint,
    notion: Notion | None = None,
    confidence: float = CONFIDENCE,
    *,
    holdout: float | None = None,
    seed: int = 0,
) -> Audit:
    """Measure what the useful columns tell about the sensitive ones, and how much of it may be chance.

    Parameters
    ----------
    joint : Joint
        P(s, x) of the table as it is.
    notion : Notion, optional
        Adds a verdict.
    confidence : float
        With which all intervals of lifts hold at once, given X, where records were counted. A notion that has a
        confidence brings its own.
    holdout, seed : float and int, optional
        Share of the records, at random by the seed, that the audit does not see; what it finds worst is then looked up
        among them (``held_out``).

    Returns
    -------
    Audit
        Measures of the whole, every symbol, the verdict, and what chance alone gives.

    Examples
    --------
    >>> from discreet import LIP
    >>> joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    >>> audit(joint, LIP(0.5))
    Audit(X about S: log-lifts -1.099 to 0.5108 nats, LIP(0.5) is broken)
    >>> audit(joint, LIP(0.5)).per_symbol[0].symbol
    'c'
    >>> audit(joint).chance.evidence, audit(joint, LIP(0.5)).verdict.population
    (True, 'undecided')
    """
    if not isinstance(joint, Joint):
        raise InputError(f"audit takes a Joint, got {type(joint).__name__}. Count one with Joint.from_table.")
    if notion is not None:
        check_subject(joint, notion, "audit")
    if holdout is not None:
        seen, other = joint.split(holdout, seed=seed)
        found_there = audit(seen, notion, confidence)
        return replace(found_there, held_out=held_out_of(found_there.per_symbol, seen, other, notion))
    # A conditional notion speaks of mechanisms: an audit judges the release of X itself, as a whole.
    by_symbol = notion is not None and not notion.is_conditional
    allowed = notion.allowed(joint) if notion is not None and by_symbol else None
    sure = validate.confidence(confidence) if notion is None or notion.confidence is None else notion.confidence
    found = profile(joint, AUDIT_ALPHA)
    limits = sampled(found, notion, allowed, sure) if is_sample(joint) else None
    scalars = found.scalars()
    return Audit(
        sensitive=tuple(joint.sensitive_columns),
        useful=tuple(joint.useful_columns),
        rows=joint.records,
        joint=JointFacts(
            n_sensitive=joint.n_sensitive,
            n_useful=joint.n_useful,
            zero_cells=int((joint.probabilities == 0).sum()),
            bins={name: tuple(edges) for name, edges in joint.bins.items()},
        ),
        measures=scalars,
        per_symbol=AuditedSymbols(found, allowed, limits),
        verdict=None if notion is None else _verdict(joint, notion, allowed, limits),
        notion=notion,
        confidence=None if limits is None else sure,
        chance=None if limits is None else _chance(joint, limits, scalars["mutual_information"]),
    )


def audit_summary(joint: Joint, notion: Notion | None = None, confidence: float = CONFIDENCE) -> dict[str, Any]:
    """All that `audit` finds, as plain data.

    Returns
    -------
    dict
        Keys ``sensitive``, ``useful``, ``rows``, ``joint``, ``measures``, ``per_symbol``, ``verdict``, ``confidence``,
        ``chance``.
    """
    return audit(joint, notion, confidence).to_dict()


def scalar_measures(joint: Joint) -> dict[str, float]:
    """The numbers of an audit, by name; informations and leakages in nats."""
    return profile(joint, AUDIT_ALPHA).scalars()


def worst_first(joint: Joint) -> list[int]:
    """Symbols by the largest change of belief that they cause, in either direction; commoner ones first at ties."""
    order: list[int] = order_of_risk(joint, measures.max_lift(joint), measures.min_lift(joint)).tolist()
    return order


def _verdict(joint: Joint, notion: Notion, allowed: BoolArray | None, limits: Sampled | None) -> AuditVerdict:
    itself = Mechanism.from_blocks(joint, range(joint.n_useful)) if allowed is None else None
    return AuditVerdict(
        notion=notion.to_dict(),
        holds=notion.holds(joint, itself) if allowed is None else bool(allowed.all()),
        slack=notion.slack(joint, itself),
        violating_symbols=None if allowed is None else int((~allowed).sum()),
        violating_probability=None if allowed is None else float(joint.p_useful[~allowed].sum()),
        **({} if limits is None else limits.verdict(joint.p_useful)),
    )


def _chance(joint: Joint, limits: Sampled, measured: float) -> ChanceFacts:
    test, expected = independence_test(joint), chance_information(joint)
    telling = int(limits.tells.sum())
    return ChanceFacts(
        p_value=test.p_value,
        method=test.method,
        statistic=test.statistic,
        expected_information=expected,
        share=expected / measured if expected < measured else 1.0,
        telling_symbols=telling,
        evidence=telling > 0 or test.p_value < (1 - limits.confidence) / 2,
    )


def _shown(stored: Any) -> str:
    return html.escape(visible(labels.text(labels.decode(stored))))
