"""Peers that publish a whole table, each as it comes, and the swaps that anyone can write in a minute."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks import information
from discreet import LIP, publish
from discreet.publishing import making
from discreet.twins.draw import coupled

EPSILON = 0.5

#: The share of ">50K" is .241; within .095 of it, log-lifts stay within .5 (that of the lower side is just reached).
CLOSENESS = 0.095

#: Seconds that a run of anjana may take.
LIMIT = 300.0


class Release(NamedTuple):
    """What a tool made of a table: rows in the order of the original, useful columns alone.

    ``information`` is I(X; X') / H(X) of tuples by the tool's own channel.
    """

    name: str
    table: pd.DataFrame
    seconds: float
    information: float
    note: str = ""


class Failed(NamedTuple):
    """A tool that made nothing, and why."""

    name: str
    seconds: float
    reason: str


def ours(table: pd.DataFrame, sensitive: str) -> Release:
    """In the table's order, so that attacks can put rows beside each other.

    Records are exchanged there, with the chances that a draw in random order has: its coupling tells the information.
    """
    seen = []

    def appearing(hashes, classes, mechanism, distance, names, **options):
        seen.append((hashes, classes, mechanism, distance))
        return making_appearing(hashes, classes, mechanism, distance, names, **options)

    making_appearing = making.appearing
    with patch.object(making, "appearing", appearing):
        start = time.perf_counter()
        found = publish(table, sensitive, notion=LIP(EPSILON, confidence=0.95), seed=1, shuffle=False)
        seconds = time.perf_counter() - start
    codes, classes = information.codes_of(table.drop(columns=sensitive)), seen[-1][1]
    kept = information.coupled(codes, classes, found.fitted.mechanism, coupled(*seen[-1]))
    note = f"{found.joint.n_useful} classes, NMI of classes {found.design.nmi:.3f}, its own attack included in the time"
    return Release(f"discreet, LIP({EPSILON}) at 95 %", found.table, seconds, kept, note)


def swap(useful: pd.DataFrame, keep: float, what: str = "", seed: int = 1) -> Release:
    """Rows chosen at random exchange their whole tuples."""
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    sources = _exchanged(len(useful), keep, rng)
    made = useful.iloc[sources].reset_index(drop=True)
    seconds = time.perf_counter() - start
    codes = information.codes_of(useful)
    name, note = "plain swap of whole tuples", f"{keep:.3f} of the rows left out of it"
    return Release(f"{name}, {what}" if what else name, made, seconds, information.swapped(codes, keep), note)


def swap_columns(useful: pd.DataFrame, keep: float, what: str, seed: int = 1) -> Release:
    """In every column by itself rows chosen at random exchange their cells."""
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    made = pd.DataFrame({name: cells.to_numpy()[_exchanged(len(useful), keep, rng)] for name, cells in useful.items()})
    seconds = time.perf_counter() - start
    kept = information.columns_swapped(useful, made, keep)
    return Release(f"swap of single columns, {what}", made, seconds, kept, f"{keep:.3f} of the cells left out of it")


def _exchanged(n: int, keep: float, rng: np.random.Generator) -> np.ndarray:
    chosen = np.flatnonzero(rng.random(n) >= keep)
    sources = np.arange(n)
    sources[chosen] = rng.permutation(chosen)
    return sources


def mondrian(table: pd.DataFrame, sensitive: str) -> Iterator[Release | Failed]:
    """anonypy: groups of rows, whose cells are published as ranges or lists of values; what is nearest to LIP first."""
    try:
        import anonypy
    except ImportError:
        yield Failed("anonypy", 0.0, "not installed: pip install anonypy")
        return
    useful = table.drop(columns=sensitive)
    typed = useful.apply(lambda cells: cells if cells.dtype.kind in "if" else cells.astype("category"))
    typed[sensitive] = table[sensitive]
    asked = {
        f"Mondrian, {CLOSENESS}-closeness, its test corrected": (_is_t_close, {"k": 2, "p": CLOSENESS}),
        "Mondrian, 10-anonymity": (anonypy.anonymity.is_t_close, {"k": 10}),
        "Mondrian, 10-anonymity and 2-diversity": (anonypy.anonymity.is_t_close, {"k": 10, "l": 2}),
        f"Mondrian, {CLOSENESS}-closeness as it comes": (
            anonypy.anonymity.is_t_close,
            {"k": 2, "p": CLOSENESS},
        ),
    }
    for name, (test, options) in asked.items():
        start = time.perf_counter()
        with patch.object(anonypy.anonymity, "is_t_close", test):
            groups = anonypy.mondrian.Mondrian(typed, list(useful), sensitive).partition(**options)
            anonypy.anonypy.anonymize(typed, groups, list(useful), sensitive)
        seconds = time.perf_counter() - start
        made = _generalised(typed, groups, list(useful))
        kept = information.counted(information.codes_of(useful), information.codes_of(made))
        note = f"{len(groups):,} groups; cells are ranges and lists"
        if test is not _is_t_close and "p" in options:
            note += "; its test overwrites t by a share, so that t has no effect"
        yield Release(f"anonypy, {name}", made, seconds, kept, note)


def _is_t_close(df, partition, sensitive_column, global_freqs, p):
    """As anonypy documents it: no share is further than t from that of the whole table, absent values included."""
    shares = df.loc[partition, sensitive_column].value_counts(normalize=True)
    return max(abs(shares.get(value, 0.0) - share) for value, share in global_freqs.items()) <= p


def _generalised(typed: pd.DataFrame, groups: list, columns: list[str]) -> pd.DataFrame:
    """The words that anonypy publishes, for each row."""
    import anonypy

    made = pd.DataFrame(index=typed.index, columns=columns, dtype=object)
    for name in columns:
        is_category = typed[name].dtype.name == "category"
        words = anonypy.anonypy.agg_categorical_column if is_category else anonypy.anonypy.agg_numerical_column
        cells = np.empty(len(typed), dtype=object)
        for group in groups:
            cells[group] = words(typed.loc[group, name])[0]
        made[name] = cells
    return made


def specific(released: pd.DataFrame, useful: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """A generalised table in the words of the original: of each range or list a value, all equally likely."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, cells in released.items():
        if useful[name].dtype.kind in "if":
            ends = cells.astype(str).str.split("-", expand=True).reindex(columns=[0, 1]).astype(float)
            low, high = ends[0].to_numpy(), ends[1].fillna(ends[0]).to_numpy()
            made[name] = np.floor(low + rng.random(len(cells)) * (high - low + 1)).astype(useful[name].dtype)
        else:
            values = cells.astype(str).str.split(",")
            made[name] = [options[k % len(options)] for options, k in zip(values, rng.integers(0, 1 << 30, len(cells)))]
    return pd.DataFrame(made)


#: Values of Adult in coarser words, one dictionary a level; what none names is "other". The last level is "*".
COARSER: dict[str, list[dict[str, str]]] = {
    "race": [{"White": "White"}],
    "sex": [],
    "marital-status": [
        {
            "Married-civ-spouse": "married",
            "Married-AF-spouse": "married",
            "Married-spouse-absent": "was married",
            "Divorced": "was married",
            "Separated": "was married",
            "Widowed": "was married",
            "Never-married": "never married",
        },
        {"Married-civ-spouse": "married", "Married-AF-spouse": "married"},
    ],
    "education": [
        {
            **dict.fromkeys(["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"], "school"),
            "HS-grad": "high school",
            **dict.fromkeys(["Some-college", "Assoc-voc", "Assoc-acdm"], "college"),
            "Bachelors": "bachelor",
            **dict.fromkeys(["Masters", "Prof-school", "Doctorate"], "more"),
        },
        dict.fromkeys(["Bachelors", "Masters", "Prof-school", "Doctorate"], "degree"),
    ],
    "native-country": [{"United-States": "United-States"}],
    "workclass": [
        {
            "Private": "private",
            **dict.fromkeys(["Self-emp-inc", "Self-emp-not-inc"], "own"),
            **dict.fromkeys(["Federal-gov", "Local-gov", "State-gov"], "state"),
        },
    ],
    "occupation": [
        {
            **dict.fromkeys(["Exec-managerial", "Prof-specialty", "Tech-support"], "professional"),
            **dict.fromkeys(["Adm-clerical", "Sales"], "office"),
            **dict.fromkeys(["Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners"], "manual"),
        },
        dict.fromkeys(["Exec-managerial", "Prof-specialty", "Tech-support"], "professional"),
    ],
}
AGES = (5, 10, 20, 40)


def hierarchies(useful: pd.DataFrame) -> dict[str, dict[int, list[str]]]:
    """For anjana: of each column its values in coarser and coarser words."""
    found = {}
    for name in useful:
        values = [str(value) for value in sorted(useful[name].unique())]
        if name == "age":
            levels = [[f"{int(v) // w * w} to {int(v) // w * w + w - 1}" for v in values] for w in AGES]
        else:
            levels = [[words.get(value, "other") for value in values] for words in COARSER[str(name)]]
        found[str(name)] = dict(enumerate([values, *levels, ["*"] * len(values)]))
    return found


#: anjana generalises the column of most values next, of several the first: in its favour, what tells least comes last.
TELLING = ("marital-status", "occupation", "education", "age", "workclass", "sex", "race", "native-country")

#: What is asked of anjana; a lift of at most exp(.5) is a gain of exp(.5) - 1 = .649 relative to the share.
ANJANA = {"delta_disclosure": {"delta": EPSILON}, "basic_beta_likeness": {"beta": float(np.expm1(EPSILON))}}


def run_anjana(method: str, source: str, target: str) -> None:
    """One run, in a process of its own."""
    import anjana.anonymity

    table = pd.read_pickle(source)
    sensitive = table.columns[-1]
    texts = table.astype(str)
    useful = list(table.columns[:-1])
    start = time.perf_counter()
    made = getattr(anjana.anonymity, method)(
        texts, [], list(TELLING), sensitive, 1, **ANJANA[method], supp_level=0, hierarchies=hierarchies(table[useful])
    )
    seconds = time.perf_counter() - start
    pd.to_pickle((made[useful] if len(made) else None, seconds), target)


def global_recoding(table: pd.DataFrame, sensitive: str) -> Iterator[Release | Failed]:
    """anjana: each column at one level of its hierarchy for all rows; stopped after `LIMIT` seconds."""
    useful = table.drop(columns=sensitive)
    with TemporaryDirectory() as folder:
        source, target = Path(folder) / "table", Path(folder) / "made"
        table[[*useful, sensitive]].to_pickle(source)
        for method, options in ANJANA.items():
            name = f"anjana, {method} {next(iter(options.values())):.3g}"
            target.unlink(missing_ok=True)
            code = "import sys; from benchmarks.peers import run_anjana; run_anjana(*sys.argv[1:])"
            asked = [sys.executable, "-c", code, method, str(source), str(target)]
            start = time.perf_counter()
            try:
                done = subprocess.run(asked, capture_output=True, text=True, timeout=LIMIT, check=False)
            except subprocess.TimeoutExpired:
                yield Failed(name, LIMIT, f"stopped after {LIMIT:.0f} s")
                continue
            if done.returncode:
                told = (done.stderr.strip().splitlines() or ["no message"])[-1]
                reason = "not installed: pip install anjana" if "ModuleNotFoundError" in told else told
                yield Failed(name, time.perf_counter() - start, reason)
                continue
            made, seconds = pd.read_pickle(target)
            if made is None:
                yield Failed(name, seconds, "it says that it cannot be achieved")
                continue
            kept = information.counted(information.codes_of(useful), information.codes_of(made))
            left = [column for column in made if made[column].nunique() > 1]
            note = (
                f"k = 1, no rows suppressed; {', '.join(left) or 'nothing'} left, {len(made.drop_duplicates())} groups"
            )
            yield Release(name, made.reset_index(drop=True), seconds, kept, note)
