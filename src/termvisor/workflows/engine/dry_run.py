"""A rehearsal: a workflow runs against the live pane, and nothing is done. What it waits for is taken for granted."""

import asyncio
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import Clock
from termvisor.errors import Conflict, VisorError
from termvisor.log import logger
from termvisor.model.detection.detection import Detection
from termvisor.model.workflow.info import Rehearsed
from termvisor.model.workflow.run import Run, Step
from termvisor.workflows.calls import (
    Act,
    Answer,
    Ask,
    Call,
    Came,
    Conversation,
    Deed,
    Keep,
    Met,
    Moment,
    Note,
    Nothing,
    Now,
    Observation,
    Pause,
    Paused,
    SleepUntil,
    WaitFor,
)
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import given_of, kind_of, name_of
from termvisor.workflows.engine.journaled_calls import Going
from termvisor.workflows.engine.run_task import is_cancelled
from termvisor.workflows.engine.services import Hands
from termvisor.workflows.steps.act import actor_of, is_asked
from termvisor.workflows.steps.dispatch import Steps
from termvisor.workflows.workflow import Workflow

_MOST = 100
_TAKES_FOR = 20.0
log = logger("workflow")


class Rehearsal:
    def __init__(self, run: Run, steps: Steps, hands: Hands, clock: Clock):
        self._run, self._steps, self._hands, self._clock = run, steps, hands, clock
        self._at = clock.now()
        self._granted: dict[str, Any] = {}
        """What of the pane is as it was waited for: whoever looks then sees it so."""
        self.told: list[Rehearsed] = []

    async def do(self, call: Call) -> Came:
        if len(self.told) >= _MOST:
            await asyncio.sleep(0)  # one that goes on all the same keeps nobody else from their work
            raise Conflict(f"a rehearsal ends after {_MOST} steps")
        step = Rehearsed(number=len(self.told), kind=kind_of(call), name=name_of(call), given=given_of(call))
        if isinstance(call, Act):
            return await self._act(call, step)
        came, assumed = self._assumed(call)
        self._tell(step, assumed=assumed)
        if came is not None:
            return came
        seen = await self._steps.take(call, self._going())
        return replace(seen, **self._granted) if isinstance(seen, Observation) else seen

    async def _act(self, call: Act, step: Rehearsed) -> Deed:
        try:
            action, terms = await self._steps.deeds.prepared(self._run, call)
            asks = self._steps.deeds.mode(self._run) == "ask" and is_asked(action)
            wanted = replace(terms, asks=asks)
            verdict, refused = await self._hands.try_out(action, actor_of(self._run), wanted)
        except VisorError as error:
            self._tell(step, refused=error.message)
        else:
            self._tell(step, verdict=verdict, refused=refused)
        return Deed(status="delivered", why="rehearsed", at=self._at)

    def _assumed(self, call: Call) -> tuple[Came | None, str]:
        """What is taken for granted; None where the world itself is looked at."""
        if isinstance(call, WaitFor):
            self._granted |= _granted(call)
            return _met(call), "it comes"
        if isinstance(call, Ask):
            return Answer(choice=call.choices[0], why="rehearsed"), f"a person says {call.choices[0]}"
        if isinstance(call, SleepUntil | Pause):
            until = call.at if isinstance(call, SleepUntil) else call.until
            self._at = max(self._at, until or self._at)
            return Moment(at=self._at) if isinstance(call, SleepUntil) else Paused(why="due"), "the time passes"
        if isinstance(call, Now):
            return Moment(at=self._at), ""
        if isinstance(call, Keep):
            return Conversation(id=call.session), "it is put on record"
        return (Nothing(), "") if isinstance(call, Note) else (None, "")

    def _going(self) -> Going:
        return Going(run=self._run, step=Step(number=len(self.told), kind="rehearsal", at=self._at))

    def _tell(self, step: Rehearsed, **more: object) -> None:
        self.told.append(replace(step, **more))


class Ending(Struct, frozen=True):
    steps: tuple[Rehearsed, ...]
    why: str


async def rehearse(workflow: Workflow, rehearsal: Rehearsal, run: Run, trigger: Detection | None = None) -> Ending:
    """All steps that it would take, and how it would end."""
    try:
        async with asyncio.timeout(_TAKES_FOR):
            told = await workflow.run(Context(run, trigger, rehearsal))
        why = str(told or "it would end here")
    except StepBack as error:
        why = f"it would step back: {error}"
    except TimeoutError:
        why = f"it took longer than {_TAKES_FOR:g} s"
    except VisorError as error:
        why = f"it would end here: {error.message}"
    except (Exception, KeyboardInterrupt, SystemExit, asyncio.CancelledError) as error:  # workflows are foreign code
        if is_cancelled(error):
            raise
        log.error("the workflow %s failed in a rehearsal", workflow.name, exc_info=error)
        why = f"it would fail: {type(error).__name__}: {error}".removesuffix(": ")
    return Ending(tuple(rehearsal.told), why)


def _granted(call: WaitFor) -> dict[str, Any]:
    if call.state:
        return {"state": call.state[0]}
    if call.prompt:
        return {"activity": "prompt", "is_alternate": False}
    return {call.cleared: False} if call.cleared else {}


def _met(call: WaitFor) -> Met:
    text = call.text or call.pattern or call.rule or call.signal or "".join(call.state[:1])
    return msgspec.convert({"what": name_of(call), "text": text}, Met)
