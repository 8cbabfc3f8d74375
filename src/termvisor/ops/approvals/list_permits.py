"""The op `list_permits`: lasting allowances that people gave."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.action.approval import Permit
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.panes._listing import BaseListing
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, render_table
from termvisor.redaction import redact


class ListPermitsArgs(Struct, frozen=True, kw_only=True):
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


class PermitListing(BaseListing, frozen=True, kw_only=True):
    """Permits that hold, oldest first."""

    summary: PermitsSummary
    items: tuple[PermitItem, ...]


async def run(services: ActingServices, _args: ListPermitsArgs) -> PermitListing:
    now = services.clock.now()
    items = tuple(_build_item(one, now) for one in await services.gate.approvals.list_permits())
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
        left=max(0.0, compute_seconds_between(now, permit.expires_at)),
    )


COLUMNS = (
    TableColumn("ID", lambda one: str(one.id), is_right_aligned=True, style="bold"),
    TableColumn("CALLER", lambda one: one.caller, can_shrink=True, style="cyan"),
    TableColumn("MAY", lambda one: one.kind),
    TableColumn("PANE", lambda one: "all" if one.pane is None else str(one.pane), is_right_aligned=True),
    TableColumn("LEFT", lambda one: format_age(one.left), is_right_aligned=True),
    TableColumn("GIVEN BY", lambda one: one.given_by, can_shrink=True),
)


def render_text(result: PermitListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    return rows if rows or options.is_quiet else "No lasting permits: every question is asked."


OP = Operation(
    name="list_permits",
    aliases=("permits",),
    summary="What people allowed for longer than once.",
    doc="`approve --session` gives one, `revoke-permit` takes it back. A permit spares a question, never a deny.",
    args_type=ListPermitsArgs,
    result_type=PermitListing,
    run=run,
    render_text=render_text,
    examples=(OperationExample("permits", "all that hold"),),
)
