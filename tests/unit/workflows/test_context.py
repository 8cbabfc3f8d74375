"""What a workflow may ask for, and how."""

import pytest

from termvisor.errors import BadRequest
from termvisor.model.action.action import Kill
from termvisor.model.ids import PaneId
from termvisor.model.workflow.run import Run, RunId
from termvisor.workflows import calls as call
from termvisor.workflows.calls import Act, Ask, Note, Pause, Press, Retry, SendTo, SleepUntil, Start, Tell, WaitFor
from termvisor.workflows.context import Context

RUN = Run(id=RunId(1), workflow="w", at=0, correlation="c", facts={"who": "me"})


class Effects:
    """Keeps what is asked for."""

    def __init__(self) -> None:
        self.calls: list[call.Call] = []

    async def do(self, wanted):
        self.calls.append(wanted)
        made = {call.Now: call.Moment(at=5), call.SleepUntil: call.Moment(at=9)}
        return made.get(type(wanted), call.Nothing())


async def test_every_wish_is_one_call():
    effects = Effects()
    context = Context(RUN, None, effects)
    await context.send("a")
    await context.keys("Up", "Enter")
    await context.interrupt()
    await context.spawn(["make"], cwd="/x")
    await context.notify("t", "x")
    await context.act(Kill(pane=PaneId(1)), Retry(times=1))
    await context.wait_stable(2)
    await context.wait_state("idle", timeout=5)
    await context.ask_person("?")
    await context.pause("plan", 7)
    await context.note("n")
    assert await context.sleep(1) == 9
    assert effects.calls == [
        Act(wish=SendTo(text="a")),
        Act(wish=Press(keys=("Up", "Enter"))),
        Act(wish=Press(keys=("C-c",))),
        Act(wish=Start(command=("make",), cwd="/x")),
        Act(wish=Tell(title="t", text="x")),
        Act(action=Kill(pane=PaneId(1)), retry=Retry(times=1)),
        WaitFor(quiet=2, timeout=600.0),
        WaitFor(state=("idle",), timeout=5),
        Ask(question="?"),
        Pause(plan="plan", until=7),
        Note(text="n"),
        call.Now(),
        SleepUntil(at=1_000_000_005),
    ]
    assert context.facts == {"who": "me"}


@pytest.mark.parametrize("choices", [("one",), ("a", "a"), ("a", "")])
async def test_a_question_has_different_choices(choices):
    with pytest.raises(BadRequest):
        await Context(RUN, None, Effects()).ask_person("?", choices)
