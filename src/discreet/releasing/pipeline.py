"""A release, step by step: plan, check, draw, certify, commit. Every kind of table and every engine goes through it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import time
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet._support import progress
from discreet._support.beside import begun
from discreet.certificate import Certificate
from discreet.certificate.beside import Beside
from discreet.drawing.keys import ReleaseKey
from discreet.measures import unchanged
from discreet.notions.base import from_dict
from discreet.releasing.certification import certified, codebook_text, output_digest, promised
from discreet.releasing.checks import Checked
from discreet.releasing.engines import engine_for
from discreet.releasing.ledger import Ledger
from discreet.releasing.lock import Lock
from discreet.releasing.plan import Plan
from discreet.releasing.prepared import Prepared, prepare
from discreet.releasing.request import Request
from discreet.releasing.targets import Targets, sidecar
from discreet.releasing.transaction import Transaction, writing
from discreet.tables.files import existing_files

__all__ = ["Released", "run"]

#: Claims of a certificate that a summary repeats.
STATED = ("notion", "achieved", "nmi", "bound", "checked_on", "key", "unseen", "persons", "covered", "not_covered")


@dataclass(frozen=True)
class Released:
    """A release and what was found on the way.

    Attributes
    ----------
    table : object
        The released frame, or the path of the released table.
    plan, checked : Plan, Checked
        Columns, and the counts that the promise was checked on.
    beside : Beside
        What is kept, and whether the promise covers it.
    rows : int
        Rows that were released.
    hides_mechanism : bool
        Whether mechanism and codebook tell about single people, and are for the owner of the table alone.
    certificate : Certificate or None
        Of a release that was written to a file.
    signed_by : str or None
        Fingerprint of the key that signed it.
    entered : dict or None
        The ledger that it was entered into: its ``path``, the ``number`` of the release there, and ``is_new``.
    """

    table: Any
    plan: Plan
    checked: Checked
    beside: Beside
    rows: int
    key: ReleaseKey
    engine: str
    seconds: float
    hides_mechanism: bool = False
    certificate: Certificate | None = None
    signed_by: str | None = None
    entered: dict[str, Any] | None = None

    def summary(self, output: Path) -> dict[str, Any]:
        """What a release to a file says of itself, as plain data."""
        stated = {} if self.certificate is None else {name: self.certificate[name] for name in STATED}
        return {
            "output": os.fspath(output),
            "rows": self.rows,
            "released": list(self.plan.released),
            "in_values": self._in_values(),
            **stated,
            **self._on_averages(),
            "certificate": os.fspath(sidecar(output, "certificate")),
            "codebook": os.fspath(sidecar(output, "codebook.private" if self.hides_mechanism else "codebook")),
            "private_mechanism": self.hides_mechanism,
            **({} if self.signed_by is None else {"signed_by": self.signed_by}),
            **({} if self.entered is None else {"ledger": self.entered}),
            "engine": self.engine,
            "seconds": self.seconds,
        }

    def _on_averages(self) -> dict[str, Any]:
        """What a promise about averages measures here; nothing where it is on lifts alone, or where there is no S."""
        if self.certificate is None or self.certificate["achieved"] is None:
            return {}
        found = from_dict(self.certificate["notion"]).on_averages(self.checked.joint, self.plan.mechanism)
        return {"on_averages": found} if found else {}

    def _in_values(self) -> dict[str, float] | None:
        """The share of records that are expected to keep their value; None where labels are released."""
        joint, mechanism = self.checked.joint, self.plan.mechanism
        return {"unchanged": unchanged(joint, mechanism)} if mechanism.is_in_values else None


def run(request: Request) -> Released:
    """Make a release, or leave everything as it was."""
    start = time.perf_counter()
    kind = engine_for(request)
    with contextlib.ExitStack() as stack:
        if request.ledger is not None:  # nobody else adds to it until this release is in
            lock = Lock(request.ledger)
            lock.acquire()
            stack.callback(lock.release)
        targets, transaction = _targets(request, kind.writes_folder, stack)
        engine = stack.enter_context(kind.opened(request, None if transaction is None else transaction.spill))
        ready = prepare(request, engine)
        if targets is None or transaction is None:
            (table, rows, _), certificate = engine.draw(ready.drawing(), None), None
        else:
            table, rows, certificate = _written(ready, targets, transaction)
    counted = int(ready.checked.joint.records or 0)
    return Released(
        table,
        ready.plan,
        ready.checked,
        ready.beside,
        counted if rows is None else rows,
        request.key,
        kind.name,
        time.perf_counter() - start,
        ready.hides_mechanism,
        certificate,
        None if request.sign is None else request.sign.fingerprint,
        None if ready.ledger is None else _entered(request, len(ready.ledger.entries)),
    )


def _entered(request: Request, number: int) -> dict[str, Any]:
    """Where a release was entered, as a summary says it."""
    return {"path": str(request.ledger), "number": number, "is_new": number == 1}


def _targets(
    request: Request, is_folder: bool, stack: contextlib.ExitStack
) -> tuple[Targets, Transaction] | tuple[None, None]:
    """Where the files go, all of them free or the caller's to replace, and the transaction that writes them."""
    if request.output is None:
        return None, None
    targets = Targets(request.output, is_folder, request.private_certificate, request.write_key)
    targets.check_names()
    transaction = stack.enter_context(Transaction(targets.output))
    files = existing_files(os.fspath(request.table)) if request.is_path else []
    targets.check(request.table, files, request.reads, force=request.force)
    return targets, transaction


def _written(ready: Prepared, targets: Targets, transaction: Transaction) -> tuple[str, int | None, Certificate | None]:
    """Draw to a file and certify it; all files appear together, the public certificate last."""
    request, certificate = ready.request, None
    staged = transaction.stage(targets.output)
    with writing(targets.output):
        drawn = ready.engine.draw(ready.drawing(), staged)
    digest: Future[Any] | None = drawn.digest
    if digest is None and request.certificate:
        digest = begun(output_digest, staged)
    ready.engine.table.check_unchanged()
    codebook = _write_codebook(ready, targets, transaction)
    if targets.key is not None:
        transaction.write(targets.key, request.key.text(), private=True, kind="new")
    if request.certificate and digest is not None:
        with progress.stage("certifying"):
            base = promised(ready)
            certificate = certified(ready, base, staged, digest.result(), codebook, transaction.spill)
        if targets.private_certificate is not None:
            transaction.write(targets.private_certificate, certificate.text(), private=True)
        _sign(certificate, targets, transaction, request)
        transaction.write(targets.certificate, certificate.public.text())
        if request.ledger is not None and ready.ledger is not None:
            # Before all else: a line of what was not published is safe, and one that is missing is not.
            transaction.write(request.ledger, _ledger_text(ready.ledger, certificate), private=True, first=True)
    else:
        transaction.remove(targets.signature)
        transaction.remove(targets.certificate)
    transaction.commit()
    return str(request.output), drawn.rows, certificate


def _ledger_text(ledger: Ledger, certificate: Certificate) -> str:
    """The ledger, whose last line names the certificate."""
    before = Ledger(ledger.entries[:-1], ledger.lines[:-1])
    return before.with_entry(replace(ledger.entries[-1], certificate=certificate.public["certificate_digest"])).text()


def _sign(certificate: Certificate, targets: Targets, transaction: Transaction, request: Request) -> None:
    """The signature, or none: one that is left of an earlier release would be of another certificate."""
    if request.sign is None:
        transaction.remove(targets.signature)
    else:
        transaction.write(targets.signature, certificate.sign(request.sign))


def _write_codebook(ready: Prepared, targets: Targets, transaction: Transaction) -> str | None:
    """Stage the codebook, public or private; the other one, of an earlier release, goes."""
    codebook = codebook_text(ready.plan.mechanism, ready.checked.joint)
    for target, private in ((targets.codebook, False), (targets.private_codebook, True)):
        if codebook is not None and private == ready.hides_mechanism:
            transaction.write(target, codebook, private=private)
        else:
            transaction.remove(target)
    return codebook
