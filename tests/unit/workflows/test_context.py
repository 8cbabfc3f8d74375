"""The calls that Context methods make."""

import pytest

from termvisor.errors import BadRequest
from termvisor.model.action.action import Kill
from termvisor.model.ids import PaneId
from termvisor.model.workflow import Run, RunId
from termvisor.workflows import calls
from termvisor.workflows.calls import (
    ActionCall,
    AskPersonCall,
    NoteCall,
    NotifyRequest,
    PauseCall,
    PressKeysRequest,
    RetryPolicy,
    SendTextRequest,
    SleepUntilCall,
    SpawnRequest,
    WaitFor,
)
from termvisor.workflows.context import Context

RUN = Run(id=RunId(1), workflow="w", at=0, correlation="c", facts={"who": "me"})


class ScriptedExecutor:
    """Records the calls."""

    def __init__(self) -> None:
        self.calls: list[calls.WorkflowCall] = []

    async def execute(self, wanted):
        self.calls.append(wanted)
        made = {calls.ClockCall: calls.ClockReading(at=5), calls.SleepUntilCall: calls.ClockReading(at=9)}
        return made.get(type(wanted), calls.EmptyResult())


async def test_every_context_method_is_one_call():
    effects = ScriptedExecutor()
    context = Context(RUN, None, effects)
    await context.send("a")
    await context.keys("Up", "Enter")
    await context.interrupt()
    await context.spawn(["make"], cwd="/x")
    await context.notify("t", "x")
    await context.act(Kill(pane=PaneId(1)), RetryPolicy(times=1))
    await context.wait_stable(2)
    await context.wait_state("idle", timeout=5)
    await context.ask_person("?")
    await context.pause("plan", 7)
    await context.note("n")
    assert await context.sleep(1) == 9
    assert effects.calls == [
        ActionCall(wish=SendTextRequest(text="a")),
        ActionCall(wish=PressKeysRequest(keys=("Up", "Enter"))),
        ActionCall(wish=PressKeysRequest(keys=("C-c",))),
        ActionCall(wish=SpawnRequest(command=("make",), cwd="/x")),
        ActionCall(wish=NotifyRequest(title="t", text="x")),
        ActionCall(action=Kill(pane=PaneId(1)), retry=RetryPolicy(times=1)),
        WaitFor(quiet=2, timeout=600.0),
        WaitFor(state=("idle",), timeout=5),
        AskPersonCall(question="?"),
        PauseCall(plan="plan", until=7),
        NoteCall(text="n"),
        calls.ClockCall(),
        SleepUntilCall(at=1_000_000_005),
    ]
    assert context.facts == {"who": "me"}


@pytest.mark.parametrize("choices", [("one",), ("a", "a"), ("a", "")])
async def test_a_question_needs_several_distinct_choices(choices):
    with pytest.raises(BadRequest):
        await Context(RUN, None, ScriptedExecutor()).ask_person("?", choices)
