"""The op `workflow_signal`: say a word to a run that waits for it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.workflow.info import RunChangeRequest
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.workflows._run_change import RUN_CHANGE_EXITS, RunChangeResult, change_run, render_text
from termvisor.ops.workflows._run_item import RunNumber

RESERVED_SIGNALS = ("cancel", "resume")


class WorkflowSignalArgs(Struct, frozen=True, kw_only=True):
    """A run that waits for this very word goes on; of a question, the word is one of its choices."""

    run: RunNumber
    word: Annotated[str, Meta(description="The word.", min_length=1, max_length=200, extra={"positional": "one"})]
    value: Annotated[str, Meta(description="What else it is to know.", max_length=4000)] = ""


async def run(services: ActingServices, args: WorkflowSignalArgs) -> RunChangeResult:
    if args.word in RESERVED_SIGNALS:
        raise BadRequest(f"{args.word!r} is an operation of its own: `visor workflow {args.word} {args.run}`")
    return await change_run(services, args.run, RunChangeRequest(kind="signal", word=args.word, value=args.value))


OP = Operation(
    name="workflow_signal",
    summary="Say a word to a run that waits for it.",
    doc="""The word is kept: a run that comes to wait for it later finds it. Of a question to a person it counts only
when a person says it. `cancel` and `resume` have operations of their own.""",
    args_type=WorkflowSignalArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow signal 3 ready", "it waits for `ready`"),
        OperationExample("robot workflow signal 3 deployed --value v2", "with a value"),
    ),
)
