"""The op `workflow_signal`: say a word to a run that waits for it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.workflow.info import RunChange
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.workflows._run_change import EXITS, ChangedRun, changed, plain
from termvisor.ops.workflows._run_item import RunNumber

RESERVED = ("cancel", "resume")


class SignalRun(Struct, frozen=True, kw_only=True):
    """A run that waits for this very word goes on; of a question, the word is one of its choices."""

    run: RunNumber
    word: Annotated[str, Meta(description="The word.", min_length=1, max_length=200, extra={"positional": "one"})]
    value: Annotated[str, Meta(description="What else it is to know.", max_length=4000)] = ""


async def run(world: ActingWorld, wanted: SignalRun) -> ChangedRun:
    if wanted.word in RESERVED:
        raise BadRequest(f"{wanted.word!r} is an operation of its own: `visor workflow {wanted.word} {wanted.run}`")
    return await changed(world, wanted.run, RunChange(kind="signal", word=wanted.word, value=wanted.value))


OP = Op(
    name="workflow_signal",
    summary="Say a word to a run that waits for it.",
    doc="""The word is kept: a run that comes to wait for it later finds it. Of a question to a person it counts only
when a person says it. `cancel` and `resume` have operations of their own.""",
    Input=SignalRun,
    Output=ChangedRun,
    run=run,
    plain=plain,
    effect="change",
    exits=EXITS,
    examples=(
        Example("workflow signal 3 ready", "it waits for `ready`"),
        Example("robot workflow signal 3 deployed --value v2", "with a value"),
    ),
)
