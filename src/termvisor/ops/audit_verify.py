"""The op `audit_verify`: whether the record is whole."""

from msgspec import Struct

from termvisor.ops.base import Example, Op
from termvisor.ops.door import ActingWorld
from termvisor.ops.look import Look


class AuditVerify(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class AuditState(Struct, frozen=True, kw_only=True):
    """``entry`` is the first one that does not fit those before it, ``what`` is wrong with it."""

    is_whole: bool
    entry: int | None = None
    what: str = ""


async def run(world: ActingWorld, _wanted: AuditVerify) -> AuditState:
    broken = await world.door.ledger.verify()
    if broken is None:
        return AuditState(is_whole=True)
    return AuditState(is_whole=False, entry=broken.id, what=broken.what)


def plain(state: AuditState, look: Look) -> str:
    if state.is_whole:
        return look.paint("green", "The record is whole.")
    return look.paint("red", f"The record is broken at entry {state.entry}: {state.what}.")


OP = Op(
    name="audit_verify",
    summary="Check that nobody changed the record.",
    doc="""Every entry holds a hash over itself and the one before it. This reads all of them and names the first that
was changed, removed or slipped in. Who can write the database could compute all hashes anew: keep the newest `hash`
elsewhere if that matters to you.""",
    Input=AuditVerify,
    Output=AuditState,
    run=run,
    plain=plain,
    exit_status=lambda state: 0 if state.is_whole else 1,
    exits=((0, "The record is whole."), (1, "An entry was changed, removed or slipped in.")),
    examples=(Example("audit verify", "read and check all of it"),),
)
