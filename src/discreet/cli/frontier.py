"""``discreet frontier``: what each budget keeps and leaks, under several methods."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from discreet._support import files
from discreet._support.errors import InputError
from discreet.cli.options import (
    SIDES,
    Format,
    NotionName,
    NotionOptions,
    TableOptions,
    UtilityOptions,
    check_search,
    show,
)
from discreet.cli.streams import say_written

if TYPE_CHECKING:
    from discreet.core.joint import Joint
    from discreet.notions import Notion

__all__ = ["frontier"]

Repeated = Parameter(negative="", consume_multiple=False)

#: Sides whose budget can be swept while the other is left open.
Side = Literal["upper", "lower"]

#: Smaller alphabets are swept faster than further processes start.
PARALLEL_FROM = 60

#: Budgets that a range may ask for.
MOST_BUDGETS = 1000


def frontier(
    source: TableOptions,
    *,
    notion: NotionName | None = None,
    epsilon: Annotated[tuple[str, ...], Repeated] = ("0.25:4:16",),
    lam: Annotated[tuple[float, ...], Repeated] = (),
    side: Side | None = None,
    alpha: float | None = None,
    method: Annotated[tuple[str, ...], Repeated] = (),
    keeping: UtilityOptions | None = None,
    keep: float | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    workers: int | None = None,
    output: Annotated[tuple[Path, ...], Parameter(name=["--output", "-o"], negative="", consume_multiple=False)] = (),
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Format = "text",
) -> int:
    """Sweep the budget: what is kept of the useful columns, and what leaks, under several methods.

    Parameters
    ----------
    notion
        Which promise is swept. Left out: lip, or alip where --lam or --side is given.
    epsilon
        Budgets in nats: a number, several with commas, or FIRST:LAST:COUNT. Repeatable.
    lam
        Share of each budget that goes to the lower side. Repeatable: all are swept.
    side
        Sweep the budget of one side and leave the other side open: upper for rising beliefs, lower for falling ones.
        Of alip, l1, chi2 and alpha-lift, in place of --lam.
    alpha
        Order of alpha-lift, above 1.
    method
        Method to compare; repeat the option for several, or give all. Left out: subset-merging, where it serves the
        notion, and optimal or auto.
    keep
        Also find the smallest budget that keeps this share of the useful columns, such as 0.9.
    time_limit
        Seconds for each design. Left out: a fixed amount of work, some seconds for large alphabets.
    seed
        Seed of random starts.
    workers
        Processes that work in parallel. Left out: one, or all cores for large alphabets.
    output
        File for the result: .svg, .png or .pdf for a plot, .csv or .json for the numbers. Repeatable.
    force
        Replace existing output files.
    format
        Text for people, JSON for programs.
    """
    from discreet.designers import methods as methods_for
    from discreet.frontiers.sweep import frontier as sweep
    from discreet.reporting.text.frontier import frontier_text

    _check_swept(notion, lam, side)
    epsilons = [budget for text in epsilon for budget in _budgets(text)]
    _check_endings(output)
    files.check_targets(output, force=force, never=source.files)
    check_search(time_limit, seed)
    _check_numbers(keep, workers)
    family = _family(notion, side, alpha)
    joint = source.joint()
    options: dict[str, Any] = {
        name: value for name, value in (("time_limit", time_limit), ("seed", seed)) if value is not None
    } | (keeping or UtilityOptions()).chosen()
    chosen = _chosen(method, methods_for(family(epsilons[0], lam[0] if lam else None)), joint)
    cores = workers or (1 if joint.n_useful < PARALLEL_FROM else os.cpu_count() or 1)
    result = sweep(joint, family, epsilons, chosen, lams=lam or None, workers=cores, **options)
    for path in output:
        result.save(path)
    smallest = None if keep is None else result.smallest(keep)
    data = result.to_dict() | ({} if smallest is None else {"smallest": {"keep": keep} | smallest.to_dict()})
    show(format, data, frontier_text(result, keep, smallest) if format == "text" else None)
    for path in output:
        say_written("frontier", path)
    return 0


def _family(name: str | None, side: Side | None, alpha: float | None) -> Callable[..., Notion]:
    """The notion of a budget: of one side, shared out between both, or as the notion counts it."""

    def notion(budget: float, share: float | None = None) -> Notion:
        budgets = {"epsilon": budget, "lam": share} if side is None else {f"eps_{side}": budget}
        built = NotionOptions(notion=name, alpha=alpha, **budgets).build()
        assert built is not None  # a budget is given
        return built

    return notion


def _check_swept(name: str | None, lam: tuple[float, ...], side: Side | None) -> None:
    """Refuse a notion that one budget does not make."""
    from discreet.notions import Notion

    if lam and side is not None:
        raise InputError(
            "give --lam or --side, not both: --lam shares every --epsilon out between the sides, and --side leaves one "
            "of them open."
        )
    if name is None:
        return
    fields = {field.name for field in dataclasses.fields(Notion.registry[name])}  # type: ignore[arg-type]
    if not fields & {"epsilon", *SIDES}:
        raise InputError(f"the notion {name} has no budget to sweep: design for it (design --notion {name}).")
    if fields >= SIDES and not lam and side is None:
        raise InputError(
            f"the notion {name} needs --lam or --side: it has a budget for each side. --lam shares every --epsilon "
            "out, such as --lam 0.5 for equal parts; --side upper sweeps the budget of rising beliefs alone."
        )
    if side is not None and not fields >= SIDES:
        raise InputError(
            f"the notion {name} has no --side: it has one budget, which is swept without it. Leave it out, or use the "
            "notion alip, l1, chi2 or alpha-lift."
        )


def _check_endings(paths: tuple[Path, ...]) -> None:
    """Refuse files whose names do not say what to write, before any work is done."""
    for path in paths:
        if path.suffix.lower() not in (".svg", ".png", ".pdf", ".csv", ".json"):
            raise InputError(f"cannot tell the format of {str(path)!r}. Use .svg, .png, .pdf, .csv or .json.")


def _check_numbers(keep: float | None, workers: int | None) -> None:
    """Refuse shares that are none and workers that are too few, before any work is done."""
    if keep is not None and not 0 <= keep <= 1:
        raise InputError(f"--keep must be between 0 and 1, got {keep}.")
    if workers is not None and workers < 1:
        raise InputError(f"--workers must be at least 1, got {workers}.")


def _chosen(given: tuple[str, ...], serving: tuple[str, ...], joint: Joint) -> list[str]:
    """The methods asked for, all that can serve, or the usual two."""
    if "all" in given:
        # Auto is one of the others, and attributes must be several.
        left_out = {"auto"} | ({"independent-attributes"} if len(joint.attributes) < 2 else set())
        return [name for name in serving if name not in left_out]
    best = "optimal" if "optimal" in serving else "auto"
    return list(given) or [name for name in ("subset-merging", best) if name in serving]


def _budgets(text: str) -> list[float]:
    """Numbers out of ``1``, ``0.5,1,2`` or ``0.25:4:16``."""
    try:
        if ":" in text:
            first, last, count = text.split(":")
            low, high, size = float(first), float(last), int(count)
            if not (2 <= size <= MOST_BUDGETS and 0 <= low < high and math.isfinite(high)):
                raise ValueError
            return [low + (high - low) * k / (size - 1) for k in range(size)]
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--epsilon {text!r} is no budget. Give a number, several with commas, or FIRST:LAST:COUNT."
        ) from None
