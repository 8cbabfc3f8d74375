"""Fake services for tests of operations: panes, lines, events and gaps in plain lists, and a fake clock."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import msgspec

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS
from termvisor.errors import BadRequest, InvalidCursor
from termvisor.model.action.action import Actor
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EpochId, EventId, MuxPaneId, PaneId, ScreenId, TargetName
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.model.terminal.output import Delta, Epoch, Gap, GapCause, Line
from termvisor.model.terminal.pane import PaneActivity, PaneFacts, PaneInstance, PaneView, ServerInstance
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.search_query import SearchHit, SearchQuery, SearchResult
from termvisor.settings import Paths, Settings
from termvisor.terminal import user_variables
from termvisor.testing.fake_accounts import FakeAccounts
from termvisor.testing.fake_agents import FakeAgents
from termvisor.testing.fake_clock import FakeClock
from termvisor.testing.fake_commands import FakeCommands
from termvisor.testing.fake_detections import FakeDetections
from termvisor.testing.fake_gate import FakeGate
from termvisor.testing.fake_maintenance import FakeMaintenance
from termvisor.testing.fake_workflows import FakeWorkflows

T = TypeVar("T")

TEST_NONCE = "5eed5eed"
"""The nonce that proves user variables in tests."""

SERVER = ServerInstance(TargetName("local"), "/run/tmux/default", 100, 1)


class FakePanes:
    def __init__(self, clock: FakeClock):
        self._clock = clock
        self.views: list[PaneView] = []
        self.pending_lines: dict[PaneId, str] = {}
        self.screens: dict[PaneId, Screen] = {}
        self.settle_count = 0

    async def list_panes(self, *, include_gone: bool = False) -> list[PaneView]:
        return [view for view in self.views if include_gone or view.gone_at is None]

    async def find_pane(self, pane_id: PaneId) -> PaneView | None:
        return next((view for view in self.views if view.id == pane_id), None)

    def get_pending_line(self, pane: PaneId) -> str:
        return self.pending_lines.get(pane, "")

    async def capture_screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        return self.screens.get(pane) or Screen(pane=pane, rows=("",), width=80, height=24, at=self._clock.now())

    async def wait_until_stored(self, pane: PaneId | None = None) -> None:
        self.settle_count += 1


class FakeHistory:
    def __init__(self) -> None:
        self.stored_lines: list[Line] = []
        self.stored_events: list[Event] = []
        self.forgotten_up_to = 0
        """Events up to this id are deleted."""
        self.stored_gaps: list[Gap] = []
        self.recording = FakeRecording()
        self.commands = FakeCommands()
        self.last_query: SearchQuery | None = None
        self.is_complete = True

    async def list_lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        first = after if after is not None else -1
        lines = [line for line in self.stored_lines if line.pane == pane and line.number > first]
        lines = [line for line in lines if before is None or line.number < before]
        return lines[:limit] if after is not None else lines[-limit:]

    async def search(self, query: SearchQuery) -> SearchResult:
        """Return the lines that contain every word, newest first."""
        self.last_query = query
        words = query.text.lower().split()
        rows = [hit for screen in self.recording.stored_screens for hit in _build_hits(screen)]
        all_hits = sorted([*rows, *(SearchHit(line=line) for line in self.stored_lines)], key=lambda hit: hit.line.at)
        hits = [
            msgspec.structs.replace(hit, spans=_find_spans(hit.line.text.lower(), words))
            for hit in reversed(all_hits)
            if query.pane in (None, hit.line.pane) and all(word in hit.line.text.lower() for word in words)
        ]
        return SearchResult(hits=tuple(hits[: query.limit]), is_complete=self.is_complete)

    async def list_events(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        since: int | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> list[Event]:
        if after is not None and not self.forgotten_up_to <= after <= len(self.stored_events):
            raise InvalidCursor(f"no event has cursor {after}", details={"oldest": str(self.forgotten_up_to)})
        events = self.stored_events[self.forgotten_up_to :]
        events = [event for event in events if event.id > (after or 0) and pane in (None, event.pane)]
        events = [event for event in events if (since is None or event.at >= since) and kind in (None, event.kind)]
        return events[:limit] if after is not None else events[-limit:]

    async def list_gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        gaps = [gap for gap in self.stored_gaps if pane in (None, gap.pane)]
        return [gap for gap in gaps if since is None or (gap.end_at or gap.start_at) >= since]


class FakeRecording:
    def __init__(self) -> None:
        self.stored_epochs: list[Epoch] = []
        self.raw_deltas: list[tuple[PaneId, Delta]] = []
        self.stored_frames: list[ReplayFrame] = []
        self.stored_screens: list[Screen] = []

    async def list_epochs(self, pane: PaneId) -> list[Epoch]:
        return [epoch for epoch in self.stored_epochs if epoch.pane == pane]

    async def read_raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        for owner, delta in self.raw_deltas:
            if owner == pane and (since is None or delta.at >= since):
                yield delta

    async def render_frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[ReplayFrame, None]:
        for frame in self.stored_frames:
            if frame.pane == pane and (since or 0) <= frame.at and (until is None or frame.at <= until):
                yield frame

    async def find_screen_at(self, pane: PaneId, at: int) -> Screen | None:
        screens = [screen for screen in self.stored_screens if screen.pane == pane and screen.at <= at]
        return screens[-1] if screens else None

    async def find_screen(self, screen_id: ScreenId) -> Screen | None:
        return next((screen for screen in self.stored_screens if screen.id == screen_id), None)


def _build_hits(screen: Screen) -> Iterator[SearchHit]:
    """Yield one hit per row of a stored screen."""
    for text in filter(None, screen.rows):
        line = Line(pane=screen.pane, number=0, at=screen.at, text=text, epoch=EpochId(1), source="screen")
        yield SearchHit(line=line, screen=screen.id, last_at=screen.at)


def _find_spans(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((text.index(word), text.index(word) + len(word)) for word in words))


class FakeUpdates:
    """``listener_count`` is the number of open subscriptions."""

    def __init__(self, services: "FakeServices") -> None:
        self._services = services
        self.is_flooded = False
        self._events: Bus[Event] = Bus()
        self._output: Bus[PaneId] = Bus()
        self.listener_count = 0

    def subscribe_events(self) -> AbstractContextManager[Subscription[Event]]:
        return self._count_listeners(self._events)

    def subscribe_output(self) -> AbstractContextManager[Subscription[PaneId]]:
        return self._count_listeners(self._output)

    @contextmanager
    def _count_listeners(self, bus: Bus[T]) -> Iterator[Subscription[T]]:
        self.listener_count += 1
        try:
            with bus.subscribe() as subscription:
                yield subscription
        finally:
            self.listener_count -= 1

    async def report_user_variable(self, pane: PaneId, name: str, value: str) -> Event | None:
        """Store the variable as the daemon does; with ``is_flooded`` the rate limit is always exceeded."""
        variable = user_variables.parse_variable(name, user_variables.decode_value(value), TEST_NONCE)
        if variable is None:
            raise BadRequest("not a valid user variable")
        event = user_variables.build_event(pane, self._services.clock.now(), variable, 0, "call")
        return None if self.is_flooded else self._services.store_event(event)

    def publish_event(self, event: Event) -> None:
        self._events.publish(event)

    def publish_output(self, pane: PaneId) -> None:
        self._output.publish(pane)


class FakeServices:
    """All services as fakes; methods such as `add_pane`, `print_lines` and `remove_pane` simulate a tmux server."""

    def __init__(self, paths: Paths | None = None, settings: Settings | None = None):
        self.clock = FakeClock()
        self.panes = FakePanes(self.clock)
        self.history = FakeHistory()
        self.detections = FakeDetections(self.clock, self.store_event)
        self.updates = FakeUpdates(self)
        self._paths = paths or Paths("/home/me/.config/termvisor", "/home/me/.local/share/termvisor", "/run/visor")
        self.settings = settings or Settings()
        self.maintenance = FakeMaintenance(self)
        self.agents = FakeAgents(self.clock, self.store_event)
        self.gate = FakeGate(self.clock)
        self.workflows = FakeWorkflows(self.clock)
        self.accounts = FakeAccounts(self.clock)

    def bind_caller(self, actor: Actor) -> "FakeServices":
        self.gate.actor = actor
        return self

    @property
    def configuration(self) -> tuple[Paths, Settings]:
        return self._paths, self.settings

    def add_pane(self, facts: PaneFacts, *, server: ServerInstance = SERVER) -> PaneView:
        """Simulate a new pane."""
        view = PaneView(
            id=PaneId(len(self.panes.views) + 1),
            instance=PaneInstance(server, facts.mux_id),
            facts=facts,
            heard_by="pipe",
            first_seen_at=self.clock.now(),
        )
        self.panes.views.append(view)
        return view

    def change_pane(self, pane: PaneId, **changes: object) -> PaneView:
        """Replace fields of a pane's view."""
        index = next(index for index, view in enumerate(self.panes.views) if view.id == pane)
        self.panes.views[index] = msgspec.structs.replace(self.panes.views[index], **changes)
        return self.panes.views[index]

    def print_lines(self, pane: PaneId, *texts: str) -> None:
        """Simulate complete lines of output."""
        count = self._count_lines(pane)
        self.history.stored_lines += [
            Line(pane=pane, number=number, at=self.clock.now(), text=text, epoch=EpochId(1))
            for number, text in enumerate(texts, count + 1)
        ]
        self.change_pane(pane, last_output_at=self.clock.now(), lines=count + len(texts))
        self.updates.publish_output(pane)

    def show_screen(self, pane: PaneId, *rows: str) -> Screen:
        """Simulate a repaint whose screen is stored."""
        screen_id = ScreenId(len(self.history.recording.stored_screens) + 1)
        screen = Screen(
            pane=pane, rows=rows, width=80, height=len(rows), alternate=True, at=self.clock.now(), id=screen_id
        )
        self.history.recording.stored_screens.append(screen)
        self.updates.publish_output(pane)
        return screen

    def start_command(self, pane: PaneId, line: str) -> ShellCommand:
        """Simulate a shell that echoes a command line and runs it."""
        self.print_lines(pane, f"$ {line}")
        self.change_pane(
            pane, activity=PaneActivity(kind="command", since=self.clock.now(), command_line=line, is_proven=True)
        )
        return self.history.commands.start_command(pane, line, self.clock.now(), self._count_lines(pane) + 1)

    def finish_command(self, pane: PaneId, exit_code: int | None = 0) -> ShellCommand:
        """Simulate the end of the running command; None is an unknown exit status."""
        self.change_pane(
            pane, activity=PaneActivity(kind="prompt", since=self.clock.now(), last_exit=exit_code, is_proven=True)
        )
        ended = self.history.commands.end_command(pane, exit_code, self.clock.now(), self._count_lines(pane))
        self.updates.publish_output(pane)
        return ended

    def _count_lines(self, pane: PaneId) -> int:
        return sum(line.pane == pane for line in self.history.stored_lines)

    def print_partial_line(self, pane: PaneId, text: str) -> None:
        """Simulate an unfinished line of output."""
        self.panes.pending_lines[pane] = text
        self.change_pane(pane, last_output_at=self.clock.now())
        self.updates.publish_output(pane)

    def print_bytes(self, pane: PaneId, data: bytes, epoch: int = 1) -> None:
        start = sum(
            len(delta.data)
            for owner, delta in self.history.recording.raw_deltas
            if (owner, delta.epoch) == (pane, epoch)
        )
        self.history.recording.raw_deltas.append((pane, Delta(EpochId(epoch), start, data, self.clock.now())))

    def add_event(self, kind: str, pane: PaneId | None = None, **data: Scalar) -> Event:
        return self.store_event(Event(at=self.clock.now(), kind=kind, pane=pane, data=data))

    def store_event(self, event: Event) -> Event:
        stored = msgspec.structs.replace(event, id=EventId(len(self.history.stored_events) + 1))
        self.history.stored_events.append(stored)
        self.updates.publish_event(stored)
        return stored

    def remove_pane(self, pane: PaneId) -> None:
        """Simulate the end of a pane."""
        self.change_pane(pane, gone_at=self.clock.now())
        self.add_event("pane_gone", pane)

    def add_gap(self, pane: PaneId, cause: GapCause, seconds: float | None) -> Gap:
        """Simulate output that was not captured."""
        start = self.clock.now()
        end = None if seconds is None else start + int(seconds * NS)
        gap = Gap(id=len(self.history.stored_gaps) + 1, pane=pane, cause=cause, start_at=start, end_at=end)
        self.history.stored_gaps.append(gap)
        view = self.change_pane(pane, gaps=sum(stored.pane == pane for stored in self.history.stored_gaps))
        self.add_event("gap_recorded", view.id, cause=cause)
        return gap


def build_shell_facts(mux_id: str = "%1", session: str = "work", window: int = 1, **facts: object) -> PaneFacts:
    """Return the facts of a pane that runs a shell."""
    defaults: dict[str, object] = {
        "pid": 1000,
        "session_id": "$1",
        "window_id": f"@{window}",
        "window_name": "main",
        "command": "bash",
        "cwd": "/home/me/project",
        "title": "bash",
        "width": 120,
        "height": 40,
        "history_limit": 50_000,
    }
    defaults |= {"mux_id": MuxPaneId(mux_id), "session_name": session, "window_index": window}
    return msgspec.convert(defaults | facts, PaneFacts)
