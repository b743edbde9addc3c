"""Release keys: 32 secret bytes from which every draw follows, and which nothing ever shows."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from typing import Any

from discreet._support.errors import InputError
from discreet._support.files import check_no_link

__all__ = ["ReleaseKey"]

KEY_BYTES = 32

#: Characters of a sub-key: 128 bits, so that a digest of sub-key, symbol and a short id takes one block of SHA-256.
SUBKEY_DIGITS = 32


class ReleaseKey:
    """The secret of a release. Whoever has it can redraw every record, so it stays with the owner of the table.

    Examples
    --------
    >>> ReleaseKey.from_seed(7)
    ReleaseKey(reproducible, not private)
    """

    __slots__ = ("_secret", "is_private")

    def __init__(self, secret: bytes, *, is_private: bool = True) -> None:
        if not isinstance(secret, bytes) or len(secret) != KEY_BYTES:
            raise InputError(f"a release key is {KEY_BYTES} bytes.")
        self._secret = secret
        self.is_private = is_private

    @classmethod
    def fresh(cls) -> ReleaseKey:
        """A new key from the operating system."""
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def from_seed(cls, seed: int) -> ReleaseKey:
        """A key for tests: anyone can make it, so a release with it protects nobody."""
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"seed must be an integer of at least 0, got {seed!r}.")
        return cls(hashlib.sha256(b"discreet-seed/1\0" + str(seed).encode()).digest(), is_private=False)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ReleaseKey:
        """A key that `write` stored; refused where others than its owner may read the file."""
        name = os.fspath(path)
        try:
            with open(path, "rb") as stream:
                mode = os.fstat(stream.fileno()).st_mode
                content = stream.read(256)
        except OSError as error:
            raise InputError(f"cannot read the key file {name!r}: {error.strerror}.") from None
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise InputError(f"others may read the key file {name!r}. Make it private: chmod 600 {name}")
        try:
            return cls(bytes.fromhex(content.decode("ascii").strip()))
        except (ValueError, InputError):
            raise InputError(f"{name!r} is not a key file: it holds {2 * KEY_BYTES} hexadecimal digits.") from None

    @classmethod
    def of(cls, given: Any, seed: int | None = None) -> ReleaseKey:
        """A key as a caller may give it: itself, 32 bytes, a path, or nothing for a fresh one."""
        if seed is not None:
            if given is not None:
                raise InputError("give a key or a seed, not both.")
            return cls.from_seed(seed)
        if given is None:
            return cls.fresh()
        if isinstance(given, cls):
            return given
        if isinstance(given, bytes):
            return cls(given)
        if not isinstance(given, str | os.PathLike):
            raise InputError(f"a key is a ReleaseKey, 32 bytes or a path, got {type(given).__name__}.")
        return cls.from_file(given)

    def text(self) -> str:
        """The content of a key file; whoever reads it can redraw every record."""
        return self._secret.hex() + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Store the key in a new file that its owner alone may read."""
        name = os.fspath(path)
        check_no_link(path)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise InputError(f"{name!r} exists already; a key file is never replaced. Choose another name.") from None
        except OSError as error:
            raise InputError(f"cannot write the key file {name!r}: {error.strerror}.") from None
        try:
            with os.fdopen(handle, "wb") as stream:
                os.fchmod(stream.fileno(), 0o600)  # whatever the umask left of it
                stream.write(self.text().encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise InputError(f"cannot write the key file {name!r}: {error.strerror}.") from None

    def derive(self, purpose: str, *parts: str) -> bytes:
        """A secret of its own for each purpose; none of them tells another or the key."""
        label = b"\0".join([f"discreet-{purpose}/1".encode(), *(part.encode() for part in parts)])
        return hmac.digest(self._secret, label, "sha256")

    def subkey(self, column: str, fingerprint: str) -> str:
        """The sub-key of one released column under one mechanism, as 32 hexadecimal digits."""
        return self.derive("draw", column, fingerprint).hex()[:SUBKEY_DIGITS]

    @property
    def fingerprint(self) -> str:
        """A public name of the key, which does not tell it."""
        return self.derive("fingerprint").hex()

    def __repr__(self) -> str:
        return f"ReleaseKey({'secret' if self.is_private else 'reproducible, not private'})"

    def __reduce__(self) -> Any:
        raise TypeError("a release key is not pickled: it would travel further than it should.")
