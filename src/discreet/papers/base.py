"""Entries of the reproduction: a seeded computation, a figure, a table, and answers to what a paper states."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError
from discreet.papers.tested import TESTED, Tested

__all__ = [
    "ENTRIES",
    "Answer",
    "Claim",
    "Entry",
    "Outcome",
    "Setting",
    "answered",
    "argued",
    "as_drawn",
    "claims",
    "entry",
    "given",
]

#: What answers a figure.
SHOWN = "see the figure and its CSV"

#: A stated number is met within this, or within half a unit of its last digit where that is more.
TOLERANCE = 0.01

#: Where a paper says "clearly" or "much" of curves, ours are apart by this on the mean of the budgets: what a number may be off.
CLEAR = TOLERANCE

#: Where it says "much" or "far" of two sizes, the larger is at least as many times the smaller.
MUCH = 2.0


class Claim(NamedTuple):
    """What a paper states."""

    id: str
    paper: str
    where: str
    figure: str
    claim: str
    value: Any
    unit: str
    kind: str


class Answer(NamedTuple):
    """What was found: a number or a truth value, and why it differs where it does.

    ``agrees`` left out: decided by the tolerance, or by the truth value itself. Only what was ``computed`` can agree or
    differ; the rest is ``argued`` in a sentence, ``given`` as the setting of a computation, or ``drawn`` as a figure.
    """

    value: Any
    note: str = ""
    agrees: bool | None = None
    tolerance: float = TOLERANCE
    basis: str = "computed"


def argued(value: Any, reason: str) -> Answer:
    """An answer by a sentence: nothing was computed."""
    return Answer(value, reason, basis="argued")


def as_drawn(words: str = "") -> Answer:
    """A figure is answered by drawing it; words say what it was computed from."""
    return Answer(True, f"{words}; {SHOWN}" if words else SHOWN, basis="drawn")


def given(value: Any) -> Answer:
    """A number that is not a result: what a computation here was set to as well."""
    return Answer(value, "a setting, used here as well", basis="given")


@dataclass(frozen=True)
class Setting:
    """How much is computed, where data files lie that are not part of the package, and what is put to the test."""

    quick: bool = False
    data: Path | None = None
    tested: Tested = TESTED

    def joints(self, full: int, quick: int) -> int:
        """How many random joints are drawn."""
        return quick if self.quick else full

    def file(self, name: str) -> Path:
        """A data file; an error that says what is missing where there is none."""
        if self.data is None or not (self.data / name).is_file():
            raise MissingDataError(f"{name} is not there; name the folder that has it with --data.")
        return self.data / name


class MissingDataError(InputError):
    """A data file that an entry needs is not at hand."""


@dataclass(frozen=True)
class Outcome:
    """What an entry computed.

    Attributes
    ----------
    rows : list of dict
        Numbers behind the figure, one line each.
    answers : dict
        Answer to every claim that the entry speaks to, by the claim's id.
    draw : callable, optional
        Makes the figure.
    """

    rows: Sequence[Mapping[str, Any]]
    answers: Mapping[str, Answer]
    draw: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Entry:
    """One figure or group of statements of a paper."""

    name: str
    title: str
    compute: Callable[[Setting], Outcome] = field(repr=False)

    @property
    def paper(self) -> str:
        """Short name of the paper."""
        return self.name.partition("-")[0].upper()


ENTRIES: dict[str, Entry] = {}


def entry(name: str, title: str) -> Callable[[Callable[[Setting], Outcome]], Callable[[Setting], Outcome]]:
    """Register a computation under a name."""

    def register(compute: Callable[[Setting], Outcome]) -> Callable[[Setting], Outcome]:
        ENTRIES[name] = Entry(name, title, compute)
        return compute

    return register


def claims() -> dict[str, Claim]:
    """Everything that the papers state, by id."""
    found: dict[str, Claim] = {}
    folder = resources.files("discreet.papers") / "claims"
    for path in sorted(folder.iterdir(), key=lambda p: p.name):
        if path.name.endswith(".json"):
            paper = path.name.removesuffix(".json").upper()
            for row in json.loads(path.read_text(encoding="utf-8")):
                found[row["id"]] = Claim(
                    row["id"], paper, row["where"], row["figure"], row["claim"], row["value"], row["unit"], row["kind"]
                )
    return found


def answered(claim: Claim, answer: Answer) -> bool | None:
    """Whether an answer agrees with a claim; None where that cannot be said."""
    if answer.agrees is not None or answer.value is None:
        return answer.agrees
    if isinstance(answer.value, bool | np.bool_):
        return bool(answer.value)
    if claim.value is None:
        return None
    said = claim.value if isinstance(claim.value, list) else [claim.value]
    got = list(answer.value) if isinstance(answer.value, list | tuple) else [answer.value]
    if len(said) != len(got):
        return False
    return all(_close(s, g, answer.tolerance) for s, g in zip(said, got))


def _close(said: Any, got: Any, tolerance: float) -> bool:
    if isinstance(said, str) or isinstance(got, str):
        return str(said) == str(got)
    digits = len(repr(float(said)).partition(".")[2]) if float(said) != int(said) else 0
    room = max(tolerance, 0.5 * 10.0**-digits)
    return math.isclose(float(said), float(got), rel_tol=0, abs_tol=room + 1e-12)
