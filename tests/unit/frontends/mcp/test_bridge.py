"""The real `visor mcp` process: against a daemon with fake services, and without one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from termvisor.client import daemon_process
from termvisor.settings import Paths
from tests.unit.fake_daemon import (
    build_environment,
    make_private_paths,
    run_fake_daemon,
    run_visor,
    stop_daemon_at_exit,
)

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class BridgeProcess:
    """`visor mcp` with a client that reads one message at a time."""

    def __init__(self, paths: Paths, *words: str, **more: str):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "termvisor", "mcp", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=build_environment(paths, **more),
        )
        self._last_id = 0

    def write(self, method: str, **params: Any) -> int:
        self._last_id += 1
        self.write_line(
            json.dumps({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}).encode()
        )
        return self._last_id

    def write_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        request_id = self.write(method, **params)
        message = self.read()
        assert message["id"] == request_id
        return dict(message)

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return the text of its answer."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        return "".join(block["text"] for block in answer["result"]["content"])

    def close(self) -> tuple[int, bytes, bytes]:
        """Close stdin, and return the status and what was printed since."""
        out, errors = self.process.communicate(timeout=20)
        return self.process.returncode, out, errors


@contextmanager
def run_bridge(paths: Paths, *words: str, **more: str) -> Iterator[BridgeProcess]:
    bridge = BridgeProcess(paths, *words, **more)
    try:
        yield bridge
    finally:
        with suppress(ProcessLookupError):
            bridge.process.kill()
        bridge.process.communicate()


def test_lists_are_answered_without_a_daemon(folder: str) -> None:
    paths = make_private_paths(folder)
    with run_bridge(paths, "--tools", "read") as bridge:
        assert bridge.ask("initialize", **INITIALIZE)["result"]["protocolVersion"] == "2025-06-18"
        assert len(bridge.ask("tools/list")["result"]["tools"]) == 9
        assert len(bridge.ask("prompts/list")["result"]["prompts"]) == 3
        assert bridge.close() == (0, b"", b"")
    assert not Path(paths.runtime_dir).exists()


def test_a_call_reaches_the_daemon(daemon: Paths) -> None:
    with run_bridge(daemon) as bridge:
        assert "hello from 1" in bridge.call("get_text", pane=1)
        assert json.loads(bridge.call("panes", format="json"))["data"]["summary"]["panes"] == 3
        assert bridge.call("get_text", pane=99).startswith("error: pane_not_found:")
        resource = bridge.ask("resources/read", uri="visor://pane/2/text")["result"]["contents"][0]
        assert "hello from 2" in json.loads(resource["text"])["text"]


def test_a_daemon_that_was_killed_between_two_calls_is_found_again(folder: str) -> None:
    with run_fake_daemon(folder) as paths, run_bridge(paths) as bridge:
        assert "hello from 1" in bridge.call("get_text", pane=1)
        daemon_process.stop_daemon(paths)
        with run_fake_daemon(folder):
            assert "hello from 1" in bridge.call("get_text", pane=1)


def test_a_call_whose_daemon_dies_is_answered_and_not_repeated(folder: str) -> None:
    with run_fake_daemon(folder) as paths, run_bridge(paths) as bridge:
        bridge.write("tools/call", name="wait_for", arguments={"pane": "1", "gone": True, "timeout_secs": 60})
        assert "hello" in _read_past_wait(bridge, "get_text", pane=2)
        os.kill(daemon_process.fetch_hello(paths).pid, 9)  # type: ignore[union-attr]
        lost = bridge.read()["result"]
        assert (lost["isError"], "stopped before it answered" in lost["content"][0]["text"]) == (True, True)


def _read_past_wait(bridge: BridgeProcess, tool: str, **arguments: Any) -> str:
    return bridge.call(tool, **arguments)


def test_a_daemon_that_cannot_start_is_an_answer(folder: str) -> None:
    paths = make_private_paths(folder)
    Path(paths.config_dir).mkdir()
    Path(paths.config_dir, "config.toml").write_text("no = such = toml")
    with run_bridge(paths) as bridge:
        assert bridge.call("state").startswith("error: unavailable: the daemon could not be started")
        status, out, errors = bridge.close()
        assert (status, out) == (0, b"")
        assert b"config.toml" in errors


def test_a_socket_of_another_program_is_an_answer(folder: str) -> None:
    paths = make_private_paths(folder)
    Path(paths.runtime_dir).mkdir()
    Path(paths.daemon_socket).mkdir()
    with run_bridge(paths) as bridge:
        assert bridge.call("state").startswith("error: unavailable:")


def test_the_first_call_starts_the_daemon(folder: str) -> None:
    with (
        stop_daemon_at_exit(make_private_paths(folder)) as paths,
        run_bridge(paths, VISOR_TMUX_SOCKETS=f"{folder}/none") as bridge,
    ):
        bridge.ask("initialize", **INITIALIZE)
        assert daemon_process.fetch_hello(paths) is None
        assert "No agents in 0 panes." in bridge.call("state")
        assert daemon_process.fetch_hello(paths) is not None


def test_calls_of_one_client_run_beside_each_other_and_can_be_cancelled(daemon: Paths) -> None:
    with run_bridge(daemon) as bridge:
        waiting = bridge.write("tools/call", name="wait_for", arguments={"pane": "1", "gone": True, "timeout_secs": 60})
        assert "hello from 2" in bridge.call("get_text", pane=2)
        bridge.write_line(
            json.dumps(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}}
            ).encode()
        )
        assert "hello from 3" in bridge.call("get_text", pane=3)
        assert bridge.close()[1] == b""


def test_the_process_ends_with_its_client(daemon: Paths) -> None:
    with run_bridge(daemon) as bridge:
        bridge.write(
            "subscriptions/listen",
            _meta={
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
            notifications={"resourceSubscriptions": ["visor://panes"]},
        )
        assert bridge.read()["method"] == "notifications/subscriptions/acknowledged"
        assert bridge.close()[0] == 0


def test_calls_that_were_sent_before_the_end_are_answered(daemon: Paths) -> None:
    with run_bridge(daemon) as bridge:
        bridge.write("tools/call", name="get_text", arguments={"pane": "1"})
        status, out, _ = bridge.close()
        assert (status, "hello from 1" in out.decode()) == (0, True)


def test_garbage_gets_errors_and_nothing_else_reaches_stdout(daemon: Paths) -> None:
    with run_bridge(daemon) as bridge:
        for line in (b"\xff\xfe", b"{" * 5000, b"[]", b'"', b"null", b"x" * (17 << 20)):
            bridge.write_line(line)
            assert bridge.read()["error"]["code"] in (-32700, -32600)
        assert "hello from 1" in bridge.call("get_text", pane=1)


def test_an_unknown_tool_name_is_an_error_of_the_command(folder: str) -> None:
    paths = make_private_paths(folder)
    status, out, errors = run_visor(paths, "mcp", "--tools", "core,approve")
    assert (status, out) == (2, "")
    assert "unknown tool 'approve'" in errors
    assert run_visor(paths, "mcp", "--help")[0] == 0
    assert run_visor(paths, "mcp", "--nonsense")[0] == 2


@pytest.mark.parametrize("words", [(), ("--tools=all",)])
def test_the_bridge_is_small(folder: str, words: tuple[str, ...]) -> None:
    with run_bridge(make_private_paths(folder), *words) as bridge:
        bridge.ask("tools/list")
        status = Path(f"/proc/{bridge.process.pid}/status").read_text()
        assert int(status.partition("VmRSS:")[2].split()[0]) <= 12_000
