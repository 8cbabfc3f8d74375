"""`revive` resumes a session once and verifies it; many only after their plan was confirmed."""

import pytest
from msgspec.structs import replace

from termvisor.errors import Refused
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

OVER = AgentSession(
    id=SessionId(40),
    runtime=RuntimeId(90),
    pane=PaneId(99),
    agent="codex",
    external_id="0196",
    cwd="/src",
    started_at=1,
    ended_at=2,
    end_reason="pane_gone",
    resume=("codex", "resume", "0196"),
)


@pytest.fixture
async def services():
    found = await build_sample_services(op="interrupt")
    over = replace(OVER, ended_at=found.clock.now())
    second = replace(over, id=SessionId(41), external_id="0197", resume=("codex", "resume", "0197"))
    found.agents.stored_sessions += [
        over,
        second,
        replace(over, id=SessionId(42), external_id="z", end_reason="completed"),
    ]
    found.gate.outcome = Outcome(status="done", correlation="c0ffee", mux_pane="%2")
    return found


def report_session(services, session: str) -> None:
    """Let the agent of pane 2 report this session from now on."""
    view = next(iter(services.agents.views_by_pane.values()))
    known = replace(view.session, external_id=session)
    services.agents.views_by_pane[view.state.pane] = replace(view, session=known)


async def test_a_session_is_resumed_in_its_directory_and_verified(services):
    real = services.gate.run

    async def run_action(action, preconditions):
        report_session(services, "0196")
        services.gate.outcome = replace(services.gate.outcome, mux_pane=services.views[1].facts.mux_id)
        return await real(action, preconditions)

    services.gate.run = run_action
    result = await run_command(services, "robot", "revive", "40")
    (item,) = result.envelope["data"]["items"]
    assert (result.status, item["status"], item["pane"]) == (0, "revived", 2)
    action = services.gate.executed[-1][0]
    assert (action.command, action.cwd) == (("codex", "resume", "0196"), "/src")


async def test_a_session_that_is_not_verified_in_time_is_reported_as_started(services):
    result = await run_command(services, "robot", "revive", "0196", "--verify-secs", "0")
    assert (result.status, result.envelope["data"]["items"][0]["status"]) == (6, "started")


async def test_a_pane_that_died_at_once_is_reported_as_failed(services):
    facts = replace(services.views[1].facts, mux_id="%2", pid=77, dead=True)
    services.change_pane(services.views[1].id, facts=facts)
    services.gate.outcome = replace(services.gate.outcome, pid=77)
    result = await run_command(services, "robot", "revive", "0196")
    (item,) = result.envelope["data"]["items"]
    assert (result.status, item["status"], item["pane"]) == (75, "failed", 2)
    assert item["why"] == "the agent exited at once; see its output in pane 2"
    assert services.gate.executed[-1][0].keeps_failure


async def test_a_running_session_is_not_started_again(services):
    result = await run_command(services, "robot", "revive", "5e55")
    assert (result.status, services.gate.executed) == (75, [])
    assert "already running in pane 2" in result.envelope["error"]["message"]


async def test_revive_all_shows_its_plan_and_needs_confirmation(services):
    result = await run_command(services, "revive", "--all")
    assert (result.status, services.gate.executed) == (2, [])
    assert "resume 2 sessions?" in result.question
    assert "codex resume 0197" in result.question
    plan = await run_command(services, "robot", "revive", "--all", "--dry-run")
    assert [(item["session"], item["status"]) for item in plan.envelope["data"]["items"]] == [
        (40, "planned"),
        (41, "planned"),
    ]


async def test_revive_all_continues_after_a_failure(services):
    real, errors = services.gate.run, [Refused("the policy forbids it")]

    async def run_action(action, preconditions):
        if errors:
            raise errors.pop()
        return await real(action, preconditions)

    services.gate.run = run_action
    result = await run_command(services, "robot", "revive", "--all", "--yes", "--verify-secs", "0")
    items = result.envelope["data"]["items"]
    assert [(item["status"], item["why"][:10]) for item in items] == [
        ("failed", "the policy"),
        ("started", "the agent "),
    ]
    assert result.status == 75


async def test_a_pane_that_was_just_closed_is_not_in_the_plan(services):
    first = (await run_command(services, "robot", "revive", "40", "--dry-run")).envelope["data"]["items"][0]
    assert first["status"] == "planned"

    async def notice_closed_panes():
        for view in services.views:
            services.remove_pane(view.id)

    services.panes.refresh = notice_closed_panes
    plan = (await run_command(services, "robot", "revive", "40", "--dry-run")).envelope["data"]["items"][0]
    assert (plan["status"], plan["where"], plan["pane"]) == ("skipped", "", None)


async def test_running_sessions_are_skipped_in_the_plan(services):
    report_session(services, "0196")
    result = await run_command(services, "robot", "revive", "--all", "--dry-run")
    assert [item["status"] for item in result.envelope["data"]["items"]] == ["skipped", "planned"]


async def test_without_interrupted_sessions_nothing_is_confirmed(services):
    await services.clock.advance(3 * 86_400)
    result = await run_command(services, "revive", "--all")
    assert (result.status, result.out) == (0, "No interrupted sessions.\n")


@pytest.mark.parametrize("words", [(), ("40", "--all")])
async def test_either_a_session_or_all_is_required(services, words):
    result = await run_command(services, "robot", "revive", *words)
    assert (result.status, result.envelope["error"]["code"]) == (2, "invalid_args")


async def test_an_unknown_session_is_not_found(services):
    assert (await run_command(services, "robot", "revive", "nobody")).status == 4


async def test_an_interrupted_session_without_an_id_is_listed_as_skipped(services):
    over = next(one for one in services.agents.stored_sessions if one.id == 40)
    services.agents.stored_sessions[:] = [replace(over, external_id="", resume=())]
    result = await run_command(services, "revive", "--all")
    assert (result.status, result.out.strip()) == (
        0,
        "skipped session 40 of codex in /src: its agent reported no session id to resume",
    )
    assert services.gate.executed == []
