"""A ledger: what was published about one set of people, so that the next release keeps one promise with all before.

A private file of lines, each with the digest of the one before it, which are added and never changed. All releases in
it are taken to be about the same people: whoever has seen one may have seen them all. A release that would break its
promise together with those before is refused; one that repeats a mechanism with the same key, by the same id, draws the
same again and adds nothing. Where ids were given anew, as a sketch of who had which id tells, draws under one key are
neither the same nor independent: such a release is refused.

A whole table that was published counts by what its promise is about: the class that each record appeared as. The class
of every record is kept with it, and is known of the records of that table alone. Beside a whole table only columns that
it has can be published: its classes say nothing of what others tell together with them.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet._support import validate
from discreet._support.errors import BrokenNotionError, ColumnNotFoundError, DiscreetWarning, InputError
from discreet.certificate import Certificate, checker
from discreet.core import labels as core_labels
from discreet.core.joint import Joint
from discreet.mechanism import Earlier, Mechanism
from discreet.mechanism.earlier import values_beside
from discreet.notions import Notion
from discreet.notions.base import from_dict
from discreet.releasing.sketch import Sketch
from discreet.tables import open_table
from discreet.tables.arrow import column_of
from discreet.tables.dialect import DUCKDB, is_float
from discreet.tables.session import FILE, OWN, ROW, DuckDBTable
from discreet.twins.known import KnownClasses
from discreet.twins.records import read_records

__all__ = ["Entry", "Ledger", "class_column"]

FORMAT = "discreet-ledger/1"

#: Bytes of a ledger that are read.
MOST_BYTES = 1 << 28

#: What readers can do where the chance of a sensitive value becomes 0.
RULED_OUT = "could rule out a sensitive value for some people"

#: Where no column of so many values could be counted beside a release, whoever makes it is warned.
FEW_VALUES = 16


@dataclass(frozen=True)
class Entry:
    """One release.

    Attributes
    ----------
    notion : Notion
        What was promised of it and all before.
    mechanism : Mechanism
        What was drawn from.
    sensitive, kept : tuple of str
        Columns that it protects, and those that were published beside it under the promise.
    key : str
        Fingerprint of its key.
    id : str or None
        Column that its draws follow from; None where they follow from the place of each row.
    rows : int
        Of the table.
    certificate : str or None
        Digest of its public certificate.
    classes : KnownClasses or None
        Of a whole table, the class of each record; the mechanism is then between classes.
    sketch : Sketch or None
        Where draws follow from ids, who had some of them; lines of older versions have none.
    """

    notion: Notion
    mechanism: Mechanism
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    key: str
    id: str | None
    rows: int
    certificate: str | None
    classes: KnownClasses | None = None
    sketch: Sketch | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """What was published: the columns that its mechanism is for, or those of a whole table."""
        return self.mechanism.checked_columns() if self.classes is None else self.classes.columns

    @property
    def secret(self) -> dict[str, list[float]]:
        """Where sensitive columns are cut."""
        cuts = self.mechanism.bins
        return {column: [float(edge) for edge in cuts[column]] for column in self.sensitive if column in cuts}

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "format": FORMAT,
            "notion": self.notion.to_dict(),
            "mechanism": self.mechanism.to_dict(),
            "sensitive": list(self.sensitive),
            "kept": list(self.kept),
            "key": self.key,
            "id": self.id,
            "rows": self.rows,
            "certificate": self.certificate,
            **({} if self.classes is None else {"classes": self.classes.to_dict()}),
            **({} if self.sketch is None else {"sketch": self.sketch.to_dict()}),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Entry:
        """What `to_dict` gave."""
        if stored.get("format") != FORMAT:
            raise ValueError("another format")
        return cls(
            from_dict(stored["notion"]),
            Mechanism.from_dict(stored["mechanism"]),
            tuple(stored["sensitive"]),
            tuple(stored["kept"]),
            stored["key"],
            stored["id"],
            stored["rows"],
            stored["certificate"],
            KnownClasses.from_dict(stored["classes"]) if "classes" in stored else None,
            Sketch.from_dict(stored["sketch"]) if "sketch" in stored else None,
        )

    def repeats(self, other: Entry) -> bool:
        """Whether both draw the same for the same people."""
        return self.shares_draws(other) and self.why_anew(other) is None

    def shares_draws(self, other: Entry) -> bool:
        """Whether draws of both follow from one secret: they are the same, or depend on each other.

        Draws of places follow from the table too: those of one table are the same, and of two independent.
        """
        same = self.mechanism.fingerprint == other.mechanism.fingerprint and self.key == other.key
        whole = self.classes is not None and other.classes is not None
        return same and (whole or (self.id is not None and other.id is not None))

    def why_anew(self, other: Entry) -> str | None:
        """Why ids of both may not be the same people's, in words; None where they are."""
        if self.classes is not None:  # which know their records
            return None if self.classes == other.classes else "its records are in other classes"
        if self.id != other.id:
            return f"its ids are in the column {self.id!r}, and were in {other.id!r}"
        if self.sketch is None or other.sketch is None:
            return "a line of an older version does not say who had which id"
        why = self.sketch.why_others(other.sketch)
        return None if why is None else f"{why}, so that ids may have been given anew"


@dataclass(frozen=True)
class Ledger:
    """Releases about the same people, in their order.

    Attributes
    ----------
    entries : tuple of Entry
        All of them.
    lines : tuple of str
        As they are stored.
    """

    entries: tuple[Entry, ...] = ()
    lines: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, may_be_new: bool = False) -> Ledger:
        """Read a ledger and check that no line was changed, left out or put in between.

        Parameters
        ----------
        path : path
            A private file; others must not read it.
        may_be_new : bool
            Whether a file that is not there is an empty ledger, with a warning.
        """
        name = os.fspath(path)
        if may_be_new and not os.path.lexists(name):
            warnings.warn(
                f"{name!r} begins a new ledger: nothing that was published before is known to it. Where there should "
                "be one already, check the name.",
                DiscreetWarning,
                stacklevel=2,
            )
            return cls()
        lines = _lines(name)
        entries, before = [], ""
        for number, line in enumerate(lines, 1):
            try:
                stored = json.loads(line)
                if stored.pop("number") != number or stored.pop("before") != before:
                    raise ValueError("a gap")
                entries.append(Entry.from_dict(stored))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise InputError(
                    f"line {number} of the ledger {name!r} was changed, or lines before it are missing. Restore the "
                    "file: without all that was published nothing can be promised about more."
                ) from None
            before = checker.digest(line)
        return cls(tuple(entries), tuple(lines))

    @property
    def head(self) -> str:
        """Digest of the last line, which names the whole ledger; empty of an empty one."""
        return checker.digest(self.lines[-1]) if self.lines else ""

    def with_entry(self, entry: Entry) -> Ledger:
        """With one more release."""
        line = json.dumps({"number": len(self.lines) + 1, "before": self.head, **entry.to_dict()})
        return Ledger((*self.entries, entry), (*self.lines, line))

    def text(self) -> str:
        """The content of its file."""
        return "".join(f"{line}\n" for line in self.lines)

    def earlier(
        self,
        table: Any,
        useful: Sequence[str],
        *,
        kept: Sequence[str] = (),
        bins: Mapping[str, Any] | None = None,
        without: Entry | None = None,
    ) -> Earlier | None:
        """What was seen so far, counted on a table beside useful columns that come next; None where nothing was.

        Columns that were published as they are count as seen, and so do those that are ``kept`` next. A release that
        ``without`` repeats tells nothing new; where that is a whole table, ``useful`` are its `class_column`.
        """
        self._check_together([*useful, *kept], without)
        numbers, seen = self._numbers(without), {column for one in self.entries for column in one.kept}
        if not numbers and seen <= set(kept):  # the same draws again, beside nothing that is not published now
            return None
        shown = dict.fromkeys([*(column for one in self.entries for column in one.kept), *kept])
        sensitive = self.entries[0].sensitive
        mechanisms = [self._counting(k) for k in numbers]
        whole = {class_column(k): self.entries[k].classes for k in numbers}
        if without is not None:
            whole[class_column(len(self.entries))] = without.classes
        known = {column: classes for column, classes in whole.items() if classes is not None}
        seen_as = [*shown]
        try:
            if known or shown:
                wanted = [*sensitive, *useful, *(column for one in mechanisms for column in one.useful_columns)]
                columns = [column for column in dict.fromkeys(wanted) if column not in known]
                table, seen_as = _counted_table(table, known, seen_as, columns)
            found = Earlier.from_table(table, sensitive, list(useful), mechanisms, shown=seen_as, bins=bins or None)
        except ColumnNotFoundError as error:
            self._check_columns(error.available)
            raise
        applied = [self.entries[k].mechanism for k in numbers]
        return replace(found, mechanisms=tuple(applied))

    def _check_columns(self, available: Sequence[str]) -> None:
        """Refuse a table that lacks columns which were published before."""
        for number, entry in enumerate(self.entries, 1):
            missing = [column for column in (*entry.columns, *entry.kept) if column not in available]
            if missing:
                raise ColumnNotFoundError(
                    f"the table lacks {', '.join(missing)}, which release {number} of the ledger is of: what it told "
                    "is counted beside what comes next. Add the column, or keep another ledger for other people.",
                    available,
                )

    def check_sensitive(self, sensitive: Sequence[str], what: str) -> None:
        """Refuse something that protects other columns than the releases so far."""
        if any(one.sensitive != tuple(sensitive) for one in self.entries):
            raise InputError(
                f"the ledger is about {', '.join(self.entries[0].sensitive)}, the {what} about "
                f"{', '.join(sensitive)}. Keep a ledger for each."
            )

    def _check_together(self, columns: Sequence[str], without: Entry | None) -> None:
        """Refuse columns beside a whole table that it has not: classes say nothing of what they tell together.

        A class is what models saw in the columns of its table. Two fair bits in two tables tell nothing by their
        classes, and everything about S where that says whether they differ.
        """
        entries = [*self.entries, *(() if without is None else [without])]
        whole = [set(entry.columns) for entry in entries if entry.classes is not None]
        seen = {column for entry in entries for column in (*entry.columns, *entry.kept)}
        seen |= {column for column in columns if not column.startswith(OWN)}
        if not whole or any(seen <= table for table in whole):
            return
        largest = max(whole, key=len)
        raise InputError(
            f"readers of all releases would see {', '.join(sorted(seen - largest))} beside columns of a whole table in "
            "the ledger, and no model has looked at what these tell together. Publish one table that has all of them, "
            "first or now, or keep to the columns of the table."
        )

    def _numbers(self, without: Entry | None) -> list[int]:
        """Places of the releases that tell something, each once; without those that the given one repeats.

        Whoever repeats a release that repeats another draws the same as both, though values may change from one to the
        next. A release is the same draw as one before at most: two that are not the same stay two.
        """
        first = self._first(without)
        own = set() if without is None else {first.pop()}
        return sorted(set(first) - own)

    def _first(self, last: Entry | None = None) -> list[int]:
        """Of each release, and of the ``last`` that may follow, the place of the first that was the same draw."""
        first: list[int] = []
        for k, one in enumerate([*self.entries, *(() if last is None else [last])]):
            same = next((j for j in reversed(range(k)) if one.repeats(self.entries[j])), None)
            first.append(k if same is None else first[same])
        return first

    def repeated(self) -> list[int | None]:
        """Of each release the number of the one whose draws it repeats; None where it has its own."""
        return [None if first == k else first + 1 for k, first in enumerate(self._first())]

    def _counting(self, number: int) -> Mechanism:
        """The mechanism of a release for the columns that it is counted by: classes are numbers there."""
        made = self.entries[number].mechanism
        if self.entries[number].classes is None:
            return made
        return made.applied_to(self._counted_by(number), range(made.n_useful))

    def _counted_by(self, number: int) -> tuple[str, ...]:
        """Columns that a release is counted by."""
        entry = self.entries[number]
        return entry.columns if entry.classes is None else (class_column(number),)

    def room(self, table: Any, notion: Notion) -> float:
        """Nats that all releases together stay inside of a promise; below 0 where they break it.

        No budget of the next release: what that tells together with those before has to be counted.
        """
        return self.rooms(table, [notion])[0]

    def rooms(self, table: Any, notions: Sequence[Notion]) -> list[float]:
        """The `room` in each of several promises, counted once."""
        for notion in notions:
            _check_can_be_added_up(notion)
        if not self.entries:
            return [min(bound.epsilon for bound in notion.bounds) for notion in notions]
        found = self.earlier(table, self._counted_by(0), bins=_bins(self.entries[0]))
        assert found is not None
        seen = found.through()
        return [notion.on_counts().slack(seen) for notion in notions]

    def strictest(self) -> list[Notion]:
        """Promises of the releases, on the counts, which imply all others; several where none implies all."""
        found: list[Notion] = []
        for one in (entry.notion.on_counts() for entry in self.entries):
            if not any(other.implies(one) for other in found):
                found = [*(other for other in found if not one.implies(other)), one]
        return found

    def check_promise(self, notion: Notion, *, looser: bool = False) -> None:
        """Refuse a promise that lets go of one before, or where that is asked for say so."""
        if self.entries:
            _check_can_be_added_up(notion)
        own = notion.on_counts()
        told = {entry.notion: number for number, entry in enumerate(self.entries, 1)}
        left = {one: number for one, number in told.items() if not own.implies(one.on_counts())}
        if not left:
            return
        named = " and ".join(f"{one} of release {number}" for one, number in left.items())
        if not looser:
            raise BrokenNotionError(
                f"this release promises {notion}, which does not imply {named}: all of them together would no longer "
                "keep what was promised, so nothing was released. Promise that again, or something stricter; or let go "
                "of it knowingly (looser=True, --looser)."
            )
        warnings.warn(
            f"all releases of the ledger together are promised {notion} from now on, and no longer {named}.",
            DiscreetWarning,
            stacklevel=2,
        )

    def check(self, table: Any, entry: Entry, joint: Joint) -> Earlier | None:
        """Refuse a release that breaks its promise with those before, or lets none follow; else what those told.

        ``joint`` is that of the release.
        """
        self.check_draws(entry)
        found = self.before(table, entry)
        _warn_of_few_values(values_beside(entry.mechanism, joint, 1 if found is None else len(found.outcomes)))
        if found is None:
            _warn_of_the_last(entry.notion)
            return None
        before = found.over(joint)
        seen = before.through(entry.mechanism)
        promise = entry.notion.on_counts()
        if not promise.holds(seen):
            slack = promise.slack(seen)
            is_finite = slack > -math.inf
            how = f"by {-slack:.3g} nats" if is_finite else f"since readers of all of it {RULED_OUT}"
            # No budget is large enough where a value is ruled out.
            larger = ", or promise a larger budget (--looser)" if is_finite else ""
            raise BrokenNotionError(
                f"together with what the ledger says was published before this release breaks {entry.notion} {how}, so "
                f"nothing was released. {self._other_draw(entry)}Design it after that (design --ledger){larger}."
            )
        return before

    def check_draws(self, entry: Entry) -> None:
        """Refuse a release whose draws depend on those of one before, and are not the same.

        A draw is a digest of key, mechanism, value and id. Where two people change ids, the second draw of one is the
        first of the other, and what a reader learns from both is no product of two chances.
        """
        alike = [(number, one) for number, one in enumerate(self.entries, 1) if entry.shares_draws(one)]
        repeated = [(number, one) for number, one in alike if entry.repeats(one)]
        if not alike or repeated:
            _warn_of_unchecked(entry, repeated)
            return
        number, one = alike[-1]
        keep = "" if one.id is None else f"Keep the ids that people had there (id {one.id!r}), or give "
        raise BrokenNotionError(
            f"this release has mechanism and key of release {number} in the ledger, and is not the same draw: "
            f"{entry.why_anew(one)}. Under one key draws of some would follow from those of others, so that nothing "
            f"can be promised about both, and nothing was released. {keep or 'Give '}a new key (--write-key FILE "
            "in the place of --key-file): under that it counts as an independent further draw."
        )

    def _other_draw(self, entry: Entry) -> str:
        """What to say where a release would be the same draw as one before, had it the key and the ids of that."""
        for number, one in reversed([*enumerate(self.entries, 1)]):
            if one.id is None or one.mechanism.fingerprint != entry.mechanism.fingerprint:
                continue
            lacks = [] if one.key == entry.key else ["under another key"]
            lacks += [] if one.id == entry.id else ["without its ids" if entry.id is None else "with other ids"]
            if lacks:
                return (
                    f"It is the mechanism of release {number} {' and '.join(lacks)}: with that key (--key-file) and id "
                    f"(--id {one.id}) it is the same draw, and adds nothing. "
                )
        return ""

    def before(self, table: Any, entry: Entry) -> Earlier | None:
        """What was seen before a release, beside what it publishes; None where nothing was."""
        self.check_sensitive(entry.sensitive, "release")
        if any(one.secret != entry.secret for one in self.entries):
            raise InputError(
                f"the sensitive column {', '.join(entry.sensitive)} is cut into other parts than in the ledger, which "
                "is another secret. Cut it in the same way (bins, --bins), or keep a ledger for each."
            )
        useful = entry.columns if entry.classes is None else (class_column(len(self.entries)),)
        return self.earlier(table, useful, kept=entry.kept, bins=_bins(entry), without=entry)

    def named_before(self, entry: Entry) -> list[str | None] | None:
        """Digests of the mechanisms that came before a release, as certificates state them; None where none did."""
        applied = [self.entries[k].mechanism for k in self._numbers(entry)]
        seen = any(set(one.kept) - set(entry.kept) for one in self.entries)
        named = [None if one.is_private else checker.digest(one.public_dict()) for one in applied]
        return named if named or seen else None

    def confirms(self, certificate: Certificate, table: Any) -> bool:
        """Whether a private certificate of one of the releases states that release and those before as they are here.

        ``table`` is the one that was released: what readers had seen is counted on it anew.
        """
        return not self.differences(certificate, table)

    def differences(self, certificate: Certificate, table: Any) -> list[str]:
        """What a private certificate states otherwise than the ledger; see `confirms`."""
        found_as = self.number_of(certificate)
        if found_as is None:
            return ["release"]
        number = found_as - 1
        entry, stated = self.entries[number], certificate.to_dict()
        if entry.classes is None if "publication" in stated else entry.classes is not None:
            return ["whole table"]
        of_entry = _release_fields if entry.classes is None else _publication_fields
        found = [name for name, (own, other) in of_entry(entry, stated).items() if own != other]
        if found:
            return found
        if entry.classes is None and not _is_counted(stated, entry, table):
            return ["table"]
        before = Ledger(self.entries[:number], self.lines[:number])
        same = before._is_stated if entry.classes is None else before._is_named
        return [] if same(entry, stated, table) else ["what was published before"]

    def number_of(self, certificate: Certificate) -> int | None:
        """The number of the release that a certificate is of, the last of repetitions; None where it is of none."""
        digest = certificate.public["certificate_digest"]
        return max((k for k, entry in enumerate(self.entries, 1) if entry.certificate == digest), default=None)

    def _is_named(self, entry: Entry, stated: Mapping[str, Any], table: Any) -> bool:
        """Whether the certificate of a whole table names the releases that came before, and it is of these records."""
        assert entry.classes is not None
        try:
            _counted_table(table, {class_column(len(self.entries)): entry.classes}, (), entry.sensitive)
        except InputError:
            return False
        return bool(stated["publication"].get("after") == self.named_before(entry))

    def _is_stated(self, entry: Entry, stated: Mapping[str, Any], table: Any) -> bool:
        """Whether a certificate states what readers of all releases before had seen."""
        found = self.before(table, entry)
        if found is None or "after" not in stated:
            return found is None and "after" not in stated
        place = {core_labels.decode(label): k for k, label in enumerate(stated["counts"]["useful"])}
        if not set(found.joint.useful) <= set(place):
            return False
        told = [
            {(s, place[found.joint.useful[x]]): int(n) for s, row in enumerate(one) for x, n in enumerate(row) if n}
            for one in found.outcomes
        ]
        return told == [{(s, x): n for s, x, n in one} for one in stated["counts"]["outcomes"]]


def _is_counted(stated: Mapping[str, Any], entry: Entry, table: Any) -> bool:
    """Whether the counts of a certificate are those of a table."""
    counts = stated["counts"]
    joint = Joint.from_table(table, list(entry.sensitive), list(entry.columns), bins=_bins(entry) or None)
    alphabets = [[core_labels.decode(label) for label in counts[name]] for name in ("sensitive", "useful")]
    own = {(joint.sensitive[s], joint.useful[x]): int(n) for (s, x), n in np.ndenumerate(joint.counts) if n}
    return own == {(alphabets[0][s], alphabets[1][x]): n for s, x, n in counts["cells"] if n}


def _release_fields(entry: Entry, stated: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What a release and its certificate both state, by name: as the ledger has it, and as the certificate has it."""
    columns = stated.get("columns", {})
    outside = {row["column"] for row in stated.get("not_covered", ())}
    covered = [column for column in columns.get("kept", ()) if column not in outside]
    made = entry.mechanism.promising(entry.notion.to_dict(), entry.mechanism.method)
    return {
        "notion": (entry.notion.to_dict(), stated["notion"]),
        "mechanism": (checker.digest(made.public_dict()), checker.digest(stated["mechanism"])),
        "sensitive": (list(entry.sensitive), columns.get("sensitive")),
        "kept": (list(entry.kept), covered),
        "key": (entry.key, stated.get("key", {}).get("fingerprint")),
        "id": (entry.id, columns.get("id")),
        "rows": (entry.rows, (stated["rows"] or {}).get("input")),
    }


def _publication_fields(entry: Entry, stated: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The same of a whole table; its classes have a share of the confidence, so that budgets alone are compared."""
    assert entry.classes is not None
    told, hidden = stated["publication"], stated.get("private_publication", {})
    promise = from_dict(stated["notion"])
    return {
        "notion": (entry.notion.on_counts(), promise.on_counts()),
        "mechanism": (entry.mechanism.fingerprint, Mechanism.from_dict(stated["mechanism"]).fingerprint),
        "sensitive": (list(entry.sensitive), told["columns"]["sensitive"]),
        "columns": (sorted(entry.classes.columns), sorted(told["columns"]["useful"])),
        "kept": (entry.kept, ()),
        "key": (entry.key, told["key"]["fingerprint"]),
        "id": (entry.id, None),
        "rows": (entry.rows, told["rows"]),
        "classes": (entry.classes.packed, hidden.get("classes")),
    }


def _check_can_be_added_up(notion: Notion) -> None:
    """Refuse promises about one mechanism, given parts of X: what several releases tell has no such parts."""
    if notion.is_conditional:
        raise InputError(
            f"a ledger cannot add up {notion}, which is about one release and what it tells given some of its columns. "
            "Promise LIP, ALIP, max-lift or LDP about all releases together (--notion lip --epsilon ...)."
        )


def _warn_of_the_last(notion: Notion) -> None:
    """Say of a first release that none can be designed to follow it under its promise."""
    if notion.is_conditional or not notion.is_polyhedral:
        warnings.warn(
            f"no release is designed to keep {notion} together with this one: after it, design --ledger serves LIP, "
            "ALIP, MaxLift and LDP alone. Where more is to follow, promise one of those.",
            DiscreetWarning,
            stacklevel=2,
        )


def _warn_of_unchecked(entry: Entry, repeated: Sequence[tuple[int, Entry]]) -> None:
    """Say where nothing tells whether people of the same values changed ids among each other."""
    pairs = [(number, entry.sketch, one.sketch) for number, one in repeated if one.sketch is not None]
    if pairs and not any(own is not None and own.telling(other) for _, own, other in pairs):
        warnings.warn(
            f"whether people of the same sensitive and useful values kept their ids since release {pairs[-1][0]} is "
            "not checked: no further column of both tables tells them apart. Whoever changed ids is drawn a second "
            "time, which the ledger does not count. A column that stays, such as a date of birth, lets it be checked.",
            DiscreetWarning,
            stacklevel=2,
        )


def _warn_of_few_values(beside: int) -> None:
    """Say of a release with very many outcomes that hardly another column can be counted beside it."""
    if beside < FEW_VALUES:
        left = f"only columns of at most {beside} values are" if beside else "nothing can be"
        warnings.warn(
            f"so much can be released here that {left} counted beside it later. Where others are to follow, coarsen "
            "the columns or design it by another method.",
            DiscreetWarning,
            stacklevel=2,
        )


def class_column(number: int) -> str:
    """Name of the column with the classes of a whole table, by the place of its release."""
    return f"{OWN}class_{number}"


def _counted_table(
    table: Any, known: Mapping[str, KnownClasses], shown: Sequence[str], columns: Sequence[str]
) -> tuple[Any, list[str]]:
    """Columns of a table, beside the classes of its records and those columns that were published as they are.

    Of the latter, under names that are returned, what a reader can tell apart stays apart: NaN and null, -0 and 0.
    """
    with open_table(table, places=True) as opened:
        if not isinstance(opened, DuckDBTable):
            return _of_spark(opened, table, known, shown)
        wanted = [*columns, *shown, *(column for classes in known.values() for column in classes.columns)]
        validate.columns_exist(wanted, list(opened.kinds), opened.name)
        names = [f"{OWN}shown_{k}" for k in range(len(shown))]
        asked = [DUCKDB.identifier(column) for column in columns]
        asked += [f"{_as_read(opened, column)} AS {name}" for column, name in zip(shown, names)]
        found = opened.relation.order(f"{FILE}, {ROW}").project(", ".join(asked)).to_arrow_table()
        for name, classes in known.items():
            own = classes.read(read_records(opened, classes.columns))
            if own is None:
                raise InputError(
                    "the ledger has a whole table of other records than these: what it told is known of its own "
                    "records alone. Count on the table that was published, or keep a ledger for each."
                )
            found = found.append_column(name, column_of(own))
    return found, names


def _as_read(opened: DuckDBTable, column: str) -> str:
    """A column as text, so that values which differ for a reader differ."""
    kind = opened.kinds[column]
    published = DUCKDB.published(column, kind)
    return f"hex({published})" if kind == "VARCHAR" else DUCKDB.as_text(published)


def _of_spark(
    opened: Any, table: Any, known: Mapping[str, KnownClasses], shown: Sequence[str]
) -> tuple[Any, list[str]]:
    if known:
        raise InputError("whole tables of a ledger are known in memory: give files, or a frame of another library.")
    if any(is_float(opened.kinds[column]) for column in shown):
        raise InputError("kept numbers with a point are counted beside others in memory: give files to a ledger.")
    return table, [*shown]


def _bins(entry: Entry) -> dict[str, list[float]]:
    return {name: list(edges) for name, edges in entry.mechanism.bins.items()}


def _lines(name: str) -> list[str]:
    try:
        with Path(name).open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            content = stream.read(MOST_BYTES + 1)
        text: str | None = content.decode()
    except FileNotFoundError:
        raise InputError(
            f"there is no ledger {name!r}. Check its name; release --ledger and publish --ledger begin one."
        ) from None
    except OSError as error:
        raise InputError(f"cannot read the ledger {name!r}: {error.strerror}.") from None
    except UnicodeDecodeError:
        text = None
    if text == "":
        raise InputError(
            f"the ledger {name!r} is empty, which none ever is: a disk was full, or a copy failed. Restore it; where "
            "nothing was published yet, remove the file, and the first release begins a ledger."
        )
    if text is None or not _may_be_ledger(text):
        raise InputError(f"{name!r} is not a ledger: it is a file of another kind. release --ledger begins one.")
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise InputError(f"others may read the ledger {name!r}. Make it private: chmod 600 {name}")
    if len(content) > MOST_BYTES or (text and not text.endswith("\n")):
        raise InputError(f"{name!r} is not a ledger, or its last line is cut off.")
    return text.split("\n")[:-1]  # other ends of lines may stand in values


def _may_be_ledger(text: str) -> bool:
    """Whether the first line is that of a ledger, if a damaged one: JSON of no other format."""
    first = text.partition("\n")[0]
    try:
        stored = json.loads(first) if first.strip() else {}
    except (ValueError, RecursionError):
        return first.startswith('{"number"')
    return isinstance(stored, dict) and stored.get("format", FORMAT) == FORMAT
