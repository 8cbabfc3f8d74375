"""Watch a real tmux server: pane changes, capture, lost clients and a killed server."""

import asyncio
import os
import signal

import pytest
from msgspec.structs import replace

from termvisor.backends.tmux import client
from termvisor.system.procfs import read_start_time
from tests.unit.wait_until import wait_until


def list_sessions(tmux) -> list[str]:
    return tmux("list-sessions", "-F", "#{session_name}").split("\n")


async def test_every_pane_is_stored_reported_and_captured(tmux, cat, watching):
    other = tmux.start_session("second", "cat")
    watcher = await watching.watch_server(tmux.socket)
    assert list(watcher.known_panes) == [other, cat]
    pane = await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "hello")
    await watching.wait_for_line(pane, "hello")
    events = await watching.capture_store.list_event_kinds()
    assert events[:3] == ["server_found", "pane_appeared", "pane_appeared"]
    health = watcher.health
    assert (health.socket, health.mux_ok, health.client, health.panes) == (tmux.socket, True, "control", 2)


async def test_the_private_session_exists_and_its_panes_are_not_listed(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    assert list_sessions(tmux) == ["_visor", "work"]
    assert list(watcher.known_panes) == [cat]
    assert watcher.find_data_plane("%99") == "none"


async def test_the_capture_channel_is_none_before_the_first_listing(tmux, cat, watching):
    assert watching.supervisor.build_watcher(tmux.socket).find_data_plane(cat) == "none"


async def test_a_new_pane_is_found_and_one_that_exits_is_gone(tmux, cat, watching):
    await watching.watch_server(tmux.socket)
    split = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", cat, "read line; echo last-words")
    pane = await watching.wait_captured(tmux.socket, split)
    tmux.type_line(split, "go")
    await watching.wait_for_event("pane_gone")
    await watching.wait_for_line(pane, "last-words")
    await watching.wait_for_event("epoch_closed")
    assert split not in await watching.list_panes()
    assert await watching.capture_store.list_gap_causes(pane) == ["tail_uncertain"]


async def test_pane_changes_are_reported(tmux, cat, watching):
    tmux("set", "-g", "remain-on-exit", "on")
    await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    tmux("rename-session", "-t", "=work", "play")
    await watching.wait_for_event("pane_renamed")
    tmux("send-keys", "-t", cat, "C-d")
    await watching.wait_for_event("pane_died")
    tmux("respawn-pane", "-t", cat, "cat")
    await watching.wait_for_event("pane_respawned")
    tmux("new-session", "-d", "-s", "other", "cat")
    tmux("join-pane", "-d", "-s", cat, "-t", "=other:")
    await watching.wait_for_event("pane_moved")
    assert await watching.capture_store.list_gaps() == []


async def test_names_and_titles_of_panes_are_updated(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    tmux("select-pane", "-t", cat, "-T", "a new title")
    await watching.wait_for_title("a new title")
    assert watcher.known_panes[cat].facts.title == "a new title"


async def test_the_exit_of_a_server_ends_the_watch_with_one_gap_per_pane(tmux, cat, watching):
    await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    tmux.kill_server()
    await asyncio.wait_for(watching.task, 10)
    (gap,) = await watching.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("server_gone", False)
    assert await watching.list_panes() == {}
    assert (await watching.capture_store.list_event_kinds())[-2:] == ["pane_gone", "server_gone"]


async def test_a_new_server_on_the_socket_of_a_dead_one_is_distinguished(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    os.kill(watcher.server.instance.pid, signal.SIGKILL)
    await wait_until(lambda: read_start_time(watcher.server.instance.pid) == 0)
    os.remove(tmux.socket)
    assert tmux.start_session(command="cat") == cat
    await asyncio.wait_for(watching.task, 10)
    stored = await watching.capture_store.store.panes.list_panes(include_gone=True)
    assert [(one.id, one.gone_at is None) for one in stored] == [(pane, False)]
    assert "pane_respawned" not in await watching.capture_store.list_event_kinds()


async def test_a_detached_control_client_is_restarted_without_missing_changes(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    first = watcher.server.client
    tmux("kill-session", "-t", "=_visor")
    await wait_until(lambda: watcher.server.client.kind == "plain")
    tmux.type_line(cat, "meanwhile")
    await wait_until(lambda: watcher.server.client.kind == "control")
    assert watcher.server.client is not first
    await watching.wait_for_line(pane, "meanwhile")
    assert await watching.capture_store.list_gaps() == []


async def test_a_server_that_ends_unattached_is_watched_without_a_client(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    assert watcher.health.client == "control"
    person = tmux.read_format(cat, "#{session_id}")
    keeper = client.ControlClient(client.build_output_argv("tmux", tmux.socket, person), on_notice=lambda notice: None)
    await keeper.wait_until_attached()
    tmux("set", "-s", "exit-unattached", "on")
    await wait_until(lambda: watcher.health.client == "plain")
    pane = await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "heard-anyway")
    await watching.wait_for_line(pane, "heard-anyway")
    assert "_visor" not in list_sessions(tmux)
    keeper.close()
    await asyncio.wait_for(watching.task, 10)


async def test_a_later_daemon_continues_with_the_same_panes_and_epochs(tmux, cat, watching):
    await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    await watching.leave(keep_pipes=True)
    tmux.type_line(cat, "nobody-listens")
    await watching.restart()
    assert await watching.wait_captured(tmux.socket, cat) == pane
    await watching.wait_for_line(pane, "nobody-listens")
    assert await watching.capture_store.list_gaps() == []
    assert await watching.capture_store.list_end_causes(pane) == [None]
    assert (await watching.capture_store.list_event_kinds()).count("pane_appeared") == 1


async def test_stopping_leaves_the_server_as_it_was(tmux, cat, watching):
    await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    await watching.leave()
    assert tmux.read_format(cat, "#{pane_pipe}") == "0"
    await wait_until(lambda: list_sessions(tmux) == ["work"])
    assert tmux("list-clients") == ""
    assert await watching.capture_store.list_end_causes(pane) == ["stopped"]
    assert list(await watching.list_panes()) == [cat]


@pytest.mark.parametrize("kill", ["kill-session", "exit"])
async def test_the_server_exits_with_the_last_user_session(tmux, cat, watching, kill):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    tmux(*{"kill-session": ("kill-session", "-t", "=work"), "exit": ("send-keys", "-t", cat, "C-d")}[kill])
    await wait_until(lambda: read_start_time(watcher.server.instance.pid) == 0)
    await asyncio.wait_for(watching.task, 10)


async def test_a_server_that_does_not_answer_for_a_while_is_not_gone(tmux, cat, watching, monkeypatch):
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    monkeypatch.setattr(client, "_REPLY_TIMEOUT_S", 0.2)
    os.kill(watcher.server.instance.pid, signal.SIGSTOP)
    try:
        await wait_until(lambda: watcher.detail)
    finally:
        os.kill(watcher.server.instance.pid, signal.SIGCONT)
    monkeypatch.setattr(client, "_REPLY_TIMEOUT_S", 10.0)
    await wait_until(lambda: watcher.health.client == "control")
    tmux.type_line(cat, "still-here")
    await watching.wait_for_line(pane, "still-here")
    assert await watching.capture_store.list_gaps() == []


async def lose_client(watcher, tmux):
    """Kill the control client and wait until its exit is detected."""
    lost = watcher.server.client
    os.kill(lost.pid, signal.SIGKILL)
    await wait_until(lambda: watcher.server.client is not lost)


async def test_a_control_client_that_keeps_exiting_is_held_down_with_an_alert(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    clock = watching.capture_store.clock
    for _ in range(4):
        await lose_client(watcher, tmux)
        clock.advance_s += 5
        await wait_until(lambda: watcher.server.client.kind == "control")
    await lose_client(watcher, tmux)
    await watching.wait_for_event("alert")
    assert f"the control client of {tmux.socket} keeps exiting" in watching.supervisor.alerts[f"control:{tmux.socket}"]
    clock.advance_s += 60
    pane = await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "heard-meanwhile")
    await watching.wait_for_line(pane, "heard-meanwhile")
    assert watcher.server.client.kind == "plain"
    clock.advance_s += 241
    await watching.wait_for_event("alert_cleared")
    assert watcher.server.client.kind == "control"
    assert watching.supervisor.alerts == {}
    assert watching.supervisor.restart_counts["control_client"] == 5


async def test_after_a_reconnect_everything_is_read_again_at_once(tmux, cat, watching):
    watching.supervisor.apply_settings(replace(watching.settings, full_interval=600.0))
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    tmux("select-pane", "-t", cat, "-T", "a new title")
    await lose_client(watcher, tmux)
    await wait_until(lambda: watcher.known_panes[cat].facts.title == "a new title")


async def test_an_unannounced_change_is_counted_as_a_correction(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    await wait_until(lambda: watcher.known_panes[cat].facts.piped and not watcher._is_change_announced)
    watcher.known_panes[cat].facts = replace(watcher.known_panes[cat].facts, window_name="something else")
    await wait_until(lambda: watcher.health.corrections == 1)


async def test_a_quiet_server_is_listed_less_often_until_something_happens(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    clock, full = watching.capture_store.clock, watcher._refresh_panes
    listings: list[float] = []

    async def count_listing():
        listings.append(clock.monotonic())
        await full()

    watcher._refresh_panes = count_listing
    for _ in range(12):
        seen = len(listings)
        clock.advance_s += 61
        watcher._wake.set()
        await wait_until(lambda seen=seen: len(listings) > seen)
    assert watcher._listing_interval == 60.0
    tmux.type_line(cat, "awake")
    await watching.wait_for_line(pane, "awake")
    clock.advance_s += 3
    await wait_until(lambda: watcher._listing_interval == watching.settings.full_interval)
