"""The op `audit`: what was wanted, decided and done, by whom and where."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest
from termvisor.model.action import RISKS
from termvisor.model.audit import AuditEntry, Stage
from termvisor.model.event import Scalar
from termvisor.model.verdict import Answer
from termvisor.ops.arguments import nearest
from termvisor.ops.base import Example, Op
from termvisor.ops.described import described, masked, who
from termvisor.ops.door import ActingWorld
from termvisor.ops.listing import Listing, PaneFilter, counts, filters, moment, named_id
from termvisor.ops.look import Column, Look, clean, counted, table
from termvisor.redact import redact


class Audit(Struct, frozen=True, kw_only=True):
    """Which entries."""

    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=10_000, extra={"short": ("-n",)})] = 20
    pane: PaneFilter = None
    kind: Annotated[str | None, Meta(description="Only this kind of action, for example send_text.")] = None
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    after: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="The first ones after this cursor, not the newest.")
    ] = None


class AuditItem(Struct, frozen=True, kw_only=True):
    """One entry. An action has several: `judged` or `asked`, `answered`, `intent`, `outcome`, joined by
    ``correlation``. ``hash`` covers this entry and all before it.
    """

    id: int
    at: str
    correlation: str
    stage: Stage
    kind: str
    by: str
    pane: int | None
    place: str
    what: str
    action: dict[str, Any]
    verdict: Answer | None
    verdict_why: str
    observed: dict[str, Scalar]
    outcome: str
    why: str
    hash: str


class AuditSummary(Struct, frozen=True, kw_only=True):
    entries: int
    by_stage: dict[str, int]


class AuditListing(Listing, frozen=True, kw_only=True):
    """Entries, oldest first. ``cursor`` is where the next call goes on, as `--after`."""

    summary: AuditSummary
    items: tuple[AuditItem, ...]
    cursor: int


async def run(world: ActingWorld, wanted: Audit) -> AuditListing:
    if wanted.kind is not None and wanted.kind not in RISKS:
        near = nearest(wanted.kind, tuple(RISKS))
        known = " or ".join(near) if near else ", ".join(RISKS)
        raise BadRequest(f"there is no kind of action {wanted.kind!r}", hint=f"Did you mean {known}?")
    now = world.clock.now()
    entries = await world.door.ledger.list(
        after=wanted.after,
        pane=await named_id(world, wanted.pane),
        kind=wanted.kind,
        since=moment(wanted.since, now),
        limit=wanted.limit,
    )
    items = tuple(_item(entry) for entry in entries)
    return AuditListing(
        generated_at=iso(now),
        filters=filters(pane=wanted.pane, kind=wanted.kind, since=wanted.since, after=wanted.after),
        summary=AuditSummary(entries=len(items), by_stage=counts(item.stage for item in items)),
        items=items,
        cursor=items[-1].id if items else wanted.after or 0,
    )


def _item(entry: AuditEntry) -> AuditItem:
    verdict = entry.verdict
    return AuditItem(
        id=entry.id,
        at=iso(entry.at),
        correlation=entry.correlation,
        stage=entry.stage,
        kind=entry.kind,
        by=who(entry.actor),
        pane=entry.pane,
        place=clean(redact(entry.place)),
        what=described(entry.kind, entry.action) if entry.action else entry.kind,
        action=masked(entry.action),
        verdict=verdict.answer if verdict else None,
        verdict_why=redact(verdict.why) if verdict else "",
        observed=masked(entry.observed),
        outcome=redact(entry.outcome),
        why=redact(entry.why),
        hash=entry.hash,
    )


def _came(item: AuditItem) -> str:
    told = item.outcome or (item.verdict or "")
    return f"{told} ({item.why})" if item.why else told


COLUMNS = (
    Column("ID", lambda item: str(item.id), is_right=True, style="bold"),
    Column("WHEN", lambda item: item.at),
    Column("STAGE", lambda item: item.stage),
    Column("BY", lambda item: item.by, style="cyan"),
    Column("PANE", lambda item: "-" if item.pane is None else str(item.pane), is_right=True),
    Column("RESULT", _came, may_shrink=True, style="yellow"),
    Column("WHAT", lambda item: item.what, may_shrink=True),
)


def plain(listing: AuditListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    if not listing.items:
        return "Nothing is on record."
    entries = listing.summary.entries
    return f"{rows}\n\n{counted(entries, 'entry') if entries == 1 else f'{entries} entries'}"


OP = Op(
    name="audit",
    robot="audit",
    summary="What was wanted, decided and done, by whom and where.",
    doc="""Nothing is done that is not on record first; what was denied, refused or failed is there too. Nothing can
switch the record off, cut it or change it unseen: every entry vouches for all before it (`visor audit verify`). Secrets
are taken out of what is kept; the hash of the true action stays.""",
    Input=Audit,
    Output=AuditListing,
    run=run,
    plain=plain,
    examples=(
        Example("audit", "the newest entries"),
        Example("audit --pane 7 --kind send_text --since today", "what was typed into pane 7 today"),
        Example("robot audit --after 120", "what came after a cursor, as JSON"),
    ),
)
