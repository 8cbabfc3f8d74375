"""No server of any supported tmux is harmed by being watched and acted on, whatever its options are."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from termvisor.backends.tmux.commands import COMMAND_NAMES
from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.test_watching import has_exited
from tests.live.tmux_compat.behaviour_runner import get_socket_folder, run_discovering_instance
from tests.live.tmux_compat.pane_operations import run_all_operations
from tests.live.tmux_compat.scripted_server import ScriptedServer
from tests.live.tmux_compat.server_scripts import ServerScript, read_scripts
from tests.live.tmux_compat.tmux_releases import RELEASES, get_tmux_of

pytestmark = pytest.mark.live
DANGEROUS_SERVERS = read_scripts("dangerous_servers.txt")
ORDINARY = "an ordinary server"
"""On it every operation must succeed. It has a client, because only a client may read the message log;
in another session, because nothing is typed into a pane that a user has just used."""
PANES = "list-panes -a -F '#{pane_id} #{pane_pid} #{pane_dead} #{session_name}'"
SENT_ELSEWHERE = {
    "delete-buffer",  # after a refused paste
    "kill-session", "refresh-client",  # for a pane whose pipe is another program's
    "resize-window", "set-option",  # to the server of a replay, which is ours
    "show-options",  # before a command that is dangerous on this version
}  # fmt: skip
"""Commands that neither watching an ordinary server nor an operation on it sends."""


class WatchedServer(NamedTuple):
    """A server and the panes that it listed before anybody watched it."""

    server: ScriptedServer
    panes: list[list[str]]

    @property
    def is_alive(self) -> bool:
        return self.server.is_alive()

    @property
    def lost_panes(self) -> list[str]:
        """Return the panes that are gone or whose program ended."""
        left = {" ".join(words[:3]) for words in list_panes(self.server)}
        ended = [words[0] for words in self.panes if words[2] == "0" and has_exited(int(words[1]))]
        return [*(words[0] for words in self.panes if " ".join(words[:3]) not in left), *ended]


def list_panes(server: ScriptedServer) -> list[list[str]]:
    return [line.split(" ", 3) for line in server.run_line(PANES).removeprefix("0 ").splitlines() if "%" in line]


def start_server(script: ServerScript, folder: str, tmux: str) -> WatchedServer:
    number = DANGEROUS_SERVERS.index(script)
    server = ScriptedServer(f"{folder}/{number}", f"{get_socket_folder(folder)}/{number}", tmux)
    server.prepare((*script.setup, *script.lines))
    return WatchedServer(server, list_panes(server))


@contextmanager
def start_dangerous_servers(folder: str, tmux: str) -> Iterator[dict[str, WatchedServer]]:
    with ThreadPoolExecutor(4) as pool:
        servers = list(pool.map(lambda script: start_server(script, folder, tmux), DANGEROUS_SERVERS))
    try:
        yield {script.name: one for script, one in zip(DANGEROUS_SERVERS, servers, strict=True)}
    finally:
        for one in servers:
            one.server.close()


def find_harm(servers: dict[str, WatchedServer]) -> dict[str, list[str]]:
    """Return the servers that died, or lost panes."""
    lost = {name: one.lost_panes if one.is_alive else ["the server"] for name, one in servers.items()}
    return {name: panes for name, panes in lost.items() if panes}


def list_captured_panes(visor: VisorInstance, server: WatchedServer) -> dict[str, int]:
    """Return the captured panes of a server: their number by tmux's id."""
    return {
        item["identity"]["pane_id"]: item["identity"]["id"]
        for item in call_robot(visor, "state")["items"]
        if item["server"] == server.server.socket and item["heard_by"] != "none"
    }


def is_captured(visor: VisorInstance, server: WatchedServer) -> bool:
    """Return whether all panes with a program are captured, or cannot be any more."""
    expected = {words[0] for words in server.panes if words[2] == "0"}
    return not server.is_alive or expected <= set(list_captured_panes(visor, server))


def operate(visor: VisorInstance, server: WatchedServer) -> list[str]:
    """Run every operation on the first pane of a server; return those that were refused."""
    captured = list_captured_panes(visor, server)
    panes = [(captured[words[0]], words[3]) for words in server.panes if words[0] in captured][:1]
    return [refused for pane in panes for refused in run_all_operations(visor, *pane, server.server.socket)]


def read_message_log(server: WatchedServer) -> list[str]:
    """Return the lines of tmux's message log, which names every command of every client, newest first."""
    return server.server.run_line("show-messages -t <one>").splitlines()


def find_commands(logged: list[str], logged_before: list[str]) -> set[str]:
    return set(re.findall(r"[a-z]+-[a-z]+", "".join(logged[: len(logged) - len(logged_before)])))


@pytest.mark.parametrize("release", RELEASES)
def test_no_server_is_harmed_by_capture_or_by_any_operation(release: str) -> None:
    tmux = get_tmux_of(release)
    with make_short_folder() as folder, start_dangerous_servers(folder, tmux) as servers:
        assert find_harm(servers) == {}
        logged_before = read_message_log(servers[ORDINARY])
        with run_discovering_instance(folder, tmux_program=tmux) as visor, ThreadPoolExecutor(6) as pool:
            wait_until(lambda: all(is_captured(visor, one) for one in servers.values()))
            assert find_harm(servers) == {}
            refused = dict(zip(servers, pool.map(lambda one: operate(visor, one), servers.values()), strict=True))
            assert find_harm(servers) == {}
            logged = read_message_log(servers[ORDINARY])
        assert find_harm(servers) == {}
    assert refused[ORDINARY] == []
    assert COMMAND_NAMES - SENT_ELSEWHERE - find_commands(logged, logged_before) == set()
