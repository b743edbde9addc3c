"""Find for every computed verdict a mutation that turns it red, and write them beside the claims.

``python scripts/make_turned_red.py [entry or paper ...]``; what is not named stays as it is.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from discreet import papers
from discreet.papers import mutations
from discreet.papers.base import Setting

TARGET = Path(__file__).parent.parent / "src" / "discreet" / "papers" / "turned_red.json"
DATA = Path(__file__).parent.parent.parent / "shared" / "data"


def main(names: list[str], data: Path) -> None:
    """Search entry by entry, and say what nothing turns red."""
    setting = Setting(quick=True, data=data)
    found = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    for name in papers.chosen(names):
        start = time.perf_counter()
        red = mutations.found_red(name, setting)
        found |= {name: dict(sorted(red.items()))}
        never = sorted(mutations.differing(name, setting)[0] - set(red))
        print(
            f"{name}: {len(red)} turned red in {time.perf_counter() - start:.0f} s",
            *never,
            sep="\n  NEVER ",
            flush=True,
        )
        TARGET.write_text(json.dumps({key: found[key] for key in sorted(found) if found[key]}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:] or ["all"], Path(os.environ.get("DISCREET_DATA", DATA)))
