"""The op `answer_dialog`: pick a choice of the dialog that an agent shows, by keys that fit exactly that dialog."""

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
    """Which dialog, and what to pick."""

    pane: PaneReference
    choice: Annotated[
        str,
        Meta(
            description="`allow` (this once), `deny`, or the label of a choice, as it is shown.",
            extra={"positional": "rest"},
            min_length=1,
        ),
    ]


async def build_request(services: ActingServices, args: AnswerDialogArgs) -> ActionRequest:
    return await build_agent_request(
        services, args, args.pane, lambda found: Action(pane=found.pane.id, agent=found.agent, choice=args.choice)
    )


async def run(services: ActingServices, args: AnswerDialogArgs) -> AgentCommandResult:
    return await execute_agent_command(services, args, await build_request(services, args))


OP = Operation(
    name="answer_dialog",
    aliases=("answer",),
    robot_name="answer",
    summary="Answer the dialog that an agent shows in its pane.",
    doc="""For dialogs that nothing but the keyboard answers. A permission request stands in `visor inbox` as a rule,
and is answered there. What is judged, asked about and recorded is the very dialog that is shown; every key is pressed
only while its rows still stand on the screen, the choice that is pointed at among them, and the dialog must be seen to
go away. Never is Enter pressed on whatever happens to be marked. `details.why` of a refusal: `no_such_choice` (it is
not offered, or what the keys would do cannot be said surely), `dialog_changed` (another one is shown by now).""",
    args_type=AnswerDialogArgs,
    result_type=AgentCommandResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=EXIT_STATUSES,
    examples=(
        OperationExample("answer 7 allow", "yes, this once"),
        OperationExample("answer 7 deny", "no"),
        OperationExample("robot answer 7 SQLite", "the choice of this name, as JSON"),
    ),
)
