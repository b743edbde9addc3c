"""`discreet.publish`: a whole table under one promise."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from discreet._support.errors import (
    BrokenByAttackError,
    BrokenNotionError,
    DiscreetWarning,
    InputError,
    UnusableColumnError,
)
from discreet._support.numeric import IntArray
from discreet.certificate.signing_key import SigningKey
from discreet.drawing.keys import ReleaseKey
from discreet.notions import LIP, Notion
from discreet.publishing.asked import Asked, Required
from discreet.publishing.beliefs import sklearn_needed
from discreet.publishing.certification import redo_of
from discreet.publishing.entering import Entering, entering
from discreet.publishing.finishing import Ending, finished
from discreet.publishing.fitting import Counted, check_weights, count, weights_of
from discreet.publishing.making import Made, Wishes, made_in_memory, made_with, order_key, told
from discreet.publishing.note import Note
from discreet.publishing.notes import later_notes
from discreet.publishing.owners_report import reporter_of
from discreet.publishing.pilot import rule_from
from discreet.publishing.plan import PublicationPlan
from discreet.publishing.publication import Publication
from discreet.publishing.quality import quality_of
from discreet.publishing.reading import Subject, read_subject
from discreet.publishing.roles import Roles, roles_of
from discreet.publishing.writing import Files, Wanted, frame_of, open_files
from discreet.tables import frames, open_table
from discreet.tables.categories import with_unused_categories
from discreet.tables.session import DuckDBTable, Limits, is_spark
from discreet.twins.draw import ONE_FOR_ONE, coupling_of
from discreet.twins.store import overlap_of

__all__ = ["publish", "publish_later"]

#: Share of the records that a label needs for each class, below which it is gathered with others.
LEAST_SHARE = 0.006

#: Classes that a caller may ask for.
FEWEST_ASKED, MOST_ASKED = 4, 200

#: Why a later table has no confidence.
UNSURE = "limits of what the classes of this table say do not keep the promise with confidence under the earlier design"

COUNTED_WARNING = (
    "counted beliefs read every person's own secret: whoever knows somebody's useful values learns from how often they "
    "appear. Use learned beliefs to publish; these are for comparison."
)


def publish(
    table: Any,
    sensitive: str | Sequence[str],
    useful: str | Sequence[str] = "all",
    notion: Notion | None = None,
    *,
    drop: str | Sequence[str] = (),
    key: Any = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    model: Any = None,
    classes: int | None = None,
    weights: Mapping[str, float] | None = None,
    beliefs: Literal["learned", "counted"] = "learned",
    person: str | None = None,
    shuffle: bool = True,
    time_limit: float | None = None,
    each: bool = False,
    bins: Mapping[str, Any] | None = None,
    margin: float | None = None,
    private_certificate: str | os.PathLike[str] | None = None,
    write_key: str | os.PathLike[str] | None = None,
    write_plan: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    sign: Any = None,
    force: bool = False,
    memory_limit: str | None = None,
    require: Required = "undecided",
    ledger: str | os.PathLike[str] | None = None,
    looser: bool = False,
    reads: Sequence[Any] = (),
) -> Publication:
    """Publish a whole table without its secret: all useful columns together, under one promise.

    Models learn what the useful columns tell about S, each of records that it has not seen. Records of about the same
    belief are a class; a design on the counts of (S, class) says how often records of one class appear as records of
    another, so that what a reader learns from the class that he sees stays within the promise, and as many rows as can
    be stay as they are. A row that moves appears as its nearest twin in that class, with all columns together. Then the
    result is attacked, and what an attack breaks is not published.

    Parameters
    ----------
    table : frame or path
        pandas, Polars, Arrow, a DuckDB relation, a Spark DataFrame, or a path of CSV or Parquet files.
    sensitive : str or list of str
        Never published. Numbers of many values are cut into five parts, null is a value.
    useful : "all" or list of str
        Published: by default all that are neither sensitive nor dropped nor look like ids. The text "all" always means
        that; to publish only a column that is called so, give ``["all"]``.
    notion : Notion
        The promise, `LIP`, `ALIP` or `MaxLift`; left out: ``LIP(0.5, confidence=0.95)``.
    drop : list of str
        Left out of the publication.
    key, seed : optional
        As in `discreet.release`: the same key and table give the same publication, whatever the order of its rows.
    output : path, optional
        Where the table is written, with its public certificate beside it; left out, frames come back as frames.
    model : estimator, optional
        With ``fit`` and ``predict_proba``, which takes numbers with missing values (NaN); left out, boosted trees.
    classes : int, optional
        How many; left out, as many as the records allow.
    weights : dict of str to float
        How much each column counts for who is a near twin, 1 where left out; ``math.inf``: twins share its value
        wherever class sizes let them.
    beliefs : "learned" or "counted"
        Counted beliefs are there to be compared with: they read every person's own secret.
    person : str, optional
        Column that the records of a person share: they stay in one fold. It is not published.
    shuffle : bool
        Rows come in a random order that the key decides; False keeps theirs, so that rows can be put beside the
        original by anyone who has it. Records are then exchanged one for one, each published as often as it occurs:
        how often would else tell who moved.
    time_limit : float, optional
        Seconds after which no further try begins where an attack broke the last.
    each : bool
        Several sensitive columns as one secret each, instead of all together.
    bins : dict
        Where numeric sensitive columns are cut, such as ``{"salary": [20000, 50000]}``.
    margin : float, optional
        Nats by which the design stays inside of the promise, so that later tables keep it as well (`apply`).
    private_certificate, write_key, write_plan, report : path, optional
        Files beside ``output`` that their owner alone may read: counts, classes and attack; the key; what later tables
        are published by (`load_plan`); a report for people, in HTML.
    sign : path, optional
        Ed25519 private key of OpenSSH that signs the public certificate.
    force : bool
        Replace existing files.
    require : "undecided", "not-broken" or "confidence"
        What the attack has to come to: with "not-broken" nothing is published where it cannot decide; "confidence" is
        that, and nothing either where a later table (`apply`) keeps the promise on its counted records alone.
    ledger : path, optional
        Private record of what was published about the same people: the promise is then about all of that together, on
        the counted table, and the publication is entered.
    looser : bool
        Let go of promises of earlier releases in the ledger that this one does not imply; it is refused otherwise.

    Returns
    -------
    Publication
        With ``table``, ``certificate``, ``design``, ``attack``, ``unchanged`` and ``columns``.

    Notes
    -----
    The promise is about whoever knows of S what the classes know, for the population with the stated confidence, given
    the useful columns. Real records appear: who is in the table is not protected. Where rows keep their order, how many
    move between classes is rounded so that means are exact, as in [GKPS06]_. Needs scikit-learn
    (``pip install 'discreet[tables]'``).

    A Spark DataFrame is published by Spark, whose workers need this library too. Models are learned from a sample of
    some 200,000 records, which is attacked as well; classes are counted over all records, twins looked for inside
    partitions of about as many. What comes back is a DataFrame that Spark keeps (``unpersist`` it in the end), or a
    folder of Parquet files.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> rng = np.random.default_rng(1)
    >>> age, job = rng.integers(20, 70, 3000), rng.integers(0, 4, 3000)
    >>> ill = rng.random(3000) < 0.2 + 0.3 * (age > 50) + 0.1 * (job == 1)
    >>> table = pa.table({"age": age, "job": job, "ill": ill})
    >>> published = publish(table, "ill", notion=LIP(0.5, confidence=0.9), seed=1)
    >>> published.table.column_names, published.attack.verdict
    (['age', 'job'], 'not broken')
    """
    with sklearn_needed():
        import sklearn  # noqa: F401 - before anything is read, since nothing goes without it
    promise, counted = LIP(0.5, confidence=0.95) if notion is None else notion, beliefs == "counted"
    _check(promise, beliefs, classes, margin, time_limit)
    _check_confidence(require, promise, counted=counted)
    wanted = Wanted.of(
        force,
        (*reads, key, sign, ledger),
        output=output,
        private_certificate=private_certificate,
        write_key=write_key,
        plan=write_plan,
        report=report,
    )
    asked = Asked(
        key=ReleaseKey.of(key, seed),
        signer=None if sign is None else SigningKey.of(sign),
        sensitive=sensitive,
        useful=useful,
        drop=drop,
        person=person,
        each=each,
        bins=bins,
        least_share=0.0 if promise.confidence is None else LEAST_SHARE,
        shuffle=shuffle,
        time_limit=time_limit,
        require=require,
        reporter=reporter_of(table, wanted, key),
        wanted=wanted,
    )
    if counted:
        warnings.warn(COUNTED_WARNING, DiscreetWarning, stacklevel=2)
    _check_ledger(ledger, table, output, shuffle=shuffle, looser=looser, counted=counted)
    wishes = Wishes(promise, model, classes, check_weights(weights), counted, margin, not shuffle)
    if is_spark(table):
        return _published_by_spark(table, asked, wishes, memory_limit)
    return _published_in_memory(table, asked, wishes, ledger, memory_limit, looser=looser)


def _published_by_spark(frame: Any, asked: Asked, wishes: Wishes, memory_limit: str | None) -> Publication:
    """A publication by the workers of the session that holds the table."""
    from discreet.publishing.spark import publish_spark

    if memory_limit is not None:
        raise InputError("the memory of Spark is set in its session: leave memory_limit out.")
    return publish_spark(frame, asked, wishes)


def _published_in_memory(
    table: Any, asked: Asked, wishes: Wishes, ledger: Any, memory_limit: str | None, *, looser: bool
) -> Publication:
    """A publication of a table that DuckDB reads: roles, records, the secret, then design, twins and attack."""
    with ExitStack() as stack:
        job = _begin(stack, table, asked, memory_limit)
        roles = roles_of(job.opened, asked.sensitive, asked.useful, asked.drop, asked.person)
        wishes = replace(wishes, weights=weights_of(wishes.weights, roles.useful))
        subject = read_subject(job.opened, roles, asked.key, n_turns=len(roles.sensitive) if asked.each else 1)
        subject = subject.all_counted if wishes.notion.confidence is None else subject
        rule = rule_from(
            subject.table,
            roles.sensitive,
            subject.pilot,
            each=asked.each,
            bins=asked.bins,
            least_share=asked.least_share,
        )
        entry = entering(ledger, job.frame, wishes.notion, asked.key, stack, looser=looser)
        made = made_in_memory(subject, rule, wishes, asked.key, job.opened.connection, asked.is_late, entry)
        return _finished(job, subject, made, wishes, entry)


def publish_later(
    plan: PublicationPlan,
    table: Any,
    *,
    key: Any = None,
    seed: int | None = None,
    output: Any = None,
    shuffle: bool = True,
    force: bool = False,
    memory_limit: str | None = None,
    private_certificate: Any = None,
    write_key: Any = None,
    report: Any = None,
    sign: Any = None,
    require: Required = "undecided",
    ledger: Any = None,
    looser: bool = False,
    reads: Sequence[Any] = (),
) -> Publication:
    """A later table with the model, classes and design of an earlier publication; see `Publication.apply`."""
    if is_spark(table):
        raise InputError("a later table is published in memory: give files, or a frame of another library.")
    plan.check_fitted()
    _check_confidence(require, plan.notion)
    paths = {"output": output, "private_certificate": private_certificate, "write_key": write_key, "report": report}
    wanted = Wanted.of(force, (*reads, key, sign, ledger), **paths)
    _check_ledger(ledger, table, output, shuffle=shuffle, looser=looser)
    asked = Asked(
        key=ReleaseKey.of(key, seed),
        wanted=wanted,
        signer=None if sign is None else SigningKey.of(sign),
        shuffle=shuffle,
        require=require,
        reporter=reporter_of(table, wanted, key),
    )
    with ExitStack() as stack:
        job = _begin(stack, table, asked, memory_limit)
        # Folds are those of the key that the models were trained under: an equal record is told by the same model.
        roles = _roles_again(job.opened, plan.roles)
        subject = read_subject(job.opened, roles, plan.key, n_turns=plan.n_turns).all_counted  # nothing is fitted here
        counted = _counted_again(subject, plan)
        kept = counted.fitted.settings.notion
        lost = kept.confidence is None and plan.notion.confidence is not None
        if lost and require == "confidence":
            raise BrokenNotionError(_confidence_required(plan, counted))
        wishes = Wishes(kept if lost else plan.notion, weights=plan.weights, keeps_order=not shuffle)
        entry = entering(ledger, job.frame, wishes.notion, asked.key, stack, looser=looser)
        if entry is not None:
            entry.check(subject, counted)
        made = made_with(subject, counted, wishes, asked.key, job.opened.connection)
        if made.attack.verdict == "broken":
            raise BrokenByAttackError(
                f"an attack breaks {wishes.notion} in what would be published of the later table: "
                f"{told(made.attack)}. Nothing is published. Publish it by itself, without the plan.",
                made.attack,
            )
        notes = (
            *([_lost(plan, counted)] if lost else ()),
            *later_notes(counted, subject, plan.roles, keeps_order=not shuffle),
        )
        return _finished(job, subject, made, wishes, entry, notes=notes)


def _roles_again(opened: DuckDBTable, old: Roles) -> Roles:
    """The roles of the same columns in a later table."""
    roles = roles_of(opened, old.sensitive, old.useful, (), old.person)
    ids = tuple(column for column in old.ids if column in roles.dropped)
    left = tuple(column for column in roles.dropped if column not in ids)
    return replace(roles, ids=ids, dropped=left, repeating=old.repeating)


def _counted_again(subject: Subject, plan: PublicationPlan) -> Counted:
    """Records of a later table in the classes of the earlier one, which must keep the promise there too."""
    fitted = plan.fitted
    assert fitted.classes is not None
    told_of, classes = fitted.classes_of(subject.cells, subject.folds)
    sizes = np.bincount(classes, minlength=fitted.mechanism.n_useful)
    empty = int((sizes == 0).sum())
    if empty:
        raise InputError(
            f"{empty} of {len(sizes)} classes of the plan have no record in the later table ({len(subject):,} rows), "
            "so that nobody could appear as one. It is too small, or about other people: publish it by itself."
        )
    secret = fitted.rule.read(subject.table, subject.turns)
    joint = count(secret, classes, fitted.classes.labels, subject, fitted.rule)
    known = fitted.design.joint.sensitive
    if set(secret.labels) - set(known) or joint.sensitive != known:
        raise UnusableColumnError(
            f"the sensitive column {' + '.join(fitted.rule.columns)} has other values in the later table than in the "
            "first, about which the plan's models and limits say nothing. Publish it by itself, without the plan."
        )
    notion = fitted.settings.notion
    if notion.confidence is not None and not notion.holds(joint, fitted.mechanism):
        # Limits of P(s | class) were held against the first table; what this one counts must keep the promise itself.
        notion = notion.on_counts()
        fitted = replace(fitted, settings=replace(fitted.settings, notion=notion))
    if not notion.holds(joint, fitted.mechanism):
        slack = notion.slack(joint, fitted.mechanism)
        how = f"by {-slack:.3g} nats" if slack > -math.inf else "since some class has no record with some value of S"
        raise BrokenNotionError(
            f"the later table ({len(subject):,} rows) breaks {notion} under the earlier design {how}, so it is not "
            "published. Small tables do by chance; others are about other people. Publish it by itself, or the first "
            "one with room (margin, --margin)."
        )
    return Counted(fitted, told_of, classes, joint, subject.turns, sizes)


def _lost(plan: PublicationPlan, counted: Counted) -> Note:
    """That the promise is about the counted records alone, and how much more room would have kept its confidence."""
    text = f"{UNSURE}: it is made about the counted records alone. {_room(plan, counted)}"
    return Note("confidence-lost", text)


def _confidence_required(plan: PublicationPlan, counted: Counted) -> str:
    """That nothing is published, since the promise would be about the counted records alone."""
    return (
        f"{UNSURE}. Nothing is published, since confidence was required (require, --require). {_room(plan, counted)}."
    )


def _room(plan: PublicationPlan, counted: Counted) -> str:
    """How much more room would have kept the confidence."""
    missed = -plan.fitted.settings.notion.slack(counted.joint, plan.fitted.mechanism)
    first = "Fit the first table with room"
    if missed < math.inf:
        first = f"They miss it by {missed:.2g} nats: fit the first table with that much more room"
    return f"{first} (margin, --margin), or publish this one by itself"


@dataclass(frozen=True, eq=False)
class _Job:
    """An open table, and where its publication goes."""

    given: Any
    frame: Any
    opened: DuckDBTable
    files: Files | None
    asked: Asked


def _begin(stack: ExitStack, table: Any, asked: Asked, memory_limit: str | None) -> _Job:
    files = open_files(table, asked.wanted, stack)
    spill = None if files is None else str(files.transaction.spill)
    frame = table if isinstance(table, str | os.PathLike) else frames.collected(table)
    opened = stack.enter_context(open_table(frame, places=True, limits=Limits(memory_limit, spill)))
    opened.start_digest()
    return _Job(table, frame, opened, files, asked)


def _check_ledger(ledger: Any, table: Any, output: Any, *, shuffle: bool, looser: bool, counted: bool = False) -> None:
    """Refuse a ledger where nothing could be entered into it, or added up."""
    if looser and ledger is None:
        raise InputError("looser is about the promises of a ledger: name it (ledger=..., --ledger).")
    if ledger is not None and not shuffle:
        raise InputError(
            "of rows in their order, a reader of two publications sees which are equal in both, which a ledger cannot "
            "add up: leave shuffle=False (--keep-order) out, or the ledger."
        )
    if ledger is not None and (output is None or is_spark(table) or counted):
        raise InputError(
            "a ledger records publications that are written to a file, by DuckDB and with learned beliefs: name the "
            "output, or leave the ledger out."
        )


def _finished(
    job: _Job, subject: Subject, made: Made, wishes: Wishes, entry: Entering | None, notes: tuple[Note, ...] = ()
) -> Publication:
    """The published table with its certificate, once all decisions are made."""
    useful = subject.roles.useful
    coupling = coupling_of(made.sources) if wishes.keeps_order else "drawn"
    published = [cells.taken(made.sources) for cells in subject.cells]
    quality = quality_of(subject.cells, published, exchanged=coupling == ONE_FOR_ONE)
    order = _order(subject, made, job)

    def write() -> tuple[Any, Any]:
        if job.files is None:
            return frame_of(job.given, job.frame, useful, order), None
        return str(job.files.targets.output), job.files.write_table(job.opened, useful, order)

    ending = Ending(
        files=job.files,
        asked=job.asked,
        rows=len(subject),
        inputs=job.opened.columns,
        engine="duckdb",
        content=job.opened.content,
        write=write,
        check=job.opened.check_unchanged,
        entry=entry,
        more={
            "overlap": overlap_of(subject.records.tuples, subject.records.tuples[made.sources]),
            "coupling": coupling,
        },
        notes=(*notes, *(() if job.files is not None else _unused(job.frame, useful))),
    )
    redo = redo_of(subject, made.counted, made.twins)
    return finished(ending, subject, made, wishes, quality, redo, made.sources)


def _unused(frame: Any, useful: Sequence[str]) -> tuple[Note, ...]:
    """A note on types that come back as they were, with the names of values that only people elsewhere had."""
    found = with_unused_categories(frame, useful)
    if not found:
        return ()
    text = (
        f"categories that no row has: the types of {', '.join(found)} list some, whose names are published with the "
        "type. Remove unused categories first"
    )
    return (Note("unused-categories", text),)


def _order(subject: Subject, made: Made, job: _Job) -> IntArray:
    """Rows of the original in the order in which they are published."""
    if not job.asked.shuffle:
        return made.sources
    key = order_key(job.asked.key, made.counted.fitted.mechanism, subject.records.content)
    hashes = subject.records.hashes(job.opened.connection, key)
    result: IntArray = made.sources[np.argsort(hashes, kind="stable")]
    return result


def _check_confidence(require: str, notion: Notion, *, counted: bool = False) -> None:
    """Refuse to require a confidence that nobody asked for."""
    if require == "confidence" and (notion.confidence is None or counted):
        raise InputError(
            f"confidence is required (require, --require) and {notion} is asked for about the counted table alone. "
            "Promise it with confidence (confidence=0.95, --confidence 95; learned beliefs), or require not-broken."
        )


def _check(notion: Notion, beliefs: str, classes: int | None, margin: float | None, time_limit: float | None) -> None:
    if not isinstance(notion, Notion):
        raise InputError(f"notion must be a Notion such as LIP(0.5, confidence=0.95), got {type(notion).__name__}.")
    if notion.name not in ("lip", "alip", "max-lift"):
        raise InputError(
            f"whole tables are published under LIP, ALIP or MaxLift, got {notion}. LDP follows from ALIP with budgets "
            "that add up to its own."
        )
    if beliefs not in ("learned", "counted"):
        raise InputError(f"beliefs must be 'learned' or 'counted', got {beliefs!r}.")
    if classes is not None and (isinstance(classes, bool) or not isinstance(classes, int)):
        raise InputError(f"classes must be a whole number, got {classes!r}.")
    if classes is not None and not FEWEST_ASKED <= classes <= MOST_ASKED:
        raise InputError(
            f"classes must be from {FEWEST_ASKED}, two for each half, to {MOST_ASKED}, got {classes}: with fewer "
            "nothing moves, with more each has few records."
        )
    if margin is not None and (isinstance(margin, bool) or not 0 <= margin < math.inf):
        raise InputError(f"margin must be a number of nats of at least 0, got {margin!r}.")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")
