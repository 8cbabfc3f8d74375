import pytest

from termvisor.diagnostics.checks.agent_drift import AgentDriftCheck
from termvisor.model.agent.drift import AgentDrift, DriftKind
from termvisor.model.ids import PaneId, RuntimeId


def drift(pane: int, kind: DriftKind = "unseen_version", version: str = "2.2") -> AgentDrift:
    return AgentDrift(
        agent="codex",
        kind=kind,
        pane=PaneId(pane),
        runtime=RuntimeId(pane),
        version=version,
        since=0,
        recorded=("2.0", "2.1"),
    )


async def test_agents_that_match_their_recordings_are_ok(context) -> None:
    assert (await AgentDriftCheck().run(context)).status == "ok"


async def test_without_a_daemon_the_check_is_skipped(offline_context) -> None:
    assert (await AgentDriftCheck().run(offline_context)).status == "skip"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([drift(3), drift(5)], "codex version 2.2 has no recordings, only 2.0, 2.1 (pane 3, 5)"),
        (
            [drift(3, "strange_screens")],
            "codex version 2.2: no rule matches its screens, although it reports signals (pane 3)",
        ),
        (
            [drift(3, "silent_signals", "")],
            "codex unknown version: it stopped sending signals while its screen shows work (pane 3)",
        ),
    ],
)
async def test_drifts_are_reported_with_their_panes(context, found: list[AgentDrift], told: str) -> None:
    context.services.agents.current_drifts = found
    finding = await AgentDriftCheck().run(context)
    assert (finding.status, finding.message) == ("warn", told)
    assert "visor explain" in finding.hint
