"""``discreet compare``: all methods at one budget, best first."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support.errors import BrokenNotionError, InputError
from discreet.cli.options import Format, NotionOptions, TableOptions, check_search, show
from discreet.cli.progress import watched
from discreet.designers import METHODS, Design
from discreet.designers import design as make_design
from discreet.designers import methods as methods_for
from discreet.reporting.text.comparison import comparison_text

__all__ = ["compare"]


def compare(
    source: TableOptions,
    *,
    promise: NotionOptions | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    format: Format = "text",
) -> int:
    """Design with every method that serves a notion, and show what each keeps, leaks and reads, best first.

    Parameters
    ----------
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
    given = {name: value for name, value in (("time_limit", time_limit), ("seed", seed)) if value is not None}
    check_search(time_limit, seed)
    joint = source.joint()
    names = [name for name in methods_for(notion) if name != "auto"]  # auto is one of the others
    designs: list[Design] = []
    skipped: dict[str, str] = {}
    with watched("designs") as progress:
        for name in names:
            options = {key: value for key, value in given.items() if key in METHODS[name].options}
            try:
                designs.append(make_design(joint, notion, name, **options))
            except (InputError, BrokenNotionError) as error:  # too large for this method, or of one attribute only
                skipped[name] = str(error)
            if progress is not None:
                progress(len(designs) + len(skipped), len(names))
    designs.sort(key=lambda design: -design.nmi)
    data = {"notion": notion.to_dict(), "designs": [design.to_dict() for design in designs], "skipped": skipped}
    show(format, data, comparison_text(designs, skipped) if format == "text" else None)
    return 0
