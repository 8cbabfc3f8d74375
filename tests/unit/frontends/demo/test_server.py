"""The demo's real tmux server."""

import os
from collections.abc import Iterator
from functools import partial

import pytest

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.claude_code.adapter import ADAPTER as CLAUDE_CODE
from termvisor.agents.adapters.codex.adapter import ADAPTER as CODEX
from termvisor.agents.sources.process_scanner import PaneProcessScanner
from termvisor.agents.sources.program_version import ProgramVersionFinder
from termvisor.clock import SystemClock
from termvisor.errors import MuxError
from termvisor.frontends.demo import server
from termvisor.model.agent.program_version import classify_version
from termvisor.settings import Paths, Settings
from termvisor.system.retry import wait_until
from termvisor.testing.private_tmux import PrivateTmux
from tests.unit.fake_daemon import make_private_paths


@pytest.fixture
def places(folder: str) -> Iterator[Paths]:
    where = make_private_paths(folder)
    yield where
    server.stop_demo(where, Settings())


def test_each_window_plays_its_scene(places: Paths) -> None:
    assert server.start_demo(places, Settings())
    tmux = PrivateTmux(places.demo_socket)
    listed = tmux(
        "list-panes", "-a", "-F", "#{session_name} #{window_name} #{pane_width}x#{pane_height} #{history_limit}"
    )
    assert listed.split("\n") == [f"demo {name} 110x30 50000" for name in server.WINDOWS]
    assert wait_until(lambda: "kingfisher" in tmux("capture-pane", "-p", "-t", "demo:build"), 20.0)
    assert wait_until(lambda: "Do you want to proceed?" in tmux("capture-pane", "-p", "-t", "demo:claude"), 20.0)
    assert wait_until(lambda: "indexer" in tmux("capture-pane", "-p", "-t", "demo:top"), 20.0)


def has_banner(tmux: PrivateTmux, name: str) -> bool:
    return "a demo, not the program" in tmux("capture-pane", "-p", "-t", f"demo:{name}")


def test_the_version_of_an_agent_is_found_and_is_the_one_that_it_shows(places: Paths) -> None:
    server.start_demo(places, Settings())
    tmux = PrivateTmux(places.demo_socket)
    scanner, finder = PaneProcessScanner(), ProgramVersionFinder()
    for name, adapter in (("claude", CLAUDE_CODE), ("codex", CODEX)):
        assert wait_until(partial(has_banner, tmux, name), 20.0)
        pid = int(tmux("display-message", "-p", "-t", f"demo:{name}", "#{pane_pid}"))
        process = adapter.find_process(scanner.scan_sync({1: pid})[1])
        version = finder.find_version(process, adapter.package_names, SystemClock().now())
        assert f"v{version}" in tmux("capture-pane", "-p", "-t", f"demo:{name}")
        assert classify_version(version, loader.list_recorded_versions(adapter.name)) == "recorded"


def test_the_demo_server_starts_once_and_stops_completely(places: Paths) -> None:
    assert server.start_demo(places, Settings())
    assert server.is_running(places)
    assert not server.start_demo(places, Settings())
    assert server.stop_demo(places, Settings())
    assert not server.is_running(places)
    assert not os.path.exists(places.demo_socket)
    assert not server.stop_demo(places, Settings())


def test_an_error_of_tmux_is_reported(places: Paths) -> None:
    with pytest.raises(MuxError, match="the demo's tmux server"):
        server.start_demo(places, Settings(tmux_program="false"))
