"""The op `list_permits`: lasting allowances that people gave."""

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.action.approval import Permit
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.panes._listing import Listing
from termvisor.ops.render.text import Column, Look, age, table
from termvisor.redaction import redact


class ListPermits(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class PermitItem(Struct, frozen=True, kw_only=True):
    """``caller`` may do ``kind`` in ``pane`` (null: in all) for ``left`` seconds; ``given_by`` said so."""

    id: int
    caller: str
    kind: str
    pane: int | None
    given_by: str
    given_at: str
    expires_at: str
    left: float


class PermitsSummary(Struct, frozen=True, kw_only=True):
    permits: int


class PermitListing(Listing, frozen=True, kw_only=True):
    """Permits that hold, oldest first."""

    summary: PermitsSummary
    items: tuple[PermitItem, ...]


async def run(world: ActingWorld, _wanted: ListPermits) -> PermitListing:
    now = world.clock.now()
    items = tuple(_item(one, now) for one in await world.door.inbox.permits())
    return PermitListing(generated_at=iso(now), summary=PermitsSummary(permits=len(items)), items=items)


def _item(permit: Permit, now: int) -> PermitItem:
    scope = permit.scope
    name = f" ({scope.actor_name})" if scope.actor_name else ""
    return PermitItem(
        id=permit.id,
        caller=redact(f"{scope.actor_kind} {scope.uid}{name}"),
        kind=scope.kind,
        pane=scope.pane,
        given_by=redact(permit.who),
        given_at=iso(permit.at),
        expires_at=iso(permit.expires_at),
        left=max(0.0, seconds_between(now, permit.expires_at)),
    )


COLUMNS = (
    Column("ID", lambda one: str(one.id), is_right=True, style="bold"),
    Column("CALLER", lambda one: one.caller, may_shrink=True, style="cyan"),
    Column("MAY", lambda one: one.kind),
    Column("PANE", lambda one: "all" if one.pane is None else str(one.pane), is_right=True),
    Column("LEFT", lambda one: age(one.left), is_right=True),
    Column("GIVEN BY", lambda one: one.given_by, may_shrink=True),
)


def plain(listing: PermitListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    return rows if rows or look.is_quiet else "No lasting permits: every question is asked."


OP = Op(
    name="list_permits",
    aliases=("permits",),
    summary="What people allowed for longer than once.",
    doc="`approve --session` gives one, `revoke-permit` takes it back. A permit spares a question, never a deny.",
    Input=ListPermits,
    Output=PermitListing,
    run=run,
    plain=plain,
    examples=(Example("permits", "all that hold"),),
)
