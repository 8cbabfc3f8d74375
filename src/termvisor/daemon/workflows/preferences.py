"""What the person wants of workflows: the settings as they are now, and what a project says in its own file.

A project's file comes with the project, from whoever wrote it: it is small plain text in the pane's folder that belongs
to the user, it may say only what is named here, and what is wrong with it is told instead of guessed at.
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
"""Of all settings, the one that a project may say, too."""
READABLE_SETTINGS = frozenset({"pause_on_limit", "auto_resume", "continue_prompt", "failover_profile"})
"""Those that workflows may read; the others are none of their business."""
_MAX_FILE_BYTES = 64 << 10


class WorkflowPreferences:
    def __init__(self, components: Components):
        self._components = components

    async def read_preferences(self, names: Sequence[str], agent: str, view: PaneView | None) -> PreferenceValues:
        if wrong := [name for name in names if name not in READABLE_SETTINGS and name != COMPACTION_SETTING]:
            raise BadRequest(f"workflows do not read {wrong[0]!r}")
        settings = self._components.settings
        values = {name: cast(Scalar, getattr(settings, name, None)) for name in names if name in READABLE_SETTINGS}
        if COMPACTION_SETTING not in names:
            return PreferenceValues(values=values)
        folder = view.facts.cwd if view is not None and view.instance.server.target == "local" else ""
        try:
            words = await asyncio.to_thread(read_project_prompt, folder) if folder else ""
        except ConfigError as error:
            own = find_compaction_prompt(settings, agent)
            return PreferenceValues(values={**values, COMPACTION_SETTING: own}, trouble=error.message)
        if words:
            path = os.path.join(folder, PROJECT_FILE)
            return PreferenceValues(values={**values, COMPACTION_SETTING: words}, origins={COMPACTION_SETTING: path})
        return PreferenceValues(values={**values, COMPACTION_SETTING: find_compaction_prompt(settings, agent)})


def read_project_prompt(folder: str) -> str:
    """The prompt that the project in this folder wants after a compaction; empty where it says nothing."""
    path = os.path.join(folder, PROJECT_FILE)
    data = _read_project_file(path)
    try:
        told = tomllib.loads(data.decode()) if data else {}
    except (ValueError, RecursionError) as error:  # also for numbers too long and tables too deep
        raise ConfigError(f"{path}: {error}"[:300]) from error
    table = told.get("compaction", {})
    words = table.get("prompt", "") if isinstance(table, dict) else None
    if not isinstance(words, str):
        raise ConfigError(f"{path}: [compaction] prompt is not a text")
    words = " ".join(words.split())
    if words and (why := find_prompt_problem(words)):
        raise ConfigError(f"{path}: [compaction] prompt {why}")
    return words


def _read_project_file(path: str) -> bytes:
    """Nothing where there is no such file. What is no plain file of the user's, or large, is not read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not read: {error}"[:300]) from error
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_size > _MAX_FILE_BYTES:
            raise ConfigError(
                f"{path} is not read: it must be a plain file of yours of at most {_MAX_FILE_BYTES >> 10} KB"
            )
        return file.read(_MAX_FILE_BYTES)
