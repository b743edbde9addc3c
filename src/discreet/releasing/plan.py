"""What a release looks up, draws and publishes, settled before a row is read."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from discreet._support import validate
from discreet._support.errors import ColumnNotFoundError, InputError, UnusableColumnError
from discreet.core.joint import Joint
from discreet.mechanism import Draw, Mechanism
from discreet.notions import Notion
from discreet.notions.base import from_dict
from discreet.releasing.request import Request
from discreet.tables.dialect import is_id_type
from discreet.tables.session import OWN

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True)
class Plan:
    """Columns of a release: looked up, drawn, kept.

    Attributes
    ----------
    mechanism, notion : Mechanism, Notion
        What is drawn from, and what it promises; for values, first what those are made of.
    draws : tuple of Draw
        One for each released column; in values, one for all that are released together.
    sensitive : tuple of str
        Sensitive columns, empty where the table has none and the design is trusted.
    id, person : str or None
        Columns of what is unique to a record, and of what the records of a person share; None where there is none.
    kept : tuple of str
        Other columns that are published as they are.
    output : tuple of (str or int, str)
        What is published, from left to right: a column or the number of a released one, and its name.
    shuffle : bool
        Whether rows come in a keyed random order.
    uncovered : tuple of str
        Kept columns that the promise need not cover.
    """

    mechanism: Mechanism
    notion: Notion
    draws: tuple[Draw, ...]
    sensitive: tuple[str, ...]
    id: str | None
    person: str | None
    kept: tuple[str, ...]
    output: tuple[tuple[str | int, str], ...]
    shuffle: bool
    uncovered: tuple[str, ...] = ()

    @property
    def is_in_values(self) -> bool:
        """Whether what is drawn are values of the useful columns."""
        return self.mechanism.is_in_values

    def in_values(self, joint: Joint, *, counts_are_public: bool) -> Plan:
        """The same plan with a mechanism that draws values, by the counts of the table, of which it tells no more."""
        mechanism = self.mechanism.in_values(joint)
        if counts_are_public and not self.mechanism.is_private:
            mechanism = mechanism.made_public()
        return replace(self, mechanism=mechanism, draws=mechanism.draws())

    @property
    def useful(self) -> tuple[str, ...]:
        """The useful columns."""
        return self.mechanism.useful_columns

    @property
    def released(self) -> tuple[str, ...]:
        """Names of the released columns, in the order of the draws."""
        return tuple(name for _, name in sorted((what, name) for what, name in self.output if isinstance(what, int)))

    @property
    def record(self) -> str | None:
        """Column that tells whose draw a record has; None where its place does."""
        return self.person or self.id

    @property
    def published_ids(self) -> tuple[str, ...]:
        """Columns of ids, of records or persons, that are published."""
        return tuple(name for what, name in self.output if what in (self.id, self.person))

    @property
    def looked_up(self) -> tuple[str, ...]:
        """Columns that are read to draw."""
        return tuple(dict.fromkeys(column for draw in self.draws for column in draw.inputs))

    @property
    def read(self) -> tuple[str, ...]:
        """All columns that a release and its checks read."""
        ids = [column for column in (self.id, self.person) if column is not None]
        return tuple(dict.fromkeys((*self.looked_up, *self.useful, *self.sensitive, *self.kept, *ids)))


def make_plan(request: Request, kinds: dict[str, str], table: str) -> Plan:
    """Settle columns and names; ``kinds`` are the types of the table's columns, in their order."""
    mechanism = request.mechanism
    for name in (*kinds, *([] if request.rename is None else [request.rename])):
        if name.casefold().startswith(OWN) or name.casefold() == "file_row_number":
            raise InputError(f"a column is called {name!r}, a name that the draw itself needs. Rename it.")
    promised = request.notion or _promise(mechanism)
    if mechanism.notion != promised.to_dict():
        # What is drawn, stored and certified carries the promise that was checked.
        mechanism = mechanism.promising(promised.to_dict(), mechanism.method)
    draws = mechanism.draws()
    sensitive = _sensitive(mechanism, kinds, request.trust_design, table)
    for column in (request.id, request.person):
        if column is not None:
            _check_record(column, mechanism, kinds, table)
    if request.person is not None and not request.shuffle:
        raise InputError(
            "records of a person are released in a random order only: theirs would tell what their labels do not. "
            "Shuffle the rows (shuffle=True, --shuffle)."
        )
    own = None if request.id == request.person else request.id  # the id of a person is not that of a record
    validate.columns_exist(mechanism.useful_columns, list(kinds), table)
    chosen = _kept(mechanism, list(kinds), request, table)
    kept = tuple(column for column in chosen if column not in (own, request.person))
    named = request.keep != "all" and own in request.keep
    if request.person is not None and own is not None and (request.publish_id or named):
        raise InputError(f"the id {own!r} would tell the order of a person's records, so it cannot be published.")
    ids = [own] if request.publishes_id else []
    ids += [request.person] if request.person in chosen and request.keep != "all" else []
    output = _output(
        mechanism.released_columns(request.rename, as_values=request.in_values), mechanism, kinds, kept, ids
    )
    uncovered = _uncovered(request.uncovered, kept, list(kinds), table)
    ends = (own, request.person, kept, output, request.shuffle, uncovered)
    return Plan(mechanism, promised, draws, sensitive, *ends)


def _check_record(record: str, mechanism: Mechanism, kinds: dict[str, str], table: str) -> None:
    """The id column is there, of a type that every engine writes alike, and not what the release protects."""
    validate.columns_exist([record], list(kinds), table)
    if not is_id_type(kinds[record]):
        raise UnusableColumnError(
            f"the id column {record!r} is of type {kinds[record]}; ids are integers or text, which every engine "
            "writes alike. Cast it to text."
        )
    if _is_among(record, (*mechanism.useful_columns, *mechanism.sensitive_columns)):
        raise InputError(f"column {record!r} cannot be the id: it is what the release protects.")


def _promise(mechanism: Mechanism) -> Notion:
    if mechanism.notion is None:
        raise InputError(
            "the mechanism carries no privacy notion, so nothing could be promised of its release. Design it for one, "
            "or name the notion that it keeps (notion=..., --notion and its budget)."
        )
    return from_dict(mechanism.notion)


def _sensitive(mechanism: Mechanism, kinds: dict[str, str], trust_design: bool, table: str) -> tuple[str, ...]:
    wanted = mechanism.sensitive_columns
    missing = [column for column in wanted if column not in kinds]
    if not missing and wanted:
        return wanted
    if mechanism.reads_sensitive:
        raise ColumnNotFoundError(f"the mechanism reads the sensitive column {missing[0]!r}, which {table} lacks.", [])
    if trust_design:
        return ()
    if not wanted:
        raise InputError(
            "the mechanism does not know which columns are sensitive, so the promise cannot be checked on this table. "
            "Design it from a table, or pass trust_design (--trust-design), which the certificate will say."
        )
    raise ColumnNotFoundError(
        f"{table} lacks the sensitive column {missing[0]!r}, so the promise cannot be checked on it. Add the column, "
        "or pass trust_design (--trust-design), which the certificate will say.",
        list(kinds),
    )


def _kept(mechanism: Mechanism, columns: list[str], request: Request, table: str) -> tuple[str, ...]:
    keep = request.keep
    hidden = (*mechanism.useful_columns, *(() if request.publish_sensitive else mechanism.sensitive_columns))
    if keep == "all":
        return tuple(column for column in columns if not _is_among(column, hidden))
    if isinstance(keep, str):
        raise InputError(f"keep must be 'all' or a list of columns, got {keep!r}.")
    wanted = list(dict.fromkeys(keep))
    validate.columns_exist(wanted, columns, table)
    for column in wanted:
        if _is_among(column, mechanism.useful_columns):
            raise InputError(f"column {column!r} is what the mechanism protects; it is published as drawn only.")
        if _is_among(column, hidden):
            raise InputError(
                f"column {column!r} is sensitive. To publish it all the same, pass publish_sensitive "
                "(--publish-sensitive)."
            )
    return tuple(column for column in columns if column in wanted)


def _is_among(column: str, protected: Sequence[str]) -> bool:
    """Whether a column is one of these, in whatever case it is spelled."""
    return column.casefold() in {name.casefold() for name in protected}


def _uncovered(
    given: Sequence[str] | Literal["all"], kept: tuple[str, ...], columns: list[str], table: str
) -> tuple[str, ...]:
    if given == "all":
        return kept
    if isinstance(given, str):
        raise InputError(f"uncovered must be 'all' or a list of columns, got {given!r}.")
    validate.columns_exist(given, columns, table)
    for column in given:
        if column not in kept:
            raise InputError(f"column {column!r} is named as uncovered and not kept. Keep it too (keep, --keep).")
    return tuple(column for column in kept if column in given)


def _output(
    names: Sequence[str],
    mechanism: Mechanism,
    columns: Iterable[str],
    kept: tuple[str, ...],
    ids: Sequence[str | None],
) -> tuple[tuple[str | int, str], ...]:
    drawn = {column: (number, names[number]) for number, column in enumerate(mechanism.useful_columns[: len(names)])}
    output: list[tuple[Any, str]] = []
    for column in columns:
        if column in drawn:
            output.append(drawn[column])
        elif column in kept or column in ids:
            output.append((column, column))
    folded = [name.casefold() for _, name in output]
    for _, name in output:
        if folded.count(name.casefold()) > 1:
            raise InputError(f"two published columns would be called {name!r}. Choose another name (--as).")
    return tuple(output)
