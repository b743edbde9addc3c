"""The pages: nothing from a table becomes markup, nothing is loaded, and HTML and Markdown say the same."""

from __future__ import annotations

import itertools
import re
import stat
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet._support.errors import InputError
from discreet.cli.options import NotionOptions, TableOptions
from discreet.cli.report import report
from discreet.reporting.decision import decision_summary
from discreet.reporting.formats import percent, visible
from discreet.reporting.html import LONGEST_NAME, report_html, style
from discreet.reporting.markdown import report_markdown
from discreet.reporting.report import Report
from discreet.reporting.shown import MOST_SHOWN

HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' x='",
    "a\nb | c",
    "</title></style></svg>",
    "&lt;b&gt;",
    "\u202etxt.exe",
    "\ud800",
    "\x00null",
    "👩‍👩‍👧 family 🏳️‍🌈",
    "[x](javascript:alert(1)) http://evil.example www.evil.example",
    "`code` *bold* _it_ # $x$ \\",
    "مرحبا",
    "x" * 700,
]


class Parsed(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def hostile() -> dict[str, Any]:
    n = len(HOSTILE)
    counts = [[3 + (5 * s + 3 * x) % 11 for x in range(n)] for s in range(n)]
    joint = dc.Joint.from_counts(
        counts, sensitive=HOSTILE, useful=HOSTILE, sensitive_columns=['<img src="x">'], useful_columns=["a|b\n<i>"]
    )
    return decision_summary(joint, dc.LIP(0.6), method="watchdog", rows=40, epsilons=[0.6, 1.0])


def test_nothing_from_the_table_becomes_markup(hostile: dict[str, Any]) -> None:
    harmless = decision_summary(dc.Joint.random(3, 4), dc.LIP(0.2), method="watchdog", rows=1, epsilons=[0.2])
    tags, names = set(), set()
    for tag, attributes in Parsed(report_html(harmless)).tags:
        tags.add(tag)
        names |= set(attributes)
    found = Parsed(report_html(hostile))
    assert {tag for tag, _ in found.tags} <= tags
    assert {name for _, attributes in found.tags for name in attributes} <= names
    assert sum(tag == "script" for tag, _ in found.tags) == 1


def test_every_name_is_readable_in_the_page(hostile: dict[str, Any]) -> None:
    text = "".join(Parsed(report_html(hostile)).words)
    for label in HOSTILE:
        assert visible(label)[: LONGEST_NAME - 1] in text
    assert "\u202e" not in text
    assert "\x00" not in text
    report_html(hostile).encode()  # no lone surrogate is left


def test_the_page_names_nothing_to_load(hostile: dict[str, Any]) -> None:
    for tag, attributes in Parsed(report_html(hostile)).tags:
        assert tag not in ("img", "iframe", "object", "embed", "video", "audio", "base", "form")
        assert "src" not in attributes
        assert attributes.get("href", "data:,") == "data:,"
        assert "url(" not in (attributes.get("style") or "")


def test_markdown_cells_stay_cells(hostile: dict[str, Any]) -> None:
    page = report_markdown(hostile)
    page.encode()
    assert "<" not in page
    width = None
    for line in page.splitlines():
        if not line.startswith("|"):
            width = None
            continue
        cells = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1
        width = cells if width is None else width
        assert cells == width
    assert not re.search(r"(?<!\\)\]\(|https?://|www\.evil", page)


def test_both_pages_say_the_same() -> None:
    joint = dc.Joint.from_table(dc.samples.adult(), "relationship", "occupation")
    summary = decision_summary(joint, dc.ALIP.split(1.0, 0.65), rows=3, certificate=None)
    text, page = "".join(Parsed(report_html(summary)).words), report_markdown(summary)
    for found in (text, page):
        assert summary["promise"] in found
        assert percent(summary["design"]["nmi"]) in found
        for sentence in (*summary["limits"], summary["against"], summary["limit"]):
            assert sentence in found
    titles = re.findall(r"<h2>(.*?)</h2>", report_html(summary))
    assert titles == re.findall(r"^## (.*)$", page, re.MULTILINE)


def test_headings_come_in_order(hostile: dict[str, Any]) -> None:
    levels = [int(level) for level in re.findall(r"<h([1-6])>", report_html(hostile))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_text_stands_out_from_every_ground() -> None:
    """At least 4.5 to 1 in both schemes and on paper, also where axe cannot look: inside pictures."""

    def luminance(colour: str) -> float:
        full = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(full[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(first: str, second: str) -> float:
        light, dark = sorted((luminance(first), luminance(second)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    schemes = [dict(re.findall(r"--(\w+):(#\w+)", block)) for block in re.findall(r"\.dr\{(--[^}]*)", style())]
    assert len(schemes) == 3
    for colours in schemes:
        shades = [f"{side}{k}" for side in "ud" for k in range(1, 6)]
        pairs = [("ink", ground) for ground in ("paper", "wash", *shades)]
        pairs += [("soft", "paper"), ("soft", "wash"), ("accent", "paper"), ("on", "accent")]
        for text, ground in pairs:
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_large_tables_are_cut_and_say_so() -> None:
    summary = decision_summary(dc.Joint.random(60, 300, seed=1), dc.LIP(3.0), method="watchdog", epsilons=[3.0])
    page = report_html(summary)
    assert f"{300 - MOST_SHOWN} more values" in page
    assert "20 more values of S" in page
    assert len(page.encode()) < 1_000_000
    assert f"{300 - MOST_SHOWN} more values" in report_markdown(summary)


@pytest.mark.parametrize(
    "notion", [dc.SRLIP(0.5), dc.PerfectPrivacy(), dc.L1Lift(eps_upper=0.3), dc.LIP(0.0), dc.LDP(9.0)]
)
def test_pages_exist_for_other_notions(notion: dc.Notion) -> None:
    useful = [(a, b) for a in range(2) for b in range(2)]
    joint = dc.Joint.from_counts([[20, 12, 9, 10], [8, 14, 13, 22]], useful=useful)
    for method in ("auto", *(["oue"] if notion == dc.LDP(9.0) else [])):
        summary = decision_summary(joint, notion, method=method)
        assert summary["promise"].split(":")[0] in "".join(Parsed(report_html(summary)).words)
        assert "# May X be published" in report_markdown(summary)


def test_a_report_shows_itself_in_notebooks(tmp_path: Path) -> None:
    joint = dc.Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "<b>", "c"])
    shown = Report.of(joint, dc.LIP(0.5), method="watchdog", epsilons=[0.5])
    inside = shown._repr_html_()
    assert "<script" not in inside
    assert " id=" not in inside
    assert "<b>c" not in inside
    assert shown.to_dict()["notion_text"] == "LIP(0.5)"
    assert "broken as it is" in repr(shown)
    shown.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report_html(shown.to_dict())
    assert stat.S_IMODE((tmp_path / "report.html").stat().st_mode) == 0o600


ADULT = TableOptions("sample:adult", sensitive=["occupation"], useful=["relationship"])
PROMISE = NotionOptions(notion="lip", epsilon=0.5)


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.html"
    assert report(ADULT, promise=PROMISE, method="watchdog", sample=2, output=target) == 0
    out, err = capsys.readouterr()
    assert out == "Report(LIP(0.5): broken as it is, kept by watchdog with NMI 0.0000)\n"
    assert str(target) in err
    assert "these are real values" in target.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="exists already"):
        report(ADULT, promise=PROMISE, output=target)
    report(ADULT, promise=PROMISE, method="watchdog", output=target, force=True, format="md")
    assert target.read_text(encoding="utf-8").startswith("# May relationship be published")


def test_the_command_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    with pytest.raises(InputError, match="needs a privacy notion"):
        report(ADULT, output=target)
    with pytest.raises(InputError, match="--sample"):
        report(ADULT, promise=PROMISE, sample=-1, output=target)
    joint = dc.Joint.from_table(dc.samples.adult(), "occupation", "relationship")
    certificate = tmp_path / "certificate.json"
    dc.certify(dc.design(joint, dc.LIP(0.5), "watchdog")).public.to_json(certificate)
    with pytest.raises(InputError, match="the input itself"):
        report(ADULT, promise=PROMISE, certificate=certificate, output=certificate, force=True)
    assert not target.exists()
    report(ADULT, promise=PROMISE, method="watchdog", certificate=certificate, output=target)
    assert dc.Certificate.from_json(certificate)["certificate_digest"] in target.read_text(encoding="utf-8")
