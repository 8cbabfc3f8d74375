from termvisor.model.action.action import Attach
from termvisor.model.action.outcome import Outcome
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_the_one_that_needs_a_person_most_is_named_with_its_need() -> None:
    answered = await run_command(await build_sample_services(op="next"), "next")
    assert answered.out.splitlines() == [
        "pane 2 (agents %4), claude_code: waiting approval",
        "It asks for permission, for 1m: fix the tests",
        "`visor next --go` goes there, `visor explain 2` says why.",
    ]
    assert (await run_command(await build_sample_services(op="next"), "next", "-q")).out == "2\n"


async def test_when_nobody_needs_a_person_that_is_no_error() -> None:
    answered = await run_command(FakeServices(), "next")
    assert (answered.out, answered.status) == ("Nobody needs you.\n", 0)
    assert (await run_command(FakeServices(), "next", "-q")).out == ""
    assert (await run_command(FakeServices(), "robot", "next")).envelope["data"]["found"] is None


async def test_others_are_found_by_passing_over_the_first() -> None:
    world = await build_sample_services(op="next")
    assert (await run_command(world, "next", "--skip", "1")).out == "Nobody else needs you.\n"
    world.agents.set_state(world.panes.views[3].id, "error")
    data = (await run_command(world, "robot", "next", "--skip", "1")).envelope["data"]
    assert (data["found"]["identity"]["id"], data["found"]["needs"], data["waiting"]) == (4, "see_error", 2)


async def test_to_go_there_is_an_action_like_any_other() -> None:
    world = await build_sample_services(op="next")
    world.gate.outcome = Outcome(status="done", correlation="c0ffee")
    data = (await run_command(world, "robot", "next", "--go", "--owner", "alice")).envelope["data"]
    action, terms = world.gate.executed[-1]
    assert (action, terms.owner) == (Attach(pane=world.panes.views[1].id), "alice")
    assert data["attached"]["outside"][:2] == ["tmux", "-S"]


async def test_without_go_nothing_is_done() -> None:
    world = await build_sample_services(op="next")
    await run_command(world, "next")
    assert world.gate.executed == []


async def test_what_would_be_decided_can_be_asked_before() -> None:
    world = await build_sample_services(op="next")
    assert (await run_command(world, "policy", "explain", "--", "next", "--go")).status == 0
    assert (await run_command(FakeServices(), "policy", "explain", "--", "next", "--go")).status == 4
