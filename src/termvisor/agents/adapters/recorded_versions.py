"""List the versions of each agent that were tested with recordings; detection of other versions is less certain.

They are in ``<agent>/versions``, one per line; a test keeps these files in step with the recordings.
"""

import os
from functools import cache

_ADAPTERS_FOLDER = os.path.dirname(__file__)


@cache
def list_recorded_versions(agent: str) -> tuple[str, ...]:
    """Return the recorded versions of an agent; empty if there are none."""
    if not agent.isidentifier():
        return ()
    try:
        with open(os.path.join(_ADAPTERS_FOLDER, agent, "versions"), encoding="ascii") as file:
            return tuple(file.read().split())
    except OSError:
        return ()
