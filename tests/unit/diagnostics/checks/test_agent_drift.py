import pytest

from termvisor.diagnostics.checks.agent_drift import AgentsAreKnown
from termvisor.model.agent.drift import Drift, DriftKind
from termvisor.model.ids import PaneId, RuntimeId


def drift(pane: int, kind: DriftKind = "unseen_version", version: str = "2.2") -> Drift:
    return Drift(
        agent="codex",
        kind=kind,
        pane=PaneId(pane),
        runtime=RuntimeId(pane),
        version=version,
        since=0,
        recorded=("2.0", "2.1"),
    )


async def test_agents_as_they_were_recorded_are_fine(sight) -> None:
    assert (await AgentsAreKnown().look(sight)).status == "ok"


async def test_without_a_daemon_nothing_can_be_said(lonely) -> None:
    assert (await AgentsAreKnown().look(lonely)).status == "skip"


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
async def test_what_is_new_to_us_is_told_with_its_panes(sight, found: list[Drift], told: str) -> None:
    sight.world.agents.drifted = found
    finding = await AgentsAreKnown().look(sight)
    assert (finding.status, finding.message) == ("warn", told)
    assert "visor explain" in finding.hint
