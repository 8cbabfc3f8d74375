"""The op `get_text`: what a pane printed, as plain lines, from its end or from a cursor on."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from termvisor.clock import iso
from termvisor.model.terminal.output import Gap, GapCause, Line
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.history._command_item import CommandFacts, chosen, facts
from termvisor.ops.history._command_output import output
from termvisor.ops.panes._listing import PaneIdentity, identity, instant, named
from termvisor.ops.panes._text_cursor import newest, read, write
from termvisor.ops.render.text import Look, block, clean, clean_coloured, counted
from termvisor.redaction import Redactor, redact


class GetText(Struct, frozen=True, kw_only=True):
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


class Text(Struct, frozen=True, kw_only=True):
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


async def run(world: World, wanted: GetText) -> Text:
    pane = await named(world, wanted.pane)
    await world.fleet.settle()
    if wanted.escapes:
        return await _from_screen(world, pane)
    if wanted.command is not None:
        return await _of_command(world, pane, wanted.command, wanted)
    if wanted.since is None:
        lines, is_complete = await world.history.lines(pane.id, limit=wanted.tail), True
        position = lines[-1].number if lines else await newest(world, pane.id)
    else:
        position = await read(world, pane.id, wanted.since)
        lines = await world.history.lines(pane.id, after=position, limit=wanted.limit + 1)
        is_complete = len(lines) <= wanted.limit
        lines = lines[: wanted.limit]
        position = lines[-1].number if lines else position
    lines, pending = _redacted(lines, world.fleet.pending(pane.id))
    return Text(
        identity=identity(pane),
        source="stream",
        text="\n".join(line.text for line in lines),
        pending=pending if is_complete else "",
        cursor=write(pane.id, position),
        first_at=instant(lines[0].at if lines else None),
        last_at=instant(lines[-1].at if lines else None),
        is_complete=is_complete,
        is_repainting=pane.activity.kind == "alt_screen",
        gaps=await _gaps(world, pane, lines),
        lines=tuple(text_line(line) for line in lines) if wanted.numbers else (),
    )


def _redacted(lines: list[Line], pending: str) -> tuple[list[Line], str]:
    """The lines and what follows them, read as one stream: a secret may begin in one row and end in the next."""
    *texts, last = Redactor().lines([*(line.text for line in lines), pending])
    return [structs.replace(line, text=text) for line, text in zip(lines, texts, strict=True)], last


def text_line(line: Line) -> TextLine:
    return TextLine(number=line.number, at=iso(line.at), text=line.text)


async def _from_screen(world: World, pane: PaneView) -> Text:
    screen = await world.fleet.screen(pane.id, escapes=True)
    return Text(
        identity=identity(pane),
        source="screen",
        text=redact("\n".join(screen.rows)),
        pending="",
        cursor=write(pane.id, await newest(world, pane.id)),
        last_at=iso(screen.at),
    )


async def _of_command(world: World, pane: PaneView, which: str, wanted: GetText) -> Text:
    command = await chosen(world, pane.id, which)
    after = None if wanted.since is None else await read(world, pane.id, wanted.since)
    part = await output(world, command, after, wanted.limit)
    lines, pending = _redacted(part.lines, world.fleet.pending(pane.id) if part.has_pending else "")
    return Text(
        identity=identity(pane),
        source="stream",
        text="\n".join(line.text for line in lines),
        pending=pending,
        cursor=write(pane.id, part.position),
        first_at=instant(lines[0].at if lines else None),
        last_at=instant(lines[-1].at if lines else None),
        is_complete=part.is_complete,
        command=facts(command, world.clock.now()),
        lines_gone=part.lines_gone,
        gaps=tuple(_note(gap, lines) for gap in part.gaps),
        lines=tuple(text_line(line) for line in lines) if wanted.numbers else (),
    )


async def _gaps(world: World, pane: PaneView, lines: list[Line]) -> tuple[GapNote, ...]:
    if not lines:
        return ()
    gaps = await world.history.gaps(pane=pane.id, since=lines[0].at)
    return tuple(_note(gap, lines) for gap in gaps if gap.start_at >= lines[0].at)


def _note(gap: Gap, lines: list[Line]) -> GapNote:
    position = sum(line.at <= gap.start_at for line in lines)
    return GapNote(position=position, cause=gap.cause, start_at=iso(gap.start_at), end_at=instant(gap.end_at))


def plain(text: Text, look: Look) -> str:
    if text.source == "screen":
        tidy = clean_coloured if look.colour else clean
        return block("\n".join(tidy(row) for row in text.text.split("\n")), look)
    rows = [clean(row) for row in text.text.split("\n")] if text.first_at is not None else []
    for gap in sorted(text.gaps, key=lambda note: note.position, reverse=True):
        rows.insert(gap.position, look.paint("yellow", f"[gap: {gap.cause}, {gap.start_at} to {gap.end_at or 'now'}]"))
    if text.pending:
        rows.append(clean(text.pending))
    if text.lines_gone:
        rows.insert(0, look.paint("yellow", f"[{counted(text.lines_gone, 'line')} no longer kept]"))
    if not rows and text.is_repainting and not look.is_quiet:
        return _repaints(text.identity.id)
    return block("\n".join(rows), look)


def _repaints(pane: int) -> str:
    return (
        f"Pane {pane} printed no lines: its program repaints the screen.\n"
        f"`visor get-screen {pane}` shows it; `visor search <words> source:screen --pane {pane}` finds what it showed."
    )


OP = Op(
    name="get_text",
    aliases=("text", "view-output"),
    robot="get-text",
    summary="The last lines a pane printed, or what is new since a cursor.",
    doc="""Settled lines without escapes and without secrets. Every answer carries a `cursor`; give it back with
`--since` to read only what is new. A cursor that is foreign or too old is `invalid_cursor` and names the oldest valid
one. Places where output could not be captured stand in `gaps`. A line that is not finished yet is `pending`.
With `--command` it is the output of one command, from its first line on; `--limit` and `--since` page through it. What
is no longer kept of it is counted in `lines_gone`. `last` is the command that started last, whether it runs or not.""",
    Input=GetText,
    Output=Text,
    run=run,
    plain=plain,
    examples=(
        Example("get-text 7", "the last 50 lines of pane 7"),
        Example("get-text work:1.0 --tail 200", "more of them, by tmux place"),
        Example("get-text 7 --command last", "what the last command printed"),
        Example("robot get-text 7 --since 7:1042", "what is new since an earlier answer, as JSON"),
    ),
)
