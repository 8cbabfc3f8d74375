"""The op `send_keys`: press named keys in a pane."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import SendKeys as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Deed, Wish, carried_out, said
from termvisor.ops.input._preconditions import Guarded, PaneReference, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.render.text import Look


class SendKeys(Guarded, frozen=True, kw_only=True):
    """Which keys, where, and what must hold."""

    pane: PaneReference
    keys: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=40)], ...],
        Meta(
            description="Keys by their tmux names: C-c, Escape, Up, Enter, a, …",
            extra={"positional": "rest"},
            min_length=1,
            max_length=64,
        ),
    ]


async def wish(world: ActingWorld, wanted: SendKeys) -> Wish:
    pane = await named(world, wanted.pane)
    return Wish(action=Action(pane=pane.id, keys=wanted.keys), terms=terms_of(wanted), pane=pane)


async def run(world: ActingWorld, wanted: SendKeys) -> Deed:
    deed, _ = await carried_out(world, wanted, await wish(world, wanted))
    return deed


def plain(deed: Deed, look: Look) -> str:
    return said(deed, look, "pressed")


OP = Op(
    name="send_keys",
    robot="send-keys",
    summary="Press named keys in a pane, such as C-c, Escape or Up.",
    doc="""The keys go to the program that was judged, or nowhere: when another one is in the pane by then, nothing is
pressed. What a program makes of them is not proven; look at it with `get-screen`. To type text, use `send`.""",
    Input=SendKeys,
    Output=Deed,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exits=(
        (75, "Nothing was done: reserved, or the pane is not as expected."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        Example("send-keys 7 C-c", "interrupt what runs there"),
        Example("robot send-keys 7 --if-screen 'Proceed?' Down Enter", "only while the screen asks that"),
    ),
)
