"""`make latency`: print how long changes of the real agents take to become published states on this machine.

The agents run in panes of one tmux without hooks; each is prompted, requests a permission and is denied. Every state
change is stored with the signal that decided it. The change happened at the agent's own time of that signal or, for a
screen sample, at the time of the pane's last output.
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
from tests.live.agents.test_states import AT_REST, TrackedAgent
from tests.live.conftest import run_watched_tmux

ROUNDS = 2
_ROW_FORMAT = "{:<14} {:<14} {:>8} {:>10} {:>10} {:>10}"


class LatencySample(NamedTuple):
    """Milliseconds from the agent's change to the read signal, and to the stored state."""

    agent: str
    source: str
    ingested: float
    known: float


def main() -> int:
    changes = run_agents()
    print(_ROW_FORMAT.format("agent", "source", "changes", "signal p50", "state p50", "state p95"))
    for agent, source in sorted({(one.agent, one.source) for one in changes}):
        of_it = [one for one in changes if (one.agent, one.source) == (agent, source)]
        ingested, known = [one.ingested for one in of_it], [one.known for one in of_it]
        figures = (compute_percentile(ingested, 0.5), compute_percentile(known, 0.5), compute_percentile(known, 0.95))
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
        tracked_agents = [TrackedAgent(scene, one, AgentFolders(folder / one.name, model)) for one in PROGRAMS]
        for agent in tracked_agents:
            try:
                run_agent(agent)
            except AssertionError as error:  # samples until then still count
                print(f"{agent.program.name} did not go on: {error}", file=sys.stderr)
        scene.visor.stop()
        return asyncio.run(_load_samples(scene.visor.paths.database))


def run_agent(agent: TrackedAgent) -> None:
    agent.wait_for_state("idle", seconds=60)
    for number in range(ROUNDS):
        agent.send_prompt("MODEL slow 4")
        agent.wait_for_state("running")
        agent.wait_for_state(*AT_REST)
        agent.send_prompt(f"MODEL shell touch file-{number}")
        agent.wait_for_state("waiting_approval")
        agent.dismiss_dialog()
        agent.wait_for_state(*AT_REST)
    print(f"{agent.program.name}: done", file=sys.stderr)


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
    """Build samples of changes by a signal; changes by a timeout have no start time."""
    for event in events:
        signal = signals.get(int(event.data.get("evidence") or 0))
        if signal is None or event.data["before"] == event.data["after"] or event.at - signal.ingested_at > 10**9:
            continue
        began = signal.moved_at or signal.event_at
        ingested, known = (signal.ingested_at - began) / 1e6, (event.at - began) / 1e6
        yield LatencySample(signal.agent, signal.source, ingested, known)


if __name__ == "__main__":
    sys.exit(main())
