"""`discreet.release`: the front door of all releases."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, Literal

from discreet._support.errors import DiscreetWarning
from discreet.mechanism import Mechanism
from discreet.releasing.pipeline import Released, run
from discreet.releasing.request import Request

__all__ = ["release"]


def release(
    table: Any,
    mechanism: Mechanism,
    *,
    key: Any = None,
    seed: int | None = None,
    id: str | None = None,
    keep: Sequence[str] | Literal["all"] = (),
    uncovered: Sequence[str] = (),
    as_values: bool | None = None,
    output: str | os.PathLike[str] | None = None,
    engine: str = "auto",
    **options: Any,
) -> Any:
    """Release a table: every useful value replaced by a draw from the mechanism.

    Before a row is drawn, the pairs (S, X) of this very table are counted and the promise is checked on them in
    integers; a release that would break it is refused.

    Parameters
    ----------
    table : frame or path
        pandas, Polars, Arrow, a DuckDB relation, a Spark DataFrame, or a path of CSV or Parquet files.
    mechanism : Mechanism
        What is drawn from.
    key : ReleaseKey, bytes or path, optional
        The secret of the draw: the same key, mechanism, record and value always give the same release, so that
        repeated releases tell nothing new. Another key or another mechanism draws anew, and several draws together
        tell more than one. Left out: a fresh key.
    seed : int, optional
        Instead of a key, for tests: the release can be repeated by anyone and protects nobody.
    id : str, optional
        Column of unique integers or texts; left out, the place of a row serves where it is stable. An id must stay
        with its person from table to table: given to somebody else, both would share their draw.
    keep : list of str or "all"
        Further columns to publish as they are. The promise is decided on all of them and the released value together,
        and where it does not cover them the release is refused.
    uncovered : list of str
        Kept columns that are published all the same, outside the promise; a warning and the certificate name them.
    as_values : bool, optional
        True: the useful columns come back in their own values and types, null as null; each released symbol becomes a
        value drawn from what it stands for, in one step (`Mechanism.in_values` with the counts of this table). False:
        symbols are published as labels. Left out: values where the symbols of a design are values or mixtures of
        them, and ``rename`` does not ask for one column in the place of several.
    output : path, optional
        Where the table is written, with its certificate and codebook beside it; left out, frames come back as frames.
        Where few records stand behind values, the codebook is private and the public certificate tells no mechanism.
    engine : "auto", "duckdb" or "spark"
        Who does the work.
    **options
        ``person``, the column that the records of a person share, where a person has several: the promise is then
        checked for all of them together; ``rename`` of the released column; ``shuffle`` for a keyed random order,
        without the id unless ``publish_id`` asks for it; ``unseen="suppress"`` and ``suppress_as``; ``notion`` to check
        instead of the mechanism's own; ``trust_design`` where the table has no S; ``publish_sensitive``; ``force``,
        ``memory_limit``, ``master``.
        With an ``output``: ``certificate=False`` writes none, ``private_certificate`` names a file for the counts and
        the ``proof`` of the bound, and ``write_key`` one for the key, which their owner alone may read;
        ``public_counts`` publishes the counts of (S, X) with the certificate, so that anyone can verify it.
        ``sign`` names an Ed25519 private key of OpenSSH that signs the public certificate; ``ledger`` a private record
        of all releases about the same people, with which the promise must hold together (`discreet.Ledger`); a promise
        that does not imply those of earlier releases is refused there unless ``looser=True`` lets go of them.

    Returns
    -------
    frame or path
        The released table, of the kind that was given; ``output`` where that was given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import LIP, Joint, design
    >>> table = pa.table({"ill": [0, 1, 0, 1, 1, 0] * 20, "job": ["a", "b", "b", "a", "b", "c"] * 20})
    >>> mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.5)).mechanism
    >>> release(table, mechanism, seed=1, shuffle=True).column_names
    ['job']
    """
    asked = {"id": id, "keep": keep, "uncovered": uncovered, "as_values": as_values, "output": output, "engine": engine}
    done = run(Request.of(table, mechanism, key=key, seed=seed, **asked, **options))
    _warn_of_uncovered(done)
    return done.table


def _warn_of_uncovered(done: Released) -> None:
    left_out = done.beside.uncovered_columns
    if left_out:
        covered = ", ".join((*done.plan.released, *done.beside.covered))
        warnings.warn(
            f"the promise covers {covered}; it does not cover {', '.join(left_out)}", DiscreetWarning, stacklevel=3
        )
