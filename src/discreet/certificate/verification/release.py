"""A certificate against the release alone: columns, digests, rows, and values that can occur."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from discreet.certificate.record import Certificate
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding, equal
from discreet.mechanism import Draw
from discreet.tables.dialect import DUCKDB
from discreet.tables.digest import table_digest
from discreet.tables.session import DuckDBTable

__all__ = ["against_release"]


def against_release(evidence: Evidence, released: DuckDBTable) -> Iterator[Finding]:
    """What anyone can check who has the release and its certificate."""
    content, columns = evidence.content, evidence.columns
    published = columns["published"]
    if not _accounted(evidence):
        yield Finding("columns", False, "published columns are not those released, kept, and listed as covered or not")
    if list(released.columns) != published:
        yield Finding("columns", False, "the release has other columns than the certificate says")
        return
    found = table_digest(released.relation, published)
    yield equal("output digest", found, content["digests"]["output"], "the release")
    yield from _beside(evidence, released)
    rows, stated = released.count(), content["rows"]["output"]
    yield Finding("released rows", rows == stated, f"{rows} rows, {stated} stated")
    for column, draw in zip(columns["released"], evidence.mechanism.draws()):
        yield _possible(released, column, draw)


def _accounted(evidence: Evidence) -> bool:
    """Whether every published column is a released one, a kept one or the id, and sensitive ones are not covered."""
    columns, mechanism, published = evidence.columns, evidence.mechanism, evidence.columns["published"]
    record = [] if columns["id"] is None or columns["id"] not in published else [columns["id"]]
    listed = {row["column"] for row in evidence.content["not_covered"]}
    covered = (evidence.content["covered"] or {"columns": []})["columns"]
    return (
        sorted([*columns["released"], *columns["kept"], *record]) == sorted(published)
        and sorted([*covered, *listed]) == sorted(columns["kept"])
        and not set(covered) & set(mechanism.sensitive_columns)
        and not set(columns["kept"]) & set(mechanism.useful_columns)
    )


def _beside(evidence: Evidence, released: DuckDBTable) -> Iterator[Finding]:
    """What lies beside a release belongs to it: another release's codebook would explain other values."""
    stated = evidence.content["digests"].get("codebook")
    if released.path is None:
        return
    codebook, certificate = (Path(f"{released.path}.{what}.json") for what in ("codebook", "certificate"))
    if codebook.is_file():
        yield equal("codebook", hashlib.sha256(codebook.read_bytes()).hexdigest(), stated, "the release")
    elif stated is not None:
        yield Finding("codebook", None, "not re-checked: it does not lie beside the release")
    if certificate.is_file():
        own = Certificate(evidence.content).public["certificate_digest"]
        yield equal("public certificate", _digest_in(certificate), own, "this one")


def _digest_in(path: Path) -> str:
    """The digest that a certificate states; nothing where the file is none."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["certificate_digest"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""


def _possible(source: DuckDBTable, column: str, draw: Draw) -> Finding:
    name = DUCKDB.identifier(column)
    if draw.bits is not None:
        pattern = f"[01]{{{len(draw.symbols)}}}"
        wrong = f"{name} IS NULL OR NOT regexp_full_match({name}, '{pattern}')"
        strange = source.aggregate(f"count(*) FILTER (WHERE {wrong}) AS n").column(0)[0].as_py()
    else:
        known = set(draw.labels)
        values = source.aggregate(f"{name} AS y, count(*) AS n", name).to_pylist()
        strange = sum(row["n"] for row in values if row["y"] not in known)
    return Finding(f"values of {column}", strange == 0, f"{strange} rows hold what the mechanism never releases")
