"""Whole tables under one promise: beliefs that are learned, classes of them, twins, and attacks on the result."""

# SPDX-License-Identifier: Apache-2.0
