"""The daemon's components start in an empty folder and leave nothing behind."""

import asyncio
import os
import re

import pytest

from termvisor.backends.tmux import control_client, native_client, plain_client
from termvisor.backends.tmux.commands import render_script
from termvisor.daemon.assembly import open_services
from termvisor.errors import StorageError
from termvisor.settings import Paths, Settings
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.pattern_cache import install_pattern_cache


@pytest.fixture
def places():
    with make_short_folder() as folder:
        found = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        install_pattern_cache(found)
        yield found


async def test_services_start_capture_and_leave_nothing_running(places):
    with run_private_tmux(places.runtime_dir) as tmux:
        tmux.start_session(command="sh")
        async with open_services(places, Settings(tmux_sockets=(tmux.socket,))) as services:
            (pane,) = await services.panes.list_panes()
            recorder = (await services.maintenance.get_health()).recorder.pid
            kinds = [event.kind for event in await services.history.list_events()]
        assert pane.facts.session_name == "work"
        assert kinds[:3] == ["daemon_started", "server_found", "pane_appeared"]
        assert not os.path.exists(f"/proc/{recorder}")
        assert tmux("list-sessions", "-F", "#{session_name}") == "work"
        assert tmux("list-panes", "-a", "-F", "#{pane_pipe}") == "0"


async def test_the_recorder_may_stay_for_the_next_daemon(places):
    settings = Settings(tmux_sockets=())
    async with open_services(places, settings) as services:
        first = (await services.maintenance.get_health()).recorder.pid
        services.keeps_recorder = True
    async with open_services(places, settings) as services:
        assert (await services.maintenance.get_health()).recorder.pid == first


async def test_a_file_that_is_no_database_is_reported_and_untouched(places):
    with open(places.database, "wb") as file:
        file.write(b"my shopping list\n" * 100)
    with pytest.raises(StorageError):
        async with open_services(places, Settings(tmux_sockets=())):
            pass
    with open(places.database, "rb") as file:
        assert file.read() == b"my shopping list\n" * 100


HARMLESS = {
    "capture-pane", "display-message", "kill-session", "list-panes", "pipe-pane", "refresh-client", "show-options",
}  # fmt: skip
"""All that may be asked of a server; a session is killed only if its destroy-unattached demands it."""


async def test_requests_to_a_tmux_server_never_type_into_a_pane(places, monkeypatch):
    asked = []
    for module, name in (
        (native_client, "render_argv"),
        (plain_client, "render_argv"),
        (control_client, "render_script"),
    ):
        render = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda commands, render=render: asked.append(render_script(commands)) or render(commands)
        )
    with run_private_tmux(places.runtime_dir) as tmux:
        ours, theirs = tmux.start_session(command="cat"), tmux.start_session("second", "cat")
        tmux("pipe-pane", "-t", theirs, "cat > /dev/null")
        async with open_services(places, Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1)) as services:
            while {pane.heard_by for pane in await services.panes.list_panes()} != {"pipe", "control"}:
                await asyncio.sleep(0.02)
            for pane in await services.panes.list_panes():
                await services.panes.capture_screen(pane.id)
        known = tmux("list-commands", "-F", "#{command_list_name}").split()
        screens = [tmux("capture-pane", "-p", "-t", pane).strip() for pane in (ours, theirs)]
    requests = "\n".join(asked)
    assert {verb for verb in known if re.search(rf"(?<![\w-]){verb}(?![\w-])", requests)} == HARMLESS
    killing = [request for request in asked if "kill-session" in request]
    assert all("destroy-unattached" in request for request in killing)
    assert screens == ["", ""]
