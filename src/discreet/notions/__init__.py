"""Privacy notions: promises about the lift of every released symbol, as small immutable values."""

# SPDX-License-Identifier: Apache-2.0
from discreet.notions.average_lift import AlphaLift, Chi2Lift, L1Lift
from discreet.notions.base import Notion, PosteriorRows, from_dict
from discreet.notions.bound import Bound
from discreet.notions.ldp import LDP
from discreet.notions.leakage import MaxLift, PerfectPrivacy
from discreet.notions.lip import ALIP, LIP
from discreet.notions.srlip import SRLIP

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "SRLIP",
    "AlphaLift",
    "Bound",
    "Chi2Lift",
    "L1Lift",
    "MaxLift",
    "Notion",
    "PerfectPrivacy",
    "PosteriorRows",
    "from_dict",
]
