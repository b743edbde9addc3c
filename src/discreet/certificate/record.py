"""Certificates: what a mechanism promises on a table, stated so that a checker needs to trust nobody.

The public part holds no counts, since the counts of (S, X) are the table itself. The private part adds them, the proof
of the bound, and the key of the input's digest; it belongs to the owner of the table.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import html
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._support import files, progress
from discreet._support.errors import BrokenNotionError, InputError, UnsupportedNotionError
from discreet._support.version import version
from discreet._support.visible import visible
from discreet.certificate import checker, signature
from discreet.certificate.lifts import extreme_lifts
from discreet.certificate.limits import with_limits
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.core.rare import has_rare_values
from discreet.measures import entropy, useful_information
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import LIFTS, Notion, from_dict

__all__ = ["Certificate", "achieved", "certify", "check_certifiable", "private_mac", "sealed", "spelled", "trusted"]

FORMAT = checker.FORMAT

#: Step of stated numbers, each rounded to the safe side. More digits would tell more about the counts.
DECIMALS = decimal.Decimal("1e-6")

#: Records that a published count has at least, unless it is zero.
FEWEST_RECORDS = 5

#: Entries of a proof that a certificate carries; a longer one leaves its bound claimed.
MOST_PROOF_NUMBERS = 3_000_000


class Certificate:
    """A certificate as plain data; ``public`` is for everyone, ``private`` for the owner of the table."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise InputError(f"not a certificate of format {FORMAT!r}.")
        self._content = dict(content)

    @property
    def is_private(self) -> bool:
        """Whether it holds what its owner alone may see."""
        return any(name in self._content for name in self.private_names) or _holds_private_mechanism(self._content)

    @property
    def private_names(self) -> tuple[str, ...]:
        """Fields that are not for everyone."""
        secrets = ("input_key", "keyed_digests", "private_publication")
        return secrets if self._content.get("public_counts") is True else ("counts", "proof", *secrets)

    @property
    def public(self) -> Certificate:
        """The part for everyone: without secrets, counts and proof unless those are public, and private mechanisms."""
        rest = {name: value for name, value in self._content.items() if name not in self.private_names}
        if _holds_private_mechanism(rest):
            # A plain digest would tell whether a guessed mechanism is the right one.
            keyed = self._content.get("keyed_digests", {"mechanism": None})
            rest |= {"mechanism": None, "digests": {**rest["digests"], **keyed}}
        return Certificate(sealed(rest))

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that it certifies, with which readers estimate; an error where that is private."""
        if self._content["mechanism"] is None:
            raise InputError("the mechanism is private, and stands in the private certificate alone.")
        return Mechanism.from_dict(self._content["mechanism"])

    def __getitem__(self, name: str) -> Any:
        return self._content[name]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return dict(self._content)

    def with_fields(self, **fields: Any) -> Certificate:
        """The same certificate with more stated, sealed anew."""
        return Certificate(sealed({**self._content, **fields}))

    def with_public_counts(self, fewest_persons: int | None = None) -> Certificate:
        """The certificate with its counts and proof for everyone, so that anyone can verify it.

        Refused where a cell of (S, X) has 1 to 4 records: such a count may be a person whom a neighbour knows.
        """
        counts = self._content.get("counts")
        if counts is None or self._content["rows"] is None:
            raise InputError("there are no counts to publish: the certificate was not made from a table.")
        few = sum(1 <= n < FEWEST_RECORDS for _, _, n in counts["cells"])
        if fewest_persons is not None and fewest_persons < FEWEST_RECORDS:
            raise InputError(
                f"some pair of sensitive and useful values belongs to fewer than {FEWEST_RECORDS} persons, so counts "
                "are not published. Coarsen the columns (bins, fewer values), or leave out --public-counts."
            )
        if few:
            raise InputError(
                f"{few} pairs of sensitive and useful values have fewer than {FEWEST_RECORDS} records, so their counts "
                "are not published. Coarsen the columns (bins, fewer values), or leave out --public-counts."
            )
        if self._content["mechanism"]["private"]:
            raise InputError(
                "the mechanism was designed on few records and is private, so public counts would let nobody verify it."
            )
        return self.with_fields(public_counts=True, private_mechanism=False)

    def authenticated(self) -> str:
        """What the key of a release authenticates: all of the public part but the code itself and the digest."""
        content = {name: value for name, value in self.public.to_dict().items() if name != "certificate_digest"}
        holder = dict(content.get("publication", content))
        holder["key"] = {name: value for name, value in holder["key"].items() if name != "mac"}
        content |= {"publication": holder} if "publication" in content else holder
        return checker.digest(content)

    def text(self) -> str:
        """The content of its file."""
        return json.dumps(self._content, ensure_ascii=False, allow_nan=False) + "\n"

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write it; one that holds counts is readable by its owner alone."""
        files.write_text(path, self.text(), private=self.is_private)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read what `to_json` wrote."""
        try:
            with open(path, encoding="utf-8") as stream:
                return cls(checker.read(stream.read()))
        except OSError as error:
            raise InputError(f"cannot read {os.fspath(path)!r}: {error.strerror}.") from None
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{os.fspath(path)!r} is not a certificate: no JSON in UTF-8, or a name occurs twice."
            ) from None

    def sign(self, key: Any) -> str:
        """Sign its public part with an Ed25519 key of OpenSSH: the content of a ``.sig`` file, as ssh-keygen makes it.

        Parameters
        ----------
        key : path
            Of a private key that is not encrypted, and that its owner alone may read.
        """
        if self._content.get("certificate_digest") != sealed(self._content)["certificate_digest"]:
            raise InputError("the certificate was changed since it was sealed, so it is not signed. Certify anew.")
        return signature.sign(self.public.text().encode(), key)

    def __repr__(self) -> str:
        notion, bound = from_dict(self._content["notion"]), self._content["bound"]
        limit = "" if bound is None else f" of at most {bound}"
        kind = "private" if self.is_private else "public"
        return visible(f"Certificate({notion}, NMI {self._content['nmi']}{limit}, {kind})")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def private_mac(key: Any, private: Mapping[str, str], public: str) -> str:
    """A code that tells whoever has the key whether the private part of a whole table's certificate was changed.

    ``public`` is the code of the public part that it belongs to.
    """
    content = {name: value for name, value in private.items() if name != "mac"}
    return str(key.mac(checker.digest({"private": content, "public": public})))


#: Nats of H(X) from which floats tell a share of it, and the part of its sixth decimal about which they are unsure.
LEAST_ENTROPY, UNSURE = 1e-3, 1e-3


def certify(
    mechanism: Any,
    joint: Joint | None = None,
    notion: Notion | None = None,
    *,
    proof: Any = None,
    after: Any = None,
) -> Certificate:
    """Certify that a mechanism keeps a notion on a joint; refused where it does not.

    Parameters
    ----------
    mechanism : Mechanism or Design
        A design brings its joint, its notion and the proof of its bound along.
    joint : Joint
        P(s, x), best counted from a table.
    notion : Notion
        The promise; left out, the one that the mechanism was designed for.
    proof : Proof or dict, optional
        Proof of an upper limit of NMI, as a design has it.
    after : Earlier or list of Mechanism, optional
        What was published about the same records before; the promise is about all of it together.

    Returns
    -------
    Certificate
        With the counts: publish its ``public`` part only.

    Examples
    --------
    >>> from discreet import LIP, design
    >>> joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    >>> certify(design(joint, LIP(0.5)))
    Certificate(LIP(0.5), NMI 0.726843 of at most 0.726844, private)
    """
    claimed, designed_on = None, None
    if not isinstance(mechanism, Mechanism):  # a design, told by what it has so that no designer is imported
        if not isinstance(getattr(mechanism, "mechanism", None), Mechanism):
            raise InputError(f"certify takes a mechanism or a design, got {type(mechanism).__name__}.")
        about_nmi = joint is None and mechanism.utility == "information"
        claimed = mechanism.bound if about_nmi else None
        made, joint = mechanism.mechanism, mechanism.joint if joint is None else joint
        notion = mechanism.notion if notion is None else notion
        if proof is None:
            proof = mechanism.proof
        after = mechanism.after if after is None else after
        mechanism, designed_on = made, mechanism.designed_on
    if hasattr(proof, "to_dict"):
        proof = proof.to_dict()
    if not isinstance(joint, Joint):
        raise InputError("certify takes a mechanism and a joint, or a design.")
    after = after if after is None or isinstance(after, Earlier) else Earlier.of(joint, after)
    mechanism.check_kind()
    if mechanism.kind not in checker.KINDS:
        raise InputError(f"the checker of certificates does not know mechanisms of the kind {mechanism.kind!r}.")
    if notion is None:
        if mechanism.notion is None:
            raise InputError("the mechanism carries no notion: name the one that it keeps.")
        notion = from_dict(mechanism.notion)
    if not notion.holds(joint, mechanism):
        slack = notion.slack(joint, mechanism)
        how = f"by {-slack:.3g} nats" if slack > -math.inf else "since a released value rules a sensitive one out"
        raise BrokenNotionError(
            f"the mechanism breaks {notion} here {how}, so it is not certified. Design it on this table, or certify a "
            "promise with a larger budget."
        )
    if after is not None and notion.confidence is not None:
        raise InputError(
            f"what several releases tell together is certified on the counted table: certify {notion.on_counts()}, "
            "without confidence."
        )
    if after is not None and not notion.holds(after.through(mechanism)):
        raise BrokenNotionError(
            f"after the earlier releases the mechanism breaks {notion} by "
            f"{-notion.slack(after.through(mechanism)):.3g} nats, so it is not certified. Design it after them (after, "
            "--after), or certify a promise with a larger budget."
        )
    found = _stated(mechanism, joint, notion, proof, claimed, after)
    if designed_on is None:
        return found
    return found.with_fields(designed_on={"records": designed_on.records, **achieved(mechanism, designed_on)})


def _stated(
    mechanism: Mechanism,
    joint: Joint,
    notion: Notion,
    proof: Mapping[str, Any] | None,
    claimed: float | None,
    after: Earlier | None = None,
) -> Certificate:
    check_certifiable(notion)
    if mechanism.notion != notion.to_dict():
        mechanism = mechanism.promising(notion.to_dict(), mechanism.method)
    content: dict[str, Any] = {
        "format": FORMAT,
        "notion": notion.to_dict(),
        "mechanism": mechanism.public_dict(),
        "achieved": achieved(mechanism, joint),
        "bound": None,
        "bound_evidence": None,
        "rows": None if joint.counts is None else {"input": joint.records, "output": joint.records},
        "reads_sensitive": mechanism.reads_sensitive,
        "public_counts": False,
        "private_mechanism": mechanism.is_private or has_rare_values(joint),
        "digests": {"mechanism": checker.digest(mechanism.public_dict())},
        "versions": {"discreet": version(), "python": platform.python_version()},
        "counts": with_limits(
            {
                "sensitive": spelled(joint.sensitive, mechanism.sensitive),
                "useful": spelled(joint.useful, mechanism.useful),
                "cells": _cells(joint),
            },
            notion.to_dict(),
        ),
    }
    if after is not None:
        content |= _before(after, content["counts"])
    if not checker.size(content)[0]:
        raise InputError(
            f"a certificate of {mechanism.n_useful} useful and {joint.n_sensitive} sensitive values under it "
            "would take its checker too long. Certify a release of fewer or coarser values."
        )
    nmi = _kept(content, mechanism, joint)
    content["nmi"] = _decimal_text(nmi, decimal.ROUND_FLOOR)
    if nmi >= 1:
        content |= {"bound": "1.000000", "bound_evidence": "nothing keeps more than all of X"}
    elif proof is not None and not mechanism.reads_sensitive and _size(proof) <= MOST_PROOF_NUMBERS:
        with progress.stage("evaluating the proof"):
            content = _with_bound(content, joint, proof)
    if content["bound"] is None and claimed is not None and claimed >= nmi:
        content["bound"] = _decimal_text(Fraction(claimed), decimal.ROUND_CEILING)
        content["bound_evidence"] = "claimed, not checkable"
    return Certificate(sealed(content))


def _before(after: Earlier, counts: Mapping[str, Any]) -> dict[str, Any]:
    """What came before: digests of mechanisms that are not private, and what readers of those have seen."""
    made = [None if one.is_private else checker.digest(one.public_dict()) for one in after.mechanisms]
    outcomes = [
        [[s, x, int(n)] for s, row in enumerate(table) for x, n in enumerate(row) if n] for table in after.outcomes
    ]
    return {"after": made, "counts": {**counts, "outcomes": outcomes}}


def _holds_private_mechanism(content: Mapping[str, Any]) -> bool:
    return bool(content.get("private_mechanism")) and content.get("mechanism") is not None


def check_certifiable(notion: Notion) -> None:
    """A certificate states what the checker can decide by itself, and no notion that goes by another's name."""
    if notion.name not in checker.NOTIONS or Notion.registry[notion.name] is not type(notion):
        raise UnsupportedNotionError(
            f"{notion} cannot be certified: the checker of certificates does not know this notion. Certify a notion "
            f"that follows from it and that the checker knows: {', '.join(sorted(checker.NOTIONS))}."
        )


def trusted(mechanism: Mechanism, joint: Joint, notion: Notion) -> Certificate:
    """A certificate of a release whose table had no S: the promise is the design's, and nothing is measured."""
    stated = _stated(mechanism, joint, notion, None, None).public.to_dict()
    return Certificate(sealed({**stated, "achieved": None}))


def _kept(content: Mapping[str, Any], mechanism: Mechanism, joint: Joint) -> Fraction:
    """I(X; Y) / H(X) to six decimals; by floats where they tell them, or where released values are too many to list."""
    whole = entropy(joint)
    listed = mechanism.kind != "bits"
    if not listed or (joint.floats_suffice and whole > LEAST_ENTROPY):
        share = min(1.0, useful_information(joint, mechanism) / whole) if whole > 0 else 0.0
        if not listed or UNSURE < share * 10**6 % 1 < 1 - UNSURE:
            return Fraction(share)
    # What is kept whole differs from one in the fiftieth digit, which must not make it 0.999999.
    return min(Fraction(1), checker.information_kept(dict(content)) + Fraction(1, 10**30))


def spelled(values: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Labels as they are stored, written as the mechanism writes them: 1 and 1.0 are one value.

    >>> spelled([1.0, "x"], [1, "x"])
    [1, 'x']
    """
    own = {label: label for label in known}
    return [labels.encode(own.get(value, value)) for value in values]


def _cells(joint: Joint) -> list[list[int]]:
    masses = joint.whole
    rows, columns = np.nonzero(masses)
    return [[s, x, int(n)] for s, x, n in zip(rows.tolist(), columns.tolist(), masses[rows, columns].tolist())]


def achieved(mechanism: Mechanism, joint: Joint) -> dict[str, str]:
    """The extreme log-lifts, nats, rounded away from zero."""
    smallest, largest = extreme_lifts(mechanism.judged(joint, LIFTS))
    return {
        "log_max_lift": _decimal_text(_log(largest), decimal.ROUND_CEILING),
        "log_min_lift": "-inf" if smallest == 0 else _decimal_text(_log(smallest), decimal.ROUND_FLOOR),
    }


def _log(value: Fraction) -> Fraction:
    context = decimal.Context(prec=40)
    quotient = context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    return Fraction(context.ln(quotient))


def _decimal_text(value: Fraction, rounding: str) -> str:
    exact = decimal.Context(prec=80).divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    return format(exact.quantize(DECIMALS, rounding=rounding), "f")


def _with_bound(content: dict[str, Any], joint: Joint, proof: Mapping[str, Any]) -> dict[str, Any]:
    """The bound as the checker itself evaluates the proof, and the proof in the checker's numbering."""
    symbols = [x for x in range(joint.n_useful) if joint.occurs[x]]
    table = [[int(n) for n in row] for row in joint.masses]
    slices = list(checker.slices(content, table))

    def numbered(part: Mapping[str, Any]) -> dict[str, Any]:
        rows = []
        for kind, first, second, inside in part["rows"]:
            if isinstance(inside, int):  # an outcome of earlier releases
                number = inside
            else:
                number = slices.index(slices[0] if inside is None else [symbols[k] for k in inside])
            rows.append([kind, first, second, number])
        return {**part, "rows": rows}

    stated = {**content, "proof": numbered(proof)}
    if "inside" in proof:
        stated["proof"]["inside"] = [part and numbered(part) for part in proof["inside"]]
    try:
        limit = checker.proven_bound(stated)
    except (ValueError, LookupError, ArithmeticError):
        raise InputError(
            "the proof is not one for this notion, these values and what was published before. Of a design after "
            "others it goes with release --ledger, or certify(..., after=...); else leave the proof out."
        ) from None
    if not limit < 1:
        return content
    return {**stated, "bound": _decimal_text(limit, decimal.ROUND_CEILING), "bound_evidence": "proof"}


def _size(proof: Mapping[str, Any]) -> int:
    vectors = [*proof["largest"], *proof["smallest"], *(proof["multipliers"] or [])]
    inside = sum(_size(part) for part in proof.get("inside", ()) if part)
    return sum(map(len, vectors)) + 3 * len(proof["splits"]) + inside


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with the digest of itself."""
    rest = {**content, "certificate_digest": None}
    return {**rest, "certificate_digest": checker.digest(rest)}
