"""The public surface is a list, and it is the promised one."""

from __future__ import annotations

import discreet as dc

PROMISED = {
    "ALIP", "LDP", "LIP", "AlphaLift", "Chi2Lift", "Design", "Joint", "L1Lift", "MaxLift", "Mechanism",
    "PerfectPrivacy", "design", "measures", "methods",
}  # fmt: skip

MEASURES = {
    "lift", "log_lift", "min_lift", "max_lift", "lift_ratio", "l1_lift", "chi2_lift", "alpha_lift",
    "l1_lift_inverse", "chi2_lift_inverse", "alpha_lift_inverse", "mutual_information", "entropy", "nmi",
    "total_variation", "chi2_divergence", "sibson_information", "arimoto_information", "maximal_leakage",
    "realizable_leakage",
}  # fmt: skip


def test_promised_names_are_public() -> None:
    assert set(dc.__all__) >= PROMISED
    assert set(dc.measures.__all__) >= MEASURES


def test_every_listed_name_exists_and_is_documented() -> None:
    for module in (dc, dc.measures, dc.errors, dc.samples):
        for name in module.__all__:
            thing = getattr(module, name)
            assert thing.__doc__, name


def test_results_have_the_promised_attributes() -> None:
    joint = dc.Joint.random(3, 4)
    design = dc.design(joint, dc.LIP(0.5))
    for name in ("mechanism", "nmi", "mutual_information", "bound", "status", "method", "seconds"):
        assert hasattr(design, name)
    for thing in (joint, design, design.mechanism, design.notion):
        assert repr(thing)
        assert "<" in thing._repr_html_()
        assert isinstance(thing.to_dict(), dict)
    assert design.mechanism.channel.shape == (design.mechanism.n_useful, design.mechanism.n_released)
    assert design.mechanism.channel.sum(axis=1).tolist() == [1.0] * 4
