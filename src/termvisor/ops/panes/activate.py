"""The op `activate`: make a pane the one that people see in its session."""

from termvisor.model.action.action import Activate as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Deed, Wish, carried_out, said
from termvisor.ops.input._preconditions import Acting, PaneReference, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look


class Activate(Acting, frozen=True, kw_only=True):
    """Which pane."""

    pane: PaneReference


async def wish(world: ActingWorld, wanted: Activate) -> Wish:
    pane = await named(world, wanted.pane)
    return Wish(action=Action(pane=pane.id), terms=terms_of(wanted), pane=pane)


async def run(world: ActingWorld, wanted: Activate) -> Deed:
    deed, _ = await carried_out(world, wanted, await wish(world, wanted))
    return deed


def plain(deed: Deed, look: Look) -> str:
    return said(deed, look, f"pane {deed.pane.id if deed.pane else '?'} is in front")


OP = Op(
    name="activate",
    summary="Bring a pane to the front of its session.",
    doc="Selects its window and the pane in it, for everybody who looks at that session. Nothing is resized.",
    Input=Activate,
    Output=Deed,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    examples=(Example("activate 7", "people who look at its session see pane 7"),),
)
