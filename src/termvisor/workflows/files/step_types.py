"""The steps that a file may hold, and what each of them does with a Context."""

import re
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from termvisor.errors import NotDone
from termvisor.model.agent.state import StateName
from termvisor.regex import compile_patterns
from termvisor.workflows.calls import Observation, Start, WaitFor
from termvisor.workflows.context import Context, StepBack

FACT = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""A capture of the event in a text that people read: `{{ resets_at }}`."""


class WaitStable(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="wait_stable"):
    seconds: float
    timeout: float = 600.0


class Await(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="wait_for"):
    what: WaitFor


class SendLine(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="send"):
    text: str
    enter: bool = True


class Keys(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keys"):
    keys: tuple[str, ...]


class AskThem(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="ask"):
    """The run goes on with the first choice only, unless a branch asks for the answer."""

    question: str
    choices: tuple[str, ...] = ("yes", "no")
    expires: float = 600.0
    goes_on: bool = False


class TellThem(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="notify"):
    text: str
    title: str = ""


class Condition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that is given must hold."""

    text: str = ""
    pattern: str = ""
    state: tuple[StateName, ...] = ()
    agent: str = ""
    answer: str = ""
    """The choice of the last `ask`."""


class Branch(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="branch"):
    condition: Condition
    then: tuple["ScriptStep", ...] = ()
    otherwise: tuple["ScriptStep", ...] = ()


class RunIt(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="run"):
    """A program in a new window of the pane's session."""

    command: tuple[str, ...]
    cwd: str = ""


class Sleep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="sleep"):
    seconds: float


class Remark(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="note"):
    text: str


ScriptStep = WaitStable | Await | SendLine | Keys | AskThem | TellThem | Branch | RunIt | Sleep | Remark


class Script:
    """Runs steps one after the other."""

    def __init__(self, name: str, steps: Sequence[ScriptStep], checks: bool = True):
        self._name, self._steps, self._checks = name, steps, checks

    async def run(self, context: Context) -> str | None:
        if self._checks and context.run.event is not None:
            held = await context.still()
            if not held.is_so:
                raise StepBack(f"what started it is over: {held.why}")
        await _Player(self._name, context).play(self._steps)
        return f"{len(self._steps)} steps done"


class _Player:
    def __init__(self, name: str, context: Context):
        self._name, self._context = name, context
        self._answer = ""

    async def play(self, steps: Sequence[ScriptStep]) -> None:
        for step in steps:
            await self._step(step)

    async def _step(self, step: ScriptStep) -> None:
        context = self._context
        if isinstance(step, WaitStable):
            await context.wait_stable(step.seconds, step.timeout)
        elif isinstance(step, Await):
            await context.wait_for(step.what)
        elif isinstance(step, Branch):
            holds = await self._holds(step.condition)
            await self.play(step.then if holds else step.otherwise)
        elif isinstance(step, AskThem):
            await self._ask(step)
        elif isinstance(step, SendLine):
            await self._sure(context.send(step.text, enter=step.enter))
        else:
            await self._other(step)

    async def _other(self, step: ScriptStep) -> None:
        context = self._context
        deeds: dict[type, Callable[..., Awaitable[object]]] = {
            Keys: lambda one: self._sure(context.keys(*one.keys)),
            TellThem: self._tell,
            RunIt: lambda one: self._sure(context.act(Start(command=one.command, cwd=one.cwd))),
            Sleep: lambda one: context.sleep(one.seconds),
            Remark: lambda one: context.note(self._filled(one.text)),
        }
        await deeds[type(step)](step)

    async def _sure(self, sent: Awaitable[object]) -> None:
        """What may or may not have been done ends the run: what follows would build on it."""
        status = getattr(await sent, "status", "")
        if status in ("unknown", "typed_not_submitted"):
            details = {"status": "failed", "why": status}
            raise NotDone(f"it is {status.replace('_', ' ')} whether it was taken; look at the pane", details=details)

    async def _tell(self, step: TellThem) -> None:
        """A way that does not work is no reason to stop; one that is forbidden is."""
        try:
            await self._context.notify(self._filled(step.title or self._name), self._filled(step.text))
        except NotDone as error:
            if error.status != "failed":
                raise

    async def _ask(self, step: AskThem) -> None:
        answer = await self._context.ask_person(self._filled(step.question), step.choices, step.expires)
        self._answer = answer.choice
        if not step.goes_on and answer.choice != step.choices[0]:
            raise StepBack(f"a person said {answer.choice}" if answer.choice else "nobody answered in time")

    async def _holds(self, condition: Condition) -> bool:
        if condition.answer:
            return condition.answer == self._answer
        return holds(condition, await self._context.observe())

    def _filled(self, text: str) -> str:
        facts = self._context.facts
        return FACT.sub(lambda found: str(facts.get(found[1], f"({found[1]} is not known)")), text)


def holds(condition: Condition, seen: Observation) -> bool:
    """Pure."""
    rows = "\n".join((*seen.lines, *seen.screen))
    matcher = compile_patterns({"wanted": condition.pattern}, "re2") if condition.pattern else None
    return (
        (not condition.text or condition.text in rows)
        and (matcher is None or bool(matcher.ids(rows.encode("utf-8", "replace"))))
        and (not condition.state or seen.state in condition.state)
        and (not condition.agent or seen.agent == condition.agent)
    )
