"""The op `audit`: what was wanted, decided and done, by whom and where; also as it happens.

The news only wakes; what is told is always read from the record by cursor, so a slow follower misses nothing.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from termvisor.clock import iso
from termvisor.errors import BadRequest, NotFound
from termvisor.model.action.action import RISKS
from termvisor.model.action.audit import AuditEntry, AuditFilter, AuditOutcome, Stage
from termvisor.model.action.verdict import Answer
from termvisor.model.did_you_mean import nearest
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.panes._listing import Filters, Listing, PaneFilter, counts, filters, moment, named_id
from termvisor.ops.render.action_text import described, masked, who
from termvisor.ops.render.text import Column, Look, clean, counted, table
from termvisor.redaction import redact

_PAGE = 200


class Audit(Struct, frozen=True, kw_only=True):
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
    undoes: str
    hash: str


class AuditSummary(Struct, frozen=True, kw_only=True):
    entries: int
    by_stage: dict[str, int]


class AuditListing(Listing, frozen=True, kw_only=True):
    """Entries, oldest first. ``cursor`` is where the next call goes on, as `--after`. ``is_continued``: these came
    after the first piece of a `--follow`.
    """

    summary: AuditSummary
    items: tuple[AuditItem, ...]
    cursor: int
    is_continued: bool = False


async def run(world: ActingWorld, wanted: Audit) -> AuditListing:
    only = await _only(world, wanted)
    entries = await world.door.ledger.list(after=wanted.after, only=only, limit=wanted.limit)
    return _listing(world, wanted, entries, wanted.after or 0)


async def follow(world: ActingWorld, wanted: Audit) -> AsyncIterator[AuditListing]:
    """The newest entries, or those after the cursor; then each one as it is put on record."""
    if wanted.until is not None:
        raise BadRequest("--until does not go with --follow, which has no end")
    only = await _only(world, wanted)
    with world.door.ledger.news() as news:
        told = await run(world, wanted)
        yield told
        while True:
            entries = await world.door.ledger.list(after=told.cursor, only=only, limit=_PAGE)
            if entries:
                told = structs.replace(_listing(world, wanted, entries, told.cursor), is_continued=True)
                yield told
            else:
                await news.get()
                news.drain()


async def _only(world: ActingWorld, wanted: Audit) -> AuditFilter:
    if wanted.kind is not None and wanted.kind not in RISKS:
        near = nearest(wanted.kind, tuple(RISKS))
        known = " or ".join(near) if near else ", ".join(RISKS)
        raise BadRequest(f"there is no kind of action {wanted.kind!r}", hint=f"Did you mean {known}?")
    now = world.clock.now()
    return AuditFilter(
        pane=await _pane(world, wanted.pane),
        kind=wanted.kind,
        actor=wanted.actor,
        outcome=wanted.outcome,
        correlation=wanted.correlation,
        since=moment(wanted.since, now),
        until=moment(wanted.until, now),
    )


async def _pane(world: ActingWorld, reference: str | None) -> PaneId | None:
    """The pane that is meant; of one that is no longer known the number is enough where it is on record."""
    try:
        return await named_id(world, reference)
    except NotFound:
        number = PaneId(int(reference)) if reference and reference.isdecimal() and len(reference) < 19 else None
        if number is None or not await world.door.ledger.list(only=AuditFilter(pane=number), limit=1):
            raise
        return number


def _listing(world: ActingWorld, wanted: Audit, entries: Sequence[AuditEntry], cursor: int) -> AuditListing:
    items = tuple(item(entry) for entry in entries)
    return AuditListing(
        generated_at=iso(world.clock.now()),
        filters=_given(wanted),
        summary=AuditSummary(entries=len(items), by_stage=counts(item.stage for item in items)),
        items=items,
        cursor=items[-1].id if items else cursor,
    )


def _given(wanted: Audit) -> Filters:
    return filters(**{name: value for name, value in structs.asdict(wanted).items() if name not in ("limit", "follow")})


def item(entry: AuditEntry) -> AuditItem:
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
        undoes=entry.undoes,
        hash=entry.hash,
    )


def _came(item: AuditItem) -> str:
    told = item.outcome or (item.verdict or "")
    return f"{told} ({item.why})" if item.why else told


def _what(item: AuditItem) -> str:
    return f"{item.what} (undoes {item.undoes})" if item.undoes else item.what


COLUMNS = (
    Column("ID", lambda item: str(item.id), is_right=True, style="bold"),
    Column("WHEN", lambda item: item.at),
    Column("STAGE", lambda item: item.stage),
    Column("BY", lambda item: item.by, style="cyan"),
    Column("PANE", lambda item: "-" if item.pane is None else str(item.pane), is_right=True),
    Column("RESULT", _came, may_shrink=True, style="yellow"),
    Column("WHAT", _what, may_shrink=True),
)


def plain(listing: AuditListing, look: Look) -> str:
    if listing.is_continued:
        return table(COLUMNS, listing.items, structs.replace(look, is_quiet=True))
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
are taken out of what is kept; the hash of the true action stays.

With `--follow` it goes on with every entry as it is put on record, until you end it; in JSON each piece is one object a
line. Each carries its `cursor`: after a break, begin again with `--follow --after` and nothing is lost or doubled.""",
    Input=Audit,
    Output=AuditListing,
    run=run,
    follow=follow,
    is_live=True,
    plain=plain,
    examples=(
        Example("audit", "the newest entries"),
        Example("audit --pane 7 --kind send_text --since today", "what was typed into pane 7 today"),
        Example("audit --actor robot --outcome denied", "what programs wanted and did not get"),
        Example("audit -f", "and everything from now on"),
        Example("robot audit --follow --after 120", "what came after a cursor and what comes, as JSON"),
    ),
)
