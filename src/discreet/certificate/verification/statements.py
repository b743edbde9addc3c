"""What a certificate states that no table can tell: the key, and all that stays a statement."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hmac
from collections.abc import Iterator

from discreet.certificate.record import Certificate
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding
from discreet.drawing.keys import ReleaseKey

__all__ = ["about_key", "unchecked"]

#: Statements of a release, each with the checks of which one is enough.
STATEMENTS = {
    "the order of rows": ("order",),
    "what is published beside the release": ("kept columns beside the release",),
    "what unknown values were treated as": ("unseen",),
    "what the records of a person tell together": ("persons",),
    "the input's columns and digest": ("input digest",),
    "the types of released values": ("types of released columns",),
}

#: Statements about a whole table that only whoever made it could check again.
WHOLE_TABLE = ["how the classes were made", "what the attack found", "whether the key was drawn at random"]

OTHER_KEY = "is not the key of this release, so nothing more was checked with it"

CHANGEABLE = "who can seal a certificate anew can change them: the key, or a signature, would tell"


def about_key(evidence: Evidence) -> Iterator[Finding]:
    """Whether the key is the one of the release, and whether its draw is as private as stated."""
    if not (evidence.is_of_release or evidence.is_of_whole_table):
        return
    stated = evidence.content.get("publication", evidence.content)["key"]
    if evidence.key is not None and evidence.key.fingerprint != stated["fingerprint"]:
        yield Finding("key", False, OTHER_KEY)
    elif evidence.key is not None:
        yield Finding("key", True, "is the key of this release")
        right = hmac.compare_digest(evidence.key.mac(Certificate(evidence.content).authenticated()), stated["mac"])
        text = "the key says that it was not changed" if right else "was changed since the release was made"
        yield Finding("certificate", right, text)
        keyed = evidence.content.get("keyed_digests")
        if keyed is not None and keyed != evidence.key.keyed_digests(evidence.content["digests"]):
            yield Finding("keyed digests", False, "are not those of the mechanism and its codebook")
        if evidence.content.get("input_key", evidence.key.input_key) != evidence.key.input_key:
            yield Finding("input key", False, "is not that of the release")
    if stated["draw"] == "private" and ReleaseKey.is_seeded(stated["fingerprint"]):
        yield Finding("draw", False, "is not private: the key is made from a small seed")


def unchecked(evidence: Evidence, made: set[str]) -> Iterator[Finding]:
    """What the verdict says nothing about."""
    names = [] if evidence.is_signed or "key" in made else ["versions"]
    names += ["the records that it was designed on"] if "designed_on" in evidence.content else []
    if "after" in evidence.content:  # that it holds after it is checked, what it was is not: see `discreet.Ledger`
        names.append("what was published before")
    if evidence.is_of_whole_table:
        names += WHOLE_TABLE + ([] if "shares" in made else ["the shares that are unchanged"])
        names += [] if "input digest" in made else ["the input's digest"]
        vouched = evidence.is_signed or {"key", "certificate"} <= made
        if "released rows" in made and "redraw" not in made and not (vouched and "output digest" in made):
            # Rows in random order are matched with nobody: any real ones, in any order, would pass.
            most = "verified" if evidence.content["publication"]["order"] == "input" else "consistent"
            yield Finding("released cells and their order", None, CHANGEABLE, at_most=most)
    if evidence.is_of_release:
        names += [] if evidence.is_signed or "key" in made else ["engine"]
        names.append("whether the key was drawn at random")
        absent = {"persons"} if evidence.content["persons"] is None else set()
        absent |= set() if evidence.columns["kept"] else {"kept columns beside the release"}
        absent |= {"types of released columns"} if evidence.value_types is None else set()
        names += [name for name, checks in STATEMENTS.items() if not (made | absent).intersection(checks)]
        if "redraw" not in made and not (evidence.is_signed and "output digest" in made):
            yield Finding("released cells", None, CHANGEABLE, at_most="verified")
    if names:
        yield Finding("taken as stated", None, ", ".join(names))
