"""The draw: keys, thresholds, lookup tables and the one query that every engine runs."""

# SPDX-License-Identifier: Apache-2.0
