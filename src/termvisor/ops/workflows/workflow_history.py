"""The op `workflow_history`: one run, step by step."""

from msgspec import Struct

from termvisor.model.workflow.run import RunId
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, table
from termvisor.ops.workflows._run_item import STEP_COLUMNS, RunItem, RunNumber, StepItem, headline, run_item, step_item


class WorkflowHistory(Struct, frozen=True, kw_only=True):
    """Which run."""

    run: RunNumber


class RunHistory(Struct, frozen=True, kw_only=True):
    """What is on record of a run; every step was stored before it was taken, and again with what came of it."""

    run: RunItem
    steps: tuple[StepItem, ...]


async def run(world: World, wanted: WorkflowHistory) -> RunHistory:
    found, steps = await world.runs.one(RunId(wanted.run))
    return RunHistory(run=run_item(found, world.clock.now()), steps=tuple(map(step_item, steps)))


def plain(history: RunHistory, look: Look) -> str:
    rows = table(STEP_COLUMNS, history.steps, look) if history.steps else "No step was taken."
    plan = [history.run.plan] if history.run.plan else []
    return rows if look.is_quiet else "\n".join([headline(history.run), *plan, "", rows])


OP = Op(
    name="workflow_history",
    summary="One run, step by step: what it wanted, what came of it.",
    doc="""Inputs and outputs are redacted. The step `end` says how its work ended; what follows it is its cleanup. The
whole story of an act is in `visor audit --correlation`, under the `correlation` that its step names.""",
    Input=WorkflowHistory,
    Output=RunHistory,
    run=run,
    plain=plain,
    exits=((4, "There is no such run."),),
    examples=(Example("workflow history 3", "for people"), Example("robot workflow history 3", "as JSON")),
)
