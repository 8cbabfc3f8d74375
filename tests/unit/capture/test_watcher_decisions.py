"""What a watcher decides about its server, step by step; its backend is replaced because its answers must be chosen."""

import asyncio
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import CaptureLost, PaneExpected, PanesChanged, ServerGone, SourceStatus
from termvisor.capture import server_watcher
from termvisor.capture.pane_registry import PaneChange
from termvisor.capture.server_watcher import ServerWatcher
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
            SERVER.key,
            backend=SimpleNamespace(is_server_alive=lambda transport, server: self.is_alive),
            transport=SimpleNamespace(),
            epochs=store.epochs,
            recorder=SimpleNamespace(),
            get_settings=lambda: self.settings,
            resumable_epochs={},
        )
        watcher.server = SimpleNamespace(
            instance=SERVER,
            status=SourceStatus(client="native"),
            detect_changes=lambda panes: self.change,
            list_pane_facts=self._list_facts,
        )
        watcher.captures = SimpleNamespace()
        watcher._registry = SimpleNamespace(apply_listing=self._apply)
        self.change = "none"

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


@pytest.mark.parametrize(
    ("change", "is_stale", "is_seen"), [("none", False, False), ("possible", True, False), ("certain", True, True)]
)
async def test_changes_of_the_server_make_the_listing_stale(scripted, change, is_stale, is_seen):
    watcher = scripted.watcher
    scripted.change = change
    watcher._is_listing_stale = watcher._is_change_seen = False
    watcher._last_listing_at = watcher._monotonic()
    watcher._refresh_panes = _record(scripted.calls)
    assert await watcher._poll_server() is is_seen
    assert scripted.calls == (["refresh"] if is_seen else [])
    assert watcher._is_listing_stale is is_stale


def _record(calls: list[str]):
    async def refresh() -> None:
        calls.append("refresh")

    return refresh


async def test_right_after_a_listing_the_server_ran_because_of_it(scripted):
    watcher = scripted.watcher
    await watcher._refresh_panes()
    scripted.change = "possible"
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


async def test_the_next_polls_are_quick_while_a_pane_is_expected(scripted):
    watcher = scripted.watcher
    watcher.handle_news(PaneExpected())
    waits = []
    for _ in range(4):
        await watcher._poll_server()
        waits.append(watcher._next_poll_at - watcher._monotonic() > 0.05)
    assert waits == [False, False, False, True]


@pytest.mark.parametrize(("is_alive", "is_gone"), [(True, False), (None, False), (False, True)])
async def test_a_failed_call_is_shown_and_the_server_is_listed_again(scripted, is_alive, is_gone):
    watcher = scripted.watcher
    scripted.is_alive, watcher._is_listing_stale, watcher._is_change_seen = is_alive, False, False

    async def fail() -> None:
        raise MuxError("no answer")

    assert await watcher._call_server(fail) is None
    assert (watcher.health.mux_ok, watcher.health.detail, watcher._is_server_gone) == (False, "no answer", is_gone)
    assert (watcher._is_listing_stale, watcher._is_change_seen) == (True, False)
    await watcher._refresh_panes()
    assert (watcher.health.mux_ok, watcher.health.detail) == (not is_gone, "")


async def test_news_of_changes_makes_the_watcher_list_at_once(scripted):
    watcher = scripted.watcher
    watcher._is_change_seen, watcher._next_poll_at = False, watcher._monotonic() + 60
    watcher.handle_news(PanesChanged())
    assert (watcher._is_change_seen, watcher._next_poll_at, watcher._is_server_gone) == (True, 0.0, False)
    watcher.handle_news(ServerGone())
    assert (watcher._is_server_gone, watcher.health.mux_ok) == (True, False)


async def test_each_message_reaches_its_handler_and_wakes_the_watcher(scripted):
    watcher, handled = scripted.watcher, []

    def handler(name: str):
        async def handle(*arguments) -> None:
            handled.append((name, *arguments))

        return handle

    for name in ("handle_capture_lost", "handle_recorder_death", "handle_stream_update"):
        setattr(watcher.captures, name, handler(name))
    stream, died = server_watcher.RecordedStream(1, 2, 3, "open"), server_watcher.RecorderDied()
    assert not await watcher._process_inbox()
    watcher.handle_news(lost := CaptureLost(7, "link_down"))
    for message in (died, stream):
        watcher.post(message)
    await asyncio.wait_for(watcher._wait_for_wake(10), 5)
    assert await watcher._process_inbox()
    assert handled == [
        ("handle_capture_lost", lost),
        ("handle_recorder_death",),
        ("handle_stream_update", stream),
    ]
