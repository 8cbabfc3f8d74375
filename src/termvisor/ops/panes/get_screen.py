"""Operation `get_screen`: capture the screen of a pane, or return a stored one."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.ids import ScreenId
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneIdentity, PaneReference, identify_pane, resolve_pane
from termvisor.ops.render.results import copy_fields, parse_time_filter
from termvisor.ops.render.text import RenderOptions, render_code_block, sanitize, sanitize_keep_colours
from termvisor.redaction import Redactor

# Largest integer of SQLite.
_MAX_SCREEN_ID = (1 << 63) - 1


class GetScreenArgs(Struct, frozen=True, kw_only=True):
    """The pane, and optionally which stored screen."""

    pane: PaneReference
    escapes: Annotated[bool, Meta(description="Keep colours (SGR escape sequences).")] = False
    at: Annotated[
        str | None,
        Meta(description="Show a stored screen: its id (from a search hit), ISO 8601, today, or an age such as 10m."),
    ] = None


class ScreenText(Struct, frozen=True, kw_only=True):
    """``cursor_x`` and ``cursor_y`` count from 0 at the top left.

    ``screen`` is the id of a stored screen; the rows in ``left_out`` were not stored, because users type there.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("width", "height")

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
        raise BadRequest("stored screens have no colours", hint="Omit --escapes or --at.")
    return _build_result(pane, await _find_stored_screen(services, pane, args.at))


async def _find_stored_screen(services: Services, pane: PaneView, at: str) -> Screen:
    recording = services.history.recording
    if at.isascii() and at.isdigit():
        screen = await recording.find_screen(ScreenId(min(int(at), _MAX_SCREEN_ID)))
        if screen is None or screen.pane != pane.id:
            raise BadRequest(
                f"screen {at} of pane {pane.id} not found",
                hint="It may have been deleted by retention. Pass a time, or an id from `visor search`.",
            )
        return screen
    when = parse_time_filter(at, services.clock.now()) or 0
    screen = await recording.find_screen_at(pane.id, when)
    if screen is None:
        raise BadRequest(
            f"no screen of pane {pane.id} was stored before {format_timestamp(when)}",
            hint=f"Only screens of full-screen programs are stored; `visor get-text {pane.id}` shows printed lines.",
        )
    return screen


def _build_result(pane: PaneView, screen: Screen) -> ScreenText:
    return copy_fields(
        ScreenText,
        screen,
        identity=identify_pane(pane),
        at=format_timestamp(screen.at),
        rows=tuple(Redactor().redact_screen(screen.rows, screen.cursor_y)),
        is_alternate=screen.alternate,
        screen=screen.id or None,
    )


def render_text(result: ScreenText, options: RenderOptions) -> str:
    # Only colours pass: the screen of another program must not control this terminal.
    sanitize_row = sanitize_keep_colours if options.colour else sanitize
    rows = [sanitize_row(row) for row in result.rows]
    if result.screen is None:
        return render_code_block("\n".join(rows), options)
    for number in result.left_out:
        rows[number] = options.paint("dim", "[input row, not stored]")
    head = f"screen {result.screen} of pane {result.identity.id}, {result.at}"
    text = render_code_block("\n".join(rows), options)
    return text if options.is_quiet else f"{options.paint('cyan', head)}\n{text}"


OP = Operation(
    name="get_screen",
    aliases=("screen",),
    robot_name="get-screen",
    summary="Show the current screen of a pane, or a stored one.",
    doc="""The multiplexer renders the screen, so it is also correct for full-screen programs. Secrets are redacted. For
scrolled output use `get-text`. `--at` shows the last screen stored at or before a time, with its own time. Screens of
full-screen programs are stored each time a new row appears; the row in which users type is omitted. `visor replay`
renders every moment from the recorded bytes.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    is_verbatim=True,
    examples=(
        OperationExample("get-screen 7", "show the screen of pane 7"),
        OperationExample("screen work:editor --escapes", "with colours"),
        OperationExample("get-screen 7 --at 10m", "show the screen of ten minutes ago"),
        OperationExample("get-screen 7 --at 412", "show the stored screen of a search hit"),
    ),
)
