"""Designs over a range of budgets."""

# SPDX-License-Identifier: Apache-2.0
