"""The operation `list_permits`: list permits that are in force."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.action.approval import Permit
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import BaseListing, compute_remaining, render_listing
from termvisor.ops.render.text import TableColumn, format_age
from termvisor.redaction import redact


class ListPermitsArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class PermitItem(Struct, frozen=True, kw_only=True):
    """``caller`` may run actions of this ``kind`` in ``pane`` (null: in all) for ``left`` more seconds."""

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


class PermitListing(BaseListing, frozen=True, kw_only=True):
    """Permits in force, oldest first."""

    summary: PermitsSummary
    items: tuple[PermitItem, ...]


async def run(services: Services, _args: ListPermitsArgs) -> PermitListing:
    now = services.clock.now()
    items = tuple(_build_item(permit, now) for permit in await services.gate.approvals.list_permits())
    return PermitListing(generated_at=format_timestamp(now), summary=PermitsSummary(permits=len(items)), items=items)


def _build_item(permit: Permit, now: int) -> PermitItem:
    scope = permit.scope
    name = f" ({scope.actor_name})" if scope.actor_name else ""
    return PermitItem(
        id=permit.id,
        caller=redact(f"{scope.actor_kind} {scope.uid}{name}"),
        kind=scope.kind,
        pane=scope.pane,
        given_by=redact(permit.who),
        given_at=format_timestamp(permit.at),
        expires_at=format_timestamp(permit.expires_at),
        left=compute_remaining(permit.expires_at, now),
    )


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("CALLER", lambda item: item.caller, can_shrink=True, style="cyan"),
    TableColumn("ACTION", lambda item: item.kind),
    TableColumn("PANE", lambda item: "all" if item.pane is None else str(item.pane), is_right_aligned=True),
    TableColumn("LEFT", lambda item: format_age(item.left), is_right_aligned=True),
    TableColumn("GIVEN BY", lambda item: item.given_by, can_shrink=True),
)

OP = Operation(
    name="list_permits",
    aliases=("permits",),
    summary="List permits: actions that no longer require approval.",
    doc="`approve --session` adds a permit, `revoke-permit` removes it. A permit replaces an approval, never a deny.",
    run=run,
    render_text=lambda result, options: render_listing(COLUMNS, result.items, options, empty="No permits."),
    examples=(OperationExample("permits", "all permits in force"),),
)
