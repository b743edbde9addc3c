"""The front door `design`, the methods behind it, and the one kind of result they all return."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet._support import validate
from discreet._support.errors import BrokenNotionError, InputError, UnknownMethodError, UnsupportedNotionError
from discreet.core import cells
from discreet.core.joint import Joint
from discreet.designers.attributes import independent_attributes
from discreet.designers.automatic import automatic
from discreet.designers.merging.subset_merging import subset_merging
from discreet.designers.merging.watchdog import watchdog
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.max_truth import max_truth
from discreet.designers.posteriors.optimal import optimal
from discreet.designers.posteriors.subset_response import subset_response
from discreet.designers.protocols.excess import bounds_lifts
from discreet.designers.protocols.grr import grr
from discreet.designers.protocols.oue import oue
from discreet.designers.protocols.tight_rr import tight_rr
from discreet.designers.with_sensitive.conditional_reporting import conditional_reporting
from discreet.designers.with_sensitive.optimal import optimal_with_sensitive
from discreet.measures import entropy, max_lift, min_lift, useful_information
from discreet.mechanism import Mechanism
from discreet.notions import LIFTS, Notion
from discreet.proof.beliefs import has_known_beliefs

__all__ = ["Design", "design", "methods", "status_of"]

Designer = Callable[..., Mechanism | Outcome]


@dataclass(frozen=True)
class Method:
    """A designer, the notions that it serves, its options, and whether its mechanisms may read S."""

    designer: Designer
    serves: Callable[[Notion], bool]
    options: frozenset[str] = frozenset()
    reads_sensitive: bool = False


def _every(notion: Notion) -> bool:
    return not notion.is_conditional


def _on_lifts(notion: Notion) -> bool:
    return bounds_lifts(notion) and not notion.is_conditional


def _polyhedral(notion: Notion) -> bool:
    return notion.is_polyhedral


_SEARCH = frozenset({"seed", "time_limit"})

METHODS: dict[str, Method] = {
    "watchdog": Method(watchdog, _every, frozenset({"randomisation"})),
    "subset-merging": Method(subset_merging, _every),
    "grr": Method(grr, _on_lifts),
    "oue": Method(oue, _on_lifts),
    "conditional-reporting": Method(conditional_reporting, _on_lifts, reads_sensitive=True),
    "tight-rr": Method(tight_rr, _on_lifts),
    "max-truth": Method(max_truth, _polyhedral),
    "subset-response": Method(subset_response, lambda n: n.is_polyhedral and not n.is_conditional, _SEARCH),
    "independent-attributes": Method(independent_attributes, lambda n: n.is_conditional, _SEARCH),
    "optimal": Method(optimal, _polyhedral, _SEARCH | {"search", "also", "start"}),
    "optimal-with-sensitive": Method(optimal_with_sensitive, has_known_beliefs, _SEARCH, reads_sensitive=True),
    "auto": Method(automatic, lambda _: True, _SEARCH),
}

#: A bound that is at most this far above the NMI reached proves it optimal.
OPTIMAL_GAP = 1e-7


@dataclass(frozen=True)
class Design:
    """A mechanism, what it keeps and what it promises; the same record whatever the method.

    Attributes
    ----------
    mechanism : Mechanism
        Checked by ``notion.holds`` on its integer weights.
    joint, notion : Joint, Notion
        What it was designed for.
    method : str
        Name of the designer.
    mutual_information : float
        I(X; Y), nats.
    nmi : float
        I(X; Y) / H(X), in [0, 1].
    bound : float or None
        Proven upper limit of the NMI of any mechanism under the notion, where one is known.
    status : str
        ``"optimal"`` where the bound is met within 1e-7, ``"gap x %"`` where it is not, ``"heuristic"`` where the
        method proves no bound.
    proof : object or None
        What proves the bound; ``proof.check()`` evaluates it anew without a solver. See `evidence`.
    seconds : float
        Time that the design took.
    """

    mechanism: Mechanism
    joint: Joint = field(repr=False)
    notion: Notion
    method: str
    mutual_information: float
    nmi: float
    bound: float | None
    status: str
    seconds: float
    proof: Any = field(default=None, repr=False)

    @property
    def released(self) -> Joint:
        """The joint of (sensitive, released)."""
        return self.joint.through(self.mechanism)

    @property
    def evidence(self) -> str | None:
        """How the bound can be checked; None where there is no bound.

        ``"checkable"``: by ``proof.check()``. ``"whole"``: X itself is released, and nothing keeps more. ``"claimed,
        not checkable"``: a computation found it, as the listing of vertices does, but its proof was not kept.
        """
        if self.bound is None:
            return None
        if self.proof is not None:
            return "checkable"
        return "whole" if self.mechanism.releases_everything(self.joint) else "claimed, not checkable"

    def to_dict(self) -> dict[str, Any]:
        """The figures of the design as plain data; ``released`` is the number of released symbols."""
        released = self.mechanism.judged(self.joint, LIFTS)  # where the lifts are extreme
        smallest = float(min_lift(released).min())
        return {
            "method": self.method,
            "notion": self.notion.to_dict(),
            "nmi": self.nmi,
            "mutual_information": self.mutual_information,
            "bound": self.bound,
            "status": self.status,
            "evidence": self.evidence,
            "log_max_lift": math.log(float(max_lift(released).max())),
            "log_min_lift": math.log(smallest) if smallest > 0 else -math.inf,
            "released": self.mechanism.n_released,
            "useful": self.mechanism.n_useful,
            "reads_sensitive": self.mechanism.reads_sensitive,
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        bound = "" if self.bound is None else f", bound {self.bound:.4f}"
        reads = ", reads S" if self.mechanism.reads_sensitive else ""
        return (
            f"Design({self.method} for {self.notion}: NMI {self.nmi:.4f}{bound}, "
            f"{self.mechanism.n_useful} useful -> {self.mechanism.n_released} released{reads}, {self.status})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.mechanism._repr_html_()}"


def design(joint: Joint, notion: Notion, method: str = "optimal", **options: Any) -> Design:
    """Design a mechanism that keeps a notion and loses as little of X as the method can.

    Parameters
    ----------
    joint : Joint
        P(s, x); every sensitive value must have mass.
    notion : Notion
        The promise.
    method : str
        ``"optimal"``, or ``"auto"`` for the best that fits the notion, the size and the time; `methods` lists all that
        serve a notion. ``"conditional-reporting"`` and ``"optimal-with-sensitive"`` make mechanisms that read S.
    **options
        Options of the method. Optimal: ``time_limit`` in seconds (left out: a fixed amount of work, so that the
        result depends on the seed alone), ``seed``, ``start``, a mechanism to improve on, and ``also``, a list of
        further joints over the same useful values under which the notion must hold as well. Subset response,
        independent attributes, the optimum that reads S, and auto: ``time_limit`` and ``seed``.
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
    if not isinstance(joint, Joint) or not isinstance(notion, Notion):
        raise InputError(f"design takes a Joint and a Notion, got {type(joint).__name__}, {type(notion).__name__}.")
    chosen = _method(method)
    if not chosen.serves(notion):
        raise UnsupportedNotionError(
            f"{method} does not serve {notion}. Methods that do: {', '.join(methods(notion))}."
        )
    cells.every_sensitive_value_occurs(joint.p_sensitive, joint.sensitive)
    start = time.perf_counter()
    unknown = sorted(set(options) - chosen.options)
    if unknown:
        raise InputError(f"{method} has no option {unknown[0]!r}.")
    options = _checked_options(options)
    found = chosen.designer(joint, notion, **options)
    outcome = found if isinstance(found, Outcome) else Outcome(found)
    for checked in (joint, *options.get("also", ())):
        if not notion.holds(checked, outcome.mechanism):
            raise BrokenNotionError(
                f"{method} found a mechanism that breaks {notion}, so it was not returned. Widen the budget."
            )
    outcome = replace(outcome, mechanism=outcome.mechanism.promising(notion.to_dict(), method))
    return _record(joint, notion, method, outcome, time.perf_counter() - start)


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options that several methods share, checked once for all of them."""
    if "also" in options:
        others = options["also"]
        if isinstance(others, Joint) or not isinstance(others, Iterable):
            raise InputError("also must be a list of joints.")
        options = options | {"also": tuple(others)}  # it is looked at more than once
        if not all(isinstance(other, Joint) for other in options["also"]):
            raise InputError("also must be a list of joints.")
    seed = options.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be an integer of at least 0, got {seed!r}.")
    limit = options.get("time_limit")
    if limit is not None and (isinstance(limit, bool | str) or not limit > 0):
        raise InputError(f"time_limit must be a positive number of seconds, got {limit!r}.")
    return options


def _record(joint: Joint, notion: Notion, method: str, outcome: Outcome, seconds: float) -> Design:
    mechanism = outcome.mechanism
    information = useful_information(joint, mechanism)
    whole = entropy(joint)

    def share(nats: float) -> float:
        return min(1.0, nats / whole) if whole > 0 else 0.0

    bound = None if outcome.limit is None else share(outcome.limit)
    # Where nothing had to be hidden, X itself is released, and nothing can keep more than all of X.
    if mechanism.releases_everything(joint):
        bound = share(information)
    return Design(
        mechanism=mechanism,
        joint=joint,
        notion=notion,
        method=method,
        mutual_information=information,
        nmi=share(information),
        bound=bound,
        status=status_of(share(information), bound),
        seconds=seconds,
        proof=outcome.proof,
    )


def status_of(nmi: float, bound: float | None) -> str:
    """What a bound says about an NMI."""
    if bound is None:
        return "heuristic"
    return "optimal" if bound - nmi <= OPTIMAL_GAP else f"gap {100 * (bound - nmi):.2g} %"


def _method(name: str) -> Method:
    if name not in METHODS:
        near = validate.closest(str(name), METHODS)
        raise UnknownMethodError(f"no method {name!r}.{near} Known methods: {', '.join(METHODS)}.")
    return METHODS[name]


def methods(notion: Notion) -> tuple[str, ...]:
    """Names of the methods that serve a notion.

    >>> from discreet import SRLIP
    >>> methods(SRLIP(1))
    ('max-truth', 'independent-attributes', 'optimal', 'auto')
    """
    if not isinstance(notion, Notion):
        raise InputError(f"methods takes a Notion, got {type(notion).__name__}.")
    return tuple(name for name, method in METHODS.items() if method.serves(notion))
