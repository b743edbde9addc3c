"""Options that several commands share: the notion, the table, the output format."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from discreet import samples
from discreet._support import jsonable
from discreet._support.errors import InputError, InvalidNotionError, UnusableColumnError
from discreet.core.joint import Joint
from discreet.notions import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, MaxLift, Notion, PerfectPrivacy
from discreet.reporting.text.console import make_console
from discreet.tables.binning import parse_option
from discreet.tables.files import table_files

__all__ = [
    "Format",
    "NotionName",
    "NotionOptions",
    "check_search",
    "input_files",
    "load_joint",
    "load_proof",
    "load_table",
    "show",
]

Format = Literal["text", "json"]
NotionName = Literal["lip", "alip", "ldp", "max-lift", "perfect", "l1", "chi2", "alpha-lift", "srlip"]

_PROMISE = Group("Privacy notion")


@Parameter(name="*", group=_PROMISE)
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
    """

    notion: NotionName | None = None
    epsilon: float | None = None
    lam: float | None = None
    eps_lower: float | None = None
    eps_upper: float | None = None
    alpha: float | None = None

    def build(self) -> Notion | None:
        """The notion asked for, or None where no option was given."""
        given = {
            name for name in ("epsilon", "lam", "eps_lower", "eps_upper", "alpha") if getattr(self, name) is not None
        }
        if self.notion is None and not given:
            return None
        name = self.notion or ("alip" if given & {"lam", "eps_lower", "eps_upper"} else "lip")
        if name == "perfect":
            self._only(name, given, set())
            return PerfectPrivacy()
        if name in ("lip", "ldp", "srlip"):
            self._only(name, given, {"epsilon"})
            return {"lip": LIP, "ldp": LDP, "srlip": SRLIP}[name](self._need(name, "epsilon"))
        if name == "max-lift":
            self._only(name, given, {"epsilon", "eps_upper"})
            return MaxLift(self._need(name, "eps_upper" if "eps_upper" in given else "epsilon"))
        sides = self._sides(name, given)
        if name == "alpha-lift":
            return AlphaLift(self._need(name, "alpha"), **sides)
        two_sided: dict[str, type[ALIP] | type[L1Lift] | type[Chi2Lift]] = {
            "alip": ALIP,
            "l1": L1Lift,
            "chi2": Chi2Lift,
        }
        return two_sided[name](**sides)

    def _sides(self, name: str, given: set[str]) -> dict[str, float | None]:
        self._only(
            name,
            given,
            {"epsilon", "lam", "eps_lower", "eps_upper"} | ({"alpha"} if name == "alpha-lift" else set()),
        )
        if given & {"epsilon", "lam"}:
            if given & {"eps_lower", "eps_upper"}:
                raise InvalidNotionError("give either --epsilon with --lam, or --eps-lower and --eps-upper.")
            shared = ALIP.split(self._need(name, "epsilon"), self._need(name, "lam"))
            return {"eps_lower": shared.eps_lower, "eps_upper": shared.eps_upper}
        return {"eps_lower": self.eps_lower, "eps_upper": self.eps_upper}

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


Columns = Annotated[list[str], Parameter(negative="", consume_multiple=False)]
Bins = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=False, show_default=False)]


def load_table(table: str) -> Any:
    """A path as it is, ``sample:NAME`` as the built-in table."""
    if not table.startswith("sample:"):
        return table
    name = table.removeprefix("sample:")
    if name not in samples.names():
        raise InputError(f"no sample {name!r}. There are: {', '.join(samples.names())}.")
    return getattr(samples, name)()


def input_files(table: str) -> list[str]:
    """Files that a table is read from."""
    return [] if table.startswith("sample:") else table_files(table)


def load_joint(table: str, sensitive: list[str], useful: list[str], bins: tuple[str, ...]) -> Joint:
    """The counted joint, refused where there is nothing to learn or to hide."""
    joint = Joint.from_table(load_table(table), sensitive, useful, bins=parse_option(bins))
    for role, columns, size in (
        ("useful", useful, joint.n_useful),
        ("sensitive", sensitive, joint.n_sensitive),
    ):
        if size < 2:
            raise UnusableColumnError(
                f"the {role} column {' + '.join(columns)} has only one value, so there is nothing to "
                f"{'publish' if role == 'useful' else 'protect'}. Choose another column."
            )
    return joint


def load_proof(path: Path | None) -> dict[str, Any] | None:
    """A proof that design wrote."""
    if path is None:
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{str(path)!r} is not a proof: no JSON in UTF-8.") from None
    if not isinstance(stored, dict) or not {"rows", "largest", "smallest", "prices", "splits"} <= set(stored):
        raise InputError(f"{str(path)!r} is not a proof that design wrote.")
    return stored


def check_search(time_limit: float | None, seed: int | None) -> None:
    """Options of searches, refused before any work is done."""
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"--time-limit must be a positive number of seconds, got {time_limit}.")
    if seed is not None and seed < 0:
        raise InputError(f"--seed must be at least 0, got {seed}.")


def show(output_format: Format, data: dict[str, Any], text: Any) -> None:
    """The result on stdout, as JSON or as text."""
    if output_format == "json":
        sys.stdout.write(jsonable.dumps(data) + "\n")
    else:
        make_console(sys.stdout).print(text)
