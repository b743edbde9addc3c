"""A certificate against the table: it is counted and audited anew."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from discreet._support.errors import BrokenNotionError, DiscreetError
from discreet.certificate import checker
from discreet.certificate.beside import audit_beside
from discreet.certificate.limits import with_limits
from discreet.certificate.persons import check_persons
from discreet.certificate.record import spelled
from discreet.certificate.verification.averages import averages
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding, equal
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.drawing.keys import input_hmac
from discreet.mechanism.draw import spread_labels
from discreet.notions import from_dict
from discreet.tables import count_pairs
from discreet.tables.session import DuckDBTable, Table

__all__ = ["against_table"]


def against_table(evidence: Evidence, table: Table) -> Iterator[Finding]:
    """Counts, rows, leakage, information, what is published beside, and the digest where its key is known."""
    content, mechanism = evidence.content, evidence.own
    if not mechanism.sensitive_columns or not mechanism.useful_columns:
        yield Finding("table", False, "the certificate does not say which columns are sensitive and which are useful")
        return
    try:
        joint = count_pairs(
            table, list(mechanism.sensitive_columns), list(mechanism.useful_columns), bins=mechanism.bins
        )
    except DiscreetError as error:
        yield Finding("table", False, str(error))
        return
    counts, unknown = _counts(joint, evidence)
    if "designed_on" in content:
        yield _held_out(content, counts)
        return
    same = False
    if "counts" in content:
        same = _comparable(counts) == _comparable(content["counts"])
        yield Finding("counts", same, "are those of the table" if same else "are not those of the table")
    # What was decided on the same counts is not decided again.
    for subject, passed, text in evidence.checked if same else checker.check({**content, "counts": counts}):
        if subject in ("size", "rows", "limits", "leakage", "nmi"):
            yield Finding(subject, passed, f"{text} (counted in the table)")
            if subject == "leakage" and passed and not same:
                yield from averages(content["notion"], counts, mechanism)
    if evidence.is_of_release:
        yield from _of_release(evidence, table, joint, unknown)


def _held_out(content: Mapping[str, Any], counts: dict[str, Any]) -> Finding:
    """Whether records that were held out of a design are part of the table, and all others were designed on."""
    whole = _comparable(counts)
    records = content["rows"]["input"] + content["designed_on"]["records"]
    right = records == sum(whole.values())
    if "counts" in content:
        right &= all(n <= whole.get(pair, 0) for pair, n in _comparable(content["counts"]).items())
    text = "are records of the table, which were held out of the design" if right else "are not records of the table"
    return Finding("counts", right, text)


def _of_release(evidence: Evidence, table: Table, joint: Joint, unknown: int) -> Iterator[Finding]:
    content = evidence.content
    stated = content["unseen"]["rows"] if content["unseen"] else 0
    yield Finding("unseen", unknown == stated, f"{unknown} rows with unknown values, {stated} stated")
    if content["checked_on"] != "this table":
        yield Finding("checked on", None, "the release was made without its sensitive column; here it was there")
    else:
        yield from _together(evidence, table, joint)
    if isinstance(table, DuckDBTable) and table.path is not None and set(table.columns) != {*evidence.columns["input"]}:
        yield Finding("input columns", False, "the table has other columns than the certificate says")
    yield _input_digest(evidence, table)


def _together(evidence: Evidence, table: Table, joint: Joint) -> Iterator[Finding]:
    """What the records of a person, and all published columns, tell together."""
    if evidence.columns["person"] is not None:
        yield _persons(evidence, table, joint)
    elif evidence.content["persons"] is not None:
        yield Finding("persons", False, "are said to be checked, and no column tells them")
    if evidence.columns["kept"]:
        yield _beside(evidence, table, joint)


def _persons(evidence: Evidence, table: Table, joint: Joint) -> Finding:
    content, mechanism, column = evidence.content, evidence.own, evidence.columns["person"]
    try:
        found = check_persons(
            table,
            mechanism,
            from_dict(content["notion"]),
            person=column,
            sensitive=mechanism.sensitive_columns,
            suppressed=_suppressed(joint, evidence),
        )
    except BrokenNotionError:
        return Finding("persons", False, "the labels of all records of a person together break the promise")
    same = found.to_dict() == content["persons"]
    kept = "what all labels of a person tell about each of its records keeps the promise"
    text = kept if same else "tell something else than stated"
    return Finding("persons", same, text)


def _beside(evidence: Evidence, table: Table, joint: Joint) -> Finding:
    """Everything that is published together is audited anew, and compared with what is stated of it."""
    content, mechanism, subject = evidence.content, evidence.own, "kept columns beside the release"
    stated = {name: content[name] for name in ("covered", "not_covered")}
    try:
        found = audit_beside(
            table,
            mechanism,
            from_dict(content["notion"]),
            sensitive=mechanism.sensitive_columns,
            kept=evidence.columns["kept"],
            uncovered=[row["column"] for row in stated["not_covered"]],
            suppressed=_suppressed(joint, evidence),
            counted=joint,
        )
    except BrokenNotionError:
        return Finding(subject, False, "break the promise that is said to cover them")
    if _exactly(found.to_dict()) != _exactly(stated):
        return Finding(subject, False, "tell something else about S than stated")
    left = ", ".join(found.uncovered_columns)
    return Finding(subject, True, f"tell what is stated; the promise does not cover {left}" if left else "are covered")


def _exactly(beside: dict[str, Any]) -> dict[str, Any]:
    """Without numbers that are only about right."""
    rows = [
        row | {"values": row["values"] if isinstance(row["values"], int) else None} for row in beside["not_covered"]
    ]
    return {"covered": beside["covered"], "not_covered": sorted(rows, key=lambda row: row["column"])}


def _suppressed(joint: Joint, evidence: Evidence) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """By the values that a draw looks up: unknown ones, and what stood in for each."""
    mechanism, treated = evidence.own, evidence.content["unseen"]
    if not treated:
        return {}
    known, like = set(mechanism.useful), labels.decode(treated["treated_as"])
    several = len(mechanism.useful_columns) > 1
    unknown = [x for x in joint.useful if x not in known]
    found = {x if several else (x,): like if several else (like,) for x in unknown}
    if not mechanism.reads_sensitive:
        return found
    values = spread_labels(joint.sensitive, len(mechanism.sensitive_columns))
    return {s + x: s + stand_in for s in values for x, stand_in in found.items()}


def _input_digest(evidence: Evidence, table: Table) -> Finding:
    content, stated = evidence.content, evidence.content["digests"]["input"]
    if stated is None:
        return Finding("input digest", None, "none is stated: the table was held by Spark")
    secret = content.get("input_key") or (None if evidence.key is None else evidence.key.input_key)
    if secret is None:
        return Finding("input digest", None, "not re-checked: its key is in the private certificate")
    if stated["of"].startswith("rows") and isinstance(table, DuckDBTable):
        found = table.content(evidence.columns["input"], in_order=stated["of"] == "rows in order")
    else:
        found = table.content()
    if found.of != stated["of"]:
        return Finding(
            "input digest", None, f"not re-checked: it is that of {stated['of']}, and the table has {found.of}"
        )
    return equal("input digest", input_hmac(secret, found.digest), stated["hmac"], "the table")


def _counts(joint: Joint, evidence: Evidence) -> tuple[dict[str, Any], int]:
    """Counts in the form of a certificate, unknown values counted as what they were treated as; and how many rows."""
    content, mechanism = evidence.content, evidence.own
    table = np.asarray(joint.counts)
    rows, columns = np.nonzero(table)
    cells = list(map(list, zip(rows.tolist(), columns.tolist(), table[rows, columns].tolist())))
    useful, unknown = spelled(joint.useful, mechanism.useful), 0
    treated = content.get("unseen")
    if treated:
        known = {checker.digest(x) for x in content["mechanism"]["useful"]}
        strange = [checker.digest(x) not in known for x in useful]
        unknown = sum(n for _, x, n in cells if strange[x])
        useful = [treated["treated_as"] if odd else x for odd, x in zip(strange, useful)]
        found = {checker.digest(x): x for x in useful}
        number = {name: k for k, name in enumerate(found)}
        distinct, place = list(found.values()), [number[checker.digest(x)] for x in useful]
        merged: Counter[tuple[int, int]] = Counter()
        for s, x, n in cells:
            merged[s, place[x]] += n
        cells = [[s, x, n] for (s, x), n in merged.items()]
        useful = distinct
    sensitive = spelled(joint.sensitive, mechanism.sensitive)
    return with_limits({"sensitive": sensitive, "useful": useful, "cells": cells}, content["notion"]), unknown


def _comparable(counts: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Counts by what their labels are, however those are listed."""
    sensitive, useful = ([checker.digest(label) for label in counts[side]] for side in ("sensitive", "useful"))
    found: Counter[tuple[str, str]] = Counter()
    for s, x, n in counts["cells"]:
        found[sensitive[s], useful[x]] += n
    return dict(found)
