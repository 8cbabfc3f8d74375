"""Servers that come and go, a recorder that dies, and what an earlier daemon left behind."""

import asyncio
import os
import signal

import pytest
from msgspec.structs import replace

from termvisor.backends.tmux import client
from termvisor.capture import server_supervisor
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.errors import MuxError, Unavailable
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from tests.unit.capture.capture_harness import AdvancedClock, WatcherHarness
from tests.unit.wait_until import wait_until

DEAD = ServerInstance(TargetName("local"), "/gone", 2**22 + 1, 1)


@pytest.fixture
def second(folder):
    with run_private_tmux(folder, "u") as server:
        yield server


@pytest.fixture
async def both(memory, tmux, second):
    """A lookout for both servers, not looking yet."""
    made = WatcherHarness(memory, tmux.socket, second.socket)
    yield made
    await made.leave()
    await made.recorder.quit()


def server_pid(tmux: PrivateTmux) -> int:
    return int(tmux("display-message", "-p", "#{pid}"))


async def test_two_servers_are_watched_at_once_and_their_panes_are_not_mixed_up(memory, tmux, second, both):
    one, other = tmux.start_session(command="cat"), second.start_session(command="cat")
    assert one == other
    await both.start_supervisor()
    for server in (tmux, second):
        await both.wait_captured(server.socket, one)
    ids = {pane.instance.server.socket: pane.id for pane in await memory.store.panes.list_panes()}
    first, last = ids[tmux.socket], ids[second.socket]
    tmux.type_line(one, "said-in-the-first")
    second.type_line(other, "said-in-the-second")
    await both.wait_for_line(first, "said-in-the-first")
    await both.wait_for_line(last, "said-in-the-second")
    assert "said-in-the-second" not in await memory.read_lines(first)


async def test_the_end_of_one_server_is_not_the_end_of_the_other(memory, tmux, second, both):
    one, other = tmux.start_session(command="cat"), second.start_session(command="cat")
    await both.start_supervisor()
    for server in (tmux, second):
        await both.wait_captured(server.socket, one)
    tmux.kill_server()
    await both.wait_for_event("server_gone")
    await wait_until(lambda: list(both.supervisor.watchers) == [second.socket])
    second.type_line(other, "still-here")
    (left,) = (await both.list_panes()).values()
    await both.wait_for_line(left, "still-here")
    assert await memory.list_gap_causes() == ["server_gone"]


async def test_a_server_that_comes_later_goes_and_comes_back_is_found_each_time(memory, tmux, watching, monkeypatch):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.05)
    await watching.start_supervisor()
    first = await watching.wait_captured(tmux.socket, tmux.start_session(command="cat"))
    tmux.kill_server()
    await wait_until(lambda: watching.supervisor.watchers == {})
    second = await watching.wait_captured(tmux.socket, tmux.start_session(command="cat"))
    assert second != first
    assert [pane.id for pane in await memory.store.panes.list_panes()] == [second]
    assert await memory.list_gap_causes() == ["server_gone"]


async def test_the_demo_is_watched_without_being_named(memory, watching):
    with run_private_tmux(memory.paths.runtime_dir, "demo") as demo:
        mux_id = demo.start_session(command="cat")
        await watching.start_supervisor()
        await watching.wait_captured(memory.paths.demo_socket, mux_id)


async def test_where_nobody_listens_the_first_look_is_over_at_once(watching):
    await asyncio.wait_for(watching.start_supervisor(), 5)
    assert watching.supervisor.watchers == {}


async def test_a_server_that_does_not_answer_holds_up_no_other(memory, tmux, second, both, monkeypatch):
    monkeypatch.setattr(client, "_REPLY_TIMEOUT_S", 2.0)
    tmux.start_session(command="cat")
    mux_id = second.start_session(command="cat")
    os.kill(stopped := server_pid(tmux), signal.SIGSTOP)
    looking = asyncio.ensure_future(both.start_supervisor())
    try:
        await both.wait_captured(second.socket, mux_id)
        assert not looking.done()
    finally:
        os.kill(stopped, signal.SIGCONT)
    await looking


async def test_a_recorder_that_is_killed_is_started_again_and_every_pane_is_piped_anew(memory, tmux, cat, watching):
    await watching.start_supervisor()
    pane = await watching.wait_captured(tmux.socket, cat)
    killed = watching.recorder.pid
    os.kill(killed, signal.SIGKILL)
    await watching.wait_for_event("recorder_started")
    assert watching.recorder.pid != killed
    await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "after-the-kill")
    await watching.wait_for_line(pane, "after-the-kill")
    (gap,) = await memory.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("recorder_restart", False)
    assert watching.supervisor.recorder_restarts == 1
    assert watching.supervisor.alerts == {}


async def test_a_recorder_that_keeps_ending_is_an_alert_until_it_starts(memory, watching, monkeypatch):
    class Hasty(AdvancedClock):
        """Nobody waits for the next try."""

        async def sleep(self, seconds: float) -> None:
            waits.append(seconds)
            await asyncio.sleep(0)

    async def refuse() -> None:
        if len(waits) < 6:
            raise Unavailable("no room for it")

    waits: list[float] = []
    memory.epochs.clock = Hasty()
    watching._prepare()
    await watching.start_supervisor()
    monkeypatch.setattr(watching.recorder, "start", refuse)
    os.kill(watching.recorder.pid, signal.SIGKILL)
    await watching.wait_for_event("recorder_started")
    events = await memory.list_event_kinds()
    assert (events.count("alert"), events.count("alert_cleared")) == (1, 1)
    assert watching.supervisor.alerts == {}
    assert max(waits[:4]) < 5
    assert min(waits[4:]) > 299


async def left_behind(memory):
    """A pane of a server that is dead by now, and its epoch that nobody closed."""
    instance = PaneInstance(DEAD, MuxPaneId("%1"))
    pane, _ = await memory.store.panes.find_or_add(instance, PaneFacts(mux_id=instance.mux_id, pid=7), at=10)
    epoch = await memory.reserve_epoch(pane)
    return pane, epoch


async def test_what_a_dead_server_left_open_is_closed_with_all_its_text(memory, watching):
    pane, epoch = await left_behind(memory)
    memory.write_output(epoch, b"last words\r\nunfinished")
    last_at = memory.epochs.find_last_byte_time(epoch)
    await watching.start_supervisor()
    assert await memory.list_end_causes(pane) == ["server_gone"]
    (gap,) = await memory.list_gaps(pane)
    assert (gap.cause, gap.start_at, gap.end_at is None) == ("server_gone", last_at, False)
    assert await memory.read_lines(pane) == ["last words", "unfinished"]
    assert await watching.list_panes() == {}
    assert await memory.list_event_kinds() == ["epoch_closed", "gap_recorded", "pane_gone"]


async def test_what_was_reserved_and_never_heard_leaves_no_gap(memory, watching):
    pane, _ = await left_behind(memory)
    await watching.start_supervisor()
    assert await memory.list_end_causes(pane) == ["joined"]
    assert await memory.list_gaps() == []


async def test_an_epoch_of_a_pane_that_was_gone_already_is_closed_too(memory, watching):
    pane, epoch = await left_behind(memory)
    await memory.store.panes.mark_gone(pane, 20)
    memory.write_output(epoch, b"word\r\n")
    await watching.start_supervisor()
    assert await memory.list_end_causes(pane) == ["server_gone"]
    assert [gap.end_at is None for gap in await memory.list_gaps()] == [False]


async def test_text_that_was_not_finished_is_finished(memory, watching):
    pane, epoch = await left_behind(memory)
    size = memory.write_output(epoch, b"one\r\ntwo")
    await memory.store.output.close_epoch(epoch.id, "stopped", 30, size)
    await watching.start_supervisor()
    await watching.wait_for_line(pane, "two")
    assert await memory.store.output.list_unfinished_epochs() == []


async def test_leaving_for_a_later_daemon_keeps_every_pipe(memory, tmux, second, both):
    one, other = tmux.start_session(command="cat"), second.start_session(command="cat")
    await both.start_supervisor()
    for server in (tmux, second):
        await both.wait_captured(server.socket, one)
    await both.leave(keep_pipes=True)
    assert (tmux.read_format(one, "#{pane_pipe}"), second.read_format(other, "#{pane_pipe}")) == ("1", "1")
    assert len(await memory.store.output.list_open_epochs()) == 2


async def held_down(memory, watching):
    """Let every wait for the next try pass at once, until there are none for a while."""
    while not watching.supervisor.alerts:
        memory.clock.advance_s += 5
        await asyncio.sleep(0.01)


def breaks(error: Exception):
    async def run(_watch: object) -> None:
        raise error

    return run


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug of ours"), MuxError("tmux said: no")])
async def test_a_watch_that_keeps_failing_is_held_down_told_and_taken_up_again(
    memory, tmux, cat, watching, monkeypatch, error
):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.01)
    monkeypatch.setattr(ServerWatcher, "_start_watching", breaks(error))
    await watching.start_supervisor()
    await held_down(memory, watching)
    assert watching.supervisor.watcher_restarts == 5
    (alert,) = watching.supervisor.alerts.values()
    assert f"watching {tmux.socket} keeps failing" in alert
    monkeypatch.undo()
    memory.clock.advance_s += 301
    await watching.wait_for_event("alert_cleared")
    await watching.wait_captured(tmux.socket, cat)
    assert watching.supervisor.alerts == {}


async def test_an_alert_about_a_server_ends_with_the_server(memory, tmux, cat, watching, monkeypatch):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.01)
    monkeypatch.setattr(ServerWatcher, "_start_watching", breaks(MuxError("tmux said: no")))
    await watching.start_supervisor()
    await held_down(memory, watching)
    tmux.kill_server()
    await watching.wait_for_event("alert_cleared")


async def test_a_missing_tmux_is_told_with_the_way_to_get_it_and_forgotten_when_it_is_there(memory, tmux, monkeypatch):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.01)
    made = WatcherHarness(memory, tmux.socket)
    made.dependencies.settings = replace(made.settings, tmux_program="/nowhere/tmux")
    await made.start_supervisor()
    assert "apt-get install tmux" in made.supervisor.alerts["tmux"]
    made.dependencies.settings = made.settings
    await made.wait_for_event("alert_cleared")
    await made.leave()
    await made.recorder.quit()


async def test_a_server_that_was_named_and_is_not_there_is_told(tmux, watching):
    await watching.start_supervisor()
    (told,) = watching.supervisor.list_unwatched_servers()
    assert (told.socket, told.mux_ok, told.client, told.detail) == (tmux.socket, False, "none", "nobody listens there")
    await watching.wait_captured(tmux.socket, tmux.start_session(command="cat"))
    assert watching.supervisor.list_unwatched_servers() == []
