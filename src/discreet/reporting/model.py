"""A release decision as a typed record: what a report says, whoever renders it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = [
    "AuditedSymbol",
    "Becomes",
    "CertificateFacts",
    "ChanceFacts",
    "Decision",
    "Figures",
    "Judgement",
    "Lifts",
    "Part",
    "Sizes",
    "StandsFor",
    "Tradeoff",
    "TradeoffRow",
]


class Part:
    """A record whose fields are plain data or further records."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as plain data."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Sizes(Part):
    """Numbers of values."""

    sensitive: int
    useful: int
    released: int


@dataclass(frozen=True)
class Judgement(Part):
    """Whether the table as it is keeps the promise, and whether the release does; slacks in nats.

    ``population`` and the numbers beside it are those of `AuditVerdict`.
    """

    holds: bool
    slack: float
    violating_symbols: int | None
    violating_probability: float | None
    release_holds: bool
    release_slack: float
    population: str | None = None
    population_symbols: Mapping[str, int] | None = None
    population_probability: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Figures(Part):
    """Figures of the mechanism: those of `Design.to_dict`; ``seconds`` is None where it was not designed here."""

    method: str
    notion: Mapping[str, Any]
    nmi: float
    mutual_information: float
    nmi_in_values: float | None
    utility: str
    kept: float
    measured: Mapping[str, Any] | None
    bound: float | None
    status: str
    evidence: str | None
    slack: float
    after: int | None
    unchanged: float | None
    share_error: float | None
    distortion: float | None
    log_max_lift: float
    log_min_lift: float
    released: int
    useful: int
    reads_sensitive: bool
    in_values: bool
    seconds: float | None


@dataclass(frozen=True)
class Lifts(Part):
    """Lifts, a row for each sensitive value, with the shares of rows and columns and what the promise says of each."""

    sensitive: tuple[str, ...]
    sensitive_shares: tuple[float, ...]
    symbols: tuple[str, ...]
    shares: tuple[float, ...]
    lifts: tuple[tuple[float, ...], ...]
    allowed: tuple[bool, ...] | None
    outside: tuple[tuple[bool, ...], ...] | None


@dataclass(frozen=True)
class AuditedSymbol(Part):
    """A useful value and how it changes beliefs; ``allowed`` is None where single values are not judged.

    Labels are texts in a decision, and in their stored form in an audit. The intervals of the lifts, how the value
    stands to the promise in the population, and whether its records are too few to tell, are None without records.
    """

    symbol: Any
    probability: float
    records: int | None
    max_lift: float
    min_lift: float
    lift_ratio: float
    l1_lift: float
    l1_lift_inverse: float
    chi2_lift: float
    chi2_lift_inverse: float
    likelier: Any
    unlikelier: Any
    rules_out: tuple[Any, ...]
    allowed: bool | None = None
    max_lift_interval: tuple[float, float] | None = None
    min_lift_interval: tuple[float, float] | None = None
    population: str | None = None
    is_open: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; without ``allowed`` where it is not judged."""
        return {name: value for name, value in super().to_dict().items() if name != "allowed" or value is not None}


@dataclass(frozen=True)
class ChanceFacts(Part):
    """How much of what was measured chance alone gives, where X tells nothing about S.

    Attributes
    ----------
    p_value, method, statistic
        The test of independence; see `discreet.measures.independence_test`.
    expected_information : float
        Nats of mutual information that are measured on average then; see `discreet.measures.chance_information`.
    share : float
        That over the measured information, at most 1: also where none is measured.
    telling_symbols : int
        Symbols with a lift whose interval excludes 1.
    evidence : bool
        Whether there are such symbols, or the p-value is below half of what the confidence leaves. Where X tells
        nothing this is wrong with at most 1.5 times that probability.
    """

    p_value: float
    method: str
    statistic: float
    expected_information: float
    share: float
    telling_symbols: int
    evidence: bool


@dataclass(frozen=True)
class Becomes(Part):
    """A useful value and what it is released as, likeliest first."""

    value: str
    share: float
    released: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class StandsFor(Part):
    """A released value, its short code, and the true values behind it, likeliest first."""

    code: str
    label: str
    share: float
    stands_for: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class TradeoffRow(Part):
    """What one method keeps at one budget."""

    epsilon: float
    method: str
    nmi: float
    bound: float | None
    status: str
    log_max_lift: float
    log_min_lift: float
    released: int


@dataclass(frozen=True)
class Tradeoff(Part):
    """The curve, and where this release lies on it; without rows and budget the note says why there is none."""

    rows: tuple[TradeoffRow, ...]
    epsilon: float | None = None
    nmi: float | None = None
    note: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; without ``nmi`` where there is no budget."""
        return {name: value for name, value in super().to_dict().items() if name != "nmi" or value is not None}


@dataclass(frozen=True)
class CertificateFacts(Part):
    """Figures of a certificate, never its counts; and whether it is whole, about the mechanism shown and this table.

    ``same_mechanism`` is None where a public certificate leaves a private mechanism out.
    """

    digest: str
    intact: bool
    same_mechanism: bool | None
    fits_table: bool
    not_covered: tuple[str, ...]
    nmi: str
    bound: str | None
    bound_evidence: str | None
    achieved: Mapping[str, str] | None
    rows: Mapping[str, int] | None
    mechanism_digest: str | None
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Decision(Part):
    """All that a report of a release decision says.

    Labels are texts, made distinct. ``after`` is None, and ``values`` and ``released`` are empty, where the release has
    too many possible values; ``unlisted`` then tells how it is made. Released values are ordered by their share.
    ``confidence`` is that of the intervals of lifts, and ``chance`` tells how much of all this chance alone would give;
    both are None where no records were counted.
    """

    secret: str
    column: str
    records: int | None
    sizes: Sizes
    notion: Mapping[str, Any]
    notion_text: str
    promise: str
    against: str
    verdict: Judgement
    design: Figures
    limit: str
    before: Lifts
    worst: tuple[AuditedSymbol, ...]
    after: Lifts | None
    values: tuple[Becomes, ...]
    released: tuple[StandsFor, ...]
    unlisted: str | None
    tradeoff: Tradeoff
    limits: tuple[str, ...]
    certificate: CertificateFacts | None
    examples: tuple[tuple[str, str], ...] | None
    version: str
    confidence: float | None = None
    chance: str | None = None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Decision:
        """The decision that `to_dict` described, to render it again."""
        data = {name: _frozen(value) for name, value in stored.items()}
        for name, kind in (
            ("sizes", Sizes),
            ("verdict", Judgement),
            ("design", Figures),
            ("before", Lifts),
            ("after", Lifts),
            ("certificate", CertificateFacts),
        ):
            data[name] = None if data[name] is None else kind(**data[name])
        for name, entry in (("worst", AuditedSymbol), ("values", Becomes), ("released", StandsFor)):
            data[name] = tuple(entry(**one) for one in data[name])
        rows = tuple(TradeoffRow(**row) for row in data["tradeoff"]["rows"])
        return cls(**{**data, "tradeoff": Tradeoff(**{**data["tradeoff"], "rows": rows})})


def _plain(value: Any) -> Any:
    """Records as dicts, tuples as lists."""
    if isinstance(value, Part):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def _frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    if isinstance(value, tuple | list):
        return tuple(map(_frozen, value))
    return {name: _frozen(item) for name, item in value.items()} if isinstance(value, Mapping) else value
