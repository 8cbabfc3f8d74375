"""The op `wait_for`: wait until a pane shows some text, finishes a command, falls quiet or ends, or its agent is in a
state.

It looks back first, so an answer printed between two calls is found; and it always returns: on what was waited for,
on the pane's end, or on the timeout.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct, structs

from termvisor.bus import Subscription
from termvisor.clock import NS
from termvisor.errors import BadRequest, ConfigError, NotFound, TimedOut
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.state import StateChange
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._agent_row import AgentRow, build_agent_row, format_state_cell
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.history._command_item import CommandFacts, build_command_facts, format_duration, format_exit_code
from termvisor.ops.panes._listing import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.panes._text_cursor import find_last_line_number, format_cursor, parse_cursor
from termvisor.ops.panes._wait_command import (
    AwaitedCommand,
    choose_awaited_command,
    explain_missed_command,
    find_ended_command,
    get_command_outcome,
)
from termvisor.ops.panes._wait_screen import ScreenTextMatcher
from termvisor.ops.panes._wait_state import AgentStateMatcher
from termvisor.ops.panes._wait_update import wait_for_update
from termvisor.ops.panes.get_text import TextLine, build_text_line
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

_LINES_PER_PAGE = 1000
WaitOutcome = Literal["matched", "finished", "lost", "quiet", "gone", "died", "state"]


class WaitForArgs(Struct, frozen=True, kw_only=True):
    """What to wait for: a pattern, or `--command-finished`, `--state`, `--gone`, `--quiet-for`."""

    pane: Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]
    pattern: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Text that a line must hold.", extra={"positional": "rest"}),
    ] = None
    regex: Annotated[bool, Meta(description="The pattern is a regular expression (RE2 syntax).")] = False
    timeout_secs: Annotated[float, Meta(description="Give up after so many seconds.", ge=0, le=604_800)] = 30.0
    tail: Annotated[int, Meta(description="RenderOptions back over so many lines first.", ge=0, le=100_000)] = 200
    since: Annotated[str | None, Meta(description="RenderOptions back to this cursor instead.")] = None
    command_finished: Annotated[
        bool, Meta(description="Wait until a command is over: the one that runs now, or that starts after --since.")
    ] = False
    state: Annotated[
        str | None,
        Meta(description="Wait until its agent is in this state or one of these: waiting,completed,idle."),
    ] = None
    gone: Annotated[bool, Meta(description="Wait until the pane, or the program in it, ends.")] = False
    quiet_for: Annotated[
        Annotated[float, Meta(gt=0, le=604_800)] | None,
        Meta(description="Wait until it printed nothing for so many seconds."),
    ] = None


class WaitForResult(Struct, frozen=True, kw_only=True):
    """What matched is ``line``, or ``pending`` while the line is unfinished, or ``shown``: a row of a screen that
    repaints. ``command`` is what finished, or was lost. ``agent`` is the one whose state was waited for. ``cursor`` is
    where to read on.
    """

    identity: PaneIdentity
    outcome: WaitOutcome
    waited_secs: float
    cursor: str
    line: TextLine | None = None
    pending: str | None = None
    shown: str | None = None
    command: CommandFacts | None = None
    agent: AgentRow | None = None
    exit_status: int | None = None
    """Of the program in a pane that ended. A command has its own ``exit_code``."""


class ConditionResult(Struct, frozen=True, kw_only=True):
    """What a look at the pane gave, when it was what we wait for."""

    outcome: WaitOutcome
    line: Line | None = None
    pending: str | None = None
    shown: str | None = None
    command: ShellCommand | None = None
    view: AgentView | None = None


class WaitCondition(Protocol):
    async def check(self, pane: PaneView) -> ConditionResult | None:
        """What happened, or nothing yet."""

    def get_retry_delay(self, pane: PaneView) -> float:
        """Seconds after which to look again even without news."""


async def run(services: Services, args: WaitForArgs) -> WaitForResult:
    pane = await resolve_pane(services, args.pane)
    started = services.clock.monotonic()
    deadline = started + args.timeout_secs
    with (
        services.updates.subscribe_output() as output,
        services.updates.subscribe_events() as events,
        services.agents.subscribe_state_changes() as changes,
    ):
        await services.panes.wait_until_stored()
        condition = await _build_condition(services, pane, args)
        while (seen := await condition.check(pane)) is None:
            _check_pane_exists(pane, await find_last_line_number(services, pane.id), args)
            left = deadline - services.clock.monotonic()
            if left <= 0:
                raise await _build_timeout_error(services, pane, args)
            await _wait_for_pane_update(
                services, pane.id, min(left, condition.get_retry_delay(pane)), (output, events, changes)
            )
            pane = await _read_pane(services, pane)
        return await _build_result(services, pane, seen, started)


async def _build_condition(services: Services, pane: PaneView, args: WaitForArgs) -> WaitCondition:
    given = (args.pattern, args.quiet_for, args.state)
    if sum(one is not None for one in given) + args.gone + args.command_finished != 1:
        raise BadRequest("wait for exactly one thing: a pattern, --command-finished, --state, --gone or --quiet-for")
    if args.command_finished:
        since = None if args.since is None else await parse_cursor(services, pane.id, args.since)
        return _CommandCondition(
            services, await choose_awaited_command(services, await _read_pane(services, pane), since)
        )
    if args.gone:
        return _GoneCondition()
    if args.state is not None:
        return _StateCondition(AgentStateMatcher(services, args.state))
    if args.quiet_for is not None:
        return _QuietCondition(services, args.quiet_for)
    return _PatternCondition(services, build_matcher(args), await _find_start_line(services, pane, args))


async def _find_start_line(services: Services, pane: PaneView, args: WaitForArgs) -> int:
    """The line number after which a match counts."""
    if args.since is not None:
        return await parse_cursor(services, pane.id, args.since)
    lines = await services.history.list_lines(pane.id, limit=args.tail) if args.tail else []
    return lines[0].number - 1 if lines else await find_last_line_number(services, pane.id)


def build_matcher(args: WaitForArgs) -> Callable[[str], bool]:
    """Whether a text fits; a pattern that cannot be understood is `BadRequest`."""
    pattern = args.pattern or ""
    if not args.regex:
        return lambda text: pattern in text
    from termvisor.regex import compile_patterns  # the engine loads only when somebody needs it

    try:
        engine = compile_patterns({"wanted": pattern})
    except ConfigError as error:
        raise BadRequest(f"--regex: {error.message}", hint="Look-around and back-references are not known.") from error
    return lambda text: bool(engine.find_ids(text.encode("utf-8", "replace")))


class _PatternCondition:
    def __init__(self, services: Services, is_match: Callable[[str], bool], after_line: int):
        self._services, self._is_match, self._after_line = services, is_match, after_line
        self._screen = ScreenTextMatcher(services, is_match)

    async def check(self, pane: PaneView) -> ConditionResult | None:
        while lines := await self._services.history.list_lines(pane.id, after=self._after_line, limit=_LINES_PER_PAGE):
            self._after_line = lines[-1].number
            for line in lines:
                if self._is_match(line.text):
                    return ConditionResult(outcome="matched", line=line)
        pending = self._services.panes.get_pending_line(pane.id)
        if pending and self._is_match(pending):
            return ConditionResult(outcome="matched", pending=pending)
        shown = await self._screen.find_row(pane)
        return None if shown is None else ConditionResult(outcome="matched", shown=shown)

    def get_retry_delay(self, pane: PaneView) -> float:
        return self._screen.get_retry_delay()


class _CommandCondition:
    def __init__(self, services: Services, target: AwaitedCommand):
        self._services, self._target = services, target

    async def check(self, pane: PaneView) -> ConditionResult | None:
        command = await find_ended_command(self._services, pane, self._target)
        return None if command is None else ConditionResult(outcome=get_command_outcome(command), command=command)

    def get_retry_delay(self, pane: PaneView) -> float:
        return 3600.0


class _StateCondition:
    def __init__(self, matcher: AgentStateMatcher):
        self._matcher = matcher

    async def check(self, pane: PaneView) -> ConditionResult | None:
        view = await self._matcher.find_agent(pane) if pane.gone_at is None else None
        return None if view is None else ConditionResult(outcome="state", view=view)

    def get_retry_delay(self, pane: PaneView) -> float:
        return 3600.0


class _GoneCondition:
    async def check(self, pane: PaneView) -> ConditionResult | None:
        if pane.gone_at is not None:
            return ConditionResult(outcome="gone")
        return ConditionResult(outcome="died") if pane.facts.dead else None

    def get_retry_delay(self, pane: PaneView) -> float:
        return 3600.0


class _QuietCondition:
    def __init__(self, services: Services, seconds: float):
        self._services, self._seconds = services, seconds

    async def check(self, pane: PaneView) -> ConditionResult | None:
        return ConditionResult(outcome="quiet") if self.get_retry_delay(pane) <= 0 and pane.gone_at is None else None

    def get_retry_delay(self, pane: PaneView) -> float:
        last = pane.last_output_at if pane.last_output_at is not None else pane.first_seen_at
        return self._seconds - (self._services.clock.now() - last) / NS


def _check_pane_exists(pane: PaneView, position: int, args: WaitForArgs) -> None:
    if pane.gone_at is not None:
        things = {
            "the pattern was seen": args.pattern,
            "a command was over": args.command_finished,
            f"its agent was {args.state}": args.state,
        }
        thing = next((thing for thing, is_asked in things.items() if is_asked), "it fell quiet")
        raise NotFound(
            f"pane {pane.id} ended before {thing}",
            hint=f"`visor get-text {pane.id}` shows its last lines.",
            details={"pane": pane.id, "cursor": format_cursor(pane.id, position)},
        )


async def _build_timeout_error(services: Services, pane: PaneView, args: WaitForArgs) -> TimedOut:
    return TimedOut(
        f"it did not happen in pane {pane.id} within {args.timeout_secs:g} s",
        hint=await explain_missed_command(services, pane) if args.command_finished and args.since is None else None,
        details={"pane": pane.id, "cursor": format_cursor(pane.id, await find_last_line_number(services, pane.id))},
    )


UpdateSubscriptions = tuple[Subscription[PaneId], Subscription[Event], Subscription[StateChange]]


async def _wait_for_pane_update(services: Services, pane: PaneId, timeout: float, sources: UpdateSubscriptions) -> None:
    """Sleep until there is news of this pane, of the fleet, or the time is up; other panes' output wakes nobody."""
    output = sources[0]
    until = services.clock.monotonic() + timeout
    missed = output.dropped_count
    while (left := until - services.clock.monotonic()) > 0:
        news: list[Any] = await wait_for_update(services.clock, left, *sources)
        news += output.drain()
        is_ours = any(item == pane or isinstance(item, Event | StateChange) for item in news)
        if not news or is_ours or output.dropped_count != missed:
            return


async def _read_pane(services: Services, pane: PaneView) -> PaneView:
    """The pane as it is now."""
    try:
        return await resolve_pane(services, str(pane.id))
    except NotFound:
        return structs.replace(pane, gone_at=services.clock.now())


async def _build_result(services: Services, pane: PaneView, match: ConditionResult, started_at: float) -> WaitForResult:
    position = await find_last_line_number(services, pane.id) if match.line is None else match.line.number
    if match.command is not None and match.command.last_line is not None:
        position = min(position, match.command.last_line)
    return WaitForResult(
        identity=identify_pane(pane),
        outcome=match.outcome,
        waited_secs=round(services.clock.monotonic() - started_at, 3),
        cursor=format_cursor(pane.id, position),
        line=None if match.line is None else build_text_line(structs.replace(match.line, text=redact(match.line.text))),
        pending=None if match.pending is None else redact(match.pending),
        shown=None if match.shown is None else redact(match.shown),
        command=None if match.command is None else build_command_facts(match.command, services.clock.now()),
        agent=None if match.view is None else build_agent_row(pane, match.view, services.clock.now()),
        exit_status=pane.facts.dead_status,
    )


def render_text(result: WaitForResult, options: RenderOptions) -> str:
    if result.line is not None:
        return sanitize(result.line.text)
    if result.pending is not None:
        return sanitize(result.pending)
    if result.shown is not None:
        return sanitize(result.shown)
    if result.command is not None:
        return f"{sanitize(result.command.command or 'a command')}: {_format_command_end(result.command)}"
    if result.agent is not None:
        return sanitize(f"pane {result.identity.id} {result.agent.agent}: {format_state_cell(result.agent)}")
    words = {"gone": "ended", "died": f"ended with status {result.exit_status}", "quiet": "is quiet"}
    return f"pane {result.identity.id} {words[result.outcome]}"


def _format_command_end(command: CommandFacts) -> str:
    if command.status == "lost":
        return "its end was not told"
    return f"status {format_exit_code(command)} after {format_duration(command.seconds)}"


OP = Operation(
    name="wait_for",
    aliases=("wait",),
    robot_name="wait-for",
    summary="Wait until a pane shows text, ends a command, falls quiet, ends, or for a state.",
    doc="""Looks back over the last `--tail` lines first, or from a cursor on with `--since`, so what was printed
before the call is found. Then it waits for new lines; an unfinished last line counts too, and in a pane whose program
repaints the alternate screen every row that it shows. `outcome` is `matched`,
`finished`, `lost`, `quiet`, `gone`, `died` or `state`.

`--command-finished` needs a shell that tells its commands (`visor setup shell`). It waits for the command that runs
now, else for the next one. To type something and wait for it, take the `cursor` of an answer first, type, and give it
as `--since`: then it is the first command that *started* after the cursor, and when that is over already, the call
returns at once. Without a cursor a command that was over before the call is not found. The outcome is `finished` with
`command.exit_code`, whatever that is; or `lost` when its end was never told.

`--state` waits for the agent in the pane; it returns at once when the agent is in that state already. An agent that is
not there yet is waited for; one that ends first is `agent_not_found`.

A pane that ends while a pattern or quiet is waited for is `pane_not_found`; the timeout is
`timeout`; both carry the cursor to read on from.""",
    args_type=WaitForArgs,
    result_type=WaitForResult,
    run=run,
    render_text=render_text,
    exit_statuses=(
        (0, "What was waited for happened; a command's own status is in `command.exit_code`."),
        (2, "The call is wrong: no or several things to wait for, a bad pattern, an invalid cursor."),
        (4, "There is no such pane, or it or its agent ended first."),
        (124, "It did not happen in time."),
    ),
    examples=(
        OperationExample("wait-for 7 'tests passed' --timeout-secs 300", "wait for a text"),
        OperationExample("wait-for 7 --regex 'exit (code|status) [0-9]+'", "wait for a pattern"),
        OperationExample("robot wait-for 7 done --since 7:1042", "only what was printed after a cursor counts"),
        OperationExample(
            "robot wait-for 7 --command-finished --since 7:1042", "until what was typed after a cursor is over"
        ),
        OperationExample("wait-for 7 --state waiting,completed,idle", "until its agent needs you or is done"),
        OperationExample("wait-for 7 --quiet-for 10", "until it printed nothing for ten seconds"),
        OperationExample("wait-for 7 --gone", "until it ends"),
    ),
)
