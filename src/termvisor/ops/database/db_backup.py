"""The op `db_backup`: a consistent copy of the database, made while it is in use."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean, counted, size


class DbBackup(Struct, frozen=True, kw_only=True):
    """Where to."""

    file: Annotated[
        str, Meta(description="The path of a new file.", extra={"positional": "one", "is_path": True}, min_length=1)
    ]


class BackupMade(Struct, frozen=True, kw_only=True):
    """``version`` is the schema's. The copy holds text, events and all else, but no raw bytes."""

    path: str
    bytes: int
    taken_at: str
    version: int
    panes: int
    lines: int
    events: int


async def run(world: World, wanted: DbBackup) -> BackupMade:
    if not os.path.isabs(wanted.file):
        raise BadRequest(f"not an absolute path: {wanted.file}")
    made = await world.upkeep.backup(wanted.file)
    return BackupMade(
        path=made.path,
        bytes=made.bytes,
        taken_at=iso(made.taken_at),
        version=made.contents.version,
        panes=made.contents.panes,
        lines=made.contents.lines,
        events=made.contents.events,
    )


def plain(made: BackupMade, look: Look) -> str:
    held = ", ".join((counted(made.panes, "pane"), counted(made.lines, "line"), counted(made.events, "event")))
    return clean(made.path) if look.is_quiet else f"{clean(made.path)}: {size(made.bytes)}, {held}"


OP = Op(
    name="db_backup",
    summary="Copy the database to a file, while it is in use.",
    doc="""The copy is consistent, compact and private (0600), and needs no other file beside it. An existing file is
never replaced. Raw bytes are not in it: copy the folder `raw` as well if you want to keep them. `visor db restore` puts
a copy back.""",
    Input=DbBackup,
    Output=BackupMade,
    run=run,
    plain=plain,
    effect="change",
    examples=(Example("db backup ~/visor-monday.db", "a copy to keep"),),
)
