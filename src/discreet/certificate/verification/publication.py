"""A certificate of a whole table: records counted in their classes anew, and every row drawn again with the key."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support import progress
from discreet._support.errors import DataError, DiscreetError, InputError
from discreet._support.numeric import IntArray
from discreet.certificate.record import private_mac
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.rows import stored_types
from discreet.certificate.verification.verdict import Finding, equal
from discreet.drawing.keys import input_hmac
from discreet.tables import open_table
from discreet.tables.dialect import plain_kind
from discreet.tables.digest import file_digest, part_digests
from discreet.tables.files import is_parquet, readable
from discreet.tables.session import DuckDBTable, Limits
from discreet.twins.cells import Cells, cells_of
from discreet.twins.distance import Distance
from discreet.twins.draw import NEARLY, ONE_FOR_ONE, appearing
from discreet.twins.records import Records, read_records
from discreet.twins.secret import SecretRule
from discreet.twins.store import overlap_of, places_of, unpacked

__all__ = ["against_publication"]

#: Standard deviations by which the number of records published in a class may be off: one in 10**11 honest ones is.
DEVIATIONS = 7.0


#: What cannot be made again of a publication by Spark, whose private certificate holds no class of a record.
BY_SPARK = "published by Spark, which classified its records with models that are not stored"


@dataclass(frozen=True, eq=False)
class _Known:
    """The table, its records and, unless Spark published it, their classes as the private certificate has them."""

    table: DuckDBTable
    records: Records
    classes: IntArray | None


def against_publication(evidence: Evidence, table: Any, released: Any, limits: Limits) -> Iterator[Finding]:
    """What the table, the published one and the key tell."""
    with contextlib.ExitStack() as stack:
        known = None
        if table is not None:
            try:
                opened = stack.enter_context(open_table(table, places=True, limits=limits))
                if not isinstance(opened, DuckDBTable):
                    raise InputError("a publication is verified against files or a frame in memory.")
                opened.start_digest()
                findings, known = _against_table(evidence, opened)
                yield from findings
            except DiscreetError as error:
                yield Finding.of_unread_table(error)
        if released is not None:
            yield from _against_released(evidence, known, released, limits)


def _against_table(evidence: Evidence, table: DuckDBTable) -> tuple[list[Finding], _Known | None]:
    content = evidence.content
    stated = content["publication"]
    roles = stated["columns"]
    if list(table.columns) != roles["input"]:
        return [
            Finding("certificate", False, "not of this table: it has other columns than the certificate says")
        ], None
    findings = [_input_digest(evidence, table)]
    private = content.get("private_publication")
    if private is None:
        text = "not compared: the classes of its records are in the private certificate"
        return [*findings, Finding("table", None, text, at_most="consistent")], None
    if evidence.key is not None:
        same = private_mac(evidence.key, private, stated["key"]["mac"]) == private.get("mac")
        text = "the key says that it was not changed" if same else "was changed since the table was published"
        findings.append(Finding("private certificate", same, text))
    with progress.stage("reading the table"):
        whose = [*roles["person"], *roles["sensitive"]]
        records = read_records(table, roles["useful"], whose, by=whose if roles["person"] else ())
        one_by_one = bool(roles["person"]) or _is_one_by_one(private, records, stated["rows"])
        if one_by_one and not roles["person"]:
            records = read_records(table, roles["useful"], whose, by=whose)
    findings.append(
        Finding("rows of the table", len(records) == stated["rows"], f"{len(records)} rows, {stated['rows']} stated")
    )
    if _is_by_spark(stated, private):
        # Without the key nothing says that the classes were left out by Spark, and not by whoever changed the counts.
        most_said = "consistent" if evidence.key is None else "verified"
        uncounted = Finding("counts", None, f"not counted again: {BY_SPARK}", at_most=most_said)
        return [*findings, uncounted], _Known(table, records, None)
    most = stated["rows"]
    classes, turns = unpacked(private["classes"], "<u2", most), unpacked(private["turns"], "u1", most)
    names = content["mechanism"]["useful"]
    place = places_of(records, by_row=one_by_one)
    if {len(classes), len(turns)} != {int(place.max(initial=-1)) + 1} or classes.max(initial=0) >= len(names):
        return [*findings, Finding("counts", False, "the classes are not those of this table's records")], None
    own, turn = classes[place], turns[place] - 1
    secret = SecretRule.from_dict(json.loads(private["rule"])).read(records.table, turn)
    found = _counts(secret.labels, names, secret.codes, own, turn >= 0)
    same = found == _stated_counts(content["counts"])
    findings.append(Finding("counts", same, "are those of the table" if same else "are not those of the table"))
    return findings, _Known(table, records, own)


def _is_one_by_one(private: Any, records: Records, most: int) -> bool:
    """Whether the certificate has a class for every row, also of equal ones, and not for every different record."""
    stored = private.get("classes")
    return stored is not None and records.n_tuples < len(records) == len(unpacked(stored, "<u2", most))


def _is_by_spark(stated: Any, private: Any) -> bool:
    """Whether there are no classes because Spark published the table; a KeyError where they are merely missing."""
    stored = {"classes", "turns", "coupling"} & private.keys()
    if stated["engine"] == "spark" and stored:
        raise KeyError("classes")  # of another engine's publication
    return bool(stated["engine"] == "spark")


def _counts(
    labels: Sequence[str], names: Sequence[str], codes: IntArray, classes: IntArray, counted: Any
) -> dict[tuple[str, str], int]:
    flat = np.bincount((codes * len(names) + classes)[counted], minlength=len(labels) * len(names))
    places = np.flatnonzero(flat).tolist()
    return {(labels[k // len(names)], names[k % len(names)]): int(flat[k]) for k in places}


def _stated_counts(counts: Any) -> dict[tuple[str, str], int]:
    return {(counts["sensitive"][s], counts["useful"][x]): n for s, x, n in counts["cells"] if n}


def _input_digest(evidence: Evidence, table: DuckDBTable) -> Finding:
    stated = evidence.content["publication"]["digests"]["input"]
    secret = evidence.content.get("input_key") or (None if evidence.key is None else evidence.key.input_key)
    if stated is None or secret is None:
        return Finding("input digest", None, "not re-checked: its key is in the private certificate")
    found = table.content(evidence.content["publication"]["columns"]["input"] if stated["of"] == "rows" else None)
    if found.of != stated["of"]:
        text = f"not re-checked: it is that of {stated['of']}, and the table has {found.of}"
        return Finding("input digest", None, text)
    return equal("input digest", input_hmac(secret, found.digest), stated["hmac"], "the table")


def _against_released(evidence: Evidence, known: _Known | None, released: Any, limits: Limits) -> Iterator[Finding]:
    stated = evidence.content["publication"]
    try:
        with (
            readable("the published table", released),
            open_table(released, places=True, limits=limits, beside=None if known is None else known.table) as opened,
        ):
            if not isinstance(opened, DuckDBTable):
                raise InputError("a published table is verified as files or as a frame in memory.")
            if list(opened.columns) != stated["columns"]["useful"]:
                yield Finding("columns", False, "the published table has other columns than the certificate says")
                return
            yield Finding("columns", True, "are those that the certificate says")
            yield _output_digest(stated, opened)
            rows = opened.count()
            yield Finding("released rows", rows == stated["rows"], f"{rows} rows, {stated['rows']} stated")
            if known is not None:
                yield from _beside_each_other(evidence, known, opened)
    except DataError as error:
        yield Finding("release", False, str(error))


def _output_digest(stated: Any, released: DuckDBTable) -> Finding:
    digest = stated["digests"]["output"]
    if digest is None or released.path is None or released.given is None or not os.path.exists(released.given):
        return Finding(
            "output digest", None, "not re-checked: it is that of files, and one side is a frame or a pattern"
        )
    found = part_digests(released.given) if os.path.isdir(released.given) else file_digest(released.path)
    return equal("output digest", found, digest, "the published table")


def _beside_each_other(evidence: Evidence, known: _Known, released: DuckDBTable) -> Iterator[Finding]:
    """Types, rows that are rows of the table, how often classes appear; and the draw."""
    useful = evidence.content["publication"]["columns"]["useful"]
    yield _types(known.table, released, useful)
    published = read_records(released, useful).digests
    different, first = np.unique(known.records.digests, return_index=True)
    place = np.minimum(np.searchsorted(different, published), len(different) - 1)
    strange = int((different[place] != published).sum())
    text = "1 row is not" if strange == 1 else f"{strange} rows are not"
    yield Finding("released rows that are rows of the table", strange == 0, text)
    if strange:
        return
    if known.classes is None:
        yield Finding("frequencies", None, f"not counted again: {BY_SPARK}")
        yield Finding("redraw", None, "not re-drawn: published by Spark", at_most="verified")
        return
    yield from _unchanged_rows(evidence, known.records, place, published)
    if evidence.content["publication"]["columns"]["person"]:
        yield Finding(
            "frequencies", None, "not compared: equal records of different persons may be in different classes"
        )
    else:
        yield _class_frequencies(evidence, known.classes, known.classes[first][place])
    if evidence.key is not None:
        yield from _redraw(evidence, known, known.classes, published)


def _types(table: DuckDBTable, released: DuckDBTable, useful: Sequence[str]) -> Finding:
    """Whether columns have the types that they had, as far as the format of the published table can tell it."""
    if released.files and not is_parquet(released.files[0]):
        return Finding("types of released columns", None, "not compared: files of text have none")
    wanted = stored_types(table, useful) if released.files else table.kinds
    same = all(plain_kind(wanted[c]) == plain_kind(released.kinds[c]) for c in useful)
    return Finding("types of released columns", same, f"are {'' if same else 'not '}those of the table")


def _unchanged_rows(evidence: Evidence, records: Records, place: IntArray, published: Any) -> Iterator[Finding]:
    """How many rows of the table are published as often as they occur, and in their order how many stand unchanged."""
    stated = evidence.content["publication"]
    if len(published) != len(records):
        return
    found = overlap_of(records.tuples, place)
    right = stated["classes"].get("overlap") == found
    yield Finding(
        "rows that appear as often as they occur", right, f"{found} of all, {'as' if right else 'not as'} stated"
    )
    if stated["order"] == "input":
        share = f"{math.floor(float((records.digests == published).mean()) * 1e6) / 1e6:.6f}"
        yield Finding("unchanged rows", share == stated["unchanged"], f"{share} of all, {stated['unchanged']} stated")


def _class_frequencies(evidence: Evidence, classes: IntArray, published: IntArray) -> Finding:
    """How often each class is published, beside what the mechanism says on average; in order, of each class of records.

    The table itself has every class as often as it must: only where rows keep their order is it seen that none moved.
    """
    mechanism = evidence.own
    chances = np.zeros((mechanism.n_useful, mechanism.n_useful))
    for k, row in enumerate(_weights(mechanism)):
        for g, chance in row:
            chances[k, g] = chance
    sizes = np.bincount(classes, minlength=mechanism.n_useful)
    mean, spread = sizes[:, None] * chances, sizes[:, None] * chances * (1 - chances)
    if evidence.content["publication"]["order"] == "input" and len(classes) == len(published):
        seen = np.bincount(classes * mechanism.n_useful + published, minlength=mean.size).reshape(mean.shape)
    else:
        mean, spread = mean.sum(axis=0), spread.sum(axis=0)
        seen = np.bincount(published, minlength=mechanism.n_useful)
    off = np.maximum(0.0, np.abs(seen - mean) - 1.0) / np.maximum(np.sqrt(spread), 1e-9)  # standard deviations
    text = f"of published classes are off by {off.max():.1f} standard deviations at most"
    return Finding("frequencies", bool(off.max() <= DEVIATIONS), text)


def _weights(mechanism: Any) -> list[list[tuple[int, float]]]:
    places = mechanism.own_places
    rows = mechanism.public_dict()["rows"]
    return [[(places[y], weight / mechanism.denominator) for y, weight in row] for row in rows]


def _redraw(evidence: Evidence, known: _Known, classes: IntArray, published: Any) -> Iterator[Finding]:
    """All rows drawn again: classes, twins and their order."""
    content, mechanism, key = evidence.content, evidence.own, evidence.key
    assert key is not None
    stated, private = content["publication"], content["private_publication"]
    records, connection = known.records, known.table.connection
    cells = [cells_of(name, records.table.column(name)) for name in stated["columns"]["useful"]]
    weights = {name: math.inf if text == "inf" else float(text) for name, text in stated["weights"].items()}
    hashes = records.hashes(connection, key.derive("twins", mechanism.fingerprint).hex())
    drawn, digest = appearing(
        hashes,
        classes,
        mechanism,
        Distance(cells, weights),
        records.canonical,
        one_for_one=stated["classes"].get("coupling") in (ONE_FOR_ONE, NEARLY),
    )
    if digest != private["coupling"]:
        text = f"twins were looked for with scipy {private['scipy']}, which finds others here: not drawn again"
        yield Finding("redraw", None, text, at_most="verified")
        return
    order = drawn
    if stated["order"] == "shuffle":
        secret = key.derive("twins-order", mechanism.fingerprint, records.content).hex()
        shuffled = records.hashes(connection, secret)
        order = drawn[np.argsort(shuffled, kind="stable")]
    expected = records.digests[order]
    wrong = int((expected != published).sum()) if len(expected) == len(published) else len(expected)
    yield Finding("redraw", wrong == 0, f"{len(expected)} rows drawn again, {wrong} are others")
    yield _shares(stated, cells, drawn)


def _shares(stated: Any, cells: Sequence[Cells], drawn: IntArray) -> Finding:
    """The stated shares of what is unchanged."""
    same = [own.codes == own.codes[drawn] for own in cells]
    found = [float(np.all(same, axis=0).mean()), *(float(column.mean()) for column in same)]
    told = [stated["unchanged"], *(stated["columns_unchanged"][own.name] for own in cells)]
    right = all(f"{math.floor(share * 1e6) / 1e6:.6f}" == text for share, text in zip(found, told))
    return Finding("shares", right, "of unchanged rows and cells are as stated" if right else "are not as stated")
