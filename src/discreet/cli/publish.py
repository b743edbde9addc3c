"""``discreet publish``: a whole table under one promise, with certificate, attack and report."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from discreet._support import progress
from discreet._support.errors import InputError, InvalidNotionError
from discreet.cli.options import PROMISE, Bins, Format, NotionName, NotionOptions, check_search, load_table, show
from discreet.cli.streams import say

if TYPE_CHECKING:
    from discreet.notions import Notion
    from discreet.publishing.publication import Publication

__all__ = ["publish"]

#: Percent of confidence of promises about whole tables: classes are few, and a promise about one sample says little.
USUAL = 95.0

#: Budget of promises about whole tables where none is named, nats.
BUDGET = 0.5

#: Notions under which whole tables are published.
WHOLE = ("lip", "alip", "max-lift")

#: Options that are read before they are handed on; the others have the names of arguments.
READ = {"sensitive", "useful", "bins", "weight", "same"}

Several = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True, show_default=False)]
Flag = Annotated[bool, Parameter(negative="")]


@Parameter(name="*", group=PROMISE)
@dataclass(frozen=True)
class TablePromise(NotionOptions):
    """The promise about a whole table.

    Attributes
    ----------
    notion
        Which promise: lip, alip or max-lift. Left out: lip, or alip where --lam, --eps-lower or --eps-upper is given.
    epsilon
        Budget in nats: of each side for lip, the total where --lam shares it out. Left out: 0.5 for lip and max-lift.
    lam
        Share of --epsilon that goes to the lower side.
    eps_lower
        Budget in nats of falling beliefs.
    eps_upper
        Budget in nats of rising beliefs.
    alpha
        Of other notions.
    confidence
        Percent: promise for the population that the table is a sample of, given its useful values. Left out: 95. 0:
        promise about the counted table alone, a sample taken for the truth.
    """

    notion: Annotated[NotionName | None, Parameter(show_choices=False)] = None
    alpha: Annotated[float | None, Parameter(show=False)] = None

    def build(self) -> Notion:
        """The notion asked for, with the usual budget and confidence where they are left out."""
        name = self.notion or ("alip" if self._is_split else "lip")
        if name not in WHOLE:
            raise InvalidNotionError(
                f"whole tables are published under lip, alip or max-lift, got --notion {name}. Of the others, ldp "
                "follows from alip with budgets that add up to its own."
            )
        epsilon = BUDGET if self.epsilon is None and not self._is_split and name != "alip" else self.epsilon
        confidence = {None: USUAL, 0.0: None}.get(self.confidence, self.confidence)
        found = NotionOptions(name, epsilon, self.lam, self.eps_lower, self.eps_upper, self.alpha, confidence).build()
        assert found is not None
        return found

    @property
    def _is_split(self) -> bool:
        return any(value is not None for value in (self.lam, self.eps_lower, self.eps_upper))

    @property
    def given(self) -> list[str]:
        """Options that were given, as they are written."""
        return [f"--{field.name.replace('_', '-')}" for field in fields(self) if getattr(self, field.name) is not None]


def publish(
    table: str,
    *more: Annotated[str, Parameter(show=False)],
    sensitive: Annotated[list[str] | None, Parameter(negative="", consume_multiple=False)] = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    useful: Several = (),
    drop: Several = (),
    promise: TablePromise | None = None,
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
    require: Literal["undecided", "not-broken", "confidence"] = "undecided",
    ledger: Path | None = None,
    looser: Flag = False,
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
        The promise. Left out: lip with --epsilon 0.5, for the population with --confidence 95.
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
        Plan of an earlier publication, which says what is published and how: same model, classes and design; twins,
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
        nothing then, with exit code 1; confidence is not-broken, and nothing is published either where a later table
        (--plan) keeps the promise on its counted records alone.
    ledger
        Private record of all that is published about the same people, made where it is not there. The promise is then
        about all of that together, on the counted table, and what would break it is not published; nor are columns
        beside a whole table that it lacks, which no model saw together. See discreet ledger.
    looser
        Let go of promises of earlier releases in the ledger that this one does not imply; it is refused otherwise.
    time_limit
        Seconds after which no further try begins where an attack broke the last.
    memory_limit
        Of DuckDB, such as 2GB.
    force
        Replace existing files.
    format
        Text for people, JSON for programs.
    """
    _check_one(table, more)
    check_search(time_limit, seed)
    if write_key is not None and (key_file is not None or seed is not None):
        raise InputError("--write-key stores a fresh key: leave out --key-file and --seed.")
    _check_installed()
    notion = (promise or TablePromise()).build()
    chosen = {
        "sensitive": sensitive,
        "useful": useful,
        "drop": drop,
        "each": each,
        "bins": bins,
        "weight": weight,
        "same": same,
        "classes": classes,
        "person": person,
        "margin": margin,
        "time_limit": time_limit,
        "write_plan": write_plan,
        "seed": seed,
        "write_key": write_key,
    }
    options = {"output": output, "private_certificate": private_certificate, "report": report, "sign": sign}
    limits = {"shuffle": not keep_order, "force": force, "memory_limit": memory_limit, "require": require}
    shared = {**options, **limits, "ledger": ledger, "looser": looser}
    names = _names(output, report, private_certificate, key_file or write_key, write_plan or plan)
    source = load_table(table)
    if plan is not None:
        _check_planned(chosen, [] if promise is None else promise.given)
        with progress.stage("publishing a later table"):
            done = _later(source, plan, key_file, **shared)
        _tell(done, {**names, **_entered(ledger, done), "read": ["key", "plan"]}, format, is_reproducible=False)
        return 0
    done = _first(source, notion, key_file, chosen, shared)
    read = {} if key_file is None else {"read": ["key"]}
    _tell(done, {**names, **_entered(ledger, done), **read}, format, is_reproducible=seed is not None)
    return 0


def _check_one(table: str, more: tuple[str, ...]) -> None:
    """Refuse further names, which are columns that stand behind an option as if it took several."""
    if more:
        raise InputError(
            f"one table is published, and {', '.join(map(repr, (table, *more)))} are named. Repeat the option for "
            "several columns: --sensitive A --sensitive B."
        )


def _names(
    output: Path, report: Path | None, private: Path | None, key: Path | None, plan: Path | None
) -> dict[str, Any]:
    """Files that belong to a publication, by what they are."""
    found = {"output": output, "certificate": f"{output}.certificate.json", "report": report, "private": private}
    found |= {"key": key, "plan": plan}
    return {name: str(path) for name, path in found.items() if path is not None}


def _entered(ledger: Path | None, done: Publication) -> dict[str, Any]:
    """Where a publication was entered, as that of a release is told."""
    if ledger is None:
        return {}
    from discreet.releasing.ledger import Ledger

    number = Ledger.read(ledger).number_of(done.certificate)
    return {"ledger": {"path": str(ledger), "number": number, "is_new": number == 1}}


def _first(
    table: Any, notion: Notion, key_file: Path | None, chosen: dict[str, Any], shared: dict[str, Any]
) -> Publication:
    """A table by itself: what a plan would have decided is ``chosen``."""
    from discreet.publishing.front import publish as publish_table
    from discreet.tables.binning import parse_option

    if not chosen["sensitive"]:
        raise InputError("--sensitive names the column to protect. Give it, or the --plan of an earlier publication.")
    with progress.stage("publishing the table"):
        return publish_table(
            table,
            list(chosen["sensitive"]),
            _useful(table, chosen["useful"]),
            notion,
            key=key_file,
            weights=_weights(chosen["weight"], chosen["same"]),
            bins=parse_option(chosen["bins"]) or None,
            **{name: value for name, value in chosen.items() if name not in READ},
            **shared,
        )


def _check_planned(chosen: dict[str, Any], promised: list[str]) -> None:
    """Refuse what a plan has decided, by the names of the options that were given."""
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in chosen.items()
        if value is not None and value is not False and value != ()
    ]
    given += promised
    if given:
        raise InputError(
            f"--plan has decided what is published and how: leave out {', '.join(given)}, or publish the table by "
            "itself, without --plan."
        )


def _tell(done: Publication, names: dict[str, Any], format: Format, *, is_reproducible: bool) -> None:
    """What was published, and what its owner should know about it; ``read`` are files that were there before."""
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
