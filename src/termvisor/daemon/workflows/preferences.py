"""Read workflow preferences from the settings and from a project's `.termvisor.toml`.

The project file comes with the project, so it is untrusted: it must be a small regular file owned by the user, only the
keys named here are read, and an invalid file is reported.
"""

import asyncio
import os
import stat
import tomllib
from collections.abc import Sequence
from typing import cast

from termvisor.daemon.components import Components
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.event import Scalar
from termvisor.model.settings.limits_and_compaction import find_compaction_prompt, find_prompt_problem
from termvisor.model.terminal.pane import PaneView
from termvisor.workflows.calls import PreferenceValues

PROJECT_FILE = ".termvisor.toml"
COMPACTION_SETTING = "compaction_prompt"
"""The only setting that a project file may set."""
READABLE_SETTINGS = frozenset({"pause_on_limit", "auto_resume", "continue_prompt", "failover_profile"})
"""The settings that workflows may read."""
_MAX_FILE_BYTES = 64 << 10


class WorkflowPreferences:
    def __init__(self, components: Components):
        self._components = components

    async def read_preferences(self, names: Sequence[str], agent: str, view: PaneView | None) -> PreferenceValues:
        """Return the values of the named settings; raise BadRequest for a name that workflows may not read."""
        if unreadable := [name for name in names if name not in READABLE_SETTINGS and name != COMPACTION_SETTING]:
            raise BadRequest(f"workflows may not read the setting {unreadable[0]!r}")
        settings = self._components.settings
        values = {name: cast(Scalar, getattr(settings, name, None)) for name in names if name in READABLE_SETTINGS}
        if COMPACTION_SETTING not in names:
            return PreferenceValues(values=values)
        folder = view.facts.cwd if view is not None and view.instance.server.target == "local" else ""
        try:
            prompt = await asyncio.to_thread(read_project_prompt, folder) if folder else ""
        except ConfigError as error:
            prompt = find_compaction_prompt(settings, agent)
            return PreferenceValues(values={**values, COMPACTION_SETTING: prompt}, trouble=error.message)
        if prompt:
            path = os.path.join(folder, PROJECT_FILE)
            return PreferenceValues(values={**values, COMPACTION_SETTING: prompt}, origins={COMPACTION_SETTING: path})
        return PreferenceValues(values={**values, COMPACTION_SETTING: find_compaction_prompt(settings, agent)})


def read_project_prompt(folder: str) -> str:
    """Return the prompt that a project sets for after a compaction, or an empty text.

    Raises ConfigError if the file is invalid.
    """
    path = os.path.join(folder, PROJECT_FILE)
    data = _read_project_file(path)
    try:
        content = tomllib.loads(data.decode()) if data else {}
    except (ValueError, RecursionError) as error:  # also for numbers too long and tables too deep
        raise ConfigError(f"{path}: {error}"[:300]) from error
    table = content.get("compaction", {})
    prompt = table.get("prompt", "") if isinstance(table, dict) else None
    if not isinstance(prompt, str):
        raise ConfigError(f"{path}: [compaction] prompt is not a string")
    prompt = " ".join(prompt.split())
    if prompt and (problem := find_prompt_problem(prompt)):
        raise ConfigError(f"{path}: [compaction] prompt {problem}")
    return prompt


def _read_project_file(path: str) -> bytes:
    """Return the content of the file, empty if it does not exist; raise ConfigError if it is not safe to read."""
    try:
        # O_NONBLOCK: opening a FIFO would block; O_NOFOLLOW: a link may point to another user's file.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is ignored: {error}"[:300]) from error
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_size > _MAX_FILE_BYTES:
            raise ConfigError(
                f"{path} is ignored: it must be a regular file that you own, of at most {_MAX_FILE_BYTES >> 10} KB"
            )
        return file.read(_MAX_FILE_BYTES)
