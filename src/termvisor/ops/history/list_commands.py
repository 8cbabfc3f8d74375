"""The op `list_commands`: what shells ran, where, for how long, and how it ended."""

from typing import Annotated

from msgspec import Meta, Struct, structs

from termvisor.clock import format_timestamp
from termvisor.model.terminal.command import ShellCommand
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._command_item import CommandFacts, build_command_facts, format_duration, format_exit_code
from termvisor.ops.panes._listing import (
    BaseListing,
    PaneFilter,
    PaneIdentity,
    build_filters,
    build_unknown_identity,
    count_values,
    identify_all_panes,
    parse_time_filter,
    resolve_pane_id,
)
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, pluralize, render_table


class ListCommandsArgs(Struct, frozen=True, kw_only=True):
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


class CommandListing(BaseListing, frozen=True, kw_only=True):
    """Commands, oldest first."""

    summary: CommandsSummary
    items: tuple[CommandItem, ...]


async def run(services: Services, args: ListCommandsArgs) -> CommandListing:
    await services.panes.wait_until_stored()
    now = services.clock.now()
    found = await services.history.commands.list(
        pane=await resolve_pane_id(services, args.pane),
        since=parse_time_filter(args.since, now),
        failed=args.failed,
        text=args.text,
        limit=args.limit,
    )
    who = await identify_all_panes(services)
    items = tuple(
        _build_command_item(command, who.get(command.pane) or build_unknown_identity(command.pane), now)
        for command in found
    )
    summary = CommandsSummary(
        commands=len(items),
        failed=sum(item.exit_code not in (None, 0) for item in items),
        by_status=count_values(item.status for item in items),
    )
    given = build_filters(pane=args.pane, failed=args.failed, since=args.since, text=args.text)
    return CommandListing(generated_at=format_timestamp(now), filters=given, summary=summary, items=items)


def _build_command_item(command: ShellCommand, identity: PaneIdentity, now: int) -> CommandItem:
    started = max(0.0, compute_seconds_between(command.started_at, now))
    return CommandItem(**structs.asdict(build_command_facts(command, now)), identity=identity, age=started)


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("PANE", lambda item: str(item.identity.id), is_right_aligned=True),
    TableColumn("EXIT", format_exit_code, is_right_aligned=True, style="yellow"),
    TableColumn("TOOK", lambda item: format_duration(item.seconds), is_right_aligned=True),
    TableColumn("AGE", lambda item: format_age(item.age), is_right_aligned=True),
    TableColumn("CWD", lambda item: item.cwd or "-", can_shrink=True, style="cyan"),
    TableColumn("COMMAND", lambda item: item.command or "-", can_shrink=True),
)


def render_text(result: CommandListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    if not result.items:
        return "No such command." if result.filters else "No commands: shells tell them after `visor setup shell`."
    return f"{rows}\n\n{pluralize(result.summary.commands, 'command')}, {result.summary.failed} failed"


OP = Operation(
    name="list_commands",
    aliases=("commands",),
    robot_name="commands",
    summary="What shells ran: when, where, for how long, with which status.",
    doc="""Shells tell by marks when a command starts and ends (OSC 133, 633); `visor setup shell` makes yours do so.
`status` is `running`, `finished`, or `lost` when the end was never told: another prompt came without it, or listening
ended. Any program can print marks: only what carries our nonce is `is_proven`. The output of a command is read with
`get-text <pane> --command <id>`.""",
    args_type=ListCommandsArgs,
    result_type=CommandListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("commands", "the newest commands of all panes"),
        OperationExample("commands --failed --since today", "what failed today"),
        OperationExample("robot commands --pane 7 --text 'make test'", "runs of one command in one pane, as JSON"),
    ),
)
