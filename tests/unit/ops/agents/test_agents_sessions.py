from termvisor.ops.agents.agents_sessions import format_dollars
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def test_a_session_tells_what_it_used_and_how_it_is_resumed() -> None:
    data = (
        await run_command(
            await build_sample_services(op="agents_sessions"), "robot", "agents", "sessions", "--pane", "2"
        )
    ).envelope["data"]
    (session,) = data["items"]
    assert (session["agent"], session["model"], session["tokens"], session["cost"]) == (
        "claude_code",
        "claude-opus-4-5",
        48_211,
        0.42,
    )
    assert (session["resume"], session["ended_at"], session["seconds"]) == ("claude --resume 5e55", None, 60.0)
    assert session["identity"]["session_name"] == "agents"


async def test_unreported_usage_is_unknown_never_zero() -> None:
    result = await run_command(await build_sample_services(op="agents_sessions"), "agents", "sessions")
    assert result.out.count("unknown  unknown") == 3
    assert result.out.endswith("4 sessions, tokens 48,211, cost $0.42 (3 sessions without a reported cost)\n")
    silent = await run_command(
        await build_sample_services(op="agents_sessions"), "agents", "sessions", "--agent", "codex"
    )
    assert silent.out.endswith("1 session, tokens unknown, cost unknown\n")
    assert (format_dollars(None), format_dollars(0.0)) == ("unknown", "$0.00")


async def test_an_ended_session_has_its_reason() -> None:
    services = await build_sample_services(op="agents_sessions")
    services.agents.end_agent(ASKING_PANE)
    (session,) = (await run_command(services, "robot", "agents", "sessions", "--agent", "claude_code")).envelope[
        "data"
    ]["items"]
    assert (session["end_reason"], session["ended_at"]) == ("completed", "2026-01-01T12:02:15.000Z")
    await services.clock.advance(60)
    since = (await run_command(services, "robot", "agents", "sessions", "--since", "30s")).envelope["data"]["items"]
    assert "claude_code" not in [item["agent"] for item in since]


async def test_without_any_it_is_reported() -> None:
    assert (await run_command(FakeServices(), "agents", "sessions")).out == "No sessions.\n"
