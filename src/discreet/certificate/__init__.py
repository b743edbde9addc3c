"""Certificates, and their verification by a checker that shares no code with what it checks."""

# SPDX-License-Identifier: Apache-2.0
from discreet.certificate.record import Certificate, certify
from discreet.certificate.verification.verdict import Verdict, verify

__all__ = ["Certificate", "Verdict", "certify", "verify"]
