"""Agents that are no longer as we know them: looked for now and then, and told once for each version of a program."""

import asyncio

from msgspec.structs import asdict

from termvisor.agents.adapters.recorded_versions import recorded
from termvisor.agents.state.drift import signs, was_seen
from termvisor.agents.state.reducer import NOTHING
from termvisor.agents.tracking.transition import Outcome
from termvisor.daemon.components import Parts
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.drift import Drift, DriftKind
from termvisor.model.agent.state import AgentState
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId

KIND = "agent_drifted"
_EVERY = 30.0
_REMEMBERED = 1000
_IN_A_ROW = 3
"""Dialogs that no rule knew: one of them may be new, or of a kind that we never met."""


class Drifting:
    def __init__(self, parts: Parts):
        self._parts = parts
        self._told: set[tuple[object, ...]] = set()
        self._unseen: dict[tuple[str, str], int] = {}
        """How many dialogs in a row were not recognised, by agent and version."""
        self._counted: dict[tuple[str, str], tuple[RuntimeId, int | None]] = {}
        """The last of them: whose it was, and since when."""

    def now(self) -> list[Drift]:
        """Of the agents that live."""
        return [one for runtime in self._parts.attending.knowing.living.values() for one in self._of(runtime)]

    async def run(self) -> None:
        """Until it is cancelled. What an earlier daemon told is not told again."""
        parts = self._parts
        past = await parts.store.events.list(kind=KIND, limit=_REMEMBERED)
        self._told = {_key(event) for event in past}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._hear())
            while True:
                await parts.clock.sleep(_EVERY)
                await self.tell()

    async def _hear(self) -> None:
        with self._parts.attending.knowing.turns.subscribe() as turns:
            turns.wants = lambda outcome: bool(outcome.changes)
            while True:
                self.note(await turns.get())

    def note(self, outcome: Outcome) -> None:
        """Of every dialog that is over, whether its screen was recognised."""
        for change in outcome.changes:
            ledger = outcome.standing.knowledge.ledgers.get(change.after.runtime)
            if ledger is None or change.before is None or change.before.value == change.after.value:
                continue
            if (seen := was_seen(ledger, change.before, change.at)) is not None:
                self._count(change.before, seen)

    def _count(self, waited: AgentState, seen: bool) -> None:
        """Once for each dialog, though what is believed of it may change."""
        key = waited.agent, self._version(waited.runtime)
        is_new = self._counted.get(key) != (waited.runtime, waited.since)
        self._counted[key] = waited.runtime, waited.since
        self._unseen[key] = 0 if seen else self._unseen.get(key, 0) + is_new

    def _version(self, runtime: RuntimeId) -> str:
        session = self._parts.attending.knowing.session(runtime)
        return session.version if session is not None else ""

    async def tell(self) -> None:
        for drift in self.now():
            if drift.key not in self._told:
                self._told.add(drift.key)
                about = {name: value for name, value in asdict(drift).items() if name in ("agent", "version")}
                await self._parts.chronicle.tell(KIND, drift.pane, sign=drift.kind, what=drift.what, **about)

    def _of(self, runtime: Runtime) -> list[Drift]:
        knowing, now = self._parts.attending.knowing, self._parts.clock.now()
        version = self._version(runtime.id)
        known = recorded(runtime.agent)
        ledger = knowing.standing.knowledge.ledgers.get(runtime.id, NOTHING)
        found: list[tuple[DriftKind, int]] = signs(ledger, runtime.agent, now, knowing.terms.measure)
        if version and known and version not in known:
            found.insert(0, ("unseen_version", runtime.started_at))
        if self._unseen.get((runtime.agent, version), 0) >= _IN_A_ROW:
            found.append(("unseen_dialogs", runtime.started_at))
        return [
            Drift(
                agent=runtime.agent,
                kind=kind,
                pane=runtime.pane,
                runtime=runtime.id,
                version=version,
                since=since,
                recorded=known,
            )
            for kind, since in found
        ]


def _key(event: Event) -> tuple[object, ...]:
    return event.data.get("agent"), event.data.get("sign"), event.data.get("version")
