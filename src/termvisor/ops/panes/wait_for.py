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
from termvisor.model.terminal.command import Command
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._agent_row import AgentRow, row, state_cell
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.history._command_item import CommandFacts, duration, ending, facts
from termvisor.ops.panes._listing import PaneIdentity, identity, named
from termvisor.ops.panes._text_cursor import newest, read, write
from termvisor.ops.panes._wait_command import Awaited, awaited, ended, missed, outcome
from termvisor.ops.panes._wait_first import first
from termvisor.ops.panes._wait_screen import OnScreen
from termvisor.ops.panes._wait_state import InState
from termvisor.ops.panes.get_text import TextLine, text_line
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact

_PAGE = 1000
Outcome = Literal["matched", "finished", "lost", "quiet", "gone", "died", "state"]


class WaitFor(Struct, frozen=True, kw_only=True):
    """What to wait for: a pattern, or `--command-finished`, `--state`, `--gone`, `--quiet-for`."""

    pane: Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]
    pattern: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Text that a line must hold.", extra={"positional": "rest"}),
    ] = None
    regex: Annotated[bool, Meta(description="The pattern is a regular expression (RE2 syntax).")] = False
    timeout_secs: Annotated[float, Meta(description="Give up after so many seconds.", ge=0, le=604_800)] = 30.0
    tail: Annotated[int, Meta(description="Look back over so many lines first.", ge=0, le=100_000)] = 200
    since: Annotated[str | None, Meta(description="Look back to this cursor instead.")] = None
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


class Waited(Struct, frozen=True, kw_only=True):
    """What matched is ``line``, or ``pending`` while the line is unfinished, or ``shown``: a row of a screen that
    repaints. ``command`` is what finished, or was lost. ``agent`` is the one whose state was waited for. ``cursor`` is
    where to read on.
    """

    identity: PaneIdentity
    outcome: Outcome
    waited_secs: float
    cursor: str
    line: TextLine | None = None
    pending: str | None = None
    shown: str | None = None
    command: CommandFacts | None = None
    agent: AgentRow | None = None
    exit_status: int | None = None
    """Of the program in a pane that ended. A command has its own ``exit_code``."""


class Seen(Struct, frozen=True, kw_only=True):
    """What a look at the pane gave, when it was what we wait for."""

    outcome: Outcome
    line: Line | None = None
    pending: str | None = None
    shown: str | None = None
    command: Command | None = None
    view: AgentView | None = None


class Condition(Protocol):
    async def look(self, pane: PaneView) -> Seen | None:
        """What happened, or nothing yet."""

    def patience(self, pane: PaneView) -> float:
        """Seconds after which to look again even without news."""


async def run(world: World, wanted: WaitFor) -> Waited:
    pane = await named(world, wanted.pane)
    started = world.clock.monotonic()
    deadline = started + wanted.timeout_secs
    with world.news.output() as output, world.news.events() as events, world.agents.news() as changes:
        await world.fleet.settle()
        condition = await _condition(world, pane, wanted)
        while (seen := await condition.look(pane)) is None:
            _still_there(pane, await newest(world, pane.id), wanted)
            left = deadline - world.clock.monotonic()
            if left <= 0:
                raise await _timed_out(world, pane, wanted)
            await _news(world, pane.id, min(left, condition.patience(pane)), (output, events, changes))
            pane = await _again(world, pane)
        return await _waited(world, pane, seen, started)


async def _condition(world: World, pane: PaneView, wanted: WaitFor) -> Condition:
    given = (wanted.pattern, wanted.quiet_for, wanted.state)
    if sum(one is not None for one in given) + wanted.gone + wanted.command_finished != 1:
        raise BadRequest("wait for exactly one thing: a pattern, --command-finished, --state, --gone or --quiet-for")
    if wanted.command_finished:
        since = None if wanted.since is None else await read(world, pane.id, wanted.since)
        return _Command(world, await awaited(world, await _again(world, pane), since))
    if wanted.gone:
        return _Gone()
    if wanted.state is not None:
        return _State(InState(world, wanted.state))
    if wanted.quiet_for is not None:
        return _Quiet(world, wanted.quiet_for)
    return _Pattern(world, matcher(wanted), await _look_back(world, pane, wanted))


async def _look_back(world: World, pane: PaneView, wanted: WaitFor) -> int:
    """The line number after which a match counts."""
    if wanted.since is not None:
        return await read(world, pane.id, wanted.since)
    lines = await world.history.lines(pane.id, limit=wanted.tail) if wanted.tail else []
    return lines[0].number - 1 if lines else await newest(world, pane.id)


def matcher(wanted: WaitFor) -> Callable[[str], bool]:
    """Whether a text fits; a pattern that cannot be understood is `BadRequest`."""
    pattern = wanted.pattern or ""
    if not wanted.regex:
        return lambda text: pattern in text
    from termvisor.regex import compile_patterns  # the engine loads only when somebody needs it

    try:
        engine = compile_patterns({"wanted": pattern})
    except ConfigError as error:
        raise BadRequest(f"--regex: {error.message}", hint="Look-around and back-references are not known.") from error
    return lambda text: bool(engine.ids(text.encode("utf-8", "replace")))


class _Pattern:
    def __init__(self, world: World, fits: Callable[[str], bool], after: int):
        self._world, self._fits, self._after = world, fits, after
        self._screen = OnScreen(world, fits)

    async def look(self, pane: PaneView) -> Seen | None:
        while lines := await self._world.history.lines(pane.id, after=self._after, limit=_PAGE):
            self._after = lines[-1].number
            for line in lines:
                if self._fits(line.text):
                    return Seen(outcome="matched", line=line)
        pending = self._world.fleet.pending(pane.id)
        if pending and self._fits(pending):
            return Seen(outcome="matched", pending=pending)
        shown = await self._screen.row(pane)
        return None if shown is None else Seen(outcome="matched", shown=shown)

    def patience(self, pane: PaneView) -> float:
        return self._screen.patience()


class _Command:
    def __init__(self, world: World, what: Awaited):
        self._world, self._what = world, what

    async def look(self, pane: PaneView) -> Seen | None:
        command = await ended(self._world, pane, self._what)
        return None if command is None else Seen(outcome=outcome(command), command=command)

    def patience(self, pane: PaneView) -> float:
        return 3600.0


class _State:
    def __init__(self, wanted: InState):
        self._wanted = wanted

    async def look(self, pane: PaneView) -> Seen | None:
        view = await self._wanted.view(pane) if pane.gone_at is None else None
        return None if view is None else Seen(outcome="state", view=view)

    def patience(self, pane: PaneView) -> float:
        return 3600.0


class _Gone:
    async def look(self, pane: PaneView) -> Seen | None:
        if pane.gone_at is not None:
            return Seen(outcome="gone")
        return Seen(outcome="died") if pane.facts.dead else None

    def patience(self, pane: PaneView) -> float:
        return 3600.0


class _Quiet:
    def __init__(self, world: World, seconds: float):
        self._world, self._seconds = world, seconds

    async def look(self, pane: PaneView) -> Seen | None:
        return Seen(outcome="quiet") if self.patience(pane) <= 0 and pane.gone_at is None else None

    def patience(self, pane: PaneView) -> float:
        last = pane.last_output_at if pane.last_output_at is not None else pane.first_seen_at
        return self._seconds - (self._world.clock.now() - last) / NS


def _still_there(pane: PaneView, position: int, wanted: WaitFor) -> None:
    if pane.gone_at is not None:
        things = {
            "the pattern was seen": wanted.pattern,
            "a command was over": wanted.command_finished,
            f"its agent was {wanted.state}": wanted.state,
        }
        thing = next((thing for thing, is_asked in things.items() if is_asked), "it fell quiet")
        raise NotFound(
            f"pane {pane.id} ended before {thing}",
            hint=f"`visor get-text {pane.id}` shows its last lines.",
            details={"pane": pane.id, "cursor": write(pane.id, position)},
        )


async def _timed_out(world: World, pane: PaneView, wanted: WaitFor) -> TimedOut:
    return TimedOut(
        f"it did not happen in pane {pane.id} within {wanted.timeout_secs:g} s",
        hint=await missed(world, pane) if wanted.command_finished and wanted.since is None else None,
        details={"pane": pane.id, "cursor": write(pane.id, await newest(world, pane.id))},
    )


Sources = tuple[Subscription[PaneId], Subscription[Event], Subscription[StateChange]]


async def _news(world: World, pane: PaneId, seconds: float, sources: Sources) -> None:
    """Sleep until there is news of this pane, of the fleet, or the time is up; other panes' output wakes nobody."""
    output = sources[0]
    until = world.clock.monotonic() + seconds
    missed = output.missed
    while (left := until - world.clock.monotonic()) > 0:
        news: list[Any] = await first(world.clock, left, *sources)
        news += output.drain()
        is_ours = any(item == pane or isinstance(item, Event | StateChange) for item in news)
        if not news or is_ours or output.missed != missed:
            return


async def _again(world: World, pane: PaneView) -> PaneView:
    """The pane as it is now."""
    try:
        return await named(world, str(pane.id))
    except NotFound:
        return structs.replace(pane, gone_at=world.clock.now())


async def _waited(world: World, pane: PaneView, seen: Seen, started: float) -> Waited:
    position = await newest(world, pane.id) if seen.line is None else seen.line.number
    if seen.command is not None and seen.command.last_line is not None:
        position = min(position, seen.command.last_line)
    return Waited(
        identity=identity(pane),
        outcome=seen.outcome,
        waited_secs=round(world.clock.monotonic() - started, 3),
        cursor=write(pane.id, position),
        line=None if seen.line is None else text_line(structs.replace(seen.line, text=redact(seen.line.text))),
        pending=None if seen.pending is None else redact(seen.pending),
        shown=None if seen.shown is None else redact(seen.shown),
        command=None if seen.command is None else facts(seen.command, world.clock.now()),
        agent=None if seen.view is None else row(pane, seen.view, world.clock.now()),
        exit_status=pane.facts.dead_status,
    )


def plain(waited: Waited, look: Look) -> str:
    if waited.line is not None:
        return clean(waited.line.text)
    if waited.pending is not None:
        return clean(waited.pending)
    if waited.shown is not None:
        return clean(waited.shown)
    if waited.command is not None:
        return f"{clean(waited.command.command or 'a command')}: {_over(waited.command)}"
    if waited.agent is not None:
        return clean(f"pane {waited.identity.id} {waited.agent.agent}: {state_cell(waited.agent)}")
    words = {"gone": "ended", "died": f"ended with status {waited.exit_status}", "quiet": "is quiet"}
    return f"pane {waited.identity.id} {words[waited.outcome]}"


def _over(command: CommandFacts) -> str:
    if command.status == "lost":
        return "its end was not told"
    return f"status {ending(command)} after {duration(command.seconds)}"


OP = Op(
    name="wait_for",
    aliases=("wait",),
    robot="wait-for",
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
    Input=WaitFor,
    Output=Waited,
    run=run,
    plain=plain,
    exits=(
        (0, "What was waited for happened; a command's own status is in `command.exit_code`."),
        (2, "The call is wrong: no or several things to wait for, a bad pattern, an invalid cursor."),
        (4, "There is no such pane, or it or its agent ended first."),
        (124, "It did not happen in time."),
    ),
    examples=(
        Example("wait-for 7 'tests passed' --timeout-secs 300", "wait for a text"),
        Example("wait-for 7 --regex 'exit (code|status) [0-9]+'", "wait for a pattern"),
        Example("robot wait-for 7 done --since 7:1042", "only what was printed after a cursor counts"),
        Example("robot wait-for 7 --command-finished --since 7:1042", "until what was typed after a cursor is over"),
        Example("wait-for 7 --state waiting,completed,idle", "until its agent needs you or is done"),
        Example("wait-for 7 --quiet-for 10", "until it printed nothing for ten seconds"),
        Example("wait-for 7 --gone", "until it ends"),
    ),
)
