"""Files of an entry: its numbers and its figure, in digits on which runs and machines agree.

Sums of floats differ from the sixteenth digit on where a processor, a library or the number of threads adds them up in
another order, and what should be zero is then some 1e-17. Designs are given amounts of work and no limit of time, so that
nothing else differs but seconds, which stand in columns of their own name.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet._support import files
from discreet.papers.base import Outcome

__all__ = ["DIGITS", "MEASURED", "csv_text", "rounded", "write_outcome", "write_verdicts"]

#: Digits after the point of a table's numbers, at most: proven optima are known within 1e-7. What is searched with a gap
#: has fewer, which its entry says.
DIGITS = 6

#: How columns end whose seconds a clock told: no two runs have the same.
MEASURED = "measured seconds"

#: Significant digits of such seconds, which differ by some percent between two runs on one machine.
MEASURED_DIGITS = 2

#: Digits after the point of a plot's coordinates, which are in points.
PLOTTED = 2


def write_outcome(output: Path, name: str, outcome: Outcome) -> None:
    """Write the table of an entry, and its figure where it has one."""
    output.mkdir(parents=True, exist_ok=True)
    files.write_text(output / f"{name}.csv", csv_text(outcome.rows))
    if outcome.draw is not None:
        from discreet.figures import figure_bytes

        drawn = figure_bytes(outcome.draw(), "svg").decode("utf-8")
        files.write_text(output / f"{name}.svg", _plotted(drawn))


def write_verdicts(path: Path, rows: Sequence[Mapping[str, Any]], order: Sequence[str]) -> None:
    """Verdicts as a table, beside those on other statements that an earlier run wrote there, in the order of the claims."""
    new = {row["id"]: row for row in rows}
    kept = {row["id"]: row for row in _earlier(path, list(rows[0]) if rows else []) if row["id"] in order}
    files.write_text(path, csv_text([(kept | new)[claim] for claim in order if claim in kept | new]))


def _earlier(path: Path, names: Sequence[str]) -> list[dict[str, str]]:
    """Lines of a table that is there; none where it has other columns."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        found = csv.DictReader(stream)
        return list(found) if found.fieldnames == names else []


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Lines of a table, with as many digits as runs agree on.

    >>> csv_text([{"nmi": 1 / 3, "gap": -1e-17, "measured seconds": 0.01234}])
    'nmi,gap,measured seconds\\n0.333333,0.0,0.012\\n'
    """
    stream = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: rounded(name, value) for name, value in row.items()} for row in rows)
    return stream.getvalue()


def rounded(name: str, value: Any) -> Any:
    """A float as its column has it; all else as it is."""
    if not isinstance(value, float):
        return value
    if name.endswith(MEASURED):
        return float(f"{value:.{MEASURED_DIGITS}g}")
    return round(float(value), DIGITS) + 0.0  # which makes a zero of a negative one


def _plotted(text: str) -> str:
    """A plot whose coordinates have no digits that nobody sees."""
    return re.sub(rf"-?\d+\.\d{{{PLOTTED + 1},}}", lambda found: f"{float(found[0]):.{PLOTTED}f}", text)
