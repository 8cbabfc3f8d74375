"""The op `get_screen`: what a person sees in a pane right now."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.ops.base import Example, Op
from termvisor.ops.listing import PaneIdentity, identity, named
from termvisor.ops.look import Look, block, clean, clean_coloured
from termvisor.ops.world import World
from termvisor.redact import Redactor


class GetScreen(Struct, frozen=True, kw_only=True):
    """Whose screen to take."""

    pane: Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]
    escapes: Annotated[bool, Meta(description="Keep colours (SGR sequences only).")] = False


class ScreenText(Struct, frozen=True, kw_only=True):
    """``cursor_x`` and ``cursor_y`` count from 0 at the top left."""

    identity: PaneIdentity
    at: str
    rows: tuple[str, ...]
    width: int
    height: int
    cursor_x: int
    cursor_y: int
    is_alternate: bool


async def run(world: World, wanted: GetScreen) -> ScreenText:
    pane = await named(world, wanted.pane)
    screen = await world.fleet.screen(pane.id, escapes=wanted.escapes)
    return ScreenText(
        identity=identity(pane),
        at=iso(screen.at),
        rows=tuple(Redactor().lines(screen.rows)),
        width=screen.width,
        height=screen.height,
        cursor_x=screen.cursor_x,
        cursor_y=screen.cursor_y,
        is_alternate=screen.alternate,
    )


def plain(screen: ScreenText, look: Look) -> str:
    tidy = clean_coloured if look.colour else clean
    return block("\n".join(tidy(row) for row in screen.rows), look)


OP = Op(
    name="get_screen",
    aliases=("screen",),
    robot="get-screen",
    summary="What a person sees in a pane now.",
    doc="""Rendered by the multiplexer itself, so it is right for programs that repaint. Secrets are taken out. For
what scrolled by, use `get-text`.""",
    Input=GetScreen,
    Output=ScreenText,
    run=run,
    plain=plain,
    examples=(Example("get-screen 7", "the screen of pane 7"), Example("screen work:editor --escapes", "with colours")),
)
