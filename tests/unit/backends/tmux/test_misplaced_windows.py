"""What tmux would have put elsewhere, had we not been there, is put elsewhere."""

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


async def test_a_window_that_was_opened_without_a_target_goes_to_the_persons_session(tmux, server):
    window = tmux("new-window", "-P", "-F", "#{window_id}", "cat")
    assert tmux.read_format(window, "#{session_name}") == "_visor"
    assert await move_misplaced_windows(server) == 1
    assert tmux.read_format(window, "#{session_name} #{window_active}") == "work 1"
    quiet = tmux("new-window", "-d", "-t", "=_visor:", "-P", "-F", "#{window_id}", "cat")
    assert await move_misplaced_windows(server) == 1
    assert tmux.read_format(quiet, "#{session_name} #{window_active}") == "work 0"


async def test_our_own_window_stays(tmux, server):
    assert await move_misplaced_windows(server) == 0
    assert tmux("list-windows", "-t", "=_visor:", "-F", "x") == "x"


async def test_a_person_who_attached_to_ours_sees_their_own(tmux, server):
    tmux.open_window("work", f"exec env -u TMUX tmux -S {tmux.socket} attach -t =_visor")
    await wait_until(lambda: tmux("list-clients", "-F", "#{client_control_mode} #{session_name}").count("_visor") == 2)
    assert await move_misplaced_windows(server) == 1
    await wait_until(lambda: "0 work" in tmux("list-clients", "-F", "#{client_control_mode} #{session_name}"))
