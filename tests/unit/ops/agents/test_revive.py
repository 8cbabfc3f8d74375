"""A conversation is brought back once, and seen to be that one; many only after their plan was shown."""

import pytest
from msgspec.structs import replace

from termvisor.errors import Refused
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.testing.operation_calls import build_sample_services, run_command

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
async def world():
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


def comes_up(world, session: str) -> None:
    """Its agent is in pane 2 from now on."""
    view = next(iter(world.agents.views_by_pane.values()))
    known = replace(view.session, external_id=session)
    world.agents.views_by_pane[view.state.pane] = replace(view, session=known)


async def test_one_is_started_in_its_folder_and_seen_to_come_up(world):
    real = world.gate.run

    async def do(action, terms):
        comes_up(world, "0196")
        world.gate.outcome = replace(world.gate.outcome, mux_pane=world.panes.views[1].facts.mux_id)
        return await real(action, terms)

    world.gate.do = do
    answered = await run_command(world, "robot", "revive", "40")
    (item,) = answered.envelope["data"]["items"]
    assert (answered.status, item["status"], item["pane"]) == (0, "revived", 2)
    action = world.gate.executed[-1][0]
    assert (action.command, action.cwd) == (("codex", "resume", "0196"), "/src")


async def test_one_that_is_not_seen_to_come_up_is_said(world):
    answered = await run_command(world, "robot", "revive", "0196", "--verify-secs", "0")
    assert (answered.status, answered.envelope["data"]["items"][0]["status"]) == (6, "started")


async def test_one_whose_window_is_dead_already_has_failed_and_its_window_is_named(world):
    facts = replace(world.panes.views[1].facts, mux_id="%2", pid=77, dead=True)
    world.panes.views[1] = replace(world.panes.views[1], facts=facts)
    world.gate.outcome = replace(world.gate.outcome, pid=77)
    answered = await run_command(world, "robot", "revive", "0196")
    (item,) = answered.envelope["data"]["items"]
    assert (answered.status, item["status"], item["pane"]) == (75, "failed", 2)
    assert item["why"] == "it ended at once; pane 2 stays and shows why"
    assert world.gate.executed[-1][0].keeps_failure


async def test_one_that_goes_on_is_not_started_again(world):
    answered = await run_command(world, "robot", "revive", "5e55")
    assert (answered.status, world.gate.executed) == (75, [])
    assert "goes on in pane 2" in answered.envelope["error"]["message"]


async def test_all_show_their_plan_and_need_a_yes(world):
    answered = await run_command(world, "revive", "--all")
    assert (answered.status, world.gate.executed) == (2, [])
    assert "bring 2 sessions back?" in answered.question
    assert "codex resume 0197" in answered.question
    plan = await run_command(world, "robot", "revive", "--all", "--dry-run")
    assert [(item["session"], item["status"]) for item in plan.envelope["data"]["items"]] == [
        (40, "planned"),
        (41, "planned"),
    ]


async def test_all_are_tried_whatever_happens_to_one(world):
    real, errors = world.gate.run, [Refused("the policy forbids it")]

    async def do(action, terms):
        if errors:
            raise errors.pop()
        return await real(action, terms)

    world.gate.do = do
    answered = await run_command(world, "robot", "revive", "--all", "--yes", "--verify-secs", "0")
    items = answered.envelope["data"]["items"]
    assert [(item["status"], item["why"][:10]) for item in items] == [
        ("failed", "the policy"),
        ("started", "it was not"),
    ]
    assert answered.status == 75


async def test_those_that_live_are_skipped_in_the_plan(world):
    comes_up(world, "0196")
    answered = await run_command(world, "robot", "revive", "--all", "--dry-run")
    assert [item["status"] for item in answered.envelope["data"]["items"]] == ["skipped", "planned"]


async def test_old_ones_are_left_and_nothing_is_asked_where_nothing_broke_off(world):
    await world.clock.advance(3 * 86_400)
    answered = await run_command(world, "revive", "--all")
    assert (answered.status, answered.out) == (0, "No session broke off.\n")


@pytest.mark.parametrize("words", [(), ("40", "--all")])
async def test_one_or_all_must_be_said(world, words):
    answered = await run_command(world, "robot", "revive", *words)
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")


async def test_an_unknown_one_is_said(world):
    assert (await run_command(world, "robot", "revive", "nobody")).status == 4


async def test_one_that_broke_off_and_cannot_be_taken_up_is_not_passed_over_in_silence(world):
    over = next(one for one in world.agents.stored_sessions if one.id == 40)
    world.agents.stored_sessions[:] = [replace(over, external_id="", resume=())]
    answered = await run_command(world, "revive", "--all")
    assert (answered.status, answered.out.strip()) == (
        0,
        "skipped session 40 of codex in /src: its agent told no session by which it could be taken up again",
    )
    assert world.gate.executed == []
