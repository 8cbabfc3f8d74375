"""Policy hooks as real programs; any failure counts as a denial."""

import os

import msgspec
import pytest

from termvisor.actions.policy_check import notify_hooks, run_hooks
from termvisor.model.action.action import SendText
from termvisor.model.action.policy import PolicyHook
from termvisor.model.action.policy_hook import HookInput, PaneContext
from termvisor.model.ids import PaneId
from tests.unit.actions.test_preconditions import ME

ACTION = SendText(pane=PaneId(1), text="make test")


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a shell script as a hook."""

    def write_hook(body: str, **more) -> PolicyHook:
        path = tmp_path / f"hook{len(os.listdir(tmp_path))}"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o700)
        return PolicyHook(id="h", program=(str(path),), **more)

    return write_hook


async def run_decisions(*hooks: PolicyHook) -> list[str]:
    return [answer.decision for answer in (await run_hooks(hooks, ACTION, ME, PaneContext())).answers]


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        ('echo \'{"decision": "allow"}\'', "allow"),
        ('echo \'{"decision": "deny", "reason": "not today"}\'', "deny"),
        ("exit 3", "failed"),
        ("sleep 5", "failed"),
        ("echo nonsense", "failed"),
        ('echo \'{"decision": "perhaps"}\'', "failed"),
        ('echo \'{"decision": "modify"}\'', "failed"),
        ('echo \'{"decision": "modify", "action": {"type": "kill", "pane": 1}}\'', "failed"),
    ],
)
async def test_a_hook_without_a_valid_answer_fails(program, body, decision):
    assert await run_decisions(program(body, timeout=0.5)) == [decision]


async def test_a_hook_may_repeat_the_action_that_satisfies_it(program):
    same = '{"type": "send_text", "pane": 1, "text": "make test"}'
    assert await run_decisions(program(f'echo \'{{"decision": "modify", "action": {same}}}\'')) == ["allow"]


async def test_a_missing_hook_program_fails():
    assert await run_decisions(PolicyHook(id="h", program=("/no/such/program",))) == ["failed"]


async def test_a_hook_reads_the_action_and_may_change_it(program, tmp_path):
    hook = program(
        f"cat > {tmp_path}/read\n"
        'echo \'{"decision": "modify", "action": {"type": "send_text", "pane": 1, "text": "make check"}}\''
    )
    result = await run_hooks([hook, program("exit 1")], ACTION, ME, PaneContext(session="work"))
    assert result.action == SendText(pane=PaneId(1), text="make check")
    assert [answer.decision for answer in result.answers] == ["modify"]
    hook_input = msgspec.json.decode((tmp_path / "read").read_bytes())
    assert (hook_input["stage"], hook_input["action"]["text"], hook_input["place"]["session"]) == (
        "before",
        "make test",
        "work",
    )


async def test_a_hook_runs_only_for_its_kinds(program):
    assert await run_decisions(program("exit 1", kinds=("kill",))) == []
    assert await run_decisions(program("exit 1", runs="after")) == []


async def test_an_after_hook_gets_the_outcome_and_changes_nothing(program, tmp_path):
    hook = program(f"cat > {tmp_path}/read; exit 1", runs="after")
    hook_input = HookInput(
        stage="after", kind="send_text", action=ACTION, actor=ME, place=PaneContext(), outcome="delivered"
    )
    await notify_hooks([hook], hook_input)
    assert msgspec.json.decode((tmp_path / "read").read_bytes())["outcome"] == "delivered"


async def test_a_hook_that_may_not_be_executed_fails(program):
    hook = program('echo \'{"decision": "allow"}\'')
    os.chmod(hook.program[0], 0o600)
    (answer,) = (await run_hooks([hook], ACTION, ME, PaneContext())).answers
    assert (answer.id, answer.decision) == ("h", "failed")
    assert "Permission denied" in answer.reason


async def test_a_hook_that_prints_without_end_is_killed_and_fails(program):
    hook = program('echo "{\\"decision\\": \\"allow\\"}"; yes', timeout=30.0)
    (answer,) = (await run_hooks([hook], ACTION, ME, PaneContext())).answers
    assert (answer.decision, "printed more than 1048576 bytes" in answer.reason) == ("failed", True)
