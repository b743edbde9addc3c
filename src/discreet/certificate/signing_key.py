"""The private key that signs certificates: an Ed25519 key of OpenSSH, read once and never shown."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import stat
from types import ModuleType
from typing import TYPE_CHECKING, Any

from discreet._support.errors import InputError
from discreet.certificate.ssh_wire import ed25519_blob, fingerprint

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["SigningKey", "library"]

MOST_BYTES = 1 << 16

#: The way out for keys that are not read here: ssh-keygen asks for passphrases, agents and tokens.
BY_HAND = "ssh-keygen -Y sign -n discreet"


class SigningKey:
    """The private half of a key; it signs and tells its public half, and nothing else."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = ed25519_blob(key.public_key().public_bytes_raw())

    @classmethod
    def of(cls, given: Any) -> SigningKey:
        """A key as a caller may give it: itself or a path."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, str | os.PathLike):
            raise InputError(f"a signing key is the path of a private key, got {type(given).__name__}.")
        if "-----" in os.fspath(given):
            raise InputError("a signing key is given by its path, not by its text.")
        return cls.from_file(given)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> SigningKey:
        """The key of a file as OpenSSH or PEM writes it; refused where others than its owner may read the file."""
        ed25519 = library()
        name, content = os.fspath(path), _private_content(path)
        try:
            key = _loaded(content)
        except TypeError:
            raise InputError(
                f"the signing key {name!r} is encrypted, and passphrases are not asked for here. "
                f"Sign the public certificate by {BY_HAND}."
            ) from None
        except Exception:  # libraries raise what they like for damaged keys, and none of it may show the key
            raise InputError(f"{name!r} is not a private key as OpenSSH or PEM writes it.") from None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise InputError(
                f"the signing key {name!r} is of another kind than Ed25519. Make one: ssh-keygen -t ed25519"
            )
        return cls(key)

    def sign(self, message: bytes) -> bytes:
        """64 bytes that only this key makes."""
        return self._key.sign(message)

    @property
    def fingerprint(self) -> str:
        """The name of its public half, as ``ssh-keygen -l`` prints it."""
        return fingerprint(self.public)

    def __repr__(self) -> str:
        return f"SigningKey({self.fingerprint})"

    def __reduce__(self) -> Any:
        raise TypeError("a signing key is not pickled: it would travel further than it should.")


def library() -> ModuleType:
    """Ed25519 of the library, where it is installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError("signatures need cryptography: pip install 'discreet[sign]'.") from None
    return ed25519


def _private_content(path: str | os.PathLike[str]) -> bytes:
    name = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            content = stream.read(MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that is no name of a file"
        raise InputError(f"cannot read the signing key {name!r}: {reason}.") from None
    if content.startswith((b"ssh-", b"sk-", b"ecdsa-")):
        raise InputError(f"{name!r} is a public key. Sign with the private one, whose name does not end in .pub.")
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise InputError(f"others may read the signing key {name!r}. Make it private: chmod 600 {name}")
    return content


def _loaded(content: bytes) -> Any:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    is_openssh = b"-----BEGIN OPENSSH PRIVATE KEY-----" in content
    return (load_ssh_private_key if is_openssh else load_pem_private_key)(content, None)
