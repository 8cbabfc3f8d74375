"""Servers that come and go, a recorder that dies, and what an earlier daemon left behind."""

import asyncio
import os
import signal

import pytest
from msgspec.structs import replace

from termvisor.backends.tmux import client
from termvisor.capture import server_supervisor as lookout
from termvisor.capture.server_watcher import ServerWatch
from termvisor.errors import MuxError, Unavailable
from termvisor.model.ids import MuxPaneId, TargetName
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.testing.tmux import PrivateTmux, private_tmux
from tests.unit.capture.scene import AheadClock, Watching
from tests.unit.waiting import until

DEAD = ServerInstance(TargetName("local"), "/gone", 2**22 + 1, 1)


@pytest.fixture
def second(folder):
    with private_tmux(folder, "u") as server:
        yield server


@pytest.fixture
async def both(memory, tmux, second):
    """A lookout for both servers, not looking yet."""
    made = Watching(memory, tmux.socket, second.socket)
    yield made
    await made.leave()
    await made.recorder.quit()


def server_pid(tmux: PrivateTmux) -> int:
    return int(tmux("display-message", "-p", "#{pid}"))


async def test_two_servers_are_watched_at_once_and_their_panes_are_not_mixed_up(memory, tmux, second, both):
    one, other = tmux.start(command="cat"), second.start(command="cat")
    assert one == other
    await both.look()
    for server in (tmux, second):
        await both.heard(server.socket, one)
    ids = {pane.instance.server.socket: pane.id for pane in await memory.store.panes.all()}
    first, last = ids[tmux.socket], ids[second.socket]
    tmux.type(one, "said-in-the-first")
    second.type(other, "said-in-the-second")
    await both.said(first, "said-in-the-first")
    await both.said(last, "said-in-the-second")
    assert "said-in-the-second" not in await memory.lines(first)


async def test_the_end_of_one_server_is_not_the_end_of_the_other(memory, tmux, second, both):
    one, other = tmux.start(command="cat"), second.start(command="cat")
    await both.look()
    for server in (tmux, second):
        await both.heard(server.socket, one)
    tmux.kill()
    await both.told("server_gone")
    await until(lambda: list(both.lookout.watches) == [second.socket])
    second.type(other, "still-here")
    (left,) = (await both.panes()).values()
    await both.said(left, "still-here")
    assert await memory.causes() == ["server_gone"]


async def test_a_server_that_comes_later_goes_and_comes_back_is_found_each_time(memory, tmux, watching, monkeypatch):
    monkeypatch.setattr(lookout, "_SCAN_FOR", 0.05)
    await watching.look()
    first = await watching.heard(tmux.socket, tmux.start(command="cat"))
    tmux.kill()
    await until(lambda: watching.lookout.watches == {})
    second = await watching.heard(tmux.socket, tmux.start(command="cat"))
    assert second != first
    assert [pane.id for pane in await memory.store.panes.all()] == [second]
    assert await memory.causes() == ["server_gone"]


async def test_the_demo_is_watched_without_being_named(memory, watching):
    with private_tmux(memory.places.runtime_dir, "demo") as demo:
        mux_id = demo.start(command="cat")
        await watching.look()
        await watching.heard(memory.places.demo_socket, mux_id)


async def test_where_nobody_listens_the_first_look_is_over_at_once(watching):
    await asyncio.wait_for(watching.look(), 5)
    assert watching.lookout.watches == {}


async def test_a_server_that_does_not_answer_holds_up_no_other(memory, tmux, second, both, monkeypatch):
    monkeypatch.setattr(client, "_ANSWER_FOR", 2.0)
    tmux.start(command="cat")
    mux_id = second.start(command="cat")
    os.kill(stopped := server_pid(tmux), signal.SIGSTOP)
    looking = asyncio.ensure_future(both.look())
    try:
        await both.heard(second.socket, mux_id)
        assert not looking.done()
    finally:
        os.kill(stopped, signal.SIGCONT)
    await looking


async def test_a_recorder_that_is_killed_is_started_again_and_every_pane_is_piped_anew(memory, tmux, cat, watching):
    await watching.look()
    pane = await watching.heard(tmux.socket, cat)
    killed = watching.recorder.pid
    os.kill(killed, signal.SIGKILL)
    await watching.told("recorder_started")
    assert watching.recorder.pid != killed
    await watching.heard(tmux.socket, cat)
    tmux.type(cat, "after-the-kill")
    await watching.said(pane, "after-the-kill")
    (gap,) = await memory.gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("recorder_restart", False)
    assert watching.lookout.recorder_restarts == 1
    assert watching.lookout.alerts == {}


async def test_a_recorder_that_keeps_ending_is_an_alert_until_it_starts(memory, watching, monkeypatch):
    class Hasty(AheadClock):
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
    await watching.look()
    monkeypatch.setattr(watching.recorder, "start", refuse)
    os.kill(watching.recorder.pid, signal.SIGKILL)
    await watching.told("recorder_started")
    events = await memory.events()
    assert (events.count("alert"), events.count("alert_cleared")) == (1, 1)
    assert watching.lookout.alerts == {}
    assert max(waits[:4]) < 5
    assert min(waits[4:]) > 299


async def left_behind(memory):
    """A pane of a server that is dead by now, and its epoch that nobody closed."""
    instance = PaneInstance(DEAD, MuxPaneId("%1"))
    pane, _ = await memory.store.panes.recognise(instance, PaneFacts(mux_id=instance.mux_id, pid=7), at=10)
    epoch = await memory.reserved(pane)
    return pane, epoch


async def test_what_a_dead_server_left_open_is_closed_with_all_its_text(memory, watching):
    pane, epoch = await left_behind(memory)
    memory.write(epoch, b"last words\r\nunfinished")
    last_at = memory.epochs.last_at(epoch)
    await watching.look()
    assert await memory.ends(pane) == ["server_gone"]
    (gap,) = await memory.gaps(pane)
    assert (gap.cause, gap.start_at, gap.end_at is None) == ("server_gone", last_at, False)
    assert await memory.lines(pane) == ["last words", "unfinished"]
    assert await watching.panes() == {}
    assert await memory.events() == ["epoch_closed", "gap_recorded", "pane_gone"]


async def test_what_was_reserved_and_never_heard_leaves_no_gap(memory, watching):
    pane, _ = await left_behind(memory)
    await watching.look()
    assert await memory.ends(pane) == ["joined"]
    assert await memory.gaps() == []


async def test_an_epoch_of_a_pane_that_was_gone_already_is_closed_too(memory, watching):
    pane, epoch = await left_behind(memory)
    await memory.store.panes.gone(pane, 20)
    memory.write(epoch, b"word\r\n")
    await watching.look()
    assert await memory.ends(pane) == ["server_gone"]
    assert [gap.end_at is None for gap in await memory.gaps()] == [False]


async def test_text_that_was_not_finished_is_finished(memory, watching):
    pane, epoch = await left_behind(memory)
    size = memory.write(epoch, b"one\r\ntwo")
    await memory.store.output.close_epoch(epoch.id, "stopped", 30, size)
    await watching.look()
    await watching.said(pane, "two")
    assert await memory.store.output.unfinished_epochs() == []


async def test_leaving_for_a_later_daemon_keeps_every_pipe(memory, tmux, second, both):
    one, other = tmux.start(command="cat"), second.start(command="cat")
    await both.look()
    for server in (tmux, second):
        await both.heard(server.socket, one)
    await both.leave(keep_pipes=True)
    assert (tmux.ask(one, "#{pane_pipe}"), second.ask(other, "#{pane_pipe}")) == ("1", "1")
    assert len(await memory.store.output.open_epochs()) == 2


async def held_down(memory, watching):
    """Let every wait for the next try pass at once, until there are none for a while."""
    while not watching.lookout.alerts:
        memory.clock.ahead += 5
        await asyncio.sleep(0.01)


def breaks(error: Exception):
    async def run(_watch: object) -> None:
        raise error

    return run


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug of ours"), MuxError("tmux said: no")])
async def test_a_watch_that_keeps_failing_is_held_down_told_and_taken_up_again(
    memory, tmux, cat, watching, monkeypatch, error
):
    monkeypatch.setattr(lookout, "_SCAN_FOR", 0.01)
    monkeypatch.setattr(ServerWatch, "_begin", breaks(error))
    await watching.look()
    await held_down(memory, watching)
    assert watching.lookout.watch_restarts == 5
    (alert,) = watching.lookout.alerts.values()
    assert f"watching {tmux.socket} keeps failing" in alert
    monkeypatch.undo()
    memory.clock.ahead += 301
    await watching.told("alert_cleared")
    await watching.heard(tmux.socket, cat)
    assert watching.lookout.alerts == {}


async def test_an_alert_about_a_server_ends_with_the_server(memory, tmux, cat, watching, monkeypatch):
    monkeypatch.setattr(lookout, "_SCAN_FOR", 0.01)
    monkeypatch.setattr(ServerWatch, "_begin", breaks(MuxError("tmux said: no")))
    await watching.look()
    await held_down(memory, watching)
    tmux.kill()
    await watching.told("alert_cleared")


async def test_a_missing_tmux_is_told_with_the_way_to_get_it_and_forgotten_when_it_is_there(memory, tmux, monkeypatch):
    monkeypatch.setattr(lookout, "_SCAN_FOR", 0.01)
    made = Watching(memory, tmux.socket)
    made.kit.settings = replace(made.settings, tmux_program="/nowhere/tmux")
    await made.look()
    assert "apt-get install tmux" in made.lookout.alerts["tmux"]
    made.kit.settings = made.settings
    await made.told("alert_cleared")
    await made.leave()
    await made.recorder.quit()


async def test_a_server_that_was_named_and_is_not_there_is_told(tmux, watching):
    await watching.look()
    (told,) = watching.lookout.unwatched()
    assert (told.socket, told.mux_ok, told.client, told.detail) == (tmux.socket, False, "none", "nobody listens there")
    await watching.heard(tmux.socket, tmux.start(command="cat"))
    assert watching.lookout.unwatched() == []
