"""The op `interrupt`: an agent stops what it is at, and stays."""

from termvisor.model.action.action import Interrupt as Action
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


class InterruptArgs(PreconditionArgs, frozen=True, kw_only=True):
    """Whom to interrupt."""

    pane: PaneReference


async def build_request(services: ActingServices, args: InterruptArgs) -> ActionRequest:
    return await build_agent_request(
        services, args, args.pane, lambda found: Action(pane=found.pane.id, agent=found.agent)
    )


async def run(services: ActingServices, args: InterruptArgs) -> AgentCommandResult:
    return await execute_agent_command(services, args, await build_request(services, args))


OP = Operation(
    name="interrupt",
    robot_name="interrupt",
    summary="Have an agent stop what it is doing.",
    doc="""By the agent's own server where it has one (Codex, opencode); else its own key is pressed, and only while
its screen shows that it works: at rest the same key would do something else. It is done when the agent was seen to
stop. `details.why` is `not_at_work` where there is nothing to interrupt. For other programs there is `visor kill`.""",
    args_type=InterruptArgs,
    result_type=AgentCommandResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=EXIT_STATUSES,
    examples=(
        OperationExample("interrupt 7", "stop its turn"),
        OperationExample("robot interrupt 7 --dry-run", "what would be said of it"),
    ),
)
