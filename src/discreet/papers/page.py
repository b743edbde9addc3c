"""The verdicts as a page of the documentation, each with the mutation that turns it red."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Sequence

from discreet.papers.mutations import turned_red
from discreet.papers.verdict import AGREES, WORDS, Verdict, counted, counts, shown

__all__ = ["cell", "results_page"]

#: Verdicts of earlier runs.
EARLIER = {
    "2026-11-16, before every check had a source of its own": (232, 32, 34, 6, 47, 12),
    "2026-11-18, with curves compared on the mean of their budgets": (244, 28, 31, 7, 46, 7),
    "2026-11-18, with curves compared budget by budget": (239, 33, 31, 7, 46, 7),
}

#: Why the verdicts changed from one run to the next.
CHANGED = """Why they changed: four statements went from *agrees* to *differs* when curves were compared budget by budget (ZDS23, Figures
3(a), 5(a) and twice 12(a): each holds on the mean of the budgets and fails at some), and one that a clock decides (Figure 8(d),
eps < 1: our two methods are equally fast there). Three more did when words got one rule for all figures: "at every eps"
(Figure 3(a), both statements about LDP: its curves are level with others before they have come to their last value), and a
share printed without "about" (ZDS22, Fig. 4(a): 70 %), which is read to its last digit. These rules were set when the curves
were known, and another reading of *clearly* was looked at: asked for at every budget, as of *at every eps*, Figures 6 and 7 would
differ too. The .01 is met narrowly in Figure 11(a), by .0102 under l1."""

EXPLAINED = """*Argued* means that a sentence answers and nothing was computed; *given* is a setting rather than a result; *drawn* is a
figure, whose numbers are in its CSV and which is [in the gallery](gallery/index.md). A verdict that *agrees* rests on code
that imports nothing of discreet (`discreet.papers.oracles`: definitions, enumerations, bisections, fractions) or on the
paper's own number, and can fail: beside it stands a mutation of discreet that turns it into *differs*, which the tests do.

Words are read by the same rules everywhere. *More* or *less* of curves: ours must not be on the wrong side at any budget,
and on the right one at some; the words of the verdict name the budgets where it is not. *At every eps*: on the right side at
every budget until both curves have come to their last value. *Clearly* or *much* of curves: as for *more*, and .01 apart at
least on the mean of the budgets, which is what a printed number may be off. *Much* or *far* of two sizes: twice at least. *Very
close*: closer, on the mean, than to the other curve of the figure. *About* a round share in percent: within 5; any other
share within half of its last digit. Printed ends of a range of random draws: within those of other runs as
long, up to half of the last digit.

Means are taken over as many random joints as the paper's; where the paper gives no number,
or the run is a quick one, the figure's words say over how many. Numbers in CSVs have at most six digits after the point, on
which two runs agree; columns of *measured seconds*, and verdicts about time, are told by a clock and differ from run to run."""


def results_page(
    verdicts: Sequence[Verdict], *, version: str, quick: bool, seconds: float, processor: float = 0.0, workers: int = 1
) -> str:
    """The table of all verdicts; seconds of the clock, and of the processor in all processes together."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    numbers = [verdict for verdict in verdicts if verdict.claim.kind == "number"]
    red = {claim: mutation for found in turned_red().values() for claim, mutation in found.items()}
    lines = [
        "# What the papers say, and what we get",
        "",
        f"Made by `discreet reproduce all{' --quick' if quick else ''}` on {day} with discreet {version}, "
        f"in {seconds:.0f} s by {workers} process{'es' if workers > 1 else ''}"
        + (f", {processor:.0f} s of the processor." if processor else "."),
        "",
        f"{len(verdicts)} statements: {counted(verdicts)}. {len(numbers)} of them are numbers: {counted(numbers)}; "
        f"{sum(v.is_close for v in numbers)} computed ones are within .01 of print or within their last printed digit. "
        "The others that agree are a share said to be about a round number, gains with the room that .01 "
        "on either side leaves, or extremes of random draws, which must lie between those of other runs as long.",
        "",
        EXPLAINED,
        "",
        "| verdicts | " + " | ".join(WORDS) + " |",
        "|---|" + "---|" * len(WORDS),
        *(f"| {when} | " + " | ".join(map(str, found)) + " |" for when, found in EARLIER.items()),
        "| now | " + " | ".join(map(str, counts(verdicts).values())) + " |",
        "",
        CHANGED,
        "",
    ]
    for paper in dict.fromkeys(verdict.claim.paper for verdict in verdicts):
        lines += [
            f"## {paper}",
            "",
            "| where | the paper says | said | we get | verdict | turned red by |",
            "|---|" * 1 + "---|" * 5,
        ]
        lines += [_line(verdict, red) for verdict in verdicts if verdict.claim.paper == paper]
        lines.append("")
    return "\n".join(lines)


def _line(verdict: Verdict, red: dict[str, str]) -> str:
    claim = verdict.claim
    word = verdict.verdict if not verdict.note else f"{verdict.verdict}: {verdict.note}"
    mutation = red.get(claim.id, "") if verdict.verdict == AGREES else ""
    cells = [claim.where, claim.claim, shown(claim.value), verdict.got, word, mutation]
    return "| " + " | ".join(map(cell, cells)) + " |"


def cell(text: str) -> str:
    """A text that keeps to its cell."""
    return text.replace("|", "\\|").replace("\n", " ")
