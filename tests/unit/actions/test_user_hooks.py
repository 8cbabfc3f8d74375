"""Real programs are asked; whatever they do wrong is a no."""

import os

import msgspec
import pytest

from termvisor.actions.user_hooks import HookInput, ask_hooks, notify_hooks
from termvisor.model.action.action import SendText
from termvisor.model.action.policy import PolicyHook
from termvisor.model.ids import PaneId
from termvisor.policy.request import PaneContext
from tests.unit.actions.test_preconditions import ME

ACTION = SendText(pane=PaneId(1), text="make test")


@pytest.fixture
def program(tmp_path):
    """A shell script as a hook."""

    def make(body: str, **more) -> PolicyHook:
        path = tmp_path / f"hook{len(os.listdir(tmp_path))}"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o700)
        return PolicyHook(id="h", program=(str(path),), **more)

    return make


async def decision(*hooks: PolicyHook) -> list[str]:
    return [one.decision for one in (await ask_hooks(hooks, ACTION, ME, PaneContext())).answers]


@pytest.mark.parametrize(
    ("body", "said"),
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
async def test_a_hook_that_does_not_clearly_answer_says_no(program, body, said):
    assert await decision(program(body, timeout=0.5)) == [said]


async def test_a_program_that_is_missing_says_no():
    assert await decision(PolicyHook(id="h", program=("/no/such/program",))) == ["failed"]


async def test_a_hook_reads_the_action_and_may_want_another(program, tmp_path):
    hook = program(
        f"cat > {tmp_path}/read\n"
        'echo \'{"decision": "modify", "action": {"type": "send_text", "pane": 1, "text": "make check"}}\''
    )
    heard = await ask_hooks([hook, program("exit 1")], ACTION, ME, PaneContext(session="work"))
    assert heard.action == SendText(pane=PaneId(1), text="make check")
    assert [one.decision for one in heard.answers] == ["modify"]
    told = msgspec.json.decode((tmp_path / "read").read_bytes())
    assert (told["stage"], told["action"]["text"], told["place"]["session"]) == ("before", "make test", "work")


async def test_a_hook_is_asked_only_about_its_kinds(program):
    assert await decision(program("exit 1", kinds=("kill",))) == []
    assert await decision(program("exit 1", runs="after")) == []


async def test_afterwards_a_hook_is_told_and_changes_nothing(program, tmp_path):
    hook = program(f"cat > {tmp_path}/read; exit 1", runs="after")
    told = HookInput(stage="after", kind="send_text", action=ACTION, actor=ME, place=PaneContext(), outcome="delivered")
    await notify_hooks([hook], told)
    assert msgspec.json.decode((tmp_path / "read").read_bytes())["outcome"] == "delivered"
