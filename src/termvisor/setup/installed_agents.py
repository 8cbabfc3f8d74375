"""Find installed agents and inspect our hooks in their settings."""

import os
import shutil
from collections.abc import Mapping
from typing import get_args

from termvisor.diagnostics.checks.check import InstalledHooks
from termvisor.errors import Unavailable
from termvisor.model.agent.hooks import HOOK_EVENTS_BY_AGENT, HookedAgent, HookedFile
from termvisor.settings import Paths
from termvisor.setup import hook_script
from termvisor.setup.agent_settings import (
    AgentSettingsFile,
    build_settings_file,
    get_settings_folder,
    inspect_hooks,
    read_with_backup,
)

HOOKED_AGENTS: tuple[HookedAgent, ...] = get_args(HookedAgent)


def list_installed_agents(environ: Mapping[str, str]) -> list[HookedAgent]:
    """Return the agents whose program is on the PATH or whose settings directory exists."""
    return [
        agent
        for agent in HOOKED_AGENTS
        if _has_program(agent, environ) or os.path.isdir(get_settings_folder(agent, environ))
    ]


def inspect_installed_hooks(paths: Paths, environ: Mapping[str, str]) -> InstalledHooks:
    """Inspect the user settings of installed agents, except those for which no hooks would be installed."""
    files = [build_settings_file(agent, paths, environ) for agent in list_installed_agents(environ)]
    return InstalledHooks(
        tuple(_inspect_file(file) for file in files if not file.skip_reason), _find_script_problem(paths)
    )


def _has_program(agent: HookedAgent, environ: Mapping[str, str]) -> bool:
    return any(shutil.which(name, path=environ.get("PATH", "")) for name in HOOK_EVENTS_BY_AGENT[agent].programs)


def _inspect_file(file: AgentSettingsFile) -> HookedFile:
    try:
        return inspect_hooks(file, read_with_backup(file)[0])
    except Unavailable as error:
        return HookedFile(agent=file.agent, path=file.path, state="unreadable", detail=error.message)


def _find_script_problem(paths: Paths) -> str:
    script = hook_script.read_installed_script(paths)
    if script is None:
        return f"the hook script {paths.hook_file} is missing"
    return "" if script == hook_script.build_script(paths) else f"the hook script {paths.hook_file} was changed"
