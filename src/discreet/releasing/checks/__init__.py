"""What must hold before a row is released."""

# SPDX-License-Identifier: Apache-2.0
