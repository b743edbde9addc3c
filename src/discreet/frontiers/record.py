"""`Frontier`: the rows of a sweep, its best, its knee, its smallest budget, and files of it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import html
import io
import itertools
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._support import files, jsonable
from discreet._support.errors import InputError
from discreet._support.visible import visible
from discreet.core.joint import Joint
from discreet.frontiers.rows import Family, FrontierRow, row_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Frontier"]

#: Budgets closer than this are one answer to `Frontier.smallest_epsilon`, nats.
EPSILON_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Frontier:
    """Rows of `frontier`, by method, lam and epsilon, and questions to ask of them.

    Shares that are asked for are shares of the utility that was swept, NMIs where that is information.
    """

    joint: Joint = field(repr=False)
    rows: tuple[FrontierRow, ...]
    family: Family = field(repr=False)
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def swept(self) -> str:
        """What is swept, in words: epsilon, or epsilon of the one side that is limited."""
        side = self.rows[0].side
        return "epsilon" if side is None else f"epsilon of the {side} side"

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

        Where the frontier was swept for another utility than information, the share is that of its whole (``kept``).

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
            tried = row_at(self.joint, self.family, middle, found.lam, found.method, self.options, None)
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
        from discreet.figures import frontier_figure

        return frontier_figure(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as .csv, .json, .svg, .png or .pdf, by the name's ending."""
        suffix = Path(path).suffix.lower()
        if suffix == ".csv":
            files.write_text(path, self.to_csv())
        elif suffix == ".json":
            files.write_text(path, jsonable.dumps(self.to_dict()) + "\n")
        elif suffix in (".svg", ".png", ".pdf"):
            from discreet.figures import figure_bytes

            files.write_bytes(path, figure_bytes(self.plot(), suffix[1:]))
        else:
            raise InputError(f"cannot tell the format of {str(path)!r}. Use .csv, .json, .svg, .png or .pdf.")

    def __repr__(self) -> str:
        methods = sorted({row.method for row in self.rows})
        epsilons = [row.epsilon for row in self.rows]
        knee = self.knee()
        return visible(
            f"Frontier({', '.join(methods)}: {len(self.rows)} rows, "
            f"{self.swept} {min(epsilons):g} to {max(epsilons):g}; "
            f"knee at epsilon {knee.epsilon:g}, {self.rows[0].design.kept_name} {knee.kept:.4f})"
        )

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{html.escape(name)}</th>"
            for name in ("method", "lam", "epsilon", self.rows[0].design.kept_name, "limit", "status")
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
