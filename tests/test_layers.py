"""Every room states what it may import, of this house and of other libraries; also inside functions."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import discreet
from discreet.cli.overview import COMMANDS

SOURCE = Path(__file__).parent.parent / "src" / "discreet"


class Room(NamedTuple):
    """What a room may import: other rooms, and libraries."""

    rooms: str
    libraries: str = "numpy"


NOUNS = "_support core mechanism"
THEORY = f"{NOUNS} measures notions"
DESIGNING = f"{THEORY} utilities proof"
OPERATING = f"{THEORY} tables drawing"

#: From the ground up. A room never imports one that is listed after it, but for the named exceptions.
ROOMS = {
    "_support": Room(""),
    "errors": Room("_support", ""),
    "core": Room("_support"),
    "mechanism": Room("_support core"),
    "measures": Room(NOUNS, "numpy scipy"),
    "ranges": Room("core measures", ""),
    "notions": Room(f"{NOUNS} measures"),
    "utilities": Room(f"{NOUNS} measures"),
    "proof": Room(f"{THEORY} utilities"),  # no solver: scipy and highspy are not listed
    "designers": Room(DESIGNING, "numpy scipy highspy"),
    "testing": Room(THEORY),
    "figures": Room("_support", "matplotlib"),
    "quantising": Room(f"{NOUNS} measures", "numpy scipy"),
    "frontiers": Room(f"{DESIGNING} designers figures", "numpy matplotlib"),
    "tables": Room("_support core", "numpy duckdb pyarrow"),
    "samples": Room("_support", "duckdb pyarrow"),
    "drawing": Room(f"{NOUNS} tables", "numpy pyarrow"),
    "twins": Room(f"{NOUNS} tables drawing", "numpy scipy pyarrow"),
    "certificate": Room(f"{OPERATING} twins", "numpy scipy cryptography"),  # no designer vouches for itself
    "releasing": Room(f"{OPERATING} twins certificate", "numpy duckdb pyarrow pyspark"),
    "publishing": Room(
        f"{DESIGNING} designers figures tables drawing twins certificate releasing",
        "numpy scipy sklearn threadpoolctl pyarrow matplotlib pyspark",
    ),
    "reporting": Room(f"{DESIGNING} designers quantising frontiers certificate", "numpy rich jinja2"),
    "papers": Room(f"{DESIGNING} ranges designers quantising frontiers figures tables samples", "numpy"),
    "cli": Room(
        f"{OPERATING} designers quantising frontiers figures certificate releasing publishing reporting papers samples",
        "cyclopts rich",
    ),
}

#: Joints and ranges read tables by a lazy import, and frames of other libraries are made by those libraries. A report
#: that is written with a table is made by the room of reports.
EXCEPTIONS = {
    ("core/joint.py", "tables"),
    ("core/range.py", "tables"),
    ("publishing/owners_report.py", "reporting"),
    ("tables/frames.py", "pandas"),
    ("tables/frames.py", "polars"),
    ("tables/spark_counts.py", "pyspark"),
}

#: Public names that are not rooms, and the room that each comes from.
PUBLIC = {name: getattr(discreet, name).__module__.split(".")[1] for name in discreet.__all__ if name[0].isupper()}
PUBLIC |= {"design": "designers", "methods": "designers", "frontier": "frontiers", "quantise": "quantising"}
PUBLIC |= {"release": "releasing", "certify": "certificate", "verify": "certificate", "audit": "reporting"}
PUBLIC |= {"attack": "publishing", "publish": "publishing"}


def imported(source: str) -> set[str]:
    """Rooms and libraries that a file imports, in function bodies too; imports for the type checker are left out."""
    tree = ast.parse(source)
    skipped = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test).lstrip("_") == "TYPE_CHECKING"
        for statement in block.body
        for node in ast.walk(statement)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            names |= {part for alias in node.names for part in _parts(alias.name, ())}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are written out"
            names |= _parts(node.module or "", [alias.name for alias in node.names])
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            given = [argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)]
            names |= {part for name in given for part in _parts(str(name), ["*"])}
    return names


def _parts(module: str, names: Sequence[str]) -> set[str]:
    package, *rest = module.split(".")
    if package != "discreet":
        return set() if package in sys.stdlib_module_names else {package}
    if not names:
        return {"discreet"}  # "import discreet.x" gives a name to the whole house
    if rest:
        return {rest[0]}
    return {PUBLIC.get(name, name) for name in names if name != "*"} or {"discreet"}


def violations(path: str, source: str) -> set[str]:
    """What a file imports although its room may not."""
    name = path.split("/", maxsplit=1)[0].removesuffix(".py")
    room = ROOMS[name]
    allowed = {name, *room.rooms.split(), *room.libraries.split()}
    return {part for part in imported(source) - allowed if (path, part) not in EXCEPTIONS}


FILES = {
    path.relative_to(SOURCE).as_posix(): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).as_posix() not in ("__init__.py", "__main__.py")
}


@pytest.mark.parametrize("path", FILES)
def test_a_file_imports_what_its_room_may(path: str) -> None:
    assert violations(path, FILES[path].read_text()) == set()


def test_rooms_are_listed_from_the_ground_up() -> None:
    """No room may import one above it, and every room that may be imported exists."""
    order = list(ROOMS)
    for name, room in ROOMS.items():
        assert all(order.index(other) < order.index(name) for other in room.rooms.split()), name
    present = {path.split("/")[0].removesuffix(".py") for path in FILES}
    assert present == set(ROOMS)


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("tables/x.py", "from discreet.notions import LIP\n", "notions"),
        ("tables/x.py", "def f():\n    from discreet.releasing import run\n", "releasing"),
        ("measures/x.py", "class A:\n    def f(self):\n        from discreet.designers import front\n", "designers"),
        ("measures/x.py", "import discreet.designers.front\n", "discreet"),
        ("proof/x.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import highspy\n", "highspy"),
        ("proof/x.py", "if not TYPE_CHECKING:\n    import highspy\n", "highspy"),
        ("proof/x.py", "import importlib\nimportlib.import_module('discreet.designers.front')\n", "designers"),
        ("proof/x.py", "__import__('scipy.optimize')\n", "scipy"),
        ("notions/x.py", "def f():\n    import discreet\n", "discreet"),
        ("notions/x.py", "from discreet import design\n", "designers"),
        ("certificate/x.py", "def f():\n    from discreet import Frontier\n", "frontiers"),
        ("proof/x.py", "def f():\n    import highspy\n", "highspy"),
        ("proof/x.py", "from scipy.optimize import linprog\n", "scipy"),
        ("mechanism/x.py", "import pandas as pd\n", "pandas"),
        ("cli/x.py", "if True:\n    import matplotlib.pyplot\n", "matplotlib"),
    ],
)
def test_a_planted_import_is_found(path: str, source: str, found: str) -> None:
    assert violations(path, source) == {found}
    shown = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from discreet.releasing import run\n{source}"
    assert violations(path, shown) == {found}


def test_unit_tests_mirror_the_rooms() -> None:
    """A folder of unit tests is one of the source, so that a test is found where its module is."""
    folder = Path(__file__).parent / "unit"
    tests = {path.relative_to(folder).parent.as_posix() for path in folder.rglob("test_*.py")}
    source = {path.relative_to(SOURCE).parent.as_posix() for path in SOURCE.rglob("*.py")}
    assert tests <= source
    assert "." not in tests


def test_decisions_in_integers_know_nothing_else() -> None:
    assert imported(FILES["notions/exact.py"].read_text()) <= {"_support", "numpy"}


def test_the_checker_is_the_standard_library_alone() -> None:
    assert imported(FILES["certificate/checker.py"].read_text()) == set()


#: Libraries that take long to import, or that one command alone needs.
HEAVY = {
    "numpy", "scipy", "highspy", "pandas", "polars", "pyspark", "duckdb", "pyarrow", "matplotlib", "hypothesis",
    "jinja2", "cryptography", "sklearn",
}  # fmt: skip


def loaded(code: str) -> tuple[set[str], set[str]]:
    """Heavy libraries, and rooms, that a program of its own has imported at its end."""
    program = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = done.stderr.splitlines()[-1].split()
    return HEAVY & set(modules), {name.split(".")[1] for name in modules if name.startswith("discreet.")}


def command(*tokens: object) -> str:
    return f"from discreet.cli.app import run; assert run({[str(token) for token in tokens]!r}) == 0"


def test_an_import_loads_nothing() -> None:
    assert loaded("import discreet") == (set(), set())
    assert not loaded("import discreet; assert 'rich' not in sys.modules and 'cyclopts' not in sys.modules")[1]
    assert loaded("import discreet; discreet.LIP(0.5)")[0] == {"numpy"}


@pytest.mark.parametrize("tokens", [["--help"], ["--version"], *([path.split(":")[1], "--help"] for path in COMMANDS)])
def test_help_loads_the_command_line_alone(tokens: list[str]) -> None:
    assert loaded(command(*tokens)) == (set(), {"_support", "cli"})


def test_the_overview_loads_nothing_at_all() -> None:
    for tokens in ([], ["--help"], ["-h"], ["--version"]):
        asked = f"sys.argv[1:] = {tokens!r}; from discreet.cli.entry import main; main()"
        without = "assert not {'cyclopts', 'rich', 'numpy'} & set(sys.modules)"
        assert loaded(f"{asked}; {without}") == (set(), {"_support", "cli"})


def test_a_command_loads_what_it_uses(tmp_path: Path) -> None:
    table, mechanism, output = (tmp_path / name for name in ("table.csv", "mechanism.json", "released.csv"))
    table.write_text("s,x\n" + "".join(f"{k % 2},{k % 3 % 2}\n" for k in range(60)))
    columns = ["--sensitive", "s", "--useful", "x"]
    heavy, rooms = loaded(command("audit", table, *columns))
    assert heavy == {"numpy", "duckdb", "pyarrow", "scipy"}
    assert not rooms & {"designers", "frontiers", "quantising", "certificate", "releasing", "papers"}
    heavy, rooms = loaded(command("design", table, *columns, "--epsilon", 1, "-o", mechanism))
    assert heavy == {"numpy", "duckdb", "pyarrow", "highspy"}
    assert not rooms & {"frontiers", "quantising", "certificate", "releasing", "papers"}
    heavy, rooms = loaded(command("release", table, mechanism, "--shuffle", "-o", output))
    assert not heavy & {"scipy", "highspy", "matplotlib", "jinja2", "cryptography", "polars", "pyspark"}
    assert not rooms & {"designers", "frontiers", "quantising", "papers"}
