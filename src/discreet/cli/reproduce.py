"""``discreet reproduce``: the papers' figures and stated numbers, beside ours."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet._support import files, progress
from discreet._support.errors import InputError
from discreet._support.progress import Stage
from discreet._support.version import version
from discreet.cli.options import Format, show
from discreet.cli.streams import say

__all__ = ["reproduce"]

#: Where data files usually lie beside the project.
USUAL_DATA = (Path("../shared/data"), Path("data"))

#: How long everything takes on two cores, in full and with --quick.
WHOLE, WHOLE_QUICK = "twenty minutes or more", "some minutes"


def reproduce(
    names: Annotated[tuple[str, ...], Parameter(negative="")] = ("all",),
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    data: Path | None = None,
    page: Path | None = None,
    gallery: Path | None = None,
    workers: int | None = None,
    list_names: Annotated[bool, Parameter(name="--list", negative="")] = False,
    format: Format = "text",
) -> int:
    """Compute the figures and stated numbers of the papers anew, and say which agree.

    Parameters
    ----------
    names
        Names of entries such as zds23-fig4, papers such as zds23, or all, which takes twenty minutes or more.
    output
        Folder for a figure and a CSV of each entry, and verdicts.csv, where verdicts on other entries stay. Numbers
        have at most six digits after the point, on which two runs agree; columns of measured seconds differ.
    quick
        Fewer random joints and budgets.
    data
        Folder with the data files that the package does not ship. Left out: ../shared/data or data, where it is there.
    page
        File for the table of verdicts as a page in Markdown.
    gallery
        Folder for pages that show every figure with its verdicts; takes its plots from --output.
    workers
        Processes that compute beside each other. Left out: as many as there are cores.
    list_names
        Show the names of the entries, and compute nothing.
    format
        Text for people, JSON for programs.
    """
    from discreet import papers
    from discreet.reporting.text.reproduction import entries_text, reproduction_text

    folder = data or next((path for path in USUAL_DATA if path.is_dir()), None)
    if folder is not None and not folder.is_dir():
        raise InputError(f"no folder {str(folder)!r}.")
    if gallery is not None and output is None:
        raise InputError("--gallery shows the figures that --output writes: name a folder for them.")
    picked = papers.chosen(names)  # names that are none are refused first
    if list_names:
        titles = {name: papers.ENTRIES[name].title for name in picked}
        show(format, {"entries": titles}, entries_text(titles) if format == "text" else None)
        return 0
    if output is not None:
        _make_folder(output)
    start, used = time.perf_counter(), sum(os.times()[:4])
    cores = (os.cpu_count() or 1) if workers is None else workers
    if len(picked) == len(papers.ENTRIES):
        say(_announced(len(picked), quick=quick))
    with nullcontext() if sys.stderr.isatty() else progress.heard_by(_Lines()):
        verdicts = papers.reproduce(names, output, quick=quick, data=folder, workers=cores)
    seconds, processor = time.perf_counter() - start, sum(os.times()[:4]) - used
    if page is not None:
        text = papers.results_page(
            verdicts, version=version(), quick=quick, seconds=seconds, processor=processor, workers=cores
        )
        files.write_text(page, text)
    if gallery is not None and output is not None:
        papers.write_gallery(verdicts, output, gallery)
    result = {"seconds": seconds, "verdicts": [papers.as_row(verdict) for verdict in verdicts]}
    show(format, result, reproduction_text(result) if format == "text" else None)
    return 0


def _announced(number: int, *, quick: bool) -> str:
    """What is begun where everything is computed, and how to have less."""
    return (
        f"computing all {number} entries anew, which takes {WHOLE_QUICK if quick else WHOLE} on two cores. To compute "
        "some, name entries or papers (discreet reproduce zds23-fig4 df20); discreet reproduce --list shows the names."
    )


class _Lines:
    """A line for every entry that is done, where no terminal shows how far the work is."""

    def began(self, stage: Stage) -> None:
        """The first line comes with the first entry."""

    def moved(self, stage: Stage) -> None:
        say(f"{stage.done:.0f} of {stage.total:.0f} entries after {stage.seconds:.0f} s: {stage.detail}")

    def ended(self, stage: Stage) -> None:
        """The result tells the rest."""


def _make_folder(path: Path) -> None:
    """The folder that figures are written to, so that what goes wrong later is not taken for a missing folder."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(path)!r}: {error.strerror}.") from None
