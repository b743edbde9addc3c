"""``discreet audit``: how much the useful columns tell about the sensitive ones."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet.cli.options import Format, NotionOptions, TableOptions, show

__all__ = ["audit"]


def audit(
    source: TableOptions,
    *,
    promise: NotionOptions | None = None,
    format: Format = "text",
) -> int:
    """Measure how much the useful columns tell about the sensitive ones.

    With a privacy notion it also gives a verdict, and exits with 1 where the notion is broken: a gate for
    pipelines.

    Parameters
    ----------
    format
        Text for people, JSON for programs.
    """
    from discreet.reporting.audit import audit as make_audit
    from discreet.reporting.text.audit import audit_text

    notion = None if promise is None else promise.build()
    joint = source.joint()
    found = make_audit(joint, notion)
    show(format, found.to_dict(), audit_text(found) if format == "text" else None)
    return 1 if found.holds is False else 0
