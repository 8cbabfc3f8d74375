"""The op `audit_export`: the whole record, one JSON object a line, in a form that can be proven without us.

Every way out redacts again. An entry that this changes is marked, since its hash no longer fits what is told of it.
"""

from collections.abc import AsyncGenerator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.model.action.hash_chain import HashChainEntry
from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.render.action_text import redact_fields
from termvisor.ops.render.text import RenderOptions


class AuditExportArgs(Struct, frozen=True, kw_only=True):
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


async def run(services: ActingServices, _args: AuditExportArgs) -> AsyncGenerator[AuditLine, None]:
    last, newest = 0, ""
    while links := await services.gate.audit.list_chain_entries(last):
        for link in links:
            yield _build_line(link)
        last, newest = links[-1].id, links[-1].hash
    yield AuditLine(entries=last, hash=newest)


def _build_line(link: HashChainEntry) -> AuditLine:
    told = msgspec.json.decode(link.entry)
    safe = redact_fields(told)
    text = link.entry if safe == told else msgspec.json.encode(safe).decode()
    return AuditLine(id=link.id, previous=link.previous, hash=link.hash, entry=text, is_masked=safe != told)


def render_text(result: AuditLine, _options: RenderOptions) -> bytes:
    return encode_json_line(result)


OP = Operation(
    name="audit_export",
    summary="The whole record, with its hashes, for safekeeping elsewhere.",
    doc="""One JSON object a line, oldest first; the last line says how many there are. `visor audit verify --file`
proves such a file anywhere, without a daemon and without the database. What a pattern of yours now takes for a secret
is masked in it and marked `is_masked`.""",
    args_type=AuditExportArgs,
    result_type=AuditLine,
    run=run,
    render_text=render_text,
    is_stream=True,
    examples=(
        OperationExample("audit export --output record.jsonl", "all of it, into a private file"),
        OperationExample("audit export > record.jsonl", "the same, by the shell"),
    ),
)
