"""A crew of agents for an in-memory World: one asks for permission, one works, one is done, one is not understood."""

from termvisor.clock import NS
from termvisor.model.agent.explanation import Explanation, Prospect, Testimony
from termvisor.model.agent.session import AgentKind, SourceHealth, Usage
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import Contradiction, Flags
from termvisor.model.ids import PaneId, SignalId
from termvisor.testing.world import MemoryWorld, shell

PERMISSION = SignalId(41)
"""The signal by which the first one asks."""
ASKING, WORKING, DONE, STRANGE = (PaneId(number) for number in (2, 4, 5, 6))
"""The panes, once they joined a lively world."""

KINDS = [
    AgentKind(
        name="claude_code",
        contract_version=(1, 0),
        capabilities=("look", "recognise", "resume", "signals"),
        sources=("registry", "osc", "hook", "transcript", "screen"),
        is_enabled=True,
    ),
    AgentKind(
        name="copilot", contract_version=(1, 0), capabilities=("recognise",), sources=("screen",), is_enabled=False
    ),
]


async def join(world: MemoryWorld, asking: PaneId = ASKING) -> MemoryWorld:
    """The same world a minute later: ``asking`` got the first of them, the others came in panes of their own."""
    agents = world.agents
    agents.begin(asking, title="fix the tests")
    agents.use(asking, Usage(total=48_211, input=40_000, output=8_211, cost=0.42, context_used=0.31), **_SESSION)
    working = world.pane(shell("%5", session="agents", window=4, command="codex", title="codex")).id
    agents.begin(working, "codex", "port the importer")
    done = world.pane(shell("%6", session="work", window=5, command="gemini", title="gemini")).id
    agents.begin(done, "gemini", "write the notes")
    strange = world.pane(shell("%7", session="work", window=6, command="opencode", title="opencode")).id
    agents.begin(strange, "opencode")
    agents.become(asking, "waiting_approval", evidence=PERMISSION)
    doubt = Contradiction(since=world.clock.now() + 20 * NS, by="screen", state="idle")
    agents.become(working, "running", source="rollout", flags=Flags(subtasks=2, contradicted=doubt))
    agents.become(done, "completed", source="session_file")
    _explain(world, asking)
    agents.programs += KINDS
    agents.heard += _sources(world.clock.now())
    await world.clock.advance(60)
    return world


_SESSION = {
    "external_id": "5e55",
    "model": "claude-opus-4-5",
    "version": "2.1.0",
    "cwd": "/home/me/project",
    "resume": ("claude", "--resume", "5e55"),
}


def _explain(world: MemoryWorld, pane: PaneId) -> None:
    now, agents = world.clock.now(), world.agents
    state = agents.known[pane].state
    payload = {"tool": "Bash", "command": "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz' x"}
    agents.signals[PERMISSION] = Signal(
        id=PERMISSION,
        source="hook",
        tier="deterministic",
        agent=state.agent,
        session="5e55",
        source_event_id="PermissionRequest",
        event_at=now,
        ingested_at=now,
        dedupe_key="41",
        state="waiting_approval",
        payload=dict(payload),
    )
    agents.explanations[pane] = Explanation(
        state=state,
        age=60 * NS,
        testimonies=(
            Testimony(
                source="hook",
                tier="deterministic",
                rank=3,
                role="decides",
                said="waiting_approval",
                evidence=PERMISSION,
                since=now,
                age=60 * NS,
            ),
            Testimony(source="screen", tier="heuristic", rank=10, role="contradicts", said="idle", age=2 * NS),
        ),
        would_change=(
            Prospect(what="hook says something else, or a source of a better rank does"),
            Prospect(what="hook stays silent", at=now + 600 * NS),
        ),
    )


def _sources(now: int) -> list[SourceHealth]:
    return [
        SourceHealth(
            agent="claude_code",
            source="hook",
            where="/home/me/.local/share/termvisor/spool",
            status="well",
            heard_at=now,
            records=3,
            signals=2,
            dropped=1,
            lag=0.012,
        ),
        SourceHealth(
            agent="codex",
            source="app_server",
            where="/run/codex.sock",
            status="down",
            detail="the server does not answer",
        ),
    ]
