"""Permission requests of agents, with an in-memory gate."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.errors import Conflict, Refused
from termvisor.model.action.action import Action, AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.hooks import ToolFinished, encode_tool_input
from termvisor.ops.approvals.hook_permission import HookPermissionArgs, PermissionAnswer, run
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices, build_shell_facts

REQUEST = json.dumps({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}})
ALLOWED = Outcome(status="done", why="allow", text="yes", correlation="c1")


class WaitingGate:
    """A gate that never answers."""

    def __init__(self) -> None:
        self.is_cancelled = False

    async def run(self, _action: Action, _preconditions: Preconditions) -> Outcome:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            self.is_cancelled = True


@pytest.fixture
async def services() -> FakeServices:
    return FakeServices()


async def request_permission(services: FakeServices, agent: str = "claude_code", **more: object) -> PermissionAnswer:
    return await run(services, HookPermissionArgs(agent=agent, text=REQUEST, **more))


async def test_the_answer_is_the_outcome_of_the_gate(services: FakeServices) -> None:
    services.gate.outcome = ALLOWED
    answer = await request_permission(services, wait_secs=20)
    assert (answer.decision, answer.text, answer.correlation) == ("allow", "yes", "c1")
    action, preconditions = services.gate.executed[0]
    assert isinstance(action, AnswerAgent)
    assert (action.command, action.pane, preconditions.wait_for_answer) == ("make", None, 20)


async def test_without_an_answer_the_error_is_raised(services: FakeServices) -> None:
    services.gate.error = Refused("no answer in time")
    with pytest.raises(Refused, match="no answer"):
        await request_permission(services)


async def test_the_pane_is_found_by_the_agent_session_or_the_tmux_pane(services: FakeServices) -> None:
    services.gate.outcome = ALLOWED
    other, own = services.add_pane(build_shell_facts("%4")), services.add_pane(build_shell_facts("%5"))
    where = {"tmux": f"{own.instance.server.socket},12,0", "tmux_pane": "%5"}
    await request_permission(services, **where)
    await request_permission(services, agent="codex", **where)
    services.agents.start_agent(other.id)
    services.agents.set_usage(other.id, services.agents.views_by_pane[other.id].session.usage, external_id="s1")
    await request_permission(services, **where)
    assert [action.pane for action, _ in services.gate.executed] == [own.id, None, other.id]


async def test_an_answer_in_the_agents_own_dialog_ends_the_request(services: FakeServices, monkeypatch) -> None:
    gate = WaitingGate()
    monkeypatch.setattr(services, "gate", gate)
    pane = services.add_pane(build_shell_facts("%5"))
    services.agents.start_agent(pane.id)
    services.agents.set_usage(pane.id, services.agents.views_by_pane[pane.id].session.usage, external_id="s1")
    asking = asyncio.ensure_future(request_permission(services))
    await let_tasks_run()
    for state in ("running", "waiting_approval", "unknown"):
        services.agents.set_state(pane.id, state)
        await let_tasks_run()
        assert not asking.done()
    services.agents.set_state(pane.id, "running")
    with pytest.raises(Conflict, match="answered in the agent's own dialog"):
        await asking
    assert gate.is_cancelled


async def test_the_request_whose_tool_ended_is_withdrawn(services: FakeServices, monkeypatch) -> None:
    monkeypatch.setattr(services, "gate", WaitingGate())
    asking = asyncio.ensure_future(request_permission(services))
    await let_tasks_run()
    now = services.clock.now()
    mine = ToolFinished(session="s1", tool="Bash", given=encode_tool_input({"command": "make"}), at=now)
    others = (
        replace(mine, session="s2"),
        replace(mine, tool="Read"),
        replace(mine, given=encode_tool_input({"command": "make all"})),
        replace(mine, at=now - 5 * NS),
    )
    for end in others:
        services.agents.tool_end_bus.publish(end)
    await let_tasks_run()
    assert not asking.done()
    services.agents.tool_end_bus.publish(mine)
    with pytest.raises(Conflict, match="answered in the agent's own dialog"):
        await asking


async def test_a_finished_agent_withdraws_its_request_even_if_it_was_never_seen_waiting(
    services: FakeServices, monkeypatch
) -> None:
    monkeypatch.setattr(services, "gate", WaitingGate())
    pane, other = services.add_pane(build_shell_facts("%5")), services.add_pane(build_shell_facts("%6"))
    for one in (pane, other):
        services.agents.start_agent(one.id)
    services.agents.set_state(pane.id, "idle")
    asking = asyncio.ensure_future(
        request_permission(services, tmux=f"{pane.instance.server.socket},1,0", tmux_pane="%5")
    )
    await let_tasks_run()
    services.agents.set_state(other.id, "completed")
    await let_tasks_run()
    assert not asking.done()
    services.agents.set_state(pane.id, "completed")
    with pytest.raises(Conflict):
        await asking


async def test_a_cancelled_hook_withdraws_its_request(services: FakeServices, monkeypatch) -> None:
    gate = WaitingGate()
    monkeypatch.setattr(services, "gate", gate)
    asking = asyncio.ensure_future(request_permission(services))
    await let_tasks_run()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert gate.is_cancelled
