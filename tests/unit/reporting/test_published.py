"""The page of a published table: every part is there, nothing becomes markup, and it draws whatever was found."""

from __future__ import annotations

import copy
import io
import itertools
import json
import math
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

import discreet as dc
from discreet._support import jsonable
from discreet.reporting.attacked import by_strength, series_of, sides_of
from discreet.reporting.formats import percent, points, visible
from discreet.reporting.html import LONGEST_NAME
from discreet.reporting.pictures import bins_of, ranges_of, scatter_of
from discreet.reporting.publication_words import NOT_IDENTITY, OWNER_ONLY, attack_words, class_words, design_words
from discreet.reporting.published import MOST_POINTS, published_html
from discreet.reporting.text.attack import attack_text
from tests.unit.reporting.test_browser import MOST_BYTES, requests, set_up
from tests.unit.reporting.test_pages import HOSTILE, Parsed

#: Parts of the page, in their order.
TITLES = [
    "What is promised, and to whom",
    "The attack before and after",
    "What was kept",
    "Whether beliefs are right",
    "Classes",
    "Files, and how to verify",
]


@pytest.fixture(scope="module")
def published() -> dc.Publication:
    """A small table: age and job tell about being ill, region about nothing."""
    rng = np.random.default_rng(1)
    n = 3000
    age, job = rng.integers(20, 70, n), rng.choice(["clerk", "nurse", "pilot"], n)
    ill = rng.random(n) < 0.2 + 0.3 * (age > 50) + 0.2 * (job == "pilot")
    table = pa.table({"id": np.arange(n), "age": age, "job": job, "region": rng.integers(0, 5, n), "ill": ill})
    return dc.publish(table, "ill", notion=dc.LIP(0.5, confidence=0.9), seed=1)


@pytest.fixture(scope="module")
def summary(published: dc.Publication) -> dict[str, Any]:
    return published.to_dict()


@pytest.fixture(scope="module")
def page(summary: dict[str, Any]) -> str:
    return published_html(summary)


def words_of(page: str) -> str:
    return " ".join("".join(Parsed(page).words).split())


def cells_of(page: str) -> str:
    """The texts with a blank between any two, as cells of a table are read."""
    return " ".join(" ".join(Parsed(page).words).split())


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Plain data in which names are others."""
    if isinstance(value, dict):
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def hostile_of(summary: dict[str, Any], text: str) -> dict[str, Any]:
    """The same publication of columns and values with such names."""
    names = {"age": f"{text} 1", "job": f"{text} 2", "region": f"{text} 3", "ill": text}
    fields = {name: renamed(summary[name], names) for name in ("columns", "quality", "columns_unchanged", "secrets")}
    values = {"clerk": text, "True": text, "true": text}
    found = copy.deepcopy(summary) | fields
    found["quality"] = renamed(found["quality"], values)
    found["attack"] = renamed(summary["attack"], values | {"ill": text})
    found["calibration"] = renamed(summary["calibration"], values)
    return found | {"notes": [f"left out as ids: {text}"], "output": text, "table": text, "key": text}


def crowded(summary: dict[str, Any], n_columns: int, n_labels: int) -> dict[str, Any]:
    """The same publication with many columns and labels."""
    found = copy.deepcopy(summary)
    kept = summary["quality"]["columns"]["job"]
    names = [f"column {k}" for k in range(n_columns)]
    found["columns"]["published"] = names
    found["quality"]["columns"] = dict.fromkeys(names, kept)
    found["quality"]["pairs"] = [[a, b, 0.5, 0.25] for a, b in itertools.combinations(names, 2)]
    found["labels"] = [f"label {k}" for k in range(n_labels)]
    told = found["calibration"]
    told["labels"] = found["labels"]
    for side in ("believed", "counted"):
        told[side] = [told[side][0]] * n_labels
    return found


def test_all_parts_are_there_in_their_order(page: str, summary: dict[str, Any]) -> None:
    assert re.findall(r"<h2>(.*?)</h2>", page) == TITLES
    levels = [int(level) for level in re.findall(r"<h([1-6])>", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    text = words_of(page)
    verdict = (
        f"3,000 rows of 3 columns are published without ill: {percent(summary['unchanged'])} of them are unchanged, "
        "and the attack does not break LIP(0.5, confidence=0.9)."
    )
    assert " ".join(verdict.split()) in text
    for said in (
        OWNER_ONLY,
        NOT_IDENTITY,
        "S is ill. X, the useful columns, are age, job, region",
        "Coverage is exact: models, classes and labels were chosen without the S",
        "Left out as ids: id. To publish one, name it as useful.",
        "The attack does not break LIP(0.5, confidence=0.9)",
        "AUC before",
        "Presence:",
        "Cramér's V",
        "On average they are off by",
        f"{summary['design']['kept']:.6f} ({summary['design']['status']})",
        f"{summary['design']['bound']:.6f}",
        "discreet verify PUBLISHED.csv.certificate.json --table ORIGINAL.csv --released PUBLISHED.csv --key-file KEY",
    ):
        assert " ".join(said.split()) in text, said
    for name in summary["attack"]["after"]["by_model"]:
        assert name in text
    assert page.count("<svg") == 4 + 8  # the pictures, and the signs of two keys
    assert len(re.findall(r"<details>", page)) == 1 + 3 + 1 + 1


def test_numbers_are_those_of_the_summary(page: str, summary: dict[str, Any]) -> None:
    figures = re.findall(r"<dd>(.*?)</dd>", page)
    assert figures[0] == percent(summary["unchanged"])
    assert figures[3:] == [f"{summary['attack'][side]['auc']:.3f}" for side in ("before", "after")]
    widths = [float(width) for width in re.findall(r'style="width:([\d.]+)%"', page)]
    assert widths == pytest.approx([100 * share for share in summary["columns_unchanged"].values()], abs=1e-3)
    text = cells_of(page)
    for kept in summary["quality"]["columns"].values():
        largest = kept["largest_change"]
        change = f"{'-' if largest['change'] < 0 else '+'}{points(abs(largest['change']))}"
        assert " ".join(f"{change} {points(largest['standard_error'])}".split()) in text
        for value, before, after, error in kept["shares"]:
            shown = " ".join([value, percent(before), percent(after), points(error)])
            assert not before + after or " ".join(shown.split()) in text


def test_the_summary_is_plain_data(summary: dict[str, Any], page: str) -> None:
    """What JSON keeps of it makes the same page, where infinite numbers have become texts."""
    assert sum(summary["class_records"]) <= summary["rows"]
    assert len(summary["class_records"]) == summary["classes"] == len(summary["calibration"]["records"])
    far = copy.deepcopy(summary)
    make_infinite(far["attack"])
    for given in (summary, far):
        text = jsonable.dumps(given)
        assert "Infinity" not in text
        assert published_html(json.loads(text)) == published_html(given)
    assert published_html(json.loads(jsonable.dumps(summary))) == page


def test_infinite_numbers_are_texts_in_the_summary(published: dc.Publication) -> None:
    attack = replace(published.attack, before=replace(published.attack.before, log_min_lift=-math.inf))
    said = replace(published, attack=attack, attacks=(attack,)).to_dict()
    assert said["attack"]["before"]["log_min_lift"] == "-inf"
    assert said["secrets"][0]["log_lifts"]["before"][0] == "-inf"
    assert json.dumps(said, allow_nan=False)


def test_no_row_and_no_source_is_in_the_summary(published: dc.Publication, summary: dict[str, Any]) -> None:
    assert not {"table", "sources", "beliefs", "key"} & set(summary)
    lengths = [len(item) for item in _lists(summary)]
    assert max(lengths) < published.rows


def _lists(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [found for item in value.values() for found in _lists(item)]
    return [value, *(found for item in value for found in _lists(item))] if isinstance(value, list) else []


@pytest.mark.parametrize("text", [*HOSTILE, "\u05e9\u05dc\u05d5\u05dd" * 75], ids=range(len(HOSTILE) + 1))
def test_nothing_from_the_table_becomes_markup(summary: dict[str, Any], text: str) -> None:
    harmless = Parsed(published_html(hostile_of(summary, "harmless")))
    found = Parsed(published_html(hostile_of(summary, text)))
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in harmless.tags]
    names = {name for _, attributes in harmless.tags for name in attributes}
    assert {name for _, attributes in found.tags for name in attributes} <= names | {"title"}
    assert visible(text)[: LONGEST_NAME - 1] in "".join(found.words)
    published_html(hostile_of(summary, text)).encode()  # no lone surrogate is left


def test_the_page_names_nothing_to_load(summary: dict[str, Any], page: str) -> None:
    for made in (page, published_html(hostile_of(summary, "a b"))):
        for tag, attributes in Parsed(made).tags:
            assert tag not in (
                "img",
                "iframe",
                "object",
                "embed",
                "video",
                "audio",
                "base",
                "form",
                "a",
                "image",
                "use",
            )
            assert "src" not in attributes
            assert attributes.get("href", "data:,") == "data:,"
        assert not re.search(r"https?:|src=|url\(|@import|\son\w+=", made)
        assert "default-src &#39;none&#39;" in made


def make_infinite(attack: dict[str, Any]) -> None:
    """Log-lifts without an end, on both sides of the release too."""
    for side in (attack["before"], attack["after"], *attack["before"]["by_model"].values()):
        side["log_min_lift"] = -math.inf
        side["intervals"]["log_min_lift"][0] = -math.inf
    for cell in attack["cells"][:3]:
        cell |= {"log_lift": -math.inf, "low": -math.inf}
    strongest = [cell for cell in attack["cells"] if cell["when"] == "after"]
    strongest[0] |= {"log_lift": -math.inf, "low": -math.inf}
    for cell in attack["presence"]["cells"][:1]:
        cell |= {"log_lift": -math.inf, "log_ratio": -math.inf, "low": -math.inf}


def pixels_of(page: str) -> list[float]:
    names = r"(?:x|y|x1|x2|y1|y2|cx|cy|width|height)"
    return [float(number) for number in re.findall(rf'\s{names}="([^"]*)"', page)]


@pytest.mark.parametrize("notion", [dc.LIP(1.0), dc.MaxLift(0.5), dc.ALIP(eps_lower=2.0, eps_upper=0.1)])
def test_infinite_lifts_are_drawn_at_the_edge_and_marked(summary: dict[str, Any], notion: dc.Notion) -> None:
    far = copy.deepcopy(summary)
    make_infinite(far["attack"])
    low, high = (-math.inf, 0.5) if isinstance(notion, dc.MaxLift) else (-1.0, 1.0)
    far["attack"]["promised"] = {"low": low, "high": high, "apart": math.inf}
    far |= {"notion": str(notion), "notion_parts": notion.to_dict()}
    picture = ranges_of(far["attack"])
    first = picture.rows[0]
    assert first[2] is not None
    assert first[2].low_beyond
    assert first[2].low == first[2].first == picture.left
    made = published_html(far)
    assert all(0 <= pixel <= 700 for pixel in pixels_of(made))
    assert "rules it out" not in made
    assert "-inf to" in made
    assert made.count('class="arrow"') > 2  # beside those of the keys
    assert "nan" not in re.sub(r"[a-z]{2,}nan|nan[a-z]+", "", made)


def test_what_lies_far_away_does_not_hide_the_release(summary: dict[str, Any]) -> None:
    attack = copy.deepcopy(summary["attack"])
    for side in (attack["before"], *attack["before"]["by_model"].values()):
        side |= {"log_min_lift": -40.0}
        side["intervals"]["log_min_lift"] = [-50.0, -30.0]
    picture = ranges_of(attack)
    band = picture.band
    assert band is not None
    assert band[1] - band[0] > (picture.right - picture.left) / 4
    assert [name for _, name, *_ in picture.rows] == ["all models", *by_strength(attack)]


def test_the_strongest_model_is_shown_part_by_part(summary: dict[str, Any]) -> None:
    attack = summary["attack"]
    model, value, before, after = series_of(attack)
    assert model == by_strength(attack)[0]
    assert {cell["model"] for cell in after} == {model}
    assert {cell["model"] for cell in before} == {model.removeprefix("original's ")}
    assert {cell["value"] for cell in (*before, *after)} == {value}
    assert all(old is not None for _, old, _ in sides_of(attack))
    picture = bins_of(attack)
    assert picture is not None
    assert [len(picture.before), len(picture.after)] == [len(before), len(after)]
    for point in (*picture.before, *picture.after):
        assert picture.top <= point.high <= point.y <= point.low <= picture.bottom
    none = attack | {"cells": []}
    assert bins_of(none) is None
    assert "part by part" not in published_html(summary | {"attack": none})


def test_a_scatter_has_room_for_nothing_at_all() -> None:
    assert scatter_of([]).points == ()
    ((x, y, _),) = scatter_of([(0.0, 0.0, "none")]).points
    assert (x, y) == (76, 334)


def test_many_columns_and_labels_are_cut_and_say_so(summary: dict[str, Any]) -> None:
    large = published_html(crowded(summary, 40, 60))
    assert len(large.encode()) < 1_000_000
    assert large.count("<details>") == 40 + 3
    many = crowded(summary, 60, 60)
    many["class_records"] = [30] * 120
    many["calibration"]["classes"] = [f"class {k}" for k in range(120)]
    huge = words_of(published_html(many))
    assert "20 more classes, later ones, are left out." in huge
    assert f"{MOST_POINTS:,} of 1,770 pairs, those that differ most." in huge
    assert "and 20 more; all of them are published together" in huge


def test_other_publications_have_pages_too(summary: dict[str, Any]) -> None:
    """Counted beliefs, one column, several secrets, values without AUC, a verdict that is none, files with names."""
    other = copy.deepcopy(summary)
    other |= {"calibration": {}, "tries": 3, "shuffled": False}
    other["quality"]["pairs"] = []
    other["design"]["bound"] = None
    other["secrets"] = [
        {"sensitive": [name], "verdict": "undecided", "log_lifts": {"before": [-math.inf, 1.0], "after": [-0.2, 0.3]}}
        for name in ("ill", "rich")
    ]
    for side in (other["attack"]["before"], other["attack"]["after"]):
        for one in (side, *side["by_model"].values()):
            one["auc"] = None
    other["attack"] |= {"verdict": "undecided", "reasons": ["counting has a log-lift of 3 nats."], "notes": ["a note"]}
    other["attack"]["presence"] |= {
        "applies": False,
        "reason": "only 3 records have a tuple of their own.",
        "cells": [],
    }
    other |= {"output": "o u t.csv", "certificate": "o u t.csv.certificate.json", "table": "in.csv"}
    text = words_of(published_html(other))
    for said in (
        "Beliefs were counted, not learned",
        "It is try 3: an attack found too much in those before.",
        "Rows are in the order of the table",
        "no limit of other designs was proven",
        "Every secret by itself",
        "accuracy before",
        "Guessing the commonest value is right for",
        "the attack cannot decide on LIP",
        "counting has a log-lift of 3 nats.",
        "A note.",
        "Presence: only 3 records have a tuple of their own.",
        "discreet verify 'o u t.csv.certificate.json' --table in.csv --released 'o u t.csv'",
    ):
        assert said in text, said
    assert "-inf to 1.00 -0.20 to 0.30 undecided" in cells_of(published_html(other))
    assert "--key-file" not in text
    assert "How columns go together" not in text


@pytest.fixture(scope="module")
def files(summary: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The page, and one with long and right-to-left names in many columns."""
    folder = tmp_path_factory.mktemp("published")
    far = hostile_of(summary, "\u05e9\u05dc\u05d5\u05dd <b>" * 40)
    make_infinite(far["attack"])
    found = []
    for name, given in (("plain", summary), ("hostile", far), ("crowded", crowded(summary, 40, 60))):
        found.append(folder / f"{name}.html")
        found[-1].write_text(published_html(given), encoding="utf-8")
    return found


def test_in_a_browser_it_loads_nothing_and_fits(browser: Any, files: list[Path]) -> None:
    for path in files:
        browser.get("about:blank")
        requests(browser)
        browser.get_log("browser")
        browser.get(path.as_uri())
        assert [url for url in requests(browser) if not url.startswith("data:")] == [path.as_uri()]
        assert browser.get_log("browser") == []
        assert path.stat().st_size < MOST_BYTES
        for width in (320, 390, 768, 1280):
            set_up(browser, width, "light")
            browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, (path.name, width)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violation_of_accessibility(browser: Any, files: list[Path], width: int, scheme: str) -> None:
    for path in files[:2]:  # the third has no other kinds of elements, and thousands of them
        set_up(browser, width, scheme)
        browser.get(path.as_uri())
        browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        browser.execute_script((resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
        found = browser.execute_async_script("const done = arguments[0]; axe.run().then(done)")
        assert found["passes"]
        problems = [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found["violations"]]
        assert problems == [], path.name


def test_texts_of_pictures_stay_inside(browser: Any, files: list[Path]) -> None:
    script = """return [...document.querySelectorAll('figure > svg text')].filter(t => {
        const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
        return a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1; }).map(t => t.textContent)"""
    for path, width in itertools.product(files, (390, 1280)):
        set_up(browser, width, "light")
        browser.get(path.as_uri())
        assert browser.execute_script(script) == []


def test_the_person_is_among_what_is_not_published_and_one_is_no_plural(summary: dict[str, Any]) -> None:
    other = copy.deepcopy(summary)
    other["columns"] |= {"dropped": ["town"], "person": "nr", "published": ["age"]}
    text = words_of(published_html(other))
    assert "Not published: town and nr." in text
    assert "3,000 rows of 1 column are published" in text


def test_estimates_beyond_the_promise_are_put_beside_their_number(summary: dict[str, Any]) -> None:
    far = copy.deepcopy(summary)
    far["attack"]["after"]["log_max_lift"] = 0.62
    parts = sum(cell["when"] == "after" for cell in far["attack"]["cells"])
    said = attack_words(far)
    assert "0.62 (limits " in said
    assert f"which the extremes of {parts:,} noisy estimates are expected to, and their limits reach back" in said
    far["attack"]["verdict"] = "not broken"
    printed = io.StringIO()
    Console(file=printed, width=400).print(attack_text(far["attack"]))
    assert "is not broken by what was tried: estimates of " in printed.getvalue()
    assert "0.62 (limits " in printed.getvalue()
    assert "45.0 %, which is proven to be the most" in design_words(
        {"design": {"kept": 0.45, "bound": 0.4500001, "status": "optimal"}}
    ).replace("\u00a0", " ")
    far["design"]["status"] = "feasible"
    assert "stay in theirs; no channel that was found keeps more." in class_words(far)
