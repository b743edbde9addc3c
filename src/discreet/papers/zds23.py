"""ZDS23: lift asymmetry, watchdog, optimal and subset random response, and average lifts; synthetic and Adult."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.notions import Notion
from discreet.papers.base import CLEAR, MUCH, TOLERANCE, Answer, Outcome, Setting, argued, as_drawn, entry
from discreet.papers.checks import (
    Findings,
    identities,
    implications,
    invariant_randomisation,
    ldp_against_alip,
    proposition_1,
    released,
)
from discreet.papers.curves import (
    Curves,
    budgets,
    curves,
    drawn_from,
    figure_of,
    histogram_figure,
    histogram_rows,
    merged,
    table,
    uniform,
)
from discreet.papers.extremes import range_answer
from discreet.papers.oracles import distributions, merging, polytopes
from discreet.papers.oracles.sampling import within_runs
from discreet.papers.tested import Tested
from discreet.papers.writing import MEASURED

LAMS = (0.35, 0.5, 0.65)
SMALL = 1e-9
#: What an optimum may be off that is found by columns in floats.
OPTIMUM = 1e-6
MATLAB = "timings of enumeration in MATLAB; ours is column generation and has no such crossing"

NOT_ANSWERED: dict[str, str] = {}

Family = Callable[[float], Notion]


def adult(setting: Setting) -> Joint:
    """Adult: occupation given relationship, counted from the built-in table."""
    joint: Joint = setting.tested.adult("relationship", "occupation")
    return joint


def split(tested: Tested, lam: float) -> Family:
    """Budgets shared out by lam."""
    return lambda epsilon: tested.split(epsilon, lam)


@entry("zds23-fig1", "Histograms of log min-lift and log max-lift")
def fig1(setting: Setting) -> Outcome:
    tested, joints = setting.tested, uniform(setting.tested, 1_000)
    cells = np.stack([joint.probabilities for joint in joints])
    low, high = (np.log(np.stack([f(joint) for joint in joints])).ravel() for f in (tested.min_lift, tested.max_lift))
    least, most = (v.ravel() for v in merging.extremes(cells))
    exact = np.allclose(low, least) and np.allclose(high, most)
    runs = within_runs(setting.joints(100, 40), 1_000, 5, 17)
    logs = np.log(cells / cells.sum(axis=2, keepdims=True)) - np.log(cells.sum(axis=1))[:, None, :]
    peaks = [np.histogram(v, bins=np.arange(-15, 3, 0.1))[0].max() for v in (low, high)]
    at_min = np.take_along_axis(cells, logs.argmin(axis=1)[:, None, :], axis=1).mean()
    at_max = np.take_along_axis(cells, logs.argmax(axis=1)[:, None, :], axis=1).mean()
    share = float((low <= -6).mean())
    answers = {
        "zds23-fig1-histogram": as_drawn(drawn_from(1_000, 1_000)),
        "zds23-fig1-psi-range": range_answer((-12, -0.06), low, runs, exact),
        "zds23-fig1-lambda-range": range_answer((0.02, 1.64), high, runs, exact),
        "zds23-fig1-psi-wider": Answer(
            bool(np.ptp(low) >= MUCH * np.ptp(high)) and exact, f"{np.ptp(low) / np.ptp(high):.0f} times as wide"
        ),
        "zds23-fig1-peak-lower": Answer(
            bool(MUCH * peaks[0] <= peaks[1]) and exact, f"{peaks[0]} and {peaks[1]} of 17,000"
        ),
        "zds23-fig1-tail-6": Answer(share, f"{100 * share:.2f} % of the symbols", share <= TOLERANCE and exact),
        "zds23-maxlift-more-likely": Answer(bool(at_max > at_min) and exact),
    }
    rows = histogram_rows({"log min-lift": low, "log max-lift": high})
    return Outcome(rows, answers, lambda: histogram_figure(rows, "ZDS23, Fig. 1", "log-lift (nats)"))


@entry("zds23-identities", "Identities and formulas")
def formulas(setting: Setting) -> Outcome:
    tested = setting.tested
    found, other = (
        identities(setting, setting.joints(300, 60)),
        invariant_randomisation(setting, setting.joints(300, 80)),
    )
    names = {
        "gamma-ratio": "ratio of lifts", "tv-from-l1-lift": "total variation from l1",
        "chi2-from-chi2-lift": "chi2 from chi2-lift", "sibson-from-alpha-lift": "sibson from alpha-lift",
        "arimoto-tilted-form": "arimoto, tilted",
    }  # fmt: skip
    answers = {f"zds23-{claim}": Answer(found[key]) for claim, key in names.items()}
    answers |= {
        "zds23-mi-formula-complete": Answer(other["information, one block"]),
        "zds23-mi-formula-subset": Answer(other["information, blocks"]),
        "zds23-refinement-raises-utility": Answer(other["refinement"]),
        "zds23-mi-monotone-highrisk": Answer(other["smaller high-risk set"]),
        "zds23-nmi-range": Answer(other["nmi"], "I(X;Y) / H(X) without clipping, and 1 where X is released"),
        "zds23-lambda-half-is-lip": Answer(_half_is_lip(tested), "by verdicts on 100 joints, at their own level"),
        "zds23-aorr-equivalent-min-conditional": argued(True, "I(X;Y) = H(X) - H(X|Y), and H(X) is given"),
        "zds23-srr-entropy-splits": argued(
            True, "what subset response solves block by block; its NMI is measured on the whole"
        ),
    }
    return Outcome([*found.rows(), *other.rows()], answers)


def _half_is_lip(tested: Tested) -> bool:
    found = Findings()
    for joint in released(100):
        level, ratio = (
            distributions.level(joint.probabilities),
            math.log(max(distributions.ratios(joint.probabilities))),
        )
        for room, holds in ((1 + 1e-6, 1), (1 - 1e-6, 0)):
            found.same("half", tested.holds(tested.split(2 * level * room, 0.5), joint), holds)
            found.same("half", tested.holds(tested.lip(level * room), joint), holds)
        for lam in (0.35, 0.65):
            notion = tested.split(ratio * (1 - 1e-6), lam)
            found.same("same LDP budget", tested.holds(notion, joint), 0)
            found.same("same LDP budget", notion.eps_lower + notion.eps_upper, ratio * (1 - 1e-6))
            found.same("same LDP budget", notion.eps_lower, lam * ratio * (1 - 1e-6))
    return found.all()


@entry("zds23-prop1", "Proposition 1")
def prop1(setting: Setting) -> Outcome:
    found = proposition_1(setting, setting.joints(1_000, 150))
    names = {
        "1-mutual-information": "mutual information", "2-total-variation": "total variation", "2-chi2": "chi2",
        "3-sibson": "sibson", "3-arimoto": "arimoto", "4-ldp": "ldp",
    }  # fmt: skip
    needs_lower = "false where the lifts reach further down than up; the errata have a counterexample and what holds"
    answers = {
        f"zds23-prop1-{claim}": Answer(found[key], "" if found[key] else needs_lower) for claim, key in names.items()
    }
    answers["zds23-prop1"] = Answer(
        all(found[key] for key in names.values()), "" if all(found[key] for key in names.values()) else needs_lower
    )
    return Outcome(found.rows(), answers)


@entry("zds23-theorem1", "Theorem 1 and Proposition A2")
def theorem1(setting: Setting) -> Outcome:
    found = invariant_randomisation(setting, setting.joints(300, 80))
    answers = {
        "zds23-theorem1": Answer(found["ratio"]),
        "zds23-prop-a2": Answer(found["ratio"]),
        "zds23-alip-min-leakage": Answer(found["upper"] and found["lower"]),
    }
    return Outcome(found.rows(), answers)


@entry("zds23-prop2", "Proposition 2")
def prop2(setting: Setting) -> Outcome:
    found = ldp_against_alip(setting, setting.joints(1_000, 150))
    share = found["leakage share"]
    answers = {
        "zds23-prop2": Answer(found["utility"], "as stated, without the repair that the watchdog adds"),
        "zds23-prop2-highrisk-inclusion": Answer(found["inclusion"]),
        "zds23-prop2-leakage-order": Answer(
            share == 1, f"without repair on {100 * share:.1f} % of the cases, both leakages together"
        ),
        "zds23-prop2-ldp-may-miss-alip": Answer(found["may miss"]),
    }
    return Outcome([{"statement": key, "holds": value} for key, value in found.items()], answers)


def _lift_measures(setting: Setting, number: int) -> Outcome:
    found = implications(setting, setting.joints(800, 150))
    reasons = {
        "3 l1": "false as printed; see the errata",
        "3 chi2": "false as printed; see the errata",
        "5 l1": "false as printed; see the errata",
        "5 chi2": "false as printed; see the errata",
    }
    parts = {"1-l1": f"{number} l1", "2-chi2": f"{number} chi2", "3-alpha": f"{number} alpha"}
    answers = {
        f"zds23-prop{number}-{c}": Answer(found[k], "" if found[k] else reasons.get(k, "")) for c, k in parts.items()
    }
    holds = all(found[k] for k in parts.values())
    answers[f"zds23-prop{number}"] = Answer(holds, "" if holds else "in its corrected form it holds; see the errata")
    return Outcome(found.rows(), answers)


for _number in (3, 4, 5, 6):
    entry(f"zds23-prop{_number}", f"Proposition {_number}")(partial(_lift_measures, number=_number))


@entry("zds23-prop-a1", "Privacy breaches")
def breaches(setting: Setting) -> Outcome:
    tested, found = setting.tested, Findings()
    cells_seen = 0
    for seed in range(setting.joints(300, 100)):
        rng = np.random.default_rng(seed)
        joint = Joint.random(4, 5, seed=seed)
        first, second = sorted(rng.uniform(0.05, 0.95, 2))
        notion = tested.against_breach(float(first), float(second))
        channel = tested.designed(joint, notion, "subset-merging")
        seen = distributions.through(joint.probabilities, channel)
        found.note("excluded", _breaches(seen, first, second) == 0)
        # The bounds themselves: lifts just inside them, and the notion says so.
        lifts = distributions.lifts(joint.probabilities)
        inside = lifts.min() >= (1 - second) / (1 - first) and lifts.max() <= second / first
        found.same("bounds", tested.holds(notion, joint), inside)
        for chosen in itertools.chain.from_iterable(itertools.combinations(range(4), k) for k in (1, 2, 3)):
            posterior = tested.lift(joint)[list(chosen)] * joint.probabilities.sum(axis=1)[list(chosen), None]
            before, after = joint.probabilities[list(chosen)].sum(), posterior.sum(axis=0)
            rest = [s for s in range(4) if s not in chosen]
            other = (joint.probabilities[rest] / joint.probabilities.sum(axis=0)).sum(axis=0)
            down = before >= second and (after < first).any()
            up = joint.probabilities[rest].sum() <= 1 - second and (other > 1 - first).any()
            found.note("complement", bool(down) == bool(up))
            found.same("complement", after, 1 - other)
            cells_seen += 1
    answers = {
        "zds23-prop-a1": Answer(found["excluded"] and found["bounds"]),
        "zds23-breach-complement": Answer(found["complement"]),
        "zds23-breach-ldp-condition": argued(True, "quoted from earlier work; implied by the lifts that LDP allows"),
    }
    return Outcome([{"properties checked": cells_seen}, *found.rows()], answers)


def _breaches(seen: Any, first: float, second: float) -> int:
    """How many properties of S rise from at most first to above second, or fall from at least second to below first."""
    posterior, prior, number = seen / seen.sum(axis=0), seen.sum(axis=1), 0
    for size in range(1, len(seen)):
        for chosen in itertools.combinations(range(len(seen)), size):
            before, after = prior[list(chosen)].sum(), posterior[list(chosen)].sum(axis=0)
            number += bool(before <= first and (after > second + SMALL).any())
            number += bool(before >= second and (after < first - SMALL).any())
    return number


@entry("zds23-aorr-structure", "The polytope behind the optimal response")
def structure(setting: Setting) -> Outcome:
    tested, exact, counts = setting.tested, True, []
    for n in (4, 5, 6, 8, 10, 12, 14):
        joints = [Joint.random(3, n, seed=s) for s in range(5)]
        sizes = [len(tested.vertices(joint, tested.split(1.0, 0.5))) for joint in joints]
        if n <= 5:
            exact &= sizes == [len(polytopes.posterior_vertices(j.probabilities, 0.5, 0.5)) for j in joints]
        counts.append({"useful symbols": n, "mean vertices": float(np.mean(sizes))})
    logs = np.log([[row["useful symbols"], row["mean vertices"]] for row in counts])
    slope = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
    growth = [(b[1] - a[1]) / (math.exp(b[0]) - math.exp(a[0])) for a, b in itertools.pairwise(logs[2:])]
    answers = {
        "zds23-aorr-polytope": argued(True, "the optimum by vertices and by column generation agree to 1e-7"),
        "zds23-aorr-dimension": argued(True, "for LDP too the posteriors suffice: a polytope of dimension |X| - 1"),
        "zds23-aorr-vertices-exponential": Answer(
            growth[-1] >= growth[0] and exact,
            f"with |S| = 3 as |X|^{slope:.1f}: log v grows by {growth[0]:.2f} a symbol at 7 and {growth[-1]:.2f} at 13; "
            "only |S| + 1 constraints beyond the signs are independent",
        ),
    }
    return Outcome(counts, answers)


@entry("zds23-adult-alphabets", "Sizes of the Adult alphabets")
def alphabets(setting: Setting) -> Outcome:
    joint = adult(setting)
    answers = {
        "zds23-adult-s-size": Answer(
            joint.n_sensitive, "the data has six values, and with six the stated utilities come out", tolerance=0
        ),
        "zds23-adult-x-size": Answer(joint.n_useful, tolerance=0),
    }
    return Outcome([{"relationship": joint.n_sensitive, "occupation": joint.n_useful}], answers)


def _at(curve: dict[str, FloatArray], epsilon: float) -> float:
    return float(curve["nmi"][int(np.argmin(np.abs(curve["epsilon"] - epsilon)))])


LEAKAGES = ("min_lift_leakage", "max_lift_leakage")


def _above(one: FloatArray, other: FloatArray, room: float = SMALL) -> bool:
    """Nowhere below; an infinity is not below another."""
    return bool(((one == other) | (one >= other - room)).all())


def _ahead(more: Curves, less: Curves, names: Sequence[tuple[str, str]], where: Any = slice(None)) -> Answer:
    """Whether curves of NMI lie nowhere below others, budget by budget, and somewhere above; and where they do not."""
    holds, words = True, []
    for one, other in names:
        gap, epsilons = (more[one]["nmi"] - less[other]["nmi"])[where], more[one]["epsilon"][where]
        below, level = gap < -OPTIMUM, np.abs(gap) <= OPTIMUM
        holds &= bool(not below.any() and not level.all())
        kind = f" of {one.partition(',')[0]}" if len(names) > 1 else ""
        if below.any():
            at = ", ".join(f"{e:g}" for e in epsilons[below])
            words.append(f"not at {below.sum()} of {len(gap)} budgets{kind} (eps {at}), by {-gap.min():.3f} at most")
        else:
            shown = f"strictly at {(~level).sum()} of {len(gap)} budgets{kind}"
            words.append(f"{shown}, level at the others" if level.any() else shown)
    return Answer(holds, "; ".join(dict.fromkeys(words)))


def _clearly(more: Curves, less: Curves, names: Sequence[tuple[str, str]], where: Any = slice(None)) -> Answer:
    """Whether curves of NMI lie ahead of others, and apart on the mean of the budgets by what a printed number may be off."""
    ahead = _ahead(more, less, names, where)
    means = [float((more[one]["nmi"] - less[other]["nmi"])[where].mean()) for one, other in names]
    by = ", ".join(f"{mean:.4f}" for mean in means)
    return Answer(bool(ahead.value and min(means) >= CLEAR), f"by {by} on the mean of the budgets; {ahead.note}")


def _count_of(method: str) -> int:
    """Synthetic joints of the paper (Section 3.1.3): 1,000 for merging, 100 where the optimal response is computed."""
    return 100 if method == "optimal" else 1_000


def _trade_off(
    setting: Setting, name: str, joints: Sequence[Joint], method: str, *, with_ldp: bool, title: str
) -> tuple[Curves, dict[str, Answer], Outcome]:
    epsilons = budgets(setting.quick and (method == "optimal" or len(joints) > 1))
    families: dict[str, tuple[str, Family]] = {f"lam {lam:g}": (method, split(setting.tested, lam)) for lam in LAMS}
    if with_ldp:
        families["LDP"] = (method, setting.tested.ldp)
    found = curves(setting.tested, joints, families, epsilons)
    answers = {
        f"{name}-curves": _drawn(joints, found, _count_of(method)),
        f"{name}-lam65-better": _ahead(found, found, [("lam 0.65", "lam 0.5")], epsilons > 1),
        f"{name}-lam35-worse": _ahead(found, found, [("lam 0.5", "lam 0.35")]),
    }
    if with_ldp:
        others = {f" of lam {lam:g}": found[f"lam {lam:g}"] for lam in LAMS}
        pairs = [(words, found["LDP"], other) for words, other in others.items()]
        answers[f"{name}-ldp-utility"] = _until_level(pairs, epsilons > 0)
        leaks = [_until_level(pairs, epsilons > 0, side) for side in LEAKAGES]
        answers[f"{name}-ldp-leakage"] = Answer(
            all(some.value for some in leaks), f"min-lift leakage {leaks[0].note}; max-lift leakage {leaks[1].note}"
        )
    return found, answers, Outcome(table(found), answers, lambda: figure_of(found, title))


def _drawn(joints: Sequence[Joint], found: Curves, said: int | None) -> Answer:
    """A figure of curves, and how many synthetic joints it is the mean of."""
    return as_drawn(drawn_from(len(joints), said, found) if len(joints) > 1 or said is None else "")


@entry("zds23-fig2", "Watchdog on synthetic joints")
def fig2(setting: Setting) -> Outcome:
    joints = uniform(setting.tested, 1_000)
    found, answers, outcome = _trade_off(
        setting, "zds23-fig2", joints, "watchdog", with_ldp=True, title="ZDS23, Fig. 2: watchdog, 17 x 5"
    )
    answers["zds23-fig2-complete-eps1"] = Answer(_at(found["lam 0.5"], 1.0))
    answers["zds23-fig2-complete-eps2"] = Answer(_at(found["lam 0.5"], 2.0))
    answers["zds23-lambda-below-half-worse"] = _below_half(setting, joints[:300])
    return outcome


def _below_half(setting: Setting, joints: Sequence[Joint]) -> Answer:
    """Every lam below .5 must keep less than .5 does, on the mean of the joints, and put more symbols at high risk."""
    tested, lams, exact = setting.tested, [k / 20 for k in range(1, 11)], True
    cells = np.stack([joint.probabilities for joint in joints])
    kept, sizes = [], []
    for lam in lams:
        notions = [tested.split(epsilon, lam) for epsilon in (0.5, 1.0, 2.0, 4.0)]
        kept.append(merged(tested, joints, notions, "watchdog")[:, :, 0].mean(axis=0))
        risky = [merging.high_risk(cells, lam * e, (1 - lam) * e) for e in (0.5, 1.0, 2.0, 4.0)]
        sizes.append([some.sum(axis=1).mean() for some in risky])
        for joint, expected in zip(joints[:20], risky[2]):
            exact &= bool((~np.asarray(tested.allowed(notions[2], joint)) == expected).all())
    lost, more = (kept[-1] - np.array(kept[:-1])).min(), (np.array(sizes[:-1]) - np.array(sizes[-1])).min()
    return Answer(
        bool(lost > 0 and more > 0 and exact),
        f"nine lams from .05 to .45 at eps .5, 1, 2 and 4 on {len(joints)} joints: each loses {lost:.3f} in NMI at least "
        f"and puts {more:.2f} more symbols at high risk at least",
    )


@entry("zds23-fig3", "Watchdog on Adult")
def fig3(setting: Setting) -> Outcome:
    found, answers, outcome = _trade_off(
        setting, "zds23-fig3", [adult(setting)], "watchdog", with_ldp=True, title="ZDS23, Fig. 3: watchdog, Adult"
    )
    answers["zds23-fig3-complete-eps1"] = Answer(_at(found["lam 0.5"], 1.0))
    answers["zds23-fig3-complete-eps2"] = Answer(
        _at(found["lam 0.5"], 2.0), "one symbol more is merged to keep the promise; without it NMI would be .836"
    )
    return outcome


@entry("zds23-fig4", "Optimal response on synthetic joints")
def fig4(setting: Setting) -> Outcome:
    joints = uniform(setting.tested, setting.joints(100, 5))
    found, answers, outcome = _trade_off(
        setting, "zds23-fig4", joints, "optimal", with_ldp=False, title="ZDS23, Fig. 4: optimal, 17 x 5"
    )
    answers["zds23-fig4-optimal-eps2"] = Answer(_at(found["lam 0.5"], 2.0), tolerance=0.02 if setting.quick else 0.01)
    other = _watchdogs(setting, joints)
    answers |= _against_watchdog("zds23-fig4", found, other)
    both = [_ahead(c, c, [("lam 0.65", "lam 0.5")], c["lam 0.5"]["epsilon"] > 1) for c in (other, found)]
    answers["zds23-alip-beats-lip"] = Answer(
        all(some.value for some in both), "eps above 1; watchdog and optimum: " + " and ".join(a.note for a in both)
    )
    return outcome


@entry("zds23-fig5", "Optimal response on Adult")
def fig5(setting: Setting) -> Outcome:
    found, answers, outcome = _trade_off(
        setting, "zds23-fig5", [adult(setting)], "optimal", with_ldp=False, title="ZDS23, Fig. 5: optimal, Adult"
    )
    answers["zds23-fig5-optimal-eps2"] = Answer(_at(found["lam 0.5"], 2.0))
    answers |= _against_watchdog("zds23-fig5", found, _watchdogs(setting, [adult(setting)]))
    return outcome


def _watchdogs(setting: Setting, joints: Sequence[Joint]) -> Curves:
    families: dict[str, tuple[str, Family]] = {
        f"lam {lam:g}": ("watchdog", split(setting.tested, lam)) for lam in LAMS[1:]
    }
    return curves(setting.tested, joints, families, budgets(setting.quick))


def _against_watchdog(name: str, found: Curves, other: Curves) -> dict[str, Answer]:
    one, complete = found["lam 0.5"], other["lam 0.5"]
    return {
        f"{name}-optimal-beats-watchdog": _clearly(found, other, [("lam 0.5", "lam 0.5")]),
        f"{name}-optimal-leaks-more": _everywhere(one, complete, LEAKAGES, "both leakages together, "),
    }


def _everywhere(
    one: dict[str, FloatArray], other: dict[str, FloatArray], keys: Sequence[str], words: str = ""
) -> Answer:
    """Whether one curve lies above another at every budget; of several panels their sum."""
    least = float(sum((one[key] - other[key] for key in keys), np.zeros(len(one["epsilon"]))).min())
    return Answer(least > OPTIMUM, f"{words}at every budget, by {least:.4f} at least")


def _merging(setting: Setting, name: str, joints: Sequence[Joint], title: str) -> tuple[Curves, Curves, Outcome]:
    found, answers, outcome = _trade_off(setting, name, joints, "subset-merging", with_ldp=True, title=title)
    epsilons = budgets(setting.quick and len(joints) > 1)
    families: dict[str, tuple[str, Family]] = {f"lam {lam:g}": ("watchdog", split(setting.tested, lam)) for lam in LAMS}
    complete = curves(setting.tested, joints, families | {"LDP": ("watchdog", setting.tested.ldp)}, epsilons)
    for claim in ("lam65-better", "lam35-worse", "ldp-utility", "ldp-leakage"):
        answers.pop(f"{name}-{claim}")
    answers[f"{name}-subset-beats-complete"] = _clearly(found, complete, [(kind, kind) for kind in found])
    met = all(
        (found[f"lam {lam:g}"]["min_lift_leakage"] <= lam * epsilons + SMALL).all()
        and (found[f"lam {lam:g}"]["max_lift_leakage"] <= (1 - lam) * epsilons + SMALL).all()
        for lam in LAMS
    )
    answers[f"{name}-constraints-met"] = Answer(met)
    return found, complete, outcome


def _line_by_line(
    setting: Setting, joints: Sequence[Joint], kind: str, make: Callable[[float, float], Notion], alpha: float = 2.0
) -> bool:
    """Whether our blocks are those of Algorithm 1 in plain loops, at lam .5 and .65, on a few joints and budgets."""
    for lam in (0.5, 0.65):
        for epsilon in (0.5, 1.0, 2.0, 4.0):
            lower, upper = lam * epsilon, (1 - lam) * epsilon
            some = joints[: setting.joints(10, 3)]
            ours = setting.tested.subset_merging(some, [make(lower, upper)] * len(some))
            for joint, blocks in zip(some, ours):
                plain = merging.algorithm1(
                    joint.probabilities,
                    lambda lifts, prior: merging.risks(kind, lifts, prior, alpha),
                    merging.limits(kind, lower, upper),
                )
                if {frozenset(np.flatnonzero(blocks == block).tolist()) for block in np.unique(blocks)} != plain:
                    return False
    return True


def _split_of(tested: Tested) -> Callable[[float, float], Notion]:
    return lambda lower, upper: tested.split(lower + upper, lower / (lower + upper))


def _sides_of(kind: Any, *order: float) -> Callable[[float, float], Notion]:
    def notion(lower: float, upper: float) -> Notion:
        made: Notion = kind(*order, eps_lower=lower, eps_upper=upper)
        return made

    return notion


def _only_if(exact: bool, answers: dict[str, Answer]) -> dict[str, Answer]:
    """Answers that do not agree where what they rest on is not what its definition gives."""
    return answers if exact else {claim: answer._replace(agrees=False) for claim, answer in answers.items()}


@entry("zds23-fig6", "Subset merging on synthetic joints")
def fig6(setting: Setting) -> Outcome:
    joints = uniform(setting.tested, 1_000)
    found, complete, outcome = _merging(setting, "zds23-fig6", joints, "ZDS23, Fig. 6: subset merging, 17 x 5")
    answers: Any = outcome.answers
    exact = _line_by_line(setting, joints, "alip", _split_of(setting.tested))
    for epsilon, key, gain in ((1.0, "subset-eps1", "gain-eps1"), (2.0, "subset-eps2-preprint", "gain-eps2-preprint")):
        one, other = _at(found["lam 0.5"], epsilon), _at(complete["lam 0.5"], epsilon)
        answers |= _only_if(exact, {f"zds23-fig6-{key}": Answer(one), f"zds23-fig6-{gain}": _gain(one, other)})
    answers["zds23-subset-partition-combinatorial"] = argued(
        True, "the exact search is not run; the optimal response keeps more"
    )
    return outcome


@entry("zds23-fig7", "Subset merging on Adult")
def fig7(setting: Setting) -> Outcome:
    found, complete, outcome = _merging(setting, "zds23-fig7", [adult(setting)], "ZDS23, Fig. 7: subset merging, Adult")
    answers: Any = outcome.answers
    one, other = _at(found["lam 0.5"], 1.0), _at(complete["lam 0.5"], 1.0)
    exact = _line_by_line(setting, [adult(setting)], "alip", _split_of(setting.tested))
    answers |= _only_if(exact, {"zds23-fig7-subset-eps1": Answer(one), "zds23-fig7-gain-eps1": _gain(one, other)})
    return outcome


def _gain(one: float, other: float) -> Answer:
    """By how much one is more, in percent, with the room that .01 on either leaves."""
    room = 100 * one / other * (0.01 / one + 0.01 / other)
    return Answer(100 * (one / other - 1), f"from our own values; .01 on either makes {room:.0f}", tolerance=room)


METHODS = ("optimal", "subset-response", "subset-merging")


def _comparison(
    setting: Setting, name: str, joints: Sequence[Joint], title: str, *, timed: bool
) -> tuple[Curves, dict[str, Answer], Outcome]:
    families: dict[str, tuple[str, Family]] = {m: (m, split(setting.tested, 0.65)) for m in METHODS}
    found = curves(setting.tested, joints, families, budgets(setting.quick), timed=timed)
    best, srr, merging_ = (found[m] for m in METHODS)
    below, above = best["nmi"] - srr["nmi"], srr["nmi"] - merging_["nmi"]
    answers = {
        f"{name}-curves": _drawn(joints, found, _count_of("optimal")),
        **_against_merging(name, srr, merging_),
        f"{name}-srr-near-optimal": Answer(
            bool(below.mean() < above.mean() and below.min() > -OPTIMUM and below.max() > OPTIMUM),
            f"{below.mean():.3f} below the optimum on the mean, {below.max():.3f} at most, "
            f"and {above.mean():.3f} above merging",
        ),
    }
    return found, answers, Outcome(table(found), answers, lambda: figure_of(found, title))


def _against_merging(name: str, srr: dict[str, FloatArray], merging_: dict[str, FloatArray]) -> dict[str, Answer]:
    """Subset response against merging: more kept at every budget, and more leaked on either side."""
    leaks = _everywhere(srr, merging_, LEAKAGES, "on neither side less, together ")
    sides = all(_above(srr[side], merging_[side], OPTIMUM) for side in LEAKAGES)
    return {
        f"{name}-srr-beats-subset": _everywhere(srr, merging_, ["nmi"]),
        f"{name}-srr-leaks-more": leaks._replace(value=bool(leaks.value and sides)),
    }


@entry("zds23-fig8", "Optimal, subset response and merging on synthetic joints")
def fig8(setting: Setting) -> Outcome:
    joints = uniform(setting.tested, setting.joints(100, 4))
    found, answers, outcome = _comparison(setting, "zds23-fig8", joints, "ZDS23, Fig. 8, lam .65", timed=True)
    best, srr, merging_ = (found[m][MEASURED] for m in METHODS)
    epsilons = found["optimal"]["epsilon"]

    def times(where: Any) -> str:
        return f"{(best / srr)[where].min():.2f} to {(best / srr)[where].max():.2f} times as fast by our methods"

    early, middle, late = epsilons < 1, (epsilons >= 1) & (epsilons <= 2.5), epsilons > 2.5
    ours = "which list no vertices"
    answers |= {
        "zds23-fig8d-time": as_drawn(drawn_from(len(joints), 100)),
        "zds23-fig8d-subset-fastest": Answer(
            bool((MUCH * merging_ <= np.minimum(best, srr)).all()),
            f"at least {(np.minimum(best, srr) / merging_).min():.1f} times as slow",
        ),
        "zds23-fig8d-srr-faster-strict": Answer(bool((srr < best)[early].all()), f"{times(early)}, {ours}"),
        "zds23-fig8d-srr-faster-loose": Answer(bool((srr < best)[late].all()), f"{times(late)}, {ours}"),
        "zds23-fig8d-srr-slower-middle": Answer(bool((srr > best)[middle].any()), f"{times(middle)}; {MATLAB}"),
    }
    return outcome


@entry("zds23-fig9", "Optimal, subset response and merging on Adult")
def fig9(setting: Setting) -> Outcome:
    joints = [adult(setting)]
    return _comparison(setting, "zds23-fig9", joints, "ZDS23, Fig. 9: Adult, lam .65", timed=False)[2]


def _largest_blocks(tested: Tested, joints: Sequence[Joint], epsilon: float) -> list[list[int]]:
    """Sizes of the blocks of Algorithm 1 that unite symbols, joint by joint."""
    blocks = tested.subset_merging(joints, [tested.split(epsilon, 0.5)] * len(joints))
    return [[int(n) for n in np.bincount(row) if n > 1] or [1] for row in blocks]


@entry("zds23-srr-structure", "What subset random response costs, and where it needs repair")
def srr(setting: Setting) -> Outcome:
    tested, joints = setting.tested, uniform(setting.tested, setting.joints(100, 30))
    largest = [max(sizes) for sizes in _largest_blocks(tested, joints, 2.0)]
    short = {e: 100 * float(np.mean([tested.left_over(j, tested.split(e, 0.65)) for j in joints])) for e in (0.25, 4.0)}
    # Square systems of the LIP polytope: all of 17 symbols, against all blocks of an alphabet ten times as large.
    whole = polytopes.systems(17, 5)
    wide = uniform(tested, setting.joints(20, 5), 5, 170)
    cost = {
        e: float(np.mean([sum(polytopes.systems(n, 5) for n in sizes) for sizes in _largest_blocks(tested, wide, e)]))
        for e in (0.5, 1.0, 2.0)
    }
    answers = {
        "zds23-srr-complexity": Answer(
            max(largest) < 17,
            f"largest block of {np.mean(largest):.1f} symbols on average at eps 2, {max(largest)} at most",
        ),
        "zds23-srr-order-of-magnitude": Answer(
            max(cost.values()) <= whole,
            f"listing vertices: {whole:.3g} systems for 17 symbols at once, for the blocks of 170 symbols "
            + ", ".join(f"{c:.2g} at eps {e:g}" for e, c in cost.items()),
        ),
        "zds23-srr-empty-polytope": Answer(
            short[0.25] > short[4.0] > 0,
            f"a last block is not allowed by itself on {short[0.25]:.0f} % of the joints at eps .25, on {short[4.0]:.0f} % at 4",
        ),
    }
    return Outcome([{"mean largest block": float(np.mean(largest)), "short at eps .25, %": short[0.25]}], answers)


@entry("zds23-fig10", "Subset response and merging on 200 x 15")
def fig10(setting: Setting) -> Outcome:
    joints = uniform(setting.tested, setting.joints(20, 1), 15, 200)
    epsilons = np.array([1.0, 2.0, 4.0]) if setting.quick else np.arange(4, 33) / 4
    families: dict[str, tuple[str, Family]] = {m: (m, split(setting.tested, 0.5)) for m in METHODS[1:]}
    found = curves(setting.tested, joints, families, epsilons)
    one, other = found["subset-response"], found["subset-merging"]
    inside = bool(
        (one["min_lift_leakage"] <= epsilons / 2 + SMALL).all()
        and (one["max_lift_leakage"] <= epsilons / 2 + SMALL).all()
    )
    answers = {
        "zds23-fig10-curves": _drawn(joints, found, None),
        "zds23-fig10-applicable": argued(True, "and the optimum too, with a proven gap: see the methods page"),
        **_against_merging("zds23-fig10", one, other),
        "zds23-fig10-within-budget": Answer(inside),
    }
    return Outcome(table(found), answers, lambda: figure_of(found, "ZDS23, Fig. 10: 200 x 15, lam .5"))


def _average(tested: Tested, kind: Any, lam: float) -> Family:
    def notion(epsilon: float) -> Notion:
        shared = tested.split(epsilon, lam)
        made: Notion = kind(eps_lower=shared.eps_lower, eps_upper=shared.eps_upper)
        return made

    return notion


def _averages(setting: Setting, name: str, joints: Sequence[Joint], title: str) -> Outcome:
    tested, epsilons = setting.tested, budgets(setting.quick and len(joints) > 1)
    families: dict[str, tuple[str, Family]] = {"ALIP, lam 0.5": ("subset-merging", split(tested, 0.5))}
    for word, kind in (("l1", tested.l1), ("chi2", tested.chi2)):
        for lam in (0.5, 0.65):
            families[f"{word}, lam {lam:g}"] = ("subset-merging", _average(tested, kind, lam))
    found = curves(tested, joints, families, epsilons)
    wide, half = ([f"{w}, lam {lam:g}" for w in ("l1", "chi2")] for lam in (0.65, 0.5))
    exact = {
        word: _line_by_line(setting, joints, word, _sides_of(kind))
        for word, kind in (("l1", tested.l1), ("chi2", tested.chi2))
    }
    answers = {f"{name}-curves": _drawn(joints, found, _count_of("subset-merging"))}
    for w in ("l1", "chi2"):
        above = _until_level([("", found[f"{w}, lam 0.5"], found["ALIP, lam 0.5"])], epsilons > 0)
        answers |= _only_if(exact[w], {f"{name}-{w}-beats-alip": above})
    answers |= _only_if(all(exact.values()), {
        f"{name}-lam65-better": _clearly(found, found, list(zip(wide, half)), epsilons > 1),
        f"{name}-lam65-worse": _ahead(found, found, list(zip(half, wide)), epsilons < 1),
    })  # fmt: skip
    return Outcome(table(found), answers, lambda: figure_of(found, title))


def _until_level(
    pairs: Sequence[tuple[str, dict[str, FloatArray], dict[str, FloatArray]]], where: Any, key: str = "nmi"
) -> Answer:
    """Whether curves lie above others at every budget until both have come to their last value."""
    holds, words = [], []
    for name, one, other in pairs:
        values, others, last = one[key][where], other[key][where], one[key][-1]
        above, level = values > others + SMALL, np.isclose(values, others, rtol=0, atol=SMALL)
        ended = np.isclose(values, last, rtol=0, atol=SMALL)
        holds.append(bool((above | (level & ended)).all() and not level.all()))
        words.append(_where_level(name, above, level, ended=holds[-1]))
    everywhere = f"above at {len(above)} of {len(above)} budgets"
    return Answer(all(holds), everywhere if all(w.startswith(everywhere) for w in words) else "; ".join(words))


def _where_level(name: str, above: Any, level: Any, *, ended: bool) -> str:
    """At how many budgets a curve is above another, level with it and below it."""
    told, below = [f"above at {above.sum()} of {len(above)} budgets{name}"], len(above) - (above | level).sum()
    if level.any():
        told.append(f"level at {level.sum()}{', where both have come to their last value' if ended else ''}")
    return ", ".join([*told, *([f"below at {below}"] if below else [])])


@entry("zds23-fig11", "Average lifts on synthetic joints")
def fig11(setting: Setting) -> Outcome:
    tested, joints = setting.tested, uniform(setting.tested, setting.joints(1_000, 100))
    outcome = _averages(setting, "zds23-fig11", joints, "ZDS23, Fig. 11")
    answers: Any = outcome.answers
    sizes = {}
    for lam in (0.5, 0.65):
        notion = _average(tested, tested.l1, lam)(0.5)
        blocks = tested.subset_merging(joints, [notion] * len(joints))
        sizes[lam] = float(np.mean([np.mean([n for n in np.bincount(row) if n > 1] or [1]) for row in blocks]))
    answers["zds23-fig11-larger-blocks"] = Answer(
        sizes[0.65] > sizes[0.5], f"under l1 at eps .5, {sizes[0.5]:.2f} symbols a merged block, and {sizes[0.65]:.2f}"
    )
    answers["zds23-subset-comparable-to-optimal"] = _against_optimum(setting, joints[:20])
    return outcome


def _against_optimum(setting: Setting, joints: Sequence[Joint]) -> Answer:
    """Merging against the optimum where one can be computed: l1-lifts bounded from above, a convex constraint."""
    tested, gaps = setting.tested, {}
    for epsilon in (0.5, 1.0):
        notion = tested.l1(eps_lower=None, eps_upper=epsilon)
        merged_, best = (merged(tested, joints, [notion], "subset-merging")[:, 0, 0], [])
        for joint in joints[: setting.joints(20, 4)]:
            best.append(distributions.nmi(joint.probabilities, tested.designed(joint, notion)))
        gaps[epsilon] = float(np.mean(best)), float(np.mean(merged_[: len(best)]))
    return Answer(
        all(0 <= best - kept <= 0.94 - 0.83 + 0.01 for best, kept in gaps.values()),
        "l1-lift bounded from above by exp(eps) - 1, optimum and merging: "
        + ", ".join(f"{best:.3f} and {kept:.3f} at eps {e:g}" for e, (best, kept) in gaps.items())
        + "; no further apart than .94 and .83, the paper's own under ALIP",
    )


@entry("zds23-fig12", "Average lifts on Adult")
def fig12(setting: Setting) -> Outcome:
    return _averages(setting, "zds23-fig12", [adult(setting)], "ZDS23, Fig. 12: Adult")


@entry("zds23-fig13", "Alpha-lift on synthetic joints")
def fig13(setting: Setting) -> Outcome:
    tested, epsilons = setting.tested, budgets(setting.quick)
    joints = uniform(tested, setting.joints(1_000, 50))
    families: dict[str, tuple[str, Family]] = {"ALIP": ("subset-merging", split(tested, 0.5))}
    for alpha in (2.0, 10.0, 100.0):
        families[f"alpha {alpha:g}"] = ("subset-merging", _of_order(tested, alpha))
    found = curves(tested, joints, families, epsilons)
    exact = all(
        _line_by_line(setting, joints, "alpha", _sides_of(tested.alpha, alpha), alpha) for alpha in (2.0, 10.0, 100.0)
    )
    distance = [np.abs(found[f"alpha {a}"]["nmi"] - found["ALIP"]["nmi"]) for a in (2, 10, 100)]
    answers = {
        "zds23-fig13-curves": _drawn(joints, found, _count_of("subset-merging")),
        **_only_if(
            exact,
            {
                "zds23-fig13-alpha2-highest": _ahead(found, found, [("alpha 2", "alpha 10"), ("alpha 2", "alpha 100")]),
                "zds23-fig13-approaches-alip": Answer(
                    bool((distance[0] > distance[1]).all() and (distance[1] > distance[2]).all()),
                    "at every budget; on their mean " + ", ".join(f"{d.mean():.4f}" for d in distance) + " away",
                ),
            },
        ),
        "zds23-fig13-alpha-infinity": Answer(_alpha_relaxes(tested), "symbol by symbol, and equal at alpha 5000"),
    }
    return Outcome(table(found), answers, lambda: figure_of(found, "ZDS23, Fig. 13"))


def _of_order(tested: Tested, alpha: float) -> Family:
    return lambda epsilon: tested.alpha(alpha, eps_lower=epsilon / 2, eps_upper=epsilon / 2)


def _alpha_relaxes(tested: Tested) -> bool:
    found = Findings()
    for joint in uniform(tested, 30):
        cells = joint.probabilities
        lifts = distributions.lifts(cells)
        for e in (0.3, 0.6, 1.0):
            alip = (lifts.max(axis=0) <= math.exp(e)) & (lifts.min(axis=0) >= math.exp(-e))
            for alpha, equal in ((2.0, False), (5_000.0, True)):
                ours = np.asarray(tested.allowed(tested.alpha(alpha, eps_lower=e, eps_upper=e), joint))
                limit = math.exp(e)
                defined = np.array([
                    max(distributions.average(cells, y, "alpha", alpha, inverse=side) for side in (False, True)) <= limit
                    for y in range(joint.n_useful)
                ])  # fmt: skip
                found.note("definition", (ours == defined).all())
                found.note("relaxed", (ours >= alip).all())
                if equal:
                    apart = np.abs(np.log(np.maximum(lifts.max(axis=0), 1 / lifts.min(axis=0))) - e) > 1e-3
                    found.note("infinity", (ours == alip)[apart].all())
    return found.all()


@entry("zds23-lift-based-measures", "What average lifts miss")
def averages(setting: Setting) -> Outcome:
    tested = setting.tested
    hidden = Joint.from_counts([[50, 50, 0], [900, 900, 100]])
    cells = hidden.probabilities
    l1 = [distributions.average(cells, y, "l1") for y in range(3)]
    exact = np.allclose(tested.l1_lift(hidden), l1) and tested.min_lift(hidden)[2] == 0
    loose = tested.l1(eps_lower=None, eps_upper=0.2)
    inverse = tested.l1_lift_inverse(hidden)
    strict = tested.l1(eps_lower=5.0, eps_upper=5.0)
    refused = 0
    for joint in released(100):
        c = joint.probabilities
        lifts = distributions.lifts(c)
        upper, lower = math.log(lifts.max()), -math.log(lifts.min())
        refused += max(distributions.average(c, y, "l1") for y in range(c.shape[1])) > math.exp(upper) - 1 + SMALL
        refused += (
            max(distributions.average(c, y, "l1", inverse=True) for y in range(c.shape[1]))
            > math.exp(lower) - 1 + SMALL
        )
    answers = {
        "zds23-lift-based-miss-minlift": Answer(
            bool(exact and tested.holds(loose, hidden) and max(l1) <= math.exp(0.2) - 1),
            "a symbol that rules a rare value out has an l1-lift of .1",
        ),
        "zds23-inverse-measures-bound-minlift": Answer(
            bool(np.isinf(inverse[2]) and np.isfinite(inverse[:2]).all() and not tested.holds(strict, hidden))
        ),
        "zds23-lift-measures-relax-alip": Answer(
            refused == 0, f"{refused} of 204 bounds fail at a release's own budgets: Propositions 3 and 5 as printed"
        ),
        "zds23-orr-not-convex": argued(
            True, "for the inverse measures; the l1 and chi-square lifts themselves are convex"
        ),
    }
    return Outcome([{"symbol": y, "l1-lift": value} for y, value in enumerate(l1)], answers)
