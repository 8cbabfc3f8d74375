"""The op `export`: what panes printed and did, in the form that is needed elsewhere.

Text, one JSON object a line, the bytes themselves, a film, a report, or a copy of the whole database. Every way out
redacts again; only `--unredacted` gives raw bytes as they are, and that is logged.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, get_args

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.log import get_logger
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._asciicast import AsciicastWriter, build_markers, find_exit_status
from termvisor.ops.history._export_chunks import ExportChunk, ExportFormat, TimeRange, export_lines, export_raw
from termvisor.ops.history._report import MAX_REPORT_ITEMS, ReportData, ReportPeriod, render_report
from termvisor.ops.panes._listing import parse_time_filter, resolve_pane
from termvisor.ops.render.text import RenderOptions, format_bytes, sanitize, sanitize_lines

_SINGLE_PANE_FORMATS = {
    "raw": "the bytes of several panes make no sense in one file",
    "cast": "a film shows one screen",
}


class ExportArgs(Struct, frozen=True, kw_only=True):
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


async def run(services: Services, args: ExportArgs) -> AsyncGenerator[ExportChunk, None]:
    form = _choose_format(args)
    now = services.clock.now()
    span = TimeRange(parse_time_filter(args.since, now), parse_time_filter(args.until, now))
    if form == "snapshot":
        yield await _export_snapshot(services, args)
        return
    await services.panes.wait_until_stored()
    panes = (
        await services.panes.list_panes(include_gone=True)
        if args.pane is None
        else [await resolve_pane(services, args.pane)]
    )
    if form == "report":
        yield await _export_report(services, panes, span, args.pane)
        return
    if args.unredacted:
        get_logger("ops").warning("raw bytes of pane %s were exported without redaction", panes[0].id)
    for pane in panes:
        async with aclosing(_export_pane(services, pane, span, args)) as pieces:
            async for piece in pieces:
                yield piece


def _export_pane(
    services: Services, pane: PaneView, span: TimeRange, args: ExportArgs
) -> AsyncGenerator[ExportChunk, None]:
    form = _choose_format(args)
    if form == "raw":
        return export_raw(services, pane.id, span, is_unredacted=args.unredacted)
    return _export_cast(services, pane, span) if form == "cast" else export_lines(services, pane.id, span, form)


def _choose_format(args: ExportArgs) -> ExportFormat:
    asked = [form for form in get_args(ExportFormat) if getattr(args, form)]
    if len(asked) > 1:
        raise BadRequest(f"choose one of {', '.join('--' + form for form in asked)}")
    form: ExportFormat = asked[0] if asked else "text"
    if form in _SINGLE_PANE_FORMATS and args.pane is None:
        raise BadRequest(f"--{form} needs a pane: {_SINGLE_PANE_FORMATS[form]}")
    if args.unredacted and form != "raw":
        raise BadRequest("--unredacted goes with --raw: stored text never holds secrets")
    if form == "snapshot" and (args.pane or args.since or args.until):
        raise BadRequest("--snapshot copies everything: name no pane and no time")
    return form


async def _export_cast(services: Services, pane: PaneView, span: TimeRange) -> AsyncGenerator[ExportChunk, None]:
    """Frames and what happened meanwhile, as lines of an asciicast."""
    events = await services.history.list_events(pane=pane.id, since=span.since, limit=MAX_REPORT_ITEMS)
    commands = await services.history.commands.list(pane=pane.id, since=span.since, limit=MAX_REPORT_ITEMS)
    waiting = [marker for marker in build_markers(commands, events) if span.contains(marker.at)]
    cast, first = AsciicastWriter(), None
    async with aclosing(
        services.history.recording.render_frames(pane.id, since=span.since, until=span.until)
    ) as frames:
        async for frame in frames:
            if first is None:
                first = frame.at
                yield _build_cast_chunk(
                    pane.id, frame.at, cast.write_header(frame, f"pane {pane.id}: {pane.facts.command}")
                )
                waiting = [marker for marker in waiting if marker.at >= first]
            while waiting and waiting[0].at <= frame.at:
                yield _build_cast_chunk(pane.id, waiting[0].at, cast.write_marker(waiting.pop(0)))
            for line in cast.write_frame(frame):
                yield _build_cast_chunk(pane.id, frame.at, line)
    if first is None:
        raise BadRequest(f"nothing of pane {pane.id} was recorded in that time", hint="`visor gaps` may say why.")
    for marker in waiting:
        yield _build_cast_chunk(pane.id, marker.at, cast.write_marker(marker))
    if (ended := find_exit_status(events)) and span.contains(ended[0]):
        yield _build_cast_chunk(pane.id, ended[0], cast.write_exit(*ended))


def _build_cast_chunk(pane: PaneId, at: int, text: str) -> ExportChunk:
    return ExportChunk(form="cast", pane=pane, at=format_timestamp(at), text=text)


async def _export_report(
    services: Services, panes: list[PaneView], span: TimeRange, pane_reference: str | None
) -> ExportChunk:
    pane = None if pane_reference is None else panes[0].id
    now = services.clock.now()
    material = ReportData(
        panes=panes,
        commands=await services.history.commands.list(pane=pane, since=span.since, limit=MAX_REPORT_ITEMS),
        events=await services.history.list_events(pane=pane, since=span.since, limit=MAX_REPORT_ITEMS),
        gaps=await services.history.list_gaps(pane=pane, since=span.since),
    )
    text = render_report(material, ReportPeriod(since=span.since, until=now if span.until is None else span.until))
    return ExportChunk(form="report", pane=pane, at=format_timestamp(now), text=text)


async def _export_snapshot(services: Services, args: ExportArgs) -> ExportChunk:
    if not args.output or not args.output.startswith("/"):
        raise BadRequest("--snapshot needs --output with the path of a new file")
    copy = await services.maintenance.backup_database(args.output)
    return ExportChunk(
        form="snapshot", at=format_timestamp(copy.taken_at), text=f"{copy.path}: {format_bytes(copy.bytes)}"
    )


def render_text(result: ExportChunk, options: RenderOptions) -> str | bytes:
    if result.data is not None:
        # A terminal would obey whatever the pane's program once said.
        return sanitize_lines(result.data.decode("utf-8", "replace")).encode() if options.is_terminal else result.data
    if result.form == "jsonl":
        return encode_json_line(result)
    if result.form == "report" or (result.form == "cast" and not options.is_terminal):
        return result.text or ""
    return sanitize(result.text or "")


OP = Operation(
    name="export",
    robot_name="export",
    summary="What panes printed and did: text, JSON, bytes, a film, a report, a copy.",
    doc="""Lines come in order, pane after pane. `--raw` gives the bytes with their escapes, epoch after epoch; lines
of them that hold a recognised secret are replaced by their redacted text, unless `--unredacted` is given. On a
terminal raw bytes are shown without control characters. With `--format json`, raw bytes come in base64. `--cast` is a
film for asciinema 3 and its web player: screens drawn from the recording, without secrets, with markers for commands,
events and gaps. `--report` sums a range of time up in Markdown. `--snapshot` has the daemon write a copy of the
database that `visor db restore` takes back.""",
    args_type=ExportArgs,
    result_type=ExportChunk,
    run=run,
    render_text=render_text,
    is_stream=True,
    is_writing_file=lambda wanted: bool(wanted.snapshot),
    examples=(
        OperationExample("export 7 --text > pane7.txt", "all lines of one pane"),
        OperationExample("export --jsonl --since today --output today.jsonl", "today's lines of all panes"),
        OperationExample("export 7 --raw --output pane7.raw", "the bytes, secrets taken out"),
        OperationExample("export 7 --cast --since 10m --output pane7.cast", "a film of the last ten minutes"),
        OperationExample("export --report --since today --output today.md", "what happened today"),
        OperationExample("export --snapshot --output copy.db", "a copy of the database"),
    ),
)
