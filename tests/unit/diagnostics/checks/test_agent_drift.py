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


async def test_agents_as_they_were_recorded_are_fine(context) -> None:
    assert (await AgentDriftCheck().run(context)).status == "ok"


async def test_without_a_daemon_nothing_can_be_said(offline_context) -> None:
    assert (await AgentDriftCheck().run(offline_context)).status == "skip"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([drift(3), drift(5)], "codex version 2.2 was never recorded, only 2.0, 2.1 (pane 3, 5)"),
        (
            [drift(3, "strange_screens")],
            "codex version 2.2: its screens are no longer recognised while it speaks itself (pane 3)",
        ),
        (
            [drift(3, "silent_signals", "")],
            "codex a version that it did not tell: it has stopped speaking itself while its screen shows work (pane 3)",
        ),
    ],
)
async def test_what_is_new_to_us_is_told_with_its_panes(context, found: list[AgentDrift], told: str) -> None:
    context.world.agents.drifted = found
    finding = await AgentDriftCheck().run(context)
    assert (finding.status, finding.message) == ("warn", told)
    assert "visor explain" in finding.hint
