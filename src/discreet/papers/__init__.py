"""The figures and stated numbers of the papers, computed anew and put beside what the papers say."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from discreet._support import progress, validate
from discreet._support.errors import InputError
from discreet.papers import df20, lts20, zds22, zds23
from discreet.papers.base import ENTRIES, TOLERANCE, Answer, Claim, MissingDataError, Setting, answered, claims
from discreet.papers.gallery import write_gallery
from discreet.papers.page import results_page
from discreet.papers.verdict import AGREES, DIFFERS, NOT_COMPUTED, Verdict, as_row, shown
from discreet.papers.writing import write_outcome, write_verdicts

__all__ = ["ENTRIES", "Verdict", "as_row", "chosen", "claims", "reproduce", "results_page", "write_gallery"]

_PAPERS = (zds22, zds23, lts20, df20)  # importing them registers their entries


def reproduce(
    names: Sequence[str] = ("all",),
    output: Path | None = None,
    *,
    quick: bool = False,
    data: Path | None = None,
    workers: int = 1,
) -> list[Verdict]:
    """Compute entries anew; with an output folder, write a figure and a CSV for each, and a table of all verdicts.

    Numbers have at most six digits after the point, on which runs and machines agree. Columns of ``measured seconds``, and what
    verdicts say about time, are told by a clock and differ from run to run.

    Parameters
    ----------
    names : sequence of str
        Names of entries, short names of papers such as ``zds23``, or ``all``.
    output : Path, optional
        Folder that is made where it is missing. Verdicts on other entries that it has stay in ``verdicts.csv``.
    quick : bool
        Fewer joints and budgets.
    data : Path, optional
        Folder with data files that the package does not ship.
    workers : int
        Processes that compute entries beside each other. Verdicts do not depend on it, seconds do.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers must be an integer of at least 1, got {workers!r}.")
    picked = chosen(names)
    answers: dict[str, Answer] = {}
    missing: dict[str, str] = {}
    with progress.stage("reproducing") as stage:
        tasks = [_Task(name, quick, data, output) for name in picked]
        for number, (task, found) in enumerate(_results(tasks, workers), 1):
            stage.update(number, len(picked), detail=task.name)
            if isinstance(found, str):
                missing[task.name] = found
            else:
                answers |= found
    asked = _asked(picked, answers, missing)
    verdicts = [_verdict(claim, answers.get(claim.id), missing.get(claim.figure)) for claim in asked]
    if output is not None:
        write_verdicts(output / "verdicts.csv", [as_row(verdict) for verdict in verdicts], list(claims()))
    return verdicts


class _Task(NamedTuple):
    """One entry, in a form that another process can be handed."""

    name: str
    quick: bool
    data: Path | None
    output: Path | None


def _run(task: _Task) -> dict[str, Answer] | str:
    """Answers of an entry, its figure and table written; or which data file it lacks."""
    with progress.stage(f"reproducing {task.name}"):
        try:
            outcome = ENTRIES[task.name].compute(Setting(task.quick, task.data))
        except MissingDataError as error:
            return str(error)
        if task.output is not None:
            write_outcome(task.output, task.name, outcome)
        return dict(outcome.answers)


def _results(tasks: Sequence[_Task], workers: int) -> Iterator[tuple[_Task, dict[str, Answer] | str]]:
    if workers <= 1 or len(tasks) == 1:
        yield from ((task, _run(task)) for task in tasks)
        return
    # Forked children would share locks with the threads of table engines; spawned ones start clean.
    with ProcessPoolExecutor(min(workers, len(tasks)), get_context("spawn")) as pool:
        running = {pool.submit(_run, task): task for task in tasks}
        for done in as_completed(running):
            yield running[done], done.result()


def chosen(names: Sequence[str]) -> list[str]:
    """Entries by their names, those of a paper by its short name, or all."""
    found: list[str] = []
    for name in names or ("all",):
        lowered = name.lower()
        some = [key for key in ENTRIES if lowered in ("all", key) or key.startswith(f"{lowered}-")]
        if not some:
            near = validate.closest(lowered, ENTRIES)
            raise InputError(f"nothing called {name!r} to reproduce.{near} There are: {', '.join(ENTRIES)}.")
        found += [key for key in some if key not in found]
    return found


def _asked(picked: Iterable[str], answers: Mapping[str, Answer], missing: Mapping[str, str]) -> list[Claim]:
    """Statements that were answered or cannot be; what an entry that was not picked answers is left to it."""
    names = set(picked)
    everything = names == set(ENTRIES)
    open_ = {claim.id for claim in claims().values() if claim.figure in names and _is_open(claim, missing)}
    return [claim for claim in claims().values() if everything or claim.id in answers or claim.id in open_]


def _is_open(claim: Claim, missing: Mapping[str, str]) -> bool:
    """Whether no entry answers a statement: it is on record why, or data files are not there."""
    return claim.id in NOT_ANSWERED or claim.figure in missing


def _verdict(claim: Claim, answer: Answer | None, missing: str | None) -> Verdict:
    if answer is None:
        return Verdict(claim, "", NOT_COMPUTED, missing or NOT_ANSWERED.get(claim.id, "no computation answers it"))
    if answer.basis != "computed":
        return Verdict(claim, shown(answer.value), answer.basis, answer.note)
    agrees = answered(claim, answer)
    word = NOT_COMPUTED if agrees is None else AGREES if agrees else DIFFERS
    close = claim.kind == "number" and answered(claim, answer._replace(agrees=None, tolerance=TOLERANCE)) is True
    return Verdict(claim, shown(answer.value), word, answer.note, close)


#: Statements that nothing here decides, and why.
NOT_ANSWERED: dict[str, str] = {
    claim: reason for paper in _PAPERS for claim, reason in getattr(paper, "NOT_ANSWERED", {}).items()
}
