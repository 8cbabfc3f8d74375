"""Operation `wait_for`: wait for text, the end of a command, an agent state, silence, or the end of a pane.

It checks past output first, so that text printed between two calls is found, and it always returns: when the condition
is met, when the pane closes, or on timeout.
"""

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from termvisor.bus import Subscription, wait_for_update
from termvisor.errors import BadRequest, ConfigError, NotFound, TimedOut
from termvisor.model.agent.state import StateChange
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import LinePosition
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._agent_row import AgentRow, build_agent_row, format_state_cell
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._shell_command import CommandFacts, build_command_facts, format_duration, format_exit_code
from termvisor.ops.panes import _wait_conditions
from termvisor.ops.panes._pane_reference import PaneIdentity, PaneReference, identify_pane, resolve_pane
from termvisor.ops.panes._text_cursor import (
    find_last_cursor,
    find_last_line_number,
    format_cursor,
    parse_cursor,
    parse_sent_time,
)
from termvisor.ops.panes.get_text import TextLine, build_text_line
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact


class WaitForArgs(Struct, frozen=True, kw_only=True):
    """Exactly one condition: a pattern, `--command-finished`, `--state`, `--gone` or `--quiet-for`."""

    pane: PaneReference
    pattern: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Text that a line must contain.", extra={"positional": "rest"}),
    ] = None
    regex: Annotated[bool, Meta(description="The pattern is a regular expression (RE2 syntax).")] = False
    timeout_secs: Annotated[
        float, Meta(description="Time out after this many seconds.", ge=0, le=604_800, extra={"also": ("--timeout",)})
    ] = 30.0
    tail: Annotated[int, Meta(description="Search this many past lines first.", ge=0, le=100_000)] = 200
    since: Annotated[
        str | None,
        Meta(description="Search the output after this cursor instead of --tail; with --state: the cursor of a send."),
    ] = None
    command_finished: Annotated[
        bool, Meta(description="Wait until a command ends: the running one, or the first one started after --since.")
    ] = False
    state: Annotated[
        str | None,
        Meta(description="Wait until the agent is in one of these states, for example waiting,completed,idle."),
    ] = None
    gone: Annotated[bool, Meta(description="Wait until the pane closes or its program exits.")] = False
    quiet_for: Annotated[
        Annotated[float, Meta(gt=0, le=604_800)] | None,
        Meta(description="Wait until the pane printed nothing for this many seconds."),
    ] = None


class WaitForResult(Struct, frozen=True, kw_only=True):
    """The match is in ``line``, in ``pending`` if the line is incomplete, or in ``shown`` if it is a row of the
    alternate screen. ``command`` is the command that ended; ``agent`` the agent that reached the state. Continue
    reading at ``cursor``.
    """

    identity: PaneIdentity
    outcome: _wait_conditions.WaitOutcome
    waited_secs: float
    cursor: str
    line: TextLine | None = None
    pending: str | None = None
    shown: str | None = None
    command: CommandFacts | None = None
    agent: AgentRow | None = None
    exit_status: int | None = None
    """Exit status of the program in a dead pane. A command has its own ``exit_code``."""


async def run(services: Services, args: WaitForArgs) -> WaitForResult:
    pane = await resolve_pane(services, args.pane)
    started = services.clock.monotonic()
    deadline = started + args.timeout_secs
    # Subscribe before the first check, so that an update in between wakes the loop instead of being lost.
    with (
        services.updates.subscribe_output() as output,
        services.updates.subscribe_events() as events,
        services.agents.subscribe_state_changes() as changes,
    ):
        await services.panes.wait_until_stored(pane.id)
        condition = await _build_condition(services, pane, args)
        while (match := await condition.check(pane)) is None:
            _check_pane_exists(pane, await find_last_cursor(services, pane.id), args)
            left = deadline - services.clock.monotonic()
            if left <= 0:
                raise await _build_timeout_error(services, pane, args)
            await _wait_for_pane_update(
                services, pane.id, min(left, condition.get_retry_delay(pane)), (output, events, changes)
            )
            pane = await _read_pane(services, pane)
        return await _build_result(services, pane, match, started)


async def _build_condition(services: Services, pane: PaneView, args: WaitForArgs) -> _wait_conditions.WaitCondition:
    with_value = (args.pattern, args.quiet_for, args.state)
    if sum(value is not None for value in with_value) + args.gone + args.command_finished != 1:
        raise BadRequest("give exactly one condition: a pattern, --command-finished, --state, --gone or --quiet-for")
    if args.command_finished:
        start = None if args.since is None else await parse_cursor(services, pane.id, args.since)
        since = None if start is None else start.number
        # Read again: the command may have ended while its output was stored.
        return _wait_conditions.CommandCondition(
            services, await _wait_conditions.choose_awaited_command(services, await _read_pane(services, pane), since)
        )
    if args.gone:
        return _wait_conditions.GoneCondition()
    if args.state is not None:
        after = -1 if args.since is None else parse_sent_time(pane.id, args.since)
        return _wait_conditions.StateCondition(services, args.state, after)
    if args.quiet_for is not None:
        return _wait_conditions.QuietCondition(services, args.quiet_for)
    return _wait_conditions.PatternCondition(services, build_matcher(args), await _find_start(services, pane, args))


async def _find_start(services: Services, pane: PaneView, args: WaitForArgs) -> LinePosition:
    """Return the position after which a match counts."""
    if args.since is not None:
        return await parse_cursor(services, pane.id, args.since)
    lines = await services.history.list_lines(pane.id, limit=args.tail) if args.tail else []
    number = lines[0].number - 1 if lines else await find_last_line_number(services, pane.id)
    return services.history.find_position(pane.id, number)


def build_matcher(args: WaitForArgs) -> Callable[[str], bool]:
    """Return a predicate for the pattern. Raises BadRequest if it is not a valid regular expression."""
    pattern = args.pattern or ""
    if not args.regex:
        return lambda text: pattern in text
    # Loads a native library; most waits do not need it.
    from termvisor.regex import compile_patterns

    try:
        engine = compile_patterns({"pattern": pattern})
    # The engine reports an invalid pattern as a configuration error, but here it is part of the call.
    except ConfigError as error:
        raise BadRequest(
            f"--regex: {error.message}", hint="RE2 syntax has no look-around and no back-references."
        ) from error
    return lambda text: bool(engine.find_ids(text.encode("utf-8", "replace")))


def _check_pane_exists(pane: PaneView, cursor: str, args: WaitForArgs) -> None:
    if pane.gone_at is not None:
        conditions = {
            "the pattern matched": args.pattern,
            "a command finished": args.command_finished,
            f"its agent was {args.state}": args.state,
        }
        condition = next((text for text, is_set in conditions.items() if is_set), "it was quiet")
        raise NotFound(
            f"pane {pane.id} closed before {condition}",
            hint=f"`visor get-text {pane.id}` shows its last lines.",
            details={"pane": pane.id, "cursor": cursor},
        )


async def _build_timeout_error(services: Services, pane: PaneView, args: WaitForArgs) -> TimedOut:
    return TimedOut(
        f"timed out after {args.timeout_secs:g} s waiting for pane {pane.id}",
        hint=await _explain_timeout(services, pane, args),
        details={"pane": pane.id, "cursor": await find_last_cursor(services, pane.id)},
    )


async def _explain_timeout(services: Services, pane: PaneView, args: WaitForArgs) -> str | None:
    if args.state is not None and args.since is not None:
        return f"Its state has not changed to that since the cursor; `visor explain {pane.id}` shows the evidence."
    if args.command_finished and args.since is None:
        return await _wait_conditions.explain_missed_command(services, pane)
    return None


UpdateSubscriptions = tuple[Subscription[PaneId], Subscription[Event], Subscription[StateChange]]


async def _wait_for_pane_update(services: Services, pane: PaneId, timeout: float, sources: UpdateSubscriptions) -> None:
    """Wait for output of this pane, an event, a state change or the timeout; ignore output of other panes."""
    output = sources[0]
    until = services.clock.monotonic() + timeout
    dropped_before = output.dropped_count
    while (left := until - services.clock.monotonic()) > 0:
        updates: list[Any] = await wait_for_update(services.clock, left, *sources)
        updates += output.drain()
        # A full subscription drops items, and one of them may have been about this pane.
        is_relevant = any(item == pane or isinstance(item, Event | StateChange) for item in updates)
        if not updates or is_relevant or output.dropped_count != dropped_before:
            return


async def _read_pane(services: Services, pane: PaneView) -> PaneView:
    """Read the pane again; if it is no longer known, mark it as gone."""
    try:
        return await resolve_pane(services, str(pane.id))
    # Retention has deleted the closed pane; to the caller, it is simply gone.
    except NotFound:
        return structs.replace(pane, gone_at=services.clock.now())


async def _build_result(
    services: Services, pane: PaneView, match: _wait_conditions.ConditionResult, started_at: float
) -> WaitForResult:
    position = await find_last_line_number(services, pane.id) if match.line is None else match.line.number
    if match.command is not None and match.command.last_line is not None:
        # Continue right after the output of the command, even if more was printed since.
        position = min(position, match.command.last_line)
    return WaitForResult(
        identity=identify_pane(pane),
        outcome=match.outcome,
        waited_secs=round(services.clock.monotonic() - started_at, 3),
        cursor=format_cursor(pane.id, services.history.find_position(pane.id, position)),
        line=None if match.line is None else build_text_line(structs.replace(match.line, text=redact(match.line.text))),
        pending=None if match.pending is None else redact(match.pending),
        shown=None if match.shown is None else redact(match.shown),
        command=None if match.command is None else build_command_facts(match.command, services.clock.now()),
        agent=None if match.view is None else build_agent_row(pane, match.view, services.clock.now()),
        exit_status=pane.facts.dead_status,
    )


def render_text(result: WaitForResult, options: RenderOptions) -> str:
    for text in (None if result.line is None else result.line.text, result.pending, result.shown):
        if text is not None:
            return sanitize(text)
    if result.command is not None:
        return f"{sanitize(result.command.command or 'a command')}: {_format_command_end(result.command)}"
    if result.agent is not None:
        return sanitize(f"pane {result.identity.id} {result.agent.agent}: {format_state_cell(result.agent)}")
    words = {"gone": "closed", "died": f"exited with status {result.exit_status}", "quiet": "is quiet"}
    return f"pane {result.identity.id} {words[result.outcome]}"


def _format_command_end(command: CommandFacts) -> str:
    if command.status == "lost":
        return "lost (its end was not reported)"
    return f"status {format_exit_code(command)} after {format_duration(command.seconds)}"


OP = Operation(
    name="wait_for",
    aliases=("wait",),
    robot_name="wait-for",
    summary="Wait for text, a finished command, an agent state, silence or a closed pane.",
    doc="""Searches the last `--tail` lines first, or the output after a cursor with `--since`, so that output printed
before the call is found. Then it waits for new lines. The incomplete last line counts too, and so does every row of the
alternate screen. `outcome` is `matched`, `finished`, `lost`, `quiet`, `gone`, `died` or `state`.

`--command-finished` needs shell integration (`visor setup shell`). It waits for the running command, else for the next
one. To send a command and wait for it, take the `cursor` of an earlier result, send the command, and pass the cursor as
`--since`: the first command that *started* after the cursor is awaited, and if it has already ended, the call returns
at once. Without a cursor, a command that ended before the call is not found. The outcome is `finished` with
`command.exit_code`, or `lost` if the shell never reported the end.

`--state` waits for the agent in the pane and returns at once if it is already in that state. With the `cursor` of
`visor send` as `--since` only a state counts that began after the text was sent. An agent that has not
started yet is awaited; one that exits first is `agent_not_found`.

A pane that closes first is `pane_not_found`, a timeout is `timeout`; both have the cursor to continue from.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    exit_statuses=(
        (0, "The condition was met; the status of a command is in `command.exit_code`."),
        (2, "Invalid call: no condition or several, an invalid pattern or cursor."),
        (4, "Pane not found, or the pane or its agent ended first."),
        (124, "Timed out."),
    ),
    examples=(
        OperationExample("wait-for 7 'tests passed' --timeout-secs 300", "wait for a text"),
        OperationExample("wait-for 7 --regex 'exit (code|status) [0-9]+'", "wait for a regular expression"),
        OperationExample("robot wait-for 7 done --since 7:1042", "match only output after a cursor"),
        OperationExample(
            "robot wait-for 7 --command-finished --since 7:1042", "wait for a command sent after a cursor"
        ),
        OperationExample("wait-for 7 --state waiting,completed,idle", "wait until the agent needs you or is done"),
        OperationExample(
            "robot wait-for 7 --state completed,idle --since 7:1042@18a0f3c2b1d4e500", "wait for the end of a sent task"
        ),
        OperationExample("wait-for 7 --quiet-for 10", "wait for ten seconds without output"),
        OperationExample("wait-for 7 --gone", "wait until the pane closes"),
    ),
)
