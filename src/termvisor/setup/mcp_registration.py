"""Register `visor mcp` in the settings of agents, and remove it, keeping every other byte.

Invariants: `remove_server(file, add_server(file, data)) == data` for any content that names no server `visor`; adding
twice equals adding once; an entry that differs from ours is the user's and is kept; a file that cannot be parsed is
never written.
"""

import os
import shutil
import sys
import tomllib
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from termvisor.errors import ConfigError
from termvisor.model.agent.hooks import HookedAgent, HookScope
from termvisor.setup.agent_settings import get_settings_folder
from termvisor.setup.json_edit import JsonNode, parse_tree

SERVER_NAME = "visor"
_BEGIN, _END = "# visor setup agents: MCP server", "# visor setup agents: end"
_NO_NEWLINE = " (added to a line without an end)"


class McpServerFile(Struct, frozen=True, kw_only=True):
    """A settings file with servers below ``key``; ``entry`` is ours. TOML if ``is_toml``, else JSON."""

    agent: HookedAgent
    path: str
    key: str
    entry: dict[str, str | bool | list[str]]
    is_toml: bool = False


def build_server_file(agent: HookedAgent, environ: Mapping[str, str], scope: HookScope, folder: str) -> McpServerFile:
    """Describe the file of the user's settings, or of the project in ``folder``."""
    command = find_command(environ)
    root = folder if scope == "project" else ""
    entry: dict[str, str | bool | list[str]] = {"command": command, "args": ["mcp"]}
    if agent == "codex":
        path = f"{root}/.codex/config.toml" if root else f"{get_settings_folder(agent, environ)}/config.toml"
        return McpServerFile(agent=agent, path=path, key="mcp_servers", entry=entry, is_toml=True)
    if agent == "opencode":
        path = f"{root}/opencode.json" if root else f"{get_settings_folder(agent, environ)}/opencode.json"
        entry = {"type": "local", "command": [command, "mcp"], "enabled": True}
        return McpServerFile(agent=agent, path=path, key="mcp", entry=entry)
    if agent == "claude_code":
        path = f"{root}/.mcp.json" if root else _find_claude_file(environ)
        return McpServerFile(agent=agent, path=path, key="mcpServers", entry={"type": "stdio", **entry})
    if agent == "copilot":
        path = f"{root}/.mcp.json" if root else f"{get_settings_folder(agent, environ)}/mcp-config.json"
        entry = {"type": "local", **entry, "tools": ["*"]}
        return McpServerFile(agent=agent, path=path, key="mcpServers", entry=entry)
    path = f"{root}/.gemini/settings.json" if root else f"{get_settings_folder(agent, environ)}/settings.json"
    return McpServerFile(agent=agent, path=path, key="mcpServers", entry=entry)


def find_command(environ: Mapping[str, str]) -> str:
    """Return how agents start `visor`: by name if it is on the PATH, else by its path."""
    beside_python = f"{os.path.dirname(sys.executable)}/visor"
    return SERVER_NAME if shutil.which(SERVER_NAME, path=environ.get("PATH", "")) else beside_python


def _find_claude_file(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.abspath(f"{environ.get('CLAUDE_CONFIG_DIR') or home}/.claude.json")


def add_server(file: McpServerFile, data: bytes | None) -> bytes:
    """Return the content with our server; unchanged if it has one of that name. Raises ConfigError."""
    if file.is_toml:
        return _add_to_toml(file, data or b"")
    if data is None:
        return _build_new_file(file).encode()
    text, root = _decode_json(file, data)
    servers = root.find_child(file.key)
    entry = f'"{SERVER_NAME}": {_encode(file.entry)}'
    if servers is None:
        return _insert_member(text, root, f'"{file.key}": {{{entry}}}').encode()
    if servers.kind != "{":
        raise _build_error(file, f"{file.key} is not an object")
    if servers.find_child(SERVER_NAME) is not None:
        return data
    # The blank tells removal that the empty object was there before.
    is_bare = not servers.children and servers.end - servers.start == 2
    return _insert_member(text, servers, f" {entry}" if is_bare else entry).encode()


def remove_server(file: McpServerFile, data: bytes | None) -> bytes | None:
    """Return the content without our server; None for no file. Raises ConfigError."""
    if data is None:
        return None
    if file.is_toml:
        return _remove_from_toml(data)
    if data == _build_new_file(file).encode():
        return None
    text, root = _decode_json(file, data)
    servers = root.find_child(file.key)
    server = None if servers is None or servers.kind != "{" else servers.find_child(SERVER_NAME)
    if servers is None or server is None or not _is_ours(file, text[server.start : server.end]):
        return data
    if servers.children == (server,) and text[servers.start : servers.end] == f"{{{text[server.at : server.end]}}}":
        return _cut_member(text, root, servers).encode()
    return _cut_member(text, servers, server).encode()


def has_server(file: McpServerFile, data: bytes | None) -> bool:
    """Return True if the content has a server of our name, ours or the user's. Raises ConfigError."""
    if data is None:
        return False
    if file.is_toml:
        return SERVER_NAME in _read_toml_servers(file, data.decode("utf-8", "replace"))
    servers = _decode_json(file, data)[1].find_child(file.key)
    return servers is not None and servers.find_child(SERVER_NAME) is not None


def _build_new_file(file: McpServerFile) -> str:
    return f'{{\n  "{file.key}": {{\n    "{SERVER_NAME}": {_encode(file.entry)}\n  }}\n}}\n'


def _is_ours(file: McpServerFile, text: str) -> bool:
    """Return True for our entry, also if another installation wrote it or the agent added fields."""
    entry = msgspec.json.decode(text)
    if not isinstance(entry, dict):
        return False
    words = [entry.get("command"), entry.get("args", [])]
    command, *args = (word for part in words for word in (part if isinstance(part, list) else [part]))
    return isinstance(command, str) and os.path.basename(command) == SERVER_NAME and args == ["mcp"]


def _insert_member(text: str, node: JsonNode, member: str) -> str:
    if not node.children:
        return text[: node.start + 1] + member + text[node.start + 1 :]
    first, last = node.children[0], node.children[-1]
    space = text[node.start + 1 : first.at]
    return f"{text[: last.end]},{space or ' '}{member}{text[last.end :]}"


def _cut_member(text: str, node: JsonNode, member: JsonNode) -> str:
    index = node.children.index(member)
    if len(node.children) == 1:
        return text[: node.start + 1] + text[member.end :]
    if index:
        return text[: node.children[index - 1].end] + text[member.end :]
    return text[: member.at] + text[node.children[1].at :]


def _add_to_toml(file: McpServerFile, data: bytes) -> bytes:
    text = _decode_text(file, data)
    if SERVER_NAME in _read_toml_servers(file, text):
        return data
    is_open = bool(text) and not text.endswith("\n")
    lines = [
        f"{_BEGIN}{_NO_NEWLINE if is_open else ''}",
        f"[{file.key}.{SERVER_NAME}]",
        *(f"{name} = {_encode(value)}" for name, value in file.entry.items()),
        _END,
    ]
    changed = text + ("\n" if is_open else "") + "\n".join(lines) + "\n"
    _read_toml_servers(file, changed)
    return changed.encode()


def _remove_from_toml(data: bytes) -> bytes | None:
    text = data.decode("utf-8", "surrogateescape")
    start = text.find(_BEGIN)
    end = text.find(f"{_END}\n", start)
    if start < 0 or end < 0:
        return data
    head, tail = text[:start], text[end + len(_END) + 1 :]
    if text[start + len(_BEGIN) :].startswith(_NO_NEWLINE):
        head = head.removesuffix("\n")
    return (head + tail).encode("utf-8", "surrogateescape") if head + tail else None


def _read_toml_servers(file: McpServerFile, text: str) -> dict[str, object]:
    try:
        servers = tomllib.loads(text).get(file.key, {})
    except tomllib.TOMLDecodeError as error:
        raise _build_error(file, f"not valid TOML ({error})") from error
    if not isinstance(servers, dict):
        raise _build_error(file, f"{file.key} is not a table")
    return servers


def _decode_text(file: McpServerFile, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _build_error(file, "not valid UTF-8") from error


def _decode_json(file: McpServerFile, data: bytes) -> tuple[str, JsonNode]:
    text = _decode_text(file, data)
    try:
        root = parse_tree(text)
    except ValueError as error:
        raise _build_error(file, f"not valid JSON ({error})") from error
    if root.kind != "{":
        raise _build_error(file, "not a JSON object")
    return text, root


def _build_error(file: McpServerFile, why: str) -> ConfigError:
    return ConfigError(
        f"{file.path} cannot be changed: {why}; nothing was written",
        hint="Fix the file, or add the server `visor mcp` by hand; `--agent` chooses other agents.",
    )


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
