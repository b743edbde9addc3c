"""Keys that tests sign with."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat


def new_key(path: Path, *, encoding: PrivateFormat = PrivateFormat.OpenSSH) -> Path:
    """A private key that its owner alone may read, and the public one with .pub beside it."""
    key = Ed25519PrivateKey.generate()
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, encoding, NoEncryption()))
    line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    public_of(path).write_text(f"{line} someone@example.org\n")
    return path


def public_of(path: Path) -> Path:
    """The file of the public half."""
    return path.with_name(f"{path.name}.pub")
