"""The public surface is a list, and it is the promised one, name for name."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import discreet as dc

PUBLIC = {
    "ALIP", "Attack", "Audit", "AlphaLift", "BitMechanism", "Certificate", "ChannelMechanism", "Chi2Lift", "Comparison",
    "Design", "Earlier", "Estimate", "Frontier", "Joint", "L1Lift", "Ledger", "LDP", "LIP", "MaxLift", "Mechanism",
    "Notion", "Outcome", "PerfectPrivacy", "ProductMechanism", "Quantisation", "QuantisationPath", "ReleaseKey",
    "SRLIP", "SensitiveMechanism", "SeparableUtility", "Utility", "Verdict", "attack", "audit", "certify", "compare",
    "Publication", "PublicationPlan", "design", "errors", "frontier", "load_plan", "measures", "methods",
    "notions", "publish", "quantise", "ranges", "register_method",
    "release", "samples", "utilities", "verify",
}  # fmt: skip

MEASURES = {
    "alpha_lift", "alpha_lift_inverse", "arimoto_information", "belief_limits", "chance_information",
    "chi2_divergence", "chi2_lift", "chi2_lift_inverse", "distortion", "entropy", "independence_test", "l1_lift",
    "l1_lift_inverse", "lift", "lift_intervals", "lift_ratio", "log_lift", "max_lift", "maximal_leakage",
    "min_lift", "min_lift_inverse", "mutual_information", "nmi", "realizable_leakage", "share_errors",
    "sibson_information", "total_variation", "unchanged", "useful_information",
}  # fmt: skip

RANGES = {
    "Components", "Range", "common_information", "components", "distinct_sensitive", "hartley_entropy", "k_anonymity",
    "maximin_information", "non_stochastic_information", "overlap_partition", "smallest_uncertainty",
    "uncertainty_reduction",
}  # fmt: skip


@pytest.mark.parametrize(("module", "names"), [(dc, PUBLIC), (dc.measures, MEASURES), (dc.ranges, RANGES)])
def test_public_names_are_these(module: object, names: set[str]) -> None:
    assert set(module.__all__) == names  # type: ignore[attr-defined]


def test_every_listed_name_exists_and_is_documented() -> None:
    for module in (dc, dc.measures, dc.errors, dc.samples, dc.ranges, dc.notions, dc.utilities):
        for name in module.__all__:
            thing = getattr(module, name)
            assert thing.__doc__ or not (inspect.isclass(thing) or callable(thing)), name


def test_no_room_goes_by_the_name_of_a_public_function() -> None:
    """A package would take the function's place as soon as it is imported."""
    rooms = {path.stem for path in Path(dc.__file__).parent.iterdir()}
    functions = {name for name in PUBLIC if inspect.isfunction(getattr(dc, name))}
    assert rooms & functions == set()
    for _ in range(2):
        assert all(inspect.isfunction(getattr(dc, name)) for name in functions)
    assert {"release", "quantise", "frontier", "design", "audit", "verify", "certify", "compare"} <= functions


def test_results_have_the_promised_attributes() -> None:
    joint = dc.Joint.random(3, 4)
    design = dc.design(joint, dc.LIP(0.5))
    for name in ("mechanism", "nmi", "mutual_information", "bound", "status", "method", "seconds"):
        assert hasattr(design, name)
    audit, comparison = dc.audit(joint, dc.LIP(0.5)), dc.compare(joint, dc.LIP(0.5), ["grr", "watchdog"])
    for thing in (joint, design, design.mechanism, design.notion, audit, comparison):
        assert repr(thing)
        assert "<" in thing._repr_html_()
        assert isinstance(thing.to_dict(), dict)
    assert design.mechanism.channel.shape == (design.mechanism.n_useful, design.mechanism.n_released)
    assert design.mechanism.channel.sum(axis=1).tolist() == [1.0] * 4


def test_a_mechanism_never_changes() -> None:
    mechanism = dc.Mechanism.from_channel([[0.5, 0.5], [0.25, 0.75]], useful=["a", "b"])
    for name in ("notion", "useful", "method", "anything"):
        with pytest.raises(AttributeError, match="never changes"):
            setattr(mechanism, name, None)
    before = mechanism.fingerprint
    promised = mechanism.promising({"name": "lip", "epsilon": 1.0}, "by hand")
    assert (promised.notion, promised.method) == ({"name": "lip", "epsilon": 1.0}, "by hand")
    assert mechanism.notion is None
    assert promised.fingerprint == before == mechanism.fingerprint  # both draw alike
