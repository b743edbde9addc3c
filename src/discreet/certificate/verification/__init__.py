"""Verification: of a certificate by itself, against the table, against the release, and with the key."""

# SPDX-License-Identifier: Apache-2.0
