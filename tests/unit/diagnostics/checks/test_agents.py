import pytest

from termvisor.diagnostics.checks.agents import AgentDriftCheck, AgentHooksCheck
from termvisor.diagnostics.checks.check import InstalledHooks
from termvisor.model.agent.evidence import AgentDrift, DriftKind
from termvisor.model.agent.hooks import HookedFile, HookFileState
from termvisor.model.ids import PaneId, RuntimeId


def build_hook_file(state: HookFileState, detail: str = "") -> HookedFile:
    return HookedFile(agent="codex", path="/codex/hooks.json", state=state, detail=detail)


@pytest.mark.parametrize(
    ("found", "status", "message"),
    [
        (InstalledHooks(()), "skip", "no supported agent is installed"),
        (InstalledHooks((build_hook_file("current"),)), "ok", "installed for codex"),
        (
            InstalledHooks((build_hook_file("absent"),), "hook.sh is gone"),
            "warn",
            "codex: hooks not installed (/codex/hooks.json)",
        ),
        (InstalledHooks((build_hook_file("current"),), "hook.sh is gone"), "warn", "hook.sh is gone"),
        (InstalledHooks((build_hook_file("unreadable", "not valid JSON"),)), "warn", "not valid JSON"),
    ],
)
async def test_drift_is_found(context, found: InstalledHooks, status: str, message: str) -> None:
    context.found = found
    finding = await AgentHooksCheck().run(context)
    assert (finding.status, finding.message) == (status, message)
    assert ("visor setup agents" in finding.hint) == (status == "warn")


async def test_hooks_that_were_changed_are_reported(context) -> None:
    context.found = InstalledHooks((build_hook_file("changed"),))
    assert "changed" in (await AgentHooksCheck().run(context)).message


def build_drift(pane: int, kind: DriftKind = "unseen_version", version: str = "2.2") -> AgentDrift:
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
    ("found", "expected"),
    [
        ([build_drift(3), build_drift(5)], "codex version 2.2 has no recordings, only 2.0, 2.1 (pane 3, 5)"),
        (
            [build_drift(3, "strange_screens")],
            "codex version 2.2: no rule matches its screens, although it reports signals (pane 3)",
        ),
        (
            [build_drift(3, "silent_signals", "")],
            "codex unknown version: it stopped sending signals while its screen shows work (pane 3)",
        ),
    ],
)
async def test_drifts_are_reported_with_their_panes(context, found: list[AgentDrift], expected: str) -> None:
    context.services.agents.current_drifts = found
    finding = await AgentDriftCheck().run(context)
    assert (finding.status, finding.message) == ("warn", expected)
    assert "visor explain" in finding.hint
