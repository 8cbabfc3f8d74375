"""Observe a pane for workflows: combine its screen, stored lines and agent state, and wait for changes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from termvisor.bus import Subscription, wait_for_update
from termvisor.clock import NS, Clock
from termvisor.errors import NotFound
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.state import StateChange
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services
from termvisor.redaction import redact
from termvisor.workflows.engine.services import PaneChanges
from termvisor.workflows.results import Observation

_LINES_PER_PAGE = 500


class PaneObserver:
    def __init__(self, services: Services, clock: Clock):
        self._services, self._clock = services, clock

    async def find_pane(self, pane: PaneId) -> PaneView | None:
        return await self._services.panes.find_pane(pane)

    async def observe(self, pane: PaneId, lines: int) -> Observation:
        """Return the current state of a pane with its last ``lines`` lines; raise NotFound if it is closed."""
        panes = self._services.panes
        # Output that tmux already shows may not be stored yet, but lines and screen must be from the same moment.
        await panes.wait_until_stored(pane)
        view = await panes.find_pane(pane)
        if view is None or view.gone_at is not None:
            raise NotFound(f"pane {pane} no longer exists")
        screen = await panes.capture_screen(pane)
        last_lines = await self._services.history.list_lines(pane, limit=lines) if lines else []
        agent = (await self._services.agents.list_views(pane)).get(pane)
        texts = tuple(redact(line.text) for line in last_lines)
        observation = build_observation(view, (screen.rows, texts), agent, self._clock.now())
        return observation if agent is not None else await self._add_last_session(observation)

    async def _add_last_session(self, observation: Observation) -> Observation:
        """Add the pane's last session, which can be resumed, if no agent is running in it."""
        sessions = await self._services.agents.list_sessions(pane=observation.pane, limit=1)
        if not sessions:
            return observation
        return replace(observation, session=sessions[-1].external_id, resume=sessions[-1].resume)

    async def read_lines(self, pane: PaneId, after: int) -> list[Line]:
        return await self._services.history.list_lines(pane, after=after, limit=_LINES_PER_PAGE)

    @contextmanager
    def watch_pane(self, pane: PaneId) -> Iterator[PaneChanges]:
        services = self._services
        with (
            services.updates.subscribe_output() as output,
            services.updates.subscribe_events() as events,
            services.agents.subscribe_state_changes() as changes,
        ):
            yield LivePaneChangeWaiter(pane, (output, events, changes), self._clock)


class LivePaneChangeWaiter:
    """Waits for output, events or state changes of a single pane."""

    def __init__(self, pane: PaneId, sources: Sequence[Subscription[Any]], clock: Clock):
        self._pane, self._sources, self._clock = pane, sources, clock
        for source in sources:
            # Filtered at the bus, so that a busy neighbouring pane does not wake this run for each of its lines.
            source.is_wanted = self._is_ours

    async def wait_for_change(self, seconds: float) -> None:
        await wait_for_update(self._clock, seconds, *self._sources)
        for source in self._sources:
            source.drain()

    def _is_ours(self, item: object) -> bool:
        if isinstance(item, Event):
            return item.pane == self._pane
        return item.after.pane == self._pane if isinstance(item, StateChange) else item == self._pane


def build_observation(
    view: PaneView, screen_and_lines: tuple[Sequence[str], Sequence[str]], agent: AgentView | None, now: int
) -> Observation:
    """Build the observation of a pane from its view, screen rows, last lines and agent. Pure."""
    facts, state = view.facts, None if agent is None else agent.state
    session = None if agent is None else agent.session
    # A pane without output has been quiet since it was first seen.
    last = view.last_output_at if view.last_output_at is not None else view.first_seen_at
    observation = Observation(
        at=now,
        pane=view.id,
        activity=view.activity.kind,
        is_proven=view.activity.is_proven,
        command=facts.command,
        cwd=facts.cwd,
        title=facts.title,
        is_alternate=facts.alternate,
        line=view.lines,
        screen=tuple(screen_and_lines[0]),
        lines=tuple(screen_and_lines[1]),
        quiet_for=max(0.0, (now - last) / NS),
    )
    if state is not None:
        observation = replace(
            observation,
            agent=state.agent,
            runtime=state.runtime,
            state=state.value,
            state_at=state.since or 0,
            usage_limited=state.flags.usage_limited,
            resets_at=state.flags.resets_at,
            compacting=state.flags.compacting,
            auth_needed=state.flags.auth_needed,
        )
    return observation if session is None else replace(observation, session=session.external_id, resume=session.resume)
