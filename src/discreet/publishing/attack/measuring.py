"""An attack on cells in memory: models on both sides, lifts, presence, verdict."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support import progress, validate
from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core import labels
from discreet.notions import Notion
from discreet.publishing.attack.cells import below, tuple_keys
from discreet.publishing.attack.counted import Beliefs
from discreet.publishing.attack.halves import Halves, halved
from discreet.publishing.attack.lifts import Cell, Parts, area_under_curve, cells_with_limits, parts_of
from discreet.publishing.attack.models import Model, check_library, chosen_models, learned
from discreet.publishing.attack.presence import Appearances, PresenceCell, appearances_of, presence_cells
from discreet.publishing.attack.record import Attack, Measured, Presence, Side
from discreet.publishing.attack.verdict import findings, judged, promised, with_unchecked
from discreet.publishing.features import Features, features_of
from discreet.twins.cells import Cells

__all__ = ["LEAST_ROWS", "attacked"]

#: Fewer records tell nothing about each half.
LEAST_ROWS = 100

#: What stands before the name of a model that was trained on the original and is applied to the release.
ORIGINALS = "original's "


def attacked(
    before: Sequence[Cells],
    after: Sequence[Cells],
    secret: IntArray,
    values: Sequence[Any],
    *,
    notion: Notion | None = None,
    seed: int = 0,
    models: str | Sequence[str] = "all",
    confidence: float = 0.95,
    beliefs: FloatArray | None = None,
    shared: Sequence[str] | None = None,
    prior: FloatArray | None = None,
    beside: tuple[Sequence[Cells], Sequence[Cells]] = ((), ()),
    persons: IntArray | None = None,
    sensitive: Sequence[str] = ("S",),
    notes: Sequence[str] = (),
    unchecked: Sequence[str] = (),
) -> Attack:
    """Try to learn S from a release whose rows are those of the original.

    Parameters
    ----------
    before, after : sequence of Cells
        Useful columns of the original and of the release, one code for both.
    secret : ndarray of int
        Codes of S, from 0 on.
    values : sequence
        Labels of the codes.
    notion, seed, models, confidence
        As in `discreet.attack`.
    beliefs : ndarray of shape (n, n_values), optional
        Learned without each record's own S, for the attack by presence; made here where left out.
    shared : sequence of str, optional
        The columns that are in one code, where not all of the same name are.
    prior : ndarray of float, optional
        Shares of the values in the whole original, which lifts of the release are relative to; those in ``secret``
        where left out.
    beside : pair of sequences of Cells
        What models see of each table's rows beside their tuples, such as how cells are written.
    persons : ndarray of int, optional
        A code of whom each row is about: all rows of a person are in one half. Which one follows from the code.
    sensitive, notes : sequence of str
        For the record.
    unchecked : sequence of str
        What is not looked at, in words: with any, nothing is called not broken.
    """
    chosen, allowed = chosen_models(models), promised(notion)
    confidence = validate.confidence(confidence)
    if len(secret) < LEAST_ROWS:
        raise InputError(f"an attack needs at least {LEAST_ROWS} rows that correspond, got {len(secret)}.")
    if beliefs is None:
        check_library()
    order = _order([*before, *beside[0]], [*after, *beside[1]], secret, persons, seed)
    before, after, *more = ([cells.taken(order) for cells in table] for table in (before, after, *beside))
    secret, beliefs = secret[order], None if beliefs is None else beliefs[order]
    one_code = _one_code(before, after, shared)
    halves, rows_each = halved(before, after, secret, len(values), None if persons is None else persons[order], seed)
    own = np.bincount(secret, minlength=len(values)) / len(secret)
    priors = {"before": own, "after": own if prior is None else prior}
    sides = _features([*before, *more[0]], [*after, *more[1]], one_code, halves.rows)
    tried = list(_tried(halves, sides, chosen, priors, seed))
    with progress.stage("counting appearances"):
        both = [_named(table, one_code) for table in (before, after)]
        appear = appearances_of(both[0], both[1], secret, len(values), seed, beliefs)
    cells, cells_after, present = _limited(tried, appear, priors, 1 - confidence, rows_each)
    names = labels.unique_texts(map(labels.text, values))
    found = None
    if allowed is not None:
        found = judged(findings(cells_after, present, priors["after"], names, rows_each), allowed)
        found = with_unchecked(found, unchecked)
    return Attack(
        before=_side("before", tried, cells),
        after=_side("after", tried, cells_after),
        presence=Presence.of(appear.reason, int(appear.n.sum()), present),
        verdict=None if found is None else found.word,
        reasons=() if found is None else found.reasons,
        beyond=0.0 if found is None else found.beyond,
        notion=notion,
        promised=allowed,
        sensitive=tuple(sensitive),
        values=names,
        rows=len(secret),
        trained=len(halves.trained),
        measured=len(halves.measured),
        confidence=confidence,
        seed=seed,
        notes=(*notes, *_notes(halves, one_code, appear, len(secret))),
        cells_before=cells,
        cells_after=cells_after,
    )


def _order(
    before: Sequence[Cells], after: Sequence[Cells], secret: IntArray, persons: IntArray | None, seed: int
) -> IntArray:
    """Records in an order that follows from what they are: the attack does not depend on that of the rows."""
    whose = () if persons is None else (persons,)
    return np.lexsort((*whose, secret, tuple_keys(after, seed), tuple_keys(before, seed)))


@dataclass(frozen=True, eq=False)
class _Sides:
    """Features of both tables in the order of `Halves.rows`, and of their shared columns alone."""

    before: Features
    after: Features
    shared_before: Features | None
    shared_after: Features | None


@dataclass(frozen=True, eq=False)
class _Tried:
    """One model on one side: counts, and how well it guesses."""

    when: str
    name: str
    parts: list[Parts]
    auc: float | None
    accuracy: float
    base_rate: float


def _one_code(before: Sequence[Cells], after: Sequence[Cells], shared: Sequence[str] | None) -> tuple[str, ...]:
    released = {cells.name for cells in after}
    both = [cells.name for cells in before if cells.name in released]
    return tuple(name for name in both if shared is None or name in shared)


def _named(columns: Sequence[Cells], names: Sequence[str]) -> list[Cells]:
    by_name = {cells.name: cells for cells in columns}
    return [by_name[name] for name in names]


def _features(before: Sequence[Cells], after: Sequence[Cells], one_code: Sequence[str], rows: IntArray) -> _Sides:
    first, second = ([cells.taken(rows) for cells in table] for table in (before, after))
    pooled = features_of([below(*pair) for pair in zip(_named(first, one_code), _named(second, one_code))])
    top, bottom = pooled.of(slice(0, len(rows))), pooled.of(slice(len(rows), None))
    alone = [features_of([cells for cells in table if cells.name not in one_code]) for table in (first, second)]
    if not one_code:
        return _Sides(alone[0], alone[1], None, None)
    whole = [side.beside(rest) if rest.kinds else side for side, rest in zip((top, bottom), alone)]
    return _Sides(whole[0], whole[1], top, bottom)


def _tried(
    halves: Halves, sides: _Sides, chosen: dict[str, Model], priors: Mapping[str, FloatArray], seed: int
) -> Iterable[_Tried]:
    """Every model on the original, on the release, and trained on the original and applied to the release."""
    size = len(halves.trained)

    def fitted(model: Model, features: Features, *, original: bool) -> Beliefs:
        rows = np.flatnonzero(~halves.apart) if original else np.arange(size)
        return learned(model, features.of(rows), halves.to_learn[rows], halves.n_values, seed)

    def tried(when: str, name: str, model: Model, beliefs: Beliefs, features: Features) -> _Tried:
        most = model.most_measured
        return _measured(when, name, beliefs(features.matrix[size:][:most]), halves.to_guess[:most], priors[when])

    with progress.stage("attacking") as stage:
        for done, (name, model) in enumerate(chosen.items()):
            stage.update(done, len(chosen), detail=name)
            own = fitted(model, sides.before, original=True)
            yield tried("before", name, model, own, sides.before)
            yield tried("after", name, model, fitted(model, sides.after, original=False), sides.after)
            if sides.shared_before is not None and sides.shared_after is not None:
                same = sides.shared_before is sides.before
                known = own if same else fitted(model, sides.shared_before, original=True)
                yield tried("after", ORIGINALS + name, model, known, sides.shared_after)


def _measured(when: str, name: str, beliefs: FloatArray, secret: IntArray, prior: FloatArray) -> _Tried:
    two = beliefs.shape[1] == 2
    auc = area_under_curve(beliefs[:, 1], secret == 1) if two else None
    accuracy = float((beliefs.argmax(axis=1) == secret).mean())
    base_rate = float(np.bincount(secret).max() / len(secret))
    return _Tried(when, name, parts_of(name, beliefs, secret, prior), auc, accuracy, base_rate)


def _limited(
    tried: Sequence[_Tried], appear: Appearances, priors: Mapping[str, FloatArray], alpha: float, rows_each: float
) -> tuple[tuple[Cell, ...], tuple[Cell, ...], tuple[PresenceCell, ...]]:
    """Cells before and after, and those of presence, all that the verdict looks at with equal shares of alpha."""
    before, after = ([part for one in tried if one.when == when for part in one.parts] for when in ("before", "after"))
    first, second = (sum(len(part.n) for part in parts) for parts in (before, after))
    share = alpha / (second + appear.n_cells)
    known = priors["after"]
    first_cells = cells_with_limits(before, priors["before"], alpha / first, rows_each)
    second_cells = cells_with_limits(after, known, share, rows_each)
    return first_cells, second_cells, presence_cells(appear, known, share, rows_each)


def _side(when: str, tried: Sequence[_Tried], cells: Sequence[Cell]) -> Side:
    here = [one for one in tried if one.when == when]
    by_model = {one.name: _of_model(one, [cell for cell in cells if cell.model == one.name]) for one in here}
    everything = list(by_model.values())
    known = [one.auc for one in everything if one.auc is not None]
    largest = max(everything, key=lambda one: one.log_max_lift)
    smallest = min(everything, key=lambda one: one.log_min_lift)
    return Side(
        largest.log_max_lift,
        smallest.log_min_lift,
        {
            "log_max_lift": largest.intervals["log_max_lift"],
            "log_min_lift": smallest.intervals["log_min_lift"],
        },
        max(known) if known else None,
        max(one.accuracy for one in everything),
        everything[0].base_rate,
        min(one.calibration for one in everything),
        by_model,
    )


def _of_model(one: _Tried, cells: Sequence[Cell]) -> Measured:
    largest, smallest = max(cells, key=lambda cell: cell.log_lift), min(cells, key=lambda cell: cell.log_lift)
    off = sum(abs(cell.predicted * cell.n - cell.k) for cell in cells) / sum(cell.n for cell in cells)
    limits = {"log_max_lift": (largest.low, largest.high), "log_min_lift": (smallest.low, smallest.high)}
    return Measured(largest.log_lift, smallest.log_lift, limits, one.auc, one.accuracy, one.base_rate, off)


def _notes(halves: Halves, one_code: Sequence[str], appear: Appearances, rows: int) -> Iterable[str]:
    if len(halves.trained) + len(halves.measured) < rows:
        yield (
            f"Of {rows:,} rows models were trained on {len(halves.trained):,} at most and measured on "
            f"{len(halves.measured):,} others at most."
        )
    if not one_code:
        yield "No column of the release holds values of the original, so no model of the original was applied to it."
    if appear.reason:
        yield f"The attack by presence was not tried: {appear.reason}"
