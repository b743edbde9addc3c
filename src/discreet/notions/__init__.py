"""Privacy notions: promises about the lift of every released symbol, as small immutable values.

A notion is a list of bounds, each a `BoundKind` and a budget. To make one of your own, list bounds of the kinds that
are here, or write a kind: `BoundKind` says what it needs.
"""

# SPDX-License-Identifier: Apache-2.0
from discreet.notions.base import Notion, from_dict
from discreet.notions.bound import LARGEST_CURVED, LARGEST_EXPONENT, Bound, BoundKind, factor
from discreet.notions.exact import Symbol, at_most_exp
from discreet.notions.lift_kinds import LIFTS, LargestLift, LiftRatio, SmallestLift
from discreet.notions.mean_kinds import AlphaMean, Chi2Mean, InverseMean, L1Mean, MeanKind
from discreet.notions.rows import Band, PosteriorRows, stacked

# The registry lists notions as they are met here, the most common first.
# isort: off
from discreet.notions.lip import ALIP, LIP
from discreet.notions.ldp import LDP
from discreet.notions.leakage import MaxLift, PerfectPrivacy
from discreet.notions.average_lift import AlphaLift, Chi2Lift, L1Lift
from discreet.notions.srlip import SRLIP
from discreet.notions.all_of import AllOf
from discreet.notions.premises import premises
# isort: on

__all__ = [
    "ALIP",
    "LARGEST_CURVED",
    "LARGEST_EXPONENT",
    "LDP",
    "LIFTS",
    "LIP",
    "SRLIP",
    "AllOf",
    "AlphaLift",
    "AlphaMean",
    "Band",
    "Bound",
    "BoundKind",
    "Chi2Lift",
    "Chi2Mean",
    "InverseMean",
    "L1Lift",
    "L1Mean",
    "LargestLift",
    "LiftRatio",
    "MaxLift",
    "MeanKind",
    "Notion",
    "PerfectPrivacy",
    "PosteriorRows",
    "SmallestLift",
    "Symbol",
    "at_most_exp",
    "factor",
    "from_dict",
    "premises",
    "stacked",
]
