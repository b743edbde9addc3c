"""``discreet attack``: what a reader can learn about S from a release."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from discreet._support import files
from discreet._support.errors import InputError
from discreet.cli.names import MODELS
from discreet.cli.options import (
    Columns,
    Format,
    NotionOptions,
    check_percent,
    check_search,
    input_files,
    load_table,
    show,
)
from discreet.cli.streams import say_written

__all__ = ["attack"]

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = Literal[MODELS]

Repeated = Parameter(negative="", consume_multiple=False, show_default=False)


def attack(
    original: str,
    released: str,
    *,
    sensitive: Columns,
    useful: Annotated[tuple[str, ...], Repeated] = (),
    id: str | None = None,
    person: str | None = None,
    promise: NotionOptions | None = None,
    models: Annotated[tuple[ModelName, ...], Repeated] = (),
    sure: float = 95,
    seed: int = 0,
    plot: Path | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Format = "text",
) -> int:
    """Try to learn the sensitive columns from a release of any tool; exit code 1 where a promise is broken.

    Models learn from one half of the records and are measured on the other, before and after. Rows of the two tables
    correspond by their places, or by an id.

    Parameters
    ----------
    original
        CSV or Parquet file, or a glob over such files, with the sensitive columns.
    released
        The same of what was published.
    sensitive
        Column of the original that is secret; repeat the option for several.
    useful
        Column of both tables that is used; repeat the option for several. Left out: all that both have.
    id
        Column of both tables by which rows correspond. Left out: their places.
    person
        Column of the original that says whom a row is about, where a person has several: all are learned from, or none.
    models
        Model to try; repeat the option for several. Left out: all.
    sure
        Percent: confidence of all intervals at once.
    seed
        Seed of the halves and the models.
    plot
        File for a plot of all log-lifts: .svg, .png or .pdf.
    force
        Replace an existing plot.
    format
        Text for people, JSON for programs.
    """
    from discreet.publishing.attack.front import attack as tried
    from discreet.reporting.text.attack import attack_text

    check_percent(sure, "--sure")
    check_search(None, seed)
    if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise InputError(f"cannot tell the format of {str(plot)!r}. Use .svg, .png or .pdf.")
    files.check_targets([plot], force=force, never=[*input_files(original), *input_files(released)])
    found = tried(
        load_table(original),
        load_table(released),
        sensitive,
        None if promise is None else promise.build(),
        id,
        useful=useful or None,
        person=person,
        models=models or "all",
        seed=seed,
        confidence=sure / 100,
    )
    if plot is not None:
        found.save(plot)
    data = found.to_dict()
    show(format, data, attack_text(data) if format == "text" else None)
    if plot is not None:
        say_written("plot", plot)
    return 1 if found.verdict == "broken" else 0
