"""Designs over a range of budgets: the frontier between privacy and utility.

Budgets are designed in chains of neighbours, and the optimum starts each design from its neighbour's mechanism.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from discreet._support.errors import InputError, UnknownMethodError
from discreet._support.progress import stage as new_stage
from discreet.core.joint import Joint
from discreet.designers import METHODS
from discreet.designers import methods as methods_for
from discreet.designers.registry import BUILT_IN, Method, any_notion
from discreet.frontiers.record import Frontier
from discreet.frontiers.rows import Family, FrontierRow, carried, designed_row, notion_at, options_of
from discreet.notions import Notion
from discreet.utilities import Utility, utility_of

__all__ = ["Frontier", "FrontierRow", "frontier"]

#: Budgets of one chain, in which each design starts from the one before; fixed, so that the number of workers
#: does not change the result.
CHAIN = 6

#: Methods that can start from a mechanism.
STARTABLE = {"optimal"}


def frontier(
    joint: Joint,
    family: Family,
    epsilons: Sequence[float],
    methods: Sequence[str] = ("optimal",),
    *,
    utility: str | Utility = "information",
    invariant: bool = False,
    lams: Sequence[float] | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Frontier:
    """Sweep the budget over several methods.

    Parameters
    ----------
    joint : Joint
        P(s, x).
    family : callable
        From epsilon to a notion, such as `LIP`, or from (epsilon, lam) where ``lams`` are given, such as
        `ALIP.split`. A larger epsilon must be a weaker promise. A function such as
        ``lambda epsilon: L1Lift(eps_upper=epsilon)`` sweeps one side and leaves the other open.
    epsilons : sequence of float
        Budgets, nats.
    methods : sequence of str
        Names of methods; see `discreet.methods`.
    utility, invariant
        What is kept, and whether published values keep their distribution; see `discreet.design`.
    lams : sequence of float, optional
        Values of lam to sweep as well.
    workers : int
        Processes that work in parallel. More than one needs the usual ``if __name__ == "__main__"`` in scripts.
    progress : callable, optional
        Called with the number of designs finished and the number in all.
    **options
        Passed to every method that takes them: ``seed`` and ``time_limit``, the latter for each design.

    Returns
    -------
    Frontier
        The same rows whatever the number of workers.

    Examples
    --------
    >>> from discreet import LIP, Joint
    >>> sweep = frontier(Joint.random(3, 6, seed=1), LIP, [0.2, 0.4, 0.8], methods=["subset-merging", "optimal"])
    >>> [round(row.nmi, 3) for row in sweep.best()]
    [0.713, 0.818, 0.916]
    >>> sweep.smallest_epsilon(nmi=0.9) <= 0.8
    True
    """
    epsilons, methods = _listed(epsilons, "epsilons"), tuple(dict.fromkeys(_listed(methods, "methods")))
    lams = None if lams is None else _listed(lams, "lams")
    budgets = _checked(epsilons, methods, family, lams)
    unknown = sorted(set(options) - {"seed", "time_limit"})
    if unknown:
        raise InputError(f"frontier has no option {unknown[0]!r}.")
    options = {"utility": utility_of(utility, invariant=invariant), **options}
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers must be an integer of at least 1, got {workers!r}.")
    tasks = [
        _Chain(
            joint,
            [(epsilon, lam, notion_at(family, epsilon, lam)) for epsilon in chain],
            method,
            options_of(method, options),
        )
        for method in methods
        for lam in (lams or (None,))
        for chain in _chunks(budgets, CHAIN)
    ]
    total = sum(len(task.budgets) for task in tasks)
    rows: list[FrontierRow] = []
    with new_stage("sweeping budgets") as stage:
        for found in _results(tasks, workers):
            rows += found
            last = rows[-1]
            detail = f"{last.method} keeps {last.kept:.4f} at {last.epsilon:g}"
            stage.update(len(rows), total, detail=detail)
            if progress is not None:
                progress(len(rows), total)
    return Frontier(joint, tuple(carried(rows)), family, options)


def _listed(values: Any, name: str) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list, got {type(values).__name__}.")
    return list(values)


def _checked(
    epsilons: Sequence[float], methods: Sequence[str], family: Family, lams: Sequence[float] | None
) -> list[float]:
    if not len(epsilons) or not len(methods) or (lams is not None and not len(lams)):
        raise InputError("a frontier needs at least one epsilon and one method, and lams at least one where given.")
    try:
        budgets = sorted({float(epsilon) for epsilon in epsilons})
    except (TypeError, ValueError):
        raise InputError("epsilons must be numbers.") from None
    serving = methods_for(notion_at(family, budgets[0], lams[0] if lams else None))
    for name in methods:
        if name not in serving:
            if callable(name):
                raise InputError("a frontier takes methods by name: register the function first (register_method).")
            raise UnknownMethodError(f"no method {name!r} serves this notion. There are: {', '.join(serving)}.")
    return budgets


def _chunks(values: Sequence[float], size: int) -> list[Sequence[float]]:
    return [values[k : k + size] for k in range(0, len(values), size)]


@dataclass(frozen=True)
class _Chain:
    """Neighbouring budgets of one method: designed one after the other, the next from the last."""

    joint: Joint
    budgets: list[tuple[float, float | None, Notion]]
    method: str
    options: dict[str, Any]


def _run(chain: _Chain) -> list[FrontierRow]:
    rows: list[FrontierRow] = []
    for epsilon, lam, notion in chain.budgets:
        start = rows[-1].design if rows and chain.method in STARTABLE else None
        rows.append(designed_row(chain.joint, notion, epsilon, lam, chain.method, chain.options, start))
    return rows


def _results(tasks: list[_Chain], workers: int) -> Iterator[list[FrontierRow]]:
    if workers <= 1 or len(tasks) == 1:
        yield from map(_run, tasks)
        return
    # Forked children would share locks with the threads of table engines; spawned ones start clean.
    outside = {task.method for task in tasks} - BUILT_IN
    own = {name: dataclasses.replace(METHODS[name], serves=any_notion) for name in outside}
    context = get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(tasks)), context, _introduce, (own,)) as pool:
        yield from pool.map(_run, tasks)


def _introduce(own: dict[str, Method]) -> None:
    """Methods registered in the process that asks become known in one that works for it."""
    METHODS.update(own)
