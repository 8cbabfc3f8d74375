from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.agent.state import AgentFlags
from termvisor.model.ids import PaneId, SignalId
from termvisor.ops.api.services import LocalServices
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import PERMISSION_SIGNAL
from termvisor.testing.sample_services import build_sample_services

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


async def test_a_state_is_explained_with_evidence_sources_and_changes() -> None:
    result = (await run_command(await build_sample_services(op="explain"), "robot", "explain", "2")).envelope["data"]
    assert (result["agent"]["state"], result["agent"]["evidence_mode"], result["agent"]["state_age"]) == (
        "waiting_approval",
        "deterministic",
        60.0,
    )
    assert (result["evidence"]["signal"], result["evidence"]["payload"]["tool"]) == (PERMISSION_SIGNAL, "Bash")
    assert [(one["source"], one["role"], one["said"]) for one in result["witnesses"]] == [
        ("hook", "decides", "waiting_approval"),
        ("screen", "contradicts", "idle"),
    ]
    assert [one["in_secs"] for one in result["would_change"]] == [None, 540.0]


async def test_evidence_is_redacted() -> None:
    services = await build_sample_services(op="explain")
    for words in (("explain", "2"), ("robot", "explain", "2")):
        out = (await run_command(services, *words)).out
        assert "Authorization" in out
        assert SECRET not in out


async def test_the_text_lists_every_source() -> None:
    out = (
        await run_command(await build_sample_services(op="explain"), "explain", "2", width=100, is_terminal=True)
    ).out
    assert out.startswith("pane 2 (agents %4), claude_code: waiting approval for 1m\nIt asks for permission.\n")
    assert "hook    waiting approval   1m ago  decides      the state comes from this source" in out
    assert "  in 9m: hook sends no signal" in out


async def test_evidence_that_is_no_longer_stored_is_reported() -> None:
    services = await build_sample_services(op="explain")
    services.agents.signals.clear()
    assert "No evidence is stored for this state." in (await run_command(services, "explain", "2")).out


async def test_an_unknown_state_is_explained() -> None:
    out = (await run_command(await build_sample_services(op="explain"), "explain", "6")).out
    assert "unknown (no signal)" in out
    assert "Not supported by evidence" in out


async def test_a_version_without_recordings_is_reported() -> None:
    services = await build_sample_services(op="explain")
    assert "Version" not in (await run_command(services, "explain", "2")).out, "nothing is known about it"
    program = ProgramVersion(version="2.0.76", status="unseen", recorded=("2.1.325",), unproven=("look",), screens=3)
    services.agents.set_program(PaneId(2), program)
    text = (await run_command(services, "explain", "2")).out
    assert "\nVersion 2.0.76 has no recordings, only 2.1.325; unproven: screens.\n" in text
    data = (await run_command(services, "robot", "explain", "2")).envelope["data"]
    assert (data["agent"]["agent_version"], data["agent"]["agent_version_status"]) == ("2.0.76", "unseen")
    assert (data["program"]["unproven"], data["program"]["screens"]) == (["look"], 3)


async def test_flags_are_shown_beside_the_state() -> None:
    services = FakeServices()
    pane = services.add_pane(build_shell_facts()).id
    services.agents.start_agent(pane)
    services.agents.set_state(pane, "error", flags=AgentFlags(auth_needed=True))
    assert "Flags: login required." in (await run_command(services, "explain", "1")).out


async def test_a_pane_without_an_agent_is_explained_by_its_activity() -> None:
    result = await run_command(await build_sample_services(op="explain"), "explain", "1")
    assert (result.status, result.err.splitlines()[0]) == (
        4,
        "visor: no agent in pane 1 (activity: prompt)",
    )
    failed = (await run_command(await build_sample_services(op="explain"), "robot", "explain", "3")).envelope["error"]
    assert (failed["code"], failed["message"]) == ("agent_not_found", "no agent in pane 3 (the pane is gone)")


async def test_escape_sequences_in_evidence_are_removed() -> None:
    services = await build_sample_services(op="explain")
    signal = services.agents.signals[PERMISSION_SIGNAL]
    services.agents.signals[SignalId(PERMISSION_SIGNAL)] = replace(
        signal, payload={"question": "\x1b]52;c;aGk=\x07sure?\n x"}
    )
    out = (await run_command(services, "explain", "2")).out
    assert "\x1b" not in out
    assert "question  sure?  x" in out


RECORDING = str(Path(__file__).parents[3] / "recordings" / "claude_code" / "approval_asked.json")


async def test_a_recording_is_explained_like_a_pane_without_a_daemon() -> None:
    out = (await run_command(LocalServices(), "explain", "--file", RECORDING)).out
    assert out.startswith(RECORDING)
    assert "claude_code: waiting approval" in out
    assert "decides" in out


async def test_json_output_describes_the_recording() -> None:
    result = (await run_command(LocalServices(), "robot", "explain", "--file", RECORDING, "--at", "1s")).envelope[
        "data"
    ]
    assert (result["recording"]["kind"], result["recording"]["moments"]) == ("scenes", 0)
    assert (result["agent"]["state"], result["agent"]["reason"]) == ("unknown", "no_signal")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "no pane was given"),
        (("2", "--file", RECORDING), "both a pane and --file were given"),
        (("2", "--at", "1s"), "require --file"),
        (("--file", "/nowhere.json"), "cannot read"),
    ],
)
async def test_invalid_explain_arguments_are_rejected_with_the_reason(words: tuple[str, ...], why: str) -> None:
    result = await run_command(await build_sample_services(op="explain"), "explain", *words)
    assert why in result.err
    assert result.status == 2
