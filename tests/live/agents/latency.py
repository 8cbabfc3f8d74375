"""`make latency`: how long the real agents' changes take to be their states. A table for this machine, and no test.

The agents work in panes of one tmux, as a user has them, with no hooks; each is prompted, asks for permission and is
refused. Every change of state was stored with the signal that decided it. The agent's own time of that signal, or for
a look the time of the pane's last output, is when the agent changed.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from termvisor.clock import SystemClock
from termvisor.model.agent.signal import Signal
from termvisor.model.event import Event
from termvisor.store import Store
from tests.bench.figure import compute_percentile
from tests.live.agents.agent_programs import PROGRAMS, AgentFolders
from tests.live.agents.model.server import run_model_server
from tests.live.agents.test_states import AT_REST, Desk
from tests.live.conftest import run_watched_tmux

ROUNDS = 2
_ROW_FORMAT = "{:<14} {:<14} {:>8} {:>10} {:>10} {:>10}"


class LatencySample(NamedTuple):
    """Milliseconds from the agent to the one who reads its word, and on to the stored state."""

    agent: str
    source: str
    heard: float
    known: float


def main() -> int:
    changes = run_agents()
    print(_ROW_FORMAT.format("agent", "told by", "changes", "heard p50", "state p50", "state p95"))
    for agent, source in sorted({(one.agent, one.source) for one in changes}):
        of_it = [one for one in changes if (one.agent, one.source) == (agent, source)]
        heard, known = [one.heard for one in of_it], [one.known for one in of_it]
        figures = (compute_percentile(heard, 0.5), compute_percentile(known, 0.5), compute_percentile(known, 0.95))
        print(_ROW_FORMAT.format(agent, source, len(of_it), *(f"{one:.0f} ms" for one in figures)))
    return 0


def run_agents() -> list[LatencySample]:
    with (
        tempfile.TemporaryDirectory(prefix="tv-latency-") as name,
        run_model_server() as model,
        run_watched_tmux() as scene,
    ):
        folder = Path(name)
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        desks = [Desk(scene, one, AgentFolders(folder / one.name, model)) for one in PROGRAMS]
        for desk in desks:
            try:
                run_agent(desk)
            except AssertionError as error:  # what it did until then counts
                print(f"{desk.program.name} did not go on: {error}", file=sys.stderr)
        scene.visor.stop()
        return asyncio.run(_load_samples(scene.visor.paths.database))


def run_agent(desk: Desk) -> None:
    desk.becomes("idle", seconds=60)
    for number in range(ROUNDS):
        desk.prompt("MODEL slow 4")
        desk.becomes("running")
        desk.becomes(*AT_REST)
        desk.prompt(f"MODEL shell touch file-{number}")
        desk.becomes("waiting_approval")
        desk.refuse()
        desk.becomes(*AT_REST)
    print(f"{desk.program.name}: done", file=sys.stderr)


async def _load_samples(database: str) -> list[LatencySample]:
    store = await Store.open(database, SystemClock())
    try:
        signals: dict[int, Signal] = {}
        last = 0
        while facts := await store.agent_facts.list_after(last):
            signals |= {number: fact for number, fact in facts if isinstance(fact, Signal)}
            last = facts[-1][0]
        events = await store.events.list(kind="state_changed", limit=10_000)
        return list(_build_samples(events, signals))
    finally:
        await store.close()


def _build_samples(events: list[Event], signals: dict[int, Signal]) -> Iterator[LatencySample]:
    """Only what a signal changed: what time alone changes has no beginning."""
    for event in events:
        signal = signals.get(int(event.data.get("evidence") or 0))
        if signal is None or event.data["before"] == event.data["after"] or event.at - signal.ingested_at > 10**9:
            continue
        began = signal.moved_at or signal.event_at
        heard, known = (signal.ingested_at - began) / 1e6, (event.at - began) / 1e6
        yield LatencySample(signal.agent, signal.source, heard, known)


if __name__ == "__main__":
    sys.exit(main())
