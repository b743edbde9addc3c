"""Tables: where joints are counted."""

# SPDX-License-Identifier: Apache-2.0
from discreet.tables.counting import count_pairs, count_values, list_pairs

__all__ = ["count_pairs", "count_values", "list_pairs"]
