"""The op `get_text`: what a pane printed, as plain lines, from its end or from a cursor on."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from termvisor.clock import format_timestamp
from termvisor.model.terminal.output import Gap, GapCause, Line
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._command_item import CommandFacts, build_command_facts, resolve_command
from termvisor.ops.history._command_output import read_command_output
from termvisor.ops.panes._listing import PaneIdentity, format_optional_timestamp, identify_pane, resolve_pane
from termvisor.ops.panes._text_cursor import find_last_line_number, format_cursor, parse_cursor
from termvisor.ops.render.text import RenderOptions, pluralize, render_code_block, sanitize, sanitize_keep_colours
from termvisor.redaction import Redactor, redact


class GetTextArgs(Struct, frozen=True, kw_only=True):
    """Which text to read."""

    pane: Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]
    tail: Annotated[
        int, Meta(description="How many of the last lines.", ge=1, le=100_000, extra={"short": ("-n",)})
    ] = 50
    since: Annotated[str | None, Meta(description="Only what follows this cursor (from an earlier answer).")] = None
    limit: Annotated[int, Meta(description="With --since: at most so many lines.", ge=1, le=100_000)] = 1000
    command: Annotated[
        str | None,
        Meta(description="Only the output of one command: `last` (started last) or a number from list-commands."),
    ] = None
    numbers: Annotated[bool, Meta(description="Also each line with its number and time.")] = False
    escapes: Annotated[
        bool, Meta(description="With colours: answered from the screen, since stored text has none.")
    ] = False


class TextLine(Struct, frozen=True, kw_only=True):
    number: int
    at: str
    text: str


class GapNote(Struct, frozen=True, kw_only=True):
    """Something is missing after ``position`` lines of the text."""

    position: int
    cause: GapCause
    start_at: str
    end_at: str | None


class PaneText(Struct, frozen=True, kw_only=True):
    """``text`` are settled lines; ``pending`` is the unfinished last one. ``cursor`` is where to go on reading."""

    identity: PaneIdentity
    source: Literal["stream", "screen"]
    text: str
    pending: str
    cursor: str
    first_at: str | None = None
    last_at: str | None = None
    is_complete: bool = True
    """False when more lines wait beyond the limit: ask again with ``cursor``."""
    command: CommandFacts | None = None
    """The command whose output this is."""
    lines_gone: int = 0
    """How many lines of that output, its first ones, are no longer kept."""
    is_repainting: bool = False
    """The program shows the alternate screen: what stands there is no line; see `get-screen`."""
    gaps: tuple[GapNote, ...] = ()
    lines: tuple[TextLine, ...] = ()


async def run(services: Services, args: GetTextArgs) -> PaneText:
    pane = await resolve_pane(services, args.pane)
    await services.panes.wait_until_stored()
    if args.escapes:
        return await _read_screen_text(services, pane)
    if args.command is not None:
        return await _read_command_text(services, pane, args.command, args)
    if args.since is None:
        lines, is_complete = await services.history.list_lines(pane.id, limit=args.tail), True
        position = lines[-1].number if lines else await find_last_line_number(services, pane.id)
    else:
        position = await parse_cursor(services, pane.id, args.since)
        lines = await services.history.list_lines(pane.id, after=position, limit=args.limit + 1)
        is_complete = len(lines) <= args.limit
        lines = lines[: args.limit]
        position = lines[-1].number if lines else position
    lines, pending = _redact_lines(lines, services.panes.get_pending_line(pane.id))
    return PaneText(
        identity=identify_pane(pane),
        source="stream",
        text="\n".join(line.text for line in lines),
        pending=pending if is_complete else "",
        cursor=format_cursor(pane.id, position),
        first_at=format_optional_timestamp(lines[0].at if lines else None),
        last_at=format_optional_timestamp(lines[-1].at if lines else None),
        is_complete=is_complete,
        is_repainting=pane.activity.kind == "alt_screen",
        gaps=await _find_gaps(services, pane, lines),
        lines=tuple(build_text_line(line) for line in lines) if args.numbers else (),
    )


def _redact_lines(lines: list[Line], pending: str) -> tuple[list[Line], str]:
    """The lines and what follows them, read as one stream: a secret may begin in one row and end in the next."""
    *texts, last = Redactor().redact_lines([*(line.text for line in lines), pending])
    return [structs.replace(line, text=text) for line, text in zip(lines, texts, strict=True)], last


def build_text_line(line: Line) -> TextLine:
    return TextLine(number=line.number, at=format_timestamp(line.at), text=line.text)


async def _read_screen_text(services: Services, pane: PaneView) -> PaneText:
    screen = await services.panes.capture_screen(pane.id, escapes=True)
    return PaneText(
        identity=identify_pane(pane),
        source="screen",
        text=redact("\n".join(screen.rows)),
        pending="",
        cursor=format_cursor(pane.id, await find_last_line_number(services, pane.id)),
        last_at=format_timestamp(screen.at),
    )


async def _read_command_text(services: Services, pane: PaneView, command_reference: str, args: GetTextArgs) -> PaneText:
    command = await resolve_command(services, pane.id, command_reference)
    after = None if args.since is None else await parse_cursor(services, pane.id, args.since)
    part = await read_command_output(services, command, after, args.limit)
    lines, pending = _redact_lines(part.lines, services.panes.get_pending_line(pane.id) if part.has_pending else "")
    return PaneText(
        identity=identify_pane(pane),
        source="stream",
        text="\n".join(line.text for line in lines),
        pending=pending,
        cursor=format_cursor(pane.id, part.position),
        first_at=format_optional_timestamp(lines[0].at if lines else None),
        last_at=format_optional_timestamp(lines[-1].at if lines else None),
        is_complete=part.is_complete,
        command=build_command_facts(command, services.clock.now()),
        lines_gone=part.lines_gone,
        gaps=tuple(_build_gap_note(gap, lines) for gap in part.gaps),
        lines=tuple(build_text_line(line) for line in lines) if args.numbers else (),
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
        tidy = sanitize_keep_colours if options.colour else sanitize
        return render_code_block("\n".join(tidy(row) for row in result.text.split("\n")), options)
    rows = [sanitize(row) for row in result.text.split("\n")] if result.first_at is not None else []
    for gap in sorted(result.gaps, key=lambda note: note.position, reverse=True):
        rows.insert(
            gap.position, options.paint("yellow", f"[gap: {gap.cause}, {gap.start_at} to {gap.end_at or 'now'}]")
        )
    if result.pending:
        rows.append(sanitize(result.pending))
    if result.lines_gone:
        rows.insert(0, options.paint("yellow", f"[{pluralize(result.lines_gone, 'line')} no longer kept]"))
    if not rows and result.is_repainting and not options.is_quiet:
        return _render_repaint_hint(result.identity.id)
    return render_code_block("\n".join(rows), options)


def _render_repaint_hint(pane: int) -> str:
    return (
        f"Pane {pane} printed no lines: its program repaints the screen.\n"
        f"`visor get-screen {pane}` shows it; `visor search <words> source:screen --pane {pane}` finds what it showed."
    )


OP = Operation(
    name="get_text",
    aliases=("text", "view-output"),
    robot_name="get-text",
    summary="The last lines a pane printed, or what is new since a cursor.",
    doc="""Settled lines without escapes and without secrets. Every answer carries a `cursor`; give it back with
`--since` to read only what is new. A cursor that is foreign or too old is `invalid_cursor` and names the oldest valid
one. Places where output could not be captured stand in `gaps`. A line that is not finished yet is `pending`.
With `--command` it is the output of one command, from its first line on; `--limit` and `--since` page through it. What
is no longer kept of it is counted in `lines_gone`. `last` is the command that started last, whether it runs or not.""",
    args_type=GetTextArgs,
    result_type=PaneText,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("get-text 7", "the last 50 lines of pane 7"),
        OperationExample("get-text work:1.0 --tail 200", "more of them, by tmux place"),
        OperationExample("get-text 7 --command last", "what the last command printed"),
        OperationExample("robot get-text 7 --since 7:1042", "what is new since an earlier answer, as JSON"),
    ),
)
