"""Options that several commands share: the notion, the table, the output format."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from discreet._support import progress
from discreet._support.errors import InputError, InvalidNotionError, UnusableColumnError
from discreet.cli.names import METHODS, NOTIONS, UTILITIES
from discreet.cli.streams import print_lines, print_result, say

if TYPE_CHECKING:
    from discreet.core.joint import Joint
    from discreet.mechanism import Mechanism
    from discreet.notions import Notion

__all__ = [
    "PROMISE",
    "Columns",
    "Format",
    "MethodName",
    "NotionName",
    "NotionOptions",
    "TableOptions",
    "UtilityName",
    "UtilityOptions",
    "check_percent",
    "check_search",
    "input_files",
    "load_proof",
    "load_table",
    "say_private",
    "show",
]

Format = Literal["text", "json"]

#: Options that a notion may take as its fields.
FIELDS = ("epsilon", "eps_lower", "eps_upper", "alpha", "confidence")
SIDES = {"eps_lower", "eps_upper"}


if TYPE_CHECKING:
    NotionName = str
    MethodName = str
    UtilityName = str
else:
    NotionName = Literal[NOTIONS]
    MethodName = Literal[METHODS]
    UtilityName = Literal[UTILITIES]

PROMISE = Group("Privacy notion")


@Parameter(name="*", group=PROMISE)
@dataclass(frozen=True)
class NotionOptions:
    """The promise that is checked or kept.

    Attributes
    ----------
    notion
        Which promise. Left out: lip, or alip where --lam, --eps-lower or --eps-upper is given.
    epsilon
        Budget in nats: of each side for lip, the total where --lam shares it out.
    lam
        Share of --epsilon that goes to the lower side.
    eps_lower
        Budget in nats of falling beliefs.
    eps_upper
        Budget in nats of rising beliefs.
    alpha
        Order of alpha-lift, above 1.
    confidence
        Percent, such as 95: promise for the population that the table is a sample of, given its useful values, and not
        for the counted table alone. Of lip, alip and max-lift.
    """

    notion: NotionName | None = None
    epsilon: float | None = None
    lam: float | None = None
    eps_lower: float | None = None
    eps_upper: float | None = None
    alpha: float | None = None
    confidence: float | None = None

    def build(self) -> Notion | None:
        """The notion asked for, or None where no option was given."""
        from discreet.notions import Notion

        given = {name for name in (*FIELDS, "lam") if getattr(self, name) is not None}
        if self.notion is None and not given:
            return None
        name = self.notion or ("alip" if given & {"lam", *SIDES} else "lip")
        kind = Notion.registry[name]
        if self.confidence is not None:
            check_percent(self.confidence)
            if "confidence" not in {field.name for field in dataclasses.fields(kind)}:  # type: ignore[arg-type]
                raise InvalidNotionError(_unsure(name))
        fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
        self._only(name, given, {*fields, *_stand_ins(fields)})
        self._check_missing(name, given, fields)
        values = self._sides(name, given, SIDES & set(fields))
        for option in fields.keys() - values.keys():
            if option in given or fields[option].default is dataclasses.MISSING:
                values[option] = self._need(name, option)
        if self.confidence is not None:
            values["confidence"] = self.confidence / 100
        return kind.from_fields(values)

    def _sides(self, name: str, given: set[str], sides: set[str]) -> dict[str, float | None]:
        """Budgets of the sides that a notion has: its own options, or those that stand in for them."""
        from discreet.notions import ALIP

        if len(sides) == 1:
            (side,) = sides
            return {side: self._need(name, side if side in given else "epsilon")}
        if sides and given & {"epsilon", "lam"}:
            if given & sides:
                raise InvalidNotionError("give either --epsilon with --lam, or --eps-lower and --eps-upper.")
            shared = ALIP.split(self._need(name, "epsilon"), self._need(name, "lam"))
            return {"eps_lower": shared.eps_lower, "eps_upper": shared.eps_upper}
        return {side: getattr(self, side) for side in sides}

    @staticmethod
    def _check_missing(name: str, given: set[str], fields: Mapping[str, Any]) -> None:
        """What a notion lacks besides one option is said in one message."""
        needed = {"alpha": "alpha" in fields, "lam": "epsilon" in given and set(fields) >= SIDES}
        lacking = [f"--{option}" for option, is_needed in needed.items() if is_needed and option not in given]
        if len(lacking) > 1:
            raise InvalidNotionError(f"the notion {name} needs {' and '.join(lacking)}.")

    def _need(self, notion: str, option: str) -> float:
        value = getattr(self, option)
        if value is None:
            raise InvalidNotionError(f"the notion {notion} needs --{option.replace('_', '-')}.")
        return float(value)

    @staticmethod
    def _only(notion: str, given: set[str], allowed: set[str]) -> None:
        extra = sorted(given - allowed)
        if extra:
            raise InvalidNotionError(f"the notion {notion} has no option --{extra[0].replace('_', '-')}.")


def check_percent(value: float, option: str = "--confidence") -> None:
    """A share in percent that is not all, refused before any work is done."""
    if not 1 <= value < 100:
        raise InvalidNotionError(f"{option} takes percent from 1 to below 100, such as 95, got {value:g}.")


def _unsure(notion: str) -> str:
    """Why a notion cannot be promised with confidence, and what can."""
    way_out = {
        "ldp": "Use --notion alip with --eps-lower and --eps-upper that add up to its budget, from which ldp follows.",
        "perfect": "Use --notion lip with a small budget.",
    }.get(notion, "Use --notion lip, alip or max-lift.")
    return f"the notion {notion} is not promised with confidence: its limits are no linear rows. {way_out}"


def _stand_ins(fields: Mapping[str, Any]) -> set[str]:
    """Options that stand in for fields: --epsilon for a single side, with --lam for two."""
    sides = SIDES & set(fields)
    return {"epsilon", "lam"} if len(sides) == 2 else {"epsilon"} if sides else set()


@Parameter(name="*")
@dataclass(frozen=True)
class UtilityOptions:
    """What is kept.

    Attributes
    ----------
    utility
        What is kept as much of as can be: information (NMI), accuracy (records guessed right), or distance (how near
        the best guess at a number is). The optimum of the last two releases the column's own values.
    invariant
        With accuracy or distance: published values keep the distribution of the column, on average over the draw.
    """

    utility: UtilityName = "information"
    invariant: Annotated[bool, Parameter(negative="")] = False

    def chosen(self) -> dict[str, Any]:
        """As arguments of a design, refused before any work is done where they do not go together."""
        if self.invariant and self.utility == "information":
            raise InputError(
                "--invariant keeps the distribution of published values: give --utility accuracy or distance."
            )
        return {"utility": self.utility, "invariant": self.invariant}


Columns = Annotated[list[str], Parameter(negative="", consume_multiple=False)]
Bins = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=False, show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class TableOptions:
    """The table, and which of its columns are protected and published.

    Attributes
    ----------
    table
        CSV or Parquet file, a glob over such files, or sample:adult.
    sensitive
        Column to protect; repeat the option for several.
    useful
        Column to publish; repeat the option for several.
    bins
        Cut a numeric column: age=0,18,65 or age=quantiles:10. Repeatable.
    """

    table: str
    _: KW_ONLY
    sensitive: Columns
    useful: Columns
    bins: Bins = ()

    @property
    def files(self) -> list[str]:
        """Files that the table is read from, which no output may replace."""
        return input_files(self.table)

    def joint(self, edges: Mapping[str, Sequence[float]] | None = None) -> Joint:
        """The counted joint, refused where there is nothing to learn or to hide; cut at given edges, if there are."""
        from discreet.core.joint import Joint
        from discreet.tables.binning import parse_option

        bins = parse_option(self.bins) if edges is None else edges
        with progress.stage("reading the table"):
            joint = Joint.from_table(load_table(self.table), self.sensitive, self.useful, bins=bins)
        for role, columns, size in (
            ("useful", self.useful, joint.n_useful),
            ("sensitive", self.sensitive, joint.n_sensitive),
        ):
            if size < 2:
                raise UnusableColumnError(
                    f"the {role} column {' + '.join(columns)} has only one value, so there is nothing to "
                    f"{'publish' if role == 'useful' else 'protect'}. Choose another column."
                )
        return joint


def load_table(table: str) -> Any:
    """A path as it is, ``sample:NAME`` as the built-in table."""
    if not table.startswith("sample:"):
        return table
    from discreet import samples

    name = table.removeprefix("sample:")
    if name not in samples.names():
        raise InputError(f"no sample {name!r}. There are: {', '.join(samples.names())}.")
    return getattr(samples, name)()


def input_files(table: str) -> list[str]:
    """Files that a table is read from."""
    from discreet.tables.files import table_files

    return [] if table.startswith("sample:") else table_files(table)


def load_proof(path: Path | None) -> dict[str, Any] | None:
    """A proof that design wrote, by itself or in a private design."""
    if path is None:
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{str(path)!r} is not a proof: no JSON in UTF-8.") from None
    if isinstance(stored, dict) and "proof" in stored:
        stored = stored["proof"]
    if not isinstance(stored, dict) or not {"rows", "largest", "smallest", "prices", "splits"} <= set(stored):
        raise InputError(f"{str(path)!r} is not a proof that design wrote.")
    return stored


def check_search(time_limit: float | None, seed: int | None) -> None:
    """Options of searches, refused before any work is done."""
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"--time-limit must be a positive number of seconds, got {time_limit}.")
    if seed is not None and seed < 0:
        raise InputError(f"--seed must be at least 0, got {seed}.")


def say_private(what: str | Path, mechanism: Mechanism) -> None:
    """On stderr, why a file or a text that holds a private mechanism is private."""
    if mechanism.is_private:
        from discreet.reporting import words

        say(f"note: {words.private_words(os.fspath(what))}")


def show(output_format: Format, data: dict[str, Any], text: Any) -> None:
    """The result on stdout, as JSON or as text."""
    if output_format == "json":
        from discreet._support import jsonable

        print_lines(jsonable.dumps(data))
    else:
        print_result(text)
