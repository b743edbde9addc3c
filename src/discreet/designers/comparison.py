"""`compare`: every method that serves a notion, on one joint, best first."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from discreet._support import progress
from discreet._support.errors import BrokenNotionError, InputError
from discreet._support.visible import visible
from discreet.core.joint import Joint
from discreet.designers.design import Design
from discreet.designers.front import design
from discreet.designers.front import methods as methods_for
from discreet.designers.registry import Designer, method_of
from discreet.notions import Notion
from discreet.notions.base import check_subject
from discreet.utilities import Utility, utility_of

__all__ = ["Comparison", "compare"]

#: A method that is one of the others.
ONE_OF_THEM = "auto"


@dataclass(frozen=True)
class Comparison:
    """Designs of several methods under one notion, and why others have none.

    Attributes
    ----------
    notion : Notion
        The promise that all of them keep.
    designs : tuple of Design
        The one that keeps most first.
    skipped : dict
        Name of each method that found nothing, and the reason.
    """

    notion: Notion
    designs: tuple[Design, ...]
    skipped: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The figures of all designs as plain data."""
        return {
            "notion": self.notion.to_dict(),
            "designs": [design.to_dict() for design in self.designs],
            "skipped": self.skipped,
        }

    def __repr__(self) -> str:
        kept = ", ".join(f"{design.method} {design.kept:.4f}" for design in self.designs)
        left_out = f"; left out: {', '.join(self.skipped)}" if self.skipped else ""
        return visible(f"Comparison({self.notion}: {kept or 'no design'}{left_out})")

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("method", "kept", "limit", "unchanged", "status"))
        body = "".join(
            f"<tr><td>{html.escape(design.method)}</td><td>{design.kept:.4f}</td>"
            f"<td>{'' if design.bound is None else f'{design.bound:.4f}'}</td>"
            f"<td>{'' if design.unchanged is None else f'{100 * design.unchanged:.1f} %'}</td>"
            f"<td>{design.status}</td></tr>"
            for design in self.designs
        )
        reasons = "".join(f"<p>{html.escape(f'{name}: {reason}')}</p>" for name, reason in self.skipped.items())
        return f"<p>{html.escape(str(self.notion))}</p><table><tr>{head}</tr>{body}</table>{reasons}"


def compare(
    joint: Joint,
    notion: Notion,
    methods: Iterable[str | Designer] | None = None,
    *,
    utility: str | Utility = "information",
    invariant: bool = False,
    time_limit: float | None = None,
    seed: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Design with several methods, and put what they found side by side.

    Parameters
    ----------
    joint : Joint
        P(s, x).
    notion : Notion
        The promise.
    methods : iterable of str or callable, optional
        Left out: all that serve the notion but auto, which is one of the others.
    utility, invariant
        What is kept, and whether published values keep their distribution; see `discreet.design`.
    time_limit, seed
        Given to every method that takes them, the time to each.
    watch : callable, optional
        Called with the number of methods tried and the number in all.

    Returns
    -------
    Comparison
        A method that cannot serve the joint, too large or of one attribute only, is left out with its reason.

    Examples
    --------
    >>> from discreet import LIP
    >>> compare(Joint.from_counts([[30, 15, 5], [10, 15, 25]]), LIP(0.5), ["watchdog", "optimal"])
    Comparison(LIP(0.5): optimal 0.7268, watchdog 0.5610)
    """
    check_subject(joint, notion, "compare")
    if methods is not None and (isinstance(methods, str) or not isinstance(methods, Iterable)):
        raise InputError(f"methods must be a list, got {type(methods).__name__}.")
    serving = [name for name in methods_for(notion) if name != ONE_OF_THEM]
    chosen = [(given, *method_of(given)) for given in (serving if methods is None else methods)]
    wanted = utility_of(utility, invariant=invariant)
    wanted.over(joint.useful)  # values that it cannot measure are refused before any work
    shared: dict[str, Any] = {
        key: value for key, value in (("time_limit", time_limit), ("seed", seed)) if value is not None
    }
    designs: list[Design] = []
    skipped: dict[str, str] = {}
    with progress.stage("comparing") as stage:
        for given, name, method in chosen:
            options = {key: value for key, value in shared.items() if method.takes(key)}
            try:
                designs.append(design(joint, notion, given, utility=wanted, **options))
            except (InputError, BrokenNotionError) as error:
                skipped[name] = str(error)
            best = max((found.kept for found in designs), default=0.0)
            stage.update(len(designs) + len(skipped), len(chosen), detail=f"the best keeps {best:.4f}")
            if watch is not None:
                watch(len(designs) + len(skipped), len(chosen))
    designs.sort(key=lambda found: -found.kept)
    return Comparison(notion, tuple(designs), skipped)
