"""A watch on a real server: who its panes are, that they are heard, and what happens when anybody leaves."""

import asyncio
import os
import signal

import pytest
from msgspec.structs import replace

from termvisor.backends.tmux import client
from termvisor.capture.server_watcher import ServerWatch
from termvisor.system.process_start import started
from tests.unit.waiting import until


def sessions(tmux) -> list[str]:
    return tmux("list-sessions", "-F", "#{session_name}").split("\n")


async def test_every_pane_is_known_told_and_heard(tmux, cat, watching):
    other = tmux.start("second", "cat")
    watch = await watching.watch(tmux.socket)
    assert list(watch.known) == [other, cat]
    pane = await watching.heard(tmux.socket, cat)
    tmux.type(cat, "hello")
    await watching.said(pane, "hello")
    events = await watching.memory.events()
    assert events[:3] == ["server_found", "pane_appeared", "pane_appeared"]
    health = watch.health
    assert (health.socket, health.mux_ok, health.client, health.panes) == (tmux.socket, True, "control", 2)


async def test_our_own_session_is_there_and_not_among_the_panes(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    assert sessions(tmux) == ["_visor", "work"]
    assert list(watch.known) == [cat]
    assert watch.plane_of("%99") == "none"


async def test_nothing_is_said_of_planes_before_the_first_look(tmux, cat, watching):
    assert ServerWatch(tmux.socket, watching.kit).plane_of(cat) == "none"


async def test_a_new_pane_is_found_and_one_that_exits_is_gone(tmux, cat, watching):
    await watching.watch(tmux.socket)
    split = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", cat, "read line; echo last-words")
    pane = await watching.heard(tmux.socket, split)
    tmux.type(split, "go")
    await watching.told("pane_gone")
    await watching.said(pane, "last-words")
    await watching.told("epoch_closed")
    assert split not in await watching.panes()
    assert await watching.memory.causes(pane) == ["tail_uncertain"]


async def test_what_happens_to_a_pane_is_told(tmux, cat, watching):
    tmux("set", "-g", "remain-on-exit", "on")
    await watching.watch(tmux.socket)
    await watching.heard(tmux.socket, cat)
    tmux("rename-session", "-t", "=work", "play")
    await watching.told("pane_renamed")
    tmux("send-keys", "-t", cat, "C-d")
    await watching.told("pane_died")
    tmux("respawn-pane", "-t", cat, "cat")
    await watching.told("pane_respawned")
    tmux("new-session", "-d", "-s", "other", "cat")
    tmux("join-pane", "-d", "-s", cat, "-t", "=other:")
    await watching.told("pane_moved")
    assert await watching.memory.gaps() == []


async def test_what_a_pane_is_called_is_kept_up_to_date(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    tmux("select-pane", "-t", cat, "-T", "a new title")
    await watching.called("a new title")
    assert watch.known[cat].facts.title == "a new title"


async def test_a_server_that_ends_ends_the_watch_with_one_gap_a_pane(tmux, cat, watching):
    await watching.watch(tmux.socket)
    pane = await watching.heard(tmux.socket, cat)
    tmux.kill()
    await asyncio.wait_for(watching.task, 10)
    (gap,) = await watching.memory.gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("server_gone", False)
    assert await watching.panes() == {}
    assert (await watching.memory.events())[-2:] == ["pane_gone", "server_gone"]


async def test_a_server_in_the_place_of_a_dead_one_is_not_taken_for_it(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    pane = await watching.heard(tmux.socket, cat)
    os.kill(watch.server.instance.pid, signal.SIGKILL)
    await until(lambda: started(watch.server.instance.pid) == 0)
    os.remove(tmux.socket)
    assert tmux.start(command="cat") == cat
    await asyncio.wait_for(watching.task, 10)
    stored = await watching.memory.store.panes.all(gone=True)
    assert [(one.id, one.gone_at is None) for one in stored] == [(pane, False)]
    assert "pane_respawned" not in await watching.memory.events()


async def test_a_control_client_that_is_thrown_out_comes_back_and_nothing_is_missed(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    pane = await watching.heard(tmux.socket, cat)
    first = watch.server.client
    tmux("kill-session", "-t", "=_visor")
    await until(lambda: watch.server.client.kind == "plain")
    tmux.type(cat, "meanwhile")
    await until(lambda: watch.server.client.kind == "control")
    assert watch.server.client is not first
    await watching.said(pane, "meanwhile")
    assert await watching.memory.gaps() == []


async def test_a_server_that_ends_unattached_is_watched_without_a_client(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    assert watch.health.client == "control"
    person = tmux.ask(cat, "#{session_id}")
    keeper = client.ControlClient(client.output_argv("tmux", tmux.socket, person), notice=lambda notice: None)
    await keeper.attached()
    tmux("set", "-s", "exit-unattached", "on")
    await until(lambda: watch.health.client == "plain")
    pane = await watching.heard(tmux.socket, cat)
    tmux.type(cat, "heard-anyway")
    await watching.said(pane, "heard-anyway")
    assert "_visor" not in sessions(tmux)
    keeper.close()
    await asyncio.wait_for(watching.task, 10)


async def test_a_later_daemon_goes_on_with_the_same_panes_and_epochs(tmux, cat, watching):
    await watching.watch(tmux.socket)
    pane = await watching.heard(tmux.socket, cat)
    await watching.leave(keep_pipes=True)
    tmux.type(cat, "nobody-listens")
    await watching.again()
    assert await watching.heard(tmux.socket, cat) == pane
    await watching.said(pane, "nobody-listens")
    assert await watching.memory.gaps() == []
    assert await watching.memory.ends(pane) == [None]
    assert (await watching.memory.events()).count("pane_appeared") == 1


async def test_stopping_leaves_the_server_as_it_was(tmux, cat, watching):
    await watching.watch(tmux.socket)
    pane = await watching.heard(tmux.socket, cat)
    await watching.leave()
    assert tmux.ask(cat, "#{pane_pipe}") == "0"
    await until(lambda: sessions(tmux) == ["work"])
    assert tmux("list-clients") == ""
    assert await watching.memory.ends(pane) == ["stopped"]
    assert list(await watching.panes()) == [cat]


@pytest.mark.parametrize("kill", ["kill-session", "exit"])
async def test_the_server_ends_when_its_people_end_it(tmux, cat, watching, kill):
    watch = await watching.watch(tmux.socket)
    await watching.heard(tmux.socket, cat)
    tmux(*{"kill-session": ("kill-session", "-t", "=work"), "exit": ("send-keys", "-t", cat, "C-d")}[kill])
    await until(lambda: started(watch.server.instance.pid) == 0)
    await asyncio.wait_for(watching.task, 10)


async def test_a_server_that_does_not_answer_for_a_while_is_not_gone(tmux, cat, watching, monkeypatch):
    watch = await watching.watch(tmux.socket)
    pane = await watching.heard(tmux.socket, cat)
    monkeypatch.setattr(client, "_ANSWER_FOR", 0.2)
    os.kill(watch.server.instance.pid, signal.SIGSTOP)
    try:
        await until(lambda: watch.detail)
    finally:
        os.kill(watch.server.instance.pid, signal.SIGCONT)
    monkeypatch.setattr(client, "_ANSWER_FOR", 10.0)
    await until(lambda: watch.health.client == "control")
    tmux.type(cat, "still-here")
    await watching.said(pane, "still-here")
    assert await watching.memory.gaps() == []


async def lose_client(watch, tmux):
    """Kill the control client, and wait until its end was noticed."""
    lost = watch.server.client
    os.kill(lost.pid, signal.SIGKILL)
    await until(lambda: watch.server.client is not lost)


async def test_a_control_client_that_keeps_ending_is_held_down_and_told(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    clock = watching.memory.clock
    for _ in range(4):
        await lose_client(watch, tmux)
        clock.ahead += 5
        await until(lambda: watch.server.client.kind == "control")
    await lose_client(watch, tmux)
    await watching.told("alert")
    assert f"the control client of {tmux.socket} keeps ending" in watching.lookout.alerts[f"control:{tmux.socket}"]
    clock.ahead += 60
    pane = await watching.heard(tmux.socket, cat)
    tmux.type(cat, "heard-meanwhile")
    await watching.said(pane, "heard-meanwhile")
    assert watch.server.client.kind == "plain"
    clock.ahead += 241
    await watching.told("alert_cleared")
    assert watch.server.client.kind == "control"
    assert watching.lookout.alerts == {}
    assert watching.lookout.restarts["control_client"] == 5


async def test_after_a_reconnect_everything_is_read_again_at_once(tmux, cat, watching):
    watching.kit.settings = replace(watching.settings, full_interval=600.0)
    watch = await watching.watch(tmux.socket)
    await watching.heard(tmux.socket, cat)
    tmux("select-pane", "-t", cat, "-T", "a new title")
    await lose_client(watch, tmux)
    await until(lambda: watch.known[cat].facts.title == "a new title")


async def test_what_nobody_announced_is_counted_as_a_correction_of_its_server(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    await watching.heard(tmux.socket, cat)
    await until(lambda: watch.known[cat].facts.piped and not watch._is_announced)
    watch.known[cat].facts = replace(watch.known[cat].facts, window_name="something else")
    await until(lambda: watch.health.corrections == 1)


async def test_a_quiet_server_is_read_ever_more_seldom_until_something_happens(tmux, cat, watching):
    watch = await watching.watch(tmux.socket)
    pane = await watching.heard(tmux.socket, cat)
    clock, full = watching.memory.clock, watch._full
    looks: list[float] = []

    async def counted():
        looks.append(clock.monotonic())
        await full()

    watch._full = counted
    for _ in range(12):
        seen = len(looks)
        clock.ahead += 61
        watch._wake.set()
        await until(lambda seen=seen: len(looks) > seen)
    assert watch._full_for == 60.0
    tmux.type(cat, "awake")
    await watching.said(pane, "awake")
    clock.ahead += 3
    await until(lambda: watch._full_for == watching.settings.full_interval)
