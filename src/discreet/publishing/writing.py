"""Where a published table goes: a frame of the caller's library, or files that appear together."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError
from discreet._support.numeric import IntArray
from discreet.certificate import Certificate
from discreet.drawing.keys import ReleaseKey
from discreet.releasing.certification import output_digest
from discreet.releasing.engines.duckdb import copy_options
from discreet.releasing.targets import Targets
from discreet.releasing.transaction import Transaction, writing
from discreet.tables import frames
from discreet.tables.arrow import column_of
from discreet.tables.categories import listed_anew
from discreet.tables.dialect import DUCKDB, literal
from discreet.tables.files import existing_files
from discreet.tables.session import FILE, OWN, ROW, DuckDBTable

__all__ = ["Files", "Wanted", "frame_of", "open_files"]

#: Endings of files that cannot tell a null from an empty text where Spark writes them.
TEXT_FILES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")


@dataclass(frozen=True)
class Wanted:
    """Files that a caller names, and those that he reads."""

    output: Path | None = None
    private_certificate: Path | None = None
    write_key: Path | None = None
    report: Path | None = None
    plan: Path | None = None
    force: bool = False
    reads: Sequence[Any] = ()

    @classmethod
    def of(cls, force: bool, reads: Sequence[Any], **paths: str | os.PathLike[str] | None) -> Wanted:
        """Out of paths of any kind; what is read counts where it is a path."""
        named = {name: None if path is None else Path(path) for name, path in paths.items()}
        return cls(**named, force=force, reads=tuple(one for one in reads if isinstance(one, str | os.PathLike)))

    @property
    def beside(self) -> list[Path]:
        """Files of the owner beside the table, but for those of every release."""
        return [path for path in (self.report, self.plan) if path is not None]


@dataclass(frozen=True)
class Files:
    """The files of a publication, written together at the end or not at all.

    Attributes
    ----------
    targets : Targets
        Table, certificates and key.
    transaction : Transaction
        That makes them appear.
    report, plan : Path or None
        The report for the owner, and what later tables are published by.
    """

    targets: Targets
    transaction: Transaction
    report: Path | None = None
    plan: Path | None = None

    def write_table(self, table: DuckDBTable, useful: Sequence[str], order: IntArray) -> str | dict[str, str]:
        """Stage the table, whose rows are rows of the original in this order; its digest."""
        staged = self.transaction.stage(self.targets.output)
        with writing(self.targets.output), progress.stage("writing the table"):
            copy_rows(table, useful, order, staged)
        return output_digest(staged)

    def write_ledger(self, path: Path, text: str) -> None:
        """Stage the ledger with this publication in it; it appears before all else."""
        self.transaction.write(path, text, private=True, first=True)

    def finish(
        self,
        certificate: Certificate,
        key: ReleaseKey,
        sign: Any,
        report: Callable[[], str] | None,
        plan: Callable[[], str],
    ) -> None:
        """Stage certificates, key, signature, report and plan, and let all appear."""
        targets, transaction = self.targets, self.transaction
        for old in (targets.codebook, targets.private_codebook):
            transaction.remove(old)
        if targets.key is not None:
            transaction.write(targets.key, key.text(), private=True, kind="new")
        if targets.private_certificate is not None:
            transaction.write(targets.private_certificate, certificate.text(), private=True)
        if self.report is not None and report is not None:
            transaction.write(self.report, report(), private=True)
        if self.plan is not None:
            transaction.write(self.plan, plan(), private=True)
        if sign is None:
            transaction.remove(targets.signature)
        else:
            transaction.write(targets.signature, certificate.sign(sign))
        transaction.write(targets.certificate, certificate.public.text())
        transaction.commit()


def open_files(
    table: Any, wanted: Wanted, stack: ExitStack, *, is_folder: bool = False, files: Sequence[str] = ()
) -> Files | None:
    """All names free or the caller's to replace, and a transaction begun; None where nothing is written.

    ``files`` are those that a frame was read from, where that is known.
    """
    output = wanted.output
    if output is None:
        if isinstance(table, str | os.PathLike):
            raise InputError("a path is published to a path: name the output.")
        if wanted.private_certificate is not None or wanted.write_key is not None or wanted.beside:
            raise InputError(
                "certificate, key, report and plan are files beside a table that is written: name the output."
            )
        return None
    if not is_folder:
        copy_options(output.name)
    elif output.name.lower().endswith(TEXT_FILES):
        raise InputError("Spark publishes a folder of Parquet files: name it without .csv, or with .parquet.")
    targets = Targets(output, is_folder, wanted.private_certificate, wanted.write_key)
    targets.check_names()
    transaction = stack.enter_context(Transaction(targets.output))
    files = existing_files(os.fspath(table)) if isinstance(table, str | os.PathLike) else files
    targets.check(table, files, wanted.reads, force=wanted.force)
    _check_beside(wanted, targets, [*files, *map(os.fspath, wanted.reads)])
    return Files(targets, transaction, wanted.report, wanted.plan)


def _check_beside(wanted: Wanted, targets: Targets, read: Sequence[str]) -> None:
    from discreet._support.files import check_no_link, check_target

    others = [targets.output, targets.certificate, targets.signature, targets.codebook, targets.private_codebook]
    others += [path for path in (targets.private_certificate, targets.key) if path is not None]
    taken = {os.path.realpath(path) for path in others}
    for path in wanted.beside:
        check_no_link(path)
        if os.path.realpath(path) in taken:
            raise InputError(f"{str(path)!r} needs a name of its own.")
        check_target(path, force=wanted.force, never=list(read))
        taken.add(os.path.realpath(path))


def copy_rows(table: DuckDBTable, useful: Sequence[str], order: IntArray, target: Path) -> None:
    """Rows of a table in this order, as a file; every cell is taken as DuckDB reads it, in its own type."""
    import pyarrow as pa

    name = f"{OWN}order"
    shown = ", ".join(f"t.{DUCKDB.identifier(column)}" for column in useful)
    table.relation.create_view(f"{OWN}original", replace=True)
    table.connection.register(name, pa.table({"r": column_of(order), "p": column_of(np.arange(len(order)))}))
    numbered = f"SELECT *, row_number() OVER (ORDER BY {FILE}, {ROW}) - 1 AS {OWN}r FROM {OWN}original"
    asked = f"SELECT {shown} FROM ({numbered}) AS t JOIN {name} AS o ON t.{OWN}r = o.r ORDER BY o.p"
    try:
        table.connection.execute(f"COPY ({asked}) TO {literal(str(target))} ({copy_options(target.name)})")
    finally:
        table.connection.unregister(name)


def frame_of(given: Any, frame: Any, useful: Sequence[str], order: IntArray) -> Any:
    """Rows of a frame in this order, in the library of what was given."""
    import pyarrow as pa

    rows = pa.table({ROW: column_of(order)})
    return listed_anew(frames.put_together(given, frame, rows, [(column, column) for column in useful], ROW, {}))
