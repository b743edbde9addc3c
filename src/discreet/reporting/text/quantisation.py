"""Paths of partitions as text."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.table import Table

from discreet.quantising import Quantisation, QuantisationPath
from discreet.reporting.formats import number
from discreet.reporting.text.console import bold

__all__ = ["quantisation_text"]


def quantisation_text(
    paths: Sequence[QuantisationPath], weights: Sequence[float] = (), chosen: Quantisation | None = None
) -> Group:
    """The frontier of every method: what is left of S, and what it costs."""
    parts: list[Any] = []
    for path in paths:
        title = f"{path.method}, {path.objective}, {path.utility}: points that no other of the path beats"
        table = Table(box=None, pad_edge=False, title=title, title_justify="left")
        for name in ("k", "L0 (bits)", "I* (bits)", "values", "largest block", "loss", "distortion", "limit"):
            table.add_column(name, justify="right")
        table.add_column("status")
        for point in path.frontier():
            table.add_row(
                str(point.k),
                f"{point.leakage_bits:.4f}",
                f"{point.maximin_bits:.4f}",
                str(len(point.blocks)),
                str(point.largest_block),
                f"{point.loss:.4f}",
                "" if point.distortion is None else number(point.distortion),
                "" if point.bound is None else number(point.bound),
                point.status,
            )
        parts += [table, *(_stop_sentence(path, weight) for weight in weights), ""]
    if chosen is not None:
        far = "" if chosen.distortion is None else f", distortion {number(chosen.distortion)}"
        parts.append(
            bold(f"Chosen: k {chosen.k}")
            + f" with {len(chosen.blocks)} values, largest block {chosen.largest_block}{far} ({chosen.status})."
        )
    return Group(*parts)


def _stop_sentence(path: QuantisationPath, weight: float) -> str:
    point = path.best(weight)
    return f"At weight {weight:g} it stops at k {point.k}, largest block {point.largest_block}."
