"""``discreet frontier`` of one side: swept, labelled, asked for its smallest budget, refused where there is none."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discreet import ALIP, AlphaLift, Chi2Lift, Joint, L1Lift, Notion, design, samples
from discreet.cli.app import run

ADULT = ["frontier", "sample:adult", "--sensitive", "relationship", "--useful", "occupation"]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command line; returns exit code, stdout and stderr."""

    def _call(*tokens: object) -> tuple[int, str, str]:
        code = run([str(token) for token in tokens])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return _call


@pytest.mark.parametrize(
    ("options", "notion"),
    [
        (["--side", "upper"], ALIP(eps_upper=0.5)),
        (["--side", "lower", "--notion", "alip"], ALIP(eps_lower=0.5)),
        (["--side", "upper", "--notion", "l1"], L1Lift(eps_upper=0.5)),
        (["--side", "lower", "--notion", "chi2"], Chi2Lift(eps_lower=0.5)),
        (["--side", "upper", "--notion", "alpha-lift", "--alpha", "2"], AlphaLift(2, eps_upper=0.5)),
    ],
    ids=str,
)
def test_one_side_is_swept_and_the_other_left_open(options: list[str], notion: Notion, call) -> None:
    code, out, _ = call(*ADULT, *options, "--epsilon", "0.5", "--method", "subset-merging", "--format", "json")
    (row,) = json.loads(out)["rows"]
    joint = Joint.from_table(samples.adult(), "relationship", "occupation")
    assert code == 0
    assert row["nmi"] == design(joint, notion, "subset-merging").nmi
    assert (row["side"], row["lam"]) == (notion.only_side, None)


def test_all_that_is_written_says_which_side(call, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("f.svg", "f.csv", "f.json")]
    outputs = [token for path in files for token in ("-o", path)]
    code, out, _ = call(*ADULT, "--side", "upper", "--epsilon", "0.2:0.6:3", "--keep", "0.9", *outputs)
    text = " ".join(out.split())
    assert code == 0
    assert "How much of X each budget of the upper side keeps" in text
    assert "Smallest budget that keeps 90 %: epsilon 0.4" in text
    assert text.count("of the upper side with optimal") == 2  # the knee, and the smallest budget
    assert "epsilon of the upper side (nats)" in files[0].read_text()
    assert {row["side"] for row in csv.DictReader(files[1].open())} == {"upper"}
    assert {row["side"] for row in json.loads(files[2].read_text())["rows"]} == {"upper"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--notion", "chi2"], "needs --lam or --side"),
        (["--notion", "alip", "--lam", "0.5", "--side", "upper"], "give --lam or --side, not both"),
        (["--lam", "0.5", "--side", "lower"], "give --lam or --side, not both"),
        (["--notion", "lip", "--side", "upper"], "the notion lip has no --side"),
        (["--notion", "max-lift", "--side", "lower"], "the notion max-lift has no --side"),
        (["--side", "both"], "upper"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_sides_that_make_no_promise_are_refused(options: list[str], says: str, call) -> None:
    code, out, err = call(*ADULT, *options)
    assert (code, out) == (2, "")
    assert says in " ".join(err.split())


def test_help_tells_of_the_side(call) -> None:
    _, out, _ = call("frontier", "--help")
    assert "--side" in out
    assert "leave the other side open" in " ".join(out.replace("│", " ").split())


def test_limits_stand_beside_what_is_not_proven(call: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """A search that runs out of time says how much any mechanism may keep; where all is proven nothing needs to."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 90, 20_000)  # too many values for a proof in a second
    s = (x + rng.integers(0, 40, len(x))) // 13
    path = tmp_path / "people.csv"
    path.write_text("s,x\n" + "".join(f"{a},{b}\n" for a, b in zip(s, x)))
    columns = ["--sensitive", "s", "--useful", "x", "--method", "optimal", "--epsilon", "0.3", "--time-limit", "1"]
    assert "at most" in call("frontier", path, *columns)[1].splitlines()[1]
    assert "at most" not in call(*ADULT, "--method", "optimal", "--epsilon", "0.5")[1].splitlines()[1]
