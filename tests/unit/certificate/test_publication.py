"""Certificates of whole tables: what is changed is found, and what cannot be checked is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.certificate import checker
from discreet.certificate.record import sealed
from discreet.twins.store import packed, unpacked
from tests.unit.publishing.made_up import people

TABLE = people(3000, seed=5).select(["age", "job", "town", "ill"])


@pytest.fixture(scope="module")
def published() -> dc.Publication:
    return dc.publish(TABLE, "ill", notion=dc.LIP(0.6, confidence=0.9), seed=1)


def resealed(published: dc.Publication, *path: str, value: Any) -> dc.Certificate:
    """The certificate with one statement changed, sealed anew by somebody without the key."""
    content = json.loads(published.certificate.text())
    place = content
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return dc.Certificate(sealed(content))


def found(
    published: dc.Publication, certificate: dc.Certificate, released: Any = None, key: bool = False
) -> dc.Verdict:
    table = published.table if released is None else released
    return dc.verify(certificate, TABLE, table, key=published.key if key else None)


def test_an_honest_one_is_verified_by_itself_and_redrawn_with_the_key(published: dc.Publication) -> None:
    assert dc.verify(published.certificate, TABLE).level == "verified"
    assert found(published, published.certificate).level == "consistent"  # rows in random order, and nobody to vouch
    assert found(published, published.certificate, key=True).level == "redrawn"
    plain = dc.verify(published.certificate.public, TABLE, published.table)
    assert plain.level == "consistent"
    assert any("private certificate" in finding.text for finding in plain.findings)


def test_what_was_checked_and_what_to_give_is_said(published: dc.Publication) -> None:
    private, public, key = published.certificate, published.certificate.public, published.key
    alone = dc.verify(public)
    assert alone.level == "consistent"
    assert alone.reasons == ("leakage: not re-checked: counts are in the private certificate",)
    assert alone.scope[0] == "Checked: the certificate by itself."
    assert "columns and rows of the published table (give --released)" in alone.scope[1]
    assert "the promise, on counts of classes (give the private certificate)" in alone.scope[1]
    assert "--require consistent" in alone.scope[2]
    beside = dc.verify(public, released=published.table)
    assert beside.scope[0] == "Checked: the certificate by itself; columns and rows of the published table."
    assert "--released" not in beside.scope[1]
    both = dc.verify(private, TABLE, published.table)
    assert both.scope[1:] == ("Not checked: that the key draws these rows (give --key-file).",)
    whole = dc.verify(private, TABLE, published.table, key=key)
    assert whole.scope == (f"{both.scope[0][:-1]}; that the key draws these rows.",)
    assert whole.to_dict()["scope"] == list(whole.scope)
    assert dc.verify(private, TABLE, TABLE, key=key).scope == ()  # something failed, which is said
    assert not any("table is needed" in finding.text for finding in alone.findings)


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (("publication", "unchanged"), lambda text: "0.999999"),
        (("publication", "columns_unchanged", "age"), lambda text: "0.999999"),
        (("publication", "rows"), lambda n: n + 1),
        (("publication", "order"), lambda text: "input"),
        (("publication", "weights"), lambda weights: {"age": "5"}),
        (("publication", "classes", "model"), lambda text: "an oracle"),
        (("publication", "columns", "sensitive"), lambda names: ["job"]),
        (("publication", "columns", "dropped"), lambda names: ["age"]),
        (("private_publication", "coupling"), lambda text: "0" * 64),
        (("private_publication", "rule"), lambda text: text.replace('"ill"', '"job"')),
        (("counts", "cells"), lambda cells: [[*cells[0][:2], cells[0][2] + 1], *cells[1:]]),
        (("notion", "epsilon"), lambda epsilon: 0.1),
    ],
)
def test_what_is_changed_is_found_with_the_key(published: dc.Publication, path: tuple[str, ...], change: Any) -> None:
    content: Any = published.certificate.to_dict()
    for name in path:
        content = content[name]
    verdict = found(published, resealed(published, *path, value=change(content)), key=True)
    assert not verdict.reaches("redrawn")
    if path[0] != "private_publication" or path[1] != "coupling":
        assert verdict.level == "failed", path


def test_other_classes_are_not_those_of_the_counts(published: dc.Publication) -> None:
    stored = published.certificate["private_publication"]["classes"]
    classes = unpacked(stored, "<u2", 3000)
    classes[:50] = (classes[:50] + 1) % published.joint.n_useful
    changed = resealed(published, "private_publication", "classes", value=packed(classes, "<u2"))
    assert "counts" in {finding.subject for finding in found(published, changed).failures}
    short = resealed(published, "private_publication", "classes", value=packed(classes[:-1], "<u2"))
    assert found(published, short).level == "failed"
    damaged = resealed(published, "private_publication", "classes", value="nonsense")
    assert found(published, damaged).level == "failed"


def test_other_rows_are_found(published: dc.Publication) -> None:
    table = published.table
    strange = table.set_column(0, "age", pa.array([200, *table["age"].to_pylist()[1:]]))
    assert found(published, published.certificate, strange).level == "failed"
    order = np.arange(table.num_rows)
    order[[0, 1]] = [1, 0]
    swapped = table.take(order)
    assert found(published, published.certificate, swapped).level == "consistent"
    assert found(published, published.certificate, swapped, key=True).level == "failed"
    short = table.slice(1)
    assert found(published, published.certificate, short).level == "failed"
    typed = table.set_column(0, "age", table["age"].cast(pa.float64()))
    assert found(published, published.certificate, typed).level == "failed"
    same = pa.concat_tables([table.slice(0, 1)] * table.num_rows)
    assert "frequencies" in {finding.subject for finding in found(published, published.certificate, same).failures}
    other = dc.verify(published.certificate, people(3000, seed=6).select(TABLE.column_names), table)
    assert other.level == "failed"
    with_s = table.append_column("ill", TABLE["ill"])
    assert found(published, published.certificate, with_s).level == "failed"


def test_another_key_is_not_the_key(published: dc.Publication) -> None:
    verdict = dc.verify(published.certificate, TABLE, published.table, key=dc.ReleaseKey.from_seed(2))
    assert verdict.level == "failed"


def test_the_public_part_tells_no_count_and_no_class(published: dc.Publication) -> None:
    public = published.certificate.public.to_dict()
    assert not {"counts", "proof", "private_publication", "input_key"} & set(public)
    assert set(public["publication"]) == {
        "columns", "rows", "unchanged", "columns_unchanged", "classes", "weights", "order", "engine", "key", "digests",
    }  # fmt: skip


def test_the_checker_decides_by_itself(published: dc.Publication, tmp_path: Path) -> None:
    stored = tmp_path / "private.json"
    stored.write_text(published.certificate.text())
    command = [sys.executable, "-I", "-S", checker.__file__, stored]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "leakage" in done.stdout


def test_a_class_that_would_break_the_promise_is_not_certified(published: dc.Publication) -> None:
    honest = published.fitted.mechanism
    names = list(honest.useful)
    identity = dc.Mechanism.from_channel(np.eye(len(names)), useful=names, released=names).promising(
        honest.notion, "optimal"
    )
    with pytest.raises(dc.errors.BrokenNotionError):
        dc.certify(identity, published.joint, dc.LIP(0.6, confidence=0.92))


def test_the_raw_table_is_not_what_was_published(published: dc.Publication) -> None:
    """Its classes are as common as they must be, so frequencies alone would let it pass."""
    raw = TABLE.drop_columns("ill")
    assert found(published, published.certificate, raw).level == "failed"
    kept = dc.publish(TABLE, "ill", notion=dc.LIP(0.6, confidence=0.9), seed=1, shuffle=False)
    assert found(kept, kept.certificate).level == "verified"
    assert found(kept, kept.certificate, raw).level == "failed"


@pytest.mark.parametrize("order", ["shuffle", "input"])
def test_the_raw_table_sorted_by_the_secret_is_not_verified_by_whoever_seals_it(
    published: dc.Publication, order: str
) -> None:
    content = json.loads(published.certificate.text())
    stated = content["publication"]
    stated["order"], stated["unchanged"], stated["classes"]["overlap"] = order, "1.000000", "1.000000"
    stated["columns_unchanged"] = dict.fromkeys(stated["columns_unchanged"], "1.000000")
    forged = dc.Certificate(sealed(content))
    raw = TABLE.drop_columns("ill") if order == "input" else TABLE.sort_by("ill").drop_columns("ill")
    verdict = dc.verify(forged, TABLE, raw)
    assert verdict.level == ("failed" if order == "input" else "consistent"), verdict.reasons


@pytest.mark.parametrize("name", ["attack", "coverage", "calibration", "coupling", "evil"])
def test_nothing_private_is_changed_without_the_key(published: dc.Publication, name: str) -> None:
    changed = resealed(published, "private_publication", name, value="{}")
    assert found(published, changed, key=True).level == "failed"


def test_without_classes_nothing_is_verified(published: dc.Publication) -> None:
    content = json.loads(published.certificate.text())
    del content["private_publication"]
    bare = dc.Certificate(sealed(content))
    assert not dc.verify(bare, TABLE, TABLE.drop_columns("ill"), key=published.key)


def test_more_numbers_than_records_are_refused() -> None:
    with pytest.raises(ValueError, match="more numbers"):
        unpacked(packed(np.zeros(10**6, dtype=np.int64), "<u2"), "<u2", 10)
