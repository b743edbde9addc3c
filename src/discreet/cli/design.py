"""``discreet design``: a mechanism that keeps a notion."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from discreet._support import files
from discreet._support.errors import BrokenNotionError, InputError
from discreet.cli.options import (
    Format,
    MethodName,
    NotionOptions,
    TableOptions,
    UtilityOptions,
    check_percent,
    load_table,
    say_private,
    show,
)
from discreet.cli.streams import say, say_written

if TYPE_CHECKING:
    from discreet.certificate import Certificate
    from discreet.core.joint import Joint
    from discreet.designers import Design
    from discreet.mechanism import Earlier, Mechanism

__all__ = ["design"]

#: What a search may take where no time limit is given: people wait for it.
SECONDS = 30.0

#: Percent of next tables that keep the promise of a design for later.
CHANCE = 95.0


def design(
    source: TableOptions,
    *,
    promise: NotionOptions | None = None,
    method: MethodName = "auto",
    keeping: UtilityOptions | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    randomisation: Literal["merge", "uniform"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    proof: Path | None = None,
    private_design: Path | None = None,
    as_values: Annotated[bool, Parameter(negative="")] = False,
    also: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True, show_default=False)] = (),
    after: Annotated[tuple[Path, ...], Parameter(negative="", consume_multiple=True, show_default=False)] = (),
    ledger: Path | None = None,
    margin: float | None = None,
    for_later: Annotated[bool, Parameter(negative="")] = False,
    chance: float | None = None,
    holdout: float | None = None,
    near: Annotated[bool, Parameter(negative="")] = False,
    certificate: Path | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Format = "text",
) -> int:
    """Design a mechanism that keeps a privacy notion and loses as little as the method can.

    Parameters
    ----------
    method
        How the mechanism is found; auto takes the best that fits the notion, the size and the time. The last two make
        mechanisms that read the sensitive columns as well.
    time_limit
        Of the searching methods: seconds after which the best so far is returned, with what is proven of it. Left out:
        30; making integers of it and checking them comes on top.
    seed
        Of the same: seed of their random starts.
    randomisation
        Of the watchdog: merge the high-risk values into one (the default), or release a random one of them.
    output
        File that the mechanism is written to, as JSON: what draws need, without figures of the table. Where few
        records stand behind some values its weights tell about them, and its owner alone may read it.
    proof
        File for the proof of the bound, which release and certify take; it tells of the table, so it is private.
    private_design
        Private file for everything: the mechanism with the distribution of the table, and the proof where there is
        one. Other commands take it as a mechanism, and as --proof.
    as_values
        Write the mechanism in the column's own values, by the counts of this table: for export --sql, and for several
        tables that are to share their draws. Left out, release makes values by the counts of its own table.
    also
        Further tables with the same columns, such as other months, on which the promise must hold as well.
    after
        Mechanisms by which this table was released before, of these or other columns: the promise is then about all
        releases together.
    ledger
        Instead of --after: the ledger of all releases about the same people, which release --ledger begins and keeps.
    margin
        Nats by which the budgets are smaller that the mechanism is designed for than those that it promises, so that
        other tables keep the promise too.
    for_later
        Leave as much room as the next table needs: another sample of the same size and population, on which release
        checks the promise anew, keeps it with a chance of 95 %, or of --chance.
    chance
        Percent of next tables that are to keep the promise, with --for-later.
    holdout
        Share of the records, such as 0.5, that the design does not see and that must keep the promise.
    near
        Of a column of numbers, by the methods optimal and auto: values that tell the same about S are released together
        with numbers close to them, which costs nothing.
    certificate
        Private file for a certificate of the design: on this table, or on the records that were held out.
    force
        Replace an existing output file.
    format
        Text for people, JSON for programs.
    """
    from discreet.designers import design as make_design
    from discreet.reporting.text.design import design_text

    notion = None if promise is None else promise.build()
    if notion is None:
        raise InputError("a design needs a privacy notion, such as --notion lip --epsilon 0.5.")
    if as_values and output is None and private_design is None:
        raise InputError("--as-values says how the mechanism is written: name a file (-o, --private-design).")
    given = {"time_limit": time_limit, "seed": seed, "randomisation": randomisation, "near": near or None}
    options = _options(method, given)
    options |= (keeping or UtilityOptions()).chosen() | _room(margin, for_later, chance, holdout)
    others = [replace(source, table=table) for table in also]
    never = [file for table in (source, *others) for file in table.files]
    never += [str(path) for path in (*after, ledger) if path is not None]
    files.check_targets((output, proof, private_design, certificate), force=force, never=never)
    joint = source.joint()
    if after or ledger is not None:
        options["after"] = _earlier(source, joint, after, ledger, method)
        if options["after"] is None:  # the first release of a ledger
            del options["after"]
    if others:
        joint, *options["also"] = _over_one_alphabet([joint, *(other.joint(joint.bins) for other in others)])
    result = make_design(joint, notion, method, **options)
    # All that can fail comes before the first file is written.
    proven = None if proof is None else _proof_text(result)
    stored = _in_values(result) if as_values else result.mechanism
    certified = None if certificate is None else _certified(result, stored)
    data, text = result.to_dict(), design_text(result) if format == "text" else None
    if output is not None:
        stored.to_json(output)
    if proof is not None:
        _write_proof(proof, proven)
    if private_design is not None:
        _write_all(result, stored, private_design)
    if certificate is not None and certified is not None:
        certified.to_json(certificate)
        say_written("private certificate", certificate)
    show(format, data, text)
    if output is not None:
        say_written("mechanism", output)
        say_private(output, stored)
    return 0


def _certified(result: Design, stored: Mechanism) -> Certificate:
    from discreet.certificate import certify

    return certify(replace(result, mechanism=stored))


def _write_proof(target: Path, proven: str | None) -> None:
    if proven is None:
        say(f"note: no proof is written to {target}: the column is released as it is, and nothing keeps more than that")
    else:
        files.write_text(target, proven, private=True)
        say_written("proof", target)


def _room(margin: float | None, for_later: bool, chance: float | None, holdout: float | None) -> dict[str, Any]:
    """Options of designs for other tables, refused before any work is done."""
    if chance is not None and not for_later:
        raise InputError("--chance says how many next tables are to keep the promise: give --for-later.")
    if chance is not None:
        check_percent(chance, "--chance")
    given = {"margin": margin, "for_later": (chance or CHANCE) / 100 if for_later else None, "holdout": holdout}
    return {name: value for name, value in given.items() if value is not None}


def _earlier(
    source: TableOptions, joint: Joint, paths: Sequence[Path], ledger: Path | None, method: str
) -> Earlier | None:
    """Releases that came before, counted on the table together with the columns that are next."""
    from discreet.designers import METHODS
    from discreet.mechanism import Earlier, Mechanism
    from discreet.releasing.ledger import Ledger

    if "after" not in METHODS[method].options:
        raise InputError(f"--after and --ledger are no options of the method {method}.")
    if ledger is not None:
        if paths:
            raise InputError("--ledger has all releases: leave out --after, or the ledger.")
        known = Ledger.read(ledger)
        known.check_sensitive(joint.sensitive_columns, "design")
        cut = {name: list(edges) for name, edges in joint.bins.items()}
        return known.earlier(load_table(source.table), joint.useful_columns, bins=cut)
    mechanisms = [Mechanism.from_json(path) for path in paths]
    bins = {name: list(edges) for name, edges in joint.bins.items()}
    return Earlier.from_table(
        load_table(source.table), joint.sensitive_columns, joint.useful_columns, mechanisms, bins=bins
    )


def _over_one_alphabet(joints: Sequence[Joint]) -> list[Joint]:
    """Joints of several tables over the useful values of all of them."""
    every = tuple(dict.fromkeys(label for joint in joints for label in joint.useful))
    return [joint.over(every) for joint in joints]


def _in_values(result: Design) -> Mechanism:
    """The mechanism in values, which keeps the promise as it is or is not written."""
    made = result.mechanism.in_values(result.joint)
    kept = result.notion.holds(result.joint, made)
    if not kept or (result.after is not None and not result.notion.on_counts().holds(result.after.through(made))):
        raise BrokenNotionError(
            f"{result.notion} does not survive that symbols are read as values. Leave out --as-values."
        )
    return made


def _write_all(result: Design, mechanism: Mechanism, target: Path) -> None:
    content = {**mechanism.to_dict(), "proof": _stored_proof(result)}
    files.write_text(target, json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n", private=True)
    say(f"private design written to {target}: it holds the distribution of the table")


def _stored_proof(result: Design) -> dict[str, Any] | None:
    return result.proof.to_dict() if hasattr(result.proof, "to_dict") else None


def _proof_text(result: Design) -> str | None:
    """The proof as it is stored; None where none is needed, since nothing is hidden."""
    stored = _stored_proof(result)
    if stored is None and result.mechanism.releases_everything(result.joint):
        return None
    if stored is None:
        raise InputError(f"{result.method} has no proof that a checker could follow; leave out --proof.")
    return json.dumps(stored, allow_nan=False) + "\n"


def _options(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, refused where the method has none such."""
    from discreet.designers import METHODS

    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in METHODS[method].options:
            raise InputError(f"--{name.replace('_', '-')} is no option of the method {method}.")
    if "time_limit" in METHODS[method].options:
        chosen.setdefault("time_limit", SECONDS)
    return chosen
