"""Sample agents for fake services: one waiting for approval, one running, one completed, one unknown."""

from termvisor.clock import NS
from termvisor.model.agent.agent_view import AgentKind
from termvisor.model.agent.evidence import ExpectedChange, SourceEvidence, SourceHealth, StateExplanation
from termvisor.model.agent.session import TokenUsage
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentFlags, StateContradiction
from termvisor.model.ids import PaneId, SignalId
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PERMISSION_SIGNAL = SignalId(41)
"""The signal of the permission request."""
ASKING_PANE, WORKING_PANE, DONE_PANE, UNKNOWN_PANE = (PaneId(number) for number in (2, 4, 5, 6))
"""The panes of the sample agents in `build_sample_services`."""

SAMPLE_KINDS = [
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


async def add_sample_agents(services: FakeServices, asking: PaneId = ASKING_PANE) -> FakeServices:
    """Add the agents, the first in the pane ``asking``, the others in new panes; advance the clock by a minute."""
    agents = services.agents
    agents.start_agent(asking, title="fix the tests")
    agents.set_usage(
        asking, TokenUsage(total=48_211, input=40_000, output=8_211, cost=0.42, context_used=0.31), **_SESSION_FIELDS
    )
    working = services.add_pane(build_shell_facts("%5", session="agents", window=4, command="codex", title="codex")).id
    agents.start_agent(working, "codex", "port the importer")
    done = services.add_pane(build_shell_facts("%6", session="work", window=5, command="gemini", title="gemini")).id
    agents.start_agent(done, "gemini", "write the notes")
    unknown = services.add_pane(
        build_shell_facts("%7", session="work", window=6, command="opencode", title="opencode")
    ).id
    agents.start_agent(unknown, "opencode")
    agents.set_state(asking, "waiting_approval", evidence=PERMISSION_SIGNAL)
    contradiction = StateContradiction(since=services.clock.now() + 20 * NS, by="screen", state="idle")
    agents.set_state(working, "running", source="rollout", flags=AgentFlags(subtasks=2, contradicted=contradiction))
    agents.set_state(done, "completed", source="session_file")
    _add_explanation(services, asking)
    agents.agent_kinds += SAMPLE_KINDS
    agents.source_health += _build_source_health(services.clock.now())
    await services.clock.advance(60)
    return services


_SESSION_FIELDS = {
    "external_id": "5e55",
    "model": "claude-opus-4-5",
    "version": "2.1.0",
    "cwd": "/home/me/project",
    "resume": ("claude", "--resume", "5e55"),
}


def _add_explanation(services: FakeServices, pane: PaneId) -> None:
    now, agents = services.clock.now(), services.agents
    state = agents.views_by_pane[pane].state
    payload = {"tool": "Bash", "command": "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz' x"}
    agents.signals[PERMISSION_SIGNAL] = Signal(
        id=PERMISSION_SIGNAL,
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
    agents.explanations[pane] = StateExplanation(
        state=state,
        age=60 * NS,
        testimonies=(
            SourceEvidence(
                source="hook",
                tier="deterministic",
                rank=3,
                role="decides",
                said="waiting_approval",
                evidence=PERMISSION_SIGNAL,
                since=now,
                age=60 * NS,
            ),
            SourceEvidence(source="screen", tier="heuristic", rank=10, role="contradicts", said="idle", age=2 * NS),
        ),
        would_change=(
            ExpectedChange(what="hook, or a source of a better rank, reports another state"),
            ExpectedChange(what="hook sends no signal", at=now + 600 * NS),
        ),
    )


def _build_source_health(now: int) -> list[SourceHealth]:
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
