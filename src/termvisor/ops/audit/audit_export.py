"""The op `audit_export`: the whole record, one JSON object a line, in a form that can be proven without us.

Every way out redacts again. An entry that this changes is marked, since its hash no longer fits what is told of it.
"""

from collections.abc import AsyncGenerator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.model.action.hash_chain import Link
from termvisor.ops.api.envelope import encode
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.render.action_text import masked
from termvisor.ops.render.text import Look


class AuditExport(Struct, frozen=True, kw_only=True):
    """Where to."""

    output: Annotated[
        str | None,
        Meta(description="Write to this file (made private) instead.", extra={"short": ("-o",), "is_path": True}),
    ] = None


class AuditLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry: ``entry`` is its text to the byte (JSON in itself), ``hash`` the BLAKE2b-256 of ``previous``, a
    newline and that text; the first one has no ``previous``. ``is_masked``: a secret was taken out of it now, so only
    its place can be proven. The last line has no entry but ``entries``, how many there are, and ``hash``, the newest.
    """

    id: int = 0
    previous: str = ""
    hash: str = ""
    entry: str | None = None
    is_masked: bool = False
    entries: int | None = None


async def run(world: ActingWorld, _wanted: AuditExport) -> AsyncGenerator[AuditLine, None]:
    last, newest = 0, ""
    while links := await world.door.ledger.links(last):
        for link in links:
            yield _line(link)
        last, newest = links[-1].id, links[-1].hash
    yield AuditLine(entries=last, hash=newest)


def _line(link: Link) -> AuditLine:
    told = msgspec.json.decode(link.entry)
    safe = masked(told)
    text = link.entry if safe == told else msgspec.json.encode(safe).decode()
    return AuditLine(id=link.id, previous=link.previous, hash=link.hash, entry=text, is_masked=safe != told)


def plain(line: AuditLine, _look: Look) -> bytes:
    return encode(line)


OP = Op(
    name="audit_export",
    summary="The whole record, with its hashes, for safekeeping elsewhere.",
    doc="""One JSON object a line, oldest first; the last line says how many there are. `visor audit verify --file`
proves such a file anywhere, without a daemon and without the database. What a pattern of yours now takes for a secret
is masked in it and marked `is_masked`.""",
    Input=AuditExport,
    Output=AuditLine,
    run=run,
    plain=plain,
    is_stream=True,
    examples=(
        Example("audit export --output record.jsonl", "all of it, into a private file"),
        Example("audit export > record.jsonl", "the same, by the shell"),
    ),
)
