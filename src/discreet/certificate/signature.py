"""Signatures as OpenSSH makes and checks them: ``ssh-keygen -Y sign -n discreet`` and ``ssh-keygen -Y verify``.

A signature (SSHSIG) names its key, what it is for (the namespace) and a hash; Ed25519 signs the last two with the
digest of the message. The format is that of OpenSSH's PROTOCOL.sshsig, but narrower: whatever could be spelled in two
ways is refused, so that nobody but the signer can turn one signature into another that holds as well.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import hashlib
import textwrap
from typing import Any, NamedTuple

from discreet._support.errors import SignatureError
from discreet.certificate.signer import NAMESPACE, Signer
from discreet.certificate.signing_key import BY_HAND, SigningKey, library
from discreet.certificate.ssh_wire import ED25519, KEY_BYTES, decoded, fingerprint, packed, unpacked

__all__ = ["MOST_CHARACTERS", "Signer", "SigningKey", "check", "sign"]

MAGIC = b"SSHSIG"
VERSION = (1).to_bytes(4, "big")
HASHES = {b"sha512": hashlib.sha512, b"sha256": hashlib.sha256}
SIGNATURE_BYTES = 64

BEGIN, END = "-----BEGIN SSH SIGNATURE-----\n", "\n-----END SSH SIGNATURE-----\n"
LINE_CHARACTERS = 70

#: Ours have about 300; those of long RSA keys, which are told apart from damaged ones, some thousands.
MOST_CHARACTERS = 20_000


def sign(message: bytes, key: Any) -> str:
    """Sign a message.

    Parameters
    ----------
    message : bytes
        What is signed.
    key : path or SigningKey
        An Ed25519 private key as OpenSSH or PEM writes it, not encrypted, which its owner alone may read.

    Returns
    -------
    str
        The content of a ``.sig`` file, byte by byte the one that ``ssh-keygen`` writes.
    """
    made, algorithm = SigningKey.of(key), b"sha512"
    signature = packed(ED25519, made.sign(_covered(message, algorithm)))
    return _armoured(MAGIC + VERSION + packed(made.public, NAMESPACE.encode(), b"", algorithm, signature))


def check(message: bytes, signature: str, signer: Any) -> str:
    """Check that a signature is one of this message, by one of the signer's keys.

    Parameters
    ----------
    message : bytes
        What was signed.
    signature : str
        The content of a ``.sig`` file.
    signer : Signer, path or str
        As `Signer.of` takes it.

    Returns
    -------
    str
        Fingerprint of the key, as ``ssh-keygen -l`` prints it.

    Raises
    ------
    SignatureError
        It is damaged, of a kind that is not used here, by somebody else or of another message.
    """
    ed25519, asked = library(), Signer.of(signer)
    from cryptography.exceptions import InvalidSignature

    stated = _parsed(signature)
    if stated.key not in asked.keys:
        raise SignatureError(f"the signature names the key {fingerprint(stated.key)}, which is not the signer's.")
    try:
        public = ed25519.Ed25519PublicKey.from_public_bytes(stated.key[-KEY_BYTES:])
        public.verify(stated.signature, _covered(message, stated.algorithm))
    except (InvalidSignature, ValueError):
        raise SignatureError("the signature is of something else, or was changed.") from None
    return fingerprint(stated.key)


class _Stated(NamedTuple):
    """What a signature says of itself."""

    key: bytes
    algorithm: bytes
    signature: bytes


def _covered(message: bytes, algorithm: bytes) -> bytes:
    """What the key signs instead of the message."""
    return MAGIC + packed(NAMESPACE.encode(), b"", algorithm, HASHES[algorithm](message).digest())


def _armoured(blob: bytes) -> str:
    lines = textwrap.wrap(base64.b64encode(blob).decode(), LINE_CHARACTERS)
    return BEGIN + "\n".join(lines) + END


def _parsed(text: str) -> _Stated:
    """The parts of a signature whose kind is ours."""
    blob = _blob(text)
    parts = unpacked(blob[len(MAGIC + VERSION) :], 5) if blob.startswith(MAGIC + VERSION) else None
    if parts is None:
        raise SignatureError("the signature is damaged, or of another version of the format.")
    key, namespace, reserved, algorithm, signature = parts
    public, signed = unpacked(key, 2), unpacked(signature, 2)
    if public is None or signed is None or public[0] != ED25519 or signed[0] != ED25519:
        raise SignatureError("the signature is of another kind than Ed25519, which alone is checked here.")
    if len(public[1]) != KEY_BYTES or len(signed[1]) != SIGNATURE_BYTES or reserved or algorithm not in HASHES:
        raise SignatureError("the signature is damaged, or not made as ssh-keygen does.")
    if namespace != NAMESPACE.encode():
        raise SignatureError(f"the signature was made for another purpose than {NAMESPACE!r}. Sign by {BY_HAND}.")
    return _Stated(key, algorithm, signed[1])


def _blob(text: str) -> bytes:
    if len(text) > MOST_CHARACTERS or not (text.startswith(BEGIN) and text.endswith(END)):
        raise SignatureError("the signature is no file that begins and ends as ssh-keygen writes it.")
    blob = decoded(text[len(BEGIN) : -len(END)].replace("\n", ""))
    if blob is None or _armoured(blob) != text:
        raise SignatureError("the signature is damaged, or not written as ssh-keygen does.")
    return blob
