# SPDX-License-Identifier: Apache-2.0
"""No example has a deadline: on a machine with other work one takes seconds."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
