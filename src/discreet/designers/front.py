"""The front door `design`: checks what is asked for, has a method design it, checks what was found, and records it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from discreet._support import progress, validate
from discreet._support.errors import BrokenNotionError, InputError, UnsupportedNotionError
from discreet.core import cells
from discreet.core.joint import Joint
from discreet.core.rare import has_rare_values
from discreet.designers.design import Design, Room, status_of
from discreet.designers.history import History, Moment
from discreet.designers.later import design_for_later
from discreet.designers.outcome import Outcome
from discreet.designers.registry import METHODS, Designer, Method, method_of
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import Notion
from discreet.notions.base import check_subject
from discreet.proof.beliefs import BeliefProof
from discreet.proof.boxes import Proof
from discreet.proof.channels import ChannelProof
from discreet.utilities import Distance, GuessingUtility, Information, Invariant, Utility, utility_of

__all__ = ["METHODS", "Method", "design", "methods"]

#: A limit further below what was reached, in the unit of the utility, is a false one.
ROUNDING = 1e-9


def design(
    joint: Joint,
    notion: Notion,
    method: str | Designer = "optimal",
    *,
    utility: str | Utility = "information",
    invariant: bool = False,
    margin: float | None = None,
    for_later: float | None = None,
    holdout: float | None = None,
    **options: Any,
) -> Design:
    """Design a mechanism that keeps a notion and loses as little of X as the method can.

    Parameters
    ----------
    joint : Joint
        P(s, x); every sensitive value must have mass.
    notion : Notion
        The promise.
    method : str or callable
        ``"optimal"``, or ``"auto"`` for the best that fits the notion, the size and the time; `methods` lists all that
        serve a notion. ``"conditional-reporting"`` and ``"optimal-with-sensitive"`` make mechanisms that read S. Or a
        function of your own, from ``(joint, notion, **options)`` to a mechanism; see `register_method`.
    utility : str or Utility
        What is kept as much of as the method can: ``"information"``; ``"accuracy"``, records guessed right;
        ``"distance"``, how near the best guess at a number is; or an object of your own, such as
        `discreet.utilities.Distance` with distances of yours. Under accuracy and distance the optimum releases the
        column's own values. Methods that merge symbols, and protocols of one strength, take no notice of it; what
        they keep is measured by it.
    invariant : bool
        With accuracy or distance: whether the published values keep the distribution of X, on average over the draw
        and up to the rounding of weights to multiples of 2**-60. What counts is then the loss between a value and the
        one that is published for it; mechanisms in other words than the column's are measured as if each symbol were
        read as a value drawn from what it stands for, which keeps the distribution too.
    margin : float, optional
        Nats by which every budget is smaller that the mechanism is designed for, so that other tables keep the promise
        as well.
    for_later : float, optional
        Such as 0.95: leave as much room as a fresh table of the same size and population needs to keep the promise with
        this probability; see `discreet.designers.share_of_next_tables`.
    holdout : float, optional
        Such as 0.5: design on a random part of the records, and hold the mechanism to the promise on this share of
        them, which it has not seen. The design is then one of that part (``joint``); the other is ``designed_on``.
    **options
        Options of the method. Optimal: ``time_limit`` in seconds (left out: a fixed amount of work, so that the
        result depends on the seed alone), ``seed``, ``start``, a mechanism to improve on, ``also``, a list of
        further joints over the same useful values under which the notion must hold as well, and ``near``, a
        `discreet.utilities.Distance` (True: of numbers), by which symbols that tell the same about S are released
        together with close ones, which costs nothing; and ``after``, mechanisms that were applied to the same records
        before, or a `discreet.Earlier` of other columns: the promise is then about all releases together, on the
        counted table; one with confidence is kept by this release with confidence, and by all on the counts. Subset
        response, independent attributes, the optimum that reads S, and auto: ``time_limit`` and ``seed``; auto also
        ``also``, ``near`` and ``after``.
        Watchdog: ``randomisation="merge" | "uniform"``.

    Returns
    -------
    Design
        Its mechanism passed the exact check of the notion; a mechanism that does not is never returned.

    Examples
    --------
    >>> from discreet import LIP, Joint
    >>> joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    >>> design(joint, LIP(0.5), method="watchdog").mechanism.released
    ('{a, c}', 'b')
    """
    check_subject(joint, notion, "design")
    name, chosen = method_of(method)
    wanted = utility_of(utility, invariant=invariant)
    if not chosen.serves(notion):
        raise UnsupportedNotionError(f"{name} does not serve {notion}. Methods that do: {', '.join(methods(notion))}.")
    cells.every_sensitive_value_occurs(joint.p_sensitive, joint.sensitive)
    if isinstance(wanted, GuessingUtility | Invariant):  # laid out once, and then one scale for all of its parts
        wanted = wanted.over(joint.useful)
    start = time.perf_counter()
    given, designed_on = joint, None
    _check_together(notion, options, holdout=holdout, for_later=for_later)
    if holdout is not None:
        designed_on, given = joint.split(holdout, seed=int(options.get("seed") or 0))
        cells.every_sensitive_value_occurs(designed_on.p_sensitive, designed_on.sensitive)
    unknown = sorted(option for option in options if not chosen.takes(option))
    if unknown:
        raise InputError(f"{name} has no option {unknown[0]!r}.")
    options = _checked_options(options, joint)
    asked = options | ({"utility": wanted} if "utility" in chosen.options else {})
    with progress.stage(f"designing: {name}, {notion}"):
        subject = joint if designed_on is None else designed_on
        outcome, room = _designed(subject, notion, name, chosen, asked, margin, for_later)
        for checked in (subject, *options.get("also", ())):
            if not notion.holds(checked, outcome.mechanism):
                raise BrokenNotionError(
                    f"{name} found a mechanism that breaks {notion}, so it was not returned. Widen the budget."
                )
        after = options.get("after")
        if after is not None and not notion.on_counts().holds(after.through(outcome.mechanism)):
            raise BrokenNotionError(
                f"{name} found a mechanism that breaks {notion} after the earlier releases, so it was not returned. "
                "Widen the budget."
            )
    if designed_on is not None:
        _check_holdout(given, notion, outcome.mechanism)
        outcome = replace(outcome, limit=None, proof=None)  # they are about the other part
    made = _kept_private(outcome.mechanism, joint, options).promising(notion.to_dict(), name)
    found = _record(given, notion, name, wanted, replace(outcome, mechanism=made), time.perf_counter() - start)
    return replace(found, room=room, designed_on=designed_on, after=after)


def _designed(
    joint: Joint,
    notion: Notion,
    name: str,
    chosen: Method,
    asked: dict[str, Any],
    margin: float | None,
    for_later: float | None,
) -> tuple[Outcome, Room | None]:
    """What the method finds, for the notion itself or with room for other tables; limits are then about another one."""
    if margin is None and for_later is None:
        return _checked_outcome(name, chosen.designer(joint, notion, **asked)), None
    stricter = notion if margin is None else notion.tightened(margin)
    if for_later is None:
        outcome, share = _checked_outcome(name, chosen.designer(joint, stricter, **asked)), None
    else:
        chance, limit = validate.confidence(for_later, "for_later"), asked.get("time_limit")
        end = None if limit is None else time.monotonic() + limit

        def make(harder: Notion, fraction: float) -> Outcome:
            timed = {} if end is None else {"time_limit": max(0.1, fraction * (end - time.monotonic()))}
            if not chosen.serves(harder):
                raise UnsupportedNotionError(f"{name} does not design for later tables. Use the method 'optimal'.")
            return _checked_outcome(name, chosen.designer(joint, harder, **asked | timed))

        foreseen = design_for_later(joint, stricter, chance, int(asked.get("seed", 0)), make)
        outcome, share = foreseen.outcome, foreseen.share
    return replace(outcome, limit=None, proof=None), Room(margin, for_later, share)


def _check_together(
    notion: Notion, options: Mapping[str, Any], *, holdout: float | None, for_later: float | None
) -> None:
    """Refuse, before any work is done, what does not go together with records held out and with room for later."""
    if holdout is not None and notion.confidence is not None:
        raise InputError(
            f"{notion} holds for every mechanism at once, also for one that saw all records: leave holdout out, or "
            "confidence."
        )
    if holdout is not None and options.get("after") is not None:
        raise InputError(
            "what came before (after, --after, --ledger) is counted on all records, and records that are held out "
            "(holdout, --holdout) would not be checked together with it: leave holdout out. For room beside the "
            "promise give a margin (margin, --margin)."
        )
    if for_later is not None and (notion.confidence is not None or options.get("also")):
        raise InputError(
            "room for later (for_later, --for-later) is for the next sample of one table, under a promise about "
            "tables: leave out other tables (also, --also) and confidence (--confidence)."
        )
    if for_later is not None and options.get("after") is not None:
        raise InputError(
            "room for later (for_later, --for-later) is simulated for one release, not for all releases together: "
            "leave it out after others (after, --after, --ledger). For room beside the promise give a margin (margin, "
            "--margin)."
        )


def _check_holdout(joint: Joint, notion: Notion, mechanism: Mechanism) -> None:
    """The promise on records that the design has not seen."""
    if notion.holds(joint, mechanism):
        return
    slack = notion.slack(joint, mechanism)
    how = f"by {-slack:.3g} nats" if slack > -math.inf else "since a released value rules a sensitive one out"
    raise BrokenNotionError(
        f"on the {joint.records:,} records that were held out the mechanism breaks {notion} {how}: it fits the records "
        "that it was designed on, not their population. Leave room: margin or for_later (--margin, --for-later)."
    )


def _earlier(given: Any, joint: Joint) -> Earlier:
    """What came before, for the values of the joint."""
    if not isinstance(given, Earlier):
        return Earlier.of(joint, given)
    if given.joint.useful != joint.useful or not np.array_equal(given.joint.masses, joint.masses):
        raise InputError("after is about another joint: count both from the same table, with the same bins.")
    return given


def _kept_private(mechanism: Mechanism, joint: Joint, options: Mapping[str, Any]) -> Mechanism:
    """The mechanism, private where it was made from rare values of any joint, or from another private one."""
    given = options.get("start")
    hidden = mechanism.is_private or (given is not None and given.is_private)
    if hidden or any(map(has_rare_values, (joint, *options.get("also", ())))):
        return mechanism.kept_private().unnamed()
    return mechanism


def _checked_options(options: dict[str, Any], joint: Joint) -> dict[str, Any]:
    """Options that several methods share, checked once for all of them."""
    if options.get("after") is not None:
        options = {**options, "after": _earlier(options["after"], joint)}
    if "also" in options:
        others = options["also"]
        if isinstance(others, Joint) or not isinstance(others, Iterable):
            raise InputError("also must be a list of joints.")
        options = options | {"also": tuple(others)}  # it is looked at more than once
        if not all(isinstance(other, Joint) for other in options["also"]):
            raise InputError("also must be a list of joints.")
    if options.get("near") is True:
        options = options | {"near": Distance()}
    seed = options.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be an integer of at least 0, got {seed!r}.")
    limit = options.get("time_limit")
    if limit is not None and (isinstance(limit, bool | str) or not limit > 0):
        raise InputError(f"time_limit must be a positive number of seconds, got {limit!r}.")
    return options


def _checked_outcome(name: str, found: Any) -> Outcome:
    outcome = found if isinstance(found, Outcome) else Outcome(found)
    if not isinstance(outcome.mechanism, Mechanism):
        raise InputError(f"{name} must return a Mechanism or an Outcome, got {type(outcome.mechanism).__name__}.")
    outcome.mechanism.check_kind()
    if outcome.limit is not None and not isinstance(outcome.limit, int | float | np.floating):
        raise InputError(f"the limit of {name} must be a number, got {type(outcome.limit).__name__}.")
    if outcome.proof is not None and not isinstance(outcome.proof, Proof | BeliefProof | ChannelProof):
        return replace(outcome, proof=None)  # nothing here can check it: the limit is claimed
    return outcome


def _record(joint: Joint, notion: Notion, name: str, utility: Utility, outcome: Outcome, seconds: float) -> Design:
    mechanism = outcome.mechanism
    nats = Information().value(joint, mechanism)
    value = nats if utility == Information() else utility.value(joint, mechanism)
    kept = utility.kept(joint, value)
    bound = None if outcome.limit is None else utility.kept(joint, outcome.limit)
    # Where nothing had to be hidden, X itself is released, and nothing can keep more than all of X.
    if mechanism.releases_everything(joint):
        bound = kept
    elif outcome.limit is not None and outcome.limit < value - ROUNDING:
        raise InputError(
            f"{name} claims that no mechanism keeps more than {outcome.limit:g} {utility.unit}, "
            f"and found one that keeps {value:g}."
        )
    return Design(
        mechanism=mechanism,
        joint=joint,
        notion=notion,
        method=name,
        mutual_information=nats,
        nmi=Information().kept(joint, nats),
        utility=utility.name,
        kept=kept,
        bound=bound,
        status=status_of(kept, bound),
        measured=utility.measured(joint, value),
        seconds=seconds,
        proof=outcome.proof,
        search_seconds=None if outcome.history is None else outcome.history.searched,
        history=_shares(joint, utility, outcome.history),
        notes=outcome.notes,
    )


def _shares(joint: Joint, utility: Utility, history: History | None) -> tuple[Moment, ...]:
    """A history as shares of the whole."""
    if history is None:
        return ()
    whole = utility.whole(joint)

    def share(value: float) -> float:
        return min(1.0, value / whole) if whole > 0 else 0.0

    return tuple(
        Moment(seconds, share(value), None if limit is None else share(limit))
        for seconds, value, limit in history.moments
    )


def methods(notion: Notion) -> tuple[str, ...]:
    """Names of the methods that serve a notion.

    >>> from discreet import SRLIP
    >>> methods(SRLIP(1))
    ('max-truth', 'independent-attributes', 'optimal', 'auto')
    """
    if not isinstance(notion, Notion):
        raise InputError(f"methods takes a Notion, got {type(notion).__name__}.")
    return tuple(name for name, method in METHODS.items() if method.serves(notion))
