"""Operation `send_keys`: press named keys in a pane."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import SendKeys as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import PaneReference, PreconditionArgs, build_preconditions
from termvisor.ops.input._execute_action import ActionRequest, ActionResult, execute_action, render_action_result
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions


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


async def build_request(services: ActingServices, args: SendKeysArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(
        action=Action(pane=pane.id, keys=args.keys), preconditions=build_preconditions(args), pane=pane
    )


async def run(services: ActingServices, args: SendKeysArgs) -> ActionResult:
    result, _ = await execute_action(services, args, await build_request(services, args))
    return result


def render_text(result: ActionResult, options: RenderOptions) -> str:
    return render_action_result(result, options, "keys sent")


OP = Operation(
    name="send_keys",
    robot_name="send-keys",
    summary="Press named keys in a pane, such as C-c, Escape or Up.",
    doc="""The keys are sent only to the program that the policy checked: if another one is in the pane by then, nothing
is pressed. The effect is not verified; check it with `get-screen`. To type text, use `send`.""",
    args_type=SendKeysArgs,
    result_type=ActionResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
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
