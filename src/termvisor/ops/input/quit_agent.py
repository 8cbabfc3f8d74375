"""The op `quit_agent`: an agent that rests leaves in its own way."""

from termvisor.model.action.action import QuitAgent as Action
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


class QuitAgentArgs(PreconditionArgs, frozen=True, kw_only=True):
    """Who is to leave."""

    pane: PaneReference


async def build_request(services: ActingServices, args: QuitAgentArgs) -> ActionRequest:
    return await build_agent_request(
        services, args, args.pane, lambda found: Action(pane=found.pane.id, agent=found.agent)
    )


async def run(services: ActingServices, args: QuitAgentArgs) -> AgentCommandResult:
    return await execute_agent_command(services, args, await build_request(services, args))


OP = Operation(
    name="quit_agent",
    aliases=("quit",),
    robot_name="quit",
    summary="Have an agent leave in its own way.",
    doc="""Its own keys for that are pressed, and only while it rests with an empty composer; it is done when its
process has ended. `details.why` of a refusal: `at_work` (interrupt it first), `dialog_open`, `composer_not_empty`. The
pane stays if a shell is under it. `visor resume` takes the conversation up again.""",
    args_type=QuitAgentArgs,
    result_type=AgentCommandResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=EXIT_STATUSES,
    examples=(
        OperationExample("quit 7", "it leaves, and its session can be resumed"),
        OperationExample("robot quit 7", "as JSON"),
    ),
)
