"""``discreet demo``: the whole story on built-in data."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

__all__ = ["demo"]


def demo(*, output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo-output")) -> int:
    """Tell the whole story on the built-in Adult data: audit, compare, design, release, verify, report, publish.

    The questions: may a census office publish people's occupation without giving their family relationship away, and
    all it knows about them without giving their income away? What an earlier demo left in the folder is replaced.

    Parameters
    ----------
    output
        Folder that everything is written to.
    """
    from discreet.cli.story import tell

    return tell(output)
