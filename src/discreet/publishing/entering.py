"""A publication in a ledger: it keeps its promise with all that was published about the same people before.

What readers of earlier releases know is counted beside the classes of the records, and the design is made for it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet._support import progress
from discreet._support.errors import BrokenNotionError, InputError
from discreet.certificate import Certificate
from discreet.drawing.keys import ReleaseKey
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import Notion
from discreet.publishing.fitting import Counted, count, redesigned
from discreet.publishing.reading import Subject
from discreet.releasing.ledger import Entry, Ledger
from discreet.releasing.lock import Lock
from discreet.twins.known import KnownClasses
from discreet.twins.secret import SecretRule

__all__ = ["Entering", "entering"]

#: Designs that are tried ever further inside of a promise, and by how many times what was missing.
MOST_STEPS_INSIDE, FURTHER = 4, 1.5


@dataclass(frozen=True, eq=False)
class Entering:
    """A ledger that a publication is entered into.

    Attributes
    ----------
    path : Path
        Of the ledger.
    ledger : Ledger
        What was published before.
    table : frame or path
        The table that is published.
    notion : Notion
        The promise.
    key : ReleaseKey
        Of the draw.
    """

    path: Path
    ledger: Ledger
    table: Any
    notion: Notion
    key: ReleaseKey

    def within(self, subject: Subject, counted: Counted) -> Counted:
        """The same, or a design after what came before where the promise is broken together with that."""
        before = self.before(subject, counted)
        if before is None:
            return self._of_all_records(subject, counted)
        if self._holds(before, counted.fitted.mechanism):
            return counted
        with progress.stage("designing after what was published before"):
            # Counted over all records, as the ledger does; the design's own joint has those that are counted alone.
            after = Earlier(counted.joint, before.outcomes, before.mechanisms)
            found = redesigned(counted, counted.fitted.settings, after)
        if not self._holds(before, found.fitted.mechanism):
            raise BrokenNotionError(
                "together with what the ledger says was published before no publication of this table was found that "
                f"keeps {self.notion}, so nothing is published. Promise a larger budget for all releases together."
            )
        return found

    def _of_all_records(self, subject: Subject, counted: Counted) -> Counted:
        """The same, or a design further inside, so that the promise holds on all records as the ledger counts them.

        Those that were set aside to decide on classes are published too, and later releases are counted with them.
        """
        rule, labels, everyone = counted.fitted.rule, counted.joint.useful, subject.all_counted
        joint = count(rule.read(everyone.table, everyone.turns), counted.classes, labels, everyone, rule)
        promise = self.notion.on_counts()
        for _ in range(MOST_STEPS_INSIDE):
            missing = -promise.slack(joint, counted.fitted.mechanism)
            if promise.holds(joint, counted.fitted.mechanism) or missing == math.inf:
                break
            settings = counted.fitted.settings
            margin = (settings.margin or 0.0) + FURTHER * missing
            if margin >= min(bound.epsilon for bound in promise.bounds):
                break
            counted = redesigned(counted, replace(settings, margin=margin))
        if not promise.holds(joint, counted.fitted.mechanism):
            raise BrokenNotionError(
                f"no publication was found that keeps {self.notion} on all records, as the ledger counts them: those "
                "that were set aside to decide on classes tell more than the others. Promise a larger budget, or leave "
                "the ledger out."
            )
        return counted

    def check(self, subject: Subject, counted: Counted) -> None:
        """Refuse a design that was made before, where it breaks the promise together with what came before."""
        before = self.before(subject, counted)
        if before is not None and not self._holds(before, counted.fitted.mechanism):
            raise BrokenNotionError(
                f"together with what the ledger says was published before the plan's design breaks {self.notion}, so "
                "nothing is published. Publish the table by itself, without the plan: it is then designed after that."
            )

    def before(self, subject: Subject, counted: Counted) -> Earlier | None:
        """What readers had seen, beside the classes of the records."""
        _check_plain(counted.fitted.rule, subject)
        entry = self._entry(subject, counted)
        self.ledger.check_draws(entry)
        with progress.stage("counting what was published before"):
            return self.ledger.before(self.table, entry)

    def text(self, subject: Subject, counted: Counted, certificate: Certificate) -> str:
        """The content of the ledger with this publication as its last line."""
        entry = self._entry(subject, counted)
        return self.ledger.with_entry(replace(entry, certificate=certificate.public["certificate_digest"])).text()

    def stated(self, subject: Subject, counted: Counted) -> list[str | None] | None:
        """What the certificate says came before."""
        return self.ledger.named_before(self._entry(subject, counted))

    def _holds(self, before: Earlier, mechanism: Mechanism) -> bool:
        numbered = mechanism.applied_to(before.joint.useful_columns, range(mechanism.n_useful))
        return self.notion.on_counts().holds(before.through(numbered))

    def _entry(self, subject: Subject, counted: Counted) -> Entry:
        return Entry(
            notion=self.notion,
            mechanism=counted.fitted.mechanism,
            sensitive=subject.roles.sensitive,
            kept=(),
            key=self.key.fingerprint,
            id=None,
            rows=len(subject),
            certificate=None,
            classes=KnownClasses.of(subject.roles.useful, subject.records, counted.classes),
        )


def entering(
    path: Any, table: Any, notion: Notion, key: ReleaseKey, stack: ExitStack, *, looser: bool = False
) -> Entering | None:
    """The ledger at a path, nobody else's to add to until the stack is closed; None where there is none."""
    if path is None:
        return None
    lock = Lock(Path(path))
    lock.acquire()
    stack.callback(lock.release)
    ledger = Ledger.read(path, may_be_new=True)
    ledger.check_promise(notion, looser=looser)
    return Entering(Path(path), ledger, table, notion, key)


def _check_plain(rule: SecretRule, subject: Subject) -> None:
    """Refuse secrets that a ledger cannot add up: it counts sensitive values as they are in the table."""
    if rule.edges or rule.gathered or rule.kept is not None or rule.n_turns > 1:
        raise InputError(
            "a ledger adds up what releases tell about the values of S as they are, and here they are cut, gathered or "
            "promised about one by one. Make a column of few and common values first, and keep a ledger for each."
        )
    if subject.roles.person is not None:
        raise InputError("a ledger is about tables with one record for each person: leave person or the ledger out.")
