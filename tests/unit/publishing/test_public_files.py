"""Nothing that is for everyone names a sensitive value, or tells how common one is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from tests.unit.publishing.made_up import people

#: Labels that occur nowhere by chance; the last two are rare, and gathered.
LABELS = ["Zxq-common-7731", "Zxq-other-8842", "Zxq-rare-9953", "Zxq-rarer-1064"]

#: All that a public certificate says, so that what is added is looked at here.
PUBLIC = {
    *("format", "notion", "mechanism", "achieved", "bound", "bound_evidence", "rows", "reads_sensitive", "nmi"),
    *("public_counts", "private_mechanism", "digests", "versions", "certificate_digest", "publication"),
}


def secret_table() -> pa.Table:
    table = people(1500, seed=11).select(["age", "job", "ill"])
    ill = np.array(table["ill"].to_pylist()) == "yes"
    labels = np.where(ill, LABELS[1], LABELS[0]).astype(object)
    labels[:5], labels[5:8] = LABELS[2], LABELS[3]
    return table.set_column(2, "ill", pa.array(labels.tolist()))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_public_files_hold_no_sensitive_value(tmp_path: Path, ending: str) -> None:
    table, output = secret_table(), tmp_path / f"out.{ending}"
    found = dc.publish(
        table,
        "ill",
        notion=dc.LIP(1.0, confidence=0.9),
        output=output,
        private_certificate=tmp_path / "private.json",
        report=tmp_path / "report.html",
        seed=1,
    )
    public = [output, tmp_path / f"out.{ending}.certificate.json"]
    for path in public:
        assert b"Zxq" not in path.read_bytes(), path.name
    if ending == "parquet":
        assert "Zxq" not in str(pq.read_table(output).to_pydict())
        assert "Zxq" not in str(pq.read_metadata(output).metadata)
    for path in (tmp_path / "private.json", tmp_path / "report.html"):  # which are its owner's
        assert "Zxq" in path.read_text(encoding="utf-8")
    content = json.loads(public[1].read_text())
    assert set(content) == PUBLIC
    counts = np.asarray(found.joint.counts).sum(axis=1).tolist()
    told = json.dumps(content)
    assert not any(f" {count}," in told or f" {count}}}" in told for count in counts)
    assert not any(f"{share:.4f}"[:6] in told for share in found.joint.p_sensitive)


def test_edges_of_a_number_are_not_public(tmp_path: Path) -> None:
    table = people(1500, seed=11).select(["age", "job", "pay"])
    output = tmp_path / "out.csv"
    dc.publish(table, "pay", notion=dc.LIP(1.0, confidence=0.9), output=output, bins={"pay": [1717.25]}, seed=1)
    assert "1717.25" not in output.read_text() + (tmp_path / "out.csv.certificate.json").read_text()
