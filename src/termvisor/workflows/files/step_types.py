"""The step types of workflow files, executed through a ``Context``."""

import re
from collections.abc import Sequence

from msgspec import Struct

from termvisor.errors import NotDone
from termvisor.model.agent.state import StateName
from termvisor.regex import compile_patterns
from termvisor.workflows.calls import SpawnRequest, WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import Observation

CAPTURE_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""A placeholder for a capture of the event in a text for people: `{{ resets_at }}`."""


class WaitStableStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="wait_stable"):
    seconds: float
    timeout: float = 600.0


class WaitForStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="wait_for"):
    what: WaitFor


class SendTextStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="send"):
    text: str
    enter: bool = True


class PressKeysStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="keys"):
    keys: tuple[str, ...]


class AskPersonStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="ask"):
    """The run continues only with the first choice, unless ``goes_on`` leaves the answer to a branch."""

    question: str
    choices: tuple[str, ...] = ("yes", "no")
    expires: float = 600.0
    goes_on: bool = False


class NotifyStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="notify"):
    text: str
    title: str = ""


class BranchCondition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A condition in which all given fields must match."""

    text: str = ""
    pattern: str = ""
    state: tuple[StateName, ...] = ()
    agent: str = ""
    answer: str = ""
    """The choice of the last `ask`."""


class BranchStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="branch"):
    condition: BranchCondition
    then: tuple["FileStep", ...] = ()
    otherwise: tuple["FileStep", ...] = ()


class RunProgramStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="run"):
    command: tuple[str, ...]
    cwd: str = ""


class SleepStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="sleep"):
    seconds: float


class NoteStep(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="note"):
    text: str


FileStep = (
    WaitStableStep
    | WaitForStep
    | SendTextStep
    | PressKeysStep
    | AskPersonStep
    | NotifyStep
    | BranchStep
    | RunProgramStep
    | SleepStep
    | NoteStep
)


class FileWorkflow:
    """Executes steps in sequence."""

    def __init__(self, name: str, steps: Sequence[FileStep], rechecks: bool = True):
        self._name, self._steps, self._rechecks = name, steps, rechecks

    async def run(self, context: Context) -> str | None:
        if self._rechecks and context.run.event is not None:
            # The event may be minutes old when the run gets its turn.
            check = await context.still()
            if not check.is_so:
                raise StepBack(f"the event is over: {check.why}")
        await _StepPlayer(self._name, context).run_steps(self._steps)
        return f"{len(self._steps)} steps done"


class _StepPlayer:
    def __init__(self, name: str, context: Context):
        self._name, self._context = name, context
        self._last_choice = ""

    async def run_steps(self, steps: Sequence[FileStep]) -> None:
        for step in steps:
            await self._run_step(step)

    async def _run_step(self, step: FileStep) -> None:
        context = self._context
        if isinstance(step, WaitStableStep):
            await context.wait_stable(step.seconds, step.timeout)
        elif isinstance(step, WaitForStep):
            await context.wait_for(step.what)
        elif isinstance(step, BranchStep):
            is_met = await self._check_condition(step.condition)
            await self.run_steps(step.then if is_met else step.otherwise)
        elif isinstance(step, AskPersonStep):
            await self._ask_person(step)
        elif isinstance(step, PressKeysStep):
            (await context.keys(*step.keys)).require_certain()
        elif isinstance(step, RunProgramStep):
            (await context.act(SpawnRequest(command=step.command, cwd=step.cwd))).require_certain()
        elif isinstance(step, SleepStep):
            await context.sleep(step.seconds)
        elif isinstance(step, NoteStep):
            await context.note(self._fill_captures(step.text))
        elif isinstance(step, NotifyStep):
            await self._notify_person(step)
        elif isinstance(step, SendTextStep):
            (await context.send(step.text, enter=step.enter)).require_certain()

    async def _notify_person(self, step: NotifyStep) -> None:
        try:
            await self._context.notify(self._fill_captures(step.title or self._name), self._fill_captures(step.text))
        except NotDone as error:
            if error.status != "failed":  # a failed channel does not stop the run, but a denied notification does
                raise

    async def _ask_person(self, step: AskPersonStep) -> None:
        answer = await self._context.ask_person(self._fill_captures(step.question), step.choices, step.expires)
        self._last_choice = answer.choice
        # A question without a following branch is a confirmation.
        if not step.goes_on and answer.choice != step.choices[0]:
            raise StepBack(f"a person answered {answer.choice}" if answer.choice else "no answer in time")

    async def _check_condition(self, condition: BranchCondition) -> bool:
        if condition.answer:
            return condition.answer == self._last_choice
        return is_condition_met(condition, await self._context.observe())

    def _fill_captures(self, text: str) -> str:
        facts = self._context.facts
        return CAPTURE_PLACEHOLDER.sub(lambda match: str(facts.get(match[1], f"({match[1]} is not known)")), text)


def is_condition_met(condition: BranchCondition, observation: Observation) -> bool:
    rows = "\n".join((*observation.lines, *observation.screen))
    matcher = compile_patterns({"expression": condition.pattern}, "re2") if condition.pattern else None
    return (
        (not condition.text or condition.text in rows)
        and (matcher is None or bool(matcher.find_ids(rows.encode("utf-8", "replace"))))
        and (not condition.state or observation.state in condition.state)
        and (not condition.agent or observation.agent == condition.agent)
    )
