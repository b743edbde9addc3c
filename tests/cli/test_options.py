"""Options that several commands share: what the registries hold is what the command line offers."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import get_args

import pytest

from discreet.cli.app import run
from discreet.cli.options import MethodName, NotionName, NotionOptions
from discreet.cli.overview import COMMANDS
from discreet.cli.release import EngineName
from discreet.designers import METHODS
from discreet.notions import LIP, SRLIP, Notion
from discreet.releasing.engines import ENGINES
from discreet.testing import every_notion


def test_every_method_is_offered_once_and_those_that_read_s_come_last() -> None:
    offered = get_args(MethodName)
    assert offered[:2] == ("auto", "optimal")
    rank = {
        name: (method.reads_sensitive, not method.serves(LIP(1.0)), -k)
        for k, (name, method) in enumerate(METHODS.items())
    }
    assert offered == tuple(sorted(METHODS, key=rank.__getitem__))


def test_every_notion_is_offered_that_options_can_describe() -> None:
    own = [name for name, kind in Notion.registry.items() if kind.__module__.startswith("discreet.")]
    assert get_args(NotionName) == tuple(name for name in own if name != "all-of")


def test_every_engine_is_offered() -> None:
    assert get_args(EngineName) == ("auto", *ENGINES)


@pytest.mark.parametrize("path", COMMANDS)
def test_the_overview_has_the_first_line_of_each_docstring(path: str) -> None:
    module, name = path.split(":")
    command = getattr(import_module(f"discreet.cli.{module}"), name)
    assert command.__doc__.splitlines()[0] == COMMANDS[path]


def test_a_command_has_its_whole_docstring_as_help(capsys: pytest.CaptureFixture[str]) -> None:
    for tokens in (["audit", "--help"], ["--help", "audit"]):
        assert run(tokens) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "a gate for pipelines" in shown
    assert run(["--help"]) == 0
    assert "a gate for pipelines" not in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("notion", [*every_notion(0.7), SRLIP(0.5)], ids=str)
def test_options_named_like_its_fields_make_a_notion(notion: Notion) -> None:
    given = {field.name: getattr(notion, field.name) for field in dataclasses.fields(notion)}  # type: ignore[arg-type]
    assert NotionOptions(notion=notion.name, **given).build() == notion
