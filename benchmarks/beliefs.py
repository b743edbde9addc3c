"""(k) Designs on beliefs: tuples of Adult, value and limit over time, time limits kept, a million symbols."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.common import Row, command
from discreet import LIP, Design, Joint, MaxLift, Notion, design

#: Adult, which is not part of the project; what needs it is left out where it is missing.
ADULT = Path(__file__).parent.parent.parent / "shared" / "data" / "adult.data"
NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)
SIX = ("sex", "age", "race", "education", "native-country", "workclass", "occupation")

#: Seconds at which curves are read off, and the limits that twelve joints are designed under.
MOMENTS, LIMITS = (1, 3, 10, 30), (1, 5, 20, 60)

#: Useful and sensitive values of the joints that time limits are tried on.
SIZES = (
    (15, 6),
    (30, 20),
    (60, 4),
    (100, 10),
    (200, 15),
    (500, 3),
    (1000, 20),
    (2000, 5),
    (5000, 5),
    (20_000, 5),
    (100_000, 5),
    (1_000_000, 5),
)
MERGED_UP_TO = 20_000


def adult(folder: Path) -> Path:
    """The file with a line of names and without spaces, as a CSV."""
    path = folder / "adult.csv"
    text = ADULT.read_text().replace(", ", ",").strip()
    path.write_text(f"{NAMES}\n{text}\n")
    return path


def whole_commands(table: Path, folder: Path) -> Iterator[Row]:
    """S = income and eight useful columns, from the CSV to the mechanism."""
    useful = [part for name in (*SIX, "marital-status") for part in ("--useful", name)]
    for epsilon in (0.5, 0.2):
        options = ("--sensitive", "income", *useful, "--notion", "lip", "--epsilon", epsilon)
        run = command("design", table, *options, "-o", folder / f"{epsilon}.json")
        joint = Joint.from_table(table, "income", [*SIX, "marital-status"])
        found = design(joint, LIP(epsilon))
        quality = f"NMI {found.nmi:.4f}, limit {found.bound:.4f}, {found.status}"
        yield Row(
            f"(k) design of {joint.n_useful:,} tuples, LIP({epsilon}), whole command", run.wall, "", None, quality
        )


def curves(table: Path | None) -> Iterator[Row]:
    """Value and limit as a search of half a minute improves."""
    subjects: list[tuple[str, Joint, Notion]] = [
        (f"{n} x {c}", Joint.random(c, n, seed=0), LIP(epsilon))
        for n, c, epsilon in ((200, 15, 1), (200, 15, 0.5), (1000, 20, 1), (1000, 20, 0.5))
    ]
    if table is not None:
        joint = Joint.from_table(table, "relationship", [*SIX, "income"])
        subjects += [("Adult, relationship, 683 beliefs", joint, notion) for notion in (MaxLift(1), LIP(1))]
    for name, joint, notion in subjects:
        found = design(joint, notion, time_limit=MOMENTS[-1])
        yield Row(f"(k) {name}, {notion}", found.seconds, f"limit {MOMENTS[-1]} s", None, _curve(found))


def _curve(found: Design) -> str:
    parts = []
    for second in MOMENTS:
        before = [moment for moment in found.history if moment.seconds <= second]
        _, kept, bound = before[-1] if before else (0.0, 0.0, None)
        parts.append(f"{second} s {kept:.4f} / {1.0 if bound is None else bound:.4f}")
    return f"{', '.join(parts)}; in the end {found.nmi:.4f} / {found.bound:.4f}"


def time_limits() -> Iterator[Row]:
    """What a search takes beside its limit, and what comes of it beside merging."""
    for n, c in SIZES:
        joint = Joint.from_counts(np.random.default_rng(n).integers(20, 2000, (c, n)))
        merged = design(joint, LIP(0.5), "subset-merging").nmi if n <= MERGED_UP_TO else None
        parts, longest = [], 0.0
        for limit in LIMITS:
            found = design(joint, LIP(0.5), time_limit=limit)
            searched = found.search_seconds or 0.0
            longest = max(longest, found.seconds - searched)
            parts.append(f"{limit} s: {searched:.1f} s, {found.nmi:.4f} / {found.bound:.4f}")
        beside = "" if merged is None else f"merging {merged:.4f}"
        yield Row(f"(k) {n:,} x {c}, LIP(0.5), integers and check apart", longest, beside, None, "; ".join(parts))


def million() -> Iterator[Row]:
    """A million symbols, each with a belief of its own."""
    for epsilon in (1, 0.5, 0.2):
        joint = Joint.random(5, 1_000_000, seed=1)
        start = time.perf_counter()
        found = design(joint, LIP(epsilon), time_limit=90)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        quality = f"NMI {found.nmi:.4f}, limit {found.bound:.4f}, {found.status}; peak {peak:.1f} GB so far"
        yield Row(f"(k) 1,000,000 x 5, LIP({epsilon})", time.perf_counter() - start, "limit 90 s", None, quality)


def rows(large: bool = False) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        table = adult(Path(name)) if ADULT.exists() else None
        if table is not None:
            yield from whole_commands(table, Path(name))
        yield from curves(table)
    yield from million()
    if large:
        yield from time_limits()
