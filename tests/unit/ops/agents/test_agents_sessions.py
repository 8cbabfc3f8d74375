"""Session lookups in `cass`, which may be missing, fail or print invalid output."""

from pathlib import Path

import pytest

from termvisor.actions.executor import run_program
from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.ops.agents.agents_sessions import MAX_SESSIONS_LOOKED_UP, CassHistory, fetch_histories, format_dollars
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def test_a_session_has_usage_and_resume_command() -> None:
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


async def test_without_sessions_it_is_reported() -> None:
    assert (await run_command(FakeServices(), "agents", "sessions")).out == "No sessions.\n"


SESSION = AgentSession(
    id=SessionId(1),
    runtime=RuntimeId(1),
    pane=PaneId(1),
    agent="codex",
    external_id="5e55",
    cwd="/home/me",
    started_at=0,
)


@pytest.fixture
def cass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a fake `cass` script on the PATH."""

    def write_cass(script: str) -> None:
        path = tmp_path / "cass"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return write_cass


async def test_a_missing_cass_is_a_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await fetch_histories([SESSION], run_program) == [CassHistory(status="not_installed")]


async def test_a_session_is_looked_up_by_id_and_the_answer_redacted(cass) -> None:
    cass('echo "{\\"asked\\": \\"$*\\", \\"key\\": \\"ghp_0123456789abcdefghijklmnopqrstuvwxyz\\"}"')
    (found,) = await fetch_histories([SESSION], run_program)
    assert (found.status, found.key) == ("found", "session_id")
    assert found.answer["asked"] == "query --session-id 5e55 --format json"
    assert "0123456789" not in str(found.answer)


async def test_a_session_unknown_by_id_is_looked_up_by_directory(cass) -> None:
    cass('[ "$1" = search ] && echo "[\\"$*\\"]" || echo "[]"')
    (found,) = await fetch_histories([SESSION], run_program)
    assert (found.key, found.answer) == ("path", ["search --path /home/me --agent codex --format json"])


@pytest.mark.parametrize(
    ("script", "detail"),
    [("echo no index >&2; exit 3", "no index"), ("echo hello", "its output is not JSON"), ("exit 9", "status 9")],
)
async def test_a_failed_cass_call_is_reported(cass, script: str, detail: str) -> None:
    cass(script)
    (found,) = await fetch_histories([SESSION], run_program)
    assert found.status == "failed"
    assert detail in found.detail


@pytest.mark.parametrize("answer", ["deny", "ask"])
async def test_cass_is_not_run_if_the_policy_does_not_allow_it(cass, answer: str) -> None:
    async def refuse_program(_action: RunProgram) -> Outcome:
        if answer == "deny":
            raise Refused("the policy says no: not here")
        return Outcome(status="suppressed", why="policy_asks", text="not here")

    cass("echo 1")
    (found,) = await fetch_histories([SESSION], refuse_program)
    assert (found.status, "not here" in found.detail) == ("not_asked", True)


async def test_only_the_newest_sessions_are_looked_up(cass) -> None:
    cass("echo 1")
    found = await fetch_histories([SESSION] * (MAX_SESSIONS_LOOKED_UP + 2), run_program)
    assert [one.status for one in found] == ["not_asked"] * 2 + ["found"] * MAX_SESSIONS_LOOKED_UP


async def test_the_session_listing_shows_the_history_status(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out = (
        await run_command(
            await build_sample_services(op="agents_sessions"), "agents", "sessions", "-n", "1", "--history"
        )
    ).out
    assert "cass is not installed" in out
