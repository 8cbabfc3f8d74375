"""The op `audit_verify`: whether the record, or an exported file of it, is whole."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.audit._chain_check import ChainProof, verify_lines
from termvisor.ops.render.text import RenderOptions


class AuditVerifyArgs(Struct, frozen=True, kw_only=True):
    """What to check."""

    file: Annotated[
        str | None,
        Meta(description="A file that `audit export` wrote; no daemon is needed.", extra={"is_path": True}),
    ] = None
    kept: Annotated[
        str, Meta(description="A `hash` that you kept elsewhere; it must be in the record.", max_length=64)
    ] = ""


class AuditVerifyResult(Struct, frozen=True, kw_only=True):
    """``entry`` is the first one that does not fit those before it, ``what`` is wrong with it. Of a file: how many
    ``entries`` are proven, the newest ``hash``, and how many are ``masked``, whose content cannot be proven.
    """

    is_whole: bool
    entry: int | None = None
    what: str = ""
    entries: int | None = None
    hash: str = ""
    masked: int = 0


async def run(services: ActingServices, args: AuditVerifyArgs) -> AuditVerifyResult:
    if args.file is not None:
        return _build_file_result(await asyncio.to_thread(_verify_file, args.file, args.kept))
    broken = await services.gate.audit.verify(args.kept)
    if broken is None:
        return AuditVerifyResult(is_whole=True)
    return AuditVerifyResult(is_whole=False, entry=broken.id, what=broken.what)


def _verify_file(path: str, known_hash: str) -> ChainProof:
    try:
        with open(path, "rb") as file:
            return verify_lines(file, known_hash)
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", hint="`visor audit export` writes one.") from error


def _build_file_result(proof: ChainProof) -> AuditVerifyResult:
    return AuditVerifyResult(
        is_whole=proof.broken is None,
        entry=proof.broken.id if proof.broken else None,
        what=proof.broken.what if proof.broken else "",
        entries=proof.entries,
        hash=proof.hash,
        masked=len(proof.masked),
    )


def render_text(result: AuditVerifyResult, options: RenderOptions) -> str:
    what = "record" if result.entries is None else "file"
    if not result.is_whole:
        return options.paint("red", f"The {what} is broken at entry {result.entry}: {result.what}.")
    told = [options.paint("green", f"The {what} is whole.")]
    if result.entries is not None:
        told.append(f"Entries: {result.entries}; the newest hash is {result.hash or 'none'}.")
    if result.masked:
        told.append(
            options.paint("yellow", f"A secret was taken out of {result.masked} of them: their content is not proven.")
        )
    return "\n".join(told)


OP = Operation(
    name="audit_verify",
    summary="Check that nobody changed the record.",
    doc="""Every entry holds a hash over itself and the one before it. This reads all of them and names the first that
was changed, removed or slipped in; with `--file`, in a file that `visor audit export` wrote, on any machine. Who can
write the database, or the file, could compute all hashes anew: keep the newest `hash` elsewhere and give it back with
`--kept`.""",
    args_type=AuditVerifyArgs,
    result_type=AuditVerifyResult,
    run=run,
    render_text=render_text,
    local_option="--file",
    get_exit_status=lambda state: 0 if state.is_whole else 1,
    exit_statuses=((0, "The record is whole."), (1, "An entry was changed, removed or slipped in.")),
    examples=(
        OperationExample("audit verify", "read and check all of it"),
        OperationExample("audit verify --file record.jsonl", "prove an exported file, without a daemon"),
    ),
)
