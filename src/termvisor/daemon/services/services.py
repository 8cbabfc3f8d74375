"""The live World that operations see: the watched fleet, the stored history, the news of both."""

from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from termvisor.bus import Subscription
from termvisor.capture.server_watcher import ServerWatch
from termvisor.daemon.components import Parts
from termvisor.daemon.replay.colored_redaction import coloured, safe_rows
from termvisor.daemon.services.accounts import LiveAccounts, myself
from termvisor.daemon.services.agents import LiveAgents
from termvisor.daemon.services.caller_view import CalledWorld
from termvisor.daemon.services.detections import LiveDetections
from termvisor.daemon.services.maintenance import LiveUpkeep
from termvisor.daemon.services.raw_recording import LiveRecording
from termvisor.daemon.services.user_variables import Reports
from termvisor.daemon.workflows.services import LiveRuns
from termvisor.errors import NotFound
from termvisor.model.action.action import Actor, RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Gap, Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.search_query import Found, Question
from termvisor.pipeline import activity_of
from termvisor.search.search import search
from termvisor.settings import Places, Settings
from termvisor.store import StoredPane
from termvisor.system.process_start import ancestors
from termvisor.system.tty import terminal_of

if TYPE_CHECKING:
    from termvisor.daemon.services.gate import Behind
    from termvisor.ops.api.gate_service import Door

AGENTS = frozenset({"claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "aider", "goose", "amp"})
"""Programs that act by themselves: what they start is not started by a person."""


class LiveFleet:
    def __init__(self, parts: Parts):
        self._parts = parts

    async def panes(self, *, gone: bool = False) -> list[PaneView]:
        await self._parts.lookout.has_looked.wait()
        return [self._view(pane) for pane in await self._parts.store.panes.all(gone=gone)]

    async def pane(self, number: PaneId) -> PaneView | None:
        await self._parts.lookout.has_looked.wait()
        found = await self._parts.store.panes.one(number)
        return None if found is None else self._view(found)

    def pending(self, pane: PaneId) -> str:
        text = self._parts.pipeline.current.get(pane)
        return text.pending if text else ""

    async def screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        watch, mux_id = self._place_of(pane)
        seen = await watch.server.capture(mux_id, escapes=escapes)
        secrets = self._parts.pipeline.secrets_of(pane)
        if escapes:
            rows = coloured(seen.rows, seen.above, secrets)
        else:
            rows = safe_rows([row.rstrip() for row in seen.rows], [row.rstrip() for row in seen.above], secrets)
        return seen.screen(pane, rows, self._parts.clock.now())

    async def settle(self, pane: PaneId | None = None) -> None:
        await self._parts.lookout.has_looked.wait()  # before that, the epochs of an earlier daemon are not open yet
        await self._parts.pipeline.settle(pane)

    def _place_of(self, pane: PaneId) -> tuple[ServerWatch, MuxPaneId]:
        place = self._parts.lookout.place_of(pane)
        if place is not None:
            return place
        raise NotFound(f"pane {pane} no longer exists", hint="`visor get-text` still reads what it printed.")

    def _view(self, pane: StoredPane) -> PaneView:
        parts = self._parts
        meter = parts.pipeline.meters.get(pane.id)
        text = parts.pipeline.current.get(pane.id)
        watch = parts.lookout.watches.get(pane.instance.server.socket)
        is_here = pane.gone_at is None
        return PaneView(
            id=pane.id,
            instance=pane.instance,
            facts=pane.facts,
            activity=activity_of(text),
            heard_by=watch.plane_of(pane.instance.mux_id) if watch and is_here else "none",
            first_seen_at=pane.first_seen_at,
            last_output_at=meter.last_at if meter and meter.last_at else pane.last_output_at,
            gone_at=pane.gone_at,
            bytes_heard=pane.bytes_heard + (text.read_to - text.stored_to if text else 0),
            bytes_per_second=meter.rate(parts.clock.monotonic()) if meter and is_here else 0.0,
            gaps=pane.gaps,
            lines=pane.lines,
        )


class LiveHistory:
    def __init__(self, parts: Parts):
        self._store, self._clock = parts.store, parts.clock
        self.recording = LiveRecording(parts)
        self.commands = parts.store.commands

    async def lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        return await self._store.output.lines(pane, after=after, before=before, limit=limit)

    async def search(self, question: Question) -> Found:
        return await search(self._store, question, self._clock.now())

    async def events(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        since: int | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> list[Event]:
        return await self._store.events.list(after=after, pane=pane, since=since, kind=kind, limit=limit)

    async def gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        return await self._store.output.gaps(pane=pane, since=since)


class LiveNews:
    def __init__(self, parts: Parts):
        self._parts = parts
        self._reports = Reports(parts)

    def events(self) -> AbstractContextManager[Subscription[Event]]:
        return self._parts.chronicle.news.subscribe()

    def output(self) -> AbstractContextManager[Subscription[PaneId]]:
        return self._parts.pipeline.news.subscribe()

    async def report(self, pane: PaneId, name: str, value: str) -> Event | None:
        return await self._reports.take(pane, name, value)


class LiveWorld:
    def __init__(self, parts: Parts):
        self.fleet, self.history, self.news = LiveFleet(parts), LiveHistory(parts), LiveNews(parts)
        self.upkeep = LiveUpkeep(parts)
        self.agents = LiveAgents(parts)
        self.detections = LiveDetections(parts)
        self.clock = parts.clock
        self._parts = parts
        self.accounts = LiveAccounts(parts, self._run_it)
        self.runs = LiveRuns(parts, self, lambda: self.behind, self.accounts)
        self.keeps_recorder = False
        """Whether the recorder goes on when this world ends, for a daemon that comes after."""

    def called_by(self, actor: Actor) -> CalledWorld:
        """This world as one caller may use it."""

        def door() -> "Door":
            from termvisor.daemon.services.gate import LiveDoor

            return LiveDoor(self.behind, self._known(actor))

        return CalledWorld(self, door)

    @cached_property
    def behind(self) -> "Behind":
        """What acts; loaded when somebody acts for the first time."""
        from termvisor.daemon.acting.pane_access import behind

        return behind(self._parts, self.fleet.pane)

    async def _run_it(self, action: RunProgram) -> Outcome:
        return await self.behind.gate.do(action, myself(), Terms())

    def _known(self, actor: Actor) -> Actor:
        """What the system says of a caller: an agent that has a terminal is no person, and its pane is its own."""
        tty = terminal_of(actor.pid)
        panes = (known for watch in self._parts.lookout.watches.values() for known in watch.known.values())
        own = next((known.id for known in panes if tty and known.facts.tty == tty), None)
        is_agent = actor.kind == "human" and not AGENTS.isdisjoint(ancestors(actor.pid))
        return replace(actor, pane=own, kind="agent" if is_agent else actor.kind)

    @property
    def configuration(self) -> tuple[Places, Settings]:
        return self._parts.places, self._parts.settings
