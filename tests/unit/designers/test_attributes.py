"""Several useful columns: SRLIP, its protocols, and the theorem that is false."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet import LIP, SRLIP, Joint, Mechanism, ProductMechanism, design, measures, methods, samples
from discreet._support.errors import InputError, UnsupportedNotionError
from discreet.designers.attributes import attribute_joints
from discreet.designers.posteriors.optimal import optimal
from discreet.notions import exact
from discreet.notions.srlip import slices
from discreet.utilities import Information


def with_attributes(seed: int, shape: tuple[int, ...], n_sensitive: int = 2, zeros: float = 0.0) -> Joint:
    rng = np.random.default_rng(seed)
    cells = rng.random((n_sensitive, int(np.prod(shape))))
    cells *= rng.random(cells.shape) >= zeros
    cells[:, 0] += 0.01
    return Joint.from_array(cells / cells.sum(), useful=list(itertools.product(*(range(n) for n in shape))))


def worst_level(joint: Joint, mechanism: Mechanism) -> float:
    """max |log P(y | s, x_J) / P(y | x_J)| by loops over J, x_J, s and y, straight from the definition."""
    channel, attributes = mechanism.channel, range(len(joint.useful[0]))
    worst = 0.0
    for size in range(len(joint.useful[0]) + 1):
        for known in itertools.combinations(attributes, size):
            for value in {tuple(x[j] for j in known) for x in joint.useful}:
                inside = np.array([tuple(x[j] for j in known) == value for x in joint.useful])
                slice_ = joint.probabilities * inside
                for s in range(joint.n_sensitive):
                    if slice_[s].sum() == 0:
                        continue
                    given, whole = slice_[s] @ channel / slice_[s].sum(), slice_.sum(axis=0) @ channel / slice_.sum()
                    for a, b in zip(given, whole):
                        if b > 0:
                            worst = max(worst, abs(np.log(a / b)) if a > 0 else np.inf)
    return worst


def printed_product(joint: Joint, epsilon: float) -> ProductMechanism:
    """Theorem 4 of LTS20 as printed: the optimal Q^j under (23)-(26), each with its share of the budget."""
    parts = []
    for j in range(len(joint.attributes)):
        values = tuple(dict.fromkeys(x[j] for x in joint.useful))
        own, *others = attribute_joints(joint, j, [], values, with_released=False)
        parts.append(optimal(own, LIP(epsilon / len(joint.attributes)), utility=Information(), also=others).mechanism)
    return ProductMechanism(parts, joint.useful, p_useful=joint.p_useful)


@pytest.mark.parametrize("seed", range(12))
def test_the_check_follows_the_definition(seed: int) -> None:
    joint = with_attributes(seed, [(2, 3), (3, 2, 2)][seed % 2], 2 + seed % 2, zeros=0.2)
    rng = np.random.default_rng(seed)
    channel = 0.8 + 0.2 * rng.dirichlet(np.ones(4), joint.n_useful)
    mechanism = Mechanism.from_channel(channel / channel.sum(axis=1, keepdims=True), useful=joint.useful)
    level = worst_level(joint, mechanism)
    assert SRLIP(level * 1.000001).holds(joint, mechanism)
    assert not SRLIP(level * 0.999999).holds(joint, mechanism)
    assert SRLIP(0.3).slack(joint, mechanism) == pytest.approx(0.3 - level)


@pytest.mark.parametrize("seed", range(6))
def test_protocols_keep_the_promise(seed: int) -> None:
    joint = with_attributes(seed, [(2, 3), (2, 2, 2)][seed % 2], 2 + seed % 2, zeros=0.15 * (seed % 3))
    made = {method: design(joint, SRLIP(0.5), method) for method in ("optimal", "independent-attributes", "max-truth")}
    bound = made["optimal"].bound
    assert bound <= design(joint, LIP(0.5)).bound + 1e-7
    for method, result in made.items():
        assert worst_level(joint, result.mechanism) <= 0.5 + 1e-9, method
        for symbols in slices(joint):
            inside = joint.given(symbols)
            released = result.mechanism.carried(inside)[1]()
            assert exact.keeps(released, LIP(0.5).bounds).all(), method
        assert result.nmi <= bound + 1e-12, method


def test_the_exclusive_or_refutes_theorem_4() -> None:
    """X1 = X2 = (b1, b2), S = b1 xor b2; Q1 tells b1, Q2 tells b2: every premise holds with eps = 0, and S is known."""
    pairs = list(itertools.product((0, 1), repeat=2))
    useful = [(x, x) for x in pairs]
    cells = np.array([[float((a ^ b) == s) for a, b in pairs] for s in (0, 1)])
    joint = Joint.from_array(cells / cells.sum(), useful=useful)
    tells = [
        Mechanism.from_channel([[1.0, 0.0] if x[k] == 0 else [0.0, 1.0] for x in pairs], useful=pairs) for k in (0, 1)
    ]
    for j in (0, 1):
        for condition in attribute_joints(joint, j, [], tuple(pairs), with_released=False):
            if condition.n_sensitive == 2:
                assert LIP(0).holds(condition, tells[j])
    product = ProductMechanism(tells, useful, p_useful=joint.p_useful)
    assert not LIP(5).holds(joint, product)
    assert measures.mutual_information(joint.through(product)) == pytest.approx(np.log(2))
    for method in ("optimal", "independent-attributes"):
        assert SRLIP(0.5).holds(joint, design(joint, SRLIP(0.5), method).mechanism)


def test_adult_refutes_theorem_4() -> None:
    """S income; X relationship, marital-status; eps .5: the printed product leaks .887, the shipped ones at most .5."""
    joint = Joint.from_table(samples.adult(), "income", ["relationship", "marital-status"])
    printed = printed_product(joint, 0.5)
    assert 0.5 - SRLIP(0.5).slack(joint, printed) == pytest.approx(0.887, abs=0.002)
    for method in ("optimal", "independent-attributes"):
        result = design(joint, SRLIP(0.5), method)
        assert SRLIP(0.5).slack(joint, result.mechanism) >= 0
        assert result.nmi > 0


def test_one_attribute_is_lip() -> None:
    joint = Joint.random(3, 6, seed=0)
    assert design(joint, SRLIP(0.4)).nmi == pytest.approx(design(joint, LIP(0.4)).nmi, abs=1e-7)
    assert SRLIP(0.4).implies(LIP(0.4))
    assert not LIP(0.4).implies(SRLIP(0.4))
    with pytest.raises(InputError, match="several columns"):
        design(joint, SRLIP(0.4), "independent-attributes")


def test_wrong_requests_are_named() -> None:
    joint = with_attributes(0, (2, 2))
    with pytest.raises(InputError, match="promise about a mechanism"):
        SRLIP(1).holds(joint)
    with pytest.raises(InputError, match="promise about a mechanism"):
        SRLIP(1).allowed(joint)
    with pytest.raises(UnsupportedNotionError, match="Methods that do"):
        design(joint, SRLIP(1), "watchdog")
    with pytest.raises(UnsupportedNotionError, match="Methods that do"):
        design(joint, LIP(1), "independent-attributes")
    assert methods(SRLIP(1)) == ("max-truth", "independent-attributes", "optimal", "auto")


def test_products_survive_json(tmp_path) -> None:
    joint = with_attributes(1, (2, 3))
    mechanism = design(joint, SRLIP(0.6), "independent-attributes").mechanism
    assert isinstance(mechanism, ProductMechanism)
    mechanism.to_json(tmp_path / "m.json", private=True)
    again = Mechanism.from_json(tmp_path / "m.json")
    assert again == mechanism
    assert (again.channel == mechanism.channel).all()
    assert len(mechanism.parts) == 2
    assert set(mechanism.codebook()) == set(mechanism.released)
