"""Operation `set_title`: set the title of a pane."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import SetTitle as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs, PaneReference, build_preconditions
from termvisor.ops.input._execute_action import ActionRequest, ActionResult, execute_action, render_action_result
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class SetTitleArgs(ActionArgs, frozen=True, kw_only=True):
    """The pane and its new title."""

    pane: PaneReference
    title: Annotated[
        str, Meta(description="The title (all remaining words).", extra={"positional": "rest"}, max_length=500)
    ]


async def build_request(services: ActingServices, args: SetTitleArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(
        action=Action(pane=pane.id, title=sanitize(args.title)), preconditions=build_preconditions(args), pane=pane
    )


async def run(services: ActingServices, args: SetTitleArgs) -> ActionResult:
    result, _ = await execute_action(services, args, await build_request(services, args))
    return result


def render_text(result: ActionResult, options: RenderOptions) -> str:
    return render_action_result(result, options, "done")


OP = Operation(
    name="set_title",
    summary="Set the title of a pane.",
    doc="""`list-panes` and tmux show the title. A program in the pane may change it at any time. Control characters are
removed.""",
    args_type=SetTitleArgs,
    result_type=ActionResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    examples=(OperationExample("set-title 7 release build", "set the title of pane 7"),),
)
