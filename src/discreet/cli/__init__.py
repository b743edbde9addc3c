"""The command line: a file per command, each a typed function whose docstring is its help."""
# SPDX-License-Identifier: Apache-2.0
