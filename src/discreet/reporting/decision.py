"""A release decision as plain data: what is promised, what the table gives away, what the release keeps and changes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from discreet import measures
from discreet._support.errors import InputError
from discreet._support.numeric import DENOMINATOR, FloatArray
from discreet.certificate import Certificate
from discreet.certificate.record import sealed
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.designers import Design, design
from discreet.designers import methods as methods_for
from discreet.frontiers.sweep import frontier
from discreet.mechanism import BitMechanism, Mechanism
from discreet.notions import ALIP, Notion
from discreet.notions.base import from_dict
from discreet.reporting.audit import audit_summary, worst_first

__all__ = ["decision_summary", "promise_words"]

#: Budgets of the trade-off curve, as multiples of the chosen one.
MULTIPLES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)

#: Budgets where the chosen one is zero, nats.
FROM_ZERO = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)

#: Baselines that the trade-off curve shows beside the chosen method.
BASELINES = ("subset-merging", "watchdog")

#: Cells of the largest joint whose curve is swept with a searching method unless budgets are given.
MOST_SWEPT = 1500

#: Released symbols of an encoding or a product that are listed one by one.
MOST_LISTED = 1024

#: Pairs of values in fewer records than this are called rare.
RARE = 5

#: Seed of the example rows, so that the same report comes out twice.
EXAMPLE_SEED = 0


def decision_summary(
    joint: Joint,
    notion: Notion,
    *,
    method: str = "auto",
    certificate: Certificate | None = None,
    rows: int | None = None,
    epsilons: Sequence[float] | None = None,
) -> dict[str, Any]:
    """All that a report of a release decision says.

    Parameters
    ----------
    joint : Joint
        P(s, x) of the table as it is.
    notion : Notion
        The promise.
    method : str
        How the release is designed; see `discreet.design`.
    certificate : Certificate, optional
        Adds its digest and figures, and whether it is about the mechanism shown.
    rows : int, optional
        Adds as many example rows: real values of the table, each with a draw of the mechanism.
    epsilons : sequence of float, optional
        Budgets of the trade-off curve, nats; left out, eight around the chosen one.

    Returns
    -------
    dict
        Plain data. Lifts have a row for each sensitive value; released symbols are ordered by their share and carry
        a short ``code``. Labels are texts, made distinct.

    Examples
    --------
    >>> from discreet import LIP
    >>> joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    >>> summary = decision_summary(joint, LIP(0.5), method="watchdog", epsilons=[0.5, 1.5])
    >>> summary["verdict"]["holds"], summary["verdict"]["release_holds"]
    (False, True)
    >>> summary["values"][0]
    {'value': 'a', 'share': 0.4, 'released': [['{a, c}', 1.0]]}
    """
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise InputError(f"rows must be an integer of at least 0, got {rows!r}.")
    if certificate is not None and certificate.to_dict().get("notion") != notion.to_dict():
        raise InputError(f"the certificate is about another promise than {notion}.")
    found = design(joint, notion, method)
    audit = audit_summary(joint, notion)
    secret, column = _named(joint.sensitive_columns, "S"), _named(joint.useful_columns, "X")
    listed = _listed(found)
    return {
        "secret": secret,
        "column": column,
        "records": joint.records,
        "sizes": {"sensitive": joint.n_sensitive, "useful": joint.n_useful, "released": found.mechanism.n_released},
        "notion": notion.to_dict(),
        "notion_text": str(notion),
        "promise": promise_words(notion, secret),
        "against": _against(notion),
        "verdict": _verdict(audit["verdict"], found),
        "design": found.to_dict(),
        "limit": _limit_words(found),
        "before": _lifts(joint, worst_first(joint), notion),
        "worst": _worst(audit["per_symbol"], joint),
        **(listed if listed is not None else _unlisted(found.mechanism)),
        "tradeoff": _tradeoff(joint, notion, found, epsilons),
        "limits": _limits(joint, notion, found, secret, column, certificate),
        "certificate": None if certificate is None else _certificate(certificate, found.mechanism),
        "examples": _examples(joint, found.mechanism, rows) if rows else None,
        "version": _version(),
    }


def promise_words(notion: Notion, secret: str) -> str:
    """What a notion promises to the people in the table, in plain words; factors are rounded to the safe side.

    >>> from discreet import LIP
    >>> print(promise_words(LIP(0.5), "diagnosis"))
    Nobody who sees the release can become more than 1.649 times as sure, or less than 0.6065 times as sure, of
    anyone's diagnosis as before.
    """
    given = notion.to_dict()
    rise, fall = given.get("eps_upper"), given.get("eps_lower")
    if notion.name in ("lip", "srlip", "ldp"):
        rise = fall = given["epsilon"]
    if notion.name == "perfect" or 0 in (rise, fall):
        return f"Nobody who sees the release learns anything about anyone's {secret}: every belief stays what it was."
    if notion.name == "ldp":
        factor = _factor(given["epsilon"], decimal.ROUND_CEILING)
        return (
            f"Whatever is released about a person is at most {factor} times as likely under one value of {secret} as "
            f"under another. {_lift_words(rise, fall, secret)}"
        )
    if notion.name in _AVERAGES:
        return _average_words(notion, secret, rise, fall)
    words = _lift_words(rise, fall, secret)
    if notion.name == "srlip":
        return f"{words} This stays true for those who already know some of a person's useful columns."
    if fall is None:
        return f"{words} Seeing the release may still rule a value of {secret} out."
    return words if rise is not None else f"{words} How much surer someone may become is left open."


def _lift_words(rise: float | None, fall: float | None, secret: str) -> str:
    sides = []
    if rise is not None:
        sides.append(f"more than {_factor(rise, decimal.ROUND_CEILING)} times as sure")
    if fall is not None:
        sides.append(f"less than {_factor(-fall, decimal.ROUND_FLOOR)} times as sure")
    joined = ", or ".join(sides) + ("," if len(sides) > 1 else "")
    return f"Nobody who sees the release can become {joined} of anyone's {secret} as before."


#: What the averaging notions bound, as half a sentence around the limit.
_AVERAGES = {
    "l1": "differ from 1 by at most {limit} on average",
    "chi2": "differ from 1 by at most {limit} in the root mean square",
    "alpha-lift": "have a mean of order {alpha:g} of at most {limit}",
}


def _average_words(notion: Notion, secret: str, rise: float | None, fall: float | None) -> str:
    alpha, form = notion.to_dict().get("alpha"), _AVERAGES[notion.name]
    less = 0 if notion.name == "alpha-lift" else 1
    sides = []
    for nats, factors in (
        (rise, f"the factors by which it changes the beliefs in the values of {secret}"),
        (fall, "the factors that would turn those beliefs back"),
    ):
        if nats is not None:
            limit = _factor(nats, decimal.ROUND_CEILING, less)
            sides.append(f"{factors} {form.format(limit=limit, alpha=alpha)}")
    return (
        f"Whatever value of the release someone sees, {', and '.join(sides)}, common values counting more. This is a "
        "promise about averages: the belief in a single rare value may change more."
    )


def _factor(nats: float, rounding: str, less: int = 0) -> str:
    """exp(nats) - less in four digits, rounded as told, so that the words never promise more than the notion."""
    if abs(nats) > 700:
        return f"exp({nats:g})"
    exact = decimal.Context(prec=60).exp(decimal.Decimal(nats)) - less
    return f"{decimal.Context(prec=4, rounding=rounding).plus(exact).normalize():f}"


def _against(notion: Notion) -> str:
    knows = ", and some of a person's useful columns" if notion.is_conditional else ", but nothing else about a person"
    return (
        "Anyone who sees released values, with any computing power, who knows how the mechanism works and how common "
        f"every pair of values is in this table{knows}."
    )


def _verdict(raw: dict[str, Any], found: Design) -> dict[str, Any]:
    return {
        **{name: raw[name] for name in ("holds", "slack", "violating_symbols", "violating_probability")},
        "release_holds": found.notion.holds(found.joint, found.mechanism),
        "release_slack": found.notion.slack(found.joint, found.mechanism),
    }


def _limit_words(found: Design) -> str:
    if found.bound is None:
        return "This method proves no limit: another release under the same promise may keep more."
    if found.evidence == "whole":
        return "The release keeps everything, and nothing can keep more."
    most = f"No mechanism{'' if found.mechanism.reads_sensitive else ' that reads the useful columns alone'} can keep "
    most += f"more than {100 * found.bound:.1f} % under this promise"
    if found.evidence == "checkable":
        return f"{most}. This limit is proven, and the proof can be checked without a solver."
    return f"{most}. A search found this limit; it kept no proof that others could check."


def _lifts(joint: Joint, order: Iterable[int], notion: Notion) -> dict[str, Any]:
    """Lifts of those symbols that occur, in the given order, with the shares of rows and columns."""
    kept = [k for k in order if joint.occurs[k]]
    names = _texts(joint.useful)
    lifts = measures.lift(joint)
    allowed = None if notion.is_conditional else notion.allowed(joint)
    return {
        "sensitive": list(_texts(joint.sensitive)),
        "sensitive_shares": joint.p_sensitive.tolist(),
        "symbols": [names[k] for k in kept],
        "shares": joint.p_useful[kept].tolist(),
        "lifts": lifts[:, kept].tolist(),
        "allowed": None if allowed is None else allowed[kept].tolist(),
        "outside": None if allowed is None else (~allowed[kept] & _outside(notion, lifts[:, kept])).tolist(),
    }


def _outside(notion: Notion, lifts: FloatArray) -> Any:
    """Which single lifts are too large or too small; none where the notion does not bound single ones."""
    highest, lowest = math.inf, 0.0
    for bound in notion.bounds:
        low, high = bound.kind.lift_range(bound.epsilon)
        lowest, highest = max(lowest, low), min(highest, high)
    return (lifts > highest) | (lifts < lowest)


def _worst(per_symbol: list[dict[str, Any]], joint: Joint) -> list[dict[str, Any]]:
    """The symbols of an audit, worst first, with labels as texts."""
    useful, sensitive = _names(joint.useful), _names(joint.sensitive)
    result = []
    for entry in per_symbol:
        if entry["probability"] == 0:
            continue
        spoken = {name: sensitive[json.dumps(entry[name])] for name in ("likelier", "unlikelier")}
        ruled = [sensitive[json.dumps(s)] for s in entry["rules_out"]]
        result.append({**entry, **spoken, "symbol": useful[json.dumps(entry["symbol"])], "rules_out": ruled})
    return result


def _listed(found: Design) -> dict[str, Any] | None:
    """Lifts after, what happens to each value and what each released symbol stands for; None for long encodings."""
    mechanism, joint = found.mechanism, found.joint
    if mechanism.kind != Mechanism.kind and mechanism.n_released > MOST_LISTED:
        return None
    released = found.released
    order = [k for k in np.argsort(-released.p_useful, kind="stable").tolist() if released.occurs[k]]
    spread = _spread(joint, mechanism)
    names = _texts(joint.useful)
    values = [
        {
            "value": names[x],
            "share": float(joint.p_useful[x]),
            "released": [[mechanism.released[y], p] for y, p in spread[x]],
        }
        for x in range(joint.n_useful)
        if joint.occurs[x]
    ]
    return {
        "after": _lifts(released, order, found.notion),
        "values": sorted(values, key=lambda value: -value["share"]),
        "released": _stands_for(joint, released, order, spread, names),
        "unlisted": None,
    }


def _spread(joint: Joint, mechanism: Mechanism) -> list[list[tuple[int, float]]]:
    """For each useful value, the released symbols (by index) and their probabilities, likeliest first."""
    if mechanism.kind == Mechanism.kind:
        xs, ys, weights = mechanism.entries
        chance = weights / DENOMINATOR
    else:
        channel = mechanism.channel
        if mechanism.reads_sensitive:  # what a person with this x can expect, over all s
            given = np.divide(
                joint.probabilities, joint.p_useful, where=joint.p_useful > 0, out=joint.probabilities * 0
            )
            channel = np.einsum("sx,sxy->xy", given, channel)
        xs, ys = np.nonzero(channel)
        chance = channel[xs, ys]
    spread: list[list[tuple[int, float]]] = [[] for _ in joint.useful]
    for x, y, p in zip(xs.tolist(), ys.tolist(), chance.tolist()):
        spread[x].append((y, p))
    return [sorted(pairs, key=lambda pair: -pair[1]) for pairs in spread]


def _stands_for(
    joint: Joint,
    released: Joint,
    order: list[int],
    spread: list[list[tuple[int, float]]],
    names: Sequence[str],
) -> list[dict[str, Any]]:
    """P(x | y) of every released symbol, likeliest first."""
    book: dict[int, list[tuple[str, float]]] = {y: [] for y in order}
    for x, pairs in enumerate(spread):
        for y, p in pairs:
            if y in book and joint.occurs[x]:
                book[y].append((names[x], float(joint.p_useful[x] * p / released.p_useful[y])))
    return [
        {
            "code": f"R{number}",
            "label": released.useful[y],
            "share": float(released.p_useful[y]),
            "stands_for": [list(pair) for pair in sorted(book[y], key=lambda pair: -pair[1])],
        }
        for number, y in enumerate(order, 1)
    ]


def _unlisted(mechanism: Mechanism) -> dict[str, Any]:
    note = f"The release has {mechanism.n_released:,} possible values, too many to list."
    if isinstance(mechanism, BitMechanism):
        true, other = mechanism.true_weight / DENOMINATOR, mechanism.other_weight / DENOMINATOR
        note = (
            f"Every value is released as {mechanism.n_useful} bits, one for each useful value. The bit of the true "
            f"value is 1 with probability {true:.4g}, every other bit with probability {other:.4g}."
        )
    return {"after": None, "values": [], "released": [], "unlisted": note}


def _tradeoff(joint: Joint, notion: Notion, found: Design, epsilons: Sequence[float] | None) -> dict[str, Any]:
    family = _family(notion)
    if family is None:
        return {"rows": [], "epsilon": None, "note": f"{notion} has no single budget to vary, so no curve is drawn."}
    make, epsilon = family
    serving = methods_for(notion)
    names = [name for name in dict.fromkeys((found.method, *BASELINES)) if name in serving]
    note = None
    if epsilons is None and joint.n_sensitive * joint.n_useful > MOST_SWEPT and len(names) > 1:
        names = [name for name in names if name in BASELINES]
        note = (
            f"With {joint.n_sensitive} x {joint.n_useful} values only the fast methods were swept; "
            "the point marks the release itself."
        )
    multiples = [epsilon * k for k in MULTIPLES] if epsilon > 0 else FROM_ZERO
    swept = frontier(joint, make, multiples if epsilons is None else epsilons, names)
    shown = ("epsilon", "method", "nmi", "bound", "status", "log_max_lift", "log_min_lift", "released")
    return {
        "rows": [{name: getattr(row, name) for name in shown} for row in swept.rows],
        "epsilon": epsilon,
        "nmi": found.nmi,
        "note": note,
    }


def _family(notion: Notion) -> tuple[Callable[[float], Notion], float] | None:
    """Notions of the same kind by one budget, and the budget of this one; an ALIP keeps the ratio of its sides."""
    stored = notion.to_dict()
    sides = [name for name in ("epsilon", "eps_lower", "eps_upper") if stored.get(name) is not None]
    if len(sides) == 1:
        return (lambda epsilon: from_dict({**stored, sides[0]: epsilon})), float(stored[sides[0]])
    total = sum(stored[name] for name in sides)
    if not isinstance(notion, ALIP) or total == 0:
        return None
    lam = stored["eps_lower"] / total
    return (lambda epsilon: ALIP.split(epsilon, lam)), total


def _limits(
    joint: Joint, notion: Notion, found: Design, secret: str, column: str, certificate: Certificate | None
) -> list[str]:
    """What the promise leaves out, in sentences."""
    counted = "" if joint.records is None else f" in these {joint.records:,} records"
    sentences = [
        f"The promise is about this joint distribution of {secret} and {column}, as it was counted{counted}. Where the "
        "records are a sample, or the world changes, the true distribution may give more away.",
        *_rare_words(joint),
        "Columns that are published beside the release are not covered: together with them, more may be learnt.",
        "Each record is protected by itself. A person with several records, or one who appears in several releases, "
        "is protected less, since the factors multiply.",
    ]
    if not notion.is_conditional:
        sentences.append(
            "The adversary is taken to know the distribution and the mechanism, but nothing else about a person. "
            "Someone who knows more, from another table for instance, may learn more."
        )
    if found.mechanism.reads_sensitive:
        sentences.append(f"The mechanism reads {secret} as well: whoever draws the release needs that column.")
    if certificate is not None:
        sentences.append(
            "The digest of a certificate shows that the file was not damaged. It is no signature and does not tell "
            "who wrote it."
        )
    sentences.append(
        "This report shows shares and lifts of the table as it is. It is meant for those who decide on the release; "
        "do not publish it with the release."
    )
    return sentences


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


def _certificate(certificate: Certificate, mechanism: Mechanism) -> dict[str, Any]:
    """Figures of a certificate, never its counts; and whether it is whole and about this mechanism."""
    content = json.loads(json.dumps(certificate.to_dict()))
    public = json.loads(json.dumps(mechanism.public_dict()))
    try:
        certified = content["mechanism"]
        return {
            "digest": content["certificate_digest"],
            "intact": sealed(content)["certificate_digest"] == content["certificate_digest"],
            "same_mechanism": {**certified, "method": None} == {**public, "method": None},
            **{name: content[name] for name in ("nmi", "bound", "bound_evidence", "achieved", "rows")},
            "mechanism_digest": content["digests"]["mechanism"],
            "versions": content["versions"],
        }
    except (KeyError, TypeError):
        raise InputError("the certificate lacks figures that every certificate states; it is damaged.") from None


def _examples(joint: Joint, mechanism: Mechanism, rows: int) -> list[list[str]]:
    """Values of records drawn at random, each with a draw of the mechanism: a simulation, never the release."""
    rng = np.random.default_rng(EXAMPLE_SEED)
    cells = rng.choice(joint.probabilities.size, size=rows, p=joint.probabilities.ravel())
    sensitive, symbols = np.divmod(cells, joint.n_useful)
    drawn = mechanism.sample(symbols, rng, sensitive if mechanism.reads_sensitive else None)
    if isinstance(mechanism, BitMechanism):
        after = ["".join("1" if bit else "0" for bit in bits) for bits in drawn.tolist()]
    else:
        after = [mechanism.released[y] for y in drawn.tolist()]
    names = _texts(joint.useful)
    return [[names[x], y] for x, y in zip(symbols.tolist(), after)]


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return labels.unique_texts(map(labels.text, values))


def _names(values: Sequence[Any]) -> dict[str, str]:
    """Texts of labels by their stored form, which an audit uses."""
    return {json.dumps(labels.encode(label)): name for label, name in zip(values, _texts(values))}


def _named(columns: Sequence[str], otherwise: str) -> str:
    """Columns as a phrase.

    >>> _named(["age", "sex", "job"], "")
    'age, sex and job'
    """
    if len(columns) < 2:
        return columns[0] if columns else otherwise
    return " and ".join([", ".join(itertools.islice(columns, len(columns) - 1)), columns[-1]])


def _version() -> str:
    import discreet

    return discreet.__version__
