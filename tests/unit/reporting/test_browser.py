"""The report of the Adult data in a browser: it loads nothing, is accessible, fits a phone, and is right."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.reporting.decision import decision_summary
from discreet.reporting.formats import percent
from discreet.reporting.html import report_html

#: A report that is larger than this would not be mailed.
MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    joint = dc.Joint.from_table(dc.samples.adult(), "occupation", "relationship")
    certificate = dc.certify(dc.design(joint, dc.LIP(0.5))).public
    return decision_summary(joint, dc.LIP(0.5), certificate=certificate, rows=5)


@pytest.fixture(scope="module")
def page(summary: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_html(summary), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    set_up(browser, 1280, "light")
    browser.get(page.as_uri())
    return browser


def set_up(browser: Any, width: int, scheme: str) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def requests(browser: Any) -> list[str]:
    """Addresses that the browser asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


def texts(browser: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    found: list[str] = browser.execute_script(script, selector)
    return found


def test_it_loads_nothing_and_logs_no_error(browser: Any, page: Path) -> None:
    browser.get("about:blank")
    requests(browser)
    browser.get_log("browser")
    browser.get(page.as_uri())
    asked = [url for url in requests(browser) if not url.startswith("data:")]
    assert asked == [page.as_uri()]
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.get_log("browser") == []
    assert page.stat().st_size < MOST_BYTES


def test_a_request_would_be_noticed(browser: Any, tmp_path: Path) -> None:
    """The test above can fail: a page that loads a picture is told apart."""
    other = tmp_path / "other.html"
    other.write_text('<!DOCTYPE html><title>x</title><img src="missing.png" alt="">', encoding="utf-8")
    requests(browser)
    browser.get(other.as_uri())
    assert (tmp_path / "missing.png").as_uri() in requests(browser)


def test_the_policy_forbids_requests(opened: Any) -> None:
    """Even a script on the page could not reach out."""
    script = "const done = arguments[0]; fetch('data:,x').then(() => done('sent'), () => done('refused'))"
    assert opened.execute_async_script(script) == "refused"
    opened.get_log("browser")


def test_verdict_and_numbers_are_those_of_the_summary(opened: Any, summary: dict[str, Any]) -> None:
    assert texts(opened, ".verdict .main") == ["Not as it is, but through this release."]
    made = summary["design"]
    shown = texts(opened, ".figures dd")
    assert shown[:2] == [percent(made["nmi"]), percent(made["bound"])]
    assert f"{made['nmi']:.6f}" in texts(opened, "main")[0]
    assert texts(opened, ".protection .say") == [summary["promise"]]
    for kind in ("before", "after"):
        found = summary[kind]
        cells = texts(opened, f"[data-map={kind}] tbody td:not(.kept)")
        lifts = [found["lifts"][s][k] for k in range(len(found["symbols"])) for s in range(len(found["sensitive"]))]
        framed = [found["outside"][s][k] for k in range(len(found["symbols"])) for s in range(len(found["sensitive"]))]
        assert len(cells) == len(lifts)
        assert [float(cell.split("!")[0]) for cell in cells] == [round(lift, 2) for lift in lifts]
        assert ["!" in cell for cell in cells] == framed
    assert summary["certificate"]["digest"] in texts(opened, ".certificate code")
    assert texts(opened, ".limits li") == summary["limits"]


def test_bars_are_as_long_as_the_probabilities(opened: Any, summary: dict[str, Any]) -> None:
    script = """return [...document.querySelectorAll('.bar')].map(bar => [...bar.children].map(
        part => part.getBoundingClientRect().width / bar.clientWidth))"""
    for widths, value in zip(opened.execute_script(script), summary["values"]):
        assert widths == pytest.approx([p for _, p in value["released"]], abs=2e-3)


def test_the_toggle_shows_one_map_at_a_time(opened: Any) -> None:
    state = """return [[...document.querySelectorAll('.toggle button')].map(b => b.getAttribute('aria-pressed')),
        [...document.querySelectorAll('[data-map]')].map(m => m.offsetHeight > 0)]"""
    assert opened.execute_script(state) == [["true", "false"], [True, False]]
    press = "const b = document.querySelector('.toggle button[value=after]'); b.focus();"
    opened.execute_script(press)
    opened.switch_to.active_element.send_keys(" ")  # by keyboard
    assert opened.execute_script(state) == [["false", "true"], [False, True]]
    opened.find_element("css selector", ".toggle button[value=before]").click()
    assert opened.execute_script(state) == [["true", "false"], [True, False]]


def test_without_a_script_both_maps_are_there(browser: Any, page: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(page.as_uri())
        maps = browser.find_elements("css selector", "[data-map]")
        assert [element.is_displayed() for element in maps] == [True, True]
        assert not browser.find_element("css selector", ".toggle").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shown", ["before", "after"])
def test_no_violation_of_accessibility(opened: Any, width: int, scheme: str, shown: str) -> None:
    set_up(opened, width, scheme)
    opened.execute_script("document.querySelector(`.toggle button[value=${arguments[0]}]`).click()", shown)
    opened.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    opened.execute_script((resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = opened.execute_async_script("const done = arguments[0]; axe.run().then(done)")
    assert found["passes"]
    problems = [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found["violations"]]
    assert problems == []


def test_the_schemes_differ(opened: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = opened.execute_script(ground)
    set_up(opened, 1280, "dark")
    assert opened.execute_script(ground) != light


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_overflows_sideways(opened: Any, width: int) -> None:
    set_up(opened, width, "light")
    opened.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width


def test_on_paper_everything_is_shown(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    script = "return [...document.querySelectorAll('[data-map], details table')].map(e => e.offsetHeight > 0)"
    assert opened.execute_script(script) == [True, True, True]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
