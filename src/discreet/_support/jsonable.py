"""JSON of reports: infinite values are the strings "inf" and "-inf"."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["dumps", "plain"]


def plain(value: Any) -> Any:
    """Plain data with numpy scalars unpacked and infinite floats as strings.

    >>> plain({"a": float("-inf"), "b": [1.5]})
    {'a': '-inf', 'b': [1.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def dumps(value: Any) -> str:
    """The JSON text of a report."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2)
