"""Operation `quit_agent`: exit an idle agent with its own quit command."""

from termvisor.model.action.action import QuitAgent
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.input._action_operation import PreconditionArgs
from termvisor.ops.input._agent_commands import declare_agent_command
from termvisor.ops.panes._pane_reference import PaneReference


class QuitAgentArgs(PreconditionArgs, frozen=True, kw_only=True):
    """The pane of the agent."""

    pane: PaneReference


OP = declare_agent_command(
    name="quit_agent",
    aliases=("quit",),
    robot_name="quit",
    summary="Quit an agent with its own quit command.",
    doc="""Presses the agent's own keys for quitting, only while it is idle with an empty composer. The result is `done`
once its process has exited. If nothing was executed, `details.why` is `at_work` (interrupt it first), `dialog_open` or
`composer_not_empty`. The pane stays open if the agent was started from a shell. `visor resume` continues the
conversation.""",
    args_type=QuitAgentArgs,
    build_action=lambda pane, agent, _args: QuitAgent(pane=pane.id, agent=agent),
    examples=(
        OperationExample("quit 7", "quit the agent; its session can be resumed"),
        OperationExample("robot quit 7", "as JSON"),
    ),
)
