"""Release keys: 32 secret bytes from which every draw follows, and which nothing ever shows."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet._support.errors import InputError
from discreet._support.files import check_no_link
from discreet.mechanism import Mechanism

__all__ = ["DrawKeys", "ReleaseKey", "input_hmac"]

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

    def subkey(self, column: str, fingerprint: str, nonce: str | None = None) -> str:
        """The sub-key of one released column under one mechanism, as 32 hexadecimal digits.

        With ids a person's draw stays the same from table to table. Where the place of a row is its id, other people
        stand there in another table: then a nonce goes in, which differs from table to table.
        """
        return self.derive("draw", column, fingerprint, *([] if nonce is None else [nonce])).hex()[:SUBKEY_DIGITS]

    def shuffle_key(self, nonce: str, published: Sequence[str]) -> str:
        """The sub-key of a random order, as 32 hexadecimal digits.

        Orders of two tables tell nothing of each other, nor do those of two releases with other columns: rows of one
        could be put beside those of the other by their places.
        """
        return self.derive("shuffle", nonce, *(f"{len(name)}:{name}" for name in published)).hex()[:SUBKEY_DIGITS]

    @property
    def input_key(self) -> str:
        """The key of the input's digest, as 64 hexadecimal digits; it tells nothing of the draws."""
        return self.derive("input-digest").hex()

    def nonce(self, input_digest: str, fingerprint: str) -> str:
        """What tells a release of one table under one mechanism from all others under this key."""
        return self.derive("nonce", input_digest, fingerprint).hex()

    @property
    def fingerprint(self) -> str:
        """A public name of the key, which does not tell it."""
        return self.derive("fingerprint").hex()

    def keyed_digests(self, digests: Mapping[str, Any]) -> dict[str, Any]:
        """What the public sees of the digests of a private mechanism and its codebook: nothing without the key."""
        return {
            name: None if digests[name] is None else input_hmac(self.derive(f"{name}-digest").hex(), digests[name])
            for name in ("mechanism", "codebook")
        }

    def mac(self, text: str) -> str:
        """A code that tells whoever has the key, and nobody else, whether a certificate is as it was written."""
        return hmac.digest(self.derive("certificate"), text.encode(), "sha256").hex()

    @staticmethod
    def is_seeded(fingerprint: str, most: int = 10_000) -> bool:
        """Whether a fingerprint is that of a small seed, which anyone can try."""
        return any(ReleaseKey.from_seed(seed).fingerprint == fingerprint for seed in range(most))

    def __repr__(self) -> str:
        return f"ReleaseKey({'secret' if self.is_private else 'reproducible, not private'})"

    def __reduce__(self) -> Any:
        raise TypeError("a release key is not pickled: it would travel further than it should.")


def input_hmac(input_key: str, digest: str) -> str:
    """The digest of an input as certificates state it: without the key nobody can try tables until one fits."""
    return hmac.digest(bytes.fromhex(input_key), digest.encode(), "sha256").hex()


@dataclass(frozen=True, repr=False)
class DrawKeys:
    """The sub-keys of one release: one for each released column, and that of a random order."""

    columns: tuple[str, ...]
    shuffle: str

    @classmethod
    def of(
        cls,
        key: ReleaseKey,
        mechanism: Mechanism,
        input_digest: str | None,
        published: Sequence[str],
        *,
        by_place: bool,
    ) -> DrawKeys:
        """Out of the key; ``input_digest`` may be missing where records have ids and keep their order."""
        nonce = None if input_digest is None else key.nonce(input_digest, mechanism.fingerprint)
        used = nonce if by_place else None
        columns = tuple(key.subkey(draw.column, mechanism.fingerprint, used) for draw in mechanism.draws())
        return cls(columns, "" if nonce is None else key.shuffle_key(nonce, published))
