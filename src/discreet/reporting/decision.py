"""A release decision, built from a design, or from a stored mechanism and the table that it is for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError
from discreet._support.version import version
from discreet.certificate import Certificate
from discreet.certificate.record import achieved, sealed
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.designers import METHODS, Design, design
from discreet.designers.design import OPTIMAL_GAP, status_of
from discreet.measures import entropy, useful_information
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.notions.base import from_dict
from discreet.reporting import words
from discreet.reporting.audit import Audit, audit, worst_first
from discreet.reporting.formats import named
from discreet.reporting.listing import examples_of, lifts_of, listing_of, worst_of
from discreet.reporting.model import CertificateFacts, Decision, Figures, Judgement, Sizes, Tradeoff
from discreet.reporting.tradeoff import tradeoff_of
from discreet.utilities import Information

__all__ = ["decision", "decision_summary", "designed"]

#: Seconds for the design of a report under a promise with confidence, whose search may be long.
SECONDS = 20.0

#: Step of the numbers that a certificate states.
STATED_STEP = 1e-6

#: Rounding of an NMI that is one.
WHOLE = 1e-12

#: What certificates say of their bound, in the words of a design.
EVIDENCE = {"proof": "checkable", "nothing keeps more than all of X": "whole"}

#: Method of a mechanism that does not name one.
UNNAMED = "unnamed method"


def decision(
    made: Design | Mechanism,
    joint: Joint | None = None,
    notion: Notion | None = None,
    *,
    certificate: Certificate | None = None,
    rows: int | None = None,
    epsilons: Sequence[float] | None = None,
    curve: bool = True,
) -> Decision:
    """All that a report of a release decision says. Nothing is designed for it but the trade-off curve.

    Parameters
    ----------
    made : Design or Mechanism
        What is reported. A design brings its joint and notion along, and the bound that it proved.
    joint : Joint, optional
        With a mechanism: P(s, x) of the table as it is.
    notion : Notion, optional
        With a mechanism: the promise; left out, the one that it was designed for.
    certificate : Certificate, optional
        Adds its digest and figures, and whether it is about the mechanism shown. The limit of a stored mechanism is
        taken from it, where it is about this mechanism and this table.
    rows : int, optional
        Adds as many example rows: real values of the table, each with a draw of the mechanism.
    epsilons : sequence of float, optional
        Budgets of the trade-off curve, nats; left out, eight around the chosen one.
    curve : bool
        Whether there is a curve. For a stored mechanism it shows the fast methods alone.

    Examples
    --------
    >>> from discreet import LIP
    >>> joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    >>> stored = design(joint, LIP(0.5), "watchdog").mechanism
    >>> found = decision(stored, joint, curve=False)
    >>> found.notion_text, found.verdict.release_holds, found.design.bound
    ('LIP(0.5)', True, None)
    """
    mechanism, joint, notion = _subject(made, joint, notion)
    _check_request(notion, certificate, rows)
    released = _as_released(mechanism, joint, certificate)
    if released is not mechanism:
        made, mechanism = _in_values(made, released, joint), released
    facts = None if certificate is None else _facts(certificate, mechanism, joint)
    if isinstance(made, Design) and made.utility == "information":
        figures, swept_method = _figures(made), made.method
        limit = words.limit_words(figures)
    else:  # the limit of another utility says nothing about information, which a report speaks of
        figures, limit = _stored_figures(mechanism, joint, notion, facts)
        swept_method = None
        if isinstance(made, Design) and made.measured is not None:
            limit = words.other_utility_words(made.measured, made.utility, made.kept, made.bound)
    swept = Tradeoff((), note="No curve was asked for.")
    if curve:
        with progress.stage("drawing the trade-off"):
            swept = tradeoff_of(joint, notion, figures.nmi, swept_method, epsilons)
    examples = examples_of(joint, mechanism, rows) if rows else None
    return _assembled(mechanism, joint, notion, figures, limit, tradeoff=swept, certificate=facts, examples=examples)


def designed(joint: Joint, notion: Notion, method: str = "auto", **options: Any) -> Decision:
    """Design a mechanism first, and decide on it; options as in `decision`. The one step here that designs.

    Parameters
    ----------
    joint : Joint
        P(s, x) of the table as it is.
    notion : Notion
        The promise.
    method : str
        How the release is designed; see `discreet.design`.
    """
    _check_request(notion, options.get("certificate"), options.get("rows"))  # before the work
    is_timed = notion.confidence is not None and "time_limit" in METHODS[method].options
    timed: dict[str, Any] = {"time_limit": SECONDS} if is_timed else {}
    return decision(design(joint, notion, method, **timed), **options)


def decision_summary(
    joint: Joint,
    notion: Notion,
    *,
    method: str = "auto",
    certificate: Certificate | None = None,
    rows: int | None = None,
    epsilons: Sequence[float] | None = None,
) -> dict[str, Any]:
    """A decision on a mechanism that is designed here, as plain data; parameters as in `designed` and `decision`.

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
    return designed(joint, notion, method, certificate=certificate, rows=rows, epsilons=epsilons).to_dict()


def _check_request(notion: Notion, certificate: Certificate | None, rows: int | None) -> None:
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise InputError(f"rows must be an integer of at least 0, got {rows!r}.")
    if certificate is not None and certificate.to_dict().get("notion") != notion.to_dict():
        raise InputError(f"the certificate is about another promise than {notion}.")


def _subject(made: Design | Mechanism, joint: Joint | None, notion: Notion | None) -> tuple[Mechanism, Joint, Notion]:
    """The mechanism, its table and its promise."""
    if isinstance(made, Design):
        if joint is not None or notion is not None:
            raise InputError("a design brings its joint and its notion along: leave them out.")
        return made.mechanism, made.joint, made.notion
    if not isinstance(made, Mechanism) or not isinstance(joint, Joint):
        raise InputError("a decision takes a design, or a mechanism and a joint.")
    if notion is None and made.notion is None:
        raise InputError("the mechanism carries no notion: name the one that it keeps.")
    return made, joint, from_dict(dict(made.notion or {})) if notion is None else notion


def _as_released(mechanism: Mechanism, joint: Joint, certificate: Certificate | None) -> Mechanism:
    """The mechanism as its certificate has it: in values, where it is what those were made of."""
    stated = None if certificate is None else certificate.to_dict().get("mechanism")
    if mechanism.is_in_values or not isinstance(stated, Mapping) or "released_values" not in stated:
        return mechanism
    composed = mechanism.in_values(joint)
    same = ("useful", "released", "rows", "released_values")
    own = composed.public_dict()
    return composed if all(own[name] == stated.get(name) for name in same) else mechanism


def _in_values(made: Design | Mechanism, released: Mechanism, joint: Joint) -> Design | Mechanism:
    """A design with its mechanism in values; its limit is one of any mechanism, so it stays."""
    if not isinstance(made, Design) or made.utility != "information":
        return released
    information, whole = useful_information(joint, released), entropy(joint)
    nmi = min(1.0, information / whole) if whole > 0 else 0.0
    status = status_of(nmi, made.bound)
    return dataclasses.replace(
        made, mechanism=released, mutual_information=information, nmi=nmi, kept=nmi, status=status
    )


def _assembled(
    mechanism: Mechanism, joint: Joint, notion: Notion, figures: Figures, limit: str, **parts: Any
) -> Decision:
    found = audit(joint, notion)
    secret, column = named(joint.sensitive_columns, "S"), named(joint.useful_columns, "X")
    verdict = _judged(found, mechanism, joint, notion)
    listing = listing_of(joint, mechanism, notion)
    promised = words.promise_words if verdict.release_holds else words.broken_words
    return Decision(
        secret=secret,
        column=column,
        records=joint.records,
        sizes=Sizes(joint.n_sensitive, joint.n_useful, mechanism.n_released),
        notion=notion.to_dict(),
        notion_text=str(notion),
        promise=promised(notion, secret),
        against=words.against_words(notion),
        verdict=verdict,
        design=figures,
        limit=limit if verdict.release_holds else words.BROKEN_LIMIT,
        before=lifts_of(joint, worst_first(joint), notion),
        worst=worst_of(found.per_symbol, joint),
        after=listing.after,
        values=listing.values,
        released=listing.released,
        unlisted=listing.unlisted,
        limits=words.leaves_out(
            joint,
            notion,
            secret=secret,
            column=column,
            reads_sensitive=mechanism.reads_sensitive,
            certified=parts["certificate"] is not None,
            beside=() if parts["certificate"] is None else parts["certificate"].not_covered,
        ),
        version=version(),
        confidence=found.confidence,
        chance=_chance_text(found, secret, column),
        **parts,
    )


def _chance_text(found: Audit, secret: str, column: str) -> str | None:
    """What chance alone gives, in a sentence."""
    if found.chance is None or found.confidence is None:
        return None
    surest = [labels.text(labels.decode(label)) for label in found.per_symbol.surely_telling(words.MOST_SURE)[1]]
    measured = found.measures["mutual_information"]
    return words.chance_words(found.chance, column, secret, measured, found.confidence, surest)


def _judged(found: Audit, mechanism: Mechanism, joint: Joint, notion: Notion) -> Judgement:
    assert found.verdict is not None  # a notion was given
    return Judgement(
        holds=found.verdict.holds,
        slack=found.verdict.slack,
        violating_symbols=found.verdict.violating_symbols,
        violating_probability=found.verdict.violating_probability,
        population=found.verdict.population,
        population_symbols=found.verdict.population_symbols,
        population_probability=found.verdict.population_probability,
        release_holds=notion.holds(joint, mechanism),
        release_slack=notion.slack(joint, mechanism),
    )


def _figures(made: Design) -> Figures:
    stated = made.to_dict()
    return Figures(**{field.name: stated[field.name] for field in dataclasses.fields(Figures)})


def _stored_figures(
    mechanism: Mechanism, joint: Joint, notion: Notion, facts: CertificateFacts | None
) -> tuple[Figures, str]:
    """Figures of a mechanism that was designed elsewhere, and what is known about the limit."""
    information, whole = useful_information(joint, mechanism), entropy(joint)
    nmi = min(1.0, information / whole) if whole > 0 else 0.0
    missing = _no_limit(facts, nmi)
    bound, evidence = _stated_limit(None if missing is not None else facts, nmi)
    # A certificate rounds its limit up: within its last digit the limit is met.
    met = bound is not None and bound - nmi <= STATED_STEP + OPTIMAL_GAP
    record = Design(
        mechanism=mechanism,
        joint=joint,
        notion=notion,
        method=mechanism.method or UNNAMED,
        mutual_information=information,
        nmi=nmi,
        utility="information",
        kept=nmi,
        measured=Information().measured(joint, information),
        bound=bound,
        status="stored" if bound is None else "optimal" if met else status_of(nmi, bound),
        seconds=0.0,
    )
    figures = dataclasses.replace(_figures(record), evidence=evidence, seconds=None)
    return figures, words.limit_words(figures, certified=True, missing=missing)


def _stated_limit(facts: CertificateFacts | None, nmi: float) -> tuple[float | None, str | None]:
    """The limit that a certificate states, and its evidence in the words of a design."""
    if nmi > 1 - WHOLE:
        return nmi, "whole"  # nothing keeps more than all of X
    if facts is None or facts.bound is None:
        return None, None
    return float(facts.bound), EVIDENCE.get(facts.bound_evidence or "", facts.bound_evidence)


def _no_limit(facts: CertificateFacts | None, nmi: float) -> str | None:
    """Why a stored mechanism has no limit; None where its certificate states one for this mechanism and table."""
    if facts is None:
        return "No certificate states a limit"
    if not facts.intact:
        return "The certificate was changed, so its limit is not taken over"
    if not facts.same_mechanism:
        untold = "does not tell its mechanism, which the private one does"
        why = untold if facts.same_mechanism is None else "is about another mechanism"
        return f"The certificate {why}, so its limit is not taken over"
    if not facts.fits_table:
        return "The certificate is about another table, so its limit is not taken over"
    if abs(float(facts.nmi) - nmi) > STATED_STEP:
        return "The certificate states another NMI than this table gives, so its limit is not taken over"
    return "The certificate states no limit" if facts.bound is None else None


def _fits(content: Mapping[str, Any], mechanism: Mechanism, joint: Joint) -> bool:
    """Whether a certificate is about this table: by its counts, or by its rows and lifts where it has none."""
    rows, counts = content["rows"], content.get("counts")
    if counts is not None:
        sensitive, useful = ([json.dumps(label) for label in counts[axis]] for axis in ("sensitive", "useful"))
        stated = {(sensitive[s], useful[x]): n for s, x, n in counts["cells"]}
        own_s, own_x = (
            [json.dumps(labels.encode(label)) for label in axis] for axis in (joint.sensitive, joint.useful)
        )
        found = {(own_s[s], own_x[x]): int(joint.masses[s, x]) for s, x in zip(*np.nonzero(joint.masses))}
        return stated == found
    if rows is not None and joint.records is not None and rows["input"] != joint.records:
        return False
    return content["achieved"] is None or content["achieved"] == achieved(mechanism, joint)


def _facts(certificate: Certificate, mechanism: Mechanism, joint: Joint) -> CertificateFacts:
    """Figures of a certificate, never its counts; and whether it is whole, about this mechanism and this table."""
    content = json.loads(json.dumps(certificate.to_dict()))
    public = json.loads(json.dumps(mechanism.public_dict()))
    try:
        certified = content["mechanism"]
        is_left_out = certified is None and content["private_mechanism"] is True
        _ = [float(content[name] or 0) for name in ("nmi", "bound")]  # both are numbers
        return CertificateFacts(
            digest=content["certificate_digest"],
            intact=sealed(content)["certificate_digest"] == content["certificate_digest"],
            same_mechanism=None if is_left_out else {**certified, "method": None} == {**public, "method": None},
            fits_table=_fits(content, mechanism, joint),
            not_covered=tuple(str(row["column"]) for row in content.get("not_covered") or ()),
            **{name: content[name] for name in ("nmi", "bound", "bound_evidence", "achieved", "rows")},
            mechanism_digest=content["digests"]["mechanism"],
            versions=content["versions"],
        )
    except (KeyError, TypeError, ValueError):
        raise InputError("the certificate lacks figures that every certificate states; it is damaged.") from None
