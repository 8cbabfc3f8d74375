from termvisor.ops.agents.agents_sessions import money
from termvisor.testing.asking import ask, lively
from termvisor.testing.crew import ASKING
from termvisor.testing.world import MemoryWorld


async def test_a_session_tells_what_it_used_and_how_it_is_taken_up_again() -> None:
    data = (await ask(await lively(op="agents_sessions"), "robot", "agents", "sessions", "--pane", "2")).envelope[
        "data"
    ]
    (session,) = data["items"]
    assert (session["agent"], session["model"], session["tokens"], session["cost"]) == (
        "claude_code",
        "claude-opus-4-5",
        48_211,
        0.42,
    )
    assert (session["resume"], session["ended_at"], session["seconds"]) == ("claude --resume 5e55", None, 60.0)
    assert session["identity"]["session_name"] == "agents"


async def test_what_was_not_told_is_unknown_and_never_nothing() -> None:
    answered = await ask(await lively(op="agents_sessions"), "agents", "sessions")
    assert answered.out.count("unknown  unknown") == 3
    assert answered.out.endswith("4 sessions, tokens 48,211, cost $0.42 without the 3 that told none\n")
    silent = await ask(await lively(op="agents_sessions"), "agents", "sessions", "--agent", "codex")
    assert silent.out.endswith("1 session, tokens unknown, cost unknown\n")
    assert (money(None), money(0.0)) == ("unknown", "$0.00")


async def test_one_that_is_over_says_why() -> None:
    world = await lively(op="agents_sessions")
    world.agents.leave(ASKING)
    (session,) = (await ask(world, "robot", "agents", "sessions", "--agent", "claude_code")).envelope["data"]["items"]
    assert (session["end_reason"], session["ended_at"]) == ("completed", "2026-01-01T12:02:15.000Z")
    await world.clock.advance(60)
    since = (await ask(world, "robot", "agents", "sessions", "--since", "30s")).envelope["data"]["items"]
    assert "claude_code" not in [item["agent"] for item in since]


async def test_without_any_it_says_so() -> None:
    assert (await ask(MemoryWorld(), "agents", "sessions")).out == "No agent had a session yet.\n"
