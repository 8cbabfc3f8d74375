"""Operation `interrupt`: stop the current turn of an agent; the agent keeps running."""

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
    """The pane of the agent."""

    pane: PaneReference


async def build_request(services: ActingServices, args: InterruptArgs) -> ActionRequest:
    return await build_agent_request(
        services, args, args.pane, lambda target: Action(pane=target.pane.id, agent=target.agent)
    )


async def run(services: ActingServices, args: InterruptArgs) -> AgentCommandResult:
    return await execute_agent_command(services, args, await build_request(services, args))


OP = Operation(
    name="interrupt",
    robot_name="interrupt",
    summary="Interrupt the current turn of an agent.",
    doc="""Uses the agent's own server if it has one (Codex, opencode). Otherwise its interrupt key is pressed, only
while the screen shows that it is working: when idle, the same key has another meaning. The result is `done` once the
agent was seen to stop. `details.why` is `not_at_work` if there is nothing to interrupt. For other programs use `visor
kill`.""",
    args_type=InterruptArgs,
    result_type=AgentCommandResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=EXIT_STATUSES,
    examples=(
        OperationExample("interrupt 7", "interrupt the agent in pane 7"),
        OperationExample("robot interrupt 7 --dry-run", "show the policy decision only"),
    ),
)
