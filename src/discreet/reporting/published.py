"""The report of a published table for its owner: what was kept, what is promised, and the attack before and after."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from discreet._support.version import version
from discreet.notions.base import from_dict
from discreet.reporting import publication_words as told
from discreet.reporting.attacked import measure_of, series_of, sides_of, worst_presence
from discreet.reporting.formats import named, nats, percent, points, several, short
from discreet.reporting.html import page_html
from discreet.reporting.pictures import Bins, Ranges, Scatter, bins_of, ranges_of, scatter_of
from discreet.reporting.words import changes_by, percent_words, rule_words

__all__ = ["published_html"]

Facts = Mapping[str, Any]
Rows = tuple[tuple[str, ...], ...]

#: Points of a scatter, rows of what differs most, and rows of classes that are shown.
MOST_POINTS, MOST_DIFFERENT, MOST_CLASSES = 1000, 12, 100

#: Columns that the sentence of what is published names.
MOST_NAMED = 40

#: Files of a publication: their place in the summary, their name, and who may read them.
FILES = (
    ("output", "the published table", "everyone"),
    ("certificate", "its public certificate", "everyone"),
    ("private", "the private certificate: counts, classes and attack", "its owner alone"),
    ("key", "the key of the draw", "its owner alone"),
    ("plan", "the plan for later tables", "its owner alone"),
    ("report", "this report", "its owner alone"),
)


def published_html(summary: Facts) -> str:
    """One HTML file for the owner of a published table; no request leaves it, and it reads without its script.

    Parameters
    ----------
    summary : dict
        ``Publication.to_dict()``; where files were written, with their names as ``output``, ``certificate``,
        ``private``, ``key``, ``plan`` and ``report``, and that of the original as ``table``.
    """
    return page_html("published/page.html", _Page.of(summary))


@dataclass(frozen=True)
class _Column:
    """What a column kept, as texts; ``width`` is its share of unchanged cells."""

    name: str
    width: float
    figures: tuple[str, str, str, str]
    shares: Rows


@dataclass(frozen=True)
class _Attack:
    """The attack as pictures and tables."""

    words: str
    verdict: str
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    ranges: Ranges
    bins: Bins | None
    parts: Rows
    measure: str
    guessing: str
    models: Rows
    presence: str
    presence_rows: Rows
    confidence: str
    secrets: Rows


@dataclass(frozen=True)
class _Points:
    """A scatter, and the points that are farthest from its diagonal as a table."""

    picture: Scatter
    rows: Rows
    n_all: int


@dataclass(frozen=True)
class _Page:
    """All that the templates show, in their order."""

    version: str
    title: str
    secret: str
    rows: int
    size: str
    names: tuple[str, ...]
    names_left: int
    clause: str
    unchanged: str
    figures: tuple[tuple[str, str], ...]
    rule: str
    promise: str
    made: str
    notes: tuple[str, ...]
    attack: _Attack
    columns: tuple[_Column, ...]
    pairs: _Points | None
    calibration: _Points | None
    mean_error: str
    classes: Rows
    records: Rows
    records_left: int
    design: str
    files: Rows
    verify: str
    command: str
    words: Any = told

    @classmethod
    def of(cls, summary: Facts) -> _Page:
        """The page of a publication."""
        secret = named([short(name, 120) for name in summary["columns"]["sensitive"]], "S")
        names = summary["columns"]["published"]
        calibration = summary["calibration"]
        return cls(
            version=version(),
            title=f"{several(summary['rows'], 'row')} published without {short(secret)}",
            secret=secret,
            rows=int(summary["rows"]),
            size=f"{several(summary['rows'], 'row')} of {several(len(names), 'column')}",
            names=tuple(names[:MOST_NAMED]),
            names_left=max(0, len(names) - MOST_NAMED),
            clause=told.attack_clause(summary["attack"]["verdict"], summary["notion"]),
            unchanged=percent(summary["unchanged"]),
            figures=_figures(summary),
            rule=rule_words(from_dict(dict(summary["notion_parts"]))),
            promise=" ".join([told.promise_words(from_dict(dict(summary["notion_parts"]))), *told.each_words(summary)]),
            made=told.class_words(summary),
            notes=_notes(summary),
            attack=_attack(summary),
            columns=tuple(_column(name, kept) for name, kept in summary["quality"]["columns"].items()),
            pairs=_pairs(summary["quality"]["pairs"]),
            calibration=_calibration(calibration) if calibration else None,
            mean_error=percent(calibration["mean_error"]) if calibration else "",
            classes=_classes(summary),
            records=_records(summary)[:MOST_CLASSES],
            records_left=max(0, len(summary["class_records"]) - MOST_CLASSES),
            design=told.design_words(summary),
            files=tuple((what, str(summary[name]), who) for name, what, who in FILES if name in summary),
            verify=told.verify_words("key" in summary or "output" not in summary),
            command=_command(summary),
        )


def _figures(summary: Facts) -> tuple[tuple[str, str], ...]:
    """The figures of the opening, the share of unchanged rows first."""
    attack = summary["attack"]
    before, after = attack["before"], attack["after"]
    measure = measure_of(attack)
    guessed = "AUC of the best model" if measure == "auc" else "records whose S the best model guesses"
    show = percent if measure == "accuracy" else "{:.3f}".format
    sides = (("before", before), ("after", after))
    return (
        ("of rows unchanged", percent(summary["unchanged"])),
        *((f"largest rise of a belief, {when}", changes_by(float(side["log_max_lift"]))) for when, side in sides),
        *((f"{guessed}, {when}", show(float(side[measure]))) for when, side in sides),
    )


def _notes(summary: Facts) -> tuple[str, ...]:
    """What else became of the table."""
    columns, undecided = summary["columns"], told.undecided_words(summary)
    dropped = [*columns["dropped"], *([] if columns["person"] is None else [columns["person"]])]
    found = [_sentence(note) for note in (undecided, *summary["notes"]) if note]
    if dropped:
        found.append(f"Not published: {named([short(name) for name in dropped[:MOST_NAMED]], '')}.")
    if not summary["shuffled"]:
        found.append(
            "Rows are in the order of the table: whoever has it can put both side by side. Records were exchanged one "
            "for one, so that each is published as often as it occurs."
        )
    return tuple(found)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _attack(summary: Facts) -> _Attack:
    attack = summary["attack"]
    measure, presence = measure_of(attack), attack["presence"]
    *_, before, after = series_of(attack)
    return _Attack(
        words=told.lift_words(attack),
        verdict=" ".join([*told.secret_words(summary), told.attack_words(summary)]),
        reasons=tuple(attack["reasons"]),
        notes=tuple(_sentence(note) for note in attack["notes"]),
        ranges=ranges_of(attack),
        bins=bins_of(attack),
        parts=_parts(before, after),
        measure="AUC" if measure == "auc" else "accuracy",
        guessing=f"Guessing the commonest value is right for {percent(attack['after']['base_rate'])} of records.",
        models=_models(attack, measure),
        presence=told.presence_words(presence),
        presence_rows=tuple(_present(cell) for cell in worst_presence(presence["cells"])),
        confidence=percent_words(attack["confidence"]),
        secrets=_secrets(summary["secrets"]),
    )


def _models(attack: Facts, measure: str) -> Rows:
    """Of each model its log-lifts with their limits, and how well it guesses, before and after."""
    rows = []
    for name, *sides in sides_of(attack):
        guessed = ["" if side is None else f"{side[measure]:.3f}" for side in sides]
        rows.append((name, *(_lifts(side) for side in sides), *guessed))
    return tuple(rows)


def _lifts(side: Facts | None) -> str:
    if side is None:
        return ""
    low, high = float(side["intervals"]["log_min_lift"][0]), float(side["intervals"]["log_max_lift"][1])
    return f"{_range(side['log_min_lift'], side['log_max_lift'])} ({_range(low, high)})"


def _range(low: Any, high: Any) -> str:
    return f"{nats(float(low))} to {nats(float(high))}"


def _parts(before: Sequence[Facts], after: Sequence[Facts]) -> Rows:
    """Parts of the records as rows, those before and after side by side."""
    rows: list[tuple[str, ...]] = []
    for old, new in itertools.zip_longest(before, after):
        cells = [
            ("", "", "") if cell is None else (f"{cell['n']:,}", nats(float(cell["log_lift"])), _limits(cell))
            for cell in (old, new)
        ]
        rows.append((f"{len(rows) + 1}", *itertools.chain(*cells)))
    return tuple(rows)


def _limits(cell: Facts) -> str:
    return _range(cell["low"], cell["high"])


def _present(cell: Facts) -> tuple[str, ...]:
    lifts = (nats(float(cell["log_lift"])), nats(float(cell["log_ratio"])))
    return cell["appearances"], f"{cell['n']:,}", cell["value"], *lifts, _limits(cell)


def _secrets(secrets: Sequence[Facts]) -> Rows:
    """One line for each secret, where several are promised one by one."""
    if len(secrets) < 2:
        return ()
    return tuple(
        (
            " + ".join(one["sensitive"]),
            *(_range(*one["log_lifts"][when]) for when in ("before", "after")),
            one["verdict"] or "not judged",
        )
        for one in secrets
    )


def _column(name: str, kept: Facts) -> _Column:
    largest = kept["largest_change"]
    change = f"{'' if largest['change'] < 0 else '+'}{points(largest['change'])}"
    shares = tuple(
        (value, percent(before), percent(after), points(error))
        for value, before, after, error in kept["shares"]
        if before or after
    )
    figures = (percent(kept["unchanged"]), change, points(largest["standard_error"]), percent(kept["distance"]))
    return _Column(name, float(kept["unchanged"]), figures, shares)


def _pairs(pairs: Sequence[Sequence[Any]]) -> _Points | None:
    if not pairs:
        return None
    points = [(before, after, f"{short(one)} and {short(other)}") for one, other, before, after in pairs]
    order = _farthest(points)
    rows = tuple((*pairs[k][:2], *(f"{value:.3f}" for value in pairs[k][2:])) for k in order[:MOST_DIFFERENT])
    titled = [(x, y, f"{name}: {x:.3f} before, {y:.3f} after") for x, y, name in (points[k] for k in order)]
    return _Points(scatter_of(titled[:MOST_POINTS]), rows, len(pairs))


def _calibration(told_of: Facts) -> _Points:
    """Believed against counted shares; of two labels one, since the other is the rest."""
    labels = list(enumerate(told_of["labels"]))
    points, rows = [], []
    for k, label in labels[-1:] if len(labels) == 2 else labels:
        sides = zip(told_of["classes"], told_of["records"], told_of["believed"][k], told_of["counted"][k])
        for name, records, believed, counted in sides:
            about = f"{short(str(label))}, {short(str(name))}"
            both = f"believed {percent(believed)}, counted {percent(counted)} of {records:,} records"
            points.append((float(believed), float(counted), f"{about}: {both}"))
            rows.append((str(label), str(name), f"{records:,}", percent(believed), percent(counted)))
    order = _farthest(points)
    shown = [points[k] for k in order[:MOST_POINTS]]
    return _Points(scatter_of(shown), tuple(rows[k] for k in order[:MOST_DIFFERENT]), len(points))


def _farthest(points: Sequence[tuple[float, float, str]]) -> list[int]:
    """Places of points, the farthest from the diagonal first."""
    return sorted(range(len(points)), key=lambda k: -abs(points[k][1] - points[k][0]))


def _classes(summary: Facts) -> Rows:
    """Figures of the classes."""
    records, design = summary["class_records"], summary["design"]
    spread = f"{min(records):,}, {median(records):,.0f} and {max(records):,}"
    limit = "none proven" if design["bound"] is None else f"{design['bound']:.6f}"
    return (
        ("classes", f"{summary['classes']:,}"),
        ("sensitive values that are told apart", f"{len(summary['labels']):,}"),
        ("records in the smallest, the middle and the largest class", spread),
        ("value of the design", f"{design['kept']:.6f} ({design['status']})"),
        ("proven limit of any design on these classes", limit),
        ("information about the class kept, I(X;Y)/H(X)", f"{design['nmi']:.6f}"),
        ("rows that stay in their class on average", percent(summary["expected_unchanged"])),
        ("rows unchanged in this draw", percent(summary["unchanged"])),
        *((f"records that appear {times}", percent(share)) for times, share in summary["appearances"].items()),
    )


def _records(summary: Facts) -> Rows:
    names = summary["calibration"].get("classes") or [f"{k + 1}" for k in range(len(summary["class_records"]))]
    return tuple((str(name), f"{n:,}") for name, n in zip(names, summary["class_records"]))


def _command(summary: Facts) -> str:
    """How to verify, with the names of the files where they are known."""
    output = summary.get("output", "PUBLISHED.csv")
    certificate = summary.get("private", summary.get("certificate", f"{output}.certificate.json"))
    parts = ["discreet", "verify", certificate, "--table", summary.get("table", "ORIGINAL.csv"), "--released", output]
    if "key" in summary or "output" not in summary:
        parts += ["--key-file", summary.get("key", "KEY"), "--require", "redrawn"]
    return shlex.join(map(str, parts))
