"""The op `list_commands`: what shells ran, where, for how long, and how it ended."""

from typing import Annotated

from msgspec import Meta, Struct, structs

from termvisor.clock import iso
from termvisor.model.terminal.command import Command
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.history._command_item import CommandFacts, duration, ending, facts
from termvisor.ops.panes._listing import (
    Listing,
    PaneFilter,
    PaneIdentity,
    counts,
    filters,
    identities,
    moment,
    named_id,
    nobody,
)
from termvisor.ops.render.text import Column, Look, age, counted, table


class ListCommands(Struct, frozen=True, kw_only=True):
    """Which commands to list."""

    limit: Annotated[
        int, Meta(description="At most so many, the newest.", ge=1, le=10_000, extra={"short": ("-n",)})
    ] = 20
    pane: PaneFilter = None
    failed: Annotated[bool, Meta(description="Only those that ended with a status other than 0.")] = False
    since: Annotated[
        str | None, Meta(description="Only those started since: ISO 8601, today, or an age such as 10m.")
    ] = None
    text: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Only those whose line holds this text, in any case."),
    ] = None


class CommandItem(CommandFacts, frozen=True, kw_only=True):
    """A command and its pane; ``age`` are the seconds since it started."""

    identity: PaneIdentity
    age: float


class CommandsSummary(Struct, frozen=True, kw_only=True):
    commands: int
    failed: int
    by_status: dict[str, int]


class CommandListing(Listing, frozen=True, kw_only=True):
    """Commands, oldest first."""

    summary: CommandsSummary
    items: tuple[CommandItem, ...]


async def run(world: World, wanted: ListCommands) -> CommandListing:
    await world.fleet.settle()
    now = world.clock.now()
    found = await world.history.commands.list(
        pane=await named_id(world, wanted.pane),
        since=moment(wanted.since, now),
        failed=wanted.failed,
        text=wanted.text,
        limit=wanted.limit,
    )
    who = await identities(world)
    items = tuple(_item(command, who.get(command.pane) or nobody(command.pane), now) for command in found)
    summary = CommandsSummary(
        commands=len(items),
        failed=sum(item.exit_code not in (None, 0) for item in items),
        by_status=counts(item.status for item in items),
    )
    given = filters(pane=wanted.pane, failed=wanted.failed, since=wanted.since, text=wanted.text)
    return CommandListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _item(command: Command, who: PaneIdentity, now: int) -> CommandItem:
    started = max(0.0, seconds_between(command.started_at, now))
    return CommandItem(**structs.asdict(facts(command, now)), identity=who, age=started)


COLUMNS = (
    Column("ID", lambda item: str(item.id), is_right=True, style="bold"),
    Column("PANE", lambda item: str(item.identity.id), is_right=True),
    Column("EXIT", ending, is_right=True, style="yellow"),
    Column("TOOK", lambda item: duration(item.seconds), is_right=True),
    Column("AGE", lambda item: age(item.age), is_right=True),
    Column("CWD", lambda item: item.cwd or "-", may_shrink=True, style="cyan"),
    Column("COMMAND", lambda item: item.command or "-", may_shrink=True),
)


def plain(listing: CommandListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    if not listing.items:
        return "No such command." if listing.filters else "No commands: shells tell them after `visor setup shell`."
    return f"{rows}\n\n{counted(listing.summary.commands, 'command')}, {listing.summary.failed} failed"


OP = Op(
    name="list_commands",
    aliases=("commands",),
    robot="commands",
    summary="What shells ran: when, where, for how long, with which status.",
    doc="""Shells tell by marks when a command starts and ends (OSC 133, 633); `visor setup shell` makes yours do so.
`status` is `running`, `finished`, or `lost` when the end was never told: another prompt came without it, or listening
ended. Any program can print marks: only what carries our nonce is `is_proven`. The output of a command is read with
`get-text <pane> --command <id>`.""",
    Input=ListCommands,
    Output=CommandListing,
    run=run,
    plain=plain,
    examples=(
        Example("commands", "the newest commands of all panes"),
        Example("commands --failed --since today", "what failed today"),
        Example("robot commands --pane 7 --text 'make test'", "runs of one command in one pane, as JSON"),
    ),
)
