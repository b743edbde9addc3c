"""A certificate against a signature: who vouches for it, which no digest can say."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet._support.errors import SignatureError
from discreet.certificate.record import Certificate
from discreet.certificate.signature import MOST_CHARACTERS, check
from discreet.certificate.signer import Signer
from discreet.certificate.ssh_wire import read_start
from discreet.certificate.verification.verdict import Finding

__all__ = ["signature_finding"]


def signature_finding(certificate: Certificate, signature: Any, signer: Any, beside: tuple[Any, Any]) -> Finding:
    """Whether the certificate is signed by whom the caller expects.

    Parameters
    ----------
    certificate : Certificate
        Its public part is what was signed.
    signature : path, str or None
        A file, the text of one, or None for the one that lies beside.
    signer : Signer, path or str
        Public keys that are trusted.
    beside : tuple
        The certificate and the release as they were given; a signature is looked for beside those that are paths.
    """
    asked = Signer.of(signer)
    text = _text(certificate, signature, *beside)
    if text is None:
        return Finding("signature", False, "there is none beside the certificate, and a signer was asked for")
    try:
        message = certificate.public.text().encode()
    except (ValueError, TypeError, RecursionError):
        return Finding("signature", False, "no signature covers a certificate that is damaged")
    try:
        key = check(message, text, asked)
    except SignatureError as error:
        return Finding("signature", False, str(error).rstrip("."))
    return Finding("signature", True, f"by the key {key}{_unsigned(certificate)}")


def _text(certificate: Certificate, signature: Any, given: Any, released: Any) -> str | None:
    if signature is None:
        places = [place for place in _places(certificate, given, released) if place.is_file()]
        return _content(places[0]) if places else None
    if isinstance(signature, str) and signature.startswith("-----BEGIN"):
        return signature
    return _content(signature)


def _content(path: str | os.PathLike[str]) -> str:
    return read_start(path, "signature", MOST_CHARACTERS).decode(errors="replace")


def _places(certificate: Certificate, given: Any, released: Any) -> Iterator[Path]:
    """Beside the certificate; for one that is private, or has no file, beside the public one of the release."""
    has_file = isinstance(given, str | os.PathLike)
    if has_file:
        yield Path(f"{os.fspath(given)}.sig")
    if isinstance(released, str | os.PathLike) and (certificate.is_private or not has_file):
        yield Path(f"{Path(released)}.certificate.json.sig")


def _unsigned(certificate: Certificate) -> str:
    """What a private certificate holds beyond what was signed."""
    held = [name for name in certificate.private_names if name in certificate.to_dict()]
    held += ["mechanism"] if certificate["private_mechanism"] and certificate["mechanism"] is not None else []
    return f", of the public part: not of {', '.join(held)}" if held else ""
