"""Operation `interrupt`: stop the current turn of an agent; the agent keeps running."""

from termvisor.model.action.action import Interrupt
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.input._action_operation import PreconditionArgs
from termvisor.ops.input._agent_commands import declare_agent_command
from termvisor.ops.panes._pane_reference import PaneReference


class InterruptArgs(PreconditionArgs, frozen=True, kw_only=True):
    """The pane of the agent."""

    pane: PaneReference


OP = declare_agent_command(
    name="interrupt",
    robot_name="interrupt",
    summary="Interrupt the current turn of an agent.",
    doc="""Uses the agent's own server if it has one (Codex, opencode). Otherwise its interrupt key is pressed, only
while the screen shows that it is working: when idle, the same key has another meaning. The result is `done` once the
agent was seen to stop. `details.why` is `not_at_work` if there is nothing to interrupt. For other programs use `visor
kill`.""",
    args_type=InterruptArgs,
    build_action=lambda pane, agent, _args: Interrupt(pane=pane.id, agent=agent),
    examples=(
        OperationExample("interrupt 7", "interrupt the agent in pane 7"),
        OperationExample("robot interrupt 7 --dry-run", "show the policy decision only"),
    ),
)
