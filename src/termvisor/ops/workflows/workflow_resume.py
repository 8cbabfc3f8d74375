"""The op `workflow_resume`: let a run go on: one that is held, or one in its own pause."""

from msgspec import Struct

from termvisor.model.workflow.info import RunChange
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.workflows._run_change import EXITS, ChangedRun, changed, plain
from termvisor.ops.workflows._run_item import RunNumber


class ResumeRun(Struct, frozen=True, kw_only=True):
    """Which run."""

    run: RunNumber


async def run(world: ActingWorld, wanted: ResumeRun) -> ChangedRun:
    return await changed(world, wanted.run, RunChange(kind="resume"))


OP = Op(
    name="workflow_resume",
    summary="Let a run go on: one that is held, or one in its own pause.",
    doc="""A run in a pause of its own goes on at once, before the time of its plan. Whatever it does then is judged,
and where needed asked about, as ever.""",
    Input=ResumeRun,
    Output=ChangedRun,
    run=run,
    plain=plain,
    effect="change",
    exits=EXITS,
    examples=(
        Example("workflow resume 3", "go on"),
        Example("robot workflow resume 3", "as JSON"),
    ),
)
