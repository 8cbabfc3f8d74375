"""Find installed agents; add, remove and inspect our hooks in their settings files, keeping all other content.

Invariants: `remove_hooks(file, add_hooks(file, data), data) == data` for any content, or none; adding hooks twice
equals adding them once; a file that is not valid JSON is never written.
"""

import os
import shutil
from collections.abc import Mapping
from typing import get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.loader import load_adapters
from termvisor.agents.sources.program_version import ProgramVersionFinder
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.clock import SystemClock
from termvisor.detection.packs.rule_match import is_in_range
from termvisor.diagnostics.checks.check import InstalledHooks
from termvisor.errors import ConfigError, Unavailable
from termvisor.model.agent.hooks import (
    HOOK_COMMAND_MARKER,
    HOOK_EVENTS_BY_AGENT,
    HookedAgent,
    HookedFile,
    HookFileState,
    HookScope,
)
from termvisor.settings import Paths
from termvisor.setup import hook_script, json_edit, user_file

HOOKED_AGENTS: tuple[HookedAgent, ...] = get_args(HookedAgent)
_TELL_HOOK_TIMEOUT_S, _ASK_HOOK_TIMEOUT_S = 3, 600
"""Seconds before the agent kills the hook. Codex limits some hooks to three seconds and warns if given more."""
PLUGIN_PATH = os.path.join(os.path.dirname(os.path.dirname(__file__)), "agents", "adapters", "opencode", "plugin.js")
PLUGIN_HEADER = "// Made by `visor setup agents`; `visor setup agents --remove` takes it away.\n"
STATUS_LINE_KEY = "statusLine"
_STATUS_LINE_EVENT = "StatusLine"
_PLUGIN_PACKAGE_PATH = "node_modules/@opencode-ai/plugin"


class AgentSettingsFile(Struct, frozen=True, kw_only=True):
    """``hook_items`` are appended to the event lists in `hooks`; or ``plugin_content`` is the whole file."""

    agent: HookedAgent
    path: str
    hook_items: tuple[tuple[str, str], ...] = ()
    initial_text: str = "{}\n"
    """Content of a new file before the hooks are added."""
    plugin_content: bytes | None = None
    skip_reason: str = ""
    """Why no hooks are installed."""
    status: str = ""
    """The value for `statusLine`, if the user wants one."""
    wants_status: bool = False


def build_settings_file(
    agent: HookedAgent, paths: Paths, environ: Mapping[str, str], folder: str | None = None
) -> AgentSettingsFile:
    """Describe the user's settings file, or the project's settings file in ``folder``."""
    path = get_settings_path(agent, environ, folder)
    if agent == "opencode":
        return AgentSettingsFile(
            agent=agent, path=path, plugin_content=_build_plugin(paths), skip_reason=_find_plugin_problem(path)
        )
    hook_events = HOOK_EVENTS_BY_AGENT[agent]
    items = [
        (event, _build_hook_item(agent, hook_script.build_tell_command(paths, agent, event), _TELL_HOOK_TIMEOUT_S))
        for event in _list_accepted_events(agent, environ)
    ]
    if hook_events.permission_event:
        items.append(
            (
                hook_events.permission_event,
                _build_hook_item(agent, hook_script.build_ask_command(paths, agent), _ASK_HOOK_TIMEOUT_S),
            )
        )
    base = '{\n  "version": 1\n}\n' if agent == "copilot" else "{}\n"
    status = hook_script.build_tell_command(paths, agent, _STATUS_LINE_EVENT) if agent == "claude_code" else ""
    status_line = _encode_json({"type": "command", "command": status}) if status else ""
    return AgentSettingsFile(agent=agent, path=path, hook_items=tuple(items), initial_text=base, status=status_line)


def get_settings_path(agent: HookedAgent, environ: Mapping[str, str], folder: str | None = None) -> str:
    """Return the path of the settings file; in a project, the local (unshared) file if the agent supports one."""
    root = get_settings_folder(agent, environ) if folder is None else f"{folder}/{_PROJECT_FILE_NAMES[agent][0]}"
    return f"{root}/{_USER_FILE_NAMES[agent] if folder is None else _PROJECT_FILE_NAMES[agent][1]}"


def get_settings_folder(agent: HookedAgent, environ: Mapping[str, str]) -> str:
    """Return the directory of the agent's user settings."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folders: dict[HookedAgent, str] = {
        "claude_code": environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude",
        "codex": environ.get("CODEX_HOME") or f"{home}/.codex",
        "gemini": f"{home}/.gemini",
        "copilot": f"{home}/.copilot",
        "opencode": f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/opencode",
    }
    return os.path.abspath(folders[agent])


_USER_FILE_NAMES: dict[HookedAgent, str] = {
    "claude_code": "settings.json",
    "codex": "hooks.json",
    "gemini": "settings.json",
    "copilot": "hooks/termvisor.json",
    "opencode": "plugin/termvisor.js",
}
_PROJECT_FILE_NAMES: dict[HookedAgent, tuple[str, str]] = {
    "claude_code": (".claude", "settings.local.json"),
    "codex": (".codex", "hooks.json"),
    "gemini": (".gemini", "settings.json"),
    "copilot": (".github", "hooks/termvisor.json"),
    "opencode": (".opencode", "plugin/termvisor.js"),
}


def add_hooks(file: AgentSettingsFile, data: bytes | None) -> bytes:
    """Return the content with our hooks; unchanged if they are up to date. Raises ConfigError if it is unusable."""
    if file.plugin_content is not None:
        return file.plugin_content
    text = file.initial_text if data is None else _decode_settings(file, data)
    if data is not None and _is_current(file, text) and not _needs_status_line(file, text):
        return data
    try:
        # Remove old hooks first, so that an update leaves no hooks for events that we no longer use.
        text = json_edit.remove_items(text, "hooks", _is_ours)
        for event, item in file.hook_items:
            text = json_edit.append_item(text, ("hooks", event), item)
        if _needs_status_line(file, text) or _has_our_status_line(text):
            text = json_edit.set_member(text, STATUS_LINE_KEY, file.status)
    except json_edit.JsonShapeError as error:
        raise _build_unusable_error(file, str(error)) from error
    return text.encode()


def remove_hooks(file: AgentSettingsFile, data: bytes | None, backup_data: bytes | None) -> bytes | None:
    """Return the content without our hooks; None for no file. ``backup_data`` is the content before adding them."""
    if data is None:
        return None
    if file.plugin_content is not None:
        return None if data.startswith(PLUGIN_HEADER.encode()) else data
    text = _decode_settings(file, data)
    if not json_edit.find_leaves(text, "hooks", _is_ours) and not _has_our_status_line(text):
        return data
    # The backup also restores the formatting of containers that held only our hooks.
    if backup_data is not None and _can_restore_backup(file, backup_data, data):
        return backup_data
    rest = json_edit.remove_items(json_edit.remove_items(text, "hooks", _is_ours), STATUS_LINE_KEY, _is_ours)
    is_empty = msgspec.json.decode(rest) in ({}, msgspec.json.decode(file.initial_text))
    return None if is_empty and backup_data is None else rest.encode()


def inspect_hooks(file: AgentSettingsFile, data: bytes | None) -> HookedFile:
    """Return the state of our hooks in this content."""
    if file.plugin_content is not None:
        is_ours = data is not None and data.startswith(PLUGIN_HEADER.encode())
        return HookedFile(agent=file.agent, path=file.path, state=_classify_state(is_ours, data == file.plugin_content))
    try:
        text = _decode_settings(file, data or b"{}")
    except ConfigError as error:
        return HookedFile(agent=file.agent, path=file.path, state="unreadable", detail=error.message)
    ours = json_edit.find_leaves(text, "hooks", _is_ours) or _has_our_status_line(text)
    return HookedFile(agent=file.agent, path=file.path, state=_classify_state(bool(ours), _is_current(file, text)))


def _classify_state(is_ours: bool, is_current: bool) -> HookFileState:
    return "absent" if not is_ours else "current" if is_current else "changed"


def _can_restore_backup(file: AgentSettingsFile, backup_data: bytes, data: bytes) -> bool:
    """Return True if the file equals the backup plus our hooks, without other changes."""
    try:
        return data in (add_hooks(replace(file, wants_status=wants), backup_data) for wants in (False, True))
    except ConfigError:
        return False


def _is_current(file: AgentSettingsFile, text: str) -> bool:
    expected = [(event, leaf) for event, item in file.hook_items for _, leaf in _list_hook_leaves(item)]
    is_status_current = not _has_our_status_line(text) or json_edit.get_member(text, STATUS_LINE_KEY) == file.status
    return is_status_current and sorted(json_edit.find_leaves(text, "hooks", _is_ours)) == sorted(expected)


def has_other_status_line(file: AgentSettingsFile, data: bytes | None) -> bool:
    """Return True if the file has a status line other than ours, which must not be replaced."""
    text = "" if data is None else _decode_settings(file, data)
    return bool(text) and json_edit.get_member(text, STATUS_LINE_KEY) is not None and not _has_our_status_line(text)


def _has_our_status_line(text: str) -> bool:
    return _is_ours(json_edit.get_member(text, STATUS_LINE_KEY) or "")


def _needs_status_line(file: AgentSettingsFile, text: str) -> bool:
    return file.wants_status and bool(file.status) and json_edit.get_member(text, STATUS_LINE_KEY) is None


def _list_hook_leaves(item: str) -> list[tuple[str, str]]:
    return json_edit.find_leaves(f'{{"hooks": {{"": [{item}]}}}}', "hooks", _is_ours)


def _is_ours(leaf: str) -> bool:
    # Include the closing quote, because the marker ends the command.
    return f'{HOOK_COMMAND_MARKER}"' in leaf


def _build_hook_item(agent: HookedAgent, command: str, seconds: int) -> str:
    hook: dict[str, object] = {"type": "command", "command": command, "timeout": seconds}
    if agent == "copilot":
        return _encode_json({"type": "command", "bash": command, "timeoutSec": seconds})
    if agent == "gemini":
        # Gemini uses milliseconds, the others seconds.
        hook |= {"timeout": seconds * 1000, "name": "termvisor"}
        return _encode_json({"matcher": "*", "hooks": [hook]})
    return _encode_json({"hooks": [hook]})


def _encode_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _build_plugin(paths: Paths) -> bytes:
    with open(PLUGIN_PATH, encoding="utf-8") as file:
        text = file.read()
    spool = _encode_json(f"{paths.spool_dir}/hooks.jsonl")[1:-1]
    return (PLUGIN_HEADER + text.replace("@SPOOL@", spool)).encode()


def _find_plugin_problem(path: str) -> str:
    """Return why the plugin must not be installed (opencode would hang offline at startup); empty if it may be."""
    folder = os.path.dirname(path)
    root = os.path.dirname(folder)
    # If another plugin is installed, opencode has already downloaded the package.
    if os.path.isdir(f"{root}/{_PLUGIN_PACKAGE_PATH}") or (os.path.isdir(folder) and os.listdir(folder)):
        return ""
    return (
        "with a plugin, opencode downloads @opencode-ai/plugin at startup and hangs without a network; install it"
        f" first: npm install --prefix {root} @opencode-ai/plugin"
    )


def _decode_settings(file: AgentSettingsFile, data: bytes) -> str:
    try:
        text = data.decode()
        root = json_edit.parse_tree(text)
    except ValueError as error:
        raise _build_unusable_error(file, f"not valid JSON ({error})") from error
    if root.kind != "{":
        raise _build_unusable_error(file, "not a JSON object")
    return text


def _build_unusable_error(file: AgentSettingsFile, why: str) -> ConfigError:
    return ConfigError(
        f"{file.path} cannot be changed: {why}; nothing was written",
        hint="Fix the file, or name the agents to set up, as in `visor setup agents --agent codex`.",
    )


def read_with_backup(file: AgentSettingsFile) -> tuple[bytes | None, bytes | None]:
    """Return the contents of the file and its backup."""
    backup_path = user_file.get_backup_path(file.path)
    return user_file.read_user_file(file.path), user_file.read_user_file(backup_path)


def get_scope_folder(scope: HookScope) -> str | None:
    return os.getcwd() if scope == "project" else None


def list_installed_agents(environ: Mapping[str, str]) -> list[HookedAgent]:
    """Return the agents whose program is on the PATH or whose settings directory exists."""
    return [
        agent
        for agent in HOOKED_AGENTS
        if _has_program(agent, environ) or os.path.isdir(get_settings_folder(agent, environ))
    ]


def inspect_installed_hooks(paths: Paths, environ: Mapping[str, str]) -> InstalledHooks:
    """Inspect the hooks in the user settings of installed agents, except agents that get no hooks."""
    files = [build_settings_file(agent, paths, environ) for agent in list_installed_agents(environ)]
    return InstalledHooks(
        tuple(_inspect_file(file) for file in files if not file.skip_reason), _find_script_problem(paths)
    )


def _list_accepted_events(agent: HookedAgent, environ: Mapping[str, str]) -> list[str]:
    """Return the events that the installed version accepts; all if its version is unknown."""
    hook_events = HOOK_EVENTS_BY_AGENT[agent]
    version = _find_installed_version(agent, environ) if hook_events.first_versions else ""
    return [
        event
        for event in hook_events.events
        if is_in_range(version, f">={first}" if (first := hook_events.first_versions.get(event)) else "")
    ]


def _find_installed_version(agent: HookedAgent, environ: Mapping[str, str]) -> str:
    packages = AdapterRegistry(load_adapters).get_package_names(agent)
    finder, now = ProgramVersionFinder(), SystemClock().now()
    paths = [_find_program(name, environ) for name in HOOK_EVENTS_BY_AGENT[agent].programs]
    return next((found for path in paths if path and (found := finder.find_installed_version(path, packages, now))), "")


def _has_program(agent: HookedAgent, environ: Mapping[str, str]) -> bool:
    return any(_find_program(name, environ) for name in HOOK_EVENTS_BY_AGENT[agent].programs)


def _find_program(name: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environ.get("PATH", ""))


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
