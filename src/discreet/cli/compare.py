"""``discreet compare``: all methods at one budget, best first."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support.errors import InputError
from discreet.cli.options import Bins, Columns, Format, NotionOptions, check_search, load_joint, show
from discreet.cli.progress import watched
from discreet.designers import compare as side_by_side
from discreet.reporting.text.pages import comparison_text

__all__ = ["compare"]


def compare(
    table: str,
    *,
    sensitive: Columns,
    useful: Columns,
    bins: Bins = (),
    promise: NotionOptions | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    format: Format = "text",
) -> int:
    """Design with every method that serves a notion, and show what each keeps, leaks and reads, best first.

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
    time_limit
        Seconds for each searching method.
    seed
        Seed of random starts.
    format
        Text for people, JSON for programs.
    """
    notion = None if promise is None else promise.build()
    if notion is None:
        raise InputError("a comparison needs a privacy notion, such as --notion lip --epsilon 0.5.")
    check_search(time_limit, seed)
    joint = load_joint(table, sensitive, useful, bins)
    with watched("designs") as progress:
        found = side_by_side(joint, notion, time_limit=time_limit, seed=seed, watch=progress)
    show(format, found.to_dict(), comparison_text(found.designs, found.skipped) if format == "text" else None)
    return 0
