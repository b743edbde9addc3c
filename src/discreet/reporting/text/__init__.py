"""Results as text for a terminal."""

# SPDX-License-Identifier: Apache-2.0
