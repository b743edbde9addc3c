"""``discreet audit``: how much the useful columns tell about the sensitive ones."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet.cli.options import Bins, Columns, Format, NotionOptions, load_joint, show
from discreet.reporting.audit import audit as make_audit
from discreet.reporting.text.audit import audit_text

__all__ = ["audit"]


def audit(
    table: str,
    *,
    sensitive: Columns,
    useful: Columns,
    bins: Bins = (),
    promise: NotionOptions | None = None,
    format: Format = "text",
) -> int:
    """Measure how much the useful columns tell about the sensitive ones.

    With a privacy notion it also gives a verdict, and exits with 1 where the notion is broken: a gate for
    pipelines.

    Parameters
    ----------
    table
        CSV or Parquet file, a glob over such files, or sample:adult.
    sensitive
        Column to protect; repeat the option for several.
    useful
        Column to publish; repeat the option for several.
    bins
        Cut a numeric column: age=0,18,65 or age=quantiles:10. Repeatable.
    format
        Text for people, JSON for programs.
    """
    notion = None if promise is None else promise.build()
    joint = load_joint(table, sensitive, useful, bins)
    found = make_audit(joint, notion)
    show(format, found.to_dict(), audit_text(found) if format == "text" else None)
    return 1 if found.holds is False else 0
