"""Benchmarks: each prints what it took as a ratio, beside the quality of the answer."""
# SPDX-License-Identifier: Apache-2.0
