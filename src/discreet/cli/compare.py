"""``discreet compare``: all methods at one budget, best first."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support.errors import InputError
from discreet.cli.options import Format, NotionOptions, TableOptions, UtilityOptions, check_search, show

__all__ = ["compare"]

#: What each search may take where no time limit is given.
SECONDS = 10.0


def compare(
    source: TableOptions,
    *,
    promise: NotionOptions | None = None,
    keeping: UtilityOptions | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    format: Format = "text",
) -> int:
    """Design with every method that serves a notion, and show what each keeps, leaks and reads, best first.

    Parameters
    ----------
    time_limit
        Seconds for each searching method. Left out: 10.
    seed
        Seed of random starts.
    format
        Text for people, JSON for programs.
    """
    from discreet.designers import compare as side_by_side
    from discreet.reporting.text.comparison import comparison_text

    notion = None if promise is None else promise.build()
    if notion is None:
        raise InputError("a comparison needs a privacy notion, such as --notion lip --epsilon 0.5.")
    check_search(time_limit, seed)
    kept = (keeping or UtilityOptions()).chosen()
    joint = source.joint()
    found = side_by_side(joint, notion, **kept, time_limit=time_limit or SECONDS, seed=seed)
    show(format, found.to_dict(), comparison_text(found.designs, found.skipped) if format == "text" else None)
    return 0
