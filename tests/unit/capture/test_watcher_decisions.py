"""What a watcher decides about its server, step by step; tmux is replaced because its answers must be chosen."""

import asyncio
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.backends.tmux.native_client import NativeClient, TmuxProtocolError
from termvisor.capture import server_watcher
from termvisor.capture.pane_registry import PaneChange
from termvisor.capture.server_watcher import ServerWatcher, SessionNotice
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts
from tests.unit.capture.capture_harness import SERVER, SETTINGS, CaptureStore

FACTS = PaneFacts(mux_id=MuxPaneId("%1"), pid=7)


class ScriptedServer:
    """A server with one pane, and everything that a started watcher has; the calls are in ``calls``."""

    def __init__(self, store: CaptureStore):
        self.calls: list[str] = []
        self.changes: list[PaneChange] = []
        self.facts, self.is_alive = FACTS, True
        self.settings = replace(SETTINGS, full_interval=16.0)
        self.watcher = watcher = ServerWatcher(
            "/s",
            epochs=store.epochs,
            recorder=SimpleNamespace(),
            get_settings=lambda: self.settings,
            resumable_epochs={},
            count_fork=lambda: None,
        )
        self.client = SimpleNamespace(kind="native", close=lambda: self.calls.append("close"))
        watcher.server = SimpleNamespace(
            instance=SERVER, version="3.4", is_alive=True, client=self.client, list_pane_facts=self._list_facts
        )
        watcher.captures = SimpleNamespace(
            control_capture=SimpleNamespace(remove_own_clients=lambda facts: facts, session_count=0)
        )
        watcher._registry = SimpleNamespace(apply_listing=self._apply)
        watcher._activity = SimpleNamespace(
            has_run=lambda: self.has_run, detect_pane_changes=lambda facts: self.has_changed, has_children=True
        )
        self.has_run = self.has_changed = False

    async def _list_facts(self) -> list[PaneFacts]:
        self.calls.append("list")
        return [self.facts]

    async def _apply(self, listed) -> list[PaneChange]:
        assert listed == {FACTS.mux_id: self.facts}
        return self.changes


@pytest.fixture
async def scripted(capture_store: CaptureStore) -> ScriptedServer:
    return ScriptedServer(capture_store)


async def test_the_interval_grows_while_nothing_is_printed_or_changed(scripted, capture_store):
    watcher, intervals = scripted.watcher, []
    moved, resized = PaneChange("pane_moved", FACTS.mux_id), PaneChange("pane_resized", FACTS.mux_id)
    steps = [(0, []), (0, []), (0, []), (0, []), (5, []), (5, []), (5, [moved]), (5, []), (9, [resized])]
    for captured, changes in steps:
        capture_store.pipeline.captured_bytes, scripted.changes = captured, changes
        await watcher._refresh_panes()
        intervals.append(watcher._listing_interval)
    assert intervals == [4.0, 8.0, 16.0, 16.0, 2.0, 4.0, 2.0, 4.0, 2.0]
    assert watcher.corrections == 1
    watcher._is_change_seen = True
    await watcher._refresh_panes()
    assert (watcher.corrections, watcher._is_change_seen, watcher._is_listing_stale) == (1, False, False)


@pytest.mark.parametrize(("is_native", "ends"), [(True, True), (True, False), (False, False)])
async def test_disconnects_are_delayed_as_long_as_a_session_would_be_destroyed(scripted, is_native, ends):
    client = NativeClient("/s") if is_native else scripted.client
    client.close = lambda: scripted.calls.append("close")
    client.delays_disconnects = not ends
    scripted.watcher.server.client, scripted.facts = client, replace(FACTS, session_ends_unattached=ends)
    await scripted.watcher._refresh_panes()
    assert client.delays_disconnects is (ends if is_native else True)
    assert scripted.calls == (["list", "close"] if is_native and not ends else ["list"])


@pytest.mark.parametrize(
    ("has_run", "has_changed", "has_children", "calls", "is_stale", "is_seen"),
    [
        (False, True, False, [], False, False),
        (True, False, False, [], True, False),
        (True, True, True, [], True, True),
        (True, True, False, ["close"], True, True),
    ],
)
async def test_activity_of_the_server_makes_the_listing_stale(
    scripted, has_run, has_changed, has_children, calls, is_stale, is_seen
):
    watcher = scripted.watcher
    scripted.has_run, scripted.has_changed, watcher._activity.has_children = has_run, has_changed, has_children
    watcher._is_listing_stale = watcher._is_change_seen = False
    watcher._last_listing_at = watcher._monotonic()
    watcher._refresh_panes = _record(scripted.calls)
    assert await watcher._poll_server() is is_seen
    assert scripted.calls == [*calls, *(["refresh"] if is_seen else [])]
    assert watcher._is_listing_stale is is_stale


def _record(calls: list[str]):
    async def refresh() -> None:
        calls.append("refresh")

    return refresh


async def test_right_after_a_listing_the_server_ran_because_of_it(scripted):
    watcher = scripted.watcher
    await watcher._refresh_panes()
    scripted.has_run = True
    await watcher._poll_server()
    assert not watcher._is_listing_stale
    await watcher._poll_server()
    assert watcher._is_listing_stale


@pytest.mark.parametrize(
    ("is_stale", "elapsed", "is_listed"), [(True, 1.9, False), (True, 2.1, True), (False, 59, False), (False, 61, True)]
)
async def test_a_listing_is_due_after_an_interval(scripted, capture_store, is_stale, elapsed, is_listed):
    watcher = scripted.watcher
    watcher._is_change_seen, watcher._is_listing_stale = False, is_stale
    watcher._last_listing_at = watcher._monotonic()
    capture_store.clock.advance_s += elapsed
    assert await watcher._poll_server() is is_listed
    assert watcher._next_poll_at <= watcher._monotonic() + SETTINGS.thin_interval


async def test_the_next_polls_are_quick_after_a_terminal_was_created(scripted):
    watcher = scripted.watcher
    watcher.note_terminal_created()
    waits = []
    for _ in range(4):
        await watcher._poll_server()
        waits.append(watcher._next_poll_at - watcher._monotonic() > 0.05)
    assert waits == [False, False, False, True]


@pytest.mark.parametrize(("is_alive", "is_gone"), [(True, False), (False, True)])
async def test_a_failed_call_is_shown_and_the_server_is_listed_again(scripted, is_alive, is_gone):
    watcher = scripted.watcher
    watcher.server.is_alive, watcher._is_listing_stale, watcher._is_change_seen = is_alive, False, False

    async def fail() -> None:
        raise MuxError("no answer")

    assert await watcher._call_server(fail) is None
    assert (watcher.health.mux_ok, watcher.health.detail, watcher._is_server_gone) == (False, "no answer", is_gone)
    assert (watcher._is_listing_stale, watcher._is_change_seen) == (True, False)
    await watcher._refresh_panes()
    assert (watcher.health.mux_ok, watcher.health.detail) == (is_alive, "")


async def test_an_answer_that_is_not_understood_makes_the_watcher_use_processes(scripted):
    watcher = scripted.watcher
    watcher._is_change_seen = False

    async def fail() -> None:
        raise TmuxProtocolError("protocol version 9")

    assert await watcher._call_server(fail) is None
    assert (watcher.health.client, watcher.health.detail, watcher.health.mux_ok) == (
        "plain",
        "protocol version 9",
        True,
    )
    assert (scripted.calls, watcher._is_change_seen) == (["close"], True)


@pytest.mark.parametrize(
    ("reason", "other", "detail"),
    [
        ("", SERVER, ""),
        ("too new", SERVER, "too new"),
        ("", replace(SERVER, pid=1), "another tmux server took over this socket"),
        ("", MuxError("no answer"), "no answer"),
    ],
)
async def test_the_native_client_is_used_only_if_it_reaches_the_same_server(
    scripted, monkeypatch, reason, other, detail
):
    async def identify(client, socket):
        if isinstance(other, Exception):
            raise other
        return SimpleNamespace(instance=other)

    monkeypatch.setattr(server_watcher, "explain_no_native_client", lambda version: reason)
    monkeypatch.setattr(server_watcher, "identify_server", identify)
    await scripted.watcher._choose_client()
    health = scripted.watcher.health
    assert (health.client, health.detail) == ("plain" if detail else "native", detail)
    assert isinstance(scripted.watcher.server.client, NativeClient) is not bool(detail)


async def test_each_message_reaches_its_handler_and_wakes_the_watcher(scripted):
    watcher, handled = scripted.watcher, []

    def handler(name: str):
        async def handle(*arguments) -> None:
            handled.append((name, *arguments))

        return handle

    for name in ("handle_control_notice", "handle_recorder_death", "handle_stream_update"):
        setattr(watcher.captures, name, handler(name))
    stream, died = server_watcher.RecordedStream(1, 2, 3, "open"), server_watcher.RecorderDied()
    assert not await watcher._process_inbox()
    for message in (SessionNotice("$0", "notice"), died, stream):
        watcher.post(message)
    await asyncio.wait_for(watcher._wait_for_wake(10), 5)
    assert await watcher._process_inbox()
    assert handled == [
        ("handle_control_notice", "$0", "notice"),
        ("handle_recorder_death",),
        ("handle_stream_update", stream),
    ]
