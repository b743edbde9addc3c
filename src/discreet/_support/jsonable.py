"""JSON of reports: infinite values are the strings "inf" and "-inf"."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet._support.visible import is_hidden

__all__ = ["dumps", "plain"]

#: What may have to be escaped: everything but printable ASCII and the ends of lines that JSON itself is set with.
SUSPECT = re.compile(r"[^\n -~]")


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
    r"""The JSON text of a report; what cannot be seen is escaped, which changes nothing for who reads it as JSON.

    >>> print(dumps(["\u202e", "é"]))
    [
      "\u202e",
      "é"
    ]
    """
    return SUSPECT.sub(_escaped, json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2))


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1] if is_hidden(found.group()) else found.group()
