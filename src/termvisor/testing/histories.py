"""Recorded histories: what a run once asked for and got. A workflow that no longer asks for the same is found here."""

import msgspec
from msgspec import Struct

from termvisor.errors import Diverged
from termvisor.model.workflow.run import Run, Step
from termvisor.testing.world import StillClock
from termvisor.workflows.calls import Call, Came
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import split
from termvisor.workflows.engine.journaled_calls import Going, Journaled, Last
from termvisor.workflows.files.loader import Reader
from termvisor.workflows.files.yaml_source import parse
from termvisor.workflows.workflow import Workflow, installed


class History(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``source`` is the file of a workflow that is one; built-in ones are found by the run's workflow."""

    run: Run
    steps: list[Step]
    source: str = ""

    def workflow(self) -> Workflow:
        if self.source:
            return Reader(parse("workflow.yaml", self.source)).workflow()
        return next(one for one in installed()[0] if one.name == self.run.workflow)


class Nobody:
    """Nothing is taken in a replay, and nothing is written."""

    async def prepare(self, run: Run, call: Call, last: Last) -> str:
        return ""

    async def take(self, call: Call, going: Going) -> Came:
        raise Diverged(f"the run asks for more than its history holds: {going.step.kind} {going.step.name}")

    async def put(self, run: int, step: Step) -> None:
        return None


async def replay(history: History) -> None:
    """Raises ``Diverged`` where the workflow asks for something else than it did."""
    workflow, nobody = history.workflow(), Nobody()
    if workflow.version != history.run.version:
        raise Diverged(f"{workflow.name} is version {workflow.version}, the history is of {history.run.version}")
    work, end, cleaning = split(history.steps)
    for function, steps in ((workflow.run, work), (workflow.cleanup, cleaning)):
        if function is None:
            continue
        effects = Journaled(history.run, steps, nobody, nobody, StillClock())
        try:
            await function(Context(history.run, None, effects))
        except StepBack:
            pass
        except Exception:
            if effects.closed is not None or end is None or end.status == "completed":
                raise
        effects.finish()


def read(data: bytes) -> History:
    return msgspec.json.decode(data, type=History)


def write(history: History) -> bytes:
    return msgspec.json.format(msgspec.json.encode(history), indent=1) + b"\n"
