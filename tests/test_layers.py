"""Imports go one way, and heavy libraries stay out until they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "discreet"

# A module may import from its own layer and from those before it.
LAYERS = [
    ["errors", "_numeric", "labels", "_validate", "_files", "_json", "_stored"],
    ["joint", "mechanism"],
    ["measures", "ranges", "exact", "tables", "samples"],
    ["notions"],
    ["designers", "testing", "releasing"],
    ["sweeps", "plots", "certificate"],
    ["publication"],
    ["report", "reproduction"],
    ["cli"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# Joint.from_table reads tables: the one named exception.
EXCEPTIONS = {("joint", "tables")}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Parts of discreet that a file imports, type-checking imports left out."""
    tree = ast.parse(path.read_text())
    skipped = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    names = set()
    for node in ast.walk(tree):
        if node in skipped or not isinstance(node, ast.ImportFrom) or node.level:
            continue
        module = (node.module or "").split(".")
        if module[0] == "discreet":
            names |= {module[1]} if len(module) > 1 else {alias.name for alias in node.names}
    return names


FILES = [path for path in sorted(SOURCE.rglob("*.py")) if part_of(path) not in ("__init__", "__main__")]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    here = part_of(path)
    for name in imported(path):
        if (here, name) not in EXCEPTIONS:
            assert RANK[name] <= RANK[here], f"{here} must not import {name}"


def test_the_checker_knows_no_designer() -> None:
    assert imported(SOURCE / "exact.py") <= {"_numeric", "errors"}


def test_proofs_are_checked_without_a_solver() -> None:
    """The checker of bounds, and what it imports, never reaches the LP solver."""
    for name in ("_proof.py", "_polytope.py"):
        text = (SOURCE / "designers" / name).read_text()
        assert "_lp" not in text
        assert "highspy" not in text


def test_tables_know_only_joint_and_mechanism() -> None:
    allowed = {"errors", "_numeric", "labels", "_validate", "joint", "mechanism", "tables"}
    for path in (SOURCE / "tables").glob("*.py"):
        assert imported(path) <= allowed


def test_import_loads_no_heavy_library() -> None:
    heavy = [
        "pandas",
        "polars",
        "pyspark",
        "duckdb",
        "pyarrow",
        "matplotlib",
        "scipy",
        "rich",
        "cyclopts",
        "hypothesis",
    ]
    code = f"import sys, discreet; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
