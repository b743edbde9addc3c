"""A command from outside the package: a function, and one line that hands it to the application."""

from __future__ import annotations

import json

import pytest

from discreet.cli.app import app, run
from discreet.cli.options import Format, NotionOptions, TableOptions, show
from discreet.measures import maximal_leakage


def leakage(source: TableOptions, *, promise: NotionOptions | None = None, format: Format = "text") -> int:
    """Print the maximal leakage, and fail where a promise is broken."""
    joint = source.joint()
    notion = None if promise is None else promise.build()
    show(format, {"nats": maximal_leakage(joint)}, f"{maximal_leakage(joint):.4f} nats")
    return 0 if notion is None or notion.holds(joint) else 1


def test_a_command_from_outside_ends_with_the_exit_code_that_it_chose() -> None:
    def refuse() -> None:
        """End at once."""
        raise SystemExit(3)

    app.command(refuse)
    try:
        with pytest.raises(SystemExit, match="3"):
            run(["refuse"])
    finally:
        del app["refuse"]


def test_a_command_from_outside_has_the_options_errors_and_exit_codes_of_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app.command(leakage)
    columns = ["--sensitive", "relationship", "--useful", "occupation"]
    try:
        assert run(["leakage", "sample:adult", *columns, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["nats"] > 0
        assert run(["leakage", "sample:adult", *columns, "--epsilon", "0.5"]) == 1
        assert run(["leakage", "sample:adult", *columns, "--notion", "nothing"]) == 2
        assert run(["leakage", "missing.csv", *columns]) == 3
        assert "leakage" in app
        assert run(["--help"]) == 0
        assert "  leakage    Print the maximal leakage, and fail" in capsys.readouterr().out
    finally:
        del app["leakage"]
    assert run(["leakage", "sample:adult", *columns]) == 2
