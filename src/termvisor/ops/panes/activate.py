"""Operation `activate`: make a pane the active pane of its session."""

from termvisor.model.action.action import Activate
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.input._action_operation import (
    ActionArgs,
    ActionResult,
    build_on_pane,
    declare_action,
    render_action_result,
)
from termvisor.ops.panes._pane_reference import PaneReference
from termvisor.ops.render.text import RenderOptions


class ActivateArgs(ActionArgs, frozen=True, kw_only=True):
    """The pane to activate."""

    pane: PaneReference


def render_text(result: ActionResult, options: RenderOptions) -> str:
    return render_action_result(result, options, f"pane {result.pane.id if result.pane else '?'} is now active")


OP = declare_action(
    name="activate",
    summary="Make a pane the active pane of its session.",
    doc="Selects the pane and its window, for all clients attached to the session. Nothing is resized.",
    args_type=ActivateArgs,
    build_request=build_on_pane(lambda pane, _args: Activate(pane=pane.id)),
    render_text=render_text,
    examples=(OperationExample("activate 7", "select pane 7 and its window"),),
)
