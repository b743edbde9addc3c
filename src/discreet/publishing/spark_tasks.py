"""What the workers of Spark do for a publication: classes of rows, labels that a sample lacks, twins in a partition.

Rows come and go as Arrow tables, a stripe or a partition at a time, and their columns have short names: u0, u1, ... are
useful, s0, s1, ... sensitive. Nothing here depends on which rows happen to be together, but for the twins, which are
looked for among those of one partition.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.version import version
from discreet.mechanism import Mechanism
from discreet.publishing.beliefs import Beliefs
from discreet.publishing.classes import Classes
from discreet.publishing.features import Encoder
from discreet.publishing.reading import choices
from discreet.tables.arrow import column_of, integers
from discreet.twins.cells import Cells, cells_of
from discreet.twins.distance import Distance
from discreet.twins.draw import coupled, sources
from discreet.twins.records import digits_of
from discreet.twins.secret import SecretRule

__all__ = ["Census", "Classifier", "Columns", "Twins", "by_batches", "by_groups", "probe"]

#: Rows that are worked on at once.
STRIPE = 50_000

#: One worker is one thread: Spark has as many of them as it has cores, and sums come in one order.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}

Batches = Iterator[Any]


@dataclass(frozen=True)
class Columns:
    """The columns of a table by their roles, and how texts of the useful ones are read."""

    useful: tuple[str, ...]
    sensitive: tuple[str, ...]
    ways: tuple[str | None, ...]

    def cells(self, table: Any) -> list[Cells]:
        """Useful columns, each read as the sample's is."""
        return [cells_of(name, table.column(f"u{k}"), way) for k, (name, way) in enumerate(zip(self.useful, self.ways))]

    def secret(self, table: Any) -> Any:
        """Sensitive columns under their names."""
        return table.select([f"s{k}" for k in range(len(self.sensitive))]).rename_columns(list(self.sensitive))


@dataclass(frozen=True, eq=False)
class Classifier:
    """From rows to classes, and to the labels that are counted in them."""

    columns: Columns
    encoder: Encoder
    beliefs: Beliefs
    classes: Classes
    rule: SecretRule
    n_folds: int
    carried: tuple[str, ...]
    counts_all: bool = False

    def __call__(self, table: Any) -> Any:
        """What is carried along of the rows, with their class, turn and label."""
        import pyarrow as pa

        folds, _, turns = choices(digits_of(table.column("chosen")), self.n_folds, self.rule.n_turns)
        turns = np.maximum(turns, 0) if self.counts_all else turns
        told = self.beliefs.of(self.encoder.features(self.columns.cells(table)), folds)
        secret = self.rule.read(self.columns.secret(table), turns)
        label = pa.array(secret.labels, pa.string()).take(column_of(secret.codes))
        made = {"class": self.classes.of(told, folds).astype(np.int32), "turn": turns.astype(np.int32)}
        found = table.select(list(self.carried))
        for name, values in made.items():
            found = found.append_column(name, column_of(values))
        return found.append_column("label", label)


@dataclass(frozen=True, eq=False)
class Census:
    """How many rows, all of them different, have labels of a secret that the sample lacks."""

    columns: Columns
    rule: SecretRule
    known: Sequence[Sequence[str]]

    def __call__(self, table: Any) -> Any:
        """One row for each secret."""
        import pyarrow as pa

        labels = self.rule.columns_of(self.columns.secret(table))
        strange = [int((~np.isin(own.astype(str), known)).sum()) for own, known in zip(labels, self.known)]
        return pa.table({"secret": pa.array(range(len(strange)), pa.int32()), "n": pa.array(strange, pa.int64())})


@dataclass(frozen=True, eq=False)
class Twins:
    """Rows of a partition as they are published, and which cells are as they were."""

    columns: Columns
    mechanism: Mechanism
    weights: Mapping[str, float]
    carried: tuple[str, ...]

    def __call__(self, table: Any) -> Any:
        """Useful cells that are published for each row, beside what is carried along of the row itself."""
        import pyarrow as pa

        table = table.sort_by("draw")
        hashes, classes = digits_of(table.column("draw")), integers(table.column("class"))
        cells = self.columns.cells(table)
        coupling = coupled(hashes, classes, self.mechanism, Distance(cells, self.weights))
        drawn = sources(hashes, classes, self.mechanism, coupling)
        useful = [f"u{k}" for k in range(len(cells))]
        published = table.select(useful).take(column_of(drawn))
        same = [own.codes == own.codes[drawn] for own in cells]
        made = {name: published.column(name) for name in useful} | {name: table.column(name) for name in self.carried}
        made |= {f"same{k}": pa.array(own) for k, own in enumerate(same)}
        return pa.table(made | {"same": pa.array(np.all(same, axis=0))})


def by_batches(shipped: bytes) -> Callable[[Batches], Batches]:
    """A task for ``mapInArrow`` out of a pickled function from tables to tables."""

    def task(batches: Batches) -> Batches:
        os.environ.update(ONE_THREAD)
        work = pickle.loads(shipped)
        for table in _stripes(batches):
            yield from work(table).combine_chunks().to_batches()

    return task


def by_groups(shipped: bytes) -> Callable[[Any], Any]:
    """A task for ``applyInArrow``, which gets all rows of a group."""

    def task(table: Any) -> Any:
        os.environ.update(ONE_THREAD)
        return pickle.loads(shipped)(table)

    return task


def probe(batches: Batches) -> Batches:
    """Whether a worker has what it needs, and which version of it."""
    import pyarrow as pa
    import scipy.optimize  # noqa: F401
    import sklearn.ensemble  # noqa: F401

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": pa.array([version()])})


def _stripes(batches: Batches) -> Iterator[Any]:
    """Tables of many rows out of batches of few."""
    import pyarrow as pa

    held, rows = list[Any](), 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= STRIPE:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held)
