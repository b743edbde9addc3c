"""Methods that merge symbols."""

# SPDX-License-Identifier: Apache-2.0
