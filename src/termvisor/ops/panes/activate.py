"""Operation `activate`: make a pane the active pane of its session."""

from termvisor.model.action.action import Activate as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs, PaneReference, build_preconditions
from termvisor.ops.input._execute_action import ActionRequest, ActionResult, execute_action, render_action_result
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions


class ActivateArgs(ActionArgs, frozen=True, kw_only=True):
    """The pane to activate."""

    pane: PaneReference


async def build_request(services: ActingServices, args: ActivateArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(action=Action(pane=pane.id), preconditions=build_preconditions(args), pane=pane)


async def run(services: ActingServices, args: ActivateArgs) -> ActionResult:
    result, _ = await execute_action(services, args, await build_request(services, args))
    return result


def render_text(result: ActionResult, options: RenderOptions) -> str:
    return render_action_result(result, options, f"pane {result.pane.id if result.pane else '?'} is now active")


OP = Operation(
    name="activate",
    summary="Make a pane the active pane of its session.",
    doc="Selects the pane and its window, for all clients attached to the session. Nothing is resized.",
    args_type=ActivateArgs,
    result_type=ActionResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    examples=(OperationExample("activate 7", "select pane 7 and its window"),),
)
