"""Supervise several servers, a dying recorder, and epochs an earlier daemon left open."""

import asyncio
import os
import signal

import pytest
from msgspec.structs import replace

from termvisor.backends.tmux import backend, native_client, plain_client
from termvisor.capture import server_supervisor
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.errors import MuxError, Unavailable
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from tests.unit.capture.capture_harness import AdvancedClock, WatcherHarness, build_key
from tests.unit.wait_until import wait_until

DEAD = ServerInstance(TargetName("local"), "/gone", 2**22 + 1, 1)


@pytest.fixture
def second(folder):
    with run_private_tmux(folder, "u") as server:
        yield server


@pytest.fixture
async def both(capture_store, tmux, second):
    """A harness for both servers that is not started."""
    supervised = WatcherHarness(capture_store, tmux.socket, second.socket)
    yield supervised
    await supervised.leave()
    await supervised.recorder.quit()


def server_pid(tmux: PrivateTmux) -> int:
    return int(tmux("display-message", "-p", "#{pid}"))


async def test_two_servers_are_watched_at_once_and_their_panes_are_not_mixed_up(capture_store, tmux, second, both):
    one, other = tmux.start_session(command="cat"), second.start_session(command="cat")
    assert one == other
    await both.start_supervisor()
    for server in (tmux, second):
        await both.wait_captured(server.socket, one)
    ids = {pane.instance.server.socket: pane.id for pane in await capture_store.store.panes.list_panes()}
    first, last = ids[tmux.socket], ids[second.socket]
    tmux.type_line(one, "said-in-the-first")
    second.type_line(other, "said-in-the-second")
    await both.wait_for_line(first, "said-in-the-first")
    await both.wait_for_line(last, "said-in-the-second")
    assert "said-in-the-second" not in await capture_store.read_lines(first)


async def test_the_exit_of_one_server_does_not_affect_the_other(capture_store, tmux, second, both):
    one, other = tmux.start_session(command="cat"), second.start_session(command="cat")
    await both.start_supervisor()
    for server in (tmux, second):
        await both.wait_captured(server.socket, one)
    tmux.kill_server()
    await both.wait_for_event("server_gone")
    await wait_until(lambda: list(both.supervisor.watchers) == [build_key(second.socket)])
    second.type_line(other, "still-here")
    (left,) = (await both.list_panes()).values()
    await both.wait_for_line(left, "still-here")
    assert await capture_store.list_gap_causes() == ["server_gone"]


async def test_a_server_that_starts_exits_and_starts_again_is_found_each_time(
    capture_store, tmux, watching, monkeypatch
):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.05)
    await watching.start_supervisor()
    first = await watching.wait_captured(tmux.socket, tmux.start_session(command="cat"))
    tmux.kill_server()
    await wait_until(lambda: watching.supervisor.watchers == {})
    second = await watching.wait_captured(tmux.socket, tmux.start_session(command="cat"))
    assert second != first
    assert [pane.id for pane in await capture_store.store.panes.list_panes()] == [second]
    assert await capture_store.list_gap_causes() == ["server_gone"]


async def test_the_demo_server_is_watched_without_configuration(capture_store, watching):
    with run_private_tmux(capture_store.paths.runtime_dir, "demo") as demo:
        mux_id = demo.start_session(command="cat")
        await watching.start_supervisor()
        await watching.wait_captured(capture_store.paths.demo_socket, mux_id)


async def test_the_first_scan_is_done_when_every_pane_is_captured(capture_store, tmux, cat, watching, monkeypatch):
    # Only a busy machine needs longer than the daemon waits.
    monkeypatch.setattr(server_supervisor, "_FIRST_LISTING_TIMEOUT_S", 30.0)
    panes = [cat, *(tmux.open_window("work", "cat") for _ in range(10))]
    await watching.start_supervisor()
    captures = watching.supervisor.watchers[build_key(tmux.socket)].captures
    assert [captures.find_pane(pane).handoff_pending_since for pane in panes] == [None] * 11
    assert {captures.find_pane(pane).data_plane for pane in panes} == {"pipe"}


async def test_without_servers_the_first_scan_is_done_at_once(watching):
    await asyncio.wait_for(watching.start_supervisor(), 5)
    assert watching.supervisor.watchers == {}


async def test_a_server_that_does_not_answer_does_not_delay_others(capture_store, tmux, second, both, monkeypatch):
    for module in (native_client, plain_client):
        monkeypatch.setattr(module, "REPLY_TIMEOUT_S", 2.0)
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


async def test_a_killed_recorder_is_restarted_and_every_pane_is_piped_again(capture_store, tmux, cat, watching):
    await watching.start_supervisor()
    pane = await watching.wait_captured(tmux.socket, cat)
    killed = watching.recorder.pid
    os.kill(killed, signal.SIGKILL)
    await watching.wait_for_event("recorder_started")
    assert watching.recorder.pid != killed
    await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "after-the-kill")
    await watching.wait_for_line(pane, "after-the-kill")
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("recorder_restart", False)
    assert watching.supervisor.recorder_restarts == 1
    assert watching.supervisor.alerts == {}


async def test_a_recorder_that_keeps_ending_is_an_alert_until_it_starts(capture_store, watching, monkeypatch):
    class HastyClock(AdvancedClock):
        """A clock that skips waits for the next retry."""

        async def sleep(self, seconds: float) -> None:
            waits.append(seconds)
            await asyncio.sleep(0)

    async def refuse() -> None:
        if len(waits) < 6:
            raise Unavailable("no room for it")

    waits: list[float] = []
    capture_store.epochs.clock = capture_store.event_log.clock = HastyClock()
    watching._prepare()
    await watching.start_supervisor()
    monkeypatch.setattr(watching.recorder, "start", refuse)
    os.kill(watching.recorder.pid, signal.SIGKILL)
    await watching.wait_for_event("recorder_started")
    events = await capture_store.list_event_kinds()
    assert (events.count("alert"), events.count("alert_cleared")) == (1, 1)
    assert watching.supervisor.alerts == {}
    assert max(waits[:4]) < 5
    assert min(waits[4:]) > 299


async def leave_epoch_open(capture_store):
    """Store a pane of a dead server with an epoch that was not closed."""
    instance = PaneInstance(DEAD, MuxPaneId("%1"))
    pane, _ = await capture_store.store.panes.find_or_add(instance, PaneFacts(mux_id=instance.mux_id, pid=7), at=10)
    epoch = await capture_store.reserve_epoch(pane)
    return pane, epoch


async def test_epochs_of_a_dead_server_are_closed_with_all_text(capture_store, watching):
    pane, epoch = await leave_epoch_open(capture_store)
    capture_store.write_output(epoch, b"last words\r\nunfinished")
    last_at = capture_store.epochs.find_last_byte_time(epoch)
    await watching.start_supervisor()
    assert await capture_store.list_end_causes(pane) == ["server_gone"]
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.cause, gap.start_at, gap.end_at is None) == ("server_gone", last_at, False)
    assert await capture_store.read_lines(pane) == ["last words", "unfinished"]
    assert await watching.list_panes() == {}
    assert await capture_store.list_event_kinds() == ["epoch_closed", "gap_recorded", "pane_gone"]


async def test_an_orphaned_reserved_epoch_leaves_no_gap(capture_store, watching):
    pane, _ = await leave_epoch_open(capture_store)
    await watching.start_supervisor()
    assert await capture_store.list_end_causes(pane) == ["joined"]
    assert await capture_store.list_gaps() == []


async def test_an_epoch_of_a_pane_that_was_gone_already_is_closed_too(capture_store, watching):
    pane, epoch = await leave_epoch_open(capture_store)
    await capture_store.store.panes.mark_gone(pane, 20)
    capture_store.write_output(epoch, b"word\r\n")
    await watching.start_supervisor()
    assert await capture_store.list_end_causes(pane) == ["server_gone"]
    assert [gap.end_at is None for gap in await capture_store.list_gaps()] == [False]


async def test_unfinished_text_of_an_earlier_daemon_is_finished(capture_store, watching):
    pane, epoch = await leave_epoch_open(capture_store)
    size = capture_store.write_output(epoch, b"one\r\ntwo")
    await capture_store.store.output.close_epoch(epoch.id, "stopped", 30, size)
    await watching.start_supervisor()
    await watching.wait_for_line(pane, "two")
    assert await capture_store.store.output.list_unfinished_epochs() == []


async def test_stopping_for_a_later_daemon_keeps_every_pipe(capture_store, tmux, second, both):
    one, other = tmux.start_session(command="cat"), second.start_session(command="cat")
    await both.start_supervisor()
    for server in (tmux, second):
        await both.wait_captured(server.socket, one)
    await both.leave(keep_pipes=True)
    assert (tmux.read_format(one, "#{pane_pipe}"), second.read_format(other, "#{pane_pipe}")) == ("1", "1")
    assert len(await capture_store.store.output.list_open_epochs()) == 2


async def wait_until_held_down(capture_store, watching):
    """Skip the waits for the next retry until it is held down."""
    while not watching.supervisor.alerts:
        capture_store.clock.advance_s += 5
        await asyncio.sleep(0.01)


def build_failing_run(error: Exception):
    async def run(_watch: object) -> None:
        raise error

    return run


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug of ours"), MuxError("tmux said: no")])
async def test_a_watcher_that_keeps_failing_is_held_down_with_an_alert_and_retried(
    capture_store, tmux, cat, watching, monkeypatch, error
):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.01)
    monkeypatch.setattr(ServerWatcher, "_start_watching", build_failing_run(error))
    await watching.start_supervisor()
    await wait_until_held_down(capture_store, watching)
    assert watching.supervisor.watcher_restarts == 5
    (alert,) = watching.supervisor.alerts.values()
    assert f"watching {tmux.socket} keeps failing" in alert
    monkeypatch.undo()
    capture_store.clock.advance_s += 301
    await watching.wait_for_event("alert_cleared")
    await watching.wait_captured(tmux.socket, cat)
    assert watching.supervisor.alerts == {}


async def test_an_alert_about_a_server_is_cleared_with_the_server(capture_store, tmux, cat, watching, monkeypatch):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.01)
    monkeypatch.setattr(ServerWatcher, "_start_watching", build_failing_run(MuxError("tmux said: no")))
    await watching.start_supervisor()
    await wait_until_held_down(capture_store, watching)
    tmux.kill_server()
    await watching.wait_for_event("alert_cleared")


async def test_a_missing_tmux_is_an_alert_until_it_is_installed(capture_store, tmux, monkeypatch):
    monkeypatch.setattr(server_supervisor, "_SCAN_INTERVAL_S", 0.01)
    supervised = WatcherHarness(capture_store, tmux.socket)
    supervised.supervisor.apply_settings(replace(supervised.settings, tmux_program="/nowhere/tmux"))
    await supervised.start_supervisor()
    assert "apt-get install tmux" in supervised.supervisor.alerts["tmux"]
    supervised.supervisor.apply_settings(supervised.settings)
    await supervised.wait_for_event("alert_cleared")
    await supervised.leave()
    await supervised.recorder.quit()


async def test_a_configured_server_that_is_not_running_is_listed(tmux, watching):
    await watching.start_supervisor()
    (health,) = watching.supervisor.list_unwatched_servers()
    assert (health.socket, health.mux_ok, health.client, health.detail) == (
        tmux.socket,
        False,
        "none",
        "no server is running",
    )
    await watching.wait_captured(tmux.socket, tmux.start_session(command="cat"))
    assert watching.supervisor.list_unwatched_servers() == []


async def test_servers_are_watched_without_a_folder_of_terminals(tmux, cat, watching, folder, monkeypatch):
    monkeypatch.setattr(backend, "_TERMINALS_FOLDER", f"{folder}/nowhere")
    await watching.start_supervisor()
    await watching.wait_captured(tmux.socket, cat)
