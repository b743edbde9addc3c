"""What every room uses and no room is about: errors, arithmetic, argument checks, files, JSON."""

# SPDX-License-Identifier: Apache-2.0
