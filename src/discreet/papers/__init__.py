"""The figures and stated numbers of the papers, computed anew and put beside what the papers say."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discreet._support import files, progress, validate
from discreet._support.errors import InputError
from discreet.papers import df20, lts20, zds22, zds23
from discreet.papers.base import (
    ENTRIES,
    TOLERANCE,
    Answer,
    Claim,
    MissingDataError,
    Outcome,
    Setting,
    answered,
    claims,
)

__all__ = ["ENTRIES", "Verdict", "as_row", "claims", "reproduce", "results_page"]

_PAPERS = (zds22, zds23, lts20, df20)  # importing them registers their entries

AGREES, DIFFERS, NOT_COMPUTED = "agrees", "differs", "not computed"


class Verdict(NamedTuple):
    """One line of the result: what a paper states, what we get, and what that comes to."""

    claim: Claim
    got: str
    verdict: str
    note: str
    is_close: bool = False  # a number within .01 of print, or within its last digit


def reproduce(
    names: Sequence[str] = ("all",),
    output: Path | None = None,
    *,
    quick: bool = False,
    data: Path | None = None,
) -> list[Verdict]:
    """Compute entries anew; with an output folder, write a figure and a CSV for each, and a table of all verdicts.

    Parameters
    ----------
    names : sequence of str
        Names of entries, short names of papers such as ``zds23``, or ``all``.
    output : Path, optional
        Folder that is made where it is missing.
    quick : bool
        Fewer joints and budgets.
    data : Path, optional
        Folder with data files that the package does not ship.
    """
    chosen = _chosen(names)
    setting = Setting(quick, data)
    answers: dict[str, Answer] = {}
    missing: dict[str, str] = {}
    with progress.stage("reproducing") as stage:
        for number, name in enumerate(chosen):
            stage.update(number, len(chosen))
            with progress.stage(f"reproducing {name}"):
                try:
                    outcome = ENTRIES[name].compute(setting)
                except MissingDataError as error:
                    missing[name] = str(error)
                    continue
                answers |= outcome.answers
                if output is not None:
                    _write(output, name, outcome)
    verdicts = [_verdict(claim, answers.get(claim.id), missing.get(claim.figure)) for claim in _asked(chosen)]
    if output is not None:
        files.write_text(output / "verdicts.csv", _csv([as_row(verdict) for verdict in verdicts]))
    return verdicts


def _chosen(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names or ("all",):
        lowered = name.lower()
        some = [key for key in ENTRIES if lowered in ("all", key) or key.startswith(f"{lowered}-")]
        if not some:
            near = validate.closest(lowered, ENTRIES)
            raise InputError(f"nothing called {name!r} to reproduce.{near} There are: {', '.join(ENTRIES)}.")
        found += [key for key in some if key not in found]
    return found


def _asked(chosen: Iterable[str]) -> list[Claim]:
    names = set(chosen)
    everything = names == set(ENTRIES)
    return [claim for claim in claims().values() if everything or claim.figure in names]


def _verdict(claim: Claim, answer: Answer | None, missing: str | None) -> Verdict:
    if answer is None:
        return Verdict(claim, "", NOT_COMPUTED, missing or NOT_ANSWERED.get(claim.id, "no computation answers it"))
    if answer.basis != "computed":
        return Verdict(claim, _shown(answer.value), answer.basis, answer.note)
    agrees = answered(claim, answer)
    word = NOT_COMPUTED if agrees is None else AGREES if agrees else DIFFERS
    close = claim.kind == "number" and answered(claim, answer._replace(agrees=None, tolerance=TOLERANCE)) is True
    return Verdict(claim, _shown(answer.value), word, answer.note, close)


#: Statements that nothing here decides, and why.
NOT_ANSWERED: dict[str, str] = {
    claim: reason for paper in _PAPERS for claim, reason in getattr(paper, "NOT_ANSWERED", {}).items()
}


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else str(value)
    return str(value)


def _write(output: Path, name: str, outcome: Outcome) -> None:
    output.mkdir(parents=True, exist_ok=True)
    files.write_text(output / f"{name}.csv", _csv(outcome.rows))
    if outcome.draw is not None:
        from discreet.figures import figure_bytes

        files.write_bytes(output / f"{name}.svg", figure_bytes(outcome.draw(), "svg"))


def _csv(rows: Sequence[Any]) -> str:
    stream = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def as_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a line of a table."""
    claim = verdict.claim
    said = _shown(claim.value)
    return {
        "id": claim.id,
        "paper": claim.paper,
        "where": claim.where,
        "claim": claim.claim,
        "kind": claim.kind,
        "said": said,
        "got": verdict.got,
        "unit": claim.unit,
        "verdict": verdict.verdict,
        "note": verdict.note,
    }


def results_page(verdicts: Sequence[Verdict], *, version: str, quick: bool, seconds: float) -> str:
    """The verdicts as a page of the documentation."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    numbers = [verdict for verdict in verdicts if verdict.claim.kind == "number"]
    lines = [
        "# What the papers say, and what we get",
        "",
        f"Made by `discreet reproduce all{' --quick' if quick else ''}` on {day} with discreet {version}, "
        f"in {seconds:.0f} s.",
        "",
        f"{len(verdicts)} statements: {_counts(verdicts)}. {len(numbers)} of them are numbers: {_counts(numbers)}; "
        f"{sum(v.is_close for v in numbers)} computed ones are within .01 of print or within their last printed digit, "
        "the others that agree are percentages or extremes of random draws, which get the room that they need.",
        "",
        "*Argued* means that a sentence answers and nothing was computed; *given* is a setting rather than a result; "
        "*drawn* is a figure, whose numbers are in its CSV.",
        "",
    ]
    for paper in dict.fromkeys(verdict.claim.paper for verdict in verdicts):
        lines += [f"## {paper}", "", "| where | the paper says | said | we get | verdict |", "|---|---|---|---|---|"]
        for verdict in verdicts:
            if verdict.claim.paper == paper:
                claim = verdict.claim
                word = verdict.verdict if not verdict.note else f"{verdict.verdict}: {verdict.note}"
                cells = [claim.where, claim.claim, _shown(claim.value), verdict.got, word]
                lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _counts(verdicts: Sequence[Verdict]) -> str:
    words = (AGREES, DIFFERS, "argued", "given", "drawn", NOT_COMPUTED)
    found = {word: sum(verdict.verdict == word for verdict in verdicts) for word in words}
    return ", ".join(f"{number} {word}" for word, number in found.items() if number)
