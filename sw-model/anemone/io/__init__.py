# SPDX-License-Identifier: Apache-2.0
"""What people write and what they get: errors in one line, tables of TOML, folders of results."""
