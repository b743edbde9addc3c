"""Results as text for a terminal, a file for each kind of result."""
# SPDX-License-Identifier: Apache-2.0
