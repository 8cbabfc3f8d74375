"""The op `inbox`: questions that a person must answer before something is done."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.action.approval import Approval
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.approvals._approval_item import Asked, lines, told
from termvisor.ops.panes._listing import Listing, filters
from termvisor.ops.panes._wait_first import first
from termvisor.ops.render.text import Look, counted


class Inbox(Struct, frozen=True, kw_only=True):
    """Which questions, and whether to wait for one."""

    all: Annotated[bool, Meta(description="Also those that are closed.")] = False
    wait: Annotated[
        float, Meta(description="While there is no open question, wait so many seconds.", ge=0, le=604_800)
    ] = 0.0
    limit: Annotated[int, Meta(description="At most so many.", ge=1, le=1000, extra={"short": ("-n",)})] = 50


class InboxSummary(Struct, frozen=True, kw_only=True):
    questions: int
    open: int


class InboxListing(Listing, frozen=True, kw_only=True):
    """Questions, oldest first."""

    summary: InboxSummary
    items: tuple[Asked, ...]


async def run(world: ActingWorld, wanted: Inbox) -> InboxListing:
    await _until_open(world, wanted.wait)
    found = await world.door.inbox.list(is_open=not wanted.all, limit=wanted.limit)
    now = world.clock.now()
    items = tuple(told(one, now) for one in found)
    summary = InboxSummary(questions=len(items), open=sum(item.state == "open" for item in items))
    return InboxListing(generated_at=iso(now), filters=filters(all=wanted.all), summary=summary, items=items)


async def _until_open(world: ActingWorld, seconds: float) -> None:
    """Until somebody asks, or the time is over."""
    until = world.clock.monotonic() + seconds
    with world.door.inbox.news() as news:
        while not await _open(world) and (left := until - world.clock.monotonic()) > 0:
            await first(world.clock, left, news)


async def _open(world: ActingWorld) -> list[Approval]:
    return await world.door.inbox.list(is_open=True, limit=1)


def plain(listing: InboxListing, look: Look) -> str:
    told_of = ["\n".join(lines(item)) for item in listing.items]
    if look.is_quiet:
        return "\n".join(told_of)
    if not listing.items:
        return "Nothing is asked."
    number = next((item.id for item in listing.items if item.state == "open"), None)
    hint = f": `visor approve {number}` or `visor deny {number}`" if number is not None else ""
    return "\n\n".join([*told_of, f"{counted(listing.summary.open, 'open question')}{hint}"])


OP = Op(
    name="inbox",
    robot="inbox",
    summary="What waits for a person's yes or no.",
    doc="""Each question is about one exact action in one exact pane, with the reasons why it is asked. `approve` and
`deny` answer it. A question that nobody answers in time is a no. `--wait` returns as soon as there is one.""",
    Input=Inbox,
    Output=InboxListing,
    run=run,
    plain=plain,
    examples=(
        Example("inbox", "the open questions"),
        Example("robot inbox --wait 60", "wait a minute for one, as JSON"),
        Example("inbox --all -n 10", "also those that are closed"),
    ),
)
