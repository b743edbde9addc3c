"""Spark DataFrames published by Spark: learned from a sample, classified, counted and drawn where their rows are.

The driver sees a sample, counts and nothing else. Models and classes follow from the sample; every row gets its class
from them, and the counts of (S, class), on which the design and its confidence rest, are those of all records. Twins
are looked for inside partitions that hold every class in equal proportions, so that in each of them, and in all, every
record of a class appears as often as any other.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import urllib.parse
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from weakref import WeakSet

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError, InternalError
from discreet._support.numeric import IntArray
from discreet._support.version import version
from discreet.core.joint import Joint
from discreet.drawing.keys import ReleaseKey
from discreet.publishing import spark_tasks as tasks
from discreet.publishing.asked import Asked
from discreet.publishing.beliefs import stronger_model
from discreet.publishing.finishing import Ending, finished
from discreet.publishing.fitting import (
    Counted,
    Learned,
    Settings,
    designed,
    joint_of,
    learn_classes,
    redesigned,
    weights_of,
)
from discreet.publishing.making import Tried, Wishes, attacks_on, draw_key, first_not_broken, order_key, seed_of
from discreet.publishing.note import Note
from discreet.publishing.pilot import rule_from
from discreet.publishing.publication import Publication
from discreet.publishing.quality import Quality, quality_of
from discreet.publishing.reading import (
    CHOICE_DIGITS,
    PILOT_ONE_IN,
    Subject,
    are_few,
    check_persons,
    check_rows,
    folds_key,
    subject_of,
)
from discreet.publishing.roles import ID_NAMES, MOST_LOOKED_AT, Roles, may_be_id, roles_of, tells_who
from discreet.publishing.writing import Files, Wanted, open_files
from discreet.releasing.certification import output_digest
from discreet.releasing.engines.spark import check_known_answers, check_names_for_files
from discreet.releasing.transaction import writing
from discreet.tables.arrow import integers, whole
from discreet.tables.dialect import SPARK
from discreet.tables.digest import row_digest
from discreet.tables.session import Table
from discreet.tables.spark import SparkTable, answering, path_of
from discreet.tables.spark_counts import tallied
from discreet.twins.cells import Cells, cells_of
from discreet.twins.distance import Distance
from discreet.twins.records import Records, digits_of, hash_expression
from discreet.twins.secret import SecretRule

__all__ = ["publish_spark"]

#: Records that are learned from and attacked, about.
SAMPLE = 200_000

#: Rows of a partition that twins are looked for in, about, and fewest records of a class in each.
PARTITION, FEWEST_TOGETHER = 200_000, 20

#: Share of different cells, as sketched, from which a column is looked at more closely for being an id: a little less
#: than texts need, and columns whose name says id.
SKETCHED, SKETCHED_BY_NAME = 0.3, 0.045

#: Hexadecimal digits that choose the sample; digits of a draw that neither class nor twin follow from.
SAMPLE_DIGITS, OTHER_DIGITS = 12, "41, 24"

#: What a record carries along when it is published: its name, whether it is in the sample, its place.
CARRIED = ("digest", "number", "shown", "place")

#: Fewest records of a leaf in forests that are sent to workers.
LEAF = 50

HOW = (
    "the class of a record is what the models of the other folds and their edges say of its useful cells. Models were "
    "learned from a sample that the key chose: to have them again, publish the table with the same key and versions"
)

#: Sessions whose workers have what they need.
_ASKED: WeakSet[Any] = WeakSet()


def publish_spark(frame: Any, asked: Asked, wishes: Wishes) -> Publication:
    """Publish a DataFrame; see `discreet.publish`."""
    if not asked.shuffle:
        raise InputError(
            "Spark keeps no order of rows, so shuffle=False cannot be had. Leave it out, or publish files or a frame "
            "in memory."
        )
    if wishes.counted:
        raise InputError("counted beliefs need the table in memory: publish files or a frame of another library.")
    session = frame.sparkSession
    with ExitStack() as stack:
        stack.enter_context(answering(session, "the table"))
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")  # about pandas, which is not used
        written = _files(frame, asked.wanted, stack)
        check_known_answers(session)
        _check_workers(session)
        table = SparkTable(frame)
        roles = roles_of(table, asked.sensitive, asked.useful, asked.drop, asked.person, is_id=_Ids(table))
        wishes = replace(wishes, weights=weights_of(wishes.weights, roles.useful))
        work = _Work(table, roles, asked.key, wishes, stack.enter_context(_Held()))
        work.read(each=asked.each)
        rule = rule_from(
            work.subject.table,
            roles.sensitive,
            work.subject.pilot,
            each=asked.each,
            bins=asked.bins,
            least_share=asked.least_share,
            elsewhere=work.elsewhere,
        )
        n_labels = len(rule.read(work.subject.table, work.subject.turns).labels)
        made = first_not_broken(partial(work.attempt, rule), wishes, n_labels, asked.is_late, work.subject)
        ending = Ending(
            files=written,
            asked=asked,
            rows=work.rows,
            inputs=list(table.kinds),
            engine="spark",
            content=table.content,
            write=lambda: work.write(made, written),
            check=table.check_unchanged,
            more={"sample": len(work.subject), "partitions": made.parts, "coupling": "within partitions"},
            notes=work.notes,
        )
        redo = {"how": HOW, "sample": str(len(work.subject)), "partitions": str(made.parts)}
        return finished(ending, work.subject, made, wishes, made.quality, redo, np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Tried(Tried):
    """What one try made.

    Attributes
    ----------
    frame : DataFrame
        Published rows beside what they carry, kept by Spark.
    classified : DataFrame
        All records in their classes, kept by Spark.
    parts : int
        Partitions that twins were looked for in.
    quality : Quality
        Of all rows; shares of values and associations are the sample's.
    """

    frame: Any
    classified: Any
    parts: int
    quality: Quality


class _Work:
    """One DataFrame on its way; columns have short names inside."""

    def __init__(self, table: SparkTable, roles: Roles, key: ReleaseKey, wishes: Wishes, held: _Held) -> None:
        self.table, self.roles, self.key, self.wishes, self.held = table, roles, key, wishes, held
        self.names = {
            **{f"u{k}": name for k, name in enumerate(roles.useful)},
            **{f"s{k}": name for k, name in enumerate(roles.sensitive)},
            **({} if roles.person is None else {"p": roles.person}),
        }
        self.useful = [f"u{k}" for k in range(len(roles.useful))]
        self.rows = 0
        self.subject: Subject
        self.records: Any

    def read(self, *, each: bool) -> None:
        """Number equal records, and bring a sample here."""
        with progress.stage("reading the table"):
            self.rows = int(tallied(self.table.frame, {}).column(0)[0].as_py())
            check_rows(self.rows, self.table.name)
            self.records = self.held.keep(self._numbered())
            if self.roles.person is None and are_few(self._numbers(), self.rows):
                self.records = self.held.keep(self._one_by_one())
            persons = self._persons()
            found = self.records.where("shown").drop("shown").toArrow()
            check_rows(len(found), "a sample of the table")
            digests, numbers = digits_of(found.column("digest")), integers(found.column("number"))
            order = np.lexsort((numbers, digests))
            found = found.take(order)
            renamed = found.select(list(self.names)).rename_columns(list(self.names.values()))
            records = Records.of(renamed, digests[order], numbers[order])
            n_turns = len(self.roles.sensitive) if each else 1
            chosen = digits_of(found.column("chosen"))
            self.subject = subject_of(records, self.roles, chosen, n_turns=n_turns, persons=persons)
            Distance([cells.taken(order[:0]) for cells in self.subject.cells], self.wishes.weights)  # checks weights

    def _numbered(self) -> Any:
        """All rows with the digest of their useful cells, what it chooses, and which of equal records each is."""
        base = self.table.frame.selectExpr(*[f"{SPARK.identifier(name)} AS {own}" for own, name in self.names.items()])
        digested = base.selectExpr("*", f"{row_digest(SPARK, self.useful)} AS digest")
        whose = "digest" if self.roles.person is None else SPARK.as_text("p")
        chosen = _keyed(digested, {"chosen": (folds_key(self.key), [whose])})
        by = ", ".join(["chosen", *(own for own in self.names if own.startswith("s"))])
        numbered = chosen.selectExpr("*", f"row_number() OVER (PARTITION BY digest ORDER BY {by}) AS number")
        if self.rows <= SAMPLE:
            return numbered.selectExpr("*", "true AS shown")
        below = f"{(SAMPLE << 4 * SAMPLE_DIGITS) // self.rows:0{SAMPLE_DIGITS}x}"
        hashed = _keyed(numbered, {"h": (self.key.derive("twins-sample").hex(), ["digest", SPARK.as_text("number")])})
        return hashed.selectExpr("*", f"substr(h, 1, {SAMPLE_DIGITS}) < '{below}' AS shown").drop("h")

    def _numbers(self) -> int:
        """The sum of the numbers that equal records have."""
        return int(self.records.selectExpr("sum(number) AS n").toArrow().column(0)[0].as_py())

    def _one_by_one(self) -> Any:
        """All rows with choices of their own but for the fold, as `reading.joined_choices` makes them."""
        own = _keyed(self.records, {"own": (folds_key(self.key), ["digest", SPARK.as_text("number")])})
        joined = f"substr(chosen, 1, {CHOICE_DIGITS}) || substr(own, {CHOICE_DIGITS + 1}) AS chosen"
        return own.selectExpr(*[name for name in self.records.columns if name != "chosen"], joined)

    def _persons(self) -> int | None:
        if self.roles.person is None:
            return None
        found = self.records.selectExpr("count(DISTINCT p) AS n", "count(*) - count(p) AS nulls").toArrow()
        check_persons(self.roles.person, int(found.column("nulls")[0].as_py()))
        return int(found.column("n")[0].as_py())

    @property
    def is_sampled(self) -> bool:
        """Whether the driver sees a part of the records only."""
        return len(self.subject) < self.rows

    @property
    def columns(self) -> tasks.Columns:
        """How workers read rows."""
        ways = tuple(cells.way for cells in self.subject.cells)
        return tasks.Columns(self.roles.useful, self.roles.sensitive, ways)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is to be told with the publication."""
        if not self.is_sampled:
            return ()
        text = (
            f"learned from and attacked on {len(self.subject):,} of {self.rows:,} records, which the key chose; shares "
            "of values and associations are theirs too. Counts, promise and unchanged rows are those of all"
        )
        return (Note("sampled", text),)

    def elsewhere(self, rule: SecretRule, known: list[list[str]]) -> list[bool]:
        """Of each secret whether records outside of the sample have labels that it lacks."""
        if not self.is_sampled:
            return [False] * len(known)
        work = tasks.by_batches(_shipped(tasks.Census(self.columns, rule, known)))
        secrets = self.records.select(*[own for own in self.names if own.startswith("s")]).distinct()
        found = secrets.mapInArrow(work, "secret int, n bigint").groupBy("secret").sum("n").toArrow()
        there = {row["secret"]: row["sum(n)"] > 0 for row in found.to_pylist()}
        return [there.get(k, False) for k in range(len(known))]

    def attempt(self, rule: SecretRule, settings: Settings, before: _Tried | None) -> _Tried:
        """Fit, count by Spark, draw by Spark, and attack the sample."""
        if before is None:
            self.held.drop_all_but(self.records)
            counted, classified = self._counted(rule, settings)
        else:
            self.held.drop_all_but(self.records, before.classified)
            counted, classified = redesigned(before.counted, settings), before.classified
        with progress.stage("looking for twins"):
            parts = partitions_of(self.rows, counted.sizes)
            work = tasks.Twins(self.columns, counted.fitted.mechanism, self.wishes.weights or {}, CARRIED)
            drawn = self.held.keep(_drawn(classified, work, self._keys(counted), parts))
            tally = self._tally(drawn)
        old, new = self._sides(drawn)
        attacks = attacks_on(self.subject, old, new, counted, self.wishes, seed_of(self.key))
        quality = self._quality(old, new, tally)
        return _Tried(
            counted=counted,
            attacks=attacks,
            frame=drawn,
            classified=classified,
            parts=parts,
            quality=quality,
        )

    def _keys(self, counted: Counted) -> dict[str, str]:
        """Secrets of the draw and of the order, which is another one for another table."""
        mechanism, counts = counted.fitted.mechanism, np.asarray(counted.joint.counts).tolist()
        content = f"{self.subject.records.content} {self.rows} {counts}"
        return {"draw": draw_key(self.key, mechanism), "place": order_key(self.key, mechanism, content)}

    def _counted(self, rule: SecretRule, settings: Settings) -> tuple[Counted, Any]:
        """What the sample teaches, and all records in their classes."""
        n_counted = self.rows - self.rows // PILOT_ONE_IN if self.is_sampled else None
        if settings.make is stronger_model:
            settings = replace(settings, make=partial(stronger_model, leaf=LEAF))
        learned = learn_classes(self.subject, rule, settings, seed_of(self.key), n_counted)
        with progress.stage("classifying and counting all records"):
            classified = self.held.keep(self._classified(learned, rule, settings.n_folds))
            joint, sizes = _counts(classified, learned, rule)
        return designed(self.subject, rule, settings, learned, joint, sizes), classified

    def _classified(self, learned: Learned, rule: SecretRule, n_folds: int) -> Any:
        from pyspark.sql.types import IntegerType, StringType, StructField, StructType

        carried = (*self.useful, "digest", "number", "shown")
        models = learned.encoder, learned.beliefs, learned.classes
        counts_all = self.wishes.notion.confidence is None
        work = tasks.Classifier(self.columns, *models, rule, n_folds, carried, counts_all)
        added = [("class", IntegerType()), ("turn", IntegerType()), ("label", StringType())]
        kept = [self.records.schema[name] for name in carried]
        schema = StructType([*kept, *(StructField(name, kind) for name, kind in added)])
        return self.records.mapInArrow(tasks.by_batches(_shipped(work)), schema)

    def _tally(self, drawn: Any) -> dict[str, int]:
        """Rows, and how many of them and of their cells are as they were."""
        names = ["same", *(f"same{k}" for k in range(len(self.useful)))]
        asked = ["count(*) AS n", *(f"count_if({name}) AS {name}" for name in names)]
        found: dict[str, int] = drawn.selectExpr(*asked).toArrow().to_pylist()[0]
        if found["n"] != self.rows:
            raise InternalError(f"Spark published {found['n']} of {self.rows} rows.")
        return found

    def _sides(self, drawn: Any) -> tuple[list[Cells], list[Cells]]:
        """Useful cells of the sample and what is published for them, in one code."""
        import pyarrow as pa

        records = self.subject.records
        found = drawn.where("shown").select(*self.useful, "digest", "number").toArrow()
        digests, numbers = digits_of(found.column("digest")), integers(found.column("number"))
        order = np.lexsort((numbers, digests))
        if not (np.array_equal(digests[order], records.digests) and np.array_equal(numbers[order], records.numbers)):
            raise InternalError("Spark published other records than it read. Is its table another one each time?")
        before, after = [], []
        for own, cells in zip(self.useful, self.subject.cells):
            first, second = (whole(column) for column in (records.table.column(cells.name), found.column(own)))
            both = cells_of(cells.name, pa.concat_arrays([first, second.take(order)]), cells.way)
            before.append(both.taken(slice(0, len(first))))
            after.append(both.taken(slice(len(first), None)))
        return before, after

    def _quality(self, before: Sequence[Cells], after: Sequence[Cells], tally: Mapping[str, int]) -> Quality:
        sampled = quality_of(before, after)
        columns = {
            name: replace(sampled.columns[name], unchanged=tally[f"same{k}"] / self.rows)
            for k, name in enumerate(self.roles.useful)
        }
        return replace(sampled, unchanged=tally["same"] / self.rows, columns=columns)

    def write(self, made: _Tried, files: Files | None) -> tuple[Any, Any]:
        """The published rows in their order, as a DataFrame that Spark keeps or as files."""
        from pyspark.sql import functions

        own = {one.name: one for one in self.table.frame.schema.fields}
        shown = [
            functions.col(short).alias(name, metadata=own[name].metadata)
            for short, name in zip(self.useful, self.roles.useful)
        ]
        ordered = made.frame.orderBy("place").select(*shown)
        with progress.stage("writing the table"):
            if files is None:
                kept = ordered.persist(_level())
                if kept.count() != self.rows:
                    raise InternalError("Spark lost rows while it put them in order.")
                return kept, None
            staged = files.transaction.stage(files.targets.output)
            with writing(files.targets.output):
                ordered.write.mode("error").parquet(str(staged))
        return str(files.targets.output), output_digest(staged)


@dataclass
class _Held:
    """DataFrames that Spark keeps until the publication is made."""

    frames: list[Any] = field(default_factory=list)

    def __enter__(self) -> _Held:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop_all_but()

    def keep(self, frame: Any) -> Any:
        """Let Spark keep what it computes."""
        self.frames.append(frame.persist(_level()))
        return self.frames[-1]

    def drop_all_but(self, *kept: Any) -> None:
        """Let it forget."""
        for frame in self.frames:
            if not any(frame is one for one in kept):
                frame.unpersist()
        self.frames = [frame for frame in self.frames if any(frame is one for one in kept)]


class _Ids:
    """Which columns tell who a person is: sketched for all columns at once, counted for those that may."""

    def __init__(self, table: SparkTable) -> None:
        self._table, self._sketches = table, dict[str, tuple[int, int]]()

    def __call__(self, _: Table, column: str) -> bool:
        table, name = self._table, SPARK.identifier(column)
        if not may_be_id(table.kinds[column]):
            return False
        if not self._sketches:
            self._sketch()
        given, about = self._sketches[column]
        if about < (SKETCHED_BY_NAME if ID_NAMES.search(column) else SKETCHED) * given:
            return False
        different = int(table.aggregate(f"count(DISTINCT {name}) AS n").column(0)[0].as_py())
        some = f"SELECT DISTINCT {name} AS v FROM {table.view} LIMIT {MOST_LOOKED_AT}"
        return tells_who(column, table.kinds[column], given, different, lambda: table.query(some).toArrow().column(0))

    def _sketch(self) -> None:
        columns = [column for column, kind in self._table.kinds.items() if may_be_id(kind)]
        asked = dict[str, str]()
        for k, name in enumerate(map(SPARK.identifier, columns)):
            asked |= {f"given{k}": f"count({name})", f"about{k}": f"approx_count_distinct({name})"}
        found = tallied(self._table.frame, asked).to_pylist()[0]
        self._sketches = {name: (found[f"given{k}"], found[f"about{k}"]) for k, name in enumerate(columns)}


def partitions_of(rows: int, sizes: IntArray) -> int:
    """Into how many partitions all classes can be dealt out.

    >>> partitions_of(1_000_000, np.array([400_000, 600_000])), partitions_of(1_000_000, np.array([50, 999_950]))
    (5, 2)
    """
    return int(np.clip(-(-rows // PARTITION), 1, max(1, int(sizes.min()) // FEWEST_TOGETHER)))


def dealt_out(classified: Any, parts: int) -> Any:
    """Rows with their partition: those of a class one after the other, in an order that the key decides."""
    rank = f"row_number() OVER (PARTITION BY class ORDER BY substr(draw, {OTHER_DIGITS}), digest, number)"
    return classified.selectExpr("*", f"CAST(({rank} - 1) % {parts} AS INT) AS part")


def _drawn(classified: Any, work: tasks.Twins, secrets: Mapping[str, str], parts: int) -> Any:
    """Every row as it is published, beside what it carries along."""
    from pyspark.sql.types import BooleanType, StringType, StructField, StructType

    record = ["digest", SPARK.as_text("number")]
    own = [field for field in classified.schema.fields if field.name.startswith("u")]
    needed = [*(field.name for field in own), "class", "digest", "number", "shown"]
    keys = {name: (secret, record) for name, secret in secrets.items()}
    dealt = dealt_out(_keyed(classified.select(*needed), keys), parts)
    carried = [
        StructField("place", StringType()) if name == "place" else classified.schema[name] for name in work.carried
    ]
    told = [StructField(f"same{k}", BooleanType()) for k in range(len(own))]
    schema = StructType([*own, *carried, *told, StructField("same", BooleanType())])
    together = dealt.repartitionByRange(parts, "part").groupBy("part")
    return together.applyInArrow(tasks.by_groups(_shipped(work)), schema)


def _counts(classified: Any, learned: Learned, rule: SecretRule) -> tuple[Joint, IntArray]:
    """Counts of (S, class) over the records that count, and how many records every class has in all."""
    from pyspark.sql import functions

    asked = [functions.expr("count(*)").alias("n"), functions.expr("count_if(turn >= 0)").alias("counted")]
    found = classified.groupBy("label", "class").agg(*asked).toArrow().to_pylist()
    names = learned.classes.labels
    labels = sorted({row["label"] for row in found})
    place = {label: k for k, label in enumerate(labels)}
    cells, sizes = np.zeros((len(labels), len(names)), dtype=np.int64), np.zeros(len(names), dtype=np.int64)
    for row in found:
        cells[place[row["label"]], row["class"]] = row["counted"]
        sizes[row["class"]] += row["n"]
    if not sizes.all():
        raise InternalError("a class of the sample has no record in the table.")
    return joint_of(labels, names, cells, rule), sizes


def _keyed(frame: Any, asked: Mapping[str, tuple[str, list[str]]]) -> Any:
    """A DataFrame with keyed digests of texts; keys are cells of a table, so that no plan shows them."""
    from pyspark.sql import functions

    names = [f"k{k}" for k in range(len(asked))]
    held = frame.sparkSession.createDataFrame(
        [tuple(key for key, _ in asked.values())], ", ".join(f"{name} string" for name in names)
    )
    hashes = [
        f"{hash_expression(SPARK, key, *texts)} AS {name}" for key, (name, (_, texts)) in zip(names, asked.items())
    ]
    return frame.crossJoin(functions.broadcast(held)).selectExpr(*frame.columns, *hashes)


def _shipped(work: Any) -> bytes:
    """An object for workers, models of the caller's own classes included."""
    from pyspark import cloudpickle

    pickler: Any = cloudpickle
    try:
        made: bytes = pickler.dumps(work)
    except Exception as error:  # an estimator fails in its own ways
        raise InputError(
            f"the model cannot be sent to the workers of Spark ({type(error).__name__}). Leave model out, or give an "
            "estimator that can be pickled."
        ) from None
    return made


def _level() -> Any:
    from pyspark import StorageLevel

    return StorageLevel.MEMORY_AND_DISK


def _check_workers(session: Any) -> None:
    """Workers have this library, in this version, and scikit-learn; each session is asked once."""
    if session in _ASKED:
        return
    try:
        found = session.range(1).mapInArrow(tasks.probe, "version string").collect()
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        found = []
    if [row["version"] for row in found] != [version()]:
        raise InputError(
            f"the workers of Spark need the same as its driver: pip install 'discreet[tables]=={version()}' into the "
            "Python that they run (PYSPARK_PYTHON)."
        )
    _ASKED.add(session)


def _files(frame: Any, wanted: Wanted, stack: ExitStack) -> Files | None:
    """Where a folder of Parquet files goes, outside of what is read."""
    read = []
    if wanted.output is not None:
        check_names_for_files(frame.columns)
        uris = [uri for uri in frame.inputFiles() if uri.startswith("file:")]
        read = [os.path.abspath(urllib.parse.unquote(path_of(uri))) for uri in uris]
    return open_files(frame, wanted, stack, is_folder=True, files=read)
