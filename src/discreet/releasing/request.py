"""All that a caller may choose about a release."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from discreet._support.errors import InputError
from discreet.certificate.signing_key import SigningKey
from discreet.drawing.keys import ReleaseKey
from discreet.mechanism import Mechanism
from discreet.notions import Notion

__all__ = ["Request"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One release as it was asked for; `discreet.release` explains the options.

    Attributes
    ----------
    person : str or None
        Column that tells whose records they are, where a person has several.
    as_values : bool or None
        Whether the useful columns are published in their own values, or symbols as labels; left out, values where the
        symbols are values or mixtures of them.
    publish_id : bool or None
        Left out, an id is published unless the rows are shuffled: sorted by it they may be as they were.
    reads : tuple
        Further files that were read on the way here, such as the mechanism's; no output may replace them.
    write_key : Path or None
        Where the key is stored with the release.
    sign : SigningKey or None
        Signs the public certificate.
    ledger : Path or None
        Private record of what was published about the same people; the promise is about all of it together.
    looser : bool
        Whether the promise may let go of one that earlier releases of the ledger made about all of them.
    """

    table: Any
    mechanism: Mechanism
    key: ReleaseKey
    id: str | None = None
    person: str | None = None
    keep: Sequence[str] | Literal["all"] = ()
    uncovered: Sequence[str] | Literal["all"] = ()
    rename: str | None = None
    as_values: bool | None = None
    notion: Notion | None = None
    publish_id: bool | None = None
    publish_sensitive: bool = False
    trust_design: bool = False
    shuffle: bool = False
    unseen: str = "stop"
    suppress_as: Any = None
    output: Path | None = None
    force: bool = False
    certificate: bool = True
    private_certificate: Path | None = None
    public_counts: bool = False
    proof: Mapping[str, Any] | None = None
    write_key: Path | None = None
    sign: SigningKey | None = None
    ledger: Path | None = None
    looser: bool = False
    engine: str = "auto"
    master: str | None = None
    memory_limit: str | None = None
    reads: tuple[Any, ...] = ()

    @classmethod
    def of(cls, table: Any, mechanism: Any, *, key: Any = None, seed: int | None = None, **options: Any) -> Request:
        """A request whose options are known and fit together."""
        if not isinstance(mechanism, Mechanism):
            raise InputError(f"release takes a Mechanism, got {type(mechanism).__name__}.")
        mechanism.check_kind()
        unknown = sorted(set(options) - {field.name for field in fields(cls)})
        if unknown:
            raise InputError(f"release has no option {unknown[0]!r}.")
        for name in ("output", "private_certificate", "write_key", "ledger"):
            if options.get(name) is not None:
                options[name] = Path(options[name])
        given = (key, options.get("sign"), options.get("ledger"))
        proof = options.get("proof")
        if proof is not None and hasattr(proof, "to_dict"):  # as a design has it
            options["proof"] = proof.to_dict()
        reads = (*options.pop("reads", ()), *(path for path in given if isinstance(path, str | os.PathLike)))
        if options.get("sign") is not None:
            options["sign"] = SigningKey.of(options["sign"])
        made = cls(table=table, mechanism=mechanism, key=ReleaseKey.of(key, seed), reads=reads, **options)
        made._check()
        return made

    def _check(self) -> None:
        if self.unseen not in ("stop", "suppress"):
            raise InputError(f"unseen must be 'stop' or 'suppress', got {self.unseen!r}.")
        if self.as_values not in (None, True, False):
            raise InputError(f"as_values must be True or False, got {self.as_values!r}.")
        if self.as_values is False and self.mechanism.is_in_values:
            raise InputError("the mechanism is in values already. For labels take the one that it was made from.")
        if self.private_certificate is not None and (self.output is None or not self.certificate):
            raise InputError("a private certificate belongs to a release that is written to a file and certified.")
        if self.sign is not None and (self.output is None or not self.certificate):
            raise InputError("a signature belongs to a release that is written to a file and certified.")
        if self.write_key is not None and self.output is None:
            raise InputError("a key is stored beside a release that is written to a file: name the output.")
        if self.ledger is not None and (self.output is None or not self.certificate or self.person is not None):
            raise InputError(
                "a ledger records releases that are written to a file and certified, with one record for each person."
            )
        if self.looser and self.ledger is None:
            raise InputError("looser is about the promises of a ledger: name it (ledger=..., --ledger).")
        paths = [os.path.realpath(path) for path in (self.ledger, self.output) if path is not None]
        if len(set(paths)) < len(paths):
            raise InputError(f"the ledger and the output are one file, {str(self.output)!r}. Name another for each.")
        if self.output is None and self.is_path:
            raise InputError("a path is released to a path: name the output.")

    @property
    def in_values(self) -> bool:
        """Whether the release is in values: as asked, or where a design draws values or mixtures of them.

        Not where somebody names one column for several: those are labels.
        """
        if self.as_values is not None:
            return self.as_values
        mechanism = self.mechanism
        names_labels = self.rename is not None and len(mechanism.useful_columns) > 1
        has_values = mechanism.method is not None and mechanism.own_places is not None
        return mechanism.is_in_values or ((has_values or mechanism.has_mixed_labels) and not names_labels)

    @property
    def publishes_id(self) -> bool:
        """Whether an id, where there is one, is published."""
        return not self.shuffle if self.publish_id is None else self.publish_id

    @property
    def is_path(self) -> bool:
        """Whether the table is named by a path."""
        return isinstance(self.table, str | os.PathLike)
