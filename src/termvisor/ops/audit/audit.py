"""The op `audit`: what was wanted, decided and done, by whom and where; also as it happens.

The news only wakes; what is told is always read from the record by cursor, so a slow follower misses nothing.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest, NotFound
from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.audit import AuditEntry, AuditFilter, AuditOutcome, AuditStage
from termvisor.model.action.verdict import PolicyAnswer
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.panes._listing import (
    BaseListing,
    ListingFilters,
    PaneFilter,
    build_filters,
    count_values,
    parse_time_filter,
    resolve_pane_id,
)
from termvisor.ops.render.action_text import describe_action_fields, format_actor, redact_fields
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table, sanitize
from termvisor.redaction import redact

_PAGE_SIZE = 200


class AuditArgs(Struct, frozen=True, kw_only=True):
    """Which entries."""

    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=10_000, extra={"short": ("-n",)})] = 20
    pane: PaneFilter = None
    kind: Annotated[str | None, Meta(description="Only this kind of action, for example send_text.")] = None
    actor: Annotated[str | None, Meta(description="Only this caller: human, robot, …, or the name it gave.")] = None
    outcome: Annotated[AuditOutcome | None, Meta(description="Only what came to this.")] = None
    correlation: Annotated[str | None, Meta(description="Only the story of this action.")] = None
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    until: Annotated[str | None, Meta(description="Not newer than this: ISO 8601, or an age such as 5m.")] = None
    after: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="The first ones after this cursor, not the newest.", extra={"also": ("--cursor",)}),
    ] = None
    follow: Annotated[bool, Meta(description="Go on with what is put on record.", extra={"short": ("-f",)})] = False


class AuditItem(Struct, frozen=True, kw_only=True):
    """One entry. An action has several: `judged` or `asked`, `answered`, `intent`, `outcome`, joined by
    ``correlation``. ``undoes`` is the correlation of the action that this one takes back. ``hash`` covers this entry
    and all before it.
    """

    id: int
    at: str
    correlation: str
    stage: AuditStage
    kind: str
    by: str
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


class AuditListing(BaseListing, frozen=True, kw_only=True):
    """Entries, oldest first. ``cursor`` is where the next call goes on, as `--after`. ``is_continued``: these came
    after the first piece of a `--follow`.
    """

    summary: AuditSummary
    items: tuple[AuditItem, ...]
    cursor: int
    is_continued: bool = False


async def run(services: ActingServices, args: AuditArgs) -> AuditListing:
    only = await _build_filter(services, args)
    entries = await services.gate.audit.list(after=args.after, filters=only, limit=args.limit)
    return _build_listing(services, args, entries, args.after or 0)


async def follow(services: ActingServices, args: AuditArgs) -> AsyncIterator[AuditListing]:
    """The newest entries, or those after the cursor; then each one as it is put on record."""
    if args.until is not None:
        raise BadRequest("--until does not go with --follow, which has no end")
    only = await _build_filter(services, args)
    with services.gate.audit.subscribe() as news:
        told = await run(services, args)
        yield told
        while True:
            entries = await services.gate.audit.list(after=told.cursor, filters=only, limit=_PAGE_SIZE)
            if entries:
                told = structs.replace(_build_listing(services, args, entries, told.cursor), is_continued=True)
                yield told
            else:
                await news.get()
                news.drain()


async def _build_filter(services: ActingServices, args: AuditArgs) -> AuditFilter:
    if args.kind is not None and args.kind not in RISK_BY_ACTION_KIND:
        near = find_close_matches(args.kind, tuple(RISK_BY_ACTION_KIND))
        known = " or ".join(near) if near else ", ".join(RISK_BY_ACTION_KIND)
        raise BadRequest(f"there is no kind of action {args.kind!r}", hint=f"Did you mean {known}?")
    now = services.clock.now()
    return AuditFilter(
        pane=await _resolve_pane(services, args.pane),
        kind=args.kind,
        actor=args.actor,
        outcome=args.outcome,
        correlation=args.correlation,
        since=parse_time_filter(args.since, now),
        until=parse_time_filter(args.until, now),
    )


async def _resolve_pane(services: ActingServices, reference: str | None) -> PaneId | None:
    """The pane that is meant; of one that is no longer known the number is enough where it is on record."""
    try:
        return await resolve_pane_id(services, reference)
    except NotFound:
        number = PaneId(int(reference)) if reference and reference.isdecimal() and len(reference) < 19 else None
        if number is None or not await services.gate.audit.list(filters=AuditFilter(pane=number), limit=1):
            raise
        return number


def _build_listing(
    services: ActingServices, args: AuditArgs, entries: Sequence[AuditEntry], cursor: int
) -> AuditListing:
    items = tuple(build_audit_item(entry) for entry in entries)
    return AuditListing(
        generated_at=format_timestamp(services.clock.now()),
        filters=_collect_filters(args),
        summary=AuditSummary(entries=len(items), by_stage=count_values(item.stage for item in items)),
        items=items,
        cursor=items[-1].id if items else cursor,
    )


def _collect_filters(args: AuditArgs) -> ListingFilters:
    return build_filters(
        **{name: value for name, value in structs.asdict(args).items() if name not in ("limit", "follow")}
    )


def build_audit_item(entry: AuditEntry) -> AuditItem:
    verdict = entry.verdict
    return AuditItem(
        id=entry.id,
        at=format_timestamp(entry.at),
        correlation=entry.correlation,
        stage=entry.stage,
        kind=entry.kind,
        by=format_actor(entry.actor),
        pane=entry.pane,
        place=sanitize(redact(entry.place)),
        what=describe_action_fields(entry.kind, entry.action) if entry.action else entry.kind,
        action=redact_fields(entry.action),
        verdict=verdict.answer if verdict else None,
        verdict_why=redact(verdict.why) if verdict else "",
        observed=redact_fields(entry.observed),
        outcome=redact(entry.outcome),
        why=redact(entry.why),
        undoes=entry.undoes,
        hash=entry.hash,
    )


def _format_outcome(item: AuditItem) -> str:
    told = item.outcome or (item.verdict or "")
    return f"{told} ({item.why})" if item.why else told


def _format_action(item: AuditItem) -> str:
    return f"{item.what} (undoes {item.undoes})" if item.undoes else item.what


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("WHEN", lambda item: item.at),
    TableColumn("STAGE", lambda item: item.stage),
    TableColumn("BY", lambda item: item.by, style="cyan"),
    TableColumn("PANE", lambda item: "-" if item.pane is None else str(item.pane), is_right_aligned=True),
    TableColumn("RESULT", _format_outcome, can_shrink=True, style="yellow"),
    TableColumn("WHAT", _format_action, can_shrink=True),
)


def render_text(result: AuditListing, options: RenderOptions) -> str:
    if result.is_continued:
        return render_table(COLUMNS, result.items, structs.replace(options, is_quiet=True))
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    if not result.items:
        return "Nothing is on record."
    entries = result.summary.entries
    return f"{rows}\n\n{pluralize(entries, 'entry') if entries == 1 else f'{entries} entries'}"


OP = Operation(
    name="audit",
    robot_name="audit",
    summary="What was wanted, decided and done, by whom and where.",
    doc="""Nothing is done that is not on record first; what was denied, refused or failed is there too. Nothing can
switch the record off, cut it or change it unseen: every entry vouches for all before it (`visor audit verify`). Secrets
are taken out of what is kept; the hash of the true action stays.

With `--follow` it goes on with every entry as it is put on record, until you end it; in JSON each piece is one object a
line. Each carries its `cursor`: after a break, begin again with `--follow --after` and nothing is lost or doubled.""",
    args_type=AuditArgs,
    result_type=AuditListing,
    run=run,
    follow=follow,
    is_live=True,
    render_text=render_text,
    examples=(
        OperationExample("audit", "the newest entries"),
        OperationExample("audit --pane 7 --kind send_text --since today", "what was typed into pane 7 today"),
        OperationExample("audit --actor robot --outcome denied", "what programs wanted and did not get"),
        OperationExample("audit -f", "and everything from now on"),
        OperationExample("robot audit --follow --after 120", "what came after a cursor and what comes, as JSON"),
    ),
)
