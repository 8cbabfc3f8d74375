"""Operation `answer_dialog`: select a choice in the dialog that an agent shows, by pressing its keys."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import AnswerDialog as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import PaneReference, PreconditionArgs
from termvisor.ops.input._agent_commands import (
    EXIT_STATUSES,
    AgentCommandResult,
    build_agent_request,
    execute_agent_command,
    get_exit_status,
    render_text,
)
from termvisor.ops.input._execute_action import ActionRequest


class AnswerDialogArgs(PreconditionArgs, frozen=True, kw_only=True):
    """The pane of the agent, and the choice."""

    pane: PaneReference
    choice: Annotated[
        str,
        Meta(
            description="`allow` (once), `deny`, or the label of a choice as shown.",
            extra={"positional": "rest"},
            min_length=1,
        ),
    ]


async def build_request(services: ActingServices, args: AnswerDialogArgs) -> ActionRequest:
    return await build_agent_request(
        services, args, args.pane, lambda target: Action(pane=target.pane.id, agent=target.agent, choice=args.choice)
    )


async def run(services: ActingServices, args: AnswerDialogArgs) -> AgentCommandResult:
    return await execute_agent_command(services, args, await build_request(services, args))


OP = Operation(
    name="answer_dialog",
    aliases=("answer",),
    robot_name="answer",
    summary="Answer the dialog that an agent shows in its pane.",
    doc="""For dialogs that can only be answered by the keyboard; permission requests are usually in `visor inbox` and
are answered there. Policy, approval and audit log refer to the dialog as shown. A key is pressed only while the rows of
that dialog, including the selected choice, are on the screen, and the dialog must disappear afterwards; Enter is never
pressed on an unverified choice. If nothing was executed, `details.why` is `no_such_choice` (not offered, or the effect
of its keys is not certain) or `dialog_changed` (another dialog is shown).""",
    args_type=AnswerDialogArgs,
    result_type=AgentCommandResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=EXIT_STATUSES,
    examples=(
        OperationExample("answer 7 allow", "allow once"),
        OperationExample("answer 7 deny", "deny"),
        OperationExample("robot answer 7 SQLite", "select the choice `SQLite`, as JSON"),
    ),
)
