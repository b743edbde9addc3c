"""Certificates, and their verification. The checker of counts and proofs shares no code with what it checks."""

# SPDX-License-Identifier: Apache-2.0
from discreet.certificate.record import Certificate, certify
from discreet.certificate.verification.front import verify
from discreet.certificate.verification.verdict import Verdict

__all__ = ["Certificate", "Verdict", "certify", "verify"]
