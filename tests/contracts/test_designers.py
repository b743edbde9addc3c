"""What every designer owes for every notion."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from discreet import Joint, Mechanism, design, methods
from discreet._support.errors import DiscreetError, UnsupportedNotionError
from discreet.designers.registry import METHODS, Method
from discreet.notions import LargestLift, LiftRatio, Notion, SmallestLift, exact, from_dict
from discreet.testing import awkward_joint, every_notion
from tests.bruteforce import oracle
from tests.conftest import quick_first

VARIANTS = [("watchdog", {}), ("watchdog", {"randomisation": "uniform"}), ("subset-merging", {})]
PROTOCOLS = ["grr", "oue", "conditional-reporting", "tight-rr", "max-truth"]
SEARCHES = ["subset-response", "optimal", "optimal-with-sensitive", "auto"]
ALL_VARIANTS = [*VARIANTS, *((name, {}) for name in (*PROTOCOLS, *SEARCHES))]
DENOMINATOR = 2**60
SAME = 1e-9  # both responses are rounded a hair inside their budgets
CI_JOINTS, ALL_JOINTS = 250, 10_000


def notions_for(seed: int) -> list[Notion]:
    rng = np.random.default_rng([seed, 1])
    epsilon = float(rng.choice([0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 8.0]) * rng.uniform(0.5, 1))
    return every_notion(epsilon, lam=float(rng.uniform(0.1, 0.9)), alpha=float(rng.choice([1.3, 2.0, 7.0])))


def by_hand(joint: Joint, mechanism: Mechanism) -> np.ndarray:
    """P(s, y) in integers from the weights alone; for bits, every set of them."""
    if mechanism.kind == "bits":
        n, p, q = mechanism.n_useful, mechanism.true_weight, mechanism.other_weight
        columns = []
        for bits in itertools.product((0, 1), repeat=n):
            given = [
                math.prod((p if b else DENOMINATOR - p) if x == k else (q if b else DENOMINATOR - q)
                          for k, b in enumerate(bits))
                for x in range(n)
            ]  # fmt: skip
            columns.append((joint.masses * np.array(given, dtype=object)).sum(axis=1))
        return np.stack(columns, axis=1)
    weights = mechanism.weights.astype(object)
    if mechanism.reads_sensitive:
        return (joint.masses[:, :, None] * weights).sum(axis=1)
    return joint.masses @ weights


def check_promises(seed: int) -> None:
    """Every variant and notion at one awkward joint: valid, private by integers alone, no worse than the simpler."""
    joint = awkward_joint(seed)
    for notion in notions_for(seed):
        kept = {}
        serving = methods(notion)
        # Searches cost a hundred times the others.
        more = [*PROTOCOLS, *(["subset-response"] if seed % 10 == 0 else [])]
        for method, options in [*VARIANTS, *((name, {}) for name in more if name in serving)]:
            result = design(joint, notion, method, **options)
            if result.mechanism.kind != "bits":
                weights = result.mechanism.weights
                assert (weights >= 0).all()
                assert (weights.astype(object).sum(axis=-1) == DENOMINATOR).all()
            released = by_hand(joint, result.mechanism)
            assert exact.keeps(released, notion.bounds).all(), (seed, method, notion)
            assert 0 <= result.nmi <= 1
            kept[method, str(options)] = result.nmi
        assert kept["subset-merging", "{}"] >= kept["watchdog", "{}"] - 1e-12
        assert kept.get(("subset-response", "{}"), 1.0) >= kept["subset-merging", "{}"] - 1e-12
        assert kept.get(("max-truth", "{}"), 1.0) >= kept["subset-merging", "{}"] - 1e-12
        assert kept.get(("tight-rr", "{}"), 1.0) >= kept.get(("grr", "{}"), 0.0) - SAME
        assert kept["watchdog", "{'randomisation': 'uniform'}"] == pytest.approx(kept["watchdog", "{}"], abs=1e-12)


@pytest.mark.parametrize("chunk", quick_first(range(10), 3))
def test_no_mechanism_breaks_its_notion(chunk: int) -> None:
    for seed in range(chunk, CI_JOINTS, 10):
        check_promises(seed)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(100))
def test_no_mechanism_breaks_its_notion_at_full_size(chunk: int) -> None:
    for seed in range(CI_JOINTS + chunk, ALL_JOINTS, 100):
        check_promises(seed)


@pytest.mark.parametrize("seed", quick_first(range(16), 5))
def test_the_oracle_agrees(seed: int) -> None:
    joint = awkward_joint(seed, largest=4)
    cells = oracle.normalised([[int(n) for n in row] for row in joint.masses])
    for notion in notions_for(seed):
        for method, options in ALL_VARIANTS:
            if method not in methods(notion):
                continue
            mechanism = design(joint, notion, method, **options).mechanism
            if mechanism.kind == "channel":
                assert oracle.holds(oracle.through(cells, mechanism.weights.tolist()), notion.to_dict()), (
                    method,
                    notion,
                )


@pytest.mark.parametrize(("method", "options"), VARIANTS)
@pytest.mark.parametrize("notion", every_notion(0.4), ids=str)
def test_relabelling_changes_nothing(method: str, options: dict[str, str], notion: Notion) -> None:
    rng = np.random.default_rng(7)
    joint = Joint.random(4, 9, seed=7)
    rows, columns = rng.permutation(4), rng.permutation(9)
    shuffled = Joint.from_array(
        joint.probabilities[np.ix_(rows, columns)],
        sensitive=[joint.sensitive[s] for s in rows],
        useful=[joint.useful[x] for x in columns],
    )
    first = design(joint, notion, method, **options)
    second = design(shuffled, notion, method, **options)
    assert second.nmi == pytest.approx(first.nmi, abs=1e-12)
    assert together(first.mechanism) == together(second.mechanism)


def together(mechanism: Mechanism) -> set[tuple[object, object]]:
    """Pairs of useful labels that may be released as the same symbol."""
    shared = (mechanism.weights > 0).astype(int) @ (mechanism.weights > 0).T.astype(int)
    return {(mechanism.useful[a], mechanism.useful[b]) for a, b in zip(*np.nonzero(shared))}


@pytest.mark.parametrize(("method", "options"), ALL_VARIANTS)
@pytest.mark.parametrize("notion", every_notion(0.4, alpha=2.5), ids=str)
def test_json_round_trip_is_lossless(method: str, options: dict[str, str], notion: Notion, tmp_path) -> None:
    joint = Joint.from_counts(
        [[5, 1, 0, 2], [2, 3, 4, 9]],
        sensitive=["a", None],
        useful=[("x", 1), ("x", None), ("é\n\"'", -3), (None, None)],
        sensitive_columns=["ill"],
        useful_columns=["letter", "size"],
        bins={"size": [0.1, 1e300]},
    )
    if method not in methods(notion):
        with pytest.raises(UnsupportedNotionError, match="does not serve"):
            design(joint, notion, method, **options)
        return
    mechanism = design(joint, notion, method, **options).mechanism
    mechanism.to_json(tmp_path / "m.json", private=True)
    again = Mechanism.from_json(tmp_path / "m.json")
    assert again == mechanism
    mechanism.to_json(tmp_path / "public.json")
    public = Mechanism.from_json(tmp_path / "public.json")
    assert public.to_dict() == public.public_dict() | {name: None for name in public.to_dict() if name[:2] == "p_"}
    assert (public.fingerprint, public.is_private) == (mechanism.fingerprint, True)
    assert public.codebook(joint) == mechanism.codebook(joint)
    for released, meaning in mechanism.codebook().items():
        assert public.codebook(joint)[released] == pytest.approx(meaning)
    assert type(again) is type(mechanism)
    assert (again.channel == mechanism.channel).all()
    assert again.useful == joint.useful
    assert again.bins == {"size": (0.1, 1e300)}
    assert again.notion is not None
    assert from_dict(again.notion) == notion
    assert again.reads_sensitive is mechanism.reads_sensitive
    stored = json.loads((tmp_path / "m.json").read_text())
    assert all(sum(weight for _, weight in row) == DENOMINATOR for row in stored.get("rows", ()))


def test_every_method_is_covered() -> None:
    assert {method for method, _ in ALL_VARIANTS} | {"independent-attributes"} == set(METHODS)
    merging, polyhedral = {"watchdog", "subset-merging", "auto", "optimal"}, {"subset-response", "max-truth"}
    on_lifts = {"grr", "oue", "conditional-reporting", "tight-rr", "optimal-with-sensitive"}
    for notion in every_notion(1.0):
        lifts = {bound.kind for bound in notion.bounds} <= {LargestLift(), SmallestLift(), LiftRatio()}
        expected = merging | (polyhedral if notion.is_polyhedral else set()) | (on_lifts if lifts else set())
        assert set(methods(notion)) == expected


def test_options_of_other_methods_are_refused() -> None:
    joint = Joint.random(2, 3)
    with pytest.raises(DiscreetError, match="no option"):
        design(joint, every_notion(1.0)[0], "subset-merging", time_limit=3)


def test_a_designer_that_breaks_its_notion_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = Joint.from_counts([[9, 1], [1, 9]])
    leaky = lambda joint, notion: Mechanism.from_blocks(joint, np.arange(joint.n_useful))  # noqa: E731
    monkeypatch.setitem(METHODS, "leaky", Method(leaky, lambda notion: True))
    for notion in every_notion(0.1):
        with pytest.raises(DiscreetError, match="breaks"):
            design(joint, notion, "leaky")
