"""``discreet certify`` and ``discreet verify``: a certificate out, and a verdict on one."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet._support import files, progress
from discreet._support.errors import InputError
from discreet.cli.options import Format, NotionOptions, input_files, load_proof, load_table, show
from discreet.cli.streams import say_written

__all__ = ["certify", "verify"]


def certify(
    table: str,
    mechanism: Path,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    promise: NotionOptions | None = None,
    proof: Path | None = None,
    private_certificate: Path | None = None,
    public_counts: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Format = "text",
) -> int:
    """Certify that a mechanism keeps its promise on a table; exit code 1 where it does not.

    Parameters
    ----------
    table
        CSV or Parquet file, a glob over such files, a folder of them, or sample:adult.
    mechanism
        The JSON that design wrote.
    output
        File for the public certificate, which holds no counts.
    proof
        Proof of the bound that design wrote.
    private_certificate
        File for the certificate with counts and proof, which its owner alone may read.
    public_counts
        Publish the counts of (S, X) with the certificate, so that anyone can verify it; refused while one is below 5.
    force
        Replace existing files.
    format
        Text for people, JSON for programs.
    """
    from discreet.certificate import certify as make_certificate
    from discreet.core.joint import Joint
    from discreet.mechanism import Mechanism
    from discreet.reporting.text.certificate import certificate_text

    stored = Mechanism.from_json(mechanism)
    read: list[str | Path] = [*input_files(table), mechanism, *([] if proof is None else [proof])]
    files.check_targets((output, private_certificate), force=force, never=read)
    if not stored.sensitive_columns or not stored.useful_columns:
        raise InputError("the mechanism does not know its columns. Design it from a table.")
    joint = Joint.from_table(
        load_table(table), list(stored.sensitive_columns), list(stored.useful_columns), bins=stored.bins
    )
    notion = None if promise is None else promise.build()
    with progress.stage("certifying"):
        made = make_certificate(stored, joint, notion, proof=load_proof(proof))
    if public_counts:
        made = made.with_public_counts()
    if private_certificate is not None:
        made.to_json(private_certificate)
    if output is not None:
        made.public.to_json(output)
    show(format, made.public.to_dict(), certificate_text(made) if format == "text" else None)
    for target in (output, private_certificate):
        if target is not None:
            say_written("certificate", target)
    return 0


def verify(
    certificate: Path,
    *,
    table: str | None = None,
    released: str | None = None,
    key_file: Path | None = None,
    require: Literal["consistent", "verified", "redrawn"] = "verified",
    signer: str | None = None,
    signature: Path | None = None,
    memory_limit: str | None = None,
    format: Format = "text",
) -> int:
    """Verify a certificate; exit code 1 where anything fails or the level asked for is not reached.

    A private certificate, and a public one with counts, is checked in integers by itself. Any other needs the table;
    that of a whole table (discreet publish) needs the private one.

    Parameters
    ----------
    certificate
        The JSON that release or certify wrote.
    table
        The table that was released: it is counted and audited anew.
    released
        The release: values, rows, ids, kept columns and frequencies are compared.
    key_file
        Key of the release, given with both tables: every row is drawn again.
    require
        consistent: nothing failed, which the public can see; verified: the leakage was re-checked on counts as well;
        redrawn: and every row with the key.
    signer
        Public key (a .pub file, its line, or a file of allowed signers) of whom the certificate must be signed by.
    signature
        The signature. Left out: the .sig beside the certificate, or beside the release's public one.
    memory_limit
        Of DuckDB: such as 2GB; what does not fit goes to a private folder.
    format
        Text for people, JSON for programs.
    """
    from discreet.certificate import verify as make_verdict
    from discreet.drawing.keys import ReleaseKey
    from discreet.reporting.text.certificate import verdict_text

    key = None if key_file is None else ReleaseKey.from_file(key_file)
    with progress.stage("verifying"):
        verdict = make_verdict(
            certificate,
            None if table is None else load_table(table),
            released,
            key=key,
            signer=signer,
            signature=signature,
            memory_limit=memory_limit,
        )
    passed = verdict.reaches(require)
    found = {**verdict.to_dict(), "required": require, "passed": passed}
    show(format, found, verdict_text(verdict, require) if format == "text" else None)
    return 0 if passed else 1
