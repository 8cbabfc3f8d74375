"""The operation `workflow_signal`: send a signal to a workflow run."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.workflow import RunChangeRequest
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.workflows._workflow_runs import RunNumber, declare_run_change

# The engine itself uses these; a run must not see them as signals of a user.
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


def build_change(args: WorkflowSignalArgs) -> RunChangeRequest:
    if args.word in RESERVED_SIGNALS:
        raise BadRequest(f"{args.word!r} is a reserved signal; use `visor workflow {args.word} {args.run}`")
    return RunChangeRequest(kind="signal", word=args.word, value=args.value)


OP = declare_run_change(
    name="workflow_signal",
    summary="Send a signal to a workflow run.",
    doc="""The signal is stored: a run that waits for it later receives it too. An answer to a question counts only if
it comes from a person. `cancel` and `resume` are separate commands.""",
    args_type=WorkflowSignalArgs,
    build_change=build_change,
    examples=(
        OperationExample("workflow signal 3 ready", "send `ready` to run 3"),
        OperationExample("robot workflow signal 3 deployed --value v2", "with a value"),
    ),
)
