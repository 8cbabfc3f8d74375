"""Operation `set_title`: set the title of a pane."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import SetTitle
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.input._action_operation import ActionArgs, build_on_pane, declare_action
from termvisor.ops.panes._pane_reference import PaneReference
from termvisor.ops.render.text import sanitize


class SetTitleArgs(ActionArgs, frozen=True, kw_only=True):
    """The pane and its new title."""

    pane: PaneReference
    title: Annotated[
        str, Meta(description="The title (all remaining words).", extra={"positional": "rest"}, max_length=500)
    ]


OP = declare_action(
    name="set_title",
    summary="Set the title of a pane.",
    doc="""`list-panes` and tmux show the title. A program in the pane may change it at any time. Control characters are
removed.""",
    args_type=SetTitleArgs,
    build_request=build_on_pane(lambda pane, args: SetTitle(pane=pane.id, title=sanitize(args.title))),
    examples=(OperationExample("set-title 7 release build", "set the title of pane 7"),),
)
