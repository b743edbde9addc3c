"""The files of a release: where each goes, and what must hold before any work is done."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet._support.errors import InputError
from discreet._support.files import check_no_link, check_target

__all__ = ["Targets", "sidecar"]


def sidecar(output: str | os.PathLike[str], what: str) -> Path:
    """Name of the file beside an output.

    >>> sidecar("jobs.parquet", "certificate").name
    'jobs.parquet.certificate.json'
    """
    target = Path(output)
    return target.with_name(f"{target.name}.{what}.json")


@dataclass(frozen=True)
class Targets:
    """Where the files of a release go.

    Attributes
    ----------
    output : Path
        The released table: a file, or a folder where ``is_folder``.
    private_certificate, key : Path or None
        Files that their owner alone may read; a key never replaces another file.
    """

    output: Path
    is_folder: bool = False
    private_certificate: Path | None = None
    key: Path | None = None

    @property
    def certificate(self) -> Path:
        """The public certificate."""
        return sidecar(self.output, "certificate")

    @property
    def signature(self) -> Path:
        """Of the public certificate."""
        return self.certificate.with_name(f"{self.certificate.name}.sig")

    @property
    def codebook(self) -> Path:
        """P(x | y) of every released value."""
        return sidecar(self.output, "codebook")

    @property
    def private_codebook(self) -> Path:
        """The same where it tells about single people; then it is for the owner of the table alone."""
        return sidecar(self.output, "codebook.private")

    def check_names(self) -> None:
        """The output has a name, in a folder that is there, and no file to write is a link to another."""
        if not self.output.name:
            raise InputError(f"{str(self.output)!r} names no file. Name the output.")
        if not self.output.parent.is_dir():
            raise InputError(f"cannot write {str(self.output)!r}: there is no directory {str(self.output.parent)!r}.")
        for path in (self.output, self.certificate, self.codebook, self.private_certificate, self.key):
            if path is not None:
                check_no_link(path)

    def check(self, table: Any, files: Sequence[str], others: Sequence[Any], *, force: bool) -> None:
        """All files are different ones, none of them is read, and none is lost without ``force``.

        ``table`` is what the release reads, out of ``files``; ``others`` are further files that it reads.
        """
        source = os.fspath(table) if isinstance(table, str | os.PathLike) else None
        read = [*files, *(path for path in others if isinstance(path, str | os.PathLike))]
        private = [path for path in (self.private_certificate, self.key) if path is not None]
        sidecars = [self.certificate, self.signature, self.codebook, self.private_codebook]
        beside = [*sidecars, *private]
        real = [os.path.realpath(path) for path in (self.output, *beside)]
        if len(set(real)) < len(real):
            raise InputError(
                "the output, its certificate, its signature, its codebook, the private certificate and the key need "
                "different names."
            )
        if set(real) & {os.path.realpath(path) for path in others if isinstance(path, str | os.PathLike)}:
            raise InputError(
                "two of the files named are the same. Output, certificate, codebook, key and what is read must differ."
            )
        if set(real[1:]) & {os.path.realpath(path) for path in files}:
            raise InputError(
                "a certificate or codebook would replace a file that the release reads. Choose another name."
            )
        self._check_output(source, files, force)
        for path in beside:
            # Sidecars of an output that is gone are stale; those of one that is there go with it.
            allowed = force or (path in sidecars and not self.output.exists())
            check_target(path, force=allowed, never=read, is_replaceable=path != self.key)

    def _check_output(self, source: str | None, files: Sequence[str], force: bool) -> None:
        shown, target = str(self.output), Path(os.path.abspath(self.output))
        for file in files:
            if os.path.exists(target) and os.path.samefile(file, target):
                raise InputError(f"{shown!r} is the input itself. Choose another name.")
            if self.is_folder and _inside(Path(file), target):
                raise InputError(f"{shown!r} holds the input. Choose another folder.")
        if source is not None:
            named = os.path.abspath(source)
            if _inside(target, Path(named)) or fnmatch.fnmatch(str(target), named):
                raise InputError(f"{shown!r} would become part of the input {source!r}. Choose another place.")
        if self.is_folder and target.is_dir():
            if not force:
                raise InputError(f"{shown!r} exists already. Choose another name, or replace it (force=True, --force).")
            if any(not name.startswith(("part-", "_", ".")) for name in os.listdir(target)):
                raise InputError(f"{shown!r} holds other files than a release does; it is not replaced.")
        else:
            if self.is_folder and target.is_file():
                raise InputError(f"{shown!r} is a file, and Spark writes a folder. Choose another name.")
            check_target(self.output, force=force)
        if not os.access(target.parent, os.W_OK):
            raise InputError(f"cannot write {shown!r}: the folder is read-only.")


def _inside(path: Path, folder: Path) -> bool:
    return os.path.isdir(folder) and Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents
