"""Mechanisms: what is released for a value, as integer weights that are checked, stored and drawn from."""

# SPDX-License-Identifier: Apache-2.0
from discreet.mechanism.base import Mechanism, provenance
from discreet.mechanism.bits import BitMechanism
from discreet.mechanism.estimate import Estimate
from discreet.mechanism.product import ProductMechanism
from discreet.mechanism.sensitive import SensitiveMechanism

__all__ = ["BitMechanism", "Estimate", "Mechanism", "ProductMechanism", "SensitiveMechanism", "provenance"]
