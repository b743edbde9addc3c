"""Mechanisms: what is released for a value, as integer weights that are checked, stored and drawn from."""

# SPDX-License-Identifier: Apache-2.0
from discreet.mechanism.about import About, provenance
from discreet.mechanism.base import Mechanism
from discreet.mechanism.bits import BitMechanism
from discreet.mechanism.channel import ChannelMechanism
from discreet.mechanism.draw import Draw
from discreet.mechanism.earlier import Earlier
from discreet.mechanism.estimate import Estimate
from discreet.mechanism.product import ProductMechanism
from discreet.mechanism.sensitive import SensitiveMechanism

__all__ = [
    "About",
    "BitMechanism",
    "ChannelMechanism",
    "Draw",
    "Earlier",
    "Estimate",
    "Mechanism",
    "ProductMechanism",
    "SensitiveMechanism",
    "provenance",
]
