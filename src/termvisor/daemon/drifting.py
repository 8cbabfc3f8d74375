"""Agents that are no longer as we know them: looked for now and then, and told once for each version of a program."""

from msgspec.structs import asdict

from termvisor.agents.versions import recorded
from termvisor.daemon.parts import Parts
from termvisor.model.drift import Drift, DriftKind
from termvisor.model.event import Event
from termvisor.model.runtime import Runtime
from termvisor.state.drift import signs
from termvisor.state.knowledge import NOTHING

KIND = "agent_drifted"
_EVERY = 30.0
_REMEMBERED = 1000


class Drifting:
    def __init__(self, parts: Parts):
        self._parts = parts
        self._told: set[tuple[object, ...]] = set()

    def now(self) -> list[Drift]:
        """Of the agents that live."""
        return [one for runtime in self._parts.attending.knowing.living.values() for one in self._of(runtime)]

    async def run(self) -> None:
        """Until it is cancelled. What an earlier daemon told is not told again."""
        parts = self._parts
        past = await parts.store.events.list(kind=KIND, limit=_REMEMBERED)
        self._told = {_key(event) for event in past}
        while True:
            await parts.clock.sleep(_EVERY)
            await self.tell()

    async def tell(self) -> None:
        for drift in self.now():
            if drift.key not in self._told:
                self._told.add(drift.key)
                about = {name: value for name, value in asdict(drift).items() if name in ("agent", "version")}
                await self._parts.chronicle.tell(KIND, drift.pane, sign=drift.kind, what=drift.what, **about)

    def _of(self, runtime: Runtime) -> list[Drift]:
        knowing, now = self._parts.attending.knowing, self._parts.clock.now()
        session = knowing.session(runtime.id)
        version = session.version if session is not None else ""
        known = recorded(runtime.agent)
        ledger = knowing.standing.knowledge.ledgers.get(runtime.id, NOTHING)
        found: list[tuple[DriftKind, int]] = signs(ledger, runtime.agent, now, knowing.terms.measure)
        if version and known and version not in known:
            found.insert(0, ("unseen_version", runtime.started_at))
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
