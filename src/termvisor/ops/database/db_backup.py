"""The operation `db_backup`: write a consistent copy of the database while it is in use."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest
from termvisor.model.action.action import WriteFile
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, format_bytes, pluralize, sanitize


class DbBackupArgs(Struct, frozen=True, kw_only=True):
    """Choose the backup file."""

    file: Annotated[
        str, Meta(description="Path of the new file.", extra={"positional": "one", "is_path": True}, min_length=1)
    ]


class DbBackupResult(Struct, frozen=True, kw_only=True):
    """``version`` is the schema version. The backup has all tables, but not the raw log."""

    path: str
    bytes: int
    taken_at: str
    version: int
    panes: int
    lines: int
    events: int


async def run(services: Services, args: DbBackupArgs) -> DbBackupResult:
    # The daemon writes the file, and its working directory differs from the client's.
    if not os.path.isabs(args.file):
        raise BadRequest(f"not an absolute path: {args.file}")
    backup = await services.maintenance.backup_database(args.file)
    return copy_fields(
        DbBackupResult,
        backup.contents,
        path=backup.path,
        bytes=backup.bytes,
        taken_at=format_timestamp(backup.taken_at),
    )


def render_text(result: DbBackupResult, options: RenderOptions) -> str:
    path = sanitize(result.path)
    if options.is_quiet:
        return path
    counts = (pluralize(result.panes, "pane"), pluralize(result.lines, "line"), pluralize(result.events, "event"))
    return f"{path}: {format_bytes(result.bytes)}, {', '.join(counts)}"


OP = Operation(
    name="db_backup",
    summary="Back up the database to a file while it is in use.",
    doc="""The backup is consistent, compact, private (mode 0600) and a single file. An existing file is never replaced.
It does not contain the raw log: copy the directory `raw` as well to keep that. `visor db restore` restores it. A
program needs approval.""",
    run=run,
    render_text=render_text,
    effect="change",
    list_changes=lambda _services, args: (WriteFile(path=os.path.realpath(args.file), why="database backup"),),
    examples=(OperationExample("db backup ~/visor-monday.db", "write a backup"),),
)
