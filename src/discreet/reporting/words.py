"""Every sentence about a promise, and every rounding of one: to the safe side, so that no words promise too much."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.core.joint import Joint
from discreet.core.rare import FEW, FEWEST, MOST_PERCENT
from discreet.notions import LARGEST_EXPONENT, Bound, Notion
from discreet.reporting.formats import number, percent
from discreet.reporting.model import ChanceFacts, Decision, Figures, Judgement
from discreet.utilities import Measured

__all__ = [
    "BROKEN_LIMIT",
    "EXAMPLE_WARNING",
    "MOST_SURE",
    "NOT_JUDGED",
    "NO_CERTIFICATE",
    "against_words",
    "allowed_words",
    "at_most_percent",
    "averages_words",
    "beside_words",
    "bound_words",
    "broken_words",
    "chance_words",
    "changes_by",
    "confirmed_words",
    "cost_words",
    "coverage_words",
    "entered_words",
    "interval_words",
    "leaves_out",
    "limit_words",
    "open_words",
    "other_utility_words",
    "persons_words",
    "population_words",
    "private_words",
    "promise_words",
    "question",
    "raw_words",
    "release_words",
    "room_words",
    "rule_words",
    "verdict_words",
]

#: A release that keeps no larger share than this tells nothing.
NOTHING = 1e-9

#: Pairs of values in fewer records than this are called rare.
RARE = 5

#: Values that are named as those that surely tell.
MOST_SURE = 3

#: p-values below this are not told apart.
SMALLEST_P = 1e-4

#: Why a mechanism is private.
FEW_RECORDS = (
    f"some values have too few records (one has fewer than {FEWEST}, or more than {MOST_PERCENT} % of all records lie "
    f"in values with fewer than {FEW}), so the mechanism itself tells about them"
)

UP, DOWN = decimal.ROUND_CEILING, decimal.ROUND_FLOOR

EXAMPLE_WARNING = (
    "Warning: these are real values of the table. Do not pass this report on to people who may not see them."
)

#: What stands in for a limit where the release breaks its promise.
BROKEN_LIMIT = "It does not keep the promise; a release that does may keep less."

NO_CERTIFICATE = "No certificate was given. A release writes one; discreet certify makes one for a stored mechanism."


def private_words(what: str) -> str:
    """Why something that holds or draws from a mechanism is private, and the way out.

    >>> print(private_words("m.json"))
    some values have too few records (one has fewer than 5, or more than 1 % of all records lie in values with fewer
    than 20), so the mechanism itself tells about them: keep m.json private, design on commoner values (bin the columns,
    or merge rare values first), or publish the whole table (discreet publish), where promises rest on what can be
    learned
    """
    return (
        f"{FEW_RECORDS}: keep {what} private, design on commoner values (bin the columns, or merge rare values first), "
        "or publish the whole table (discreet publish), where promises rest on what can be learned"
    )


def promise_words(notion: Notion, secret: str) -> str:
    """What a notion promises to the people in the table, in plain words; factors are rounded to the safe side.

    >>> from discreet import LIP
    >>> print(promise_words(LIP(0.5), "diagnosis"))
    Nobody who sees the release can become more than 1.649 times as sure, or less than 0.6065 times as sure, of
    anyone's diagnosis as before.
    """
    bounds = notion.bounds
    if any(bound.epsilon == 0 for bound in bounds):
        return f"Nobody who sees the release learns anything about anyone's {secret}: every belief stays what it was."
    ratio, fall, rise = _ratio(bounds), *_sides(bounds)
    sentences = []
    if ratio is not None:
        sentences.append(
            f"Whatever is released about a person is at most {_factor(ratio, UP)} times as likely under one value of "
            f"{secret} as under another."
        )
    if rise is not None or fall is not None:
        sides = _both(rise, fall, "sure")
        joined = ", or ".join(sides) + ("," if len(sides) > 1 else "")
        sentences.append(f"Nobody who sees the release can become {joined} of anyone's {secret} as before.")
        if fall is None:
            sentences.append(f"Seeing the release may still rule a value of {secret} out.")
        if rise is None:
            sentences.append("How much surer someone may become is left open.")
    sentences += [*_average_words(bounds, secret), *_unspoken(bounds)]
    if notion.is_conditional:
        sentences.append("This stays true for those who already know some of a person's useful columns.")
    if notion.confidence is not None:
        sentences.append(
            f"This is promised with {percent_words(notion.confidence)} confidence for the population that the table "
            "is a sample of, given its useful values, not for the table alone."
        )
    return " ".join(sentences)


def broken_words(notion: Notion, secret: str) -> str:
    """The same where the release does not keep it."""
    return f"This release does not keep the promise, which would be: {promise_words(notion, secret)}"


def rule_words(notion: Notion) -> str:
    """What a notion asks of a release, in a sentence or two; factors are rounded to the safe side.

    >>> from discreet import LIP
    >>> print(rule_words(LIP(1)))
    LIP: no sensitive value may become more than 2.719 times as likely or less than 0.3678 times as likely as before.
    """
    bounds = notion.bounds
    if any(bound.epsilon == 0 for bound in bounds):
        return "Perfect privacy: nothing at all may be learnt."
    ratio, sentences = _ratio(bounds), []
    fall, rise = _sides([bound for bound in bounds if not bound.kind.compares_pairs])
    if ratio is not None:
        factor = _factor(ratio, UP)
        sentences.append(
            f"no symbol may be more than {factor} times as likely under one sensitive value as under another."
        )
    if fall is not None or rise is not None:
        sides = _both(rise, fall, "likely")
        sentences.append(f"no sensitive value may become {' or '.join(sides)} as before.")
    averages = _averages(bounds, "the factors by which a symbol changes the beliefs in the sensitive values", "may ")
    if averages:
        sentences.append(f"{averages}, common values counting more.")
    asked = " And ".join([*sentences, *_unspoken(bounds)])
    whoever = " Also for those who know some of the useful columns." if notion.is_conditional else ""
    sure = notion.confidence
    sample = "" if sure is None else f" With {percent_words(sure)} confidence for the population, given X."
    return f"{notion.name.upper()}: {asked}{whoever}{sample}"


#: What stands beside lifts of a table whose promise is about a population.
WITHIN_LIMITS = (
    "These lifts are those of the counted table; the promise is about all beliefs within their limits, where they may "
    "be larger."
)


def percent_words(share: float) -> str:
    """A share in percent, in as few digits as tell it.

    >>> percent_words(0.95), percent_words(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * share, 10):g} %"


def _ratio(bounds: Iterable[Bound]) -> float | None:
    return min((bound.epsilon for bound in bounds if bound.kind.compares_pairs), default=None)


def _sides(bounds: Iterable[Bound]) -> tuple[float | None, float | None]:
    """The budgets of falling and of rising beliefs; None where a side is open."""
    budgets = [bound.kind.lift_budgets(bound.epsilon) for bound in bounds if bound.kind.is_on_lifts]
    fall, rise = (min(side, default=math.inf) for side in (zip(*budgets) if budgets else ((), ())))
    return (None if math.isinf(fall) else fall), (None if math.isinf(rise) else rise)


def _unspoken(bounds: Iterable[Bound]) -> list[str]:
    """Bounds that have no words of their own."""
    silent = [bound for bound in bounds if not bound.kind.is_on_lifts and not bound.kind.clause]
    return [
        f"The {bound.kind.title} of every released value stays within its budget of {bound.epsilon:g} nats."
        for bound in silent
    ]


def _both(rise: float | None, fall: float | None, what: str) -> list[str]:
    sides = [] if rise is None else [f"more than {_factor(rise, UP)} times as {what}"]
    return sides if fall is None else [*sides, f"less than {_factor(-fall, DOWN)} times as {what}"]


def _average_words(bounds: Iterable[Bound], secret: str) -> list[str]:
    averages = _averages(bounds, f"the factors by which it changes the beliefs in the values of {secret}")
    if not averages:
        return []
    return [
        f"Whatever value of the release someone sees, {averages}, common values counting more. This is a promise about "
        "averages: the belief in a single rare value may change more."
    ]


def _averages(bounds: Iterable[Bound], factors: str, may: str = "") -> str:
    sides = []
    for bound in bounds:
        kind = bound.kind
        if kind.clause:
            subject = "the factors that would turn those beliefs back" if kind.is_inverse else factors
            sides.append(f"{subject} {may}{kind.clause.format(limit=_factor(bound.epsilon, UP, kind.clause_less))}")
    return ", and ".join(sides)


def _factor(nats: float, rounding: str, less: int = 0) -> str:
    """exp(nats) - less in four digits, rounded as told, so that the words never promise more than the notion."""
    exact = decimal.Decimal(nats)
    if abs(nats) > LARGEST_EXPONENT:
        return f"exp({decimal.Context(prec=6, rounding=rounding).plus(exact).normalize():f})"
    value = decimal.Context(prec=60).exp(exact) - less
    return f"{decimal.Context(prec=4, rounding=rounding).plus(value).normalize():f}"


def allowed_words(average: Mapping[str, Any]) -> tuple[str, str]:
    """The measure of a promise about averages, and what it may be: each rounded up, so that what is kept reads so.

    >>> allowed_words({"measure": "l1 lift", "value": 0.2, "limit": 0.221402759, "level": 0.18232156, "epsilon": 0.2})
    ('0.2', 'of 0.2215 allowed; 0.1824 of 0.2 nats')
    """
    value, limit, level = (_rounded_up(average[name]) for name in ("value", "limit", "level"))
    nats = min(level, decimal.Decimal(repr(average["epsilon"]))) if average["level"] <= average["epsilon"] else level
    return f"{value:f}", f"of {limit:f} allowed; {nats:f} of {average['epsilon']:g} nats"


def averages_words(averages: Iterable[Mapping[str, Any]]) -> str:
    """What promises about averages measure, beside what they allow: what they are judged by.

    >>> averages_words([{"measure": "l1 lift", "value": 0.1, "limit": 0.25, "level": 0.09531018, "epsilon": 0.2231436}])
    'Promised and kept: l1 lift 0.1 of 0.25 allowed; 0.09532 of 0.223144 nats.'
    """
    told = (f"{average['measure']} {' '.join(allowed_words(average))}" for average in averages)
    return f"Promised and kept: {', and '.join(told)}."


def _rounded_up(value: float) -> decimal.Decimal:
    """Four digits, not below the value."""
    return decimal.Context(prec=4, rounding=UP).create_decimal(repr(value)).normalize()


def at_most_percent(share: float) -> str:
    r"""A limit in per cent, rounded up: nothing that is possible is denied.

    >>> at_most_percent(0.6283796), at_most_percent(1.0)
    ('62.9\xa0%', '100\xa0%')
    """
    value = (decimal.Decimal(share) * 100).quantize(decimal.Decimal("0.1"), rounding=UP)
    return f"{value:f}\u00a0%" if value < 100 else "100\u00a0%"


def changes_by(log_lift: float) -> str:
    """How far a belief changes at most, rounded away from no change."""
    return "rules it out" if math.isinf(log_lift) else f"\u00d7 {_factor(log_lift, UP if log_lift > 0 else DOWN)}"


def against_words(notion: Notion) -> str:
    """From whom a notion protects."""
    knows = ", and some of a person's useful columns" if notion.is_conditional else ", but nothing else about a person"
    return (
        "Anyone who sees released values, with any computing power, who knows how the mechanism works and how common "
        f"every pair of values is in this table{knows}."
    )


def other_utility_words(measured: Measured, name: str, kept: float, bound: float | None) -> str:
    """What a release that was designed for another utility than information keeps of that one.

    >>> other_utility_words(Measured("records guessed right", 0.85321, "share of records"), "accuracy", 0.8318, None)
    'Designed for accuracy, records guessed right: 0.8532 (share of records), which keeps 83.2\xa0% of it.'
    """
    said = f"Designed for {name}, {measured.title}: {number(measured.value)} ({measured.unit}), which keeps "
    said += f"{percent(kept)} of it."
    if bound is None:
        return said
    return f"{said} No release that is measured so can keep more than {at_most_percent(bound)} under this promise."


def limit_words(figures: Figures, *, certified: bool = False, missing: str | None = None) -> str:
    """What is known about how much any release could keep.

    Parameters
    ----------
    figures : Figures
        Those of the mechanism.
    certified : bool
        Whether a certificate states the limit, instead of a design that was made here.
    missing : str, optional
        Why there is no limit, where it is not the method's doing.
    """
    if figures.bound is None:
        why = missing or "This method proves no limit"
        return f"{why}: another release under the same promise may keep more."
    if figures.evidence == "whole":
        return "The release keeps everything, and nothing can keep more."
    most = f"No mechanism{'' if figures.reads_sensitive else ' that reads the useful columns alone'} can keep "
    most += f"more than {at_most_percent(figures.bound)} under this promise"
    if figures.evidence == "checkable" and certified:
        return (
            f"{most}. The certificate states this limit; the proof in its private part can be checked without a solver."
        )
    if figures.evidence == "checkable":
        return f"{most}. This limit is proven, and the proof can be checked without a solver."
    if certified:
        return f"{most}. The certificate claims this limit, without a proof that others could check."
    return f"{most}. A search found this limit; it kept no proof that others could check."


#: Of notions that bound something else than single lifts or their ratios.
NOT_JUDGED = "Whether this may be chance is not judged for this notion."


def chance_words(
    chance: ChanceFacts, column: str, secret: str, measured: float, confidence: float, surest: Sequence[str] = ()
) -> str:
    """Whether there is evidence that X tells about S, and how much of the measured information chance gives.

    >>> none = ChanceFacts(0.48, "moments", 7000.0, 0.0309, 0.99, 0, False)
    >>> print(chance_words(none, "postcode", "diagnosis", 0.0312, 0.95))
    No evidence that postcode tells anything about diagnosis (p about 0.48); about 99.0 % of the measured 0.0312 nats is
    what chance gives.
    """
    about = "about" if chance.method == "moments" else "="
    p = f"p {about} {chance.p_value:.2g}" if chance.p_value >= SMALLEST_P else f"p < {SMALLEST_P:f}".rstrip("0")
    share = percent(chance.share).replace("\u00a0", " ")  # terminals get it too
    gives = f"about {share} of the measured {number(measured)} nats is what chance gives."
    if not chance.evidence:
        return f"No evidence that {column} tells anything about {secret} ({p}); {gives}"
    found = f"Evidence that {column} tells about {secret} ({p}); {gives}"
    if not chance.telling_symbols:
        return f"{found} No single value does for sure."
    more = chance.telling_symbols - len(surest)
    names = _listed([*surest, f"{more:,} more"] if more > 0 else surest)
    return f"{found} For sure, with {percent_words(confidence)} confidence: {names}."


def population_words(
    verdict: Any, n_symbols: int, confidence: float | None, *, promised: float | None = None
) -> tuple[str, str]:
    """The verdict of an audit: its head, and a sentence that follows it.

    Parameters
    ----------
    verdict : AuditVerdict or Judgement
        What a notion says of the table as it is.
    n_symbols : int
        How many useful values there are.
    confidence : float or None
        Of the intervals; None where no records were counted.
    promised : float, optional
        The notion's own confidence: it is then about the population in the first place.
    """
    counted = "" if verdict.violating_symbols is None else _violating(verdict, n_symbols)
    if verdict.population is None or confidence is None:
        return _counted_words(verdict, counted)
    sure = f"{percent_words(confidence)} confidence"
    if verdict.population == "broken":
        number_sure, share = verdict.population_symbols["broken"], 100 * verdict.population_probability["broken"]
        others = "break it in the counted table" if promised is None else "are not known to keep it"
        return "broken for sure", (
            f" by {number_sure:,} of {n_symbols:,} symbols ({share:.2f} % of the records, {sure}); "
            f"{verdict.violating_symbols:,} {others}."
        )
    if verdict.population == "kept":
        return "holds", f" in the counted table, and with {sure} in the population."
    if verdict.holds:
        return "holds", " in the counted table. Whether it does in the population is undecided: too few records."
    told = f"The counted table is beyond the bounds at {counted}, as chance may have it."
    if promised is not None:
        told = f"With {sure} it is not known to hold at {counted}."
    return "undecided, too few records.", f" {told}"


def _counted_words(verdict: Any, counted: str) -> tuple[str, str]:
    """The verdict where nothing is said of a population."""
    if verdict.holds or not counted:
        return ("holds." if verdict.holds else "broken."), ""
    return "broken", f" by {counted}."


def _violating(verdict: Any, n_symbols: int) -> str:
    share = 100 * verdict.violating_probability
    return f"{verdict.violating_symbols} of {n_symbols} symbols ({share:.2f} % of the records)"


def open_words(left_open: int, share: float, n_symbols: int, column: str, *, judged: bool) -> str:
    """How many values have too few records to tell, and the way out.

    >>> print(open_words(7084, 0.98, 7118, "postcode", judged=False))
    7,084 of 7,118 values (98.00 % of the records) have too few records to tell: each of their lifts may be 1. Make
    postcode coarser (broader values, fewer columns, --bins for numbers), or count more records.
    """
    why = "some lifts may be within the bounds or beyond them" if judged else "each of their lifts may be 1"
    return (
        f"{left_open:,} of {n_symbols:,} values ({100 * share:.2f} % of the records) have too few records to tell: "
        f"{why}. Make {column} coarser (broader values, fewer columns, --bins for numbers), or count more records."
    )


def interval_words(confidence: float) -> str:
    """What the intervals beside lifts are."""
    return f"Beside lifts: intervals that hold all at once with {percent_words(confidence)} confidence, given X."


def question(decision: Decision) -> str:
    """What is decided."""
    return f"May {decision.column} be published without giving {decision.secret} away?"


def verdict_words(decision: Decision) -> str:
    """The answer in one line."""
    if decision.verdict.holds:
        return f"Yes, as it is: it keeps {decision.notion_text}."
    if not decision.verdict.release_holds:
        return "Not as it is, and not through this release."
    return "Not as it is, but through this release." if decision.design.nmi > NOTHING else "Not as it is."


def raw_words(verdict: Judgement, n_symbols: int) -> str:
    """The verdict on the table as it is."""
    if verdict.holds:
        return "✓ The promise holds."
    if verdict.violating_symbols is None or verdict.violating_probability is None:
        return "✗ The promise is broken."
    if verdict.population == "undecided":
        return (
            f"✗ The promise is not kept: {verdict.violating_symbols} of {n_symbols} values, in "
            f"{percent(verdict.violating_probability)} of the records, are beyond it. All of them have too few records "
            "to tell this from chance."
        )
    return (
        f"✗ The promise is broken by {verdict.violating_symbols} of {n_symbols} values, in "
        f"{percent(verdict.violating_probability)} of the records."
    )


def release_words(verdict: Judgement, figures: Figures) -> str:
    """The verdict on the release."""
    if not verdict.release_holds:
        return "✗ The promise is broken."
    kept = "✓ The promise holds, decided in exact integers on this table."
    return kept if figures.nmi > NOTHING else f"{kept} But nothing is left: this release tells nothing at all."


def in_values_words(figures: Figures) -> str:
    """What is left of the column in its own values, or where each symbol is read as one; empty where it is unknown."""
    if figures.unchanged is None:
        return ""
    parts = [f"{percent(figures.unchanged)} of records keep their value"]
    if figures.share_error is not None:
        parts.append(
            f"the share of a value is off by at most {100 * figures.share_error:.2g} percentage points (standard error)"
        )
    if figures.distortion is not None:
        parts.append(f"a number is off by {figures.distortion:.4g} on average")
    if figures.in_values:
        return f"The release has the column's own values, whose distribution is kept on average: {_listed(parts)}."
    if figures.nmi_in_values is None:
        return f"With each released symbol read as a value drawn from what it stands for, {_listed(parts)}."
    parts.append(f"{percent(figures.nmi_in_values)} of the information is left")
    return (
        "With each released symbol read as a value drawn from what it stands for, as a release does unless labels are "
        f"asked for, {_listed(parts)}."
    )


#: Of SQL for a mechanism that a release would make values of.
LABELS_EXPORTED = (
    "this SQL draws labels, as release --as-labels does. For values store the mechanism in values: discreet design "
    "--as-values"
)

#: Of a release in values under a key that was used before.
DRAWN_ANEW = (
    "values are drawn by the counts of this table, so records of another table are drawn anew, and both together tell "
    "more than one. To share draws among tables, store the mechanism in values: discreet design --as-values"
)


def released_values_words(columns: Sequence[str], unchanged: float | None) -> str:
    """A release in values, in a sentence or two."""
    have = "has its" if len(columns) == 1 else "have their"
    kept = "" if unchanged is None else f" {percent(unchanged)} of records are expected to keep theirs."
    return f"{' and '.join(columns)} {have} own values, whose distribution is kept on average.{kept}"


def bound_words(figures: Figures) -> str:
    """What the bound of a mechanism is."""
    if figures.bound is None:
        return "no limit proven"
    claimed = (figures.evidence or "").startswith("claimed")
    return "claimed limit of any release" if claimed else "proven limit of any release"


def cost_words(decision: Decision) -> str:
    """What the release keeps."""
    return f"The release keeps {percent(decision.design.nmi)} of the information in {decision.column}."


def leaves_out(
    joint: Joint,
    notion: Notion,
    *,
    secret: str,
    column: str,
    reads_sensitive: bool,
    certified: bool,
    beside: Sequence[str] = (),
) -> tuple[str, ...]:
    """What the promise leaves out, in sentences."""
    counted = "" if joint.records is None else f" in these {joint.records:,} records"
    sentences = [
        f"The promise is about this joint distribution of {secret} and {column}, as it was counted{counted}. Where the "
        "records are a sample, or the world changes, the true distribution may give more away.",
        *_rare_words(joint),
        _beside_words(beside),
        "Each record is protected by itself. A person with several records, or one who appears in several releases, "
        "is protected less.",
    ]
    if not notion.is_conditional:
        sentences.append(
            "The adversary is taken to know the distribution and the mechanism, but nothing else about a person. "
            "Someone who knows more, from another table for instance, may learn more."
        )
    if reads_sensitive:
        sentences.append(f"The mechanism reads {secret} as well: whoever draws the release needs that column.")
    if certified:
        sentences.append(
            "The digest of a certificate shows that the file was not damaged. It is no signature and does not tell "
            "who wrote it."
        )
    sentences.append(
        "This report shows shares and lifts of the table as it is. It is meant for those who decide on the release; "
        "do not publish it with the release."
    )
    return tuple(sentences)


def _beside_words(columns: Sequence[str]) -> str:
    general = (
        "Columns that are published beside the release are covered only where its certificate says so: together with "
        "others, more may be learnt."
    )
    return f"{general} Not covered here: {', '.join(columns)}." if columns else general


def coverage_words(inside: Sequence[str], outside: Sequence[str]) -> str:
    """Which published columns a promise covers, and which it does not.

    >>> coverage_words(["occupation", "sex"], ["age"])
    'It covers occupation and sex; it does NOT cover age.'
    """
    return f"It covers {_listed(inside)}" + (f"; it does NOT cover {_listed(outside)}." if outside else ".")


def persons_words(persons: Mapping[str, Any]) -> str:
    """What all records of a person tell together."""
    span = f"{persons['log_min_lift']} and {persons['log_max_lift']} nats"
    found = f"lie between {span}" if persons["how"] == "exactly" else f"were bounded by {span}"
    return (
        f"{persons['persons']:,} persons with up to {persons['most_records']:,} records each: log-lifts of all labels "
        f"of a person together {found}."
    )


def beside_words(covered: Mapping[str, Any]) -> str:
    """What covered columns and the release tell together."""
    return (
        f"With {_listed(covered['columns'])} beside it, checked in integers too: log-lifts between "
        f"{covered['log_min_lift']} and {covered['log_max_lift']} nats."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rare_words(joint: Joint) -> list[str]:
    if joint.counts is None:
        return []
    rare = int((joint.counts[:, joint.occurs] < RARE).sum())
    pairs = joint.n_sensitive * int(joint.occurs.sum())
    if rare == 0:
        return [f"Every pair of values occurs in at least {RARE} records; rarer pairs would be mostly chance."]
    return [
        f"{rare} of {pairs} pairs of values occur in fewer than {RARE} records. What a small table says about such "
        "pairs is mostly chance."
    ]


def entered_words(entered: Mapping[str, Any]) -> str:
    """Where a release or a whole table was entered.

    >>> entered_words({"path": "a.jsonl", "number": 2, "is_new": False})
    'Ledger: a.jsonl, release 2'
    """
    return f"Ledger: {entered['path']}" + (" (new)" if entered["is_new"] else f", release {entered['number']}")


def room_words(promise: str, room: float) -> str:
    """How far inside of a promise all releases of a ledger stay, which is no budget of the next one.

    >>> room_words("LIP(0.5)", 1e-14)
    'Together the releases keep LIP(0.5), with nothing to spare.'
    """
    if room < 0:
        ruled_out = "since readers of all of it could rule out a sensitive value for some people"
        how = f"by {-room:.4g} nats" if room > -math.inf else ruled_out
        return f"Together the releases break {promise} {how}."
    if room < NOTHING:
        return f"Together the releases keep {promise}, with nothing to spare."
    return (
        f"Together the releases keep {promise} with {room:.4g} nats to spare. The next is not free to use that alone: "
        "design it with --ledger."
    )


def confirmed_words(differs: Sequence[str], number: int | None) -> str:
    """Whether a certificate states a release of a ledger as it stands there."""
    if number is None:
        return "The certificate is of no release here."
    if not differs:
        return f"The certificate states release {number}, and what was published before it, as the ledger has them."
    if list(differs) == ["table"]:
        return f"The certificate is of release {number}, which was of another table: its counts are not those of this."
    return f"The certificate and the ledger differ about release {number}: {', '.join(differs)}."
