"""The operation `workflow_signal`: send a signal to a workflow run."""

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
    """The run and the signal."""

    run: RunNumber
    word: Annotated[
        str,
        Meta(
            description="The signal's name, or a choice of the run's question.",
            min_length=1,
            max_length=200,
            extra={"positional": "one"},
        ),
    ]
    value: Annotated[str, Meta(description="A value for the run.", max_length=4000)] = ""


async def run(services: ActingServices, args: WorkflowSignalArgs) -> RunChangeResult:
    if args.word in RESERVED_SIGNALS:
        raise BadRequest(f"{args.word!r} is a reserved signal; use `visor workflow {args.word} {args.run}`")
    return await change_run(services, args.run, RunChangeRequest(kind="signal", word=args.word, value=args.value))


OP = Operation(
    name="workflow_signal",
    summary="Send a signal to a workflow run.",
    doc="""The signal is stored: a run that waits for it later receives it too. An answer to a question counts only if
it comes from a person. `cancel` and `resume` are separate commands.""",
    args_type=WorkflowSignalArgs,
    result_type=RunChangeResult,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=RUN_CHANGE_EXITS,
    examples=(
        OperationExample("workflow signal 3 ready", "send `ready` to run 3"),
        OperationExample("robot workflow signal 3 deployed --value v2", "with a value"),
    ),
)
