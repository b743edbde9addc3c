"""Who listens to a command at work: a terminal, where a person watches, and a log, where one is asked for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from discreet._support import files, progress
from discreet._support.errors import InputError
from discreet._support.progress import Stage
from discreet._support.visible import visible
from discreet.cli.streams import silenced

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

__all__ = ["Watching"]

#: What a release writes beside its output, by the endings of the names.
BESIDE = ("certificate.json", "certificate.json.sig", "codebook.json", "codebook.private.json")

#: How a line of a log begins.
LOG_LINE = re.compile(rb"\d{4}-\d\d-\d\dT\S+Z \d+ discreet")

#: Stages inside each other that a log tells of; what is deeper is one of thousands.
DEEPEST = 3

#: Times a second that the terminal is drawn anew.
REFRESH = 5


@dataclass(frozen=True)
class Watching:
    """The options that every command takes about what it says on its way."""

    quiet: bool = False
    log: Path | None = None

    @classmethod
    def taken_from(cls, tokens: Sequence[str]) -> tuple[Watching, list[str]]:
        """``--quiet`` and ``--log FILE`` out of a command line, and what is left of it."""
        left: list[str] = []
        log: str | None = None
        rest = iter(token for token in tokens if token != "--quiet")
        for token in rest:
            if token == "--log":
                log = next(rest, "")
            elif token.startswith("--log="):
                log = token.removeprefix("--log=")
            else:
                left.append(token)
        if log == "" or (log is not None and log.startswith("-")):
            raise InputError("--log needs the name of a file.")
        if log is not None and os.path.abspath(log) in _written(left):
            raise InputError(
                f"--log names {log!r}, a file that the command itself reads or writes. Choose another name."
            )
        return cls("--quiet" in tokens, None if log is None else Path(log)), left

    @contextmanager
    def over(self, command: str) -> Iterator[Callable[[int], None]]:
        """Listen while a command runs; the function that is yielded takes its exit code."""
        with ExitStack() as stack:
            log = None if self.log is None else stack.enter_context(_Log(self.log, command))
            shown = not self.quiet and sys.stderr.isatty()
            terminal = [stack.enter_context(_Terminal())] if shown else []
            stack.enter_context(progress.heard_by(*([] if log is None else [log]), *terminal))
            if self.quiet:
                stack.enter_context(silenced())
            yield (lambda _: None) if log is None else log.finish


class _Terminal:
    """A line for each stage under way, gone when it ends. Stages are noted, and drawn a few times a second."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._stages: list[Stage] = []

    def __enter__(self) -> _Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def began(self, stage: Stage) -> None:
        self._stages.append(stage)
        if self._live is None:
            self._live = self._opened()
            self._live.start()

    def moved(self, stage: Stage) -> None:
        """The next drawing shows it."""

    def ended(self, stage: Stage) -> None:
        self._stages.remove(stage)
        if not self._stages:
            self._close()  # what is printed between stages finds the terminal as it was

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _opened(self) -> Live:
        from rich.live import Live

        from discreet.reporting.text.console import make_console

        return Live(
            get_renderable=self._drawn,
            console=make_console(sys.stderr),
            transient=True,
            refresh_per_second=REFRESH,
            redirect_stdout=False,  # results stay on stdout
        )

    def _drawn(self) -> Table:
        from rich.table import Table

        shown = Table.grid(padding=(0, 2))
        for stage in tuple(self._stages):
            share = f"{100 * min(1.0, stage.done / stage.total):.0f} %" if stage.total else ""
            shown.add_row(*map(visible, (stage.words, share, _clock(stage.seconds), stage.detail)))
        return shown


def _written(tokens: Sequence[str]) -> set[str]:
    """Files that a command line may name, and those that appear beside them."""
    named = {os.path.abspath(token.partition("=")[2] if token.startswith("--") else token) for token in tokens}
    return named | {f"{name}.{what}" for name in named for what in BESIDE}


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=int(seconds)))


class _Log:
    """Lines with their time at the end of a file that its owner alone may read: it may name columns, never a cell."""

    def __init__(self, path: Path, command: str) -> None:
        self.path, self._command = path, command
        self._started = perf_counter()
        self._failure: OSError | None = None
        self._stages: list[Stage] = []
        self._file = _opened(path)

    def __enter__(self) -> _Log:
        self._write("begins")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def began(self, stage: Stage) -> None:
        self._stages.append(stage)
        if len(self._stages) <= DEEPEST:
            self._write(f"{stage.words}: begins")

    def moved(self, stage: Stage) -> None:
        """Lines are about stages alone."""

    def ended(self, stage: Stage) -> None:
        depth = self._stages.index(stage)
        del self._stages[depth]
        if depth < DEEPEST:
            detail = f"; {stage.detail}" if stage.detail else ""
            how = "took" if stage.failure is None else f"failed with {stage.failure} after"
            self._write(f"{stage.words}: {how} {stage.seconds:.3f} s{detail}")

    def finish(self, code: int) -> None:
        """The last line, and an error where any could not be written though all else went well."""
        self._write(f"ends with exit code {code} after {perf_counter() - self._started:.3f} s")
        if self._failure is not None and code == 0:
            raise InputError(f"the command is done, but its log {str(self.path)!r} is not: {self._failure.strerror}.")

    def _write(self, text: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = visible(f"{now} {os.getpid()} discreet {self._command}: {text}") + "\n"
        try:
            os.write(self._file, line.encode())  # in one piece, so that commands can share a log
        except OSError as error:
            self._failure = error


def _opened(path: Path) -> int:
    """A log to write on, new or begun by an earlier command; no other file is appended to."""
    files.check_target(path, force=True)
    try:
        begins = _beginning(path) if path.exists() else b""
        if begins and LOG_LINE.match(begins) is None:
            raise InputError(f"{str(path)!r} exists already and is no log of discreet. Choose another name.")
        found = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        os.fchmod(found, 0o600)
    except OSError as error:
        raise InputError(f"cannot write the log {str(path)!r}: {error.strerror}.") from None
    return found


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(100)
