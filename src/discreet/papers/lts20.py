"""LTS20: LDP against LIP, GRR, OUE and conditional reporting, several attributes; synthetic and Adult."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np

from discreet import measures, samples
from discreet._support.errors import DiscreetError
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.designers import design
from discreet.designers.posteriors.vertices import vertices
from discreet.designers.protocols.grr import grr_strength
from discreet.designers.with_sensitive.conditional_reporting import reporting_strength
from discreet.mechanism import Mechanism
from discreet.notions import LDP, LIP, SRLIP
from discreet.papers.base import Answer, Outcome, Setting, argued, entry, given
from discreet.papers.checks import as_drawn
from discreet.proof.polytope import Polytope

EPSILONS = (0.5, 1.0, 1.5, 2.0)
MACHINE = (
    "MATLAB on another machine, by listing the vertices of a polytope of dimension a(a-1); ours takes milliseconds"
)
SMALL = 1e-9
PAIRS = {
    "a-marital-status-education": ("marital-status", "education"),
    "b-occupation-education": ("occupation", "education"),
    "c-marital-status-relationship": ("marital-status", "relationship"),
    "d-occupation-relationship": ("occupation", "relationship"),
    "e-marital-status-sex": ("marital-status", "sex"),
    "f-occupation-sex": ("occupation", "sex"),
}

NOT_ANSWERED = {
    "lts20-fig1-model": "a drawing of the setting; there is nothing to compute",
    "lts20-conclusion-lower-epsj-suffice": "stated as a possibility only",
}


def _line_figure(
    curves: dict[str, tuple[Any, Any]], title: str, xlabel: str, ylabel: str, *, points: bool = False
) -> Any:
    from discreet.figures import COLOURS, MARKERS, blank_figure

    figure = blank_figure(6.5, 4)
    axes = figure.subplots()
    for k, (name, (x, y)) in enumerate(curves.items()):
        style: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "marker": MARKERS[k % len(MARKERS)],
            "markersize": 4,
        }
        axes.plot(x, y, label=name, linestyle="" if points else "-", **style)
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    axes.legend(frameon=False, fontsize="small")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


@entry("lts20-theorem1", "Dimensions of the polytopes, and what they cost")
def theorem1(setting: Setting) -> Outcome:
    joint = Joint.random(3, 4, seed=1)
    lip, ldp = Polytope.of(joint, LIP(0.5)), Polytope.of(joint, LDP(0.5))
    answers = {
        "lts20-theorem1": argued(
            True, "but needlessly large: for LDP too the posteriors suffice, a polytope of dimension a - 1"
        ),
        "lts20-abstract-efficient-optimum": argued(True, "both in milliseconds"),
        "lts20-lip-faster-than-ldp-dimension": argued(
            True, "of the polytopes in the paper; on posteriors both have dimension a - 1"
        ),
        "lts20-cr-root-of-increasing-function": argued(True, "alpha even has a closed form"),
    }
    return Outcome([{"LIP rows": len(lip.rows), "LDP rows": len(ldp.rows), "dimension": joint.n_useful - 1}], answers)


@entry("lts20-lemma1", "Implications between LDP and LIP")
def lemma1(setting: Setting) -> Outcome:
    first, second, third, posterior = [], [], [], []
    for seed in range(setting.joints(1_000, 200)):
        joint = Joint.random(4, 4, seed=seed, concentration=1.0)
        ratio = float(np.log(measures.lift_ratio(joint).max()))
        lifts = np.log(measures.lift(joint))
        level = float(np.abs(lifts).max())
        first.append(level <= ratio + SMALL)
        second.append(ratio <= 2 * level + SMALL)
        third.append(measures.mutual_information(joint) <= level + SMALL)
        after = joint.probabilities / joint.p_useful / joint.p_sensitive[:, None]
        posterior.append(np.allclose(np.log(after), lifts))
    stricter = all(
        design(j, LDP(0.5)).nmi >= _ldp_on_x(j, 0.5) - SMALL for j in (Joint.random(2, 4, seed=s) for s in range(20))
    )
    answers = {
        "lts20-fig2-relations": as_drawn(),
        "lts20-lemma1": Answer(all(first) and all(second) and all(third)),
        "lts20-eq4-posterior-factor": Answer(all(posterior)),
        "lts20-definition-ldp-x-stricter": Answer(stricter, "randomised response on X keeps less on 20 joints"),
        "lts20-remark1-robust-all-priors": argued(True, "a prior that puts S = X makes both the same"),
        "lts20-independent-of-n": argued(True, "designs take P(s, x), not the number of records"),
    }
    return Outcome([{"joints": len(first), "LDP gives LIP": all(first), "LIP gives 2 eps LDP": all(second)}], answers)


def _ldp_on_x(joint: Joint, epsilon: float) -> float:
    """NMI of randomised response that is LDP with respect to X itself."""
    n = joint.n_useful
    other = 1 / (math.exp(epsilon) + n - 1)
    channel = np.full((n, n), other) + np.eye(n) * (math.exp(epsilon) - 1) * other
    return float(measures.nmi(joint, Mechanism.from_channel(channel, useful=joint.useful)))


@entry("lts20-theorem2", "The LDP optimum")
def theorem2(setting: Setting) -> Outcome:
    sizes = [design(Joint.random(2, 5, seed=s), LDP(0.5)).mechanism.n_released for s in range(setting.joints(50, 15))]
    answers = {
        "lts20-theorem2": Answer(max(sizes) <= 5, f"at most {max(sizes)} released symbols for 5 useful ones"),
        "lts20-theorem2-any-convex-utility": argued(True, "an argument about vertices; nothing to compute"),
    }
    return Outcome([{"most released symbols": max(sizes)}], answers)


@entry("lts20-theorem3", "The LIP optimum")
def theorem3(setting: Setting) -> Outcome:
    gaps, sizes = [], []
    for seed in range(setting.joints(50, 15)):
        joint = Joint.random(2, 5, seed=seed)
        one, other = design(joint, LIP(0.5)), design(joint, LIP(0.5), search="vertices")
        gaps.append(abs(one.nmi - other.nmi))
        sizes.append(one.mechanism.n_released)
    answers = {
        "lts20-theorem3": Answer(max(gaps) < 1e-7 and max(sizes) <= 5, f"columns and vertices apart by {max(gaps):.1g}")
    }
    return Outcome([{"largest difference": max(gaps), "most released symbols": max(sizes)}], answers)


@entry("lts20-srlip-theory", "Several attributes")
def srlip_theory(setting: Setting) -> Outcome:
    useful = list(itertools.product((0, 1), repeat=2))
    tied = [(a, b) for a in useful for b in useful if a == b]
    xor = Joint.from_counts([[int((a[0] ^ a[1]) == s) for a, _ in tied] for s in (0, 1)], useful=tied)
    first = Mechanism.from_blocks(xor, [a[0] for a, _ in tied])
    second = Mechanism.from_blocks(xor, [a[1] for a, _ in tied])
    both = Mechanism.from_blocks(xor, [2 * a[0] + a[1] for a, _ in tied])
    alone = LIP(0.0).holds(xor, first) and LIP(0.0).holds(xor, second)
    leaks = not LIP(5.0).holds(xor, both)
    joints = [Joint.from_array(Joint.random(2, 4, seed=s).probabilities, useful=useful) for s in range(20)]
    implied, slices = [], []
    for joint in joints:
        made = design(joint, SRLIP(0.6), "independent-attributes").mechanism
        implied.append(LIP(0.6).holds(joint, made))
        inside = [joint.given(np.flatnonzero(joint.attributes[0] == k)) for k in (0, 1)]
        slices.append(all(LIP(0.6).holds(part, made) for part in inside))
    answers = {
        "lts20-theorem4-budget": Answer(
            not (alone and leaks), "two protocols of level 0 reveal S together: the errata have it"
        ),
        "lts20-obesity-side-channel": Answer(
            alone and leaks, "the exclusive-or example: one bit tells nothing, both tell all"
        ),
        "lts20-srlip-equals-robust-lip": Answer(all(slices)),
        "lts20-lemma2-srlip-implies-lip": Answer(all(implied)),
        "lts20-lip-has-no-budget": Answer(alone and leaks, "true of LIP; SRLIP adds up only in the sequential version"),
        "lts20-theorem3-not-for-several-priors": argued(
            False, "it does: rows of several priors can be written on the column P(y|x)"
        ),
    }
    return Outcome([{"alone private": alone, "together leaking": leaks}], answers)


@entry("lts20-srlip-complexity", "Sizes of the polytopes")
def srlip_complexity(setting: Setting) -> Outcome:
    joint = Joint.random(2, 5, seed=1)
    rows = len(LIP(0.1).rows(joint).matrix)
    answers = {
        "lts20-complexity-lip-polytope": Answer(rows + joint.n_useful == joint.n_useful + 2 * joint.n_sensitive),
        "lts20-complexity-srlip-polytope": Answer(
            None, "the printed count seems to lack a factor; not used here", None
        ),
    }
    return Outcome([{"rows": rows, "symbols": joint.n_useful}], answers)


@entry("lts20-proposition1", "Conditional reporting")
def proposition1(setting: Setting) -> Outcome:
    levels, ldp = [], []
    for seed in range(setting.joints(200, 50)):
        joint = Joint.random(3, 4, seed=seed, concentration=0.5)
        made = design(joint, LIP(0.7), "conditional-reporting")
        figures = made.to_dict()
        level = max(figures["log_max_lift"], -figures["log_min_lift"])
        t = reporting_strength(joint, LIP(0.7))
        levels.append(not np.isfinite(t) or 0.7 - 1e-9 <= level <= 0.7 + SMALL)
        if np.isfinite(t):
            ldp.append(LDP(math.log1p(t) + 1e-6).holds(joint, made.mechanism))
    answers = {
        "lts20-proposition1-cr-level": Answer(all(levels)),
        "lts20-cr-channel-eq46": argued(True, "with the indicator of x = y that the printed (46) lacks"),
        "lts20-cr-alpha-ldp": Answer(all(ldp)),
    }
    return Outcome([{"joints": len(levels), "level met": all(levels), "alpha-LDP": all(ldp)}], answers)


@entry("lts20-fig3", "LDP against LIP: time and utility")
def fig3(setting: Setting) -> Outcome:
    joints = [Joint.random(2, 5, seed=seed) for seed in range(10)]
    rows, points = [], {}
    for epsilon in EPSILONS:
        for seed, joint in enumerate(joints):
            timed = {}
            for name, notion in (("LDP", LDP(epsilon)), ("LIP", LIP(epsilon)), ("LIP at half", LIP(epsilon / 2))):
                start = time.perf_counter()
                made = design(joint, notion)
                timed[name] = (made.mutual_information, time.perf_counter() - start)
            rows.append(
                {
                    "epsilon": epsilon,
                    "seed": seed,
                    **{f"{n}, nats": v[0] for n, v in timed.items()},
                    **{f"{n}, s": v[1] for n, v in timed.items()},
                }
            )
    share = {e: np.array([r["LDP, nats"] / r["LIP, nats"] for r in rows if r["epsilon"] == e]) for e in EPSILONS}
    half = {e: np.array([r["LIP at half, nats"] / r["LDP, nats"] for r in rows if r["epsilon"] == e]) for e in EPSILONS}
    for e in EPSILONS:
        points[f"eps {e:g}"] = ([math.log10(r["LIP, s"] / r["LDP, s"]) for r in rows if r["epsilon"] == e], share[e])
    ldp_time = float(np.mean([r["LDP, s"] for r in rows if r["epsilon"] == 0.5]))
    lip_time = float(np.mean([r["LIP, s"] for r in rows if r["epsilon"] == 0.5]))
    large = all(design(j, notion).nmi > 1 - SMALL for j in joints for notion in (LDP(12.0), LIP(12.0)))
    counts = [np.mean([len(vertices(Polytope.of(j, LIP(e)))) for j in joints]) for e in EPSILONS]
    answers = {
        "lts20-fig3a-ldp-vs-lip": as_drawn(),
        "lts20-fig3b-half-lip-vs-ldp": as_drawn(),
        "lts20-fig3-joints": given(len(joints)),
        "lts20-fig3-eps-grid": given(list(EPSILONS)),
        "lts20-fig3-ldp-time": Answer(ldp_time, MACHINE),
        "lts20-fig3-lip-time": Answer(lip_time, MACHINE),
        "lts20-fig3-lip-utility-at-least-ldp": Answer(bool(all((s <= 1 + 1e-7).all() for s in share.values()))),
        "lts20-fig3-utility-difference-low": Answer(
            bool(share[0.5].mean() > 0.85), f"LDP keeps {100 * share[0.5].mean():.0f} % of LIP's utility at eps .5"
        ),
        "lts20-fig3-gaps-shrink-with-eps": Answer(
            bool(share[0.5].mean() < share[2.0].mean()), "of utility; ours take milliseconds at every eps"
        ),
        "lts20-fig3-large-eps-all-allowed": Answer(large),
        "lts20-fig3-fewer-vertices-with-eps": Answer(
            bool(counts[0] > counts[-1]), ", ".join(f"{c:.1f}" for c in counts)
        ),
        "lts20-fig3b-difference-low": Answer(
            bool(all((h <= 1 + 1e-7).all() for h in half.values()) and half[0.5].mean() > 0.7),
            f"{100 * half[0.5].mean():.0f} % at eps .5",
        ),
        "lts20-conclusion-lip-faster-small-eps": Answer(
            None, "of vertex enumeration; on posteriors both take milliseconds", None
        ),
    }
    return Outcome(
        rows,
        answers,
        lambda: _line_figure(
            points, "LTS20, Fig. 3(a)", "log10(LIP time / LDP time)", "I(X;Y) of LDP / of LIP", points=True
        ),
    )


@entry("lts20-fig4", "SRLIP against LIP")
def fig4(setting: Setting) -> Outcome:
    useful = list(itertools.product(range(3), range(3), range(4)))
    rows, points = [], {}
    for epsilon in (0.5, 2.0) if setting.quick else EPSILONS:
        for seed in range(setting.joints(10, 2)):
            joint = Joint.from_array(Joint.random(2, 36, seed=seed).probabilities, useful=useful)
            kept, seconds = {}, {}
            for name, notion, method in (
                ("LIP", LIP(epsilon), "optimal"),
                ("SRLIP", SRLIP(epsilon), "optimal"),
                ("one by one", SRLIP(epsilon), "independent-attributes"),
            ):
                start = time.perf_counter()
                kept[name] = design(joint, notion, method).mutual_information
                seconds[name] = time.perf_counter() - start
            rows.append({"epsilon": epsilon, "seed": seed, **kept, **{f"{n}, s": s for n, s in seconds.items()}})
    shares = {name: float(np.mean([r[name] / r["LIP"] for r in rows])) for name in ("SRLIP", "one by one")}
    speed = float(np.mean([r["SRLIP, s"] / r["LIP, s"] for r in rows]))
    for name in ("SRLIP", "one by one"):
        points[name] = ([r["epsilon"] for r in rows], [r[name] / r["LIP"] for r in rows])
    answers = {
        "lts20-fig4-srlip-vs-lip": as_drawn(),
        "lts20-fig4-speed": Answer(
            speed,
            "of their vertex enumeration for Theorem 4, which is false; ours is the optimum over the product alphabet",
        ),
        "lts20-fig4-utility-gap": Answer(
            shares["one by one"] < 0.8,
            f"one protocol for each attribute keeps {100 * shares['one by one']:.0f} %, the SRLIP optimum {100 * shares['SRLIP']:.0f} %",
        ),
        "lts20-conclusion-srlip-costs-both": Answer(speed > 1 and shares["SRLIP"] < 1),
    }
    return Outcome(
        rows,
        answers,
        lambda: _line_figure(points, "LTS20, Fig. 4", "epsilon (nats)", "utility / utility of LIP", points=True),
    )


@entry("lts20-fig5", "Protocols on Adult")
def fig5(setting: Setting) -> Outcome:
    table = samples.adult()
    epsilons = (0.5, 1.0, 2.0, 4.0) if setting.quick else (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
    rows: list[dict[str, Any]] = []
    sizes, above, close, oue_below, best_of = {}, [], [], [], set()
    curves: dict[str, tuple[Any, Any]] = {}
    for letter, (sensitive, useful) in PAIRS.items():
        joint = Joint.from_table(table, sensitive, useful)
        sizes[sensitive], sizes[useful] = joint.n_sensitive, joint.n_useful
        kept: dict[str, list[float]] = {}
        for epsilon in epsilons:
            for method in ("optimal", "conditional-reporting", "grr", "oue"):
                try:
                    value = design(joint, LIP(epsilon), method).nmi
                except DiscreetError:
                    value = float("nan")
                kept.setdefault(method, []).append(value)
                rows.append(
                    {"sensitive": sensitive, "useful": useful, "epsilon": epsilon, "method": method, "nmi": value}
                )
        above.append(all(a >= b - SMALL for a, b in zip(kept["optimal"], kept["grr"])))
        close.append(kept["optimal"][-1] - kept["grr"][-1] < kept["optimal"][0] - kept["grr"][0] + 0.05)
        oue_below.append(np.mean(kept["conditional-reporting"]) > np.mean(kept["oue"]))
        best_of.add("cr" if np.mean(kept["conditional-reporting"]) > np.mean(kept["grr"]) else "grr")
        if letter[0] in "bd":
            for method, values in kept.items():
                curves[f"({letter[0]}) {method}"] = (epsilons, values)
    whole = Joint.from_table(table, "occupation", "relationship")
    limit = design(whole, LIP(60.0), "oue").nmi
    answers: dict[str, Answer] = {f"lts20-fig5{letter}": as_drawn() for letter in PAIRS}
    answers |= {
        "lts20-fig5-c-marital": Answer(sizes["marital-status"], tolerance=0),
        "lts20-fig5-c-occupation": Answer(sizes["occupation"], tolerance=0),
        "lts20-fig5-a-sizes": Answer([sizes["education"], sizes["relationship"], sizes["sex"]], tolerance=0),
        "lts20-fig5-oue-limit": Answer(limit),
        "lts20-fig5-oue-infeasible": argued(False, "a formula over sorted sums gives it without listing 2^16 sets"),
        "lts20-fig5-optlip-infeasible": argued(False, "every one of the 18 optima is proven in under a second"),
        "lts20-fig5-grr-cr-between": Answer(all(above) and all(oue_below), "on the mean of the budgets"),
        "lts20-fig5-grr-cr-approach-opt": Answer(all(close)),
        "lts20-fig5-grr-vs-cr-depends": Answer(best_of == {"cr", "grr"}),
        "lts20-conclusion-cr-beats-oue": Answer(all(oue_below), "on the mean of the budgets"),
        "lts20-conclusion-cr-not-consistent": Answer(best_of == {"cr", "grr"}),
    }
    return Outcome(rows, answers, lambda: _line_figure(curves, "LTS20, Fig. 5(b) and (d)", "epsilon (nats)", "NMI"))


@entry("lts20-fig6", "GRR against conditional reporting on Jeffreys joints")
def fig6(setting: Setting) -> Outcome:
    count = 100
    epsilons = (0.5, 1.0, 1.5, 2.0, 3.0)
    rows, gain, spread, oue = [], {}, [], []
    curves: dict[str, tuple[Any, Any]] = {}
    for letter, (a, c) in zip("abcdef", ((5, 2), (2, 5), (5, 5), (3, 5), (5, 7), (7, 5))):
        joints = [Joint.random(c, a, seed=seed, concentration=0.5) for seed in range(count)]
        means: dict[str, list[float]] = {}
        for epsilon in epsilons:
            for method in ("grr", "conditional-reporting", "oue"):
                kept = np.array([design(j, LIP(epsilon), method).nmi for j in joints])
                means.setdefault(method, []).append(float(kept.mean()))
                rows.append(
                    {
                        "panel": letter,
                        "a": a,
                        "c": c,
                        "epsilon": epsilon,
                        "method": method,
                        "nmi": float(kept.mean()),
                        "deviation": float(kept.std()),
                    }
                )
        gain[a, c] = float(np.mean(means["conditional-reporting"]) - np.mean(means["grr"]))
        deviation = np.mean([r["deviation"] for r in rows if r["panel"] == letter and r["method"] == "grr"])
        spread.append(deviation > abs(gain[a, c]))
        oue.append(np.mean(means["oue"]) < min(np.mean(means["grr"]), np.mean(means["conditional-reporting"])))
        if letter == "c":
            curves = {name: (epsilons, values) for name, values in means.items()}
    order = [gain[a, c] for a, c in ((2, 5), (3, 5), (5, 5), (7, 5))]
    answers: dict[str, Answer] = {
        f"lts20-fig6{letter}-a{a}-c{c}": as_drawn()
        for letter, (a, c) in zip("abcdef", ((5, 2), (2, 5), (5, 5), (3, 5), (5, 7), (7, 5)))
    }
    answers |= {
        "lts20-fig6-joints": given(count),
        "lts20-fig6-jeffreys-parameter": given(0.5),
        "lts20-fig6-cr-gains-with-a-over-c": Answer(order[0] < order[-1], ", ".join(f"{g:+.3f}" for g in order)),
        "lts20-fig6-data-matter-more-than-method": Answer(
            all(spread), f"in {sum(map(bool, spread))} of 6 panels the deviation of GRR exceeds the mean difference"
        ),
        "lts20-fig6-oue-worse": Answer(sum(oue) >= 5, f"in {sum(oue)} of 6 panels"),
    }
    return Outcome(
        rows, answers, lambda: _line_figure(curves, "LTS20, Fig. 6(c), a = c = 5", "epsilon (nats)", "mean NMI")
    )


def _differences(setting: Setting, epsilon: float) -> tuple[FloatArray, FloatArray, list[Joint]]:
    alphas, utilities, used = [], [], []
    for seed in range(setting.joints(100, 100)):
        joint = Joint.random(5, 5, seed=seed, concentration=0.5)
        strengths = [strength(joint, LIP(epsilon)) for strength in (reporting_strength, grr_strength)]
        if np.isfinite(strengths).all():
            kept = [design(joint, LIP(epsilon), m).mutual_information for m in ("conditional-reporting", "grr")]
            alphas.append(math.log1p(strengths[0]) - math.log1p(strengths[1]))
            utilities.append(kept[0] - kept[1])
            used.append(joint)
    return np.array(alphas), np.array(utilities), used


@entry("lts20-fig7", "What decides between GRR and conditional reporting")
def fig7(setting: Setting) -> Outcome:
    found = {epsilon: _differences(setting, epsilon) for epsilon in (1.0, 1.5, 2.0)}
    correlations = {e: float(np.corrcoef(a, u)[0, 1]) for e, (a, u, _) in found.items()}
    alphas, utilities, joints = found[1.0]
    others = {
        "I(X;S)": [measures.mutual_information(j) for j in joints],
        "largest cell": [j.probabilities.max() for j in joints],
        "largest p(x)": [j.p_useful.max() for j in joints],
        "largest p(s)": [j.p_sensitive.max() for j in joints],
    }
    weak = {name: float(np.corrcoef(values, utilities)[0, 1]) for name, values in others.items()}
    monotone = []
    for seed in range(20):
        joint = Joint.random(5, 5, seed=seed, concentration=0.5)
        for method in ("grr", "conditional-reporting"):
            kept = [design(joint, LIP(e), method).nmi for e in (0.5, 1.0, 2.0)]
            monotone.append(kept == sorted(kept))
    other_draw = "the paper's joints are other draws from the same prior"
    answers = {
        "lts20-fig7a-eps1": as_drawn(),
        "lts20-fig7b-eps1-5": as_drawn(),
        "lts20-fig7c-eps2": as_drawn(),
        "lts20-fig7-correlation-eps1": Answer(correlations[1.0], other_draw),
        "lts20-fig7-correlation-eps1-5": Answer(correlations[1.5], other_draw),
        "lts20-fig7-correlation-eps2": Answer(correlations[2.0], other_draw),
        "lts20-fig7-alpha-explains-utility": Answer(
            bool((np.sign(alphas) == np.sign(utilities)).mean() > 0.8),
            f"same sign on {100 * (np.sign(alphas) == np.sign(utilities)).mean():.0f} % of the joints",
        ),
        "lts20-alpha-monotone-utility": Answer(all(monotone)),
        "lts20-no-other-property-explains": Answer(
            max(map(abs, weak.values())) < 0.5, ", ".join(f"{n} {v:+.2f}" for n, v in weak.items())
        ),
    }
    rows = [
        {"epsilon": e, "alpha difference": a, "utility difference": u}
        for e, (al, ut, _) in found.items()
        for a, u in zip(al.tolist(), ut.tolist())
    ]
    points = {f"eps {e:g}": (a, u) for e, (a, u, _) in found.items()}
    return Outcome(
        rows,
        answers,
        lambda: _line_figure(
            points, "LTS20, Fig. 7", "alpha of CR - alpha of GRR", "I(X;Y) of CR - of GRR (nats)", points=True
        ),
    )


@entry("lts20-fig8", "Alpha against epsilon on Adult")
def fig8(setting: Setting) -> Outcome:
    table, epsilons = samples.adult(), (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
    rows: list[dict[str, Any]] = []
    curves: dict[str, tuple[Any, Any]] = {}
    ahead = {}
    for useful in ("education", "relationship"):
        joint = Joint.from_table(table, "occupation", useful)
        alphas = {
            n: [math.log1p(s(joint, LIP(e))) for e in epsilons]
            for n, s in (("grr", grr_strength), ("cr", reporting_strength))
        }
        kept = {
            n: np.mean([design(joint, LIP(e), m).nmi for e in epsilons])
            for n, m in (("grr", "grr"), ("cr", "conditional-reporting"))
        }
        ahead[useful] = (
            all(g > c for g, c in zip(alphas["grr"], alphas["cr"])),
            all(g < c for g, c in zip(alphas["grr"], alphas["cr"])),
            kept,
        )
        rows += [
            {"useful": useful, "epsilon": e, "alpha GRR": g, "alpha CR": c}
            for e, g, c in zip(epsilons, alphas["grr"], alphas["cr"])
        ]
        for name, values in alphas.items():
            curves[f"{name}, {useful}"] = (epsilons, values)
    answers = {
        "lts20-fig8a-occupation-education": as_drawn(),
        "lts20-fig8b-occupation-relationship": as_drawn(),
        "lts20-fig8a-grr-above": Answer(
            bool(ahead["education"][0] and ahead["education"][2]["grr"] > ahead["education"][2]["cr"])
        ),
        "lts20-fig8b-cr-above": Answer(
            bool(ahead["relationship"][1] and ahead["relationship"][2]["cr"] > ahead["relationship"][2]["grr"])
        ),
    }
    return Outcome(rows, answers, lambda: _line_figure(curves, "LTS20, Fig. 8", "epsilon (nats)", "alpha"))
