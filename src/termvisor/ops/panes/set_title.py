"""The op `set_title`: give a pane a title."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import SetTitle as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs, PaneReference, build_preconditions
from termvisor.ops.input._execute_action import ActionRequest, ActionResult, execute_action, render_action_result
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class SetTitleArgs(ActionArgs, frozen=True, kw_only=True):
    """Which pane, and its title."""

    pane: PaneReference
    title: Annotated[
        str, Meta(description="The title; all further words.", extra={"positional": "rest"}, max_length=500)
    ]


async def build_request(services: ActingServices, args: SetTitleArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(
        action=Action(pane=pane.id, title=sanitize(args.title)), preconditions=build_preconditions(args), pane=pane
    )


async def run(services: ActingServices, args: SetTitleArgs) -> ActionResult:
    deed, _ = await execute_action(services, args, await build_request(services, args))
    return deed


def render_text(result: ActionResult, options: RenderOptions) -> str:
    return render_action_result(result, options, "done")


OP = Operation(
    name="set_title",
    summary="Give a pane a title.",
    doc="""`list-panes` and tmux itself show it. A program in the pane may set another one at any time. Control
characters are left out.""",
    args_type=SetTitleArgs,
    result_type=ActionResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    examples=(OperationExample("set-title 7 release build", "a name that people see"),),
)
