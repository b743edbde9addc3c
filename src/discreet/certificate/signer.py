"""Whose signature is asked for: public keys, as ``.pub`` files and ``allowed_signers`` of OpenSSH list them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet._support.errors import InputError
from discreet.certificate.ssh_wire import ED25519, KEY_BYTES, decoded, fingerprint, read_start, unpacked

__all__ = ["NAMESPACE", "Signer"]

#: What our signatures are for; one that was made for e-mail or for git is none of a certificate.
NAMESPACE = "discreet"

MOST_BYTES = 1 << 20

#: What every private key file says of itself.
PRIVATE = "PRIVATE KEY-----"

_WORD = r'(?:[^\s"]|"[^"]*")+'
_KEY = r"(?P<kind>(?:sk-)?(?:ssh|ecdsa)-[\w.@-]+)[ \t]+(?P<key>AAAA[A-Za-z0-9+/]*={0,2})"

#: A key, or principals and perhaps options before it. The first key counts, whatever a comment looks like.
_LINE = re.compile(rf"(?:{_WORD}[ \t]+(?:(?P<options>{_WORD})[ \t]+)??)??{_KEY}(?:\s.*)?")

#: A caller's text that is a key, or is none and must not be quoted; any other text is a path.
_IS_TEXT = re.compile(rf"(?:^|\s){_KEY}|{PRIVATE}")

_OPTION = re.compile(r'(?P<name>[A-Za-z-]+)(?:="(?P<value>[^"]*)")?(?:,(?=.)|$)')

_TIMES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


@dataclass(frozen=True)
class Signer:
    """Public keys, any of which may have signed.

    Attributes
    ----------
    keys : frozenset of bytes
        Ed25519 keys as SSH writes them.
    """

    keys: frozenset[bytes]

    @classmethod
    def of(cls, given: Any) -> Signer:
        """A signer as a caller may give it: itself, the line of a public key, or a file of such lines.

        In a file of allowed signers, lines that may not sign certificates now are passed over: those of other kinds of
        keys and of authorities, with other ``namespaces`` than discreet, or outside of their times.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, str | os.PathLike):
            raise InputError(f"a signer is a public key or the path of one, got {type(given).__name__}.")
        is_text = isinstance(given, str) and _IS_TEXT.search(given) is not None
        where = "the signer" if is_text else repr(os.fspath(given))
        text = str(given) if is_text else _content(given, where)
        if PRIVATE in text:
            raise InputError("the signer is a private key. Give the public one, whose name ends in .pub.")
        keys = frozenset(_keys(text, where))
        if not keys:
            raise InputError(f"{where} has no Ed25519 key (ssh-ed25519 AAAA...) that may sign for {NAMESPACE!r} now.")
        return cls(keys)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Names of the keys, as ``ssh-keygen -l`` prints them."""
        return tuple(sorted(map(fingerprint, self.keys)))


def _content(path: str | os.PathLike[str], where: str) -> str:
    content = read_start(path, "public key", MOST_BYTES)
    if len(content) > MOST_BYTES:
        raise InputError(f"{where} is no public key: it has more than {MOST_BYTES:,} bytes.")
    return content.decode(errors="replace")  # a comment in another encoding is no reason to refuse a key


def _keys(text: str, where: str) -> Iterator[bytes]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise InputError(f"line {number} of {where} is no public key (ssh-ed25519 AAAA..., or a principal first).")
        try:
            may_sign = _may_sign(found["options"] or "")
        except (ValueError, OverflowError):
            raise InputError(f"line {number} of {where} has options that are not known: it is not relied on.") from None
        if found["kind"].encode() == ED25519 and may_sign:
            yield _blob(found["key"], f"line {number} of {where}")


def _blob(text: str, where: str) -> bytes:
    blob = decoded(text)
    parts = None if blob is None else unpacked(blob, 2)
    if blob is None or parts is None or parts[0] != ED25519 or len(parts[1]) != KEY_BYTES:
        raise InputError(f"{where} is damaged: it is no Ed25519 key.")
    return blob


def _may_sign(options: str) -> bool:
    """Whether a line counts here and now; an option that is not known is an error, since it might forbid it."""
    given: dict[str, str | None] = {}
    at = 0
    while at < len(options):
        found = _OPTION.match(options, at)
        if found is None or found["name"].lower() in given:
            raise ValueError
        given[found["name"].lower()], at = found["value"], found.end()
    allowed = _names_us(given.pop("namespaces", NAMESPACE))
    now = time.time()
    allowed &= _moment(given.pop("valid-after", "19700101Z")) <= now <= _moment(given.pop("valid-before", "99991231Z"))
    allowed &= "cert-authority" not in given
    if given and given != {"cert-authority": None}:
        raise ValueError
    return allowed


def _names_us(patterns: str | None) -> bool:
    """Whether a list of patterns has our namespace: ``*`` and ``?`` stand for others, ``!`` takes out."""
    if patterns is None:
        raise ValueError
    named = False
    for pattern in patterns.split(","):
        plain = pattern.removeprefix("!")
        spelled = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in re.sub(r"\*+", "*", plain))
        if re.fullmatch(spelled, NAMESPACE):
            if pattern.startswith("!"):
                return False
            named = True
    return named


def _moment(text: str | None) -> float:
    """Seconds of a time as YYYYMMDD[HHMM[SS]], of this place or, with a Z, of Greenwich."""
    digits = (text or "").removesuffix("Z")
    if not (digits.isascii() and digits.isdigit() and len(digits) in _TIMES):
        raise ValueError
    moment = datetime.strptime(digits, _TIMES[len(digits)])
    return (moment.replace(tzinfo=UTC) if text != digits else moment).timestamp()
