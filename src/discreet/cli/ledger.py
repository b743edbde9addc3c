"""``discreet ledger``: what was published about one set of people, and how much of a promise they use together."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._support.errors import InputError
from discreet.cli.options import Format, NotionOptions, load_table, show

if TYPE_CHECKING:
    from rich.console import Group

    from discreet.certificate import Certificate
    from discreet.notions import Notion
    from discreet.releasing.ledger import Entry, Ledger

__all__ = ["ledger"]


def ledger(
    ledger: Path,
    /,
    *,
    table: str | None = None,
    certificate: Path | None = None,
    promise: NotionOptions | None = None,
    format: Format = "text",
) -> int:
    """Show what a ledger says was published, whether it is whole, and how far inside of a promise all releases stay.

    Exit code 1 where the releases break the promise together, or the certificate states another release, another table,
    or others before it. The file is private: it holds mechanisms and columns.

    Parameters
    ----------
    ledger
        The file that release --ledger keeps.
    table
        The table that was released, with its sensitive columns: to count what all releases tell together.
    certificate
        Private certificate of one of the releases: whether it and what was published before are as the ledger says.
    promise
        The promise about all releases together, on the counts. Left out: the strictest that any of them made.
    format
        Text for people, JSON for programs.
    """
    from discreet._support import progress
    from discreet.releasing.ledger import Ledger

    found = Ledger.read(ledger)
    data: dict[str, Any] = {"ledger": str(ledger), "releases": [*map(_summary, found.entries, found.repeated())]}
    notion = None if promise is None else promise.build()
    if notion is not None and notion.confidence is not None:
        raise InputError("what all releases tell together is counted on the table: leave out --confidence.")
    if table is None and (notion is not None or certificate is not None):
        raise InputError("what all releases tell is counted on the table: name it with --table.")
    if table is not None:
        with progress.stage("counting what all releases tell"):
            data |= _judged(found, load_table(table), notion)
    if table is not None and certificate is not None:
        stated = _private(certificate)
        differs = found.differences(stated, load_table(table))
        data |= {"confirmed": not differs, "differs": differs, "certificate_of": found.number_of(stated)}
    show(format, data, _text(data) if format == "text" else None)
    return 0 if data.get("kept", True) and data.get("confirmed", True) else 1


def _judged(found: Ledger, table: Any, notion: Notion | None) -> dict[str, Any]:
    """How far inside of a promise all releases stay, or of those that they made; first where least is to spare."""
    made = found.strictest()
    chosen = [notion.on_counts()] if notion is not None else [one for one in made if not one.is_conditional] or made
    judged: list[dict[str, Any]] = [
        {"notion": one.to_dict(), "promise": str(one), "room": room, "kept": room >= 0}
        for one, room in zip(chosen, found.rooms(table, chosen))
    ]
    judged.sort(key=lambda one: one["room"])
    return {**judged[0], "promises": judged}


def _private(path: Path) -> Certificate:
    from discreet.certificate import Certificate

    stated = Certificate.from_json(path)
    if "counts" not in stated.to_dict():
        raise InputError(
            f"{str(path)!r} is a public certificate, which does not say what was counted. Name the private one "
            "(release --private-certificate)."
        )
    return stated


def _summary(entry: Entry, repeats: int | None) -> dict[str, Any]:
    return {
        "notion": str(entry.notion),
        "sensitive": list(entry.sensitive),
        "useful": list(entry.columns),
        "whole_table": entry.classes is not None,
        "kept": list(entry.kept),
        "rows": entry.rows,
        "key": entry.key,
        "id": entry.id,
        "repeats": repeats,
        "mechanism": entry.mechanism.fingerprint,
        "certificate": entry.certificate,
    }


def _text(data: dict[str, Any]) -> Group:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from discreet.reporting import words

    shown = Table("release", "of", "about", "beside", "rows", "promise", "key", "id", "", box=None, pad_edge=False)
    for number, one in enumerate(data["releases"], 1):
        of, about, beside = (Text(", ".join(one[name])) for name in ("useful", "sensitive", "kept"))
        of = Text(f"whole table: {len(one['useful'])} columns") if one["whole_table"] else of
        same = "" if one["repeats"] is None else f"repeats release {one['repeats']}"
        figures = (f"{one['rows']:,}", one["notion"], one["key"][:8], Text(one["id"] or ""), same)
        shown.add_row(str(number), of, about, beside, *figures)
    count = len(data["releases"])
    whole = "no line before the last was changed, left out or put in between; of the last its certificate tells."
    lines = [Text(f"{count} release{'' if count == 1 else 's'}; {whole}")]
    lines += [Text(words.room_words(one["promise"], one["room"])) for one in data.get("promises", ())]
    if "confirmed" in data:
        lines.append(Text(words.confirmed_words(data["differs"], data["certificate_of"])))
    return Group(shown, Text(""), *lines)
