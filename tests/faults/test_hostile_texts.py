"""Labels, column names, paths and certificates that would steer a terminal: every command shows what hides in them."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import unicodedata
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text

import discreet as dc
from discreet._support import jsonable
from discreet._support.visible import visible
from discreet.certificate.verification.verdict import Finding, Verdict
from discreet.cli import app as cli_app
from discreet.cli.app import run
from discreet.reporting.text.console import make_console

#: Clears the screen and turns what follows around; the last part would be a line of its own.
ATTACK = "\x1b[2J\x9b1;1H\x07\u202e\u2066\u200b\r\nVerified.\u2028x\x7f"
SECRET, USEFUL, KEPT = f"ill{ATTACK}", f"job{ATTACK}", f"kept{ATTACK}"
LABELS = [f"{letter}{ATTACK}" for letter in "abcd"]
NOTION = ["--notion", "lip", "--epsilon", "0.2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with such a name."""
    made = tmp_path / f"in{ATTACK.replace('/', '')}"
    made.mkdir()
    return made


@pytest.fixture
def table(folder: Path) -> str:
    rng = np.random.default_rng(4)
    job = rng.integers(0, 4, 600)
    ill = rng.random(600) < 0.3 + 0.1 * job
    content = {
        SECRET: [f"{'yes' if s else 'no'}{ATTACK}" for s in ill],
        USEFUL: [LABELS[k] for k in job],
        KEPT: [f"z{k}{ATTACK}" for k in rng.integers(0, 3, 600)],
    }
    pq.write_table(pa.table(content), folder / "t.parquet")
    return str(folder / "t.parquet")


def lines_are_ours(text: str) -> bool:
    """No character that hides, but for ends of lines; and no line that a label wrote."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return not any(
        unicodedata.category(c) in hidden for c in text.replace("\n", "")
    ) and not any(line.startswith("Verified.\\u2028") for line in text.split("\n"))  # fmt: skip


@pytest.fixture
def says(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command, checks both of its streams and returns (exit code, stdout, stderr)."""

    def command(*tokens: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(tokens))
        out, err = capsys.readouterr()
        assert code != 70, err
        assert lines_are_ours(out), (tokens[0], out)
        assert lines_are_ours(err), (tokens[0], err)
        return code, out, err

    return command


def test_every_command_shows_what_hides(says: Any, table: str, folder: Path) -> None:
    of = [table, "--sensitive", SECRET, "--useful", USEFUL]
    mechanism, released = str(folder / "m.json"), str(folder / "r.parquet")
    certificate, key = f"{released}.certificate.json", str(folder / "k.key")
    private = str(folder / "p.json")
    commands = [
        ["audit", *of, *NOTION],
        ["design", *of, *NOTION, "-o", mechanism, "--proof", str(folder / "proof.json"), "--method", "optimal"],
        ["compare", *of, *NOTION],
        ["frontier", *of, "--epsilon", "0.5,0.8", "-o", str(folder / "f.csv")],
        ["quantise", *of, "-o", str(folder / "q.json")],
        ["release", table, mechanism, "-o", released, "--keep", KEPT, "--uncovered", KEPT, "--write-key", key],
        ["certify", table, mechanism, "-o", str(folder / "c.json"), "--private-certificate", private],
        ["verify", private],
        ["verify", certificate, "--table", table, "--released", released, "--key-file", key],
        ["verify", certificate, "--table", released, "--released", table],
        ["report", *of, "--mechanism", mechanism, "--certificate", certificate, "-o", str(folder / "report.html")],
        ["report", *of, *NOTION, "-o", str(folder / "report.md"), "--format", "md"],
        ["export", mechanism, "--sql", "duckdb", "--as", "job", "--id", KEPT],
        ["export", mechanism, "--sql", "postgres", "--table", f"t{ATTACK}"],
        ["export", mechanism, "--sql", "spark", "--key-file", key, "--subkeys", str(folder / "s.csv")],
        ["audit", table, "--sensitive", f"no{ATTACK}", "--useful", USEFUL],
        ["audit", str(folder / "nothing.csv"), "--sensitive", SECRET, "--useful", USEFUL],
        ["design", *of, *NOTION, "-o", str(folder / "no" / "where.json")],
        ["design", *of, *NOTION, "--method", ATTACK],
        ["audit", *of, "--bins", f"{USEFUL}=1,2", "--debug"],
        [ATTACK],
    ]
    codes = []
    for tokens in commands:
        codes.append(says(*tokens)[0])
        if tokens[0] in ("audit", "design", "compare", "frontier", "quantise", "certify", "verify"):
            overwrite = ["--force"] if {"-o", "--proof"} & set(tokens) else []
            code, out, _ = says(*tokens, "--format", "json", *overwrite)
            assert code == codes[-1]
            assert code > 1 or isinstance(json.loads(out), dict)
    assert codes == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 2, 2, 2, 3, 2, 2, 3, 2]


@pytest.mark.parametrize("sql", ["duckdb", "postgres", "spark"])
def test_exported_labels_show_what_hides(sql: str, says: Any, table: str, folder: Path) -> None:
    mechanism = dc.design(dc.Joint.from_table(table, SECRET, USEFUL), dc.LIP(0.2)).mechanism.to_dict()
    plain = {**mechanism, "useful_columns": ["job"], "sensitive_columns": ["ill"]}
    (folder / "m.json").write_text(json.dumps(plain))
    code, out, _ = says("export", str(folder / "m.json"), "--sql", sql)
    assert code == 0
    assert "Verified." in out
    assert "\\x1b" not in out  # nothing had to be spelt out that SQL would then take for something else


def test_the_labels_are_shown(says: Any, table: str) -> None:
    _, out, _ = says("audit", table, "--sensitive", SECRET, "--useful", USEFUL)
    assert visible(LABELS[0])[:20] in out
    code, out, _ = says("audit", table, "--sensitive", SECRET, "--useful", USEFUL, "--format", "json")
    assert code == 0
    assert {row["symbol"] for row in json.loads(out)["per_symbol"]} == set(LABELS)


def test_a_failing_certificate_cannot_say_that_it_is_verified(says: Any, tmp_path: Path) -> None:
    table = pa.table({"s": ["a", "b"] * 50, "x": ["c", "d", "d", "c"] * 25})
    content = dc.certify(dc.design(dc.Joint.from_table(table, "s", "x"), dc.LIP(1))).to_dict()
    content["nmi"] = f"0.5{ATTACK}"
    content["notion"] = {**content["notion"], f"more{ATTACK}": 1}
    (tmp_path / "c.json").write_text(json.dumps(content))
    code, out, _ = says("verify", str(tmp_path / "c.json"))
    assert code == 1
    assert "Verified.\n" not in out
    checker = [sys.executable, dc.certificate.checker.__file__, str(tmp_path / "c.json")]
    done = subprocess.run(checker, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert lines_are_ours(done.stdout)


def test_objects_show_what_hides(table: str) -> None:
    joint = dc.Joint.from_table(table, SECRET, USEFUL)
    design = dc.design(joint, dc.LIP(0.2), "grr")
    stored = {**design.mechanism.to_dict(), "method": f"best{ATTACK}"}
    certificate = dc.certify(design)
    objects = [
        joint,
        design,
        certificate,
        dc.Mechanism.from_dict(stored),
        design.mechanism.estimate([150] * 4),
        dc.audit(joint, dc.LIP(0.2)),
        dc.verify(certificate),
        Verdict((Finding("certificate", False, ATTACK),)),
        dc.errors.InputError(ATTACK),
        dc.errors.ColumnNotFoundError(ATTACK),
        dc.errors.DiscreetWarning(ATTACK),
    ]
    for made in objects:
        assert lines_are_ours(str(made)), type(made)
        assert lines_are_ours(getattr(made, "_repr_html_", str)()), type(made)


def test_the_console_lets_nothing_through() -> None:
    stream = StringIO()
    grid = Table(ATTACK, ATTACK, title=ATTACK, caption=ATTACK)
    grid.add_row(ATTACK, Text(ATTACK, style="bold"))
    make_console(stream).print(Group(ATTACK, Text(ATTACK) + Text(ATTACK, style="bold"), grid, ""))
    assert lines_are_ours(stream.getvalue())
    assert "Verified." in stream.getvalue()


def test_spans_stay_where_they_were() -> None:
    stream = StringIO()
    console = make_console(stream)
    shown = console._one_line(Text("a\x1b") + Text("b\n", style="bold") + Text("c"))
    assert shown.plain == "a\\x1bb\\nc"
    assert [(s.text, bool(s.style and s.style.bold)) for s in shown.render(console)] == [
        ("a\\x1b", False), ("b\\n", True), ("c", False),
    ]  # fmt: skip


def test_json_keeps_its_content() -> None:
    hidden = "".join(map(chr, [*range(32), *range(127, 161), 0x200B, 0x202E, 0x2028, 0xFEFF, 0xE0001, 0x3164])) + 'é😀"'
    text = jsonable.dumps({hidden: hidden})
    assert lines_are_ours(text)
    assert "é😀" in text
    assert json.loads(text) == {hidden: hidden}


def test_commands_write_in_one_place() -> None:
    """Whatever a command writes goes through `cli.streams` or a console that shows what hides."""
    folder = Path(cli_app.__file__).parent
    for path in folder.glob("*.py"):
        found = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        if path.name != "streams.py":
            assert not found & {"print", "sys.stdout.write", "sys.stderr.write", "traceback.print_exc", "Console"}, path
