"""Operation `list_commands`: list the commands that shells ran, with duration and exit status."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.model.terminal.command import ShellCommand
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._shell_command import CommandFacts, build_command_facts, format_duration, format_exit_code
from termvisor.ops.panes._pane_reference import PaneFilter, PaneIdentity, identify_all_panes, resolve_pane_id
from termvisor.ops.render import results
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import RenderOptions, format_age, pluralize


class ListCommandsArgs(Struct, frozen=True, kw_only=True):
    """Filters on commands."""

    limit: Annotated[
        int, Meta(description="Maximum number of commands, newest first.", ge=1, le=10_000, extra={"short": ("-n",)})
    ] = 20
    pane: PaneFilter = None
    failed: Annotated[bool, Meta(description="Only commands with a nonzero exit status.")] = False
    since: Annotated[
        str | None, Meta(description="Only commands started since: ISO 8601, today, or an age such as 10m.")
    ] = None
    text: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Only commands that contain this text (ignores case)."),
    ] = None


class CommandItem(CommandFacts, frozen=True, kw_only=True):
    """A command and its pane; ``age`` is the number of seconds since it started."""

    identity: PaneIdentity
    age: float


class CommandsSummary(Struct, frozen=True, kw_only=True):
    commands: int
    failed: int
    by_status: dict[str, int]


class CommandListing(results.BaseListing, frozen=True, kw_only=True):
    """Commands, oldest first."""

    summary: CommandsSummary
    items: tuple[CommandItem, ...]


async def run(services: Services, args: ListCommandsArgs) -> CommandListing:
    pane = await resolve_pane_id(services, args.pane)
    # A command that ended just now must be listed as ended.
    await services.panes.wait_until_stored(pane)
    now = services.clock.now()
    commands = await services.history.commands.list(
        pane=pane,
        since=results.parse_time_filter(args.since, now),
        failed=args.failed,
        text=args.text,
        limit=args.limit,
    )
    identities = await identify_all_panes(services)
    items = tuple(_build_command_item(command, identities[command.pane], now) for command in commands)
    summary = CommandsSummary(
        commands=len(items),
        failed=sum(item.exit_code not in (None, 0) for item in items),
        by_status=results.count_values(item.status for item in items),
    )
    filters = results.build_filters(pane=args.pane, failed=args.failed, since=args.since, text=args.text)
    return CommandListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items)


def _build_command_item(command: ShellCommand, identity: PaneIdentity, now: int) -> CommandItem:
    age = max(0.0, compute_seconds_between(command.started_at, now))
    return results.copy_fields(CommandItem, build_command_facts(command, now), identity=identity, age=age)


COLUMNS = (
    TableColumn("ID", lambda item: str(item.id), is_right_aligned=True, style="bold"),
    TableColumn("PANE", lambda item: str(item.identity.id), is_right_aligned=True),
    TableColumn(
        "EXIT", format_exit_code, is_right_aligned=True, choose_style=lambda item: "yellow" if item.exit_code else ""
    ),
    TableColumn("DURATION", lambda item: format_duration(item.seconds), is_right_aligned=True, worth=5),
    TableColumn("AGE", lambda item: format_age(item.age), is_right_aligned=True),
    TableColumn(
        "CWD", lambda item: item.cwd or "-", can_shrink=True, style="cyan", min_width=12, worth=4, kind="folder"
    ),
    TableColumn("COMMAND", lambda item: item.command or "-", can_shrink=True, min_width=24),
)


def render_text(result: CommandListing, options: RenderOptions) -> str:
    empty = "No matching commands." if result.filters else "No commands. Run `visor setup shell` to record them."
    footer = f"{pluralize(result.summary.commands, 'command')}, {result.summary.failed} failed"
    return results.render_listing(COLUMNS, result.items, options, empty=empty, footer=footer)


OP = Operation(
    name="list_commands",
    aliases=("commands",),
    robot_name="commands",
    summary="List commands that shells ran, with duration and exit status.",
    doc="""Shells report the start and end of commands by marks (OSC 133, 633); `visor setup shell` enables them.
`status` is `running`, `finished`, or `lost` if the end was never reported: the next prompt came without it, or the
capture ended. Any program can print marks: `is_proven` is true only if they carried our nonce. `get-text <pane>
--command <id>` shows the output of a command.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    examples=(
        OperationExample("commands", "list the newest commands of all panes"),
        OperationExample("commands --failed --since today", "list today's failed commands"),
        OperationExample("robot commands --pane 7 --text 'make test'", "find a command in one pane, as JSON"),
    ),
)
