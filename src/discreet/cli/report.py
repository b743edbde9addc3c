"""``discreet report``: a release decision as a page for people."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from discreet._support import files, progress
from discreet._support.errors import InputError
from discreet.cli.options import MethodName, NotionOptions, TableOptions, load_table
from discreet.cli.streams import print_lines, say_written

if TYPE_CHECKING:
    from discreet.core.joint import Joint
    from discreet.mechanism import Mechanism

__all__ = ["report"]


def report(
    source: TableOptions,
    *,
    promise: NotionOptions | None = None,
    method: MethodName | None = None,
    mechanism: Path | None = None,
    certificate: Path | None = None,
    sample: int = 0,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Literal["html", "md"] = "html",
) -> int:
    """Write a report for those who decide on a release: the verdict, what it protects, keeps and changes, its limits.

    One file that loads nothing from the network. It tells of the table, so its owner alone may read it. A mechanism is
    designed first, unless a stored one is given; the exit code is 1 where that breaks its promise on this table.

    Parameters
    ----------
    method
        How the release is designed. Left out: auto, which takes the best that fits the notion, the size and the time.
    mechanism
        The JSON that design wrote, reported as it is, without --method and --bins. Its promise is the one that it was
        designed for, unless another is named.
    certificate
        Certificate of the release, whose digest and figures are shown. It also tells the limit of a stored mechanism.
    sample
        Also show so many records before and after; these are real values of the table.
    output
        File that the report is written to.
    force
        Replace an existing output file.
    format
        HTML for a browser, Markdown for a wiki or a review.
    """
    from discreet.certificate import Certificate
    from discreet.mechanism import Mechanism
    from discreet.reporting.decision import decision, designed
    from discreet.reporting.html import check_installed, report_html
    from discreet.reporting.markdown import report_markdown
    from discreet.reporting.report import Report

    notion = None if promise is None else promise.build()
    if notion is None and mechanism is None:
        raise InputError("a report needs a privacy notion, such as --notion lip --epsilon 0.5, or --mechanism FILE.")
    if mechanism is not None and (method is not None or source.bins):
        raise InputError("--mechanism is reported as it is: leave out --method and --bins.")
    if sample < 0:
        raise InputError(f"--sample must be at least 0, got {sample}.")
    never: list[str | Path] = [*source.files, *(path for path in (certificate, mechanism) if path is not None)]
    files.check_target(output, force=force, never=never)
    if format == "html":
        check_installed()
    stated = None if certificate is None else Certificate.from_json(certificate)
    if mechanism is not None:
        stored = Mechanism.from_json(mechanism)
        joint = _its_joint(source, stored)
        found = decision(stored, joint, notion, certificate=stated, rows=sample)
    else:
        assert notion is not None  # refused above
        joint = source.joint()
        found = designed(joint, notion, method or "auto", certificate=stated, rows=sample)
    with progress.stage("writing the page"):
        text = report_html(found) if format == "html" else report_markdown(found)
    files.write_text(output, text, private=True)
    print_lines(repr(Report(found)))
    say_written("report", output)
    return 0 if found.verdict.release_holds else 1


def _its_joint(source: TableOptions, stored: Mechanism) -> Joint:
    """The joint of a table, with the columns and bins that a mechanism was designed for."""
    from discreet.core.joint import Joint

    for option, given, known in (
        ("--sensitive", source.sensitive, stored.sensitive_columns),
        ("--useful", source.useful, stored.useful_columns),
    ):
        if known and list(known) != list(given):
            options = " ".join(f"{option} {name}" for name in known)
            raise InputError(f"the mechanism is for other columns: give {options}.")
    return Joint.from_table(load_table(source.table), source.sensitive, source.useful, bins=stored.bins)
