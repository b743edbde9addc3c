"""``discreet publish``: a whole table under one promise, with certificate, attack and report."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from discreet._support import progress
from discreet._support.errors import InputError
from discreet.cli.options import Bins, Format, NotionOptions, check_search, load_table, show
from discreet.cli.streams import say

if TYPE_CHECKING:
    from discreet.notions import Notion
    from discreet.publishing.publication import Publication

__all__ = ["publish"]

#: Confidence of promises about whole tables: classes are few, and a promise about one sample says little.
USUAL = 0.95

Several = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True, show_default=False)]
Flag = Annotated[bool, Parameter(negative="")]


def publish(
    table: str,
    *more: Annotated[str, Parameter(show=False)],
    sensitive: Annotated[list[str] | None, Parameter(negative="", consume_multiple=False)] = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    useful: Several = (),
    drop: Several = (),
    promise: NotionOptions | None = None,
    each: Flag = False,
    bins: Bins = (),
    weight: Several = (),
    same: Several = (),
    classes: int | None = None,
    person: str | None = None,
    keep_order: Flag = False,
    key_file: Path | None = None,
    write_key: Path | None = None,
    plan: Path | None = None,
    write_plan: Path | None = None,
    seed: int | None = None,
    private_certificate: Path | None = None,
    report: Annotated[Path | None, Parameter(negative="")] = None,
    sign: Path | None = None,
    margin: float | None = None,
    require: Literal["undecided", "not-broken"] = "undecided",
    ledger: Path | None = None,
    time_limit: float | None = None,
    memory_limit: str | None = None,
    force: Flag = False,
    format: Format = "text",
) -> int:
    """Publish a whole table without its secret: all useful columns together, under one promise, and attacked.

    Models learn what the useful columns tell about the sensitive one. Most rows are published as they are; the others
    appear as a near twin, so that whoever knows what can be learned about S learns little from what he sees. The result
    is attacked before anything is written; exit code 1 where an attack breaks the promise.

    Parameters
    ----------
    table
        CSV or Parquet file, a glob over such files, or sample:adult.
    sensitive
        Column to protect, which is not published; repeat the option for several. Needed without --plan.
    output
        The published table, .parquet, .csv or .tsv (and .gz or .zst); its certificate is written beside it.
    useful
        Columns to publish. Left out, or all where no column is called so: all others, but for those that look like
        ids.
    drop
        Columns to leave out.
    promise
        The promise, made with --confidence 95 unless another is given. Left out: lip with --epsilon 0.5.
    each
        Several sensitive columns as one secret each, instead of all together.
    bins
        Cut a numeric sensitive column: salary=20000,50000 or salary=quantiles:4. Repeatable.
    weight
        COLUMN=NUMBER: how much a column counts for who is a near twin; 1 where left out.
    same
        Columns that twins share wherever class sizes let them.
    classes
        Number of classes of about the same belief. Left out: as many as the records allow.
    person
        Column that the records of a person share; it is not published.
    keep_order
        Publish rows in the order of the table. Whoever has the table can then put both side by side.
    key_file
        Key of an earlier publication; left out, a fresh one.
    write_key
        New file for the fresh key, with which verify draws every row again.
    plan
        Plan of an earlier publication, which says all but where the files go: same model, classes and design; twins,
        promise and attack anew. Needs its --key-file.
    write_plan
        File for the plan of this publication, for the owner alone. Leave room for later tables by --margin.
    seed
        Instead of a key, for tests: anyone can repeat the publication, so it protects nobody.
    private_certificate
        File for counts, classes of records and the attack, for the owner of the table alone.
    report
        HTML file for the owner: what was kept, what is promised, and the attack before and after, as pictures.
    sign
        Ed25519 private key of OpenSSH that signs the public certificate.
    margin
        Nats by which the design stays inside of the promise.
    require
        What the attack has to come to: undecided publishes with a warning where it cannot decide; not-broken publishes
        nothing then, with exit code 1.
    ledger
        Private record of all that is published about the same people, made where it is not there. The promise is then
        about all of that together, and what would break it is not published; see discreet ledger.
    time_limit
        Seconds after which no further try begins where an attack broke the last.
    memory_limit
        Of DuckDB, such as 2GB.
    force
        Replace existing files.
    format
        Text for people, JSON for programs.
    """
    from discreet.publishing.front import publish as publish_table
    from discreet.tables.binning import parse_option

    if more:
        raise InputError(
            f"one table is published, and {', '.join(map(repr, (table, *more)))} are named. Repeat the option for "
            "several columns: --sensitive A --sensitive B."
        )
    check_search(time_limit, seed)
    if write_key is not None and (key_file is not None or seed is not None):
        raise InputError("--write-key stores a fresh key: leave out --key-file and --seed.")
    _check_installed()
    notion = _notion(promise)
    written = {"output": output, "certificate": f"{output}.certificate.json", "report": report}
    written |= {
        "private": private_certificate,
        "key": key_file or write_key,
        "plan": write_plan or plan,
        "ledger": ledger,
    }
    names = {name: str(path) for name, path in written.items() if path is not None}
    source = load_table(table)
    if plan is not None:
        chosen = (sensitive, useful, drop, promise, each, bins, weight, same, classes, person, margin, time_limit)
        if any(chosen) or write_plan is not None or seed is not None or write_key is not None:
            raise InputError(
                "--plan says how the table is published: beside it, name --output, --key-file and owner's files only."
            )
        options = {"output": output, "private_certificate": private_certificate, "report": report, "sign": sign}
        limits = {"shuffle": not keep_order, "force": force, "memory_limit": memory_limit, "require": require}
        options["ledger"] = ledger
        with progress.stage("publishing a later table"):
            done = _later(source, plan, key_file, **options, **limits)
        _tell(done, names, format, is_reproducible=False)
        return 0
    if not sensitive:
        raise InputError("--sensitive names the column to protect. Give it, or the --plan of an earlier publication.")
    with progress.stage("publishing the table"):
        done = publish_table(
            source,
            list(sensitive),
            _useful(source, useful),
            notion,
            drop=drop,
            key=key_file,
            seed=seed,
            output=output,
            classes=classes,
            weights=_weights(weight, same),
            person=person,
            shuffle=not keep_order,
            time_limit=time_limit,
            each=each,
            margin=margin,
            require=require,
            bins=parse_option(bins) or None,
            private_certificate=private_certificate,
            write_key=write_key,
            write_plan=write_plan,
            report=report,
            sign=sign,
            force=force,
            memory_limit=memory_limit,
            ledger=ledger,
        )
    _tell(done, names, format, is_reproducible=seed is not None)
    return 0


def _tell(done: Publication, names: dict[str, str], format: Format, *, is_reproducible: bool) -> None:
    """What was published, and what its owner should know about it."""
    from discreet.reporting.publication_words import undecided_words
    from discreet.reporting.text.publication import publication_text

    summary = {**done.to_dict(), **names}
    show(format, summary, publication_text(summary) if format == "text" else None)
    undecided = undecided_words(summary)
    if undecided:
        say(f"warning: {undecided}")
    for note in done.notes if format == "json" else ():  # the text has them
        say(f"note: {note}")
    if is_reproducible:
        say("note: the draw is reproducible, not private: do not publish it")
    elif "key" not in names:
        say("the key was forgotten: this publication cannot be repeated or redrawn")


def _later(table: Any, plan: Path, key_file: Path | None, **options: Any) -> Publication:
    from discreet.publishing.plan import load_plan

    if key_file is None:
        raise InputError("--plan needs the key of the publication that it was made by: --key-file.")
    return load_plan(plan, key_file).apply(table, key=key_file, reads=(plan,), **options)


def _useful(table: Any, useful: tuple[str, ...]) -> str | list[str]:
    """Columns to publish; all of them where none are named, or "all" is and no column is called so."""
    if useful == ("all",):
        from discreet.tables import open_table

        with open_table(table) as opened:
            return ["all"] if "all" in opened.kinds else "all"
    return list(useful) if useful else "all"


def _notion(promise: NotionOptions | None) -> Notion:
    """The promise that was asked for, with 95 % confidence unless another is named."""
    from discreet.notions import LIP

    found = None if promise is None else promise.build()
    if found is None:
        return LIP(0.5, confidence=USUAL)
    has_confidence = any(field.name == "confidence" for field in fields(found))  # type: ignore[arg-type]
    if has_confidence and found.confidence is None:
        return replace(found, confidence=USUAL)  # type: ignore[type-var]
    return found


def _weights(weights: tuple[str, ...], same: tuple[str, ...]) -> dict[str, float]:
    found = dict.fromkeys(same, math.inf)
    for option in weights:
        name, mark, text = option.rpartition("=")
        try:
            found[name] = float(text)
        except ValueError:
            mark = ""
        if not mark or not name:
            raise InputError(f"--weight must read COLUMN=NUMBER, got {option!r}.")
    return found


def _check_installed() -> None:
    """What is missing is said before any work is done."""
    if importlib.util.find_spec("sklearn") is None:
        raise InputError("whole tables need scikit-learn: pip install 'discreet[tables]'.")
