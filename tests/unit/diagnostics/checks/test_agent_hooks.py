import pytest

from termvisor.diagnostics.checks.agent_hooks import AgentHooksCheck
from termvisor.diagnostics.checks.check import InstalledHooks
from termvisor.model.agent.hooks import HookedFile, HookFileState


def file(state: HookFileState, detail: str = "") -> HookedFile:
    return HookedFile(agent="codex", path="/codex/hooks.json", state=state, detail=detail)


@pytest.mark.parametrize(
    ("found", "status", "message"),
    [
        (InstalledHooks(()), "skip", "no agent that we know is installed"),
        (InstalledHooks((file("current"),)), "ok", "codex: set up"),
        (
            InstalledHooks((file("absent"),), "hook.sh is gone"),
            "warn",
            "codex has no hooks of ours (/codex/hooks.json)",
        ),
        (InstalledHooks((file("current"),), "hook.sh is gone"), "warn", "hook.sh is gone"),
        (InstalledHooks((file("unreadable", "it is no JSON"),)), "warn", "it is no JSON"),
    ],
)
async def test_drift_is_found(context, found: InstalledHooks, status: str, message: str) -> None:
    context.found = found
    finding = await AgentHooksCheck().run(context)
    assert (finding.status, finding.message) == (status, message)
    assert ("visor setup agents" in finding.hint) == (status == "warn")


async def test_hooks_that_were_changed_are_told(context) -> None:
    context.found = InstalledHooks((file("changed"),))
    assert "changed" in (await AgentHooksCheck().run(context)).message
