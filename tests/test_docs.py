"""Every formula has a source, every measure an example, and the README's commands are real."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from discreet import measures, notions
from discreet.designers import METHODS
from discreet.notions import Notion

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", measures.__all__)
def test_measures_are_documented_in_full(name: str) -> None:
    text = getattr(measures, name).__doc__
    for part in (".. math::", "In arrays:", "Parameters\n", "Returns\n", "Notes\n", "Cost O(", "Source: [", ">>> "):
        assert part in text, f"{name} lacks {part!r}"


@pytest.mark.parametrize("notion", Notion.registry.values(), ids=lambda n: n.name)
def test_notions_are_documented_in_full(notion: type[Notion]) -> None:
    text = notion.__doc__ or ""
    for part in (".. math::", "Notes\n", "Source: [", ">>> "):
        assert part in text, f"{notion.name} lacks {part!r}"
    assert notion.__name__ in notions.__all__


def test_cited_sources_are_listed() -> None:
    cited = set()
    for path in (ROOT / "src").rglob("*.py"):
        cited |= set(re.findall(r"\[([A-Z]+\d{2})\]_", path.read_text()))
    listed = set(re.findall(r"^\.\. \[([A-Z]+\d{2})\]", (ROOT / "docs" / "references.rst").read_text(), re.MULTILINE))
    assert cited <= listed


def test_the_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text


def test_readme_output_is_real(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block of the README that starts with `$ discreet` shows what the command prints, line by line."""
    from discreet.cli.app import run

    blocks = re.findall(r"```console\n\$ discreet (.*?)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for command, shown in blocks:
        run(command.split())
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        for line in shown.splitlines():
            if line.strip() not in ("", "..."):
                assert line.rstrip() in printed, line


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_run(notebook: Path) -> None:
    """They are stored executed; here their code runs anew."""
    cells = json.loads(notebook.read_text())["cells"]
    namespace: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] or cell["source"], "stored without having been run"
            assert all(output["output_type"] != "error" for output in cell["outputs"])
            exec(compile("".join(cell["source"]), notebook.name, "exec"), namespace)


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda p: p.name)
def test_python_on_pages_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one page build on each other; what they register is gone afterwards."""
    monkeypatch.setattr(Notion, "registry", dict(Notion.registry))
    before = dict(METHODS)
    namespace: dict[str, object] = {}
    try:
        for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
            exec(compile(code, page.name, "exec"), namespace)
    finally:
        METHODS.clear()
        METHODS.update(before)
