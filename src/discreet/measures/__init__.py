"""Measures of what a release tells about the sensitive values, in nats, and of what it keeps of the useful ones."""

# SPDX-License-Identifier: Apache-2.0
from discreet.measures.average_lift import (
    alpha_lift,
    alpha_lift_inverse,
    chi2_lift,
    chi2_lift_inverse,
    l1_lift,
    l1_lift_inverse,
    min_lift_inverse,
)
from discreet.measures.chance import chance_information, independence_test
from discreet.measures.entropy import entropy, mutual_information, nmi, useful_information
from discreet.measures.intervals import lift_intervals
from discreet.measures.leakage import (
    arimoto_information,
    chi2_divergence,
    maximal_leakage,
    realizable_leakage,
    sibson_information,
    total_variation,
)
from discreet.measures.lift import lift, lift_ratio, log_lift, max_lift, min_lift
from discreet.measures.limits import belief_limits
from discreet.measures.resampled import distortion, share_errors, unchanged

__all__ = [
    "alpha_lift",
    "alpha_lift_inverse",
    "arimoto_information",
    "belief_limits",
    "chance_information",
    "chi2_divergence",
    "chi2_lift",
    "chi2_lift_inverse",
    "distortion",
    "entropy",
    "independence_test",
    "l1_lift",
    "l1_lift_inverse",
    "lift",
    "lift_intervals",
    "lift_ratio",
    "log_lift",
    "max_lift",
    "maximal_leakage",
    "min_lift",
    "min_lift_inverse",
    "mutual_information",
    "nmi",
    "realizable_leakage",
    "share_errors",
    "sibson_information",
    "total_variation",
    "unchanged",
    "useful_information",
]
