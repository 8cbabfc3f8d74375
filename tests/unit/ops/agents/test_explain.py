from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.model.agent.state import AgentFlags
from termvisor.model.ids import SignalId
from termvisor.ops.api.local_services import LocalServices
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import build_sample_services, run_command
from termvisor.testing.sample_agents import PERMISSION_SIGNAL

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


async def test_a_state_comes_with_its_evidence_its_witnesses_and_what_would_change_it() -> None:
    told = (await run_command(await build_sample_services(op="explain"), "robot", "explain", "2")).envelope["data"]
    assert (told["agent"]["state"], told["agent"]["evidence_mode"], told["agent"]["state_age"]) == (
        "waiting_approval",
        "deterministic",
        60.0,
    )
    assert (told["evidence"]["signal"], told["evidence"]["payload"]["tool"]) == (PERMISSION_SIGNAL, "Bash")
    assert [(one["source"], one["role"], one["said"]) for one in told["witnesses"]] == [
        ("hook", "decides", "waiting_approval"),
        ("screen", "contradicts", "idle"),
    ]
    assert [one["in_secs"] for one in told["would_change"]] == [None, 540.0]


async def test_what_it_rests_on_is_shown_without_its_secrets() -> None:
    world = await build_sample_services(op="explain")
    for words in (("explain", "2"), ("robot", "explain", "2")):
        out = (await run_command(world, *words)).out
        assert "Authorization" in out
        assert SECRET not in out


async def test_a_person_reads_who_says_what() -> None:
    out = (
        await run_command(await build_sample_services(op="explain"), "explain", "2", width=100, is_terminal=True)
    ).out
    assert out.startswith("pane 2 (agents %4), claude_code: waiting approval for 1m\nIt asks for permission.\n")
    assert "hook    waiting approval  1m ago  decides      this is the one that is believed" in out
    assert "  in 9m: hook stays silent" in out


async def test_evidence_that_aged_away_is_said_to_be_missing() -> None:
    world = await build_sample_services(op="explain")
    world.agents.signals.clear()
    assert "There is no stored evidence for it." in (await run_command(world, "explain", "2")).out


async def test_what_is_not_known_says_why() -> None:
    out = (await run_command(await build_sample_services(op="explain"), "explain", "6")).out
    assert "unknown (no signal)" in out
    assert "not proven by anything" in out


async def test_flags_stand_beside_the_state() -> None:
    world = FakeServices()
    pane = world.add_pane(build_shell_facts()).id
    world.agents.start_agent(pane)
    world.agents.set_state(pane, "error", flags=AgentFlags(auth_needed=True))
    assert "Also: needs a login." in (await run_command(world, "explain", "1")).out


async def test_a_pane_without_an_agent_says_what_it_does() -> None:
    answered = await run_command(await build_sample_services(op="explain"), "explain", "1")
    assert (answered.status, answered.err.splitlines()[0]) == (
        4,
        "visor: no agent is in pane 1; its activity is prompt",
    )
    failed = (await run_command(await build_sample_services(op="explain"), "robot", "explain", "3")).envelope["error"]
    assert (failed["code"], failed["message"]) == ("agent_not_found", "no agent is in pane 3; it ended")


async def test_what_an_agent_wrote_is_text_only() -> None:
    world = await build_sample_services(op="explain")
    signal = world.agents.signals[PERMISSION_SIGNAL]
    world.agents.signals[SignalId(PERMISSION_SIGNAL)] = replace(
        signal, payload={"question": "\x1b]52;c;aGk=\x07sure?\n x"}
    )
    out = (await run_command(world, "explain", "2")).out
    assert "\x1b" not in out
    assert "question  sure?  x" in out


RECORDING = str(Path(__file__).parents[3] / "recordings" / "claude_code" / "approval_asked.json")


async def test_a_recording_is_explained_like_a_pane_without_a_daemon() -> None:
    out = (await run_command(LocalServices(), "explain", "--file", RECORDING)).out
    assert out.startswith(RECORDING)
    assert "claude_code: waiting approval" in out
    assert "decides" in out


async def test_what_a_recording_holds_is_told_to_programs() -> None:
    told = (await run_command(LocalServices(), "robot", "explain", "--file", RECORDING, "--at", "1s")).envelope["data"]
    assert (told["recording"]["kind"], told["recording"]["moments"]) == ("scenes", 0)
    assert (told["agent"]["state"], told["agent"]["reason"]) == ("unknown", "no_signal")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "the pane is missing"),
        (("2", "--file", RECORDING), "a pane and a recording were given"),
        (("2", "--at", "1s"), "are for recordings"),
        (("--file", "/nowhere.json"), "cannot be read"),
    ],
)
async def test_what_cannot_be_explained_says_why(words: tuple[str, ...], why: str) -> None:
    answered = await run_command(await build_sample_services(op="explain"), "explain", *words)
    assert why in answered.err
    assert answered.status == 2
