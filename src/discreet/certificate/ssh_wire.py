"""What SSH puts into keys and signatures: strings with their lengths, in base64."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import hashlib
import os

from discreet._support.errors import InputError

__all__ = ["ED25519", "decoded", "ed25519_blob", "fingerprint", "packed", "read_start", "unpacked"]

#: The only kind of key that is signed with here.
ED25519 = b"ssh-ed25519"

KEY_BYTES = 32


def packed(*parts: bytes) -> bytes:
    """Strings one after the other, each with its length.

    >>> packed(b"ab", b"")
    b'\\x00\\x00\\x00\\x02ab\\x00\\x00\\x00\\x00'
    """
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def unpacked(data: bytes, number: int) -> list[bytes] | None:
    """Exactly so many strings with nothing after them, or None; no length makes room for more bytes than there are."""
    parts, at = [], 0
    for _ in range(number):
        start = at + 4
        at = start + int.from_bytes(data[at:start], "big")
        parts.append(data[start:at])
    return parts if at == len(data) else None


def decoded(text: str) -> bytes | None:
    """Bytes of base64, or None where there are other letters."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


def ed25519_blob(key: bytes) -> bytes:
    """A public key as it stands in key files and signatures."""
    return packed(ED25519, key)


def fingerprint(blob: bytes) -> str:
    """The name of a public key, as ``ssh-keygen -l`` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def read_start(path: str | os.PathLike[str], what: str, most: int) -> bytes:
    """The first bytes of a file, one more than a sensible one has: what is longer is not read to its end."""
    try:
        with open(path, "rb") as stream:
            return stream.read(most + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that is no name of a file"
        raise InputError(f"cannot read the {what} {os.fspath(path)!r}: {reason}.") from None
