"""A symbolic link where a file is to be written: nothing is written through it, whatever it points at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet._support import files
from discreet.cli.app import run
from discreet.releasing.transaction import Transaction
from tests.releases import awkward_table

OF = ["--sensitive", "ill", "--useful", "job"]
PROMISE = ["--notion", "lip", "--epsilon", "0.3"]

#: File that a command would write, and the command.
COMMANDS: dict[str, tuple[str, list[str]]] = {
    "output": ("r.parquet", ["release", "t.parquet", "m.json", "-o", "r.parquet", "--force"]),
    "new output": ("r.parquet", ["release", "t.parquet", "m.json", "-o", "r.parquet"]),
    "certificate": ("r.parquet.certificate.json", ["release", "t.parquet", "m.json", "-o", "r.parquet", "--force"]),
    "codebook": ("r.parquet.codebook.json", ["release", "t.parquet", "m.json", "-o", "r.parquet"]),
    "private certificate": (
        "p.json",
        ["release", "t.parquet", "m.json", "-o", "r.parquet", "--private-certificate", "p.json", "--force"],
    ),
    "key": ("k.key", ["release", "t.parquet", "m.json", "-o", "r.parquet", "--write-key", "k.key"]),
    "mechanism": ("d.json", ["design", "t.parquet", *OF, *PROMISE, "-o", "d.json", "--force"]),
    "proof": ("proof.json", ["design", "t.parquet", *OF, *PROMISE, "--proof", "proof.json", "--force"]),
    "report": ("report.html", ["report", "t.parquet", *OF, *PROMISE, "-o", "report.html", "--force"]),
    "frontier": ("f.csv", ["frontier", "t.parquet", *OF, "--epsilon", "0.3", "-o", "f.csv", "--force"]),
    "quantise": ("q.csv", ["quantise", "t.parquet", *OF, "-o", "q.csv", "--force"]),
    "attack": ("p.svg", ["attack", "t.parquet", "t.parquet", "--sensitive", "ill", "--plot", "p.svg", "--force"]),
    "certify": ("c.json", ["certify", "t.parquet", "m.json", "-o", "c.json", "--force"]),
    "sub-keys": ("s.csv", ["export", "m.json", "--sql", "duckdb", "--key-file", "own.key", "--subkeys", "s.csv"]),
}


@pytest.fixture(scope="module")
def mechanism() -> dc.Mechanism:
    return dc.design(dc.Joint.from_table(awkward_table(300), "ill", "job"), dc.LIP(0.3)).mechanism


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: dc.Mechanism) -> Path:
    """A working folder with a table, its mechanism and a key."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    pq.write_table(awkward_table(300), "t.parquet")
    mechanism.to_json("m.json")
    dc.ReleaseKey.from_seed(3).write("own.key")
    return tmp_path


@pytest.mark.parametrize("dangling", [False, True], ids=["to a file", "to nothing"])
@pytest.mark.parametrize("what", COMMANDS)
def test_no_command_follows_a_link(
    what: str, dangling: bool, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    name, tokens = COMMANDS[what]
    victim = place / "victim"
    if not dangling:
        victim.write_text("precious")
    Path(name).symlink_to(victim)
    before = sorted(path.name for path in Path().iterdir())
    assert run(tokens) == 2
    error = capsys.readouterr().err
    assert "is a symbolic link" in error
    assert "Name the file itself" in error
    assert sorted(path.name for path in Path().iterdir()) == before
    assert victim.read_text() == "precious" if not dangling else not victim.exists()
    assert Path(name).is_symlink()


@pytest.mark.parametrize(
    "write",
    [
        lambda path, m: m.to_json(path),
        lambda path, _: dc.ReleaseKey.fresh().write(path),
        lambda path, m: dc.release("t.parquet", m, output=path, seed=1, force=True),
        lambda path, m: dc.release("t.parquet", m, output="o.csv", write_key=path),
        lambda path, m: dc.release("t.parquet", m, output="o.csv", private_certificate=path, seed=1),
    ],
)
def test_no_function_does(write: Callable[[Path, dc.Mechanism], object], place: Path, mechanism: dc.Mechanism) -> None:
    for pointed in (place / "victim.csv", place / "nothing.csv"):
        (place / "victim.csv").write_text("precious")
        link = place / f"link to {pointed.name}"
        link.symlink_to(pointed)
        with pytest.raises(dc.errors.InputError, match="is a symbolic link"):
            write(link, mechanism)
        assert (place / "victim.csv").read_text() == "precious"
        assert not (place / "nothing.csv").exists()


def test_folders_may_be_links(place: Path, mechanism: dc.Mechanism) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to(place / "real")
    mechanism.to_json(place / "link" / "m.json")
    dc.release("t.parquet", mechanism, output=place / "link" / "r.csv", seed=1)
    assert sorted(path.name for path in (place / "real").iterdir()) == [
        "m.json", "r.csv", "r.csv.certificate.json", "r.csv.codebook.json",
    ]  # fmt: skip


def test_a_link_that_appears_meanwhile_is_replaced_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim, target = tmp_path / "victim", tmp_path / "out"
    victim.write_text("precious")
    monkeypatch.setattr(files, "check_target", lambda *_, **__: target.symlink_to(victim))
    files.write_text(target, "new")
    assert (victim.read_text(), target.read_text(), target.is_symlink()) == ("precious", "new", False)

    late = tmp_path / "late"
    with Transaction(tmp_path / "other") as transaction:
        transaction.write(late, "new")
        late.symlink_to(victim)
        transaction.commit()
    assert (victim.read_text(), late.read_text(), late.is_symlink()) == ("precious", "new", False)


@pytest.mark.parametrize("name", [".discreet-lock-r.csv", ".discreet-journal-r.csv"])
@pytest.mark.parametrize("dangling", [False, True])
def test_lock_and_journal_follow_no_link(
    name: str, dangling: bool, place: Path, mechanism: dc.Mechanism
) -> None:  # fmt: skip
    victim = place / "victim"
    if not dangling:
        victim.write_text("precious")
    Path(name).symlink_to(victim)
    with pytest.raises(dc.errors.InputError):
        dc.release("t.parquet", mechanism, output="r.csv", seed=1)
    assert victim.read_text() == "precious" if not dangling else not victim.exists()
    assert not Path("r.csv").exists()


def test_a_folder_of_spark_is_no_link(place: Path, mechanism: dc.Mechanism, spark: object) -> None:
    (place / "victim").mkdir()
    Path("out.parquet").symlink_to(place / "victim")
    with pytest.raises(dc.errors.InputError, match="is a symbolic link"):
        dc.release("t.parquet", mechanism, output="out.parquet", engine="spark", seed=1, force=True)
    assert not any((place / "victim").iterdir())


def test_a_table_may_be_read_through_a_link(place: Path, mechanism: dc.Mechanism) -> None:
    Path("link.parquet").symlink_to("t.parquet")
    assert isinstance(dc.Joint.from_table("link.parquet", "ill", "job"), dc.Joint)
    dc.release("link.parquet", mechanism, output="r.parquet", seed=1)
    assert isinstance(pq.read_table("r.parquet"), pa.Table)
