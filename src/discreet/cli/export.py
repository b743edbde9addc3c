"""``discreet export``: the draw as SQL for an engine of one's own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet._support import files
from discreet._support.errors import InputError
from discreet.cli.options import Format, say_private
from discreet.cli.streams import print_lines, say, say_written

__all__ = ["export"]


def export(
    mechanism: Path,
    *,
    sql: Literal["duckdb", "postgres", "spark"],
    table: str = "input",
    id: str = "id",
    as_: Annotated[str | None, Parameter(name="--as")] = None,
    key_file: Path | None = None,
    subkeys: Path | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Format = "text",
) -> int:
    """Give the draw as SQL: lookup tables and one query, the same bits as a release.

    A mechanism that design --as-values wrote gives the columns in their own values. No key is printed. The query reads
    sub-keys from a table discreet_key (draw, subkey); --key-file with --subkeys writes its rows to a private file.

    Parameters
    ----------
    mechanism
        The JSON that design wrote.
    sql
        Which SQL.
    table
        Name of the table that the query reads.
    id
        Name of its id column, of unique integers or texts.
    as_
        Name of the released column.
    key_file
        Key of the release.
    subkeys
        New file for the rows of discreet_key, as CSV that its owner alone may read.
    output
        File for the SQL. Left out: it is printed. That of a private mechanism is private, and its owner alone may read
        the file.
    force
        Replace an existing output file.
    format
        Text as SQL, or JSON with a list of statements.
    """
    from discreet._support import jsonable
    from discreet.drawing.keys import ReleaseKey
    from discreet.drawing.thresholds import draws_of
    from discreet.mechanism import Mechanism
    from discreet.releasing.engines.export import export_sql
    from discreet.reporting import words

    if (key_file is None) != (subkeys is None):
        raise InputError("--key-file and --subkeys belong together: one is read, the other written.")
    if subkeys is not None:
        files.check_target(subkeys, force=False, is_replaceable=False)
    files.check_targets((output, subkeys), force=force, never=[mechanism, *([] if key_file is None else [key_file])])
    stored = Mechanism.from_json(mechanism)
    statements = export_sql(stored, sql, table=table, id=id, rename=as_)
    if key_file is not None and subkeys is not None:
        key = ReleaseKey.from_file(key_file)
        lines = [
            f"{number},{key.subkey(draw.column, stored.fingerprint)}" for number, draw in enumerate(draws_of(stored))
        ]
        files.write_text(subkeys, "\n".join(["draw,subkey", *lines]) + "\n", private=True)
        say_written("sub-keys", subkeys)
    text = _sql_text(statements) if format == "text" else jsonable.dumps({"sql": sql, "statements": statements})
    if output is None:
        print_lines(text)
    else:
        files.write_text(output, text + "\n", private=stored.is_private)
        say_written("SQL", output)
    if stored.has_mixed_labels:
        say(f"note: {words.LABELS_EXPORTED}")
    say_private("this SQL" if output is None else output, stored)
    return 0


def _sql_text(statements: Sequence[str]) -> str:
    from discreet.releasing.engines.export import KEY_TABLE

    return f"-- needs a table {KEY_TABLE} (draw INTEGER, subkey TEXT)\n" + ";\n\n".join(statements) + ";\n"
