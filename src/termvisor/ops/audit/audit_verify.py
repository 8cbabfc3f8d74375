"""The op `audit_verify`: whether the record, or an exported file of it, is whole."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import Unavailable
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.audit._chain_check import Proof, proven
from termvisor.ops.render.text import Look


class AuditVerify(Struct, frozen=True, kw_only=True):
    """What to check."""

    file: Annotated[
        str | None,
        Meta(description="A file that `audit export` wrote; no daemon is needed.", extra={"is_path": True}),
    ] = None
    kept: Annotated[
        str, Meta(description="A `hash` that you kept elsewhere; it must be in the record.", max_length=64)
    ] = ""


class AuditState(Struct, frozen=True, kw_only=True):
    """``entry`` is the first one that does not fit those before it, ``what`` is wrong with it. Of a file: how many
    ``entries`` are proven, the newest ``hash``, and how many are ``masked``, whose content cannot be proven.
    """

    is_whole: bool
    entry: int | None = None
    what: str = ""
    entries: int | None = None
    hash: str = ""
    masked: int = 0


async def run(world: ActingWorld, wanted: AuditVerify) -> AuditState:
    if wanted.file is not None:
        return _of_file(await asyncio.to_thread(_read, wanted.file, wanted.kept))
    broken = await world.door.ledger.verify(wanted.kept)
    if broken is None:
        return AuditState(is_whole=True)
    return AuditState(is_whole=False, entry=broken.id, what=broken.what)


def _read(path: str, kept: str) -> Proof:
    try:
        with open(path, "rb") as file:
            return proven(file, kept)
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", hint="`visor audit export` writes one.") from error


def _of_file(proof: Proof) -> AuditState:
    return AuditState(
        is_whole=proof.broken is None,
        entry=proof.broken.id if proof.broken else None,
        what=proof.broken.what if proof.broken else "",
        entries=proof.entries,
        hash=proof.hash,
        masked=len(proof.masked),
    )


def plain(state: AuditState, look: Look) -> str:
    what = "record" if state.entries is None else "file"
    if not state.is_whole:
        return look.paint("red", f"The {what} is broken at entry {state.entry}: {state.what}.")
    told = [look.paint("green", f"The {what} is whole.")]
    if state.entries is not None:
        told.append(f"Entries: {state.entries}; the newest hash is {state.hash or 'none'}.")
    if state.masked:
        told.append(
            look.paint("yellow", f"A secret was taken out of {state.masked} of them: their content is not proven.")
        )
    return "\n".join(told)


OP = Op(
    name="audit_verify",
    summary="Check that nobody changed the record.",
    doc="""Every entry holds a hash over itself and the one before it. This reads all of them and names the first that
was changed, removed or slipped in; with `--file`, in a file that `visor audit export` wrote, on any machine. Who can
write the database, or the file, could compute all hashes anew: keep the newest `hash` elsewhere and give it back with
`--kept`.""",
    Input=AuditVerify,
    Output=AuditState,
    run=run,
    plain=plain,
    local_with="--file",
    exit_status=lambda state: 0 if state.is_whole else 1,
    exits=((0, "The record is whole."), (1, "An entry was changed, removed or slipped in.")),
    examples=(
        Example("audit verify", "read and check all of it"),
        Example("audit verify --file record.jsonl", "prove an exported file, without a daemon"),
    ),
)
