"""(e)-(j) The optimal random response beside double description: quality, proven bounds, and time against |X|."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import importlib
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from benchmarks.common import Row
from discreet import ALIP, LDP, Joint, design, measures

#: From rows (b, a) of ``b + a v >= 0``, the first an equation, to the vertices of the polytope.
Lister = Callable[[np.ndarray], np.ndarray]
RESULTS = Path(__file__).parent / "results"
N_SENSITIVE, LAM = 5, 0.5
#: Joints of the full benchmarks; fewer on request.
PEER_JOINTS, MEAN_JOINTS, GAP_JOINTS, SCALING_JOINTS = 20, 100, 10, 3
#: Alphabets of the plot, and up to which our listing of vertices and cddlib's are run beside column generation.
ALPHABETS, MOST_FOR_VERTICES, MOST_FOR_CDDLIB = (5, 8, 11, 14, 17, 20, 24, 30, 40, 60, 100), 20, 30
#: Exact rationals from floats would have denominators of 2^53; a millionth keeps ppl's integers short.
DENOMINATOR = 10**6
#: Ours end with a mechanism in integers that passed the exact check, the peers with a mixture in floats.
LABELS = {
    "columns": "ours, columns, with proof",
    "vertices": "ours, vertices",
    "cddlib": "cddlib in floats, then LP",
    "ppl": "ppl on rows rounded to 1e-6, then LP",
}


class Answer(NamedTuple):
    """What one search took and reached; NaN where it failed."""

    seconds: float
    nmi: float
    bound: float = math.nan
    status: str = "no proof"


def ours(joint: Joint, epsilon: float, method: str = "optimal", **options: Any) -> Answer:
    """Our design, timed from joint to mechanism, integers and exact check included."""
    start = time.perf_counter()
    done = design(joint, ALIP.split(epsilon, LAM), method, **options)
    return Answer(time.perf_counter() - start, done.nmi, math.nan if done.bound is None else done.bound, done.status)


def peer(vertices: Lister, joint: Joint, epsilon: float) -> Answer:
    """A library's list of vertices and one linear programme over them; floats, neither sealed nor checked."""
    start = time.perf_counter()
    try:
        points = vertices(polytope(joint, epsilon))
        # Vertices are listed with rounding errors, and some zeros come out as tiny negative numbers.
        cost = -np.where(points > 1e-12, points * np.log(np.maximum(points, 1e-12)), 0).sum(axis=1)
        solved = linprog(cost, A_eq=points.T, b_eq=joint.p_useful, method="highs")
        if not solved.success:
            raise ArithmeticError(solved.message)
    except (RuntimeError, ValueError, ArithmeticError):
        return Answer(math.nan, math.nan)
    return Answer(time.perf_counter() - start, 1 - solved.fun / measures.entropy(joint))


def polytope(joint: Joint, epsilon: float) -> np.ndarray:
    """The allowed posteriors v, as rows for a `Lister`."""
    lift, n = measures.lift(joint), joint.n_useful
    low, high = math.exp(-LAM * epsilon), math.exp((1 - LAM) * epsilon)
    constant = np.concatenate([[-1], np.zeros(n), np.full(len(lift), -low), np.full(len(lift), high)])
    return np.column_stack([constant, np.vstack([np.ones(n), np.eye(n), lift, -lift])])


def cddlib(rows: np.ndarray) -> np.ndarray:
    """Vertices by double description in floats."""
    import cdd

    matrix = cdd.matrix_from_array(rows.tolist(), lin_set={0}, rep_type=cdd.RepType.INEQUALITY)
    found = np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)
    if found.ndim != 2 or not (found[:, 0] == 1).all():
        raise ArithmeticError("a bounded polytope has vertices and no rays")
    return found[:, 1:]


def ppl(rows: np.ndarray) -> np.ndarray:
    """Vertices by double description in integers, of rows rounded to `DENOMINATOR`."""
    from ppl import C_Polyhedron, Constraint_System, Linear_Expression

    system = Constraint_System()
    for index, row in enumerate(np.rint(rows * DENOMINATOR).astype(np.int64).tolist()):
        expression = Linear_Expression(row[1:], row[0])
        system.insert(expression >= 0 if index else expression == 0)
    found = C_Polyhedron(system).minimized_generators()
    return np.array([[float(c) / float(point.divisor()) for c in point.coefficients()] for point in found])


def peers() -> dict[str, Lister]:
    """Those that are installed, imported here so that no search is charged for it."""
    found = {}
    for module, function in (("cdd", cddlib), ("ppl", ppl)):
        try:
            importlib.import_module(module)
            found[function.__name__] = function
        except ImportError:
            print(f"{function.__name__} is not installed: make bench installs it", file=sys.stderr)
    return found


def searched(
    n: int, joints: int, epsilon: float, libraries: dict[str, Lister], vertices: bool = True
) -> dict[str, list[Answer]]:
    """All searches, taking turns so that a noisy spell hits all."""
    searches: dict[str, Callable[..., Answer]] = {"columns": ours}
    if vertices:
        searches["vertices"] = partial(ours, search="vertices")
    searches |= {name: partial(peer, listed) for name, listed in libraries.items()}
    answers: dict[str, list[Answer]] = {name: [] for name in searches}
    for seed in range(joints):
        joint = Joint.random(N_SENSITIVE, n, seed=seed)
        for name, search in searches.items():
            answers[name].append(search(joint, epsilon))
    return answers


def beside_peers(most: int, _: Path) -> Iterator[Row]:
    """(e) 17 x 5: columns, vertices and the peers."""
    libraries = peers()
    for epsilon in (0.25, 0.5, 1.0, 2.0):
        yield from compared(f"(e) 17 x 5, eps {epsilon:g}", searched(17, min(PEER_JOINTS, most), epsilon, libraries))


def compared(what: str, answers: dict[str, list[Answer]]) -> Iterator[Row]:
    """A line for column generation, then one for each other search beside it."""
    columns = answers.pop("columns")
    base, proven = seconds(columns), sum(answer.status == "optimal" for answer in columns)
    mean = np.mean([answer.nmi for answer in columns])
    quality = f"mean NMI {mean:.4f}; {proven} of {len(columns)} proven optimal, exact check passed"
    yield Row(f"{what}: {LABELS['columns']}", base, "", None, quality)
    for name, others in answers.items():
        apart = [abs(a.nmi - b.nmi) for a, b in zip(columns, others) if not math.isnan(b.nmi)]
        failed = f"{len(others) - len(apart)} of {len(others)} failed"
        quality = f"NMI apart by at most {max(apart, default=math.nan):.1e}; {failed}"
        yield Row(f"{what}: {LABELS[name]}", seconds(others), f"columns {base:.3g} s", seconds(others) / base, quality)


def seconds(answers: list[Answer]) -> float:
    """Median time of the searches that did not fail; NaN is not greater than 0."""
    return statistics.median([answer.seconds for answer in answers if answer.seconds > 0] or [math.nan])


def mean_kept(most: int, _: Path) -> Iterator[Row]:
    """(f) Mean NMI over many joints 17 x 5."""
    for epsilon in (1.0, 2.0):
        yield from compared(f"(f) 17 x 5, eps {epsilon:g}", searched(17, min(MEAN_JOINTS, most), epsilon, {}, False))


def small_ldp(most: int, _: Path) -> Iterator[Row]:
    """(j) LDP at the size of LTS20's Figure 3, where its Matlab takes 133 s."""
    taken = []
    for seed in range(min(PEER_JOINTS, most)):
        joint = Joint.random(2, 5, seed=seed)
        start = time.perf_counter()
        found = design(joint, LDP(0.5))
        taken.append(Answer(time.perf_counter() - start, found.nmi, found.bound or math.nan, found.status))
    yield from compared("(j) LDP, 5 x 2, eps 0.5", {"columns": taken})


def proven_gaps(most: int, _: Path) -> Iterator[Row]:
    """(g) 200 x 15, two minutes each: what is kept and what is proven."""
    for epsilon in (4.0, 2.0, 1.0):
        what, answers = f"(g) 200 x 15, eps {epsilon:g}", []
        for seed in range(2, 2 + min(GAP_JOINTS, most)):
            answers.append(ours(Joint.random(15, 200, seed=seed), epsilon, time_limit=120))
            yield limited(f"{what}, seed {seed}", answers[-1], 120)
        time_, nmi, bound = np.mean([answer[:3] for answer in answers], axis=0)
        yield limited(f"{what}, mean of {len(answers)}", Answer(time_, nmi, bound), 120)


def limited(what: str, answer: Answer, limit: float) -> Row:
    """A line for a search that stops at a time limit."""
    proven = "" if math.isnan(answer.bound) else f", bound {answer.bound:.4f}, gap {answer.bound - answer.nmi:.4f}"
    return Row(what, answer.seconds, f"limit {limit:g} s", answer.seconds / limit, f"NMI {answer.nmi:.4f}{proven}")


def large_alphabets(_: int, __: Path) -> Iterator[Row]:
    """(h) Alphabets of thousands beside the heuristics."""
    for n_useful, n_sensitive in ((1000, 20), (5000, 10)):
        joint = Joint.random(n_sensitive, n_useful, seed=2)
        what, best = f"(h) {n_useful} x {n_sensitive}, eps 2", ours(joint, 2.0, time_limit=110)
        yield limited(f"{what}, optimal", best, 110)
        for method, options in (("subset-response", {"time_limit": 110}), ("subset-merging", {})):
            found = ours(joint, 2.0, method, **options)
            quality = f"NMI {found.nmi:.4f}, {best.nmi - found.nmi:.4f} below optimal's"
            ratio = found.seconds / best.seconds
            yield Row(f"{what}, {method}", found.seconds, f"optimal {best.seconds:.3g} s", ratio, quality)


def scaling(most: int, results: Path) -> Iterator[Row]:
    """(i) Time against |X| at eps 1; leaves a CSV and a plot."""
    libraries = {name: vertices for name, vertices in peers().items() if name == "cddlib"}
    table = []
    for n in ALPHABETS:
        listed = libraries if n <= MOST_FOR_CDDLIB else {}
        answers = searched(n, min(SCALING_JOINTS, most), 1.0, listed, n <= MOST_FOR_VERTICES)
        table.append({"n_useful": n} | {f"{name}_seconds": seconds(found) for name, found in answers.items()})
        yield from compared(f"(i) {n} x {N_SENSITIVE}, eps 1", answers)
    results.mkdir(parents=True, exist_ok=True)
    with (results / "optimal_scaling.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["n_useful", "columns_seconds", "vertices_seconds", "cddlib_seconds"])
        writer.writeheader()
        writer.writerows(table)
    plot(table, results / "optimal_scaling.svg")


def plot(table: list[dict[str, float]], path: Path) -> None:
    """Seconds against |X|, a line for each search, where matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no plot was drawn", file=sys.stderr)
        return
    axes = Figure(figsize=(7, 4.5), layout="constrained").subplots()
    for (name, label), marker in zip(LABELS.items(), "os^d"):
        points = [(line["n_useful"], line[f"{name}_seconds"]) for line in table if f"{name}_seconds" in line]
        if points:
            axes.plot(*zip(*points), marker=marker, label=label)
    title = f"Optimal random response, |S| = {N_SENSITIVE}, eps 1, lam {LAM}"
    axes.set(yscale="log", xlabel="number of useful symbols |X|", ylabel="seconds (median)", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    axes.figure.savefig(path, metadata={"Date": None})


PARTS = {"peers": beside_peers, "mean": mean_kept, "ldp": small_ldp, "scaling": scaling}
#: An hour and more: run on request only.
LARGE = {"gaps": proven_gaps, "alphabets": large_alphabets}


def rows(parts: Sequence[str] = (), large: bool = False, most: int = 100, results: Path = RESULTS) -> Iterator[Row]:
    """The named parts, or all short ones, and the long ones where asked for; at most so many joints each."""
    for name in parts or [*PARTS, *(LARGE if large else ())]:
        yield from (PARTS | LARGE)[name](most, results)
