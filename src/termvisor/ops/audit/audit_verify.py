"""The operation `audit_verify`: verify the hash chain of the audit log or of an exported file."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.audit._chain_check import ChainProof, verify_lines
from termvisor.ops.render.text import RenderOptions


class AuditVerifyArgs(Struct, frozen=True, kw_only=True):
    """Choose what to verify."""

    file: Annotated[
        str | None,
        Meta(description="Verify a file from `audit export`; needs no daemon.", extra={"is_path": True}),
    ] = None
    kept: Annotated[
        str, Meta(description="A `hash` that you saved elsewhere; it must be in the log.", max_length=64)
    ] = ""


class AuditVerifyResult(Struct, frozen=True, kw_only=True):
    """``entry`` is the first one that breaks the chain, ``what`` the reason. For a file: the number of verified
    ``entries``, the newest ``hash``, and how many are ``masked``, whose content cannot be verified.
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
        raise Unavailable(
            f"cannot read {path}: {error.strerror}", hint="`visor audit export` creates such a file."
        ) from error


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
    subject = "audit log" if result.entries is None else "file"
    if not result.is_whole:
        return options.paint("red", f"The {subject} is broken at entry {result.entry}: {result.what}.")
    lines = [options.paint("green", f"The {subject} is intact.")]
    if result.entries is not None:
        lines.append(f"Entries: {result.entries}; newest hash: {result.hash or 'none'}.")
    if result.masked:
        lines.append(
            options.paint("yellow", f"{result.masked} of them are redacted: their content could not be verified.")
        )
    return "\n".join(lines)


OP = Operation(
    name="audit_verify",
    summary="Verify that the audit log was not changed.",
    doc="""Every entry holds a hash over itself and the one before it. This reads all of them and reports the first one
that was changed, removed or inserted; with `--file`, in a file from `visor audit export`, on any machine. A program
that can write the database or the file could recompute all hashes: save the newest `hash` elsewhere and pass it with
`--kept`.""",
    args_type=AuditVerifyArgs,
    result_type=AuditVerifyResult,
    run=run,
    render_text=render_text,
    local_option="--file",
    get_exit_status=lambda state: 0 if state.is_whole else 1,
    exit_statuses=((0, "The audit log is intact."), (1, "An entry was changed, removed or inserted.")),
    examples=(
        OperationExample("audit verify", "verify the audit log"),
        OperationExample("audit verify --file audit.jsonl", "verify an exported file, without a daemon"),
    ),
)
