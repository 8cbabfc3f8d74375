"""The agents that are installed here, and what is found of our hooks in their settings."""

import os
import shutil
from collections.abc import Mapping
from typing import get_args

from termvisor.diagnostics.checks.check import Hooks
from termvisor.errors import Unavailable
from termvisor.model.agent.hooks import LISTENED, HookedAgent, HookedFile
from termvisor.settings import Places
from termvisor.setup import hook_script
from termvisor.setup.agent_settings import AgentFile, agent_file, folder_of, found, read

AGENTS: tuple[HookedAgent, ...] = get_args(HookedAgent)


def installed(environ: Mapping[str, str]) -> list[HookedAgent]:
    """Those whose program is on the PATH, or who keep a folder of settings."""
    return [agent for agent in AGENTS if _has_program(agent, environ) or os.path.isdir(folder_of(agent, environ))]


def survey(places: Places, environ: Mapping[str, str]) -> Hooks:
    """Where we would put nothing, nothing is missing."""
    files = [agent_file(agent, places, environ) for agent in installed(environ)]
    return Hooks(tuple(_found(file) for file in files if not file.reason), _trouble(places))


def _has_program(agent: HookedAgent, environ: Mapping[str, str]) -> bool:
    return any(shutil.which(name, path=environ.get("PATH", "")) for name in LISTENED[agent].programs)


def _found(file: AgentFile) -> HookedFile:
    try:
        return found(file, read(file)[0])
    except Unavailable as error:
        return HookedFile(agent=file.agent, path=file.path, state="unreadable", detail=error.message)


def _trouble(places: Places) -> str:
    script = hook_script.found(places)
    if script is None:
        return f"{places.hook_file}, which the hooks run, is gone"
    return "" if script == hook_script.script(places) else f"{places.hook_file}, which the hooks run, was changed"
