"""The operation `audit_export`: export the audit log with its hashes, one JSON object per line.

Entries are redacted again with the current rules. Entries that this changes are marked, as their hash does not match.
"""

from collections.abc import AsyncGenerator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.model.action.audit import HashChainEntry
from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.redaction import redact_values


class AuditExportArgs(Struct, frozen=True, kw_only=True):
    """Choose the output."""

    output: Annotated[
        str | None,
        Meta(description="Write to this private file (mode 0600).", extra={"short": ("-o",), "is_path": True}),
    ] = None


class AuditLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry: ``entry`` is its exact text (itself JSON), ``hash`` the BLAKE2b-256 of ``previous``, a newline and
    that text; the first has no ``previous``. ``is_masked``: redaction changed it, so only its position can be proven.
    The last line has no entry, only the number of ``entries`` and the newest ``hash``.
    """

    id: int = 0
    previous: str = ""
    hash: str = ""
    entry: str | None = None
    is_masked: bool = False
    entries: int | None = None


async def run(services: Services, _args: AuditExportArgs) -> AsyncGenerator[AuditLine, None]:
    last, newest = 0, ""
    # In pages, because the log can be long.
    while links := await services.gate.audit.list_chain_entries(last):
        for link in links:
            yield _build_line(link)
        last, newest = links[-1].id, links[-1].hash
    yield AuditLine(entries=last, hash=newest)


def _build_line(link: HashChainEntry) -> AuditLine:
    fields = msgspec.json.decode(link.entry)
    redacted = redact_values(fields)
    # An unchanged entry is copied byte for byte, because encoding it again would change its hash.
    text = link.entry if redacted == fields else msgspec.json.encode(redacted).decode()
    return AuditLine(id=link.id, previous=link.previous, hash=link.hash, entry=text, is_masked=redacted != fields)


OP = Operation(
    name="audit_export",
    summary="Export the audit log with its hashes.",
    doc="""One JSON object per line, oldest first; the last line has the number of entries. `visor audit verify --file`
verifies such a file anywhere, without a daemon or database. An entry that your current redaction patterns change is
marked `is_masked`.""",
    run=run,
    render_text=lambda result, _options: encode_json_line(result),
    is_verbatim=True,
    is_stream=True,
    examples=(
        OperationExample("audit export --output audit.jsonl", "into a private file"),
        OperationExample("audit export > audit.jsonl", "to stdout"),
    ),
)
