from termvisor.model.action.action import Attach
from termvisor.model.action.outcome import Outcome
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_the_most_urgent_agent_is_shown_with_its_need() -> None:
    result = await run_command(await build_sample_services(op="next"), "next")
    assert result.out.splitlines() == [
        "pane 2 (agents %4), claude_code: waiting approval",
        "It asks for permission, for 1m: fix the tests",
        "`visor next --go` attaches to it, `visor explain 2` shows why.",
    ]
    assert (await run_command(await build_sample_services(op="next"), "next", "-q")).out == "2\n"


async def test_no_waiting_agent_is_not_an_error() -> None:
    result = await run_command(FakeServices(), "next")
    assert (result.out, result.status) == ("No agent needs you.\n", 0)
    assert (await run_command(FakeServices(), "next", "-q")).out == ""
    assert (await run_command(FakeServices(), "robot", "next")).envelope["data"]["found"] is None


async def test_skip_shows_the_next_waiting_agent() -> None:
    services = await build_sample_services(op="next")
    assert (await run_command(services, "next", "--skip", "1")).out == "No other agent needs you.\n"
    services.agents.set_state(services.views[3].id, "error")
    data = (await run_command(services, "robot", "next", "--skip", "1")).envelope["data"]
    assert (data["found"]["identity"]["id"], data["found"]["needs"], data["waiting"]) == (4, "see_error", 2)


async def test_go_attaches_through_the_gate() -> None:
    services = await build_sample_services(op="next")
    services.gate.outcome = Outcome(status="done", correlation="c0ffee")
    data = (await run_command(services, "robot", "next", "--go", "--owner", "alice")).envelope["data"]
    action, preconditions = services.gate.executed[-1]
    assert (action, preconditions.owner) == (Attach(pane=services.views[1].id), "alice")
    assert data["attached"]["outside"][:2] == ["tmux", "-S"]


async def test_without_go_no_action_is_executed() -> None:
    services = await build_sample_services(op="next")
    await run_command(services, "next")
    assert services.gate.executed == []


async def test_the_action_of_go_can_be_explained() -> None:
    services = await build_sample_services(op="next")
    assert (await run_command(services, "policy", "explain", "--", "next", "--go")).status == 0
    assert (await run_command(FakeServices(), "policy", "explain", "--", "next", "--go")).status == 4
