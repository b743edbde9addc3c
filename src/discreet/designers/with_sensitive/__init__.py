"""Methods whose mechanisms read S."""

# SPDX-License-Identifier: Apache-2.0
