"""The op `get_screen`: what a person sees in a pane right now, or saw in it when it repainted."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.ids import ScreenId
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import PaneIdentity, identify_pane, parse_time_filter, resolve_pane
from termvisor.ops.render.text import RenderOptions, render_code_block, sanitize, sanitize_keep_colours
from termvisor.redaction import Redactor

_MAX_SCREEN_ID = (1 << 63) - 1


class GetScreenArgs(Struct, frozen=True, kw_only=True):
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


async def run(services: Services, args: GetScreenArgs) -> ScreenText:
    pane = await resolve_pane(services, args.pane)
    if args.at is None:
        return _build_result(pane, await services.panes.capture_screen(pane.id, escapes=args.escapes))
    if args.escapes:
        raise BadRequest("stored screens have no colours", hint="Leave out --escapes, or --at.")
    return _build_result(pane, await _find_stored_screen(services, pane, args.at))


async def _find_stored_screen(services: Services, pane: PaneView, at: str) -> Screen:
    recording = services.history.recording
    if at.isascii() and at.isdigit():
        screen = await recording.find_screen(ScreenId(min(int(at), _MAX_SCREEN_ID)))
        if screen is None or screen.pane != pane.id:
            raise BadRequest(
                f"pane {pane.id} has no stored screen {at}",
                hint="It may be gone by its age. Give a time instead, or a number that `visor search` shows.",
            )
        return screen
    when = parse_time_filter(at, services.clock.now()) or 0
    screen = await recording.find_screen_at(pane.id, when)
    if screen is None:
        raise BadRequest(
            f"no screen of pane {pane.id} was stored by {format_timestamp(when)}",
            hint=f"Screens are stored of programs that repaint; `visor get-text {pane.id}` shows what was printed.",
        )
    return screen


def _build_result(pane: PaneView, screen: Screen) -> ScreenText:
    return ScreenText(
        identity=identify_pane(pane),
        at=format_timestamp(screen.at),
        rows=tuple(Redactor().redact_lines(screen.rows)),
        width=screen.width,
        height=screen.height,
        cursor_x=screen.cursor_x,
        cursor_y=screen.cursor_y,
        is_alternate=screen.alternate,
        screen=screen.id or None,
        left_out=screen.left_out,
    )


def render_text(result: ScreenText, options: RenderOptions) -> str:
    tidy = sanitize_keep_colours if options.colour else sanitize
    rows = [tidy(row) for row in result.rows]
    if result.screen is None:
        return render_code_block("\n".join(rows), options)
    for number in result.left_out:
        rows[number] = options.paint("dim", "[not kept: people type here]")
    head = f"screen {result.screen} of pane {result.identity.id}, {result.at}"
    text = render_code_block("\n".join(rows), options)
    return text if options.is_quiet else f"{options.paint('cyan', head)}\n{text}"


OP = Operation(
    name="get_screen",
    aliases=("screen",),
    robot_name="get-screen",
    summary="What a person sees in a pane now, or saw in it before.",
    doc="""Rendered by the multiplexer itself, so it is right for programs that repaint. Secrets are taken out. For
what scrolled by, use `get-text`. With `--at` it is a stored screen, the nearest at or before that time; it says its
own time. Screens are stored of programs that repaint, each time a row appears that was not there before; the row in
which people type is left out. To see every moment, `visor replay` draws a pane's past from its bytes.""",
    args_type=GetScreenArgs,
    result_type=ScreenText,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("get-screen 7", "the screen of pane 7"),
        OperationExample("screen work:editor --escapes", "with colours"),
        OperationExample("get-screen 7 --at 10m", "as it was ten minutes ago, if it repaints"),
        OperationExample("get-screen 7 --at 412", "the screen that a search hit names"),
    ),
)
