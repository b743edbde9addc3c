"""A certificate against the table: it is counted and audited anew."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from discreet._support.errors import DiscreetError
from discreet.certificate import checker
from discreet.certificate.record import spelled
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding, equal
from discreet.core.joint import Joint
from discreet.tables import count_pairs
from discreet.tables.digest import table_digest
from discreet.tables.session import DuckDBTable, Table

__all__ = ["against_table"]


def against_table(evidence: Evidence, table: Table) -> Iterator[Finding]:
    """Counts, rows, leakage, information and, where its salt is known, the digest."""
    content, mechanism = evidence.content, evidence.mechanism
    try:
        joint = count_pairs(
            table, list(mechanism.sensitive_columns), list(mechanism.useful_columns), bins=mechanism.bins
        )
    except DiscreetError as error:
        yield Finding("table", False, str(error))
        return
    counts = _counts(joint, evidence)
    if "counts" in content:
        same = _comparable(counts) == _comparable(content["counts"])
        yield Finding("counts", same, "are those of the table" if same else "are not those of the table")
    for subject, passed, text in checker.check({**content, "counts": counts}):
        if subject in ("rows", "leakage", "nmi"):
            yield Finding(subject, passed, f"{text} (counted in the table)")
    yield _input_digest(evidence, table)


def _input_digest(evidence: Evidence, table: Table) -> Finding:
    content, key = evidence.content, evidence.key
    if "input" not in content["digests"] or not isinstance(table, DuckDBTable):
        return Finding("input digest", None, "none is stated: the table was held by Spark")
    salt = content.get("input_salt") or (None if key is None else key.derive("input-digest").hex())
    if salt is None:
        return Finding("input digest", None, "not re-checked: its salt is in the private certificate")
    found = table_digest(table.relation, evidence.columns["input"], salt)
    return equal("input digest", found, content["digests"]["input"], "the table")


def _counts(joint: Joint, evidence: Evidence) -> dict[str, Any]:
    """Counts in the form of a certificate, unknown values counted as what they were treated as."""
    content, mechanism = evidence.content, evidence.mechanism
    cells = [
        [s, x, int(joint.counts[s, x])]  # type: ignore[index]
        for s in range(joint.n_sensitive)
        for x in range(joint.n_useful)
        if joint.counts[s, x]  # type: ignore[index]
    ]
    useful = spelled(joint.useful, mechanism.useful)
    treated = content.get("unseen")
    if treated:
        known = {checker.digest(x) for x in content["mechanism"]["useful"]}
        useful = [x if checker.digest(x) in known else treated["treated_as"] for x in useful]
        found = {checker.digest(x): x for x in useful}
        number = {name: k for k, name in enumerate(found)}
        distinct, place = list(found.values()), [number[checker.digest(x)] for x in useful]
        cells = [[s, place[x], n] for s, x, n in cells]
        useful = distinct
    sensitive = spelled(joint.sensitive, mechanism.sensitive)
    return {"sensitive": sensitive, "useful": useful, "cells": cells}


def _comparable(counts: dict[str, Any]) -> dict[tuple[str, str], int]:
    found: Counter[tuple[str, str]] = Counter()
    for s, x, n in counts["cells"]:
        found[checker.digest(counts["sensitive"][s]), checker.digest(counts["useful"][x])] += n
    return dict(found)
