"""`discreet.verify`: all checks of a certificate, trusting nothing that can be recomputed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from discreet._support import progress
from discreet._support.errors import DataError, DiscreetError, InputError
from discreet.certificate import checker
from discreet.certificate.record import Certificate
from discreet.certificate.verification.averages import averages
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.publication import against_publication
from discreet.certificate.verification.release import against_release
from discreet.certificate.verification.rows import against_both
from discreet.certificate.verification.scope import KEY, RELEASED, TABLE, scope_of
from discreet.certificate.verification.signed import signature_finding
from discreet.certificate.verification.statements import about_key, unchecked
from discreet.certificate.verification.table import against_table
from discreet.certificate.verification.verdict import Finding, Verdict
from discreet.drawing.keys import ReleaseKey
from discreet.mechanism import Mechanism
from discreet.tables import open_table
from discreet.tables.files import existing_files, readable
from discreet.tables.session import DuckDBTable, Limits

__all__ = ["verify"]

#: The highest level that is left where the checker could not check something.
LIMITS = {"leakage": "consistent"}

#: Errors of data that are not what they should be, after their form was found right.
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError)


def verify(
    certificate: Any,
    table: Any = None,
    released: Any = None,
    *,
    key: Any = None,
    signer: Any = None,
    signature: Any = None,
    memory_limit: str | None = None,
) -> Verdict:
    """Verify a certificate, trusting nothing that can be recomputed.

    Parameters
    ----------
    certificate : Certificate or path
        A private one is enough by itself: its counts and proof are checked in integers. So is a public one whose owner
        published the counts. Any other public one needs the table; that of a whole table, the private one.
    table : path or frame, optional
        The table that was released: it is counted and audited anew.
    released : path or frame, optional
        The release: values, rows, ids, kept columns and, beside the table, frequencies are compared.
    key : ReleaseKey, bytes or path, optional
        The key of the release: every row is drawn again.
    signer : path or str, optional
        Public key, or file of allowed signers, of whom the certificate must be signed by.
    signature : path or str, optional
        Left out, the ``.sig`` beside the certificate; for a private one, or one without a file, that of the release.
    memory_limit : str, optional
        Of DuckDB, such as 2GB; what does not fit goes to a private folder.

    Returns
    -------
    Verdict
        Its ``level`` is "failed", "consistent" (nothing failed, the leakage was not re-checked: what the public can
        see), "verified" (the leakage was re-checked on counts) or "redrawn" (and every row with the key); it is true
        from "verified" on, and lists every finding, also what was not checked.

    Notes
    -----
    Frequencies are tested cell by cell with exact binomial probabilities, which reject an honest release with a chance
    of at most 1e-6 in all (Bonferroni). A digest is not a signature: who can change a certificate can seal it anew, but
    only the signer can sign it.
    """
    stated = certificate if isinstance(certificate, Certificate) else _read(certificate)
    content = stated.to_dict()
    if signature is not None and signer is None:
        raise InputError("a signature says something about its signer alone: give the signer's public key with it.")
    secret = None if key is None else ReleaseKey.of(key)
    if key is not None and (table is None or released is None):
        raise InputError("a key redraws the release: give the table and the release with it.")
    for given in (table, released):
        if isinstance(given, str | os.PathLike):
            existing_files(os.fspath(given))  # what is not there was not verified, and did not fail either
    with progress.stage("checking the certificate"):
        checked = checker.check(content)
    findings = [Finding(*found, at_most=LIMITS.get(found[0], "redrawn")) for found in checked]
    if findings[-1].subject != "bound":  # the checker stopped: what follows would read what it refused
        return Verdict(tuple(findings))
    signed = [] if signer is None else [signature_finding(stated, signature, signer, (certificate, released))]
    findings += signed
    if signed and content["private_mechanism"] and content["mechanism"] is not None and key is None:
        text = "the signature is of a digest of it that needs the key"
        findings.append(Finding("mechanism under the signature", None, text, at_most="consistent"))
    try:
        mechanism = None if content["mechanism"] is None else Mechanism.from_dict(content["mechanism"])
        is_signed = any(finding.passed for finding in signed)
        evidence = Evidence(content, mechanism, secret, is_signed, checked)
        findings += _tests(evidence, table, released, Limits(memory_limit))
    except DAMAGE as error:
        findings.append(Finding("certificate", False, f"damaged, or not of these tables ({type(error).__name__})"))
    else:
        findings += unchecked(evidence, {f.subject for f in findings if f.passed})
    findings = list(_once(findings))
    given = {name for name, one in ((TABLE, table), (RELEASED, released), (KEY, key)) if one is not None}
    return Verdict(tuple(findings), scope_of(content, findings, given))


def _once(findings: list[Finding]) -> Iterator[Finding]:
    """Without what could not be checked in one way and was in another."""
    made = {finding.subject for finding in findings if finding.passed is not None}
    return (finding for finding in findings if finding.passed is not None or finding.subject not in made)


def _read(path: Any) -> Certificate:
    if isinstance(path, Mapping):
        return Certificate(path)
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"verify takes a certificate or its path, got {type(path).__name__}.")
    return Certificate.from_json(path)


def _tests(evidence: Evidence, table: Any, released: Any, limits: Limits) -> Iterator[Finding]:
    """The findings of every check that the tables allow; each table is opened once."""
    about = list(about_key(evidence))
    yield from about
    if any(finding.subject == "key" and not finding.passed for finding in about):
        evidence = replace(evidence, key=None)  # another key would call every honest field changed
    if evidence.is_of_whole_table:
        yield from against_publication(evidence, table, released, limits)
        return
    if evidence.mechanism is not None and "counts" in evidence.content:
        yield from averages(evidence.content["notion"], evidence.content["counts"], evidence.mechanism)
    if released is not None and not evidence.is_of_release:
        yield Finding("release", False, "the certificate is about a design, not about a release")
        return
    with contextlib.ExitStack() as stack:
        source = None
        if table is not None and evidence.mechanism is None:
            yield Finding("table", None, "not compared: the mechanism is private, and in the private certificate")
        elif table is not None:
            try:
                source = stack.enter_context(open_table(table, evidence.needed_columns(), places=True, limits=limits))
            except DiscreetError as error:
                yield Finding.of_unread_table(error)
            else:
                if evidence.is_of_release:
                    source.start_digest()
                yield from against_table(evidence, source)
        if released is not None:
            yield from _of_release(evidence, source, released, limits)


def _of_release(evidence: Evidence, source: Any, released: Any, limits: Limits) -> Iterator[Finding]:
    beside = source if isinstance(source, DuckDBTable) else None
    try:
        with (
            readable("the release", released),
            open_table(released, evidence.columns["published"], places=True, limits=limits, beside=beside) as opened,
        ):
            if not isinstance(opened, DuckDBTable):
                raise InputError("a release is verified as files or as a frame in memory.")
            yield from against_release(evidence, opened)
            if beside is not None and list(opened.columns) == evidence.columns["published"]:
                yield from against_both(evidence, beside, opened)
    except DataError as error:
        yield Finding("release", False, str(error))
