import pytest

from termvisor.diagnostics.checks.agent_hooks import AgentsAreHeard
from termvisor.diagnostics.checks.check import Hooks
from termvisor.model.agent.hooks import FoundState, HookedFile


def file(state: FoundState, detail: str = "") -> HookedFile:
    return HookedFile(agent="codex", path="/codex/hooks.json", state=state, detail=detail)


@pytest.mark.parametrize(
    ("found", "status", "message"),
    [
        (Hooks(()), "skip", "no agent that we know is installed"),
        (Hooks((file("current"),)), "ok", "codex: set up"),
        (
            Hooks((file("absent"),), "hook.sh is gone"),
            "warn",
            "codex has no hooks of ours (/codex/hooks.json)",
        ),
        (Hooks((file("current"),), "hook.sh is gone"), "warn", "hook.sh is gone"),
        (Hooks((file("unreadable", "it is no JSON"),)), "warn", "it is no JSON"),
    ],
)
async def test_drift_is_found(sight, found: Hooks, status: str, message: str) -> None:
    sight.found = found
    finding = await AgentsAreHeard().look(sight)
    assert (finding.status, finding.message) == (status, message)
    assert ("visor setup agents" in finding.hint) == (status == "warn")


async def test_hooks_that_were_changed_are_told(sight) -> None:
    sight.found = Hooks((file("changed"),))
    assert "changed" in (await AgentsAreHeard().look(sight)).message
