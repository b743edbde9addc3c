"""``discreet sign``: a signature beside a certificate, as ssh-keygen makes it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet._support import files
from discreet.cli.options import Format, show

__all__ = ["sign"]


def sign(
    certificate: Path,
    *,
    signing_key: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Format = "text",
) -> int:
    """Sign a certificate with an Ed25519 key of OpenSSH; verify --signer and ssh-keygen -Y verify check it.

    Of a private certificate the public part is signed.

    Parameters
    ----------
    certificate
        The JSON that release or certify wrote.
    signing_key
        Private key, not encrypted, which its owner alone may read. For others: ssh-keygen -Y sign -n discreet.
    output
        File for the signature. Left out: the name of the certificate and .sig.
    force
        Replace an existing file.
    format
        Text for people, JSON for programs.
    """
    from rich.text import Text

    from discreet.certificate import Certificate
    from discreet.certificate.signing_key import SigningKey

    target = certificate.with_name(f"{certificate.name}.sig") if output is None else output
    files.check_target(target, force=force, never=(certificate, signing_key))
    key = SigningKey.from_file(signing_key)
    files.write_text(target, Certificate.from_json(certificate).sign(key))
    shown = Text(f"Signed by the key {key.fingerprint}: {target}")
    show(format, {"signature": str(target), "key": key.fingerprint}, shown)
    return 0
