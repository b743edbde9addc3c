"""What a proof of a limit is, and its evaluation; no solver can be imported here."""

# SPDX-License-Identifier: Apache-2.0
