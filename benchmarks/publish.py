"""(p) Whole tables: discreet beside peers on Adult, outside judges, growth, and other secrets.

What the numbers mean
---------------------
log-lifts
    Of any part of the records that some model of `discreet.attack` can tell apart, the smallest and the largest
    log P(s | part) / P(s), counted on records that the model has not seen. One judge for all tools, whatever each
    promises itself: plain swaps promise nothing, t-closeness and delta-disclosure are about their groups alone.
broken, undecided, not broken
    Whether these, with their limits, stay within LIP(0.5). It is a finding, not a proof; of all tools here discreet
    alone also has a promise with confidence for the population, decided in integers.
AUC
    Of the best model of the attack, .5 for guessing.
rows, cells unchanged
    Share of rows that are literally as they were, and the mean of that share over columns. Tools that generalise score
    low here by construction, since a range is no value, though it is never wrong: their rows are true and vague, those
    of swaps and of discreet are exact and at times somebody else's. So these two compare discreet with swaps alone.
tuple NMI
    I(X; X') / H(X) of the original tuple and what is published for it, by the channel of each tool (`information`): the
    one yardstick here that is fair to both kinds. It counts any distinction, useful or not, and does not credit a
    wrong value for being near.
column NMI
    The mean over columns of I(X_j; X'_j) / H(X_j), counted; of tools whose columns have very many different ranges it
    is too high, since counting pairs of rare values flatters.
column shapes, pair trends
    Of sdmetrics, 1 where shares of values, and associations of pairs of columns, are those of the original. The peer's
    ranges and lists are first replaced by one of their values at random, as a reader would have to. New rows: share of
    published tuples that are not in the original; near 0 for whoever publishes real rows.
inference risk
    Of anonymeter: how much more often the S of a person in the table is guessed, from the S beside the nearest row that
    is published, than that of a person who is not in it (adult.test). The true S is put beside each published row for
    this; discreet never publishes it, so that the number says what would follow if somebody did. It measures whose row
    it is, not what columns tell about S: rows that stay as they are carry their owner's S here, whatever the promise.
singling out
    Of anonymeter: whether predicates that hold for one published row hold for one person, too, beyond the same for
    people outside. discreet does not protect against it (real rows appear), nor do swaps; groups do.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import information, peers, tables
from benchmarks.audit import CACHE
from benchmarks.beliefs import ADULT, NAMES
from benchmarks.common import Row, command, process
from discreet import LIP, MaxLift, Notion, attack, publish
from discreet.errors import DiscreetError

DATA = ADULT.parent
USEFUL = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
SENSITIVE = "income"
NOTION = LIP(peers.EPSILON)

#: Records that outside judges look at.
ATTACKS, NEW_ROWS = 500, 500

PUBLISH = """
import json, sys, time
import pyarrow.parquet as pq
from discreet import LIP, publish
from discreet.errors import DiscreetError
start = time.perf_counter()
try:
    found = publish(pq.read_table(sys.argv[1]), "secret", notion=LIP(0.5, confidence=0.95), seed=1)
except DiscreetError as error:
    told = {"error": str(error)}
else:
    kept = {"unchanged": found.unchanged, "least": min(found.columns.values())}
    lifts = {"low": found.attack.after.log_min_lift, "high": found.attack.after.log_max_lift}
    told = kept | lifts | {"verdict": found.attack.verdict, "tries": found.tries, "classes": found.joint.n_useful}
json.dump(told | {"seconds": time.perf_counter() - start}, open(sys.argv[2], "w"))
"""


def adult(name: str = "adult.data") -> pd.DataFrame:
    """All columns; "?" is a value."""
    lines = int(name == "adult.test")
    table = pd.read_csv(
        DATA / name, header=None, names=NAMES.split(","), skipinitialspace=True, na_filter=False, skiprows=lines
    )
    table["income"] = table["income"].str.rstrip(".")
    return table


def side_by_side() -> Iterator[Row]:
    """One line a tool, on Adult with eight useful columns and S = income."""
    table = _table()
    yield _untouched(table)
    for found in _all_releases():
        yield _judged(found, table)


def _table() -> pd.DataFrame:
    return adult()[[*USEFUL, SENSITIVE]]


def _all_releases() -> Iterator[peers.Release | peers.Failed]:
    own, table = _ours(), _table()
    useful = table[list(USEFUL)]
    unchanged = _same(own.table, useful).all(axis=1).mean()
    yield own
    yield _swap()
    yield peers.swap(useful, _keep_of_promise(table[SENSITIVE]), f"so much that {NOTION} holds for whatever is known")
    yield peers.swap_columns(useful, _keep_of_columns(useful, unchanged), "as many rows unchanged")
    yield peers.swap_columns(useful, unchanged, "as large a part of each column")
    yield from peers.mondrian(table, SENSITIVE)
    yield from peers.global_recoding(table, SENSITIVE)


@cache
def _ours() -> peers.Release:
    return peers.ours(_table(), SENSITIVE)


@cache
def _swap() -> peers.Release:
    useful = _table()[list(USEFUL)]
    return peers.swap(useful, _same(_ours().table, useful).all(axis=1).mean())


def _keep_of_promise(secret: pd.Series) -> float:
    """The largest share k that a swap may keep where lifts l of X reach from 0 to 1 / P(s): 1 - k + k l is allowed."""
    least = secret.value_counts(normalize=True).min()
    return min(-np.expm1(-peers.EPSILON), np.expm1(peers.EPSILON) / (1 / least - 1))


def _keep_of_columns(useful: pd.DataFrame, unchanged: float) -> float:
    """How often a cell is left out of the swap, so that so many rows are unchanged: some get their own value back."""
    from scipy.optimize import brentq

    shares = np.stack([useful[name].map(useful[name].value_counts(normalize=True)) for name in useful])
    return float(brentq(lambda keep: (keep + (1 - keep) * shares).prod(axis=0).mean() - unchanged, 0, 1))


def _same(released: pd.DataFrame, useful: pd.DataFrame) -> np.ndarray:
    return (released.astype(str).to_numpy() == useful.astype(str).to_numpy()).reshape(useful.shape)


def _untouched(table: pd.DataFrame) -> Row:
    """What everything is measured from."""
    start = time.perf_counter()
    found = attack(table, table[list(USEFUL)], SENSITIVE, notion=NOTION)
    return Row("(p) Adult: the original", time.perf_counter() - start, "", None, f"{_told(found)}; time of the attack")


def _judged(found: peers.Release | peers.Failed, table: pd.DataFrame) -> Row:
    beside = _ours().seconds
    what, ratio = f"(p) Adult: {found.name}", found.seconds / beside
    if isinstance(found, peers.Failed):
        return Row(what, found.seconds, f"discreet {beside:.3g} s", None, found.reason)
    useful = table[list(USEFUL)]
    told = "one tuple for all rows, nothing to attack"
    if len(found.table.drop_duplicates()) > 1:
        told = _told(attack(table, found.table, SENSITIVE, notion=NOTION))
    same = _same(found.table, useful)
    columns = [
        information.counted(*(pd.factorize(table_of[name])[0] for table_of in (useful, found.table))) for name in useful
    ]
    quality = (
        f"{told}; rows unchanged {same.all(axis=1).mean():.3f}, cells {same.mean():.3f}; "
        f"tuple NMI {found.information:.3f}, column NMI {np.mean(columns):.3f}; {found.note}"
    )
    return Row(what, found.seconds, f"discreet {beside:.3g} s", ratio, quality)


def _told(found: Any) -> str:
    after = found.after
    auc = "" if after.auc is None else f", AUC {after.auc:.3f}"
    presence = ", appearances tell" if found.presence.found else ""
    return f"log-lifts {after.log_min_lift:.2f} to {after.log_max_lift:.2f}, {found.verdict}{auc}{presence}"


def judges() -> Iterator[Row]:
    """sdmetrics and anonymeter on the original, discreet, the plain swap, and the peer that comes nearest to LIP."""
    useful = _table()[list(USEFUL)]
    shown = {"the original": useful, _ours().name: _ours().table, _swap().name: _swap().table}
    groups = next(peers.mondrian(_table(), SENSITIVE))
    if isinstance(groups, peers.Release):
        shown[f"{groups.name}, a value of each range"] = peers.specific(groups.table, useful)
    for judge in (_quality, _risks):
        for name, released in shown.items():
            start = time.perf_counter()
            try:
                told = judge(useful, released)
            except ImportError as error:
                yield Row(
                    f"(p) {judge.__name__[1:]} of {name}", 0.0, "", None, f"not installed: pip install {error.name}"
                )
                break
            yield Row(f"(p) judged by {JUDGES[judge]}: {name}", time.perf_counter() - start, "", None, told)


def _quality(useful: pd.DataFrame, released: pd.DataFrame) -> str:
    kinds = {name: "numerical" if cells.dtype.kind in "if" else "categorical" for name, cells in useful.items()}
    metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report of single tables is to move, and pandas has a lot to say
        from sdmetrics.reports.single_table import QualityReport
        from sdmetrics.single_table import NewRowSynthesis

        report = QualityReport()
        report.generate(useful, released, metadata, verbose=False)
        scores = report.get_properties().set_index("Property")["Score"]
        new = NewRowSynthesis.compute(useful, released, metadata, synthetic_sample_size=NEW_ROWS)
    return ", ".join(f"{name.lower()} {score:.3f}" for name, score in scores.items()) + f"; new rows {new:.3f}"


def _risks(useful: pd.DataFrame, released: pd.DataFrame) -> str:
    from anonymeter.evaluators import InferenceEvaluator, SinglingOutEvaluator

    table, outside = _table(), adult("adult.test")[[*USEFUL, SENSITIVE]]
    published = released.assign(**{SENSITIVE: table[SENSITIVE].to_numpy()})
    np.random.seed(0)  # noqa: NPY002 - anonymeter draws by it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inference = InferenceEvaluator(table, published, list(USEFUL), SENSITIVE, n_attacks=ATTACKS, control=outside)
        inference.evaluate(n_jobs=1)
        single = SinglingOutEvaluator(useful, released, n_attacks=ATTACKS, control=outside[list(USEFUL)])
        single.evaluate(mode="multivariate")
    told = []
    for name, found in (("inference", inference), ("singling out", single)):
        risk, rates = found.risk(), found.results()
        low, high = risk.ci
        told.append(
            f"{name} risk {risk.value:.3f} ({low:.3f} to {high:.3f}): "
            f"{rates.attack_rate.value:.3f} in the table, {rates.control_rate.value:.3f} outside"
        )
    return "; ".join(told)


JUDGES = {_quality: "sdmetrics", _risks: "anonymeter"}


def growth(large: bool) -> Iterator[Row]:
    """Twelve columns and a secret, in a process of its own for each size; then one whole command."""
    before: tuple[int, float] | None = None
    CACHE.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as folder:
        for n in (10_000, 100_000, *([1_000_000] if large else [])):
            source, target = Path(folder) / "wide.parquet", Path(folder) / "found.json"
            _write(tables.wide(n, 12), source)
            run = process("-c", PUBLISH, source, target)
            found = json.loads(target.read_text())
            seconds = found["seconds"]
            exponent, beside, ratio = "", "", None
            if before is not None:
                ratio = seconds / before[1]
                beside = f"{before[0]:,} rows {before[1]:.3g} s"
                exponent = f"exponent {math.log(ratio) / math.log(n / before[0]):.2f}; "
            quality = f"{exponent}peak {run.memory >> 20:,} MB; {_told_of_growth(found)}"
            yield Row(f"(p) publish {n:,} rows of 12 columns", seconds, beside, ratio, quality)
            before = (n, seconds)
        yield _city(Path(folder))


def _told_of_growth(found: dict[str, Any]) -> str:
    if "error" in found:
        return f"not published: {found['error']}"
    return (
        f"rows unchanged {found['unchanged']:.3f}, least column {found['least']:.3f}; log-lifts {found['low']:.2f} to "
        f"{found['high']:.2f}, {found['verdict']}; {found['classes']} classes, tries {found['tries']}"
    )


def _write(table: Any, path: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    writer = pyarrow.csv.write_csv if path.suffix == ".csv" else pyarrow.parquet.write_table
    writer(table, path)


def _city(folder: Path) -> Row:
    source, target = folder / "city.csv", folder / "out.csv"
    _write(tables.city(200_000), source)
    options = ("--sensitive", "diagnosis", "--epsilon", 0.5, "--confidence", 95, "-o", target)
    what, start = "(p) whole command, a city of 200,000 rows as CSV", time.perf_counter()
    try:
        run = command("publish", source, *options)
    except RuntimeError as error:
        return Row(what, time.perf_counter() - start, "", None, f"not published: {error}")
    (stated,) = [json.loads(path.read_text()) for path in folder.glob("out*.json")]
    told = stated["publication"]
    classes = told["classes"]
    least = min(told["columns_unchanged"].values(), key=float)
    quality = (
        f"{run.processor:.3g} s of processors, peak {run.memory >> 20:,} MB; rows unchanged {told['unchanged']}, least "
        f"column {least}; {classes['attack']}, {classes['number']} classes, try {classes['try']}"
    )
    return Row(what, run.wall, "", None, quality)


def secrets() -> Iterator[Row]:
    """Other secrets and other tables."""
    whole, other = adult(), [name for name in USEFUL if name != "marital-status"]
    without = [name for name in USEFUL if name != "occupation"]
    german = pd.read_csv(DATA / "german.data", header=None, sep=" ").rename(columns={20: "class"}).rename(columns=str)
    acs = pd.read_csv(DATA / "acs_ma2019.csv", na_values="N")
    asked: dict[str, tuple[pd.DataFrame, str, Notion]] = {
        "Adult": (whole[[*other, "income", "relationship"]], "relationship", LIP(1.0, confidence=0.95)),
        "Adult,": (whole[[*without, "income", "occupation"]], "occupation", MaxLift(1.0, confidence=0.95)),
        "Adult's test part": (adult("adult.test")[[*USEFUL, "income"]], "income", LIP(0.5, confidence=0.95)),
        "German credit": (german, "class", LIP(0.5, confidence=0.95)),
        "ACS, all columns": (acs, "POVPIP", LIP(0.5, confidence=0.95)),
        "ACS without PINCP": (acs.drop(columns="PINCP"), "PINCP_DECILE", LIP(0.5, confidence=0.95)),
    }
    for name, (table, sensitive, notion) in asked.items():
        yield _published(name.strip(","), table, sensitive, notion)


def _published(name: str, table: pd.DataFrame, sensitive: str, notion: Notion) -> Row:
    what = f"(p) {name}, S = {sensitive}, {notion}, {len(table):,} rows"
    start = time.perf_counter()
    try:
        found = publish(table, sensitive, notion=notion, seed=1)
    except DiscreetError as error:
        return Row(what, time.perf_counter() - start, "", None, f"not published: {error}")
    before, least = found.attack.before, min(found.columns, key=found.columns.__getitem__)
    quality = (
        f"rows unchanged {found.unchanged:.3f}, least column {found.columns[least]:.3f} ({least}); log-lifts before "
        f"{before.log_min_lift:.2f} to {before.log_max_lift:.2f}, after: {_told(found.attack)}; tries {found.tries}, "
        f"{found.joint.n_useful} classes, {len(found.columns)} columns"
    )
    return Row(what, time.perf_counter() - start, "", None, quality)


PARTS = ("adult", "judges", "growth", "secrets")


def rows(parts: Sequence[str] = (), large: bool = False) -> Iterator[Row]:
    chosen = [part for part in PARTS if part in parts] or PARTS
    has_data = ADULT.exists()
    if "adult" in chosen and has_data:
        yield from side_by_side()
    if "judges" in chosen and has_data:
        yield from judges()
    if "growth" in chosen:
        yield from growth(large)
    if "secrets" in chosen and has_data:
        yield from secrets()
