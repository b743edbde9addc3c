"""``python -m discreet``."""

# SPDX-License-Identifier: Apache-2.0
from discreet.cli.entry import main

if __name__ == "__main__":
    main()
