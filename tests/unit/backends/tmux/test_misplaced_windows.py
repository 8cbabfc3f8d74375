"""What tmux would have put elsewhere, had we not been there, is put elsewhere."""

import pytest

from termvisor.backends.tmux.misplaced_windows import send_on
from termvisor.backends.tmux.pane_source import identify
from tests.unit.waiting import until


@pytest.fixture
async def server(tmux, control):
    tmux.start(command="cat")
    client = control()
    await client.attached()
    return await identify(client, tmux.socket)


async def test_a_window_that_was_opened_without_a_target_goes_to_the_persons_session(tmux, server):
    window = tmux("new-window", "-P", "-F", "#{window_id}", "cat")
    assert tmux.ask(window, "#{session_name}") == "_visor"
    assert await send_on(server) == 1
    assert tmux.ask(window, "#{session_name} #{window_active}") == "work 1"
    quiet = tmux("new-window", "-d", "-t", "=_visor:", "-P", "-F", "#{window_id}", "cat")
    assert await send_on(server) == 1
    assert tmux.ask(quiet, "#{session_name} #{window_active}") == "work 0"


async def test_our_own_window_stays(tmux, server):
    assert await send_on(server) == 0
    assert tmux("list-windows", "-t", "=_visor:", "-F", "x") == "x"


async def test_a_person_who_attached_to_ours_sees_their_own(tmux, server):
    tmux.window("work", f"exec env -u TMUX tmux -S {tmux.socket} attach -t =_visor")
    await until(lambda: tmux("list-clients", "-F", "#{client_control_mode} #{session_name}").count("_visor") == 2)
    assert await send_on(server) == 1
    await until(lambda: "0 work" in tmux("list-clients", "-F", "#{client_control_mode} #{session_name}"))
