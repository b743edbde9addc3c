"""What of an attack is shown: which models, parts and appearances tell most."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["by_strength", "measure_of", "series_of", "sides_of", "strength", "worst_presence"]

Facts = Mapping[str, Any]

#: What stands before the name of a model that was trained on the original and is applied to the release.
ORIGINALS = "original's "


def strength(side: Facts) -> float:
    """How far some log-lift surely is from 0, nats: by the inner ends of its limits, which are finite."""
    ends = side["intervals"]
    return max(float(ends["log_max_lift"][0]), -float(ends["log_min_lift"][1]))


def by_strength(attack: Facts) -> list[str]:
    """Names of the models that were tried on the release, the one that surely tells most first."""
    models = attack["after"]["by_model"]
    return sorted(models, key=lambda name: -strength(models[name]))


def sides_of(attack: Facts, most: int | None = None) -> list[tuple[str, Facts | None, Facts]]:
    """All models together and each by itself, the strongest first: name, before and after.

    Before, a model of the original is the model itself.
    """
    before, after = attack["before"], attack["after"]
    found = [
        (name, before["by_model"].get(name.removeprefix(ORIGINALS)), after["by_model"][name])
        for name in by_strength(attack)[:most]
    ]
    return [("all models", before, after), *found]


def measure_of(attack: Facts) -> str:
    """What tells how well a model guesses: AUC for two sensitive values, else accuracy."""
    return "accuracy" if attack["after"]["auc"] is None else "auc"


def series_of(attack: Facts) -> tuple[str, str, list[Facts], list[Facts]]:
    """The strongest model, the sensitive value of which it tells most, and its parts before and after."""
    model = next(iter(by_strength(attack)))
    before = model.removeprefix(ORIGINALS)
    after = [cell for cell in attack["cells"] if cell["when"] == "after" and cell["model"] == model]
    value = max(after, key=lambda cell: max(float(cell["low"]), -float(cell["high"])))["value"] if after else ""
    other = [cell for cell in attack["cells"] if cell["when"] == "before" and cell["model"] == before]
    old, new = ([cell for cell in cells if cell["value"] == value] for cells in (other, after))
    return model, value, old, new


def worst_presence(cells: Sequence[Facts]) -> list[Facts]:
    """Of each number of appearances the value that is farthest from what is expected."""
    worst: dict[str, Facts] = {}
    for cell in sorted(cells, key=_presence_strength):
        worst[cell["appearances"]] = cell
    return [worst[name] for name in dict.fromkeys(cell["appearances"] for cell in cells)]


def _presence_strength(cell: Facts) -> tuple[float, float]:
    low, high, ratio = (float(cell[name]) for name in ("low", "high", "log_ratio"))
    return max(low, -high), abs(ratio)
