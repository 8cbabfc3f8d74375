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

from termvisor.daemon.components import Parts
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.event import Scalar
from termvisor.model.settings.limits_and_compaction import compaction_prompt, prompt_complaint
from termvisor.model.terminal.pane import PaneView
from termvisor.workflows.calls import Preferred

PROJECT_FILE = ".termvisor.toml"
COMPACTION = "compaction_prompt"
"""Of all settings, the one that a project may say, too."""
READ = frozenset({"pause_on_limit", "auto_resume", "continue_prompt", "failover_profile"})
"""Those that workflows may read; the others are none of their business."""
_LARGEST = 64 << 10


class LivePreferences:
    def __init__(self, parts: Parts):
        self._parts = parts

    async def of(self, names: Sequence[str], agent: str, view: PaneView | None) -> Preferred:
        if wrong := [name for name in names if name not in READ and name != COMPACTION]:
            raise BadRequest(f"workflows do not read {wrong[0]!r}")
        settings = self._parts.settings
        values = {name: cast(Scalar, getattr(settings, name, None)) for name in names if name in READ}
        if COMPACTION not in names:
            return Preferred(values=values)
        folder = view.facts.cwd if view is not None and view.instance.server.target == "local" else ""
        try:
            words = await asyncio.to_thread(said_in, folder) if folder else ""
        except ConfigError as error:
            own = compaction_prompt(settings, agent)
            return Preferred(values={**values, COMPACTION: own}, trouble=error.message)
        if words:
            path = os.path.join(folder, PROJECT_FILE)
            return Preferred(values={**values, COMPACTION: words}, origins={COMPACTION: path})
        return Preferred(values={**values, COMPACTION: compaction_prompt(settings, agent)})


def said_in(folder: str) -> str:
    """The prompt that the project in this folder wants after a compaction; empty where it says nothing."""
    path = os.path.join(folder, PROJECT_FILE)
    data = _read(path)
    try:
        told = tomllib.loads(data.decode()) if data else {}
    except (ValueError, RecursionError) as error:  # also for numbers too long and tables too deep
        raise ConfigError(f"{path}: {error}"[:300]) from error
    table = told.get("compaction", {})
    words = table.get("prompt", "") if isinstance(table, dict) else None
    if not isinstance(words, str):
        raise ConfigError(f"{path}: [compaction] prompt is not a text")
    words = " ".join(words.split())
    if words and (why := prompt_complaint(words)):
        raise ConfigError(f"{path}: [compaction] prompt {why}")
    return words


def _read(path: str) -> bytes:
    """Nothing where there is no such file. What is no plain file of the user's, or large, is not read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not read: {error}"[:300]) from error
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_size > _LARGEST:
            raise ConfigError(f"{path} is not read: it must be a plain file of yours of at most {_LARGEST >> 10} KB")
        return file.read(_LARGEST)
