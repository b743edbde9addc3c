"""Options that several commands share: what the registries hold is what the command line offers."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from discreet.cli.options import MethodName, NotionName, NotionOptions
from discreet.designers import METHODS
from discreet.notions import SRLIP, Notion
from discreet.testing import every_notion


def test_every_method_is_offered_once_and_those_that_read_s_come_last() -> None:
    offered = get_args(MethodName)
    assert offered[:2] == ("auto", "optimal")
    assert sorted(offered) == sorted(METHODS)
    assert [METHODS[name].reads_sensitive for name in offered] == sorted(
        METHODS[name].reads_sensitive for name in METHODS
    )


def test_every_notion_is_offered_that_options_can_describe() -> None:
    own = [name for name, kind in Notion.registry.items() if kind.__module__.startswith("discreet.")]
    assert get_args(NotionName) == tuple(name for name in own if name != "all-of")


@pytest.mark.parametrize("notion", [*every_notion(0.7), SRLIP(0.5)], ids=str)
def test_options_named_like_its_fields_make_a_notion(notion: Notion) -> None:
    given = {field.name: getattr(notion, field.name) for field in dataclasses.fields(notion)}  # type: ignore[arg-type]
    assert NotionOptions(notion=notion.name, **given).build() == notion
