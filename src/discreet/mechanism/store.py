"""Mechanisms as JSON: the format, and checks of a stored one's parts before it is built from them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet._support.errors import InvalidMechanismError
from discreet._support.numeric import DENOMINATOR, DENOMINATORS

__all__ = ["FORMAT", "check_stored", "read_json"]

FORMAT = "discreet-mechanism/1"


def read_json(path: str | os.PathLike[str]) -> Any:
    """What a file of JSON holds."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise InvalidMechanismError(f"cannot read {os.fspath(path)!r}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InvalidMechanismError(
            f"{os.fspath(path)!r} is not a JSON file in UTF-8 in which every name occurs once."
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different: of two, readers would take one or the other."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def check_stored(stored: Mapping[str, Any]) -> None:
    """The parts of a stored mechanism have the types that they must have; entries and labels are checked later."""
    json.dumps(stored, ensure_ascii=False).encode()  # lone surrogates could not be written again
    if type(stored["denominator"]) is not int or stored["denominator"] not in DENOMINATORS:
        raise InvalidMechanismError("this version reads mechanisms over 2**60 and 2**120.")
    if "rows" not in stored and stored["denominator"] != DENOMINATOR:
        raise InvalidMechanismError("only rows of a mechanism may have weights over 2**120.")
    for name in ("useful", "released", "rows", "sensitive", "sensitive_columns", "useful_columns"):
        if name in stored and not isinstance(stored[name], list):
            raise InvalidMechanismError(f"{name} of a stored mechanism must be a list.")
    for name in ("sensitive_columns", "useful_columns"):
        if not all(isinstance(column, str) for column in stored[name]):
            raise InvalidMechanismError(f"{name} of a stored mechanism must be names.")
    bins = stored["bins"]
    if not isinstance(bins, dict) or not all(_increasing(edges) for edges in bins.values()):
        raise InvalidMechanismError("bins of a stored mechanism must be increasing numbers by column.")
    p_useful = stored.get("p_useful")
    if p_useful is not None and not all(_number(p) and 0 <= p <= 1 for p in p_useful):
        raise InvalidMechanismError("p_useful of a stored mechanism must be probabilities.")
    if not isinstance(stored.get("private", False), bool):
        raise InvalidMechanismError("private of a stored mechanism must be true or false.")
    values = stored.get("released_values", [])
    if not isinstance(values, list) or not all(type(place) is int for place in values):
        raise InvalidMechanismError("released_values of a stored mechanism must be places of useful values.")
    notion, method = stored["notion"], stored["method"]
    if notion is not None and not _is_notion(notion):
        raise InvalidMechanismError("the notion of a stored mechanism must be a name with budgets.")
    if not (method is None or isinstance(method, str)):
        raise InvalidMechanismError("the method of a stored mechanism must be a name.")


def _is_notion(notion: Any, is_part: bool = False) -> bool:
    """A name with budgets, or with parts that are such."""
    if not isinstance(notion, dict) or not isinstance(notion.get("name"), str):
        return False
    rest = {name: value for name, value in notion.items() if name != "name"}
    parts = rest.pop("parts", None)
    if parts is not None and (is_part or not isinstance(parts, list) or not all(_is_notion(p, True) for p in parts)):
        return False
    return all(value is None or (_number(value) and value >= 0) for value in rest.values())


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _increasing(edges: Any) -> bool:
    return (
        isinstance(edges, list)
        and bool(edges)
        and all(_number(edge) for edge in edges)
        and all(a < b for a, b in itertools.pairwise(edges))
    )
