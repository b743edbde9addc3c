"""Tables: opened once, and counted."""

# SPDX-License-Identifier: Apache-2.0
from discreet.tables.counting import columns_to_count, count_pairs, count_values, group_pairs
from discreet.tables.session import open_table

__all__ = [
    "columns_to_count",
    "count_pairs",
    "count_values",
    "group_pairs",
    "open_table",
]
