"""Designs over a range of budgets: the frontier between privacy and utility, its knee, and the smallest budget.

A promise with a smaller budget is the stronger one, so a mechanism designed for it serves every larger budget too.
Only the true optimum grows with the budget by itself: greedy methods do not, so each row keeps the best mechanism of
its own and of all smaller budgets. The optimum starts each design from its neighbour's mechanism.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import dataclasses
import html
import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._support import files, jsonable
from discreet._support.errors import InputError, UnknownMethodError
from discreet.core.joint import Joint
from discreet.designers import METHODS, Design, design
from discreet.designers import methods as methods_for
from discreet.designers.design import status_of
from discreet.designers.registry import BUILT_IN, Method, any_notion
from discreet.notions import Notion
from discreet.utilities import Information, Utility, utility_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Frontier", "FrontierRow", "frontier"]

Family = Callable[..., Notion]

#: Budgets of one chain, in which each design starts from the one before; fixed, so that the number of workers
#: does not change the result.
CHAIN = 6

#: Budgets closer than this are one answer to `Frontier.smallest_epsilon`, nats.
EPSILON_TOLERANCE = 1e-3

#: Methods that can start from a mechanism.
STARTABLE = {"optimal"}


@dataclass(frozen=True)
class FrontierRow:
    """One budget, one method: what is kept and what leaks. Leakages in nats.

    ``kept`` is the share of the utility, for information the same as ``nmi``; ``bound`` and ``status`` speak of it.
    """

    epsilon: float
    lam: float | None
    method: str
    nmi: float
    kept: float
    bound: float | None
    status: str
    log_max_lift: float
    log_min_lift: float
    released: int
    reads_sensitive: bool
    seconds: float
    designed_for: float  # the budget of the mechanism, smaller than epsilon where that one keeps more
    design: Design = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "design"}


@dataclass(frozen=True)
class Frontier:
    """Rows of `frontier`, by method, lam and epsilon, and questions to ask of them.

    Shares that are asked for are shares of the utility that was swept, NMIs where that is information.
    """

    joint: Joint = field(repr=False)
    rows: tuple[FrontierRow, ...]
    family: Family = field(repr=False)
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    def curves(self) -> dict[tuple[str, float | None], tuple[FrontierRow, ...]]:
        """Rows of every (method, lam), by growing epsilon."""
        ordered = sorted(self.rows, key=lambda row: (row.method, row.lam or 0.0, row.epsilon))
        groups = itertools.groupby(ordered, key=lambda row: (row.method, row.lam))
        return {key: tuple(rows) for key, rows in groups}

    def best(self) -> tuple[FrontierRow, ...]:
        """The row that keeps most at every epsilon."""
        result: dict[float, FrontierRow] = {}
        for row in sorted(self.rows, key=lambda row: row.epsilon):
            if row.epsilon not in result or row.kept > result[row.epsilon].kept:
                result[row.epsilon] = row
        return tuple(result.values())

    def knee(self) -> FrontierRow:
        """Where more budget begins to buy little: the best row furthest above the line from first to last."""
        best = self.best()
        first, last = best[0], best[-1]
        width, height = last.epsilon - first.epsilon, last.kept - first.kept

        def above(row: FrontierRow) -> float:
            along = (row.epsilon - first.epsilon) / width if width > 0 else 0.0
            return (row.kept - first.kept) / height - along if height > 0 else -along

        return max(best, key=above)

    def smallest_epsilon(self, nmi: float = 0.9) -> float:
        """The smallest budget found at which a share ``nmi`` of X is kept, within 1e-3 nats.

        Scans the rows, then halves the step before the first row that keeps enough, with that row's method.

        Raises
        ------
        InputError
            No row keeps as much.
        """
        return self.smallest(nmi).epsilon

    def smallest(self, nmi: float = 0.9) -> FrontierRow:
        """The row of the smallest budget found at which a share ``nmi`` of X is kept, with its design."""
        if not 0 <= nmi <= 1:
            raise InputError(f"nmi must be between 0 and 1, got {nmi:g}.")
        best = self.best()
        enough = [k for k, row in enumerate(best) if row.kept >= nmi]
        if not enough:
            most = max(best, key=lambda row: row.kept)
            raise InputError(
                f"no budget of the frontier keeps {100 * nmi:g} % of X; epsilon {most.epsilon:g} keeps "
                f"{100 * most.kept:.4g} %. Sweep larger budgets."
            )
        found = best[enough[0]]
        low = best[enough[0] - 1].epsilon if enough[0] else 0.0
        while found.epsilon - low > EPSILON_TOLERANCE:
            middle = (low + found.epsilon) / 2
            tried = _row(self.joint, self.family, middle, found.lam, found.method, self.options, None)
            low, found = (low, tried) if tried.kept >= nmi else (middle, found)
        return found

    def to_dict(self) -> dict[str, Any]:
        """All rows and the knee as plain data."""
        return {"rows": [row.to_dict() for row in self.rows], "knee": self.knee().to_dict()}

    def to_csv(self) -> str:
        """All rows as CSV."""
        stream = io.StringIO()
        records = [row.to_dict() for row in self.rows]
        writer = csv.DictWriter(stream, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return stream.getvalue()

    def plot(self) -> Figure:
        """Utility and both leakages against epsilon; needs the extra ``plots``."""
        from discreet.reporting.figures import frontier_figure

        return frontier_figure(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as .csv, .json, .svg, .png or .pdf, by the name's ending."""
        suffix = Path(path).suffix.lower()
        if suffix == ".csv":
            files.write_text(path, self.to_csv())
        elif suffix == ".json":
            files.write_text(path, jsonable.dumps(self.to_dict()) + "\n")
        elif suffix in (".svg", ".png", ".pdf"):
            from discreet.reporting.figures import figure_bytes

            files.write_bytes(path, figure_bytes(self.plot(), suffix[1:]))
        else:
            raise InputError(f"cannot tell the format of {str(path)!r}. Use .csv, .json, .svg, .png or .pdf.")

    def __repr__(self) -> str:
        methods = sorted({row.method for row in self.rows})
        epsilons = [row.epsilon for row in self.rows]
        knee = self.knee()
        return (
            f"Frontier({', '.join(methods)}: {len(self.rows)} rows, epsilon {min(epsilons):g} to {max(epsilons):g}; "
            f"knee at epsilon {knee.epsilon:g}, {self._word} {knee.kept:.4f})"
        )

    @property
    def _word(self) -> str:
        """What a share of the utility is called."""
        utility = self.rows[0].design.utility
        return "NMI" if utility == Information.name else utility

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{html.escape(name)}</th>" for name in ("method", "lam", "epsilon", self._word, "limit", "status")
        )
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(cell)}</td>"
                for cell in (
                    row.method,
                    "" if row.lam is None else f"{row.lam:g}",
                    f"{row.epsilon:g}",
                    f"{row.kept:.4f}",
                    "" if row.bound is None else f"{row.bound:.4f}",
                    row.status,
                )
            )
            + "</tr>"
            for row in self.rows
        )
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"


def frontier(
    joint: Joint,
    family: Family,
    epsilons: Sequence[float],
    methods: Sequence[str] = ("optimal",),
    *,
    utility: str | Utility = "information",
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
        `ALIP.split`. A larger epsilon must be a weaker promise.
    epsilons : sequence of float
        Budgets, nats.
    methods : sequence of str
        Names of methods; see `discreet.methods`.
    utility : str or Utility
        What is kept; see `discreet.design`.
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
    options = {"utility": utility_of(utility), **options}
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers must be an integer of at least 1, got {workers!r}.")
    tasks = [
        _Chain(
            joint,
            [(epsilon, lam, _notion(family, epsilon, lam)) for epsilon in chain],
            method,
            _options_of(method, options),
        )
        for method in methods
        for lam in (lams or (None,))
        for chain in _chunks(budgets, CHAIN)
    ]
    total = sum(len(task.budgets) for task in tasks)
    rows: list[FrontierRow] = []
    for found in _results(tasks, workers):
        rows += found
        if progress is not None:
            progress(len(rows), total)
    return Frontier(joint, tuple(_carried(rows)), family, options)


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
    serving = methods_for(_notion(family, budgets[0], lams[0] if lams else None))
    for name in methods:
        if name not in serving:
            raise UnknownMethodError(f"no method {name!r} serves this notion. There are: {', '.join(serving)}.")
    return budgets


def _notion(family: Family, epsilon: float, lam: float | None) -> Notion:
    try:
        notion = family(epsilon) if lam is None else family(epsilon, lam)
    except TypeError:
        given = "epsilon alone" if lam is None else "epsilon and lam"
        raise InputError(f"the family does not take {given}. Give lams exactly where it takes them.") from None
    if not isinstance(notion, Notion):
        raise InputError(f"the family must return a notion, got {type(notion).__name__}.")
    return notion


def _options_of(method: str, options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name == "utility" or METHODS[method].takes(name)}


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
        rows.append(_designed(chain.joint, notion, epsilon, lam, chain.method, chain.options, start))
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


def _row(
    joint: Joint,
    family: Family,
    epsilon: float,
    lam: float | None,
    method: str,
    options: dict[str, Any],
    start: Design | None,
) -> FrontierRow:
    notion = _notion(family, epsilon, lam)
    return _designed(joint, notion, epsilon, lam, method, _options_of(method, options), start)


def _designed(
    joint: Joint,
    notion: Notion,
    epsilon: float,
    lam: float | None,
    method: str,
    options: dict[str, Any],
    start: Design | None,
) -> FrontierRow:
    more = options if start is None else {**options, "start": start.mechanism}
    result = design(joint, notion, method, **more)
    return _as_row(result, epsilon, lam, epsilon)


def _as_row(result: Design, epsilon: float, lam: float | None, designed_for: float) -> FrontierRow:
    figures = result.to_dict()
    return FrontierRow(
        epsilon=epsilon,
        lam=lam,
        designed_for=designed_for,
        design=result,
        **{
            name: figures[name]
            for name in (
                "method",
                "nmi",
                "kept",
                "bound",
                "status",
                "log_max_lift",
                "log_min_lift",
                "released",
                "reads_sensitive",
                "seconds",
            )
        },
    )


def _carried(rows: list[FrontierRow]) -> Iterator[FrontierRow]:
    """Each row with the best mechanism of its own and of smaller budgets; checked again under its own notion."""
    best: dict[tuple[str, float | None], FrontierRow] = {}
    for row in rows:
        key = (row.method, row.lam)
        before = best.get(key)
        kept = row
        if (
            before is not None
            and before.kept > row.kept
            and row.design.notion.holds(row.design.joint, before.design.mechanism)
        ):
            bound = None if row.bound is None else max(row.bound, before.kept)
            carried = dataclasses.replace(
                before.design,
                notion=row.design.notion,
                bound=bound,
                status=status_of(before.kept, bound),
                proof=row.design.proof,
                seconds=row.seconds,
            )
            kept = _as_row(carried, row.epsilon, row.lam, before.designed_for)
        best[key] = kept
        yield kept
