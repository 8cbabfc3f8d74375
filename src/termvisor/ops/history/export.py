"""The op `export`: what panes printed and did, in the form that is needed elsewhere.

Text, one JSON object a line, the bytes themselves, a film, a report, or a copy of the whole database. Every way out
redacts again; only `--unredacted` gives raw bytes as they are, and that is logged.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, get_args

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest
from termvisor.log import logger
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.envelope import encode
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.history._asciicast import Cast, exit_status, markers
from termvisor.ops.history._export_chunks import ExportForm, Piece, Span, lines, raw
from termvisor.ops.history._report import MOST, Material, Range, report
from termvisor.ops.panes._listing import moment, named
from termvisor.ops.render.text import Look, clean, clean_lines, size

_NEEDS_PANE = {"raw": "the bytes of several panes make no sense in one file", "cast": "a film shows one screen"}


class Export(Struct, frozen=True, kw_only=True):
    """What to export, and in which form; text where none is named."""

    pane: Annotated[
        str | None, Meta(description="The pane; any reference. Without it: all panes.", extra={"positional": "one"})
    ] = None
    text: Annotated[bool, Meta(description="Plain lines (the default).")] = False
    jsonl: Annotated[bool, Meta(description="One JSON object a line, with pane, number and time.")] = False
    raw: Annotated[bool, Meta(description="The bytes of one pane, with escapes.")] = False
    cast: Annotated[bool, Meta(description="A film of one pane: asciicast 3, which asciinema plays.")] = False
    report: Annotated[bool, Meta(description="Markdown: panes, commands, events and gaps.")] = False
    snapshot: Annotated[
        bool, Meta(description="A consistent copy of the database; with --output, which must not exist yet.")
    ] = False
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    until: Annotated[str | None, Meta(description="Not newer than this: ISO 8601, or an age such as 5m.")] = None
    unredacted: Annotated[bool, Meta(description="With --raw: secrets stay in. This is logged.")] = False
    output: Annotated[
        str | None,
        Meta(description="Write to this file (made private) instead.", extra={"short": ("-o",), "is_path": True}),
    ] = None


async def run(world: World, wanted: Export) -> AsyncGenerator[Piece, None]:
    form = _form(wanted)
    now = world.clock.now()
    span = Span(moment(wanted.since, now), moment(wanted.until, now))
    if form == "snapshot":
        yield await _snapshot(world, wanted)
        return
    await world.fleet.settle()
    panes = await world.fleet.panes(gone=True) if wanted.pane is None else [await named(world, wanted.pane)]
    if form == "report":
        yield await _report(world, panes, span, wanted.pane)
        return
    if wanted.unredacted:
        logger("ops").warning("raw bytes of pane %s were exported without redaction", panes[0].id)
    for pane in panes:
        async with aclosing(_of_pane(world, pane, span, wanted)) as pieces:
            async for piece in pieces:
                yield piece


def _of_pane(world: World, pane: PaneView, span: Span, wanted: Export) -> AsyncGenerator[Piece, None]:
    form = _form(wanted)
    if form == "raw":
        return raw(world, pane.id, span, is_unredacted=wanted.unredacted)
    return _film(world, pane, span) if form == "cast" else lines(world, pane.id, span, form)


def _form(wanted: Export) -> ExportForm:
    asked = [form for form in get_args(ExportForm) if getattr(wanted, form)]
    if len(asked) > 1:
        raise BadRequest(f"choose one of {', '.join('--' + form for form in asked)}")
    form: ExportForm = asked[0] if asked else "text"
    if form in _NEEDS_PANE and wanted.pane is None:
        raise BadRequest(f"--{form} needs a pane: {_NEEDS_PANE[form]}")
    if wanted.unredacted and form != "raw":
        raise BadRequest("--unredacted goes with --raw: stored text never holds secrets")
    if form == "snapshot" and (wanted.pane or wanted.since or wanted.until):
        raise BadRequest("--snapshot copies everything: name no pane and no time")
    return form


async def _film(world: World, pane: PaneView, span: Span) -> AsyncGenerator[Piece, None]:
    """Frames and what happened meanwhile, as lines of an asciicast."""
    events = await world.history.events(pane=pane.id, since=span.since, limit=MOST)
    commands = await world.history.commands.list(pane=pane.id, since=span.since, limit=MOST)
    waiting = [marker for marker in markers(commands, events) if span.holds(marker.at)]
    cast, first = Cast(), None
    async with aclosing(world.history.recording.frames(pane.id, since=span.since, until=span.until)) as frames:
        async for frame in frames:
            if first is None:
                first = frame.at
                yield _line(pane.id, frame.at, cast.header(frame, f"pane {pane.id}: {pane.facts.command}"))
                waiting = [marker for marker in waiting if marker.at >= first]
            while waiting and waiting[0].at <= frame.at:
                yield _line(pane.id, waiting[0].at, cast.marker(waiting.pop(0)))
            for line in cast.frame(frame):
                yield _line(pane.id, frame.at, line)
    if first is None:
        raise BadRequest(f"nothing of pane {pane.id} was recorded in that time", hint="`visor gaps` may say why.")
    for marker in waiting:
        yield _line(pane.id, marker.at, cast.marker(marker))
    if (ended := exit_status(events)) and span.holds(ended[0]):
        yield _line(pane.id, ended[0], cast.exit(*ended))


def _line(pane: PaneId, at: int, text: str) -> Piece:
    return Piece(form="cast", pane=pane, at=iso(at), text=text)


async def _report(world: World, panes: list[PaneView], span: Span, one: str | None) -> Piece:
    pane = None if one is None else panes[0].id
    now = world.clock.now()
    material = Material(
        panes=panes,
        commands=await world.history.commands.list(pane=pane, since=span.since, limit=MOST),
        events=await world.history.events(pane=pane, since=span.since, limit=MOST),
        gaps=await world.history.gaps(pane=pane, since=span.since),
    )
    text = report(material, Range(since=span.since, until=now if span.until is None else span.until))
    return Piece(form="report", pane=pane, at=iso(now), text=text)


async def _snapshot(world: World, wanted: Export) -> Piece:
    if not wanted.output or not wanted.output.startswith("/"):
        raise BadRequest("--snapshot needs --output with the path of a new file")
    copy = await world.upkeep.backup(wanted.output)
    return Piece(form="snapshot", at=iso(copy.taken_at), text=f"{copy.path}: {size(copy.bytes)}")


def plain(piece: Piece, look: Look) -> str | bytes:
    if piece.data is not None:
        # A terminal would obey whatever the pane's program once said.
        return clean_lines(piece.data.decode("utf-8", "replace")).encode() if look.is_terminal else piece.data
    if piece.form == "jsonl":
        return encode(piece)
    if piece.form == "report" or (piece.form == "cast" and not look.is_terminal):
        return piece.text or ""
    return clean(piece.text or "")


OP = Op(
    name="export",
    robot="export",
    summary="What panes printed and did: text, JSON, bytes, a film, a report, a copy.",
    doc="""Lines come in order, pane after pane. `--raw` gives the bytes with their escapes, epoch after epoch; lines
of them that hold a recognised secret are replaced by their redacted text, unless `--unredacted` is given. On a
terminal raw bytes are shown without control characters. With `--format json`, raw bytes come in base64. `--cast` is a
film for asciinema 3 and its web player: screens drawn from the recording, without secrets, with markers for commands,
events and gaps. `--report` sums a range of time up in Markdown. `--snapshot` has the daemon write a copy of the
database that `visor db restore` takes back.""",
    Input=Export,
    Output=Piece,
    run=run,
    plain=plain,
    is_stream=True,
    makes_file=lambda wanted: bool(wanted.snapshot),
    examples=(
        Example("export 7 --text > pane7.txt", "all lines of one pane"),
        Example("export --jsonl --since today --output today.jsonl", "today's lines of all panes"),
        Example("export 7 --raw --output pane7.raw", "the bytes, secrets taken out"),
        Example("export 7 --cast --since 10m --output pane7.cast", "a film of the last ten minutes"),
        Example("export --report --since today --output today.md", "what happened today"),
        Example("export --snapshot --output copy.db", "a copy of the database"),
    ),
)
