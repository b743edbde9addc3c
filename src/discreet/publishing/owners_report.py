"""The report that goes with a published table: its page is made by a room above, which is imported when it is asked."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from discreet.publishing.publication import Publication
from discreet.publishing.writing import Wanted

__all__ = ["reporter_of"]


def reporter_of(table: Any, wanted: Wanted, key: Any) -> Callable[[Publication], str] | None:
    """What makes the page of a publication, which names its files; None where none is asked for.

    What it needs is looked for now, before any work is done. Without an output there is nothing for a report to be
    beside, which is refused where files are opened.
    """
    if wanted.report is None or wanted.output is None:
        return None
    from discreet.reporting.html import check_installed
    from discreet.reporting.published import published_html

    check_installed()
    certificate = f"{os.fspath(wanted.output)}.certificate.json"
    files = {"table": table, "output": wanted.output, "certificate": certificate, "report": wanted.report}
    files |= {"private": wanted.private_certificate, "key": wanted.write_key or key, "plan": wanted.plan}
    names = {name: os.fspath(path) for name, path in files.items() if isinstance(path, str | os.PathLike)}
    return lambda done: published_html({**done.to_dict(), **names})
