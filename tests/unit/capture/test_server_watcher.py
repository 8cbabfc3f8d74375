"""Watch a real tmux server: pane changes, capture, lost clients and a killed server."""

import asyncio
import os
import signal

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneExpected
from termvisor.backends.tmux import native_client, server_safety
from termvisor.backends.tmux.commands import TmuxCommand
from termvisor.backends.tmux.control_client import ControlClient, build_output_argv
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
    assert (health.socket, health.mux_ok, health.client, health.panes) == (tmux.socket, True, "native", 2)


async def test_the_capture_channel_is_none_before_the_first_listing(tmux, cat, watching):
    assert watching.build_watcher(tmux.socket).describe_capture(cat) == ("none", None)


async def test_a_pane_that_no_listing_saw_is_stored_with_a_gap(tmux, cat, watching):
    await watching.watch_server(tmux.socket)
    # In one request: the server answers no listing in between.
    brief = ("split-window", "-d", "-t", "=work:0", "cat", ";", "kill-pane", "-t", "=work:0.1")
    last = tmux(*brief, ";", *brief, ";", "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=work:", "cat")
    await watching.wait_captured(tmux.socket, last)
    panes = await watching.capture_store.store.panes.list_panes(include_gone=True)
    missed = [pane for pane in panes if pane.instance.mux_id in ("%1", "%2")]
    assert [(pane.gone_at is None, pane.gaps) for pane in missed] == [(False, 1)] * 2
    (gap,) = await watching.capture_store.list_gaps(missed[0].id)
    assert (gap.cause, gap.start_at < gap.end_at) == ("link_down", True)
    assert gap.detail == "it was opened and closed between two listings of its server"


async def test_a_new_terminal_makes_every_watcher_look_at_once(tmux, cat, watching):
    await watching.start_supervisor()
    await watching.wait_captured(tmux.socket, cat)
    looks, (source,) = [], watching.supervisor.backends["tmux"]._reports
    watching.supervisor.backends["tmux"]._reports[source] = looks.append
    pair = os.openpty()
    await wait_until(lambda: PaneExpected() in looks)
    for descriptor in pair:
        os.close(descriptor)
    await watching.leave()


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
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    tmux("rename-session", "-t", "=work", "play")
    await watching.wait_for_event("pane_renamed")
    tmux("send-keys", "-t", cat, "C-d")
    await watching.wait_for_event("pane_died")
    old = watcher.known_panes[cat].id
    tmux("respawn-pane", "-t", cat, "cat")
    await watching.wait_for_event("pane_respawned")
    events = [event for event in await watching.capture_store.store.events.list(limit=200) if event.pane is not None]
    new = watcher.known_panes[cat].id
    assert [(event.kind, event.pane) for event in events if event.kind in ("pane_appeared", "pane_gone")] == [
        ("pane_appeared", old),
        ("pane_gone", old),
        ("pane_appeared", new),
    ]
    (respawned,) = [event for event in events if event.kind == "pane_respawned"]
    assert (respawned.pane, respawned.data["previous"], new != old) == (new, old, True)
    tmux("new-session", "-d", "-s", "other", "cat")
    tmux("join-pane", "-d", "-s", cat, "-t", "=other:")
    await watching.wait_for_event("pane_moved")
    assert set(await watching.capture_store.list_gap_causes()) <= {"tail_uncertain"}


async def test_a_pane_that_was_respawned_without_a_daemon_is_another_instance(tmux, cat, watching):
    await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    await watching.leave(keep_pipes=True)
    tmux("respawn-pane", "-k", "-t", cat, "cat")
    await watching.restart()
    new = await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "from-the-new-one")
    await watching.wait_for_line(new, "from-the-new-one")
    stored = await watching.capture_store.store.panes.list_panes(include_gone=True)
    assert [(one.id, one.instance.generation, one.gone_at is None) for one in stored] == [
        (pane, 0, False),
        (new, 1, True),
    ]


async def test_a_requested_listing_shows_a_pane_as_gone_that_was_just_closed(tmux, cat, watching):
    other = tmux.start_session("second", "cat")
    watcher = await watching.watch_server(tmux.socket)
    tmux("kill-pane", "-t", other)
    await watcher.list_now(10.0)
    assert list(await watching.list_panes()) == [cat]


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


@pytest.mark.parametrize("kill", ["kill-session", "exit"])
async def test_the_server_exits_with_its_last_session(tmux, cat, watching, kill):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    tmux(*{"kill-session": ("kill-session", "-t", "=work"), "exit": ("send-keys", "-t", cat, "C-d")}[kill])
    await wait_until(lambda: read_start_time(watcher.server.instance.pid) == 0)
    await asyncio.wait_for(watching.task, 10)


async def test_nothing_but_pipes_is_added_to_the_server(tmux, cat, watching):
    before = tmux("list-sessions"), tmux("show-hooks", "-g"), tmux("show-options", "-s")
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    assert (tmux("list-sessions"), tmux("show-hooks", "-g"), tmux("show-options", "-s")) == before
    assert tmux("list-clients") == ""
    assert watcher.describe_capture("%99") == ("none", None)
    await watching.leave()
    assert tmux.read_format(cat, "#{pane_pipe}") == "0"
    assert await watching.capture_store.list_end_causes(pane) == ["stopped"]
    assert list(await watching.list_panes()) == [cat]


async def test_a_server_that_ends_unattached_is_watched_and_ends(tmux, cat, watching):
    await watching.watch_server(tmux.socket)
    argv = build_output_argv("tmux", tmux.socket, tmux.read_format(cat, "#{session_id}"))
    keeper = ControlClient(argv, on_notice=lambda notice: None)
    await keeper.wait_until_attached()
    tmux("set", "-s", "exit-unattached", "on")
    pane = await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "heard-anyway")
    await watching.wait_for_line(pane, "heard-anyway")
    keeper.close()
    await asyncio.wait_for(watching.task, 10)


async def test_a_server_that_does_not_answer_for_a_while_is_not_gone(tmux, cat, watching, monkeypatch):
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    monkeypatch.setattr(native_client, "REPLY_TIMEOUT_S", 0.2)
    os.kill(watcher.server.instance.pid, signal.SIGSTOP)
    try:
        watcher._is_change_seen = True
        await wait_until(lambda: not watcher.health.mux_ok)
        assert "did not answer" in watcher.health.detail
    finally:
        os.kill(watcher.server.instance.pid, signal.SIGCONT)
    monkeypatch.setattr(native_client, "REPLY_TIMEOUT_S", 10.0)
    await wait_until(lambda: watcher.health.mux_ok)
    tmux.type_line(cat, "still-here")
    await watching.wait_for_line(pane, "still-here")
    assert await watching.capture_store.list_gaps() == []


class ListingCounter:
    """Counts the listings of a watcher."""

    def __init__(self, watcher):
        self.count, self._refresh = 0, watcher._refresh_panes
        watcher._refresh_panes = self.refresh

    async def refresh(self) -> None:
        self.count += 1
        await self._refresh()


async def settle(watcher, clock) -> None:
    """Wait for a listing after which the watcher considers the server unchanged."""
    listings = ListingCounter(watcher)
    await asyncio.sleep(0.5)  # the pipe's helper process of tmux exits
    clock.advance_s += 61
    await wait_until(lambda: listings.count and not (watcher._is_listing_stale or watcher._has_just_listed))


async def test_a_quiet_server_gets_no_command(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    clock = watching.capture_store.clock
    await settle(watcher, clock)
    listings = ListingCounter(watcher)
    clock.advance_s += 30
    await asyncio.sleep(0.5)
    assert listings.count == 0
    clock.advance_s += 31
    await wait_until(lambda: listings.count == 1)


async def test_a_change_without_output_is_listed_soon(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    await settle(watcher, watching.capture_store.clock)
    tmux("rename-window", "-t", cat, "renamed")
    watching.capture_store.clock.advance_s += 16
    await wait_until(lambda: watcher.known_panes[cat].facts.window_name == "renamed")
    assert watcher.health.corrections == 0


async def test_a_resize_is_noticed_without_output(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    resized = []
    watching.capture_store.pipeline.resize_pane = lambda *size: resized.append(size)
    tmux("resize-window", "-t", cat, "-x", "61", "-y", "17")
    await wait_until(lambda: resized)
    assert resized == [(pane, 61, 17)]
    assert watcher.health.corrections == 0


async def test_a_missed_change_is_counted_as_a_correction(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    await settle(watcher, watching.capture_store.clock)
    watcher.known_panes[cat].facts = replace(watcher.known_panes[cat].facts, width=5)
    watching.capture_store.clock.advance_s += 61
    await wait_until(lambda: watcher.health.corrections == 1)


async def test_a_server_of_an_unknown_version_is_watched_by_tmux_processes(tmux, cat, watching, monkeypatch):
    monkeypatch.setattr(server_safety, "_LAST_NATIVE", (3, 1))
    watcher = await watching.watch_server(tmux.socket)
    pane = await watching.wait_captured(tmux.socket, cat)
    tmux.type_line(cat, "heard")
    await watching.wait_for_line(pane, "heard")
    assert watcher.health.client == "plain"
    assert "not known to be safe" in watcher.health.detail


async def test_an_unexpected_answer_makes_the_watcher_use_tmux_processes(tmux, cat, watching, monkeypatch):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    monkeypatch.setattr(native_client, "PROTOCOL_VERSION", 9)
    watcher._is_change_seen = True
    await wait_until(lambda: watcher.health.client == "plain")
    split = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", cat, "cat")
    await watching.wait_captured(tmux.socket, split)
    assert (watcher.health.mux_ok, "protocol version" in watcher.health.detail) == (True, True)


async def test_disconnects_are_delayed_while_a_session_has_destroy_unattached(tmux, cat, watching):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    assert not watcher.server.client.delays_disconnects
    fleeting = tmux.start_session("fleeting", "cat")
    keeper = ControlClient(build_output_argv("tmux", tmux.socket, "=fleeting:"), on_notice=lambda notice: None)
    await keeper.wait_until_attached()
    await watching.wait_captured(tmux.socket, fleeting)
    # What the server does right after a listing counts as caused by it.
    await settle(watcher, watching.capture_store.clock)
    tmux("set", "-t", "=fleeting:", "destroy-unattached", "on")
    watching.capture_store.clock.advance_s += 16
    await wait_until(lambda: watcher.server.client.delays_disconnects)
    # Not by its last client leaving, at which tmux 3.3a may crash.
    tmux("kill-session", "-t", "=fleeting")
    await wait_until(lambda: fleeting not in watcher.known_panes and not watcher.server.client.delays_disconnects)
    await watcher.server.client.request(TmuxCommand("display-message", "-p", "alive"))
    keeper.close()


@pytest.mark.parametrize("kill", ["kill-server", "kill-session"])
async def test_kept_connections_do_not_keep_a_server_alive(tmux, cat, watching, kill):
    watcher = await watching.watch_server(tmux.socket)
    await watching.wait_captured(tmux.socket, cat)
    watcher.server.client.delays_disconnects = True
    await watcher.server.client.request(TmuxCommand("display-message", "-p", "kept"))
    tmux(*{"kill-server": ["kill-server"], "kill-session": ["kill-session", "-t", "=work"]}[kill])
    await wait_until(lambda: read_start_time(watcher.server.instance.pid) == 0, timeout=3)
    await asyncio.wait_for(watching.task, 10)


async def test_a_server_without_sessions_is_watched(tmux, cat, watching):
    tmux("set", "-s", "exit-empty", "off")
    tmux("kill-session", "-t", "=work")
    watcher = await watching.watch_server(tmux.socket)
    assert (watcher.health.mux_ok, watcher.health.panes) == (True, 0)
    await watching.wait_captured(tmux.socket, tmux.start_session("late", "cat"))
