"""Operation `export`: export output as text, JSON Lines, raw bytes, asciicast, report or database snapshot.

Everything is redacted again on export; only `--unredacted` returns raw bytes unchanged, and that is logged.
"""

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.log import get_logger
from termvisor.model.action.action import Action, ExportUnredacted, WriteFile
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._asciicast import AsciicastWriter, CastVersion, build_markers, find_exit_status
from termvisor.ops.history._raw_redaction import RawOutputRedactor
from termvisor.ops.history._report import MAX_REPORT_ITEMS, ReportData, TimeRange, render_report
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.panes._text_cursor import BEFORE_FIRST_LINE
from termvisor.ops.render.results import parse_time_filter
from termvisor.ops.render.text import RenderOptions, format_bytes, sanitize, sanitize_lines
from termvisor.redaction import Redactor

_SINGLE_PANE_FORMATS = {
    "raw": "bytes of several panes cannot be mixed in one file",
    "cast": "an asciicast shows one screen",
}
# A pane can have millions of lines; one page is in memory at a time.
_LINES_PER_PAGE = 1000


class ExportArgs(Struct, frozen=True, kw_only=True):
    """What to export, and the format; text by default."""

    pane: Annotated[
        str | None,
        Meta(description="The pane: id, %id or session:window.pane. Default: all panes.", extra={"positional": "one"}),
    ] = None
    text: Annotated[bool, Meta(description="Plain lines (the default).")] = False
    jsonl: Annotated[bool, Meta(description="One JSON object per line, with pane, line number and time.")] = False
    raw: Annotated[bool, Meta(description="Raw bytes of one pane, with escape sequences.")] = False
    cast: Annotated[bool, Meta(description="Recording of one pane as an asciicast, for asciinema.")] = False
    cast_version: Annotated[
        CastVersion, Meta(description="With --cast: 2, which every player reads, or 3, for asciinema 3 and newer.")
    ] = "2"
    report: Annotated[bool, Meta(description="Markdown report of panes, commands, events and gaps.")] = False
    snapshot: Annotated[
        bool, Meta(description="Consistent copy of the database; requires --output with a new file.")
    ] = False
    since: Annotated[
        str | None, Meta(description="Only data since this time: ISO 8601, today, or an age such as 10m.")
    ] = None
    until: Annotated[str | None, Meta(description="Only data until this time: ISO 8601, or an age such as 5m.")] = None
    unredacted: Annotated[bool, Meta(description="With --raw: do not redact secrets. This is logged.")] = False
    output: Annotated[
        str | None,
        Meta(
            description="Write to this file (mode 0600) instead of stdout.", extra={"short": ("-o",), "is_path": True}
        ),
    ] = None


ExportFormat = Literal["text", "jsonl", "raw", "cast", "report", "snapshot"]


class ExportChunk(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line, raw bytes (base64 in JSON), a line of an asciicast, a report, or the path of a snapshot."""

    form: ExportFormat
    pane: int | None = None
    at: str
    number: int | None = None
    text: str | None = None
    epoch: int | None = None
    data: bytes | None = None


async def run(services: Services, args: ExportArgs) -> AsyncGenerator[ExportChunk, None]:
    export_format = _choose_format(args)
    now = services.clock.now()
    span = TimeRange(parse_time_filter(args.since, now), parse_time_filter(args.until, now))
    if export_format == "snapshot":
        yield await _export_snapshot(services, args)
        return
    pane = None if args.pane is None else await resolve_pane(services, args.pane)
    await services.panes.wait_until_stored(None if pane is None else pane.id)
    panes = await services.panes.list_panes(include_gone=True) if pane is None else [pane]
    if export_format == "report":
        yield await _export_report(services, panes, span, args.pane)
        return
    if args.unredacted:
        # These bytes are exported without redaction, so this is logged.
        get_logger("ops").warning("exported raw bytes of pane %s without redaction", panes[0].id)
    for pane in panes:
        async with aclosing(_export_pane(services, pane, span, args)) as chunks:
            async for chunk in chunks:
                yield chunk


def _export_pane(
    services: Services, pane: PaneView, span: TimeRange, args: ExportArgs
) -> AsyncGenerator[ExportChunk, None]:
    export_format = _choose_format(args)
    if export_format == "raw":
        return export_raw(services, pane.id, span, is_unredacted=args.unredacted)
    if export_format == "cast":
        return _export_cast(services, pane, span, args.cast_version)
    return export_lines(services, pane.id, span, export_format)


def _choose_format(args: ExportArgs) -> ExportFormat:
    selected = [name for name in get_args(ExportFormat) if getattr(args, name)]
    if len(selected) > 1:
        raise BadRequest(f"options cannot be combined: {', '.join(f'--{name}' for name in selected)}")
    export_format: ExportFormat = selected[0] if selected else "text"
    if export_format in _SINGLE_PANE_FORMATS and args.pane is None:
        raise BadRequest(f"--{export_format} requires a pane: {_SINGLE_PANE_FORMATS[export_format]}")
    if args.unredacted and export_format != "raw":
        raise BadRequest("--unredacted requires --raw: stored text is always redacted")
    if export_format == "snapshot" and (args.pane or args.since or args.until):
        raise BadRequest("--snapshot copies the whole database: omit the pane, --since and --until")
    return export_format


async def _export_cast(
    services: Services, pane: PaneView, span: TimeRange, version: CastVersion
) -> AsyncGenerator[ExportChunk, None]:
    """Yield frames, with markers for commands and events, as lines of an asciicast."""
    events = await services.history.list_events(pane=pane.id, since=span.since, limit=MAX_REPORT_ITEMS)
    commands = await services.history.commands.list(pane=pane.id, since=span.since, limit=MAX_REPORT_ITEMS)
    markers = [marker for marker in build_markers(commands, events) if span.contains(marker.at)]
    cast, first = AsciicastWriter(version), None
    async with aclosing(
        services.history.recording.render_frames(pane.id, since=span.since, until=span.until)
    ) as frames:
        async for frame in frames:
            if first is None:
                first = frame.at
                yield _build_cast_chunk(
                    pane.id, frame.at, cast.write_header(frame, f"pane {pane.id}: {pane.facts.command}")
                )
                # The recording begins with its first frame, so earlier markers are omitted.
                markers = [marker for marker in markers if marker.at >= first]
            # The lines of an asciicast must be in order of time.
            while markers and markers[0].at <= frame.at:
                yield _build_cast_chunk(pane.id, markers[0].at, cast.write_marker(markers.pop(0)))
            for line in cast.write_frame(frame):
                yield _build_cast_chunk(pane.id, frame.at, line)
    if first is None:
        raise BadRequest(
            f"no recording of pane {pane.id} in that period", hint="`visor gaps` shows what was not captured."
        )
    for marker in markers:
        yield _build_cast_chunk(pane.id, marker.at, cast.write_marker(marker))
    if (ended := find_exit_status(events)) and span.contains(ended[0]):
        yield _build_cast_chunk(pane.id, ended[0], cast.write_exit(*ended))


async def _export_report(
    services: Services, panes: list[PaneView], span: TimeRange, pane_reference: str | None
) -> ExportChunk:
    pane = None if pane_reference is None else panes[0].id
    now = services.clock.now()
    data = ReportData(
        panes=panes,
        commands=await services.history.commands.list(pane=pane, since=span.since, limit=MAX_REPORT_ITEMS),
        events=await services.history.list_events(pane=pane, since=span.since, limit=MAX_REPORT_ITEMS),
        gaps=await services.history.list_gaps(pane=pane, since=span.since),
    )
    text = render_report(data, span, now)
    return ExportChunk(form="report", pane=pane, at=format_timestamp(now), text=text)


async def _export_snapshot(services: Services, args: ExportArgs) -> ExportChunk:
    # The daemon writes the copy, and its working directory differs from the client's.
    if not args.output or not args.output.startswith("/"):
        raise BadRequest("--snapshot requires --output with the path of a new file")
    copy = await services.maintenance.backup_database(args.output)
    return ExportChunk(
        form="snapshot", at=format_timestamp(copy.taken_at), text=f"{copy.path}: {format_bytes(copy.bytes)}"
    )


async def export_lines(
    services: Services, pane: PaneId, span: TimeRange, export_format: ExportFormat
) -> AsyncGenerator[ExportChunk, None]:
    after, redactor = BEFORE_FIRST_LINE, Redactor()
    while lines := await services.history.list_lines(pane, after=after, limit=_LINES_PER_PAGE):
        after = lines[-1].number
        texts = redactor.redact_lines([line.text for line in lines])
        for line, text in zip(lines, texts, strict=True):
            if span.contains(line.at):
                yield ExportChunk(
                    form=export_format, pane=line.pane, at=format_timestamp(line.at), number=line.number, text=text
                )


async def export_raw(
    services: Services, pane: PaneId, span: TimeRange, *, is_unredacted: bool
) -> AsyncGenerator[ExportChunk, None]:
    redactor, epoch, at = RawOutputRedactor(), EpochId(0), 0
    async for delta in services.history.recording.read_raw(pane, since=span.since):
        # Bytes are stored in order of time, and `since` was applied by the store.
        if not span.contains(delta.at):
            break
        # A new epoch is a new stream: a line must not be joined across the gap.
        if delta.epoch != epoch and (rest := redactor.finish()):
            yield _build_raw_chunk(pane, epoch, at, rest)
        epoch, at = delta.epoch, delta.at
        data = delta.data if is_unredacted else redactor.feed(delta.data)
        if data:
            yield _build_raw_chunk(pane, epoch, at, data)
    if rest := redactor.finish():
        yield _build_raw_chunk(pane, epoch, at, rest)


def _build_raw_chunk(pane: PaneId, epoch: EpochId, at: int, data: bytes) -> ExportChunk:
    return ExportChunk(form="raw", pane=pane, at=format_timestamp(at), epoch=epoch, data=data)


def _build_cast_chunk(pane: PaneId, at: int, text: str) -> ExportChunk:
    return ExportChunk(form="cast", pane=pane, at=format_timestamp(at), text=text)


def _list_changes(_services: Services, args: ExportArgs) -> tuple[Action, ...]:
    if args.snapshot and args.output:
        return (WriteFile(path=os.path.realpath(args.output), why="database backup"),)
    is_secret = args.unredacted and args.raw and args.pane is not None
    return (ExportUnredacted(reference=args.pane or ""),) if is_secret else ()


def render_text(result: ExportChunk, options: RenderOptions) -> str | bytes:
    if result.data is not None:
        # A terminal would execute the escape sequences of the recorded program.
        return sanitize_lines(result.data.decode("utf-8", "replace")).encode() if options.is_terminal else result.data
    if result.form == "jsonl":
        return encode_json_line(result)
    if result.form == "report" or (result.form == "cast" and not options.is_terminal):
        return result.text or ""
    # As bytes, because an empty text would print nothing, and blank lines are part of the output.
    return f"{sanitize(result.text or '')}\n".encode("utf-8", "replace")


OP = Operation(
    name="export",
    robot_name="export",
    summary="Export output as text, JSON, raw bytes, asciicast, report or snapshot.",
    doc="""Lines are exported in order, pane by pane. `--raw` exports the bytes with their escape sequences, epoch by
epoch; lines with a detected secret are replaced by their redacted text, unless `--unredacted` is given, for which a
program needs approval. In a terminal raw bytes are printed without control characters; with `--format json` they are
base64. `--cast` writes a recording for asciinema 3 and its web player: redacted screens, with markers for commands,
events and gaps. `--report` summarizes a period in Markdown. `--snapshot` lets the daemon write a copy of the database,
which `visor db restore` can restore; a program needs approval for it.""",
    run=run,
    render_text=render_text,
    is_verbatim=True,
    is_stream=True,
    list_changes=_list_changes,
    is_writing_file=lambda args: bool(args.snapshot),
    examples=(
        OperationExample("export 7 --text > pane7.txt", "export all lines of one pane"),
        OperationExample("export --jsonl --since today --output today.jsonl", "export today's lines of all panes"),
        OperationExample("export 7 --raw --output pane7.raw", "export the bytes, with secrets redacted"),
        OperationExample(
            "export 7 --cast --since 10m --output pane7.cast", "export an asciicast of the last ten minutes"
        ),
        OperationExample("export --report --since today --output today.md", "write a report of today"),
        OperationExample("export --snapshot --output copy.db", "copy the database"),
    ),
)
