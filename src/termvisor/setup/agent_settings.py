"""One agent's settings file with our hooks in it; everything else in it stays as it is.

Laws: `without_hooks(file, with_hooks(file, data), data) == data` for whatever stood there, or did not; and with our
hooks put in twice they are there once. What is no JSON is never written to.
"""

import os
from collections.abc import Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import ConfigError
from termvisor.model.agent.hooks import LISTENED, MARKER, FoundState, HookedAgent, HookedFile, Scope
from termvisor.settings import Places
from termvisor.setup import hook_script
from termvisor.setup import json_edit as json_text
from termvisor.setup import shell_startup_file as start_file

_TELL_WITHIN, _ASK_WITHIN = 3, 600
"""Seconds after which an agent ends the hook. Codex allows some no more than three, and warns of more."""
PLUGIN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "agents", "adapters", "opencode", "plugin.js")
PLUGIN_HEAD = "// Made by `visor setup agents`; `visor setup agents --remove` takes it away.\n"
STATUS = "statusLine"
_STATUS_EVENT = "StatusLine"
_PLUGIN_PACKAGE = "node_modules/@opencode-ai/plugin"


class AgentFile(Struct, frozen=True, kw_only=True):
    """``items`` go into the lists of the object `hooks`, by name; or ``whole`` is the file."""

    agent: HookedAgent
    path: str
    items: tuple[tuple[str, str], ...] = ()
    base: str = "{}\n"
    """A file that is not there begins like this."""
    whole: bytes | None = None
    reason: str = ""
    """Why nothing is put there."""
    status: str = ""
    """What stands under `statusLine`, where a person wants it there."""
    wants_status: bool = False


def agent_file(agent: HookedAgent, places: Places, environ: Mapping[str, str], folder: str | None = None) -> AgentFile:
    """With a ``folder``, that of a project."""
    path = path_of(agent, environ, folder)
    if agent == "opencode":
        return AgentFile(agent=agent, path=path, whole=_plugin(places), reason=_doubt(path))
    listened = LISTENED[agent]
    items = [(event, _item(agent, hook_script.tells(places, agent, event), _TELL_WITHIN)) for event in listened.events]
    if listened.asks:
        items.append((listened.asks, _item(agent, hook_script.asks(places, agent), _ASK_WITHIN)))
    base = '{\n  "version": 1\n}\n' if agent == "copilot" else "{}\n"
    status = hook_script.tells(places, agent, _STATUS_EVENT) if agent == "claude_code" else ""
    shown = _json({"type": "command", "command": status}) if status else ""
    return AgentFile(agent=agent, path=path, items=tuple(items), base=base, status=shown)


def path_of(agent: HookedAgent, environ: Mapping[str, str], folder: str | None = None) -> str:
    """In a project the file that is not shared with others, where the agent has one."""
    root = folder_of(agent, environ) if folder is None else f"{folder}/{_PROJECT[agent][0]}"
    return f"{root}/{_NAMES[agent] if folder is None else _PROJECT[agent][1]}"


def folder_of(agent: HookedAgent, environ: Mapping[str, str]) -> str:
    """Where the agent keeps its own settings."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folders: dict[HookedAgent, str] = {
        "claude_code": environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude",
        "codex": environ.get("CODEX_HOME") or f"{home}/.codex",
        "gemini": f"{home}/.gemini",
        "copilot": f"{home}/.copilot",
        "opencode": f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/opencode",
    }
    return os.path.abspath(folders[agent])


_NAMES: dict[HookedAgent, str] = {
    "claude_code": "settings.json",
    "codex": "hooks.json",
    "gemini": "settings.json",
    "copilot": "hooks/termvisor.json",
    "opencode": "plugin/termvisor.js",
}
_PROJECT: dict[HookedAgent, tuple[str, str]] = {
    "claude_code": (".claude", "settings.local.json"),
    "codex": (".codex", "hooks.json"),
    "gemini": (".gemini", "settings.json"),
    "copilot": (".github", "hooks/termvisor.json"),
    "opencode": (".opencode", "plugin/termvisor.js"),
}


def with_hooks(file: AgentFile, data: bytes | None) -> bytes:
    """The file with our hooks; as it is where they stand there already."""
    if file.whole is not None:
        return file.whole
    text = file.base if data is None else _decoded(file, data)
    if data is not None and _is_current(file, text) and not _lacks_status(file, text):
        return data
    try:
        text = json_text.without(text, "hooks", _is_ours)
        for event, item in file.items:
            text = json_text.appended(text, ("hooks", event), item)
        if _lacks_status(file, text) or _has_our_status(text):
            text = json_text.put(text, STATUS, file.status)
    except json_text.Misshapen as error:
        raise _unusable(file, str(error)) from error
    return text.encode()


def without_hooks(file: AgentFile, data: bytes | None, kept: bytes | None) -> bytes | None:
    """What stood there without us. ``kept`` is the file as it was before; None means that there is none."""
    if data is None:
        return None
    if file.whole is not None:
        return None if data.startswith(PLUGIN_HEAD.encode()) else data
    text = _decoded(file, data)
    if not json_text.leaves(text, "hooks", _is_ours) and not _has_our_status(text):
        return data
    if kept is not None and _puts_back(file, kept, data):
        return kept
    rest = json_text.without(json_text.without(text, "hooks", _is_ours), STATUS, _is_ours)
    is_nothing = msgspec.json.decode(rest) in ({}, msgspec.json.decode(file.base))
    return None if is_nothing and kept is None else rest.encode()


def found(file: AgentFile, data: bytes | None) -> HookedFile:
    """What there is of ours."""
    if file.whole is not None:
        is_ours = data is not None and data.startswith(PLUGIN_HEAD.encode())
        return HookedFile(agent=file.agent, path=file.path, state=_state(is_ours, data == file.whole))
    try:
        text = _decoded(file, data or b"{}")
    except ConfigError as error:
        return HookedFile(agent=file.agent, path=file.path, state="unreadable", detail=error.message)
    ours = json_text.leaves(text, "hooks", _is_ours) or _has_our_status(text)
    return HookedFile(agent=file.agent, path=file.path, state=_state(bool(ours), _is_current(file, text)))


def _state(is_ours: bool, is_current: bool) -> FoundState:
    return "absent" if not is_ours else "current" if is_current else "changed"


def _puts_back(file: AgentFile, kept: bytes, data: bytes) -> bool:
    """Whether the file says what we made of the copy, and nothing else."""
    try:
        return data in (with_hooks(replace(file, wants_status=wanted), kept) for wanted in (False, True))
    except ConfigError:
        return False


def _is_current(file: AgentFile, text: str) -> bool:
    wanted = [(event, leaf) for event, item in file.items for _, leaf in _leaves_of(item)]
    is_shown_so = not _has_our_status(text) or json_text.member(text, STATUS) == file.status
    return is_shown_so and sorted(json_text.leaves(text, "hooks", _is_ours)) == sorted(wanted)


def keeps_status(file: AgentFile, data: bytes | None) -> bool:
    """Whether a status line stands there that is not ours; it is left alone."""
    text = "" if data is None else _decoded(file, data)
    return bool(text) and json_text.member(text, STATUS) is not None and not _has_our_status(text)


def _has_our_status(text: str) -> bool:
    return _is_ours(json_text.member(text, STATUS) or "")


def _lacks_status(file: AgentFile, text: str) -> bool:
    return file.wants_status and bool(file.status) and json_text.member(text, STATUS) is None


def _leaves_of(item: str) -> list[tuple[str, str]]:
    return json_text.leaves(f'{{"hooks": {{"": [{item}]}}}}', "hooks", _is_ours)


def _is_ours(leaf: str) -> bool:
    return f'{MARKER}"' in leaf


def _item(agent: HookedAgent, command: str, seconds: int) -> str:
    hook: dict[str, object] = {"type": "command", "command": command, "timeout": seconds}
    if agent == "copilot":
        return _json({"type": "command", "bash": command, "timeoutSec": seconds})
    if agent == "gemini":
        hook |= {"timeout": seconds * 1000, "name": "termvisor"}
        return _json({"matcher": "*", "hooks": [hook]})
    return _json({"hooks": [hook]})


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _plugin(places: Places) -> bytes:
    with open(PLUGIN, encoding="utf-8") as file:
        text = file.read()
    spool = _json(f"{places.spool_dir}/hooks.jsonl")[1:-1]
    return (PLUGIN_HEAD + text.replace("@SPOOL@", spool)).encode()


def _doubt(path: str) -> str:
    """A folder for plugins makes opencode fetch a package at every start, and hang where there is no network."""
    folder = os.path.dirname(path)
    root = os.path.dirname(folder)
    if os.path.isdir(f"{root}/{_PLUGIN_PACKAGE}") or (os.path.isdir(folder) and os.listdir(folder)):
        return ""
    return (
        f"with a plugin opencode fetches @opencode-ai/plugin at its start, and hangs without a network; put it there"
        f" first: npm install --prefix {root} @opencode-ai/plugin"
    )


def _decoded(file: AgentFile, data: bytes) -> str:
    try:
        text = data.decode()
        root = json_text.tree(text)
    except ValueError as error:
        raise _unusable(file, f"it is no JSON ({error})") from error
    if root.kind != "{":
        raise _unusable(file, "it is no object")
    return text


def _unusable(file: AgentFile, why: str) -> ConfigError:
    return ConfigError(
        f"{file.path} cannot be changed: {why}; nothing was written",
        hint="Mend the file; or name the other agents, as in `visor setup agents --agent codex`.",
    )


def read(file: AgentFile) -> tuple[bytes | None, bytes | None]:
    """The file, and the copy of how it was before."""
    return start_file.read(file.path), start_file.read(start_file.backup(file.path))


def scope_folder(scope: Scope) -> str | None:
    return os.getcwd() if scope == "project" else None
