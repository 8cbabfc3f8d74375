"""Operation `quit_agent`: exit an idle agent with its own quit command."""

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
    """The pane of the agent."""

    pane: PaneReference


async def build_request(services: ActingServices, args: QuitAgentArgs) -> ActionRequest:
    return await build_agent_request(
        services, args, args.pane, lambda target: Action(pane=target.pane.id, agent=target.agent)
    )


async def run(services: ActingServices, args: QuitAgentArgs) -> AgentCommandResult:
    return await execute_agent_command(services, args, await build_request(services, args))


OP = Operation(
    name="quit_agent",
    aliases=("quit",),
    robot_name="quit",
    summary="Quit an agent with its own quit command.",
    doc="""Presses the agent's own keys for quitting, only while it is idle with an empty composer. The result is `done`
once its process has exited. If nothing was executed, `details.why` is `at_work` (interrupt it first), `dialog_open` or
`composer_not_empty`. The pane stays open if the agent was started from a shell. `visor resume` continues the
conversation.""",
    args_type=QuitAgentArgs,
    result_type=AgentCommandResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=EXIT_STATUSES,
    examples=(
        OperationExample("quit 7", "quit the agent; its session can be resumed"),
        OperationExample("robot quit 7", "as JSON"),
    ),
)
