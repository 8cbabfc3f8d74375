"""Operation `answer_dialog`: select a choice in the dialog that an agent shows, by pressing its keys."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import AnswerDialog
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.input._action_operation import PreconditionArgs
from termvisor.ops.input._agent_commands import declare_agent_command
from termvisor.ops.panes._pane_reference import PaneReference


class AnswerDialogArgs(PreconditionArgs, frozen=True, kw_only=True):
    """The pane of the agent, and the choice."""

    pane: PaneReference
    choice: Annotated[
        str,
        Meta(
            description="`allow` (once), `deny`, or a choice as shown: its label or number.",
            extra={"positional": "rest"},
            min_length=1,
        ),
    ]


OP = declare_agent_command(
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
    build_action=lambda pane, agent, args: AnswerDialog(pane=pane.id, agent=agent, choice=args.choice),
    examples=(
        OperationExample("answer 7 allow", "allow once"),
        OperationExample("answer 7 deny", "deny"),
        OperationExample("robot answer 7 SQLite", "select the choice `SQLite`, as JSON"),
    ),
)
