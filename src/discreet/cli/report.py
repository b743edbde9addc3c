"""``discreet report``: a release decision as a page for people."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet._support import files
from discreet._support.errors import InputError
from discreet.certificate import Certificate
from discreet.cli.options import MethodName, NotionOptions, TableOptions
from discreet.reporting.decision import decision_summary
from discreet.reporting.html import Report, report_html
from discreet.reporting.markdown import report_markdown

__all__ = ["report"]


def report(
    source: TableOptions,
    *,
    promise: NotionOptions | None = None,
    method: MethodName = "auto",
    certificate: Path | None = None,
    sample: int = 0,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Literal["html", "md"] = "html",
) -> int:
    """Write a report for those who decide on a release: the verdict, what it protects, keeps and changes, its limits.

    One file that loads nothing from the network. It tells of the table, so its owner alone may read it.

    Parameters
    ----------
    method
        How the release is designed; auto takes the best that fits the notion, the size and the time.
    certificate
        Certificate of the release, whose digest and figures are shown.
    sample
        Also show so many records before and after; these are real values of the table.
    output
        File that the report is written to.
    force
        Replace an existing output file.
    format
        HTML for a browser, Markdown for a wiki or a review.
    """
    notion = None if promise is None else promise.build()
    if notion is None:
        raise InputError("a report needs a privacy notion, such as --notion lip --epsilon 0.5.")
    if sample < 0:
        raise InputError(f"--sample must be at least 0, got {sample}.")
    never: list[str | Path] = [*source.files, *([] if certificate is None else [certificate])]
    files.check_target(output, force=force, never=never)
    stated = None if certificate is None else Certificate.from_json(certificate)
    joint = source.joint()
    summary = decision_summary(joint, notion, method=method, certificate=stated, rows=sample)
    text = report_html(summary) if format == "html" else report_markdown(summary)
    files.write_text(output, text, private=True)
    sys.stdout.write(f"{Report(summary)!r}\n")
    sys.stderr.write(f"report written to {os.fspath(output)}\n")
    return 0
