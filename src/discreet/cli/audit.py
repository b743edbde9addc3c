"""``discreet audit``: how much the useful columns tell about the sensitive ones."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Literal

from discreet._support import progress
from discreet._support.errors import InputError
from discreet.cli.options import Format, NotionOptions, TableOptions, check_percent, show

__all__ = ["audit"]

#: Symbols that JSON lists by itself: as many as programs read in a moment.
SYMBOLS_IN_JSON = 2_000


def audit(
    source: TableOptions,
    *,
    promise: NotionOptions | None = None,
    symbols: int | Literal["all"] | None = None,
    sure: float = 95,
    holdout: float | None = None,
    format: Format = "text",
) -> int:
    """Measure how much the useful columns tell about the sensitive ones.

    With a privacy notion it also gives a verdict, and exits with 1 where the notion is broken: a gate for
    pipelines.

    Parameters
    ----------
    symbols
        Useful values to list, surest and worst first, or all. Left out: 15 in text, 2000 in JSON.
    sure
        Percent: confidence of all intervals of lifts at once, which tell leakage from chance. A promise with
        --confidence brings its own.
    holdout
        Share of the records, such as 0.5, that the audit does not see; what it finds worst is looked up among them.
        Exit code 1 where either part breaks the notion.
    format
        Text for people, JSON for programs.
    """
    from discreet.reporting.audit import audit as make_audit
    from discreet.reporting.text.audit import SHOWN_SYMBOLS, audit_text

    if isinstance(symbols, int) and symbols < 1:
        raise InputError(f"--symbols must be at least 1, or all, got {symbols}.")
    check_percent(sure, "--sure")
    notion = None if promise is None else promise.build()
    joint = source.joint()
    with progress.stage("measuring"):
        found = make_audit(joint, notion, sure / 100, holdout=holdout)
    most = len(found.per_symbol) if symbols == "all" else symbols
    if format == "json":
        show(format, found.to_dict(most or SYMBOLS_IN_JSON), None)
    else:
        show(format, {}, audit_text(found, most or SHOWN_SYMBOLS))
    return 1 if found.holds is False else 0
