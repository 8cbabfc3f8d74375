"""Operation `get_text`: return the lines that a pane printed, the last ones or those after a cursor."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, structs

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import Gap, GapCause, Line, LinePosition
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import PROGRAM_FACES, Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._shell_command import CommandFacts, build_command_facts, read_command_output, resolve_command
from termvisor.ops.input import _action_operation
from termvisor.ops.panes._pane_reference import PaneIdentity, PaneReference, identify_pane, resolve_pane
from termvisor.ops.panes._text_cursor import find_last_cursor, find_last_line_number, format_cursor, parse_cursor
from termvisor.ops.render.results import format_optional_timestamp
from termvisor.ops.render.text import RenderOptions, pluralize, render_code_block, sanitize, sanitize_keep_colours
from termvisor.redaction import Redactor, redact

# A missed update costs at most this much.
_FOLLOW_INTERVAL_S = 1.0


class GetTextArgs(Struct, frozen=True, kw_only=True):
    """The pane, which part of its text, and conditions on the pane."""

    pane: PaneReference
    tail: Annotated[
        int,
        Meta(
            description="Number of lines from the end; --if-tail checks as many.",
            ge=1,
            le=100_000,
            extra={"short": ("-n",), "also": ("--lines",)},
        ),
    ] = 50
    since: Annotated[str | None, Meta(description="Only lines after this cursor (from an earlier result).")] = None
    limit: Annotated[int, Meta(description="Maximum number of lines with --since or --command.", ge=1, le=100_000)] = (
        1000
    )
    command: Annotated[
        str | None, Meta(description="Only the output of one command: `last` or an id from list-commands.")
    ] = None
    numbers: Annotated[
        bool, Meta(description="Also return each line with its number and time.", extra={"faces": PROGRAM_FACES})
    ] = False
    escapes: Annotated[
        bool, Meta(description="Keep colours: the last lines as tmux shows them, because stored text has none.")
    ] = False
    follow: Annotated[bool, Meta(description="Print lines as they are completed, until the pane closes.")] = False
    if_runtime: _action_operation.IfRuntime = None
    if_state: _action_operation.IfState = None
    if_updated_within: _action_operation.IfUpdatedWithin = None
    if_screen: _action_operation.IfScreen = None
    if_prompt: _action_operation.IfPrompt = False
    if_ready: _action_operation.IfReady = False
    if_tail: _action_operation.IfTail = None
    stable: _action_operation.Stable = 0.0


class TextLine(Struct, frozen=True, kw_only=True):
    number: int
    at: str
    text: str


class GapNote(Struct, frozen=True, kw_only=True):
    """Output is missing after ``position`` lines of the text."""

    position: int
    cause: GapCause
    start_at: str
    end_at: str | None


class PaneText(Struct, frozen=True, kw_only=True):
    """``text`` has the complete lines, ``pending`` the incomplete last one. Continue reading at ``cursor``."""

    detail_fields: ClassVar[tuple[str, ...]] = ("first_at",)

    identity: PaneIdentity
    source: Literal["stream", "screen"] = "stream"
    text: str
    pending: str
    cursor: str
    first_at: str | None = None
    last_at: str | None = None
    is_complete: bool = True
    """False if there are more lines beyond the limit: call again with ``cursor``."""
    command: CommandFacts | None = None
    """The command whose output this is."""
    lines_gone: int = 0
    """Number of lines at the start of that output that were deleted by retention."""
    rewritten: int = 0
    """Number of lines at the start that replace lines before the cursor of the call: the program rewrote them."""
    is_repainting: bool = False
    """The program uses the alternate screen, which has no lines: it is in ``screen``, or in ``text`` if that would be
    empty."""
    screen: str = ""
    """What such a program shows now, below the lines from before it started; not with ``--since``."""
    gaps: tuple[GapNote, ...] = ()
    lines: tuple[TextLine, ...] = ()


async def run(services: Services, args: GetTextArgs) -> PaneText:
    pane = await resolve_pane(services, args.pane)
    # Include everything printed before this call, not only what the pipeline has stored so far.
    await services.panes.wait_until_stored(pane.id)
    conditions = _action_operation.add_guards(Preconditions(), args, args.tail)
    if conditions != Preconditions(tail_lines=args.tail):
        await services.gate.check_conditions(pane.id, conditions)
    if args.escapes:
        if args.since is not None or args.command is not None:
            raise BadRequest("stored text has no colours", hint="Omit --escapes, or --since and --command.")
        return await _read_screen_text(services, pane, coloured_lines=args.tail)
    if args.command is not None:
        command = await resolve_command(services, pane.id, args.command)
        return await _read_command_text(services, pane, command, args)
    if args.since is None:
        lines, is_complete, rewritten = await services.history.list_lines(pane.id, limit=args.tail), True, 0
        last = lines[-1].number if lines else await find_last_line_number(services, pane.id)
        position = services.history.find_position(pane.id, last)
    else:
        start = await parse_cursor(services, pane.id, args.since)
        lines, position, is_complete = await _read_lines_since(services, pane, start, args.limit)
        rewritten = sum(line.number <= start.number for line in lines)
    is_repainting = pane.activity.kind == "alt_screen" and pane.gone_at is None
    shown = await _read_screen_text(services, pane) if is_repainting and args.since is None else None
    if shown is not None and not lines:
        return structs.replace(shown, is_repainting=True)
    lines, pending = _redact_lines(lines, services.panes.get_pending_line(pane.id))
    return _build_stream_text(
        pane,
        lines,
        args,
        # The incomplete line follows lines that this call does not return.
        pending=pending if is_complete else "",
        cursor=format_cursor(pane.id, position),
        is_complete=is_complete,
        rewritten=rewritten,
        is_repainting=is_repainting,
        screen="" if shown is None else shown.text.rstrip(),
        gaps=await _find_gaps(services, pane, lines),
    )


async def follow(services: Services, args: GetTextArgs) -> AsyncGenerator[PaneText, None]:
    """Yield complete lines as they are printed, each with its number and time."""
    if args.escapes or args.command is not None:
        raise BadRequest("--follow excludes --escapes and --command")
    args, pane = structs.replace(args, numbers=True), await resolve_pane(services, args.pane)
    last = await find_last_line_number(services, pane.id)
    after = (
        max(0, last - args.tail) if args.since is None else (await parse_cursor(services, pane.id, args.since)).number
    )
    with services.updates.subscribe_output() as output, services.updates.subscribe_events() as events:
        output.is_wanted = lambda changed: changed == pane.id
        events.is_wanted = lambda event: event.kind == "pane_gone"
        while True:
            is_gone = pane.gone_at is not None
            await services.panes.wait_until_stored(pane.id)
            lines = await services.history.list_lines(pane.id, after=after, limit=args.limit)
            if lines:
                after = lines[-1].number
                cursor = format_cursor(pane.id, services.history.find_position(pane.id, after))
                yield _build_stream_text(pane, _redact_lines(lines, "")[0], args, pending="", cursor=cursor)
            elif is_gone:
                return
            else:
                await wait_for_update(services.clock, _FOLLOW_INTERVAL_S, output, events)
            pane = await resolve_pane(services, str(pane.id))


async def _read_lines_since(
    services: Services, pane: PaneView, start: LinePosition, limit: int
) -> tuple[list[Line], LinePosition, bool]:
    """Return at most ``limit`` lines since a position, the position after them, and whether these are all."""
    # One more line than requested, to find out whether there are more.
    lines, position = await services.history.list_lines_since(pane.id, start, limit + 1)
    if len(lines) <= limit:
        return lines, position, True
    lines = lines[:limit]
    return lines, LinePosition(max(start.number, lines[-1].number), start.rewritten_at), False


def _build_stream_text(pane: PaneView, lines: list[Line], args: GetTextArgs, **fields: Any) -> PaneText:
    return PaneText(
        identity=identify_pane(pane),
        source="stream",
        text="\n".join(line.text for line in lines),
        first_at=format_optional_timestamp(lines[0].at if lines else None),
        last_at=format_optional_timestamp(lines[-1].at if lines else None),
        lines=tuple(map(build_text_line, lines)) if args.numbers else (),
        **fields,
    )


def _redact_lines(lines: list[Line], pending: str) -> tuple[list[Line], str]:
    """Redact the lines and the pending one as one stream, because a secret may be wrapped across two lines."""
    *texts, last = Redactor().redact_lines([*(line.text for line in lines), pending])
    return [structs.replace(line, text=text) for line, text in zip(lines, texts, strict=True)], last


def build_text_line(line: Line) -> TextLine:
    return TextLine(number=line.number, at=format_timestamp(line.at), text=line.text)


async def _read_screen_text(services: Services, pane: PaneView, *, coloured_lines: int = 0) -> PaneText:
    """Return the screen or, with colours, this many lines up to its end."""
    screen = await services.panes.capture_screen(pane.id, escapes=coloured_lines > 0, lines=coloured_lines)
    return PaneText(
        identity=identify_pane(pane),
        source="screen",
        text=redact("\n".join(screen.rows)),
        pending="",
        cursor=await find_last_cursor(services, pane.id),
        last_at=format_timestamp(screen.at),
    )


async def _read_command_text(services: Services, pane: PaneView, command: ShellCommand, args: GetTextArgs) -> PaneText:
    start = None if args.since is None else await parse_cursor(services, pane.id, args.since)
    part = await read_command_output(services, command, None if start is None else start.number, args.limit)
    lines, pending = _redact_lines(part.lines, services.panes.get_pending_line(pane.id) if part.has_pending else "")
    return _build_stream_text(
        pane,
        lines,
        args,
        pending=pending,
        cursor=format_cursor(pane.id, services.history.find_position(pane.id, part.position)),
        is_complete=part.is_complete,
        command=build_command_facts(command, services.clock.now()),
        lines_gone=part.lines_gone,
        gaps=tuple(_build_gap_note(gap, lines) for gap in part.gaps),
    )


async def _find_gaps(services: Services, pane: PaneView, lines: list[Line]) -> tuple[GapNote, ...]:
    if not lines:
        return ()
    gaps = await services.history.list_gaps(pane=pane.id, since=lines[0].at)
    return tuple(_build_gap_note(gap, lines) for gap in gaps if gap.start_at >= lines[0].at)


def _build_gap_note(gap: Gap, lines: list[Line]) -> GapNote:
    position = sum(line.at <= gap.start_at for line in lines)
    return GapNote(
        position=position,
        cause=gap.cause,
        start_at=format_timestamp(gap.start_at),
        end_at=format_optional_timestamp(gap.end_at),
    )


def render_text(result: PaneText, options: RenderOptions) -> str:
    if result.source == "screen":
        sanitize_row = sanitize_keep_colours if options.colour else sanitize
        screen = render_code_block("\n".join(sanitize_row(row) for row in result.text.split("\n")), options)
        return screen if options.is_quiet or not result.is_repainting else f"{screen}\n\n{get_hint(result)}"
    rows = [sanitize(row) for row in result.text.split("\n")] if result.first_at is not None else []
    # Insert from the end, so that the positions of the other gaps do not shift.
    for gap in sorted(result.gaps, key=lambda note: note.position, reverse=True):
        rows.insert(
            gap.position, options.paint("yellow", f"[gap: {gap.cause}, {gap.start_at} to {gap.end_at or 'now'}]")
        )
    if result.pending:
        rows.append(sanitize(result.pending))
    if result.lines_gone:
        rows.insert(0, options.paint("yellow", f"[{pluralize(result.lines_gone, 'line')} deleted by retention]"))
    return render_code_block("\n".join(rows), options)


def get_hint(result: PaneText) -> str | None:
    """Return where to read more than the lines: the screens of a full-screen program."""
    if not result.is_repainting:
        return None
    pane = result.identity.id
    shown = "This is its screen" if result.source == "screen" else f"`screen` or `visor get-screen {pane}` shows it"
    return (
        f"The program in pane {pane} uses the full screen, which has no lines. {shown};"
        f" `visor search <words> source:screen --pane {pane}` searches its screens."
    )


OP = Operation(
    name="get_text",
    aliases=("text", "view-output"),
    robot_name="get-text",
    summary="Show the last lines of a pane, or the new ones since a cursor.",
    doc="""Returns complete lines without escape sequences, with secrets redacted. Every result has a `cursor`; pass it
with `--since` to read only new lines. An invalid or outdated cursor is the error `invalid_cursor`, which names the
oldest valid one. Output that could not be captured is listed in `gaps`. The incomplete line at the cursor, and any
below it, is in `pending`. A program may rewrite lines that are still on its screen; with `--since` they are returned
again, before the new ones, and counted in `rewritten`.

A full-screen program prints no lines: its screen is returned in `screen` or, if the pane has no lines from before, as
the text (`source` is `screen`). `--escapes` keeps colours. With conditions such as `--if-prompt` the pane is checked
first; if one does not hold, nothing is returned. `view-output` is the same command.

`--command` selects the output of one command, from its first line; page through it with `--limit` and `--since`.
`lines_gone` counts its lines deleted by retention. `last` is the command that started last, running or not.""",
    run=run,
    follow=follow,
    shows_pane_text=True,
    render_text=render_text,
    is_verbatim=True,
    is_live=True,
    get_hint=get_hint,
    examples=(
        OperationExample("get-text 7", "show the last 50 lines of pane 7"),
        OperationExample("get-text work:1.0 --tail 200", "show 200 lines, by tmux position"),
        OperationExample("view-output 7 --lines 20 --if-prompt", "show 20 lines, only if the shell is at its prompt"),
        OperationExample("get-text 7 --command last", "show the output of the last command"),
        OperationExample("get-text 7 --follow", "print lines as they are completed"),
        OperationExample("robot get-text 7 --since 7:1042", "read new lines after a cursor, as JSON"),
    ),
)
