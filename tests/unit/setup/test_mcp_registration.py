"""Registering the MCP server in agents' settings; any content survives, see tests/property."""

import json
import tomllib

import pytest

from termvisor.errors import ConfigError
from termvisor.model.agent.hooks import HookedAgent
from termvisor.setup.mcp_registration import add_server, build_server_file, has_server, remove_server

HOME = {"HOME": "/home/you", "PATH": ""}
BESIDE_PYTHON = build_server_file("gemini", HOME, "user", "/src").entry["command"]
AGENTS: list[HookedAgent] = ["claude_code", "codex", "gemini", "copilot", "opencode"]


@pytest.mark.parametrize(
    ("agent", "user", "project"),
    [
        ("claude_code", "/home/you/.claude.json", "/src/.mcp.json"),
        ("codex", "/home/you/.codex/config.toml", "/src/.codex/config.toml"),
        ("gemini", "/home/you/.gemini/settings.json", "/src/.gemini/settings.json"),
        ("copilot", "/home/you/.copilot/mcp-config.json", "/src/.mcp.json"),
        ("opencode", "/home/you/.config/opencode/opencode.json", "/src/opencode.json"),
    ],
)
def test_every_agent_has_its_file_for_servers(agent: HookedAgent, user: str, project: str) -> None:
    assert build_server_file(agent, HOME, "user", "/src").path == user
    assert build_server_file(agent, HOME, "project", "/src").path == project


def test_each_agent_gets_its_own_entry() -> None:
    servers = {
        agent: json.loads(add_server(build_server_file(agent, HOME, "user", "/src"), b"{}"))
        for agent in AGENTS
        if agent != "codex"
    }
    command = BESIDE_PYTHON
    assert servers["claude_code"]["mcpServers"]["visor"] == {"type": "stdio", "command": command, "args": ["mcp"]}
    assert servers["gemini"]["mcpServers"]["visor"] == {"command": command, "args": ["mcp"]}
    assert servers["copilot"]["mcpServers"]["visor"]["tools"] == ["*"]
    assert servers["opencode"]["mcp"]["visor"]["command"] == [command, "mcp"]
    codex = tomllib.loads(add_server(build_server_file("codex", HOME, "user", "/src"), b'model = "x"\n').decode())
    assert codex == {"model": "x", "mcp_servers": {"visor": {"command": command, "args": ["mcp"]}}}


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"{}",
        b"{ }\n",
        b'{"a": 1}',
        b'{\n  "a": 1\n}\n',
        b'{"mcpServers": {}}',
        b'{"mcpServers": {  }, "b": 2}',
        b'{"mcpServers": {"other": {"command": "x"}}}',
        b'{\r\n\t"mcpServers": {\r\n\t\t"other": {"command": "x"}\r\n\t}\r\n}',
    ],
)
def test_removal_restores_every_byte(data: bytes | None) -> None:
    file = build_server_file("claude_code", HOME, "user", "/src")
    once = add_server(file, data)
    assert has_server(file, once)
    assert add_server(file, once) == once
    assert remove_server(file, once) == data


@pytest.mark.parametrize("data", [b"", b"a = 1", b"a = 1\n", b"# note\n[mcp_servers.other]\ncommand = 'x'\r\n"])
def test_removal_restores_every_byte_of_toml(data: bytes) -> None:
    file = build_server_file("codex", HOME, "user", "/src")
    once = add_server(file, data)
    assert add_server(file, once) == once
    assert remove_server(file, once) == (data or None)


def test_an_entry_of_the_user_is_kept() -> None:
    file = build_server_file("gemini", HOME, "user", "/src")
    theirs = b'{"mcpServers": {"visor": {"command": "docker", "args": ["run", "visor"]}}}'
    assert add_server(file, theirs) == theirs
    assert remove_server(file, theirs) == theirs
    codex = build_server_file("codex", HOME, "user", "/src")
    by_hand = b'[mcp_servers.visor]\ncommand = "visor"\nargs = ["mcp"]\n'
    assert (add_server(codex, by_hand), remove_server(codex, by_hand)) == (by_hand, by_hand)


def test_an_entry_that_the_agent_rewrote_is_still_removed() -> None:
    file = build_server_file("claude_code", HOME, "user", "/src")
    rewritten = b'{"mcpServers": {"visor": {"command": "/old/bin/visor", "args": ["mcp"], "env": {}}, "b": {}}}'
    assert remove_server(file, rewritten) == b'{"mcpServers": {"b": {}}}'


@pytest.mark.parametrize(
    ("agent", "data", "why"),
    [
        ("gemini", b"{ // note\n}", "not valid JSON"),
        ("gemini", b'{"mcpServers": []}', "mcpServers is not an object"),
        ("opencode", b"[]", "not a JSON object"),
        ("codex", b"a = ", "not valid TOML"),
        ("codex", b"mcp_servers = 1", "not a table"),
        ("codex", b"mcp_servers = {}", "not valid TOML"),
        ("codex", b"\xff", "not valid UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_never_written(agent: HookedAgent, data: bytes, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        add_server(build_server_file(agent, HOME, "user", "/src"), data)
