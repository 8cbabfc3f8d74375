"""The versions of each agent of which there are recordings: what is said of others may rest on less.

They stand in ``<agent>/versions``, a line each; a test keeps the files as the recordings are.
"""

import os
from functools import cache

_ADAPTERS_FOLDER = os.path.dirname(__file__)


@cache
def list_recorded_versions(agent: str) -> tuple[str, ...]:
    """None where nothing of the agent was ever recorded."""
    if not agent.isidentifier():
        return ()
    try:
        with open(os.path.join(_ADAPTERS_FOLDER, agent, "versions"), encoding="ascii") as file:
            return tuple(file.read().split())
    except OSError:
        return ()
