"""A certificate against the release alone: columns, digests, rows, and values that can occur."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from discreet.certificate.record import Certificate
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding, equal
from discreet.drawing.cells import cell_symbol, value_table
from discreet.drawing.entries import label_table
from discreet.mechanism import Draw
from discreet.tables.dialect import DUCKDB
from discreet.tables.digest import file_digest, part_digests
from discreet.tables.session import DuckDBTable

__all__ = ["against_release"]


def against_release(evidence: Evidence, released: DuckDBTable) -> Iterator[Finding]:
    """What anyone can check who has the release and its certificate."""
    content, columns = evidence.content, evidence.columns
    if list(released.columns) != columns["published"]:
        yield Finding("columns", False, "the release has other columns than the certificate says")
        return
    yield Finding("columns", True, "are those that the certificate says")
    yield from _digest(evidence, released)
    yield from _beside(evidence, released)
    rows, stated = released.count(), content["rows"]["output"]
    yield Finding("released rows", rows == stated, f"{rows} rows, {stated} stated")
    if evidence.mechanism is not None:
        for draw, names in evidence.drawn():
            if draw.values is None:
                yield _possible(released, names[0], draw)
            else:
                yield _possible_values(released, names, draw, evidence.value_types or {})


def _digest(evidence: Evidence, released: DuckDBTable) -> Iterator[Finding]:
    """The digest of the files; a frame has none."""
    if released.path is None or released.given is None:
        yield Finding("output digest", None, "not re-checked: it is that of files, and the release is a frame here")
        return
    if not os.path.exists(released.given):
        yield Finding("output digest", None, "not re-checked: name the file or the folder itself, not a pattern")
        return
    found = part_digests(released.given) if os.path.isdir(released.given) else file_digest(released.path)
    yield equal("output digest", found, evidence.content["digests"]["output"], "the release")


def _beside(evidence: Evidence, released: DuckDBTable) -> Iterator[Finding]:
    """What lies beside a release belongs to it: another release's codebook would explain other values."""
    content = evidence.content
    if released.given is None:
        return
    codebook, hidden, certificate = (
        Path(f"{released.given}.{what}.json") for what in ("codebook", "codebook.private", "certificate")
    )
    is_keyed = content["private_mechanism"] and content["mechanism"] is None
    own, stated = hidden if content["private_mechanism"] else codebook, content["digests"]["codebook"]
    if own is hidden and codebook.is_file():
        yield Finding("codebook", False, "one lies beside the release, and must not: it is private")
    elif own.is_file() and not is_keyed:
        yield equal("codebook", file_digest(own), stated, "the release")
    elif stated is not None:
        yield Finding("codebook", None, "not re-checked: it is private, or does not lie beside the release")
    if certificate.is_file():
        own = Certificate(evidence.content).public["certificate_digest"]
        yield equal("public certificate", _digest_in(certificate), own, "this one")


def _digest_in(path: Path) -> str:
    """The digest that a certificate states; nothing where the file is none."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["certificate_digest"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""


def _possible_values(source: DuckDBTable, names: Sequence[str], draw: Draw, stated: dict[str, str]) -> Finding:
    """Every row holds values that the mechanism may release together."""
    known = source.connection.from_arrow(value_table(source, draw, names, stated)).set_alias("known")
    cells = [cell_symbol(source, name) for name in names]
    shown = ", ".join(f"{cell} AS c{k}" for k, cell in enumerate(cells))
    counted = source.relation.aggregate(f"{shown}, count(*) AS n", ", ".join(cells)).set_alias("found")
    same = " AND ".join(f"found.c{k} IS NOT DISTINCT FROM known.v{k}" for k in range(len(cells)))
    strange = counted.join(known, same, how="anti").aggregate("coalesce(sum(n), 0)").fetchall()[0][0]
    text = f"{strange} rows hold what the mechanism never releases"
    return Finding(f"values of {' and '.join(names)}", strange == 0, text)


def _possible(source: DuckDBTable, column: str, draw: Draw) -> Finding:
    name = DUCKDB.identifier(column)
    if draw.bits is not None:
        pattern = f"[01]{{{len(draw.symbols)}}}"
        wrong = f"{name} IS NULL OR NOT regexp_full_match({DUCKDB.as_text(name)}, '{pattern}')"
        strange = source.aggregate(f"count(*) FILTER (WHERE {wrong}) AS n").column(0)[0].as_py()
    else:
        known = source.connection.from_arrow(label_table(draw))
        counted = source.relation.aggregate(f"{DUCKDB.as_text(name)} AS y, count(*) AS n", name).set_alias("found")
        odd = counted.join(known.set_alias("known"), "found.y = known.y", how="anti")
        strange = odd.aggregate("coalesce(sum(n), 0)").fetchall()[0][0]
    is_text = source.kinds[column] == "VARCHAR"
    text = f"{strange} rows hold what the mechanism never releases" if is_text else "are not text"
    return Finding(f"values of {column}", strange == 0 and is_text, text)
