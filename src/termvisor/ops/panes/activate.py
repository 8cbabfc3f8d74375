"""Operation `activate`: make a pane the active pane of its session."""

from termvisor.model.action.action import Activate
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.input import _action_operation
from termvisor.ops.panes._pane_reference import PaneReference
from termvisor.ops.render.text import RenderOptions


class ActivateArgs(_action_operation.ActionArgs, frozen=True, kw_only=True):
    """The pane to activate."""

    pane: PaneReference


def render_text(result: _action_operation.ActionResult, options: RenderOptions) -> str:
    return _action_operation.render_action_result(
        result, options, f"pane {result.pane.id if result.pane else '?'} is now active"
    )


OP = _action_operation.declare_action(
    name="activate",
    summary="Make a pane the active pane of its session.",
    doc="Selects the pane and its window, for all clients attached to the session. Nothing is resized.",
    args_type=ActivateArgs,
    build_request=_action_operation.build_on_pane(lambda pane, _args: Activate(pane=pane.id)),
    render_text=render_text,
    examples=(OperationExample("activate 7", "select pane 7 and its window"),),
)
