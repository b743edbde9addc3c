"""Commands whose stdout or stderr is closed, full or left by its reader: the work and its exit code stay the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

AUDIT = "audit sample:adult --sensitive relationship --useful occupation"


def shell(words: str, redirected: str) -> subprocess.CompletedProcess[str]:
    asked = f"{sys.executable} -m discreet {words} {redirected}"
    return subprocess.run(["bash", "-o", "pipefail", "-c", asked], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", ["--help", "--version", "certify --help", AUDIT])
def test_what_nobody_reads_changes_no_exit_code(words: str) -> None:
    for redirected in (">&-", "2>&-", "| head -1"):
        done = shell(words, redirected)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", ["--help", "--version", "certify --help", AUDIT])
def test_a_full_disk_is_said(words: str) -> None:
    done = shell(words, "> /dev/full")
    assert done.returncode == 2
    assert done.stderr == "discreet: error: cannot write the result: No space left on device.\n"
