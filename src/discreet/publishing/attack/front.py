"""`attack`: try to learn S from a release."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet._support import progress, validate
from discreet._support.errors import InputError
from discreet.notions import Notion
from discreet.publishing.attack.columns import cell_pairs
from discreet.publishing.attack.correspondence import check_correspondence, moved_rows
from discreet.publishing.attack.measuring import LEAST_ROWS, attacked
from discreet.publishing.attack.models import chosen_models
from discreet.publishing.attack.reading import Link, read_pair
from discreet.publishing.attack.record import Attack
from discreet.publishing.attack.secret import secret_of
from discreet.publishing.attack.standing import standing_beside, standing_elsewhere
from discreet.publishing.attack.verdict import promised
from discreet.publishing.attack.written import written_beside
from discreet.twins.cells import Cells

__all__ = ["Attack", "attack"]


def attack(
    original: Any,
    released: Any,
    sensitive: str | Sequence[str],
    notion: Notion | None = None,
    id: str | None = None,
    *,
    useful: str | Sequence[str] | None = None,
    person: str | None = None,
    models: str | Sequence[str] = "all",
    seed: int = 0,
    confidence: float = 0.95,
) -> Attack:
    r"""What models, counting and the presence of tuples tell about S: in the original, and in its release.

    .. math:: \log \frac{P(s \mid \text{part})}{P(s)}

    Records are split at random. Models learn S from one half, as published and as it was; the other half, which they
    have not seen, is cut into parts by their beliefs, and S is counted in each. Models of the original are applied to
    the release as well. A release may come from any tool.

    Parameters
    ----------
    original, released : frame or path
        pandas, Polars, Arrow, a DuckDB relation, or a path of CSV or Parquet; rows correspond by their places.
    sensitive : str or sequence of str
        Columns of the original that are secret. Numbers of many values are cut into five parts, null is a value.
    notion : Notion, optional
        The promise that is judged. Of `LDP` what it says about single lifts.
    id : str, optional
        Column of both tables by which rows correspond.
    useful : str or sequence of str, optional
        Columns that both tables share and that are used; all where left out. What the release alone has is always used.
    person : str, optional
        Column of the original that says whom a row is about. Models that learn from some rows of a person are not
        measured on others of the same.
    models : "all" or sequence of str
        Of "boosting", "neighbours", "logistic", "bayes" and "counting".
    seed : int
        Of the halves and the models: the same seed gives the same attack.
    confidence : float
        With which all limits hold at once, between 0 and 1.

    Returns
    -------
    Attack
        With ``before``, ``after``, ``presence`` and ``verdict``: "broken" where some limit lies beyond the promise
        altogether, "undecided" where some estimate lies beyond twice the budget and by itself beyond chance, or where
        some of the release could not be looked at, else "not broken". Nothing proves that no better attack exists.

    Notes
    -----
    P(s) is its share in the whole original, and taken as known; limits of other shares are those of [CP34]_, divided
    among all parts of all models and the cells of the attack by presence, whose limits are those of [GAR36]_. A release
    whose rows agree with the original no better than by chance is refused: it would look safe.

    Examples
    --------
    >>> import pyarrow as pa
    >>> job = ["clerk", "nurse", "pilot", "smith"] * 100
    >>> table = pa.table({"job": job, "ill": [name in ("clerk", "nurse") for name in job]})
    >>> found = attack(table, table.select(["job"]), "ill", models=["bayes", "counting"])
    >>> round(found.after.log_max_lift, 3), found.after.auc, found.verdict
    (0.693, 1.0, None)
    """
    secret_names = validate.as_columns(sensitive, "sensitive")
    shared_names = None if useful is None else validate.as_columns(useful, "useful")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, got {seed!r}.")
    chosen_models(models)
    promised(notion)  # both refused before any work is done
    with progress.stage("reading the tables"):
        pair = read_pair(original, released, secret_names, shared_names, id, person)
    if pair.rows < LEAST_ROWS:
        raise InputError(f"an attack needs at least {LEAST_ROWS} rows that correspond, got {pair.rows}.")
    secret = secret_of(list(pair.secret.items()))
    known = {name: column for name, column in pair.original.items() if name not in secret_names}
    cells = cell_pairs(known, pair.released)
    beside = written_beside(known, pair.released, cells.before, cells.after)
    standing = _standing(cells.before, cells.after, pair.link)
    beside = (*beside[0], *standing[0]), (*beside[1], *standing[1])
    doubts = check_correspondence(cells.before, cells.after, cells.shared, seed, by_id=id is not None)
    moved = moved_rows(cells.before, cells.after, cells.shared) if id is None else ()
    return attacked(
        cells.before,
        cells.after,
        secret.codes[pair.places],
        secret.values,
        notion=notion,
        seed=seed,
        models=models,
        confidence=confidence,
        shared=cells.shared,
        prior=secret.shares,
        beside=beside,
        persons=pair.persons,
        sensitive=secret_names,
        notes=(*pair.notes, *doubts, *moved, *secret.notes, *cells.notes),
        # An id is taken at its word.
        unchecked=(*pair.unchecked, *cells.unchecked, *(doubts if id is None else ())),
    )


def _standing(
    original: Sequence[Cells], released: Sequence[Cells], link: Link | None
) -> tuple[tuple[Cells, ...], tuple[Cells, ...]]:
    """What whoever has the tables sees of where rows stand, and of the ids that link them."""
    if link is None:
        return standing_beside(original), standing_beside(released)
    return (link.ids,), (*standing_elsewhere(released, link.places), link.ids)
