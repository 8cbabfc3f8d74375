"""The op `split`: a new pane beside another one."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import Spawn as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Wish
from termvisor.ops.input._preconditions import PaneReference, terms_of
from termvisor.ops.panes._listing import named
from termvisor.ops.panes.spawn import Command, Spawned, Starting, account_of, environment, plain, started


class Split(Starting, frozen=True, kw_only=True):
    """Which pane to split, and what to start in the new one."""

    pane: PaneReference
    command: Command = ()
    horizontal: Annotated[bool, Meta(description="Side by side, not one above the other.")] = False


async def wish(world: ActingWorld, wanted: Split) -> Wish:
    pane = await named(world, wanted.pane)
    action = Action(
        where="pane",
        beside=pane.id,
        is_horizontal=wanted.horizontal,
        command=wanted.command,
        cwd=wanted.cwd,
        env=environment(wanted.env),
        name=wanted.name,
        account=await account_of(world, wanted.account, wanted.command),
    )
    return Wish(action=action, terms=terms_of(wanted), pane=pane)


async def run(world: ActingWorld, wanted: Split) -> Spawned:
    return await started(world, wanted, await wish(world, wanted))


OP = Op(
    name="split",
    robot="split",
    summary="Split a pane, and start a program in the new half.",
    doc="Like `spawn --where pane --beside <pane>`. Without a command the user's shell starts.",
    Input=Split,
    Output=Spawned,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exits=(
        (75, "Nothing was done: the pane is reserved, or not as expected."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        Example("split 7", "a shell below pane 7"),
        Example("split 7 --horizontal -- htop", "a program beside it"),
    ),
)
