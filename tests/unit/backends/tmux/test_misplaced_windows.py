"""Move user windows and clients out of our private session."""

import pytest

from termvisor.backends.tmux.misplaced_windows import move_misplaced_windows
from termvisor.backends.tmux.pane_source import identify_server
from tests.unit.wait_until import wait_until


@pytest.fixture
async def server(tmux, control):
    tmux.start_session(command="cat")
    client = control()
    await client.wait_until_attached()
    return await identify_server(client, tmux.socket)


async def test_a_window_opened_without_a_target_moves_to_the_user_session(tmux, server):
    window = tmux("new-window", "-P", "-F", "#{window_id}", "cat")
    assert tmux.read_format(window, "#{session_name}") == "_visor"
    assert await move_misplaced_windows(server) == 1
    assert tmux.read_format(window, "#{session_name} #{window_active}") == "work 1"
    quiet = tmux("new-window", "-d", "-t", "=_visor:", "-P", "-F", "#{window_id}", "cat")
    assert await move_misplaced_windows(server) == 1
    assert tmux.read_format(quiet, "#{session_name} #{window_active}") == "work 0"


async def test_the_private_window_stays(tmux, server):
    assert await move_misplaced_windows(server) == 0
    assert tmux("list-windows", "-t", "=_visor:", "-F", "x") == "x"


async def test_a_client_attached_to_the_private_session_is_moved_to_a_user_session(tmux, server):
    tmux.open_window("work", f"exec env -u TMUX tmux -S {tmux.socket} attach -t =_visor")
    await wait_until(lambda: tmux("list-clients", "-F", "#{client_control_mode} #{session_name}").count("_visor") == 2)
    assert await move_misplaced_windows(server) == 1
    await wait_until(lambda: "0 work" in tmux("list-clients", "-F", "#{client_control_mode} #{session_name}"))
