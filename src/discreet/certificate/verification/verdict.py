"""Verification of a certificate: by itself, against the table, against the release, and with the key."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.errors import DataError, DiscreetError, InputError
from discreet.certificate import checker
from discreet.certificate.record import Certificate, spelled
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.drawing.keys import ReleaseKey
from discreet.drawing.lookup import key_values
from discreet.drawing.thresholds import draws_of
from discreet.mechanism import Draw, Mechanism
from discreet.tables import count_pairs
from discreet.tables.dialect import DUCKDB
from discreet.tables.digest import table_digest
from discreet.tables.session import FILE, ROW, RowSource, open_rows

__all__ = ["FALSE_ALARM", "Finding", "Verdict", "verify"]

#: Chance that the frequencies of an honest release are rejected, over all tests together.
FALSE_ALARM = 1e-6

#: Rows redrawn at a time.
CHUNK = 100_000

Content = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """What one check found; ``passed`` is None where it could not be made."""

    subject: str
    passed: bool | None
    text: str


@dataclass(frozen=True)
class Verdict:
    """All findings; true where none failed and the leakage was re-checked."""

    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        checked = any(finding.subject == "leakage" and finding.passed for finding in self.findings)
        return checked and not self.failures

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.passed is False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What failed, or why nothing could be said."""
        if self.failures:
            return tuple(f"{finding.subject}: {finding.text}" for finding in self.failures)
        return () if self else tuple(f.text for f in self.findings if f.subject == "leakage")

    def to_dict(self) -> dict[str, Any]:
        """Verdict and findings as plain data."""
        return {
            "verified": bool(self),
            "findings": [{"subject": f.subject, "passed": f.passed, "text": f.text} for f in self.findings],
        }

    def __repr__(self) -> str:
        return "Verdict(verified)" if self else f"Verdict(not verified: {'; '.join(self.reasons)})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def verify(certificate: Any, table: Any = None, released: Any = None, *, key: Any = None) -> Verdict:
    """Verify a certificate, trusting nothing that can be recomputed.

    Parameters
    ----------
    certificate : Certificate or path
        A private one is enough by itself: its counts and proof are checked in integers. A public one needs the table.
    table : path or frame, optional
        The table that was released: it is counted and audited anew.
    released : path or frame, optional
        The release: values, rows, ids, kept columns and, beside the table, frequencies are compared.
    key : ReleaseKey, bytes or path, optional
        The key of the release: every row is drawn again.

    Returns
    -------
    Verdict
        True where nothing failed and the leakage was re-checked; it lists every finding.

    Notes
    -----
    Frequencies are tested cell by cell with exact binomial probabilities, which reject an honest release with a chance
    of at most 1e-6 in all (Bonferroni). A digest is not a signature: who can change a certificate can seal it anew.
    """
    content = (certificate if isinstance(certificate, Certificate) else _read(certificate)).to_dict()
    findings = [Finding(*found) for found in checker.check(content)]
    secret = None if key is None else ReleaseKey.of(key)
    if key is not None and (table is None or released is None):
        raise InputError("a key redraws the release: give the table and the release with it.")
    if not (table is None and released is None):
        try:
            findings += _tests(content, Mechanism.from_dict(content["mechanism"]), table, released, secret)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            findings.append(Finding("certificate", False, f"damaged, or not of these tables ({type(error).__name__})"))
    if any(finding.subject == "leakage" and finding.passed is not None for finding in findings):
        findings = [f for f in findings if f.subject != "leakage" or f.passed is not None]
    return Verdict(tuple(findings))


def _read(path: Any) -> Certificate:
    if isinstance(path, Mapping):
        return Certificate(path)
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"verify takes a certificate or its path, got {type(path).__name__}.")
    return Certificate.from_json(path)


def _tests(
    content: Content, mechanism: Mechanism, table: Any, released: Any, key: ReleaseKey | None
) -> Iterator[Finding]:
    if key is not None:
        same = key.fingerprint == content.get("key", {}).get("fingerprint")
        yield Finding("key", same, "is the key of this release" if same else "is not the key of this release")
    if table is not None:
        yield from _against_table(content, mechanism, table, key)
    if released is not None:
        try:
            yield from _against_release(content, mechanism, released)
            if table is not None:
                yield from _against_both(content, mechanism, table, released, key)
        except DataError as error:
            yield Finding("release", False, str(error))


def _against_table(content: Content, mechanism: Mechanism, table: Any, key: ReleaseKey | None) -> Iterator[Finding]:
    columns = content["columns"]
    try:
        joint = count_pairs(
            table, list(mechanism.sensitive_columns), list(mechanism.useful_columns), bins=mechanism.bins
        )
    except DiscreetError as error:
        yield Finding("table", False, str(error))
        return
    counts = _counts(joint, content, mechanism)
    if "counts" in content:
        same = _comparable(counts) == _comparable(content["counts"])
        yield Finding("counts", same, "are those of the table" if same else "are not those of the table")
    for subject, passed, text in checker.check({**content, "counts": counts}):
        if subject in ("rows", "leakage", "nmi"):
            yield Finding(subject, passed, f"{text} (counted in the table)")
    if "input" not in content["digests"]:
        yield Finding("input digest", None, "none is stated: the table was held by Spark")
        return
    salt = content.get("input_salt") or (None if key is None else key.derive("input-digest").hex())
    if salt is None:
        yield Finding("input digest", None, "not re-checked: its salt is in the private certificate")
        return
    with open_rows(table, columns["input"]) as source:
        found = table_digest(source.relation, columns["input"], salt)
    yield _equal("input digest", found, content["digests"]["input"], "the table")


def _counts(joint: Joint, content: Content, mechanism: Mechanism) -> Content:
    """Counts in the form of a certificate, unknown values counted as what they were treated as."""
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
        distinct = list({checker.digest(x): x for x in useful}.values())
        place = [distinct.index(x) for x in useful]
        cells = [[s, place[x], n] for s, x, n in cells]
        useful = distinct
    sensitive = spelled(joint.sensitive, getattr(mechanism, "sensitive", ()))
    return {"sensitive": sensitive, "useful": useful, "cells": cells}


def _comparable(counts: Content) -> dict[tuple[str, str], int]:
    found: Counter[tuple[str, str]] = Counter()
    for s, x, n in counts["cells"]:
        found[checker.digest(counts["sensitive"][s]), checker.digest(counts["useful"][x])] += n
    return dict(found)


def _equal(subject: str, found: str, stated: str, of_what: str) -> Finding:
    same = found == stated
    return Finding(subject, same, f"agrees with {of_what}" if same else f"is not that of {of_what}")


def _against_release(content: Content, mechanism: Mechanism, released: Any) -> Iterator[Finding]:
    columns, published = content["columns"], content["columns"]["published"]
    record = [] if columns["id"] is None or columns["id"] not in published else [columns["id"]]
    accounted = sorted([*columns["released"], *columns["kept"], *record]) == sorted(published)
    listed = {row["column"] for row in content["not_covered"]} >= set(columns["kept"]) & set(
        mechanism.sensitive_columns
    )
    if not accounted or not listed or set(columns["kept"]) & set(mechanism.useful_columns):
        yield Finding("columns", False, "published columns are not those released, kept and listed as not covered")
    with open_rows(released, published) as source:
        if list(source.columns) != published:
            yield Finding("columns", False, "the release has other columns than the certificate says")
            return
        yield _equal(
            "output digest", table_digest(source.relation, published), content["digests"]["output"], "the release"
        )
        rows = source.aggregate("count(*) AS n").column(0)[0].as_py()
        stated = content["rows"]["output"]
        yield Finding("released rows", rows == stated, f"{rows} rows, {stated} stated")
        for column, draw in zip(content["columns"]["released"], mechanism.draws()):
            yield _possible(source, column, draw)


def _possible(source: RowSource, column: str, draw: Draw) -> Finding:
    name = DUCKDB.identifier(column)
    if draw.bits is not None:
        pattern = f"[01]{{{len(draw.symbols)}}}"
        wrong = f"{name} IS NULL OR NOT regexp_full_match({name}, '{pattern}')"
        strange = source.aggregate(f"count(*) FILTER (WHERE {wrong}) AS n").column(0)[0].as_py()
    else:
        values = source.aggregate(f"{name} AS y, count(*) AS n", name).to_pylist()
        strange = sum(row["n"] for row in values if row["y"] not in set(draw.labels))
    return Finding(f"values of {column}", strange == 0, f"{strange} rows hold what the mechanism never releases")


def _against_both(
    content: Content, mechanism: Mechanism, table: Any, released: Any, key: ReleaseKey | None
) -> Iterator[Finding]:
    columns = content["columns"]
    needed = columns["input"] or _needed(content, mechanism)
    with (
        open_rows(table, needed) as source,
        open_rows(released, columns["published"], beside=source) as other,
    ):
        both = [c for c in columns["published"] if c == columns["id"] or c in columns["kept"]]
        if both:
            before, after = table_digest(source.relation, both), table_digest(other.relation, both)
            yield Finding("kept columns", before == after, "unchanged" if before == after else "were changed")
        link = _link(content, source, mechanism, other)
        if link is None:
            yield Finding("frequencies", None, "rows cannot be matched: the release has a random order and no id")
        else:
            yield from _linked(content, mechanism, link, source, key)
            return
        if key is not None:
            yield _redrawn_as_bag(content, mechanism, source, other, key)


def _needed(content: Content, mechanism: Mechanism) -> list[str]:
    """Columns of the table that are compared, where the certificate does not list all."""
    columns = content["columns"]
    record = [] if columns["id"] is None else [columns["id"]]
    return list(dict.fromkeys([*mechanism.sensitive_columns, *mechanism.useful_columns, *columns["kept"], *record]))


def _link(content: Content, source: RowSource, mechanism: Mechanism, other: RowSource) -> Any:
    """Rows of the table beside those of the release: keys, id, released values; None where nothing links them."""
    columns = content["columns"]
    keys = _keys(source, mechanism)
    record = _record_text(columns["id"])
    shown = ", ".join(f"r.{DUCKDB.identifier(c)} AS y{k}" for k, c in enumerate(columns["released"]))
    left = f"SELECT {keys}, {record} AS id_, row_number() OVER (ORDER BY {FILE}, {ROW}) AS place_"
    left += "".join(f", {DUCKDB.identifier(c)} AS z{k}_" for k, c in enumerate(columns["kept"]))
    same = [
        f"{DUCKDB.as_text(f't.z{k}_')} IS DISTINCT FROM {DUCKDB.as_text('r.' + DUCKDB.identifier(c))}"
        for k, c in enumerate(columns["kept"])
    ]
    shown += f", ({' OR '.join(same) or 'false'}) AS changed_"
    if columns["id"] is not None:
        left += f", {DUCKDB.identifier(columns['id'])} AS match_"
    source.relation.create_view("discreet_table", replace=True)
    other.relation.create_view("discreet_release", replace=True)
    if columns["id"] is not None and columns["id"] in columns["published"]:
        matched = f"t.match_ = r.{DUCKDB.identifier(columns['id'])}"
    elif content["order"] == "input" and content["engine"] == "duckdb":
        matched = f"t.place_ = r.{ROW} + 1"
    else:
        return None
    return source.connection.sql(
        f"SELECT t.*, {shown} FROM ({left} FROM discreet_table) AS t FULL JOIN discreet_release AS r ON {matched}"
    )


def _record_text(record: str | None) -> str:
    if record is not None:
        return DUCKDB.as_text(DUCKDB.identifier(record))
    return f"{FILE} || ':' || {DUCKDB.as_text(ROW)}"


def _keys(source: RowSource, mechanism: Mechanism) -> str:
    """Values that the draws look up, one column each."""
    wanted = dict.fromkeys(column for draw in draws_of(mechanism) for column in draw.inputs)
    values = [DUCKDB.symbol(column, source.kinds[column], mechanism.bins.get(column)) for column in wanted]
    return ", ".join(f"{value} AS {DUCKDB.identifier('k_' + column)}" for value, column in zip(values, wanted))


def _linked(
    content: Content, mechanism: Mechanism, link: Any, source: RowSource, key: ReleaseKey | None
) -> Iterator[Finding]:
    unmatched = link.aggregate("count(*) FILTER (WHERE place_ IS NULL) AS a, count(*) FILTER (WHERE y0 IS NULL) AS b")
    alone = sum(unmatched.fetchall()[0])
    yield Finding(
        "ids",
        alone == 0,
        "every row of the table has one of the release"
        if not alone
        else f"{alone} rows of the table and the release have no partner",
    )
    if content["columns"]["kept"]:
        changed = link.aggregate("count(*) FILTER (WHERE changed_) AS n").fetchall()[0][0]
        text = "unchanged, row by row" if not changed else f"were changed in {changed} rows"
        yield Finding("kept columns", changed == 0, text)
    for number, (column, draw) in enumerate(zip(content["columns"]["released"], mechanism.draws())):
        yield _frequencies(content, mechanism, link, number, column, draw)
    if key is not None:
        wrong = _redrawn(content, mechanism, link, key)
        text = "every row is the one that the key draws" if not wrong else f"{wrong} rows are not what the key draws"
        yield Finding("redraw", wrong == 0, text)


def _frequencies(content: Content, mechanism: Mechanism, link: Any, number: int, column: str, draw: Draw) -> Finding:
    """Exact binomial tests of every count against its weight, and no count where the weight is zero."""
    names = [DUCKDB.identifier("k_" + c) for c in draw.inputs]
    by = ", ".join([*names, f"y{number}"])
    found = link.filter("place_ IS NOT NULL").aggregate(f"{by}, count(*) AS n", by).fetchall()
    rows = _row_lookup(content, mechanism, draw)
    observed = (_label_counts if draw.bits is None else _bit_counts)(found, rows, draw)
    if observed is None:
        return Finding(f"frequencies of {column}", False, "a row holds what its value is never released as")
    worst = _smallest_chance(*observed)
    passed = worst >= FALSE_ALARM
    text = (
        f"agree with the weights (false alarms below {FALSE_ALARM:g})"
        if passed
        else (f"do not agree with the weights (chance below {max(worst, 1e-300):.1g})")
    )
    return Finding(f"frequencies of {column}", passed, text)


def _row_lookup(content: Content, mechanism: Mechanism, draw: Draw) -> dict[tuple[Any, ...], int]:
    """Row of the mechanism by the values that are looked up; unknown ones go with what they are treated as."""

    class Known(dict[tuple[Any, ...], int]):
        def __missing__(self, values: tuple[Any, ...]) -> int:
            if stand_in is None:
                return -1
            return self.get((*values[: len(values) - len(stand_in)], *stand_in), -1)

    treated = content.get("unseen")
    label = None if not treated else labels.decode(treated["treated_as"])
    stand_in = None if not treated else label if isinstance(label, tuple) else (label,)
    return Known({key_values(symbol, draw.inputs, mechanism.bins): row for row, symbol in enumerate(draw.symbols)})


def _label_counts(found: list[Any], rows: Mapping[Any, int], draw: Draw) -> tuple[Any, Any, Any] | None:
    weights = _weights(draw)
    counts: Counter[tuple[int, str]] = Counter()
    totals: Counter[int] = Counter()
    for *values, y, n in found:
        row = rows[tuple(values)]
        if row < 0 or (row, y) not in weights:
            return None
        counts[row, y] += n
        totals[row] += n
    cells = [(counts[row, y], totals[row], w / checker.FULL) for (row, y), w in weights.items() if totals[row]]
    seen, trials, chances = (np.array(part) for part in zip(*cells))
    return seen, trials, chances


def _weights(draw: Draw) -> dict[tuple[int, str], int]:
    """Weight of every entry."""
    result = {}
    for row in range(len(draw.symbols)):
        for entry in range(int(draw.starts[row]), int(draw.starts[row + 1])):
            result[row, draw.labels[entry]] = int(draw.weights[entry])
    return result


def _bit_counts(found: list[Any], rows: Mapping[Any, int], draw: Draw) -> tuple[Any, Any, Any] | None:
    size = len(draw.symbols)
    ones = np.zeros((size, size), dtype=np.int64)
    totals = np.zeros(size, dtype=np.int64)
    for *values, y, n in found:
        row = rows[tuple(values)]
        if row < 0 or not isinstance(y, str) or len(y) != size:
            return None
        ones[row] += n * (np.frombuffer(y.encode(), dtype=np.uint8) == ord("1"))
        totals[row] += n
    true, other = draw.bits or (0, 0)
    chances = np.where(np.eye(size, dtype=bool), true, other) / checker.FULL
    return ones.ravel(), np.repeat(totals, size), chances.ravel()


def _smallest_chance(seen: Any, trials: Any, chances: Any) -> float:
    """The smallest two-sided chance of the counts, times the number of tests."""
    from scipy.stats import binom

    below, above = binom.cdf(seen, trials, chances), binom.sf(seen - 1, trials, chances)
    return float(min(1.0, 2 * np.minimum(below, above).min() * len(seen)))


def _lines(relation: Any) -> Iterator[tuple[Any, ...]]:
    """Rows of a relation as tuples, a chunk in Python at a time."""
    for batch in relation.to_arrow_table().to_batches(CHUNK):
        yield from zip(*(column.to_pylist() for column in batch.columns))


def _redrawn(content: Content, mechanism: Mechanism, link: Any, key: ReleaseKey) -> int:
    """Rows whose released values are not those that the key draws, by Python's own SHA-256."""
    draws = draws_of(mechanism)
    subkeys = [key.subkey(draw.column, mechanism.fingerprint) for draw in draws]
    rows = [_row_lookup(content, mechanism, draw.draw) for draw in draws]
    names = list(link.columns)
    places = [[names.index("k_" + c) for c in draw.inputs] for draw in draws]
    record, released = names.index("id_"), [names.index(f"y{number}") for number in range(len(draws))]
    wrong = 0
    for line in _lines(link):
        for number, draw in enumerate(draws):
            row = rows[number][tuple(line[k] for k in places[number])]
            drawn = None if row < 0 or line[record] is None else draw.label(subkeys[number], row, line[record])
            if drawn is None or drawn != line[released[number]]:
                wrong += 1
                break
    return wrong


def _redrawn_as_bag(content: Content, mechanism: Mechanism, source: RowSource, other: Any, key: ReleaseKey) -> Finding:
    """Where rows cannot be matched: the released values, as often as each must occur."""
    columns, draws = content["columns"], draws_of(mechanism)
    shown = f"{_keys(source, mechanism)}, {_record_text(columns['id'])} AS id_"
    lines = source.relation.project(shown)
    names = list(lines.columns)
    rows = [_row_lookup(content, mechanism, draw.draw) for draw in draws]
    subkeys = [key.subkey(draw.column, mechanism.fingerprint) for draw in draws]
    expected: Counter[tuple[Any, ...]] = Counter()
    for line in _lines(lines):
        by_name = dict(zip(names, line))
        found = [rows[k][tuple(by_name["k_" + c] for c in draw.inputs)] for k, draw in enumerate(draws)]
        expected[tuple(d.label(subkeys[k], found[k], by_name["id_"]) for k, d in enumerate(draws))] += 1
    shown = ", ".join(map(DUCKDB.identifier, columns["released"]))
    seen = Counter({line[:-1]: line[-1] for line in other.relation.aggregate(f"{shown}, count(*)", shown).fetchall()})
    wrong = sum((expected - seen).values())
    text = "the values are those that the key draws" if not wrong else f"{wrong} values are not what the key draws"
    return Finding("redraw", wrong == 0, text)
