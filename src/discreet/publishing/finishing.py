"""The end of every publication: the promise is certified, the table written, and all files appear together."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from discreet._support import progress
from discreet._support.errors import BrokenByAttackError
from discreet._support.numeric import IntArray
from discreet.certificate import Certificate
from discreet.designers import design
from discreet.publishing.asked import Asked
from discreet.publishing.calibration import calibration_of
from discreet.publishing.certification import certified, promised
from discreet.publishing.entering import Entering
from discreet.publishing.fitting import Counted, count
from discreet.publishing.making import SHARES, Tried, Wishes, told
from discreet.publishing.note import Note
from discreet.publishing.notes import notes_of
from discreet.publishing.publication import Publication
from discreet.publishing.quality import Quality
from discreet.publishing.reading import Subject
from discreet.publishing.writing import Files
from discreet.tables.digest import Content

__all__ = ["Ending", "finished"]

#: Seconds that the proof of how much information the classes could keep may take.
PROOF_SECONDS = 5.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Ending:
    """What an engine hands over when all decisions are made.

    Attributes
    ----------
    files : Files or None
        Where the table goes, with certificates, key, signature, report and plan.
    asked : Asked
        What the caller asked for.
    rows : int
        Of the table.
    inputs : sequence of str
        All of its columns.
    content, write, check : callable
        The digest of the table; what writes the published one, to (table, digest); a check that the first is unchanged.
    more : mapping
        Further facts on how classes were made, for the public certificate.
    notes : tuple of Note
        To be told with the publication.
    entry : Entering or None
        The ledger that the publication is entered into.
    """

    files: Files | None
    asked: Asked
    rows: int
    inputs: Sequence[str]
    engine: str
    content: Callable[[], Content]
    write: Callable[[], tuple[Any, Any]]
    check: Callable[[], None]
    more: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    entry: Entering | None = None


def finished(
    ending: Ending,
    subject: Subject,
    made: Tried,
    wishes: Wishes,
    quality: Quality,
    redo: Mapping[str, str],
    sources: IntArray,
) -> Publication:
    """The published table with its certificate; ``subject`` are all records, or those that were learned from."""
    counted, fitted, asked = made.counted, made.counted.fitted, ending.asked
    _check_decided(made, wishes, asked)
    coverage = _coverage(subject, wishes, ending.rows, bool(fitted.rule.gathered))
    with progress.stage("certifying"):
        base = promised(fitted.mechanism, counted.joint, fitted.settings.notion, _proof(counted))
    table, output = ending.write()
    settled = _Settled(ending, subject, made, wishes, quality, coverage, _calibration(subject, counted))
    certificate = settled.certificate(base, output, redo)
    found = settled.publication(table, certificate, sources)
    if ending.files is not None:
        _write_beside(ending, ending.files, subject, counted, found)
    return replace(found, seconds=asked.seconds)


@dataclass(frozen=True, eq=False)
class _Settled:
    """All that is decided when the table is written: certificate and publication are made from it."""

    ending: Ending
    subject: Subject
    made: Tried
    wishes: Wishes
    quality: Quality
    coverage: str
    calibration: dict[str, Any]

    def certificate(self, base: Certificate, output: Any, redo: Mapping[str, str]) -> Certificate:
        """The certificate of the promise, with what is stated about this publication."""
        ending, entry = self.ending, self.ending.entry
        return certified(
            base,
            self.subject,
            key=ending.asked.key,
            content=ending.content(),
            output=output,
            published=self.subject.roles.useful,
            inputs=ending.inputs,
            how=_how(ending, self.made, self.wishes, self.coverage),
            private=_private(self.made, self.calibration, self.coverage),
            quality=self.quality,
            weights=self.wishes.weights or {},
            rows=ending.rows,
            redo=redo,
            is_shuffled=ending.asked.shuffle,
            engine=ending.engine,
            after=None if entry is None else entry.stated(self.subject, self.made.counted),
        )

    def publication(self, table: Any, certificate: Certificate, sources: IntArray) -> Publication:
        """What the caller gets."""
        made, asked, counted = self.made, self.ending.asked, self.made.counted
        return Publication(
            table=table,
            notion=self.wishes.notion,
            certificate=certificate,
            design=counted.fitted.design,
            attack=made.attack,
            attacks=made.attacks,
            quality=self.quality,
            roles=self.subject.roles,
            fitted=counted.fitted,
            joint=counted.joint,
            coverage=self.coverage,
            tries=made.number,
            key=asked.key,
            rows=self.ending.rows,
            seconds=asked.seconds,
            is_shuffled=asked.shuffle,
            sources=sources,
            beliefs=counted.beliefs,
            notes=(*notes_of(self.subject, made, self.quality.unchanged, sources), *self.ending.notes),
            calibration=self.calibration,
        )


def _write_beside(ending: Ending, written: Files, subject: Subject, counted: Counted, found: Publication) -> None:
    """All files of a publication, once its table is written and the original is seen to be unchanged."""
    asked, entry = ending.asked, ending.entry
    ending.check()
    report = None if asked.reporter is None else partial(asked.reporter, found)
    if entry is not None:
        written.write_ledger(entry.path, entry.text(subject, counted, found.certificate))
    written.finish(found.certificate, asked.key, asked.signer, report, found.plan.text)


def _how(ending: Ending, made: Tried, wishes: Wishes, coverage: str) -> dict[str, Any]:
    """How the classes were made, for everyone."""
    fitted = made.counted.fitted
    return {
        "beliefs": "counted" if wishes.counted else "learned",
        "model": fitted.settings.model,
        "number": made.counted.joint.n_useful,
        "coverage": coverage.split(":", maxsplit=1)[0],
        "try": made.number,
        "tries": len(SHARES),
        "gathered": len(fitted.rule.gathered),
        "attack": made.attack.verdict or "undecided",
        **ending.more,
    }


def _private(made: Tried, calibration: Mapping[str, Any], coverage: str) -> dict[str, Any]:
    """What the owner alone may read."""
    return {
        "rule": made.counted.fitted.rule.to_dict(),
        "attack": [one.to_dict() for one in made.attacks],
        "calibration": calibration,
        "scipy": _version("scipy"),
        "coverage": coverage,
    }


def _check_decided(made: Tried, wishes: Wishes, asked: Asked) -> None:
    """Refuse what an attack could not decide on, where that was asked for."""
    if asked.require != "undecided" and made.attack.verdict != "not broken":
        raise BrokenByAttackError(
            f"the attack could not decide whether {wishes.notion} is kept: {told(made.attack)}. Nothing is published, "
            f"since {asked.require} was required (require, --require). More rows or a larger budget (epsilon, "
            "--epsilon) would decide it.",
            made.attack,
        )


def _calibration(subject: Subject, counted: Counted) -> dict[str, Any]:
    """Of the records that were learned from: beliefs about others were not kept."""
    fitted = counted.fitted
    if counted.beliefs is None or fitted.classes is None:
        return {}
    secret = fitted.rule.read(subject.table, subject.turns)
    joint = count(secret, counted.classes, fitted.classes.labels, subject, fitted.rule)
    return calibration_of(joint, counted.beliefs, counted.classes)


def _proof(counted: Counted) -> Any:
    """Why no channel between the classes keeps more information, where that is proven soon."""
    fitted = counted.fitted
    with progress.stage("proving how much could be kept"):
        best = design(counted.joint, fitted.settings.notion, time_limit=PROOF_SECONDS)
    return best.proof


def _coverage(subject: Subject, wishes: Wishes, rows: int, gathered: bool) -> str:
    if wishes.counted:
        return "none: counted beliefs are about this table alone"
    if wishes.notion.confidence is None:
        return "none: the promise is about the counted table"
    if subject.persons is not None and subject.persons < rows:
        return "approximate: records of one person are counted as if they were independent"
    if gathered:
        return "approximate: how common each label is, in all records, decided which are gathered"
    return "exact: models, classes and labels were chosen without the S of the records that are counted"


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)
