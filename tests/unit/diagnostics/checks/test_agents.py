import pytest

from termvisor.diagnostics.checks.agents import AgentDriftCheck, AgentHooksCheck
from termvisor.diagnostics.checks.check import InstalledHooks
from termvisor.model.agent.evidence import AgentDrift, DriftKind
from termvisor.model.agent.hooks import HookedFile, HookFileState
from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.testing.fake_services import build_shell_facts


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
        since=0,
        program=ProgramVersion(version=version, status="unseen", recorded=("2.0", "2.1")),
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
            "codex version 2.2: no rule matches its screens (pane 3)",
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


def start_agent(context, agent: str, program: ProgramVersion) -> None:
    pane = context.services.add_pane(build_shell_facts(f"%{len(context.services.agents.views_by_pane) + 1}")).id
    context.services.agents.start_agent(pane, agent)
    context.services.agents.set_program(pane, program)


async def test_the_running_versions_are_listed(context) -> None:
    start_agent(context, "codex", ProgramVersion(version="2.1", status="recorded"))
    start_agent(context, "codex", ProgramVersion(version="2.1", status="recorded"))
    start_agent(context, "gemini", ProgramVersion(version="0.5", status="between_recorded"))
    start_agent(context, "toy", ProgramVersion())
    finding = await AgentDriftCheck().run(context)
    assert (finding.status, finding.message) == (
        "ok",
        "all running agents match their recordings: codex 2.1 (pane 1, 2),"
        " gemini 0.5, between recorded versions (pane 3), toy, without recordings (pane 4)",
    )


async def test_an_unknown_version_does_not_count_as_recorded(context) -> None:
    """Copilot and Gemini without hooks were reported as recorded while no rule recognized anything."""
    start_agent(
        context, "gemini", ProgramVersion(status="unknown", recorded=("0.61.0",), unproven=("look",), screens=2)
    )
    finding = await AgentDriftCheck().run(context)
    assert (finding.status, finding.message) == (
        "warn",
        "gemini unknown version; recorded: 0.61.0; unproven: screens (pane 1)",
    )
