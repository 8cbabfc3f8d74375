"""The op `db_backup`: a consistent copy of the database, made while it is in use."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, format_bytes, pluralize, sanitize


class DbBackupArgs(Struct, frozen=True, kw_only=True):
    """Where to."""

    file: Annotated[
        str, Meta(description="The path of a new file.", extra={"positional": "one", "is_path": True}, min_length=1)
    ]


class DbBackupResult(Struct, frozen=True, kw_only=True):
    """``version`` is the schema's. The copy holds text, events and all else, but no raw bytes."""

    path: str
    bytes: int
    taken_at: str
    version: int
    panes: int
    lines: int
    events: int


async def run(services: Services, args: DbBackupArgs) -> DbBackupResult:
    if not os.path.isabs(args.file):
        raise BadRequest(f"not an absolute path: {args.file}")
    made = await services.maintenance.backup_database(args.file)
    return DbBackupResult(
        path=made.path,
        bytes=made.bytes,
        taken_at=format_timestamp(made.taken_at),
        version=made.contents.version,
        panes=made.contents.panes,
        lines=made.contents.lines,
        events=made.contents.events,
    )


def render_text(result: DbBackupResult, options: RenderOptions) -> str:
    held = ", ".join(
        (pluralize(result.panes, "pane"), pluralize(result.lines, "line"), pluralize(result.events, "event"))
    )
    return (
        sanitize(result.path) if options.is_quiet else f"{sanitize(result.path)}: {format_bytes(result.bytes)}, {held}"
    )


OP = Operation(
    name="db_backup",
    summary="Copy the database to a file, while it is in use.",
    doc="""The copy is consistent, compact and private (0600), and needs no other file beside it. An existing file is
never replaced. Raw bytes are not in it: copy the folder `raw` as well if you want to keep them. `visor db restore` puts
a copy back.""",
    args_type=DbBackupArgs,
    result_type=DbBackupResult,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(OperationExample("db backup ~/visor-monday.db", "a copy to keep"),),
)
