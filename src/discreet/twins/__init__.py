"""Twins: records of a table coupled with near ones of other classes, and the keyed draw of who appears as whom."""

# SPDX-License-Identifier: Apache-2.0
