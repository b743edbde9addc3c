"""Methods that mix allowed posteriors."""

# SPDX-License-Identifier: Apache-2.0
