"""Slightly broken functions, each of which must turn some verdict from "agrees" to "differs"."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import DiscreetError
from discreet.core.joint import Joint
from discreet.notions import LIP, SRLIP
from discreet.papers.base import ENTRIES, Setting, answered, claims
from discreet.papers.tested import Tested

__all__ = ["MUTATIONS", "Mutation", "differing", "touched", "turned_red"]


class Mutation(NamedTuple):
    """A broken function: its field of `Tested`, what is wrong with it, and how that comes about."""

    field: str
    words: str
    broken: Callable[[Tested], Any]

    @property
    def name(self) -> str:
        """As the results page has it."""
        return f"{self.field}: {self.words}"

    def apply(self, tested: Tested) -> Tested:
        """What is tested, with the broken function in its place."""
        return dataclasses.replace(tested, **{self.field: self.broken(tested)})


def _wrapped(field: str, words: str, change: Callable[[Any], Any]) -> Mutation:
    """The result is changed."""

    def broken(tested: Tested) -> Any:
        function = getattr(tested, field)
        return lambda *args, **options: change(function(*args, **options))

    return Mutation(field, words, broken)


def _given(field: str, words: str, change: Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]) -> Mutation:
    """What it is given is changed."""

    def broken(tested: Tested) -> Any:
        function = getattr(tested, field)

        def called(*args: Any, **options: Any) -> Any:
            given, named = change(*args, **options)
            return function(*given, **named)

        return called

    return Mutation(field, words, broken)


def _times(factor: float) -> Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]:
    """The first number times a factor, or the budgets named in the call."""

    def change(*args: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        named = {k: v * factor if k.startswith("eps") and v is not None else v for k, v in options.items()}
        return (args if options else (args[0] * factor, *args[1:])), named

    return change


def _exchanged(one: str, other: str) -> Mutation:
    """Two methods of design in each other's place."""
    names = {one: other, other: one}
    return _given(
        "designed", f"{one} and {other} exchanged",
        lambda joint, notion, method="optimal": ((joint, notion, names.get(method, method)), {}),
    )  # fmt: skip


def _noisy(share: float) -> Callable[[Any], Any]:
    return lambda channel: (1 - share) * channel + share / channel.shape[-1]


def _united(parts: set[frozenset[int]]) -> set[frozenset[int]]:
    first, *rest = sorted(parts, key=min)
    return {first | rest[0], *rest[1:]} if rest else {frozenset([x]) for x in first}


def _groups(groups: Sequence[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    if len(groups) > 1:
        return (groups[0] + groups[1], *groups[2:])
    return tuple((value,) for value in groups[0]) if len(groups[0]) > 1 else ()


def _joined(blocks: Any) -> Any:
    changed = np.array(blocks)
    changed[:, 1] = changed[:, 0]
    return changed


def _turned(first: Any) -> Any:
    changed = np.array(first)
    changed[0] = ~changed[0]
    return changed


def _without_last(joint: Joint) -> Joint:
    rows, columns = (size - (size > 2) for size in joint.probabilities.shape)
    cells = joint.probabilities[:rows, :columns]
    return Joint.from_array(cells / cells.sum(), useful=joint.useful[:columns])


def _shifted(path: Any) -> Any:
    """Every block holds the neighbours of its members."""
    return dataclasses.replace(
        path, points=tuple(dataclasses.replace(point, block_of=np.roll(point.block_of, 1)) for point in path.points)
    )


def _split_off(parts: set[frozenset[int]]) -> set[frozenset[int]]:
    largest = max(parts, key=lambda part: (len(part), -min(part)))
    return (parts - {largest}) | {frozenset([min(largest)]), largest - {min(largest)}} if len(largest) > 1 else parts


def _lopsided(*args: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, options | {"concentration": 0.1}


def _halves(epsilon: float, lam: float) -> tuple[tuple[float, float], dict[str, Any]]:
    return (epsilon, 1 - lam), {}


def _backwards(tested: Tested) -> Any:
    """A larger epsilon gives a smaller one's design: 2 / epsilon in its place."""

    def designed(joint: Joint, notion: Any, method: str = "optimal") -> Any:
        epsilon = getattr(notion, "epsilon", None)
        return tested.designed(joint, notion if epsilon is None else type(notion)(2 / epsilon), method)

    return designed


def _without_side_channels(tested: Tested) -> Any:
    """The optimum of LIP where that of SRLIP is asked for."""

    def designed(joint: Joint, notion: Any, method: str = "optimal") -> Any:
        plain = method == "optimal" and isinstance(notion, SRLIP)
        return tested.designed(joint, LIP(notion.epsilon) if plain else notion, method)

    return designed


MEASURES = (
    "lift", "min_lift", "max_lift", "lift_ratio", "l1_lift", "chi2_lift", "alpha_lift", "l1_lift_inverse",
    "chi2_lift_inverse", "alpha_lift_inverse", "mutual_information", "total_variation", "chi2_divergence",
    "sibson_information", "arimoto_information", "maximal_leakage", "realizable_leakage", "useful_information", "nmi",
    "common_information", "maximin_information", "uncertainty_reduction", "non_stochastic_information",
    "response_alpha", "reporting_alpha",
)  # fmt: skip
NOTIONS = ("lip", "ldp", "srlip", "l1", "chi2")
METHODS = ("optimal", "subset-response", "subset-merging")

#: From slight to rough: of those that turn a verdict red the first is named.
MUTATIONS: tuple[Mutation, ...] = (
    *(_wrapped(field, "1 % too large", lambda value: value * 1.01) for field in MEASURES),
    _wrapped("l1_lift_inverse", "finite where a value is ruled out", lambda v: np.minimum(v, 1e6)),
    _wrapped("distinct_sensitive", "one too many", lambda value: value + 1),
    _wrapped("rows", "one too many", lambda value: value + 1),
    _wrapped("maximin_information", "a tenth of a bit too large", lambda value: value + 0.1),
    _wrapped("vertices", "the last one forgotten", lambda points: points[:-1]),
    _wrapped("components", "the first two united", _united),
    _wrapped("components", "the first value of the largest set apart", _split_off),
    _wrapped("overlap_partition", "the first two united", _groups),
    _wrapped("quantise", "the first step skipped",
             lambda path: dataclasses.replace(path, points=(path.points[0], *path.points[2:]))),
    _wrapped("quantise", "the last step skipped", lambda path: dataclasses.replace(path, points=path.points[:-1])),
    _wrapped("quantise", "members shifted by one", _shifted),
    _wrapped("quantise", "steps in reverse", lambda path: dataclasses.replace(path, points=path.points[::-1])),
    *(_given(field, "epsilon 1 % too large", _times(1.01)) for field in NOTIONS),
    _given("split", "epsilon 1 % too large", _times(1.01)),
    Mutation("srlip", "side channels forgotten", lambda tested: tested.lip),
    _wrapped("allowed", "turned round for the first symbol", _turned),
    _wrapped("holds", "turned round", lambda value: not value),
    _wrapped("left_over", "turned round", lambda value: not value),
    _wrapped("designed", "1 % of noise mixed in", _noisy(0.01)),
    _wrapped("designed", "5 % of noise mixed in", _noisy(0.05)),
    _wrapped("watchdog", "the first two symbols always merged", _joined),
    _wrapped("subset_merging", "the first two symbols always merged", _joined),
    _given("against_breach", "the upper belief 10 % too large", lambda low, high: ((low, min(0.999, high * 1.1)), {})),
    _given("alpha", "2 for 100 and 100 for 2", lambda alpha, **options: ((200 / alpha, ), options)),
    _given("alpha", "budgets 20 % too small", lambda a, **o: ((a,), {k: v * 0.8 for k, v in o.items()})),
    *(_given(field, "epsilon 20 % too small", _times(0.8)) for field in NOTIONS),
    *(_given(field, "epsilon 20 % too large", _times(1.2)) for field in (*NOTIONS, "split")),
    *(_given(field, "epsilon halved", _times(0.5)) for field in NOTIONS),
    _given("split", "lam and 1 - lam exchanged", _halves),
    _given("split", "lam .35 and .5 exchanged", lambda e, lam: ((e, {0.35: 0.5, 0.5: 0.35}.get(lam, lam)), {})),
    _given("split", "epsilon twice as large", _times(2.0)),
    Mutation("designed", "side channels forgotten", _without_side_channels),
    _given("designed", "randomised response for conditional reporting",
           lambda j, n, m="optimal": ((j, n, "grr" if m == "conditional-reporting" else m), {})),
    _exchanged("optimal", "watchdog"), _exchanged("optimal", "subset-merging"), _exchanged("optimal", "subset-response"),
    _exchanged("subset-response", "subset-merging"), _exchanged("grr", "conditional-reporting"),
    _exchanged("oue", "conditional-reporting"), _exchanged("oue", "grr"), _exchanged("optimal", "grr"),
    _exchanged("optimal", "independent-attributes"),
    Mutation("watchdog", "subset merging instead", lambda tested: tested.subset_merging),
    Mutation("subset_merging", "watchdog instead", lambda tested: tested.watchdog),
    _wrapped("subset_merging", "one block for all", np.zeros_like),
    _wrapped("subset_merging", "nothing merged", lambda blocks: np.tile(np.arange(blocks.shape[1]), (len(blocks), 1))),
    _wrapped("watchdog", "nothing merged", lambda blocks: np.tile(np.arange(blocks.shape[1]), (len(blocks), 1))),
    _wrapped("adult", "the last sensitive and useful value lost", _without_last),
    _wrapped("records", "every other record lost", lambda records: records[::2]),
    Mutation("reporting_alpha", "that of randomised response", lambda tested: tested.response_alpha),
    _given("joint", "drawn from a lopsided law", _lopsided),
    Mutation("designed", "the budget of a smaller epsilon for a larger one", _backwards),
)  # fmt: skip


def differing(name: str, setting: Setting) -> tuple[set[str], set[str]]:
    """Claims of an entry that agree, and those that differ."""
    known = claims()
    agree: set[str] = set()
    differ: set[str] = set()
    for claim, answer in ENTRIES[name].compute(setting).answers.items():
        if answer.basis == "computed" and (verdict := answered(known[claim], answer)) is not None:
            (agree if verdict else differ).add(claim)
    return agree, differ


class _Watched:
    """What is tested, noting which of its functions are asked for."""

    def __init__(self, tested: Tested) -> None:
        self._tested, self.fields = tested, set[str]()

    def __getattr__(self, field: str) -> Any:
        self.fields.add(field)
        return getattr(self._tested, field)


def touched(name: str, setting: Setting) -> set[str]:
    """Functions that an entry calls."""
    watched: Any = _Watched(setting.tested)
    ENTRIES[name].compute(dataclasses.replace(setting, tested=watched))
    return set(watched.fields)


def found_red(name: str, setting: Setting) -> dict[str, str]:
    """For every claim of an entry that agrees, the first mutation that makes it differ; none where nothing does."""
    waiting = differing(name, setting)[0]
    red: dict[str, str] = {}
    fields = touched(name, setting) if waiting else set()
    for mutation in MUTATIONS:
        if not waiting:
            break
        if mutation.field in fields:
            try:
                _, differ = differing(name, dataclasses.replace(setting, tested=mutation.apply(setting.tested)))
            except (DiscreetError, ArithmeticError, LookupError, ValueError):
                continue  # a crash is no verdict
            red |= dict.fromkeys(sorted(waiting & differ), mutation.name)
            waiting -= differ
    return red


def turned_red() -> dict[str, dict[str, str]]:
    """Which mutation turns which claim of an entry red, as ``scripts/make_turned_red.py`` found it."""
    path = resources.files("discreet.papers") / "turned_red.json"
    found: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return found
