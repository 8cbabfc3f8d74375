"""The operation `list_permits`: list permits that are in force."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.action.approval import Permit
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.approvals._approval_item import ApprovalItem, build_approval_item, format_answer
from termvisor.ops.render.action_text import describe_caller
from termvisor.ops.render.results import BaseListing, compute_remaining, render_listing
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, format_age, sanitize
from termvisor.redaction import redact

# Approvals expire within minutes, so older ones are not in force.
_MAX_LISTED_APPROVALS = 200


class ListPermitsArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class PermitItem(Struct, frozen=True, kw_only=True):
    """``caller`` may do what ``grants`` names, by actions of this ``kind`` in ``pane`` (null: in all).

    ``left`` is the seconds until it expires.
    """

    id: int
    caller: str
    kind: str
    grants: tuple[str, ...]
    pane: int | None
    given_by: str
    given_at: str
    expires_at: str
    left: float


class PermitsSummary(Struct, frozen=True, kw_only=True):
    permits: int


class PermitListing(BaseListing, frozen=True, kw_only=True):
    """Permits in force, oldest first. ``once`` are requests that were approved once and not executed yet, in order."""

    summary: PermitsSummary
    items: tuple[PermitItem, ...]
    once: tuple[ApprovalItem, ...] = ()


async def run(services: Services, _args: ListPermitsArgs) -> PermitListing:
    now = services.clock.now()
    items = tuple(_build_item(permit, now) for permit in await services.gate.approvals.list_permits())
    approvals = await services.gate.approvals.list(is_open=False, limit=_MAX_LISTED_APPROVALS)
    once = tuple(build_approval_item(one, now) for one in approvals if one.state == "allowed" and one.expires_at > now)
    return PermitListing(
        generated_at=format_timestamp(now), summary=PermitsSummary(permits=len(items)), items=items, once=once
    )


def _build_item(permit: Permit, now: int) -> PermitItem:
    scope = permit.scope
    name = f" ({scope.actor_name})" if scope.actor_name else ""
    return PermitItem(
        id=permit.id,
        caller=redact(f"{scope.actor_kind} {scope.uid}{name}"),
        kind=scope.kind,
        grants=tuple(sanitize(redact(capability)) for capability in scope.capabilities),
        pane=scope.pane,
        given_by=redact(permit.who),
        given_at=format_timestamp(permit.at),
        expires_at=format_timestamp(permit.expires_at),
        left=compute_remaining(permit.expires_at, now),
    )


def render_text(result: PermitListing, options: RenderOptions) -> str:
    table = render_listing(COLUMNS, result.items, options, empty="No permits.")
    once = [f"{format_answer(item)}{f' (after {item.after})' if item.after else ''}" for item in result.once]
    return "\n".join([table, *once])


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("CALLER", lambda item: describe_caller(item.caller), can_shrink=True, style="cyan"),
    TableColumn("ACTION", lambda item: item.kind, worth=4),
    TableColumn("GRANTS", lambda item: ", ".join(item.grants) or "nothing", can_shrink=True, min_width=16),
    TableColumn("PANE", lambda item: "all" if item.pane is None else str(item.pane), is_right_aligned=True),
    TableColumn("LEFT", lambda item: format_age(item.left), is_right_aligned=True),
    TableColumn("GIVEN BY", lambda item: describe_caller(item.given_by), can_shrink=True, worth=1),
)

OP = Operation(
    name="list_permits",
    aliases=("permits",),
    summary="List permits: actions that no longer require approval.",
    doc="""`approve --session` and `--category` add a permit, `revoke-permit` removes it. A permit replaces an approval,
never a deny, and not for commands of a class that is asked about. Below them: requests that were approved once and are
not executed yet; `visor deny` revokes such an approval.""",
    run=run,
    render_text=render_text,
    examples=(OperationExample("permits", "all permits in force"),),
)
