"""Operation `send_keys`: press named keys in a pane."""

from functools import partial
from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import SendKeys
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.input._action_operation import PreconditionArgs, build_on_pane, declare_action, render_action_result
from termvisor.ops.panes._pane_reference import PaneReference


class SendKeysArgs(PreconditionArgs, frozen=True, kw_only=True):
    """The pane, the keys and preconditions."""

    pane: PaneReference
    keys: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=40)], ...],
        Meta(
            description="Keys by tmux name: C-c, Escape, Up, Enter, a, …",
            extra={"positional": "rest"},
            min_length=1,
            max_length=64,
        ),
    ]


OP = declare_action(
    name="send_keys",
    robot_name="send-keys",
    summary="Press named keys in a pane, such as C-c, Escape or Up.",
    doc="""The keys are sent only to the program that the policy checked: if another one is in the pane by then, nothing
is pressed. The effect is not verified; check it with `get-screen`. To type text, use `send`.""",
    args_type=SendKeysArgs,
    build_request=build_on_pane(lambda pane, args: SendKeys(pane=pane.id, keys=args.keys)),
    render_text=partial(render_action_result, done_text="keys sent"),
    exit_statuses=(
        (75, "Not executed: the pane is reserved, or a precondition failed."),
        (77, "Not executed: denied by the policy, or requires approval."),
    ),
    examples=(
        OperationExample("send-keys 7 C-c", "press Ctrl-C in pane 7"),
        OperationExample(
            "robot send-keys 7 --if-screen 'Proceed?' Down Enter", "press keys only if the screen shows a text"
        ),
    ),
)
