"""The op `set_title`: give a pane a title."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import SetTitle as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Deed, Wish, carried_out, said
from termvisor.ops.input._preconditions import Acting, PaneReference, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look, clean


class SetTitle(Acting, frozen=True, kw_only=True):
    """Which pane, and its title."""

    pane: PaneReference
    title: Annotated[
        str, Meta(description="The title; all further words.", extra={"positional": "rest"}, max_length=500)
    ]


async def wish(world: ActingWorld, wanted: SetTitle) -> Wish:
    pane = await named(world, wanted.pane)
    return Wish(action=Action(pane=pane.id, title=clean(wanted.title)), terms=terms_of(wanted), pane=pane)


async def run(world: ActingWorld, wanted: SetTitle) -> Deed:
    deed, _ = await carried_out(world, wanted, await wish(world, wanted))
    return deed


def plain(deed: Deed, look: Look) -> str:
    return said(deed, look, "done")


OP = Op(
    name="set_title",
    summary="Give a pane a title.",
    doc="""`list-panes` and tmux itself show it. A program in the pane may set another one at any time. Control
characters are left out.""",
    Input=SetTitle,
    Output=Deed,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    examples=(Example("set-title 7 release build", "a name that people see"),),
)
