"""Releases where few records stand behind values: which codebook is written, and which one goes."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet._support.errors import InputError
from discreet.releasing import Request, run

SIDECARS = ("out.csv.codebook.json", "out.csv.codebook.private.json")
JOBS = ["a", "b", "a", "b", "b", "a", "c", "c"] * 10
COMMON = pa.table({"ill": [0, 1, 0, 0, 1, 1, 1, 0] * 10, "job": JOBS})
FEW = pa.table({"ill": [0, 1, 0, 0, 1, 1, 1, 0], "job": JOBS[:8]})


def made(table: pa.Table, **options: Any) -> dc.Mechanism:
    return design(Joint.from_table(table, "ill", "job"), LIP(1), **options).mechanism


def release(table: pa.Table, mechanism: dc.Mechanism, folder: Path, **options: Any) -> list[bool]:
    """Which of the two codebooks lies beside the output afterwards."""
    dc.release(
        table, mechanism, output=folder / "out.csv", seed=1, shuffle=True, force=True, as_values=False, **options
    )
    return [(folder / name).exists() for name in SIDECARS]


def test_a_private_design_or_a_table_with_few_records_makes_the_codebook_private(tmp_path: Path) -> None:
    common, few = made(COMMON), made(FEW)
    assert release(COMMON, common, tmp_path) == [True, False]
    assert release(COMMON, few, tmp_path) == [False, True]
    assert stat.S_IMODE((tmp_path / SIDECARS[1]).stat().st_mode) == 0o600
    assert release(FEW, common, tmp_path) == [False, True]
    assert dc.Certificate.from_json(tmp_path / "out.csv.certificate.json")["mechanism"] is None
    assert release(COMMON, common, tmp_path) == [True, False]
    assert dc.Certificate.from_json(tmp_path / "out.csv.certificate.json")["mechanism"] == common.public_dict()


def test_codebooks_of_an_output_that_is_gone_are_replaced_and_others_are_not(tmp_path: Path) -> None:
    for name in SIDECARS:
        (tmp_path / name).write_text("stale")
    dc.release(FEW, made(FEW), output=tmp_path / "out.csv", seed=1, shuffle=True)
    assert [(tmp_path / name).exists() for name in SIDECARS] == [False, True]
    with pytest.raises(InputError, match="need different names"):
        release(FEW, made(FEW), tmp_path, private_certificate=tmp_path / SIDECARS[1])


def test_a_release_that_fails_puts_both_codebooks_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release(FEW, made(FEW), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dc.Certificate, "text", full)
    with pytest.raises(OSError, match="No space"):
        release(COMMON, made(COMMON), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_release_whose_table_has_no_secret_looks_at_the_records_all_the_same(tmp_path: Path) -> None:
    private = tmp_path / "private.json"
    given = {"trust_design": True, "private_certificate": private}
    assert release(FEW.select(["job"]), made(COMMON), tmp_path, **given) == [False, True]
    assert dc.Certificate.from_json(tmp_path / "out.csv.certificate.json")["mechanism"] is None
    assert stat.S_IMODE(private.stat().st_mode) == 0o600  # it holds the mechanism and a key
    assert release(COMMON.select(["job"]), made(COMMON), tmp_path, **given) == [True, False]
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_a_mechanism_from_elsewhere_gets_a_codebook_of_this_table(tmp_path: Path) -> None:
    plain = dc.Mechanism.from_blocks(Joint.from_table(COMMON, "ill", "job"), [0, 0, 1])
    stored = dc.Mechanism.from_dict(plain.public_dict())
    assert release(COMMON, stored, tmp_path, notion=LIP(5)) == [True, False]
    assert '"probability": 0.5' in (tmp_path / SIDECARS[0]).read_text()


def test_the_summary_says_so(tmp_path: Path) -> None:
    for table, hidden in ((FEW, True), (COMMON, False)):
        output = tmp_path / "out.csv"
        done = run(Request.of(table, made(table), output=output, seed=1, shuffle=True, force=True))
        summary = done.summary(output)
        assert summary["private_mechanism"] is hidden
        assert Path(summary["codebook"]).is_file()
