"""The op `get_screen`: what a person sees in a pane right now, or saw in it when it repainted."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest
from termvisor.model.ids import ScreenId
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import PaneIdentity, identity, moment, named
from termvisor.ops.render.text import Look, block, clean, clean_coloured
from termvisor.redaction import Redactor

_LARGEST = (1 << 63) - 1


class GetScreen(Struct, frozen=True, kw_only=True):
    """Whose screen to take, and which one."""

    pane: Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]
    escapes: Annotated[bool, Meta(description="Keep colours (SGR sequences only).")] = False
    at: Annotated[
        str | None,
        Meta(
            description="Not now, but as it was: the number of a stored screen (a search hit has one), or a time: "
            "ISO 8601, today, or an age such as 10m."
        ),
    ] = None


class ScreenText(Struct, frozen=True, kw_only=True):
    """``cursor_x`` and ``cursor_y`` count from 0 at the top left.

    ``screen`` is the number of a stored screen; of the rows in ``left_out`` the text was not kept: people type there.
    """

    identity: PaneIdentity
    at: str
    rows: tuple[str, ...]
    width: int
    height: int
    cursor_x: int
    cursor_y: int
    is_alternate: bool
    screen: int | None = None
    left_out: tuple[int, ...] = ()


async def run(world: World, wanted: GetScreen) -> ScreenText:
    pane = await named(world, wanted.pane)
    if wanted.at is None:
        return _shown(pane, await world.fleet.screen(pane.id, escapes=wanted.escapes))
    if wanted.escapes:
        raise BadRequest("stored screens have no colours", hint="Leave out --escapes, or --at.")
    return _shown(pane, await _stored(world, pane, wanted.at))


async def _stored(world: World, pane: PaneView, at: str) -> Screen:
    recording = world.history.recording
    if at.isascii() and at.isdigit():
        screen = await recording.screen(ScreenId(min(int(at), _LARGEST)))
        if screen is None or screen.pane != pane.id:
            raise BadRequest(
                f"pane {pane.id} has no stored screen {at}",
                hint="It may be gone by its age. Give a time instead, or a number that `visor search` shows.",
            )
        return screen
    when = moment(at, world.clock.now()) or 0
    screen = await recording.screen_at(pane.id, when)
    if screen is None:
        raise BadRequest(
            f"no screen of pane {pane.id} was stored by {iso(when)}",
            hint=f"Screens are stored of programs that repaint; `visor get-text {pane.id}` shows what was printed.",
        )
    return screen


def _shown(pane: PaneView, screen: Screen) -> ScreenText:
    return ScreenText(
        identity=identity(pane),
        at=iso(screen.at),
        rows=tuple(Redactor().lines(screen.rows)),
        width=screen.width,
        height=screen.height,
        cursor_x=screen.cursor_x,
        cursor_y=screen.cursor_y,
        is_alternate=screen.alternate,
        screen=screen.id or None,
        left_out=screen.left_out,
    )


def plain(screen: ScreenText, look: Look) -> str:
    tidy = clean_coloured if look.colour else clean
    rows = [tidy(row) for row in screen.rows]
    if screen.screen is None:
        return block("\n".join(rows), look)
    for number in screen.left_out:
        rows[number] = look.paint("dim", "[not kept: people type here]")
    head = f"screen {screen.screen} of pane {screen.identity.id}, {screen.at}"
    text = block("\n".join(rows), look)
    return text if look.is_quiet else f"{look.paint('cyan', head)}\n{text}"


OP = Op(
    name="get_screen",
    aliases=("screen",),
    robot="get-screen",
    summary="What a person sees in a pane now, or saw in it before.",
    doc="""Rendered by the multiplexer itself, so it is right for programs that repaint. Secrets are taken out. For
what scrolled by, use `get-text`. With `--at` it is a stored screen, the nearest at or before that time; it says its
own time. Screens are stored of programs that repaint, each time a row appears that was not there before; the row in
which people type is left out. To see every moment, `visor replay` draws a pane's past from its bytes.""",
    Input=GetScreen,
    Output=ScreenText,
    run=run,
    plain=plain,
    examples=(
        Example("get-screen 7", "the screen of pane 7"),
        Example("screen work:editor --escapes", "with colours"),
        Example("get-screen 7 --at 10m", "as it was ten minutes ago, if it repaints"),
        Example("get-screen 7 --at 412", "the screen that a search hit names"),
    ),
)
