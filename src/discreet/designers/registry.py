"""The methods by name: those of the package, and those that are registered from outside."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from discreet._support import validate
from discreet._support.errors import InputError, UnknownMethodError
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
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.proof.beliefs import has_known_beliefs

__all__ = ["BUILT_IN", "METHODS", "Designer", "Method", "any_notion", "method_of", "register_method"]

Designer = Callable[..., Mechanism | Outcome]


@dataclass(frozen=True)
class Method:
    """A designer, the notions that it serves, its options, and whether its mechanisms may read S.

    ``"utility"`` among the options says that it maximises the utility that is asked for; others only have it measured.
    """

    designer: Designer
    serves: Callable[[Notion], bool]
    options: frozenset[str] = frozenset()
    reads_sensitive: bool = False
    takes_anything: bool = False  # options of any name

    @classmethod
    def of(cls, designer: Designer) -> Method:
        """The method that a function is, its options read off its signature."""
        try:
            parameters = list(inspect.signature(designer).parameters.values())[2:]  # after the joint and the notion
        except (TypeError, ValueError):
            raise InputError("a method is a function of a joint, a notion and options.") from None
        named = (p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD))
        anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
        return cls(designer, any_notion, frozenset(named), takes_anything=anything)

    def takes(self, option: str) -> bool:
        """Whether it has an option of this name."""
        return self.takes_anything or option in self.options


def any_notion(notion: Notion) -> bool:
    """What a method that serves every notion answers."""
    return True


def _every(notion: Notion) -> bool:
    return not notion.is_conditional


def _on_lifts(notion: Notion) -> bool:
    return bounds_lifts(notion) and not notion.is_conditional and notion.confidence is None


def _polyhedral(notion: Notion) -> bool:
    return notion.is_polyhedral


def _enclosed(notion: Notion) -> bool:
    return notion.is_enclosed


_UTILITY = frozenset({"utility"})
_SEARCH = _UTILITY | {"seed", "time_limit"}

#: All methods by name; `register_method` adds to it.
METHODS: dict[str, Method] = {
    "watchdog": Method(watchdog, _every, frozenset({"randomisation"})),
    "subset-merging": Method(subset_merging, _every),
    "grr": Method(grr, _on_lifts),
    "oue": Method(oue, _on_lifts),
    "conditional-reporting": Method(conditional_reporting, _on_lifts, reads_sensitive=True),
    "tight-rr": Method(tight_rr, _on_lifts),
    "max-truth": Method(max_truth, _polyhedral, _UTILITY | {"time_limit"}),
    "subset-response": Method(subset_response, lambda n: n.is_polyhedral and not n.is_conditional, _SEARCH),
    "independent-attributes": Method(independent_attributes, lambda n: n.is_conditional, _SEARCH),
    "optimal": Method(optimal, _enclosed, _SEARCH | {"search", "also", "start", "near", "after"}),
    "optimal-with-sensitive": Method(optimal_with_sensitive, has_known_beliefs, _SEARCH, reads_sensitive=True),
    "auto": Method(automatic, any_notion, _SEARCH | {"also", "near", "after"}),
}

#: Names of the methods that every process knows.
BUILT_IN = frozenset(METHODS)


def register_method(
    name: str,
    designer: Designer,
    *,
    serves: Callable[[Notion], bool] | None = None,
    options: Iterable[str] | None = None,
    reads_sensitive: bool = False,
) -> None:
    """Add a method of your own: `discreet.methods`, `discreet.design`, comparisons and frontiers then know its name.

    Parameters
    ----------
    name : str
        A new name.
    designer : callable
        From ``(joint, notion, **options)`` to a `Mechanism`, or to an `Outcome` with a limit. What it returns is
        checked exactly like everything else, so it cannot break a promise.
    serves : callable, optional
        Which notions it serves, such as ``lambda notion: notion.is_polyhedral``. Left out: all.
    options : iterable of str, optional
        Names of its options. Left out: those of its signature. ``seed`` and ``time_limit`` are given by comparisons and
        frontiers, ``utility``, a `Utility`, by all.
    reads_sensitive : bool
        Whether its mechanisms may read S.

    Examples
    --------
    >>> from discreet import LIP, methods
    >>> def everything_merged(joint, notion):
    ...     return Mechanism.from_blocks(joint, [0] * joint.n_useful)
    >>> register_method("everything-merged", everything_merged)
    >>> "everything-merged" in methods(LIP(0.5))
    True
    >>> del METHODS["everything-merged"]
    """
    if not isinstance(name, str) or not name or not callable(designer):
        raise InputError("a method is registered by a name and a callable.")
    if name in METHODS:
        raise InputError(f"there is a method {name!r} already. Choose another name.")
    found = replace(Method.of(designer), reads_sensitive=reads_sensitive)
    if serves is not None:
        found = replace(found, serves=serves)
    if options is not None:
        found = replace(found, options=frozenset(options), takes_anything=False)
    METHODS[name] = found


def method_of(given: str | Designer) -> tuple[str, Method]:
    """Name and record of a method given by name, or as a callable."""
    if callable(given):
        return str(getattr(given, "__name__", type(given).__name__)), Method.of(given)
    if given not in METHODS:
        near = validate.closest(str(given), METHODS)
        raise UnknownMethodError(f"no method {given!r}.{near} Known methods: {', '.join(METHODS)}.")
    return given, METHODS[given]
