"""The operation `audit`: list or follow the entries of the audit log.

Updates only wake a follower; entries are always read from the log by cursor, so a slow follower misses none.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct, structs

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest, NotFound
from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.approval import PolicyAnswer
from termvisor.model.action.audit import AuditEntry, AuditFilter, AuditOutcome, AuditStage
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneFilter, resolve_pane_id
from termvisor.ops.render import results
from termvisor.ops.render.action_text import describe_action_fields, describe_caller, format_actor
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact, redact_values

# Maximum number of entries per batch while following.
_PAGE_SIZE = 200


class AuditArgs(Struct, frozen=True, kw_only=True):
    """Choose the entries."""

    limit: Annotated[int, Meta(description="Maximum number to list.", ge=1, le=10_000, extra={"short": ("-n",)})] = 20
    pane: PaneFilter = None
    kind: Annotated[str | None, Meta(description="Only this kind of action, for example send_text.")] = None
    actor: Annotated[str | None, Meta(description="Only this caller: human, robot, …, its name, or its interface.")] = (
        None
    )
    outcome: Annotated[AuditOutcome | None, Meta(description="Only entries with this outcome.")] = None
    correlation: Annotated[str | None, Meta(description="Only entries of this action, workflow run or event.")] = None
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    until: Annotated[str | None, Meta(description="Not newer than this: ISO 8601, or an age such as 5m.")] = None
    after: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="List the first entries after this cursor, not the newest.", extra={"also": ("--cursor",)}),
    ] = None
    follow: Annotated[bool, Meta(description="Keep printing new entries.", extra={"short": ("-f",)})] = False


class AuditItem(Struct, frozen=True, kw_only=True):
    """One entry. An action has several: `judged` or `asked`, `answered`, `intent`, `outcome`, joined by
    ``correlation``. ``undoes`` is the correlation of the action that this one undoes. ``hash`` covers this entry and
    all before it.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("action", "hash")

    id: int
    at: str
    correlation: str
    stage: AuditStage
    kind: str
    by: str
    face: str
    """The interface that the caller used; empty for actions of the daemon itself."""
    doubt: str
    """Why the caller does not count as a person."""
    pane: int | None
    place: str
    what: str
    action: dict[str, Any]
    verdict: PolicyAnswer | None
    verdict_why: str
    observed: dict[str, Scalar]
    outcome: str
    why: str
    undoes: str
    hash: str


class AuditSummary(Struct, frozen=True, kw_only=True):
    entries: int
    by_stage: dict[str, int]


class AuditListing(results.BaseListing, frozen=True, kw_only=True):
    """Entries, oldest first. Pass ``cursor`` as `--after` to continue. ``is_continued`` is true for all but the first
    listing of a `--follow`.
    """

    summary: AuditSummary
    items: tuple[AuditItem, ...]
    cursor: int
    is_continued: bool = False


async def run(services: Services, args: AuditArgs) -> AuditListing:
    filters = await _build_filter(services, args)
    entries = await services.gate.audit.list(after=args.after, filters=filters, limit=args.limit)
    return _build_listing(services, args, entries, args.after or 0)


async def follow(services: Services, args: AuditArgs) -> AsyncIterator[AuditListing]:
    """Yield the newest entries, or those after the cursor; then new ones as they are logged."""
    if args.until is not None:
        raise BadRequest("--until cannot be combined with --follow")
    filters = await _build_filter(services, args)
    # Subscribe before reading: an entry logged in between then wakes the loop instead of being missed.
    with services.gate.audit.subscribe() as updates:
        listing = await run(services, args)
        yield listing
        while True:
            entries = await services.gate.audit.list(after=listing.cursor, filters=filters, limit=_PAGE_SIZE)
            if entries:
                # Later listings continue the table of the first one, without its header.
                listing = structs.replace(_build_listing(services, args, entries, listing.cursor), is_continued=True)
                yield listing
            else:
                await updates.get()
                updates.drain()


async def _build_filter(services: Services, args: AuditArgs) -> AuditFilter:
    if args.kind is not None and args.kind not in RISK_BY_ACTION_KIND:
        near = find_close_matches(args.kind, tuple(RISK_BY_ACTION_KIND))
        names = " or ".join(near) if near else ", ".join(RISK_BY_ACTION_KIND)
        raise BadRequest(f"unknown action kind {args.kind!r}", hint=f"Did you mean {names}?")
    now = services.clock.now()
    return AuditFilter(
        pane=await _resolve_pane(services, args.pane),
        kind=args.kind,
        actor=args.actor,
        outcome=args.outcome,
        cause=args.correlation,
        since=results.parse_time_filter(args.since, now),
        until=results.parse_time_filter(args.until, now),
    )


async def _resolve_pane(services: Services, reference: str | None) -> PaneId | None:
    """Resolve a pane. A deleted pane is still found by its number if the audit log has entries for it."""
    try:
        return await resolve_pane_id(services, reference)
    # The audit log keeps its entries when retention deletes their pane.
    except NotFound:
        # Longer numbers do not fit into SQLite's 64-bit integers.
        number = PaneId(int(reference)) if reference and reference.isdecimal() and len(reference) < 19 else None
        if number is None or not await services.gate.audit.list(filters=AuditFilter(pane=number), limit=1):
            raise
        return number


def _build_listing(services: Services, args: AuditArgs, entries: Sequence[AuditEntry], cursor: int) -> AuditListing:
    items = tuple(build_audit_item(entry) for entry in entries)
    return AuditListing(
        generated_at=format_timestamp(services.clock.now()),
        filters=results.build_filters(
            **{name: value for name, value in structs.asdict(args).items() if name not in ("limit", "follow")}
        ),
        summary=AuditSummary(entries=len(items), by_stage=results.count_values(item.stage for item in items)),
        items=items,
        cursor=items[-1].id if items else cursor,
    )


def build_audit_item(entry: AuditEntry) -> AuditItem:
    verdict = entry.verdict
    return results.copy_fields(
        AuditItem,
        entry,
        at=format_timestamp(entry.at),
        by=format_actor(entry.actor),
        face=entry.actor.face,
        doubt=sanitize(redact(entry.actor.doubt)),
        place=sanitize(redact(entry.place)),
        what=describe_action_fields(entry.kind, entry.action) if entry.action else entry.kind,
        action=redact_values(entry.action),
        verdict=verdict.answer if verdict else None,
        verdict_why=redact(verdict.why) if verdict else "",
        observed=redact_values(entry.observed),
        outcome=redact(entry.outcome),
        why=redact(entry.why),
    )


def _format_outcome(item: AuditItem) -> str:
    outcome = item.outcome or item.verdict or ""
    return f"{outcome} ({item.why})" if item.why else outcome


def _choose_outcome_style(item: AuditItem) -> str:
    """Return the colour of a warning for what did not happen as requested."""
    return "" if (item.outcome or item.verdict) in ("done", "delivered", "allow") else "yellow"


def _format_action(item: AuditItem) -> str:
    return f"{item.what} (undoes {item.undoes})" if item.undoes else item.what


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("WHEN", lambda item: item.at, kind="time"),
    TableColumn("STAGE", lambda item: item.stage, worth=2),
    TableColumn("BY", lambda item: describe_caller(item.by), can_shrink=True, style="cyan", min_width=12, worth=6),
    TableColumn("PANE", lambda item: "-" if item.pane is None else str(item.pane), is_right_aligned=True),
    TableColumn("RESULT", _format_outcome, can_shrink=True, choose_style=_choose_outcome_style, min_width=12),
    TableColumn("ACTION", _format_action, can_shrink=True, min_width=24),
)


def render_text(result: AuditListing, options: RenderOptions) -> str:
    if result.is_continued:
        return render_table(COLUMNS, result.items, structs.replace(options, is_quiet=True))
    footer = "1 entry" if len(result.items) == 1 else f"{len(result.items)} entries"
    return results.render_listing(COLUMNS, result.items, options, empty="No audit entries.", footer=footer)


OP = Operation(
    name="audit",
    robot_name="audit",
    summary="List the audit log: requested, decided and executed actions.",
    doc="""Every action is logged before it is executed; denied, refused and failed ones are logged too. The audit log
cannot be disabled, and changes to it are detected: every entry holds a hash over all entries before it (`visor audit
verify`). Entries are redacted; the hash of the original action is kept.

`--correlation` takes the `correlation` of an action, a workflow run or an event (`event:12`), and also shows what
followed from it: the correlation of a run is that of its event, and those of its actions begin with it.

`--follow` keeps printing new entries until interrupted; in JSON each batch is one object per line. Each has a `cursor`:
after an interruption, resume with `--follow --after` and no entry is lost or repeated.""",
    run=run,
    shows_pane_text=True,
    follow=follow,
    is_live=True,
    render_text=render_text,
    examples=(
        OperationExample("audit", "the newest entries"),
        OperationExample("audit --pane 7 --kind send_text --since today", "text sent to pane 7 today"),
        OperationExample("audit --actor robot --outcome denied", "denied actions of programs"),
        OperationExample("audit --correlation event:12", "everything that event 12 caused"),
        OperationExample("audit -f", "the newest entries, then new ones"),
        OperationExample("robot audit --follow --after 120", "entries after a cursor, then new ones, as JSON"),
    ),
)
