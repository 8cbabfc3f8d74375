"""The operation `audit_verify`: verify the hash chain of the audit log or of an exported file.

Verifying a file needs neither a daemon nor a database.
"""

import asyncio
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.model.action.audit import ChainBreak, HashChainEntry, HashChainVerifier
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.audit.audit_export import AuditLine
from termvisor.ops.render.text import RenderOptions, sanitize

_LINE_DECODER = msgspec.json.Decoder(AuditLine)


class AuditVerifyArgs(Struct, frozen=True, kw_only=True):
    """Choose what to verify."""

    file: Annotated[
        str | None, Meta(description="Verify a file from `audit export`; needs no daemon.", extra={"is_path": True})
    ] = None
    kept: Annotated[
        str, Meta(description="A `hash` that you saved elsewhere; it must be in the log.", max_length=64)
    ] = ""


class AuditVerifyResult(Struct, frozen=True, kw_only=True):
    """``entry`` is the first one that breaks the chain, ``what`` the reason. ``entries`` is the number of verified
    entries, ``hash`` the newest of them. In a file, the content of ``masked`` entries cannot be verified.
    """

    is_whole: bool
    entry: int | None = None
    what: str = ""
    entries: int | None = None
    hash: str = ""
    masked: int = 0
    is_file: bool = False


class ChainProof(Struct, frozen=True, kw_only=True):
    """``masked`` are the entries that were redacted: their position is proven, not their content."""

    entries: int
    hash: str
    masked: tuple[int, ...] = ()
    broken: ChainBreak | None = None


async def run(services: Services, args: AuditVerifyArgs) -> AuditVerifyResult:
    if args.file is not None:
        # Hashing a long file would block the event loop.
        return _build_file_result(await asyncio.to_thread(_verify_file, args.file, args.kept))
    # Read first: entries that are added meanwhile follow the newest one here.
    newest = next(iter(await services.gate.audit.list(limit=1)), None)
    broken = await services.gate.audit.verify(args.kept)
    if broken is None:
        return AuditVerifyResult(is_whole=True, entries=newest.id if newest else 0, hash=newest.hash if newest else "")
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
        is_file=True,
    )


def verify_lines(lines: Iterable[bytes], known_hash: str = "") -> ChainProof:
    """Verify lines in order, up to the first one that breaks the chain."""
    chain, masked, is_ended = HashChainVerifier(known_hash), [], False
    broken: ChainBreak | None = None
    for data in lines:
        line = _decode_line(data)
        if line is None or is_ended:
            broken = ChainBreak(chain.last_id + 1, "not an audit entry")
        elif line.entry is None:
            is_ended = True
            broken = _check_end(chain, line)
        else:
            link = HashChainEntry(id=line.id, previous=line.previous, hash=line.hash, entry=line.entry)
            broken = chain.check_entry(link, is_redacted=line.is_masked)
            masked += [line.id] if line.is_masked else []
        if broken is not None:
            break
    if broken is None:
        # Without its last line, a truncated file would otherwise look intact.
        broken = chain.check_end() if is_ended else ChainBreak(chain.last_id + 1, "the end of the file is missing")
    return ChainProof(entries=chain.last_id, hash=chain.last_hash, masked=tuple(masked), broken=broken)


def _decode_line(data: bytes) -> AuditLine | None:
    try:
        return _LINE_DECODER.decode(data)
    # A line that is not an entry breaks the chain; the caller reports its position.
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _check_end(chain: HashChainVerifier, line: AuditLine) -> ChainBreak | None:
    """Compare the count and hash of the last line with the chain: a difference means that entries were cut off."""
    is_intact = (line.entries, line.hash) == (chain.last_id, chain.last_hash)
    return None if is_intact else ChainBreak(chain.last_id + 1, "it was removed")


def render_text(result: AuditVerifyResult, options: RenderOptions) -> str:
    subject = "file" if result.is_file else "audit log"
    if not result.is_whole:
        return options.paint("red", f"The {subject} is broken at entry {result.entry}: {sanitize(result.what)}.")
    lines = [options.paint("green", f"The {subject} is intact.")]
    if result.entries is not None:
        lines.append(f"Entries: {result.entries}; newest hash: {sanitize(result.hash) or 'none'}.")
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
