import pytest

from termvisor.diagnostics.checks.agent_hooks import AgentHooksCheck
from termvisor.diagnostics.checks.check import InstalledHooks
from termvisor.model.agent.hooks import HookedFile, HookFileState


def file(state: HookFileState, detail: str = "") -> HookedFile:
    return HookedFile(agent="codex", path="/codex/hooks.json", state=state, detail=detail)


@pytest.mark.parametrize(
    ("found", "status", "message"),
    [
        (InstalledHooks(()), "skip", "no supported agent is installed"),
        (InstalledHooks((file("current"),)), "ok", "installed for codex"),
        (
            InstalledHooks((file("absent"),), "hook.sh is gone"),
            "warn",
            "codex: hooks not installed (/codex/hooks.json)",
        ),
        (InstalledHooks((file("current"),), "hook.sh is gone"), "warn", "hook.sh is gone"),
        (InstalledHooks((file("unreadable", "not valid JSON"),)), "warn", "not valid JSON"),
    ],
)
async def test_drift_is_found(context, found: InstalledHooks, status: str, message: str) -> None:
    context.found = found
    finding = await AgentHooksCheck().run(context)
    assert (finding.status, finding.message) == (status, message)
    assert ("visor setup agents" in finding.hint) == (status == "warn")


async def test_hooks_that_were_changed_are_reported(context) -> None:
    context.found = InstalledHooks((file("changed"),))
    assert "changed" in (await AgentHooksCheck().run(context)).message
