"""The op `wait_for`: wait until a pane shows some text, falls quiet, or ends.

It looks back first, so an answer printed between two calls is found; and it always returns: on what was waited for,
on the pane's end, or on the timeout.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct, structs

from termvisor.bus import Subscription
from termvisor.clock import NS
from termvisor.errors import BadRequest, ConfigError, NotFound, TimedOut
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.model.output import Line
from termvisor.model.pane import PaneView
from termvisor.ops.base import Example, Op
from termvisor.ops.cursor import newest, read, write
from termvisor.ops.get_text import TextLine, text_line
from termvisor.ops.listing import PaneIdentity, identity, named
from termvisor.ops.look import Look, clean
from termvisor.ops.waiting import first
from termvisor.ops.world import World
from termvisor.redact import redact

_PAGE = 1000
Outcome = Literal["matched", "quiet", "gone", "died"]


class WaitFor(Struct, frozen=True, kw_only=True):
    """What to wait for: a pattern, or `--gone`, or `--quiet-for`."""

    pane: Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]
    pattern: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Text that a line must hold.", extra={"positional": "rest"}),
    ] = None
    regex: Annotated[bool, Meta(description="The pattern is a regular expression (RE2 syntax).")] = False
    timeout_secs: Annotated[float, Meta(description="Give up after so many seconds.", ge=0, le=604_800)] = 30.0
    tail: Annotated[int, Meta(description="Look back over so many lines first.", ge=0, le=100_000)] = 200
    since: Annotated[str | None, Meta(description="Look back to this cursor instead.")] = None
    gone: Annotated[bool, Meta(description="Wait until the pane, or the program in it, ends.")] = False
    quiet_for: Annotated[
        Annotated[float, Meta(gt=0, le=604_800)] | None,
        Meta(description="Wait until it printed nothing for so many seconds."),
    ] = None


class Waited(Struct, frozen=True, kw_only=True):
    """``line`` is what matched; its number is absent while the line is unfinished. ``cursor`` is where to read on."""

    identity: PaneIdentity
    outcome: Outcome
    waited_secs: float
    cursor: str
    line: TextLine | None = None
    pending: str | None = None
    exit_status: int | None = None


class Seen(Struct, frozen=True, kw_only=True):
    """What a look at the pane gave, when it was what we wait for."""

    outcome: Outcome
    line: Line | None = None
    pending: str | None = None


class Condition(Protocol):
    async def look(self, pane: PaneView) -> Seen | None:
        """What happened, or nothing yet."""

    def patience(self, pane: PaneView) -> float:
        """Seconds after which to look again even without news."""


async def run(world: World, wanted: WaitFor) -> Waited:
    pane = await named(world, wanted.pane)
    started = world.clock.monotonic()
    deadline = started + wanted.timeout_secs
    with world.news.output() as output, world.news.events() as events:
        await world.fleet.settle()
        condition = await _condition(world, pane, wanted)
        while (seen := await condition.look(pane)) is None:
            _still_there(pane, await newest(world, pane.id), wanted)
            left = deadline - world.clock.monotonic()
            if left <= 0:
                raise await _timed_out(world, pane, wanted)
            await _news(world, pane.id, min(left, condition.patience(pane)), (output, events))
            pane = await _again(world, pane)
        return await _waited(world, pane, seen, started)


async def _condition(world: World, pane: PaneView, wanted: WaitFor) -> Condition:
    asked = [wanted.pattern is not None, wanted.gone, wanted.quiet_for is not None]
    if sum(asked) != 1:
        raise BadRequest("wait for exactly one thing: a pattern, --gone or --quiet-for")
    if wanted.gone:
        return _Gone()
    if wanted.quiet_for is not None:
        return _Quiet(world, wanted.quiet_for)
    return _Pattern(world, _matcher(wanted), await _look_back(world, pane, wanted))


async def _look_back(world: World, pane: PaneView, wanted: WaitFor) -> int:
    """The line number after which a match counts."""
    if wanted.since is not None:
        return await read(world, pane.id, wanted.since)
    lines = await world.history.lines(pane.id, limit=wanted.tail) if wanted.tail else []
    return lines[0].number - 1 if lines else await newest(world, pane.id)


def _matcher(wanted: WaitFor) -> Callable[[str], bool]:
    pattern = wanted.pattern or ""
    if not wanted.regex:
        return lambda text: pattern in text
    from termvisor.match import compile_patterns  # the engine loads only when somebody needs it

    try:
        matcher = compile_patterns({"wanted": pattern})
    except ConfigError as error:
        raise BadRequest(f"--regex: {error.message}", hint="Look-around and back-references are not known.") from error
    return lambda text: bool(matcher.ids(text.encode("utf-8", "replace")))


class _Pattern:
    def __init__(self, world: World, fits: Callable[[str], bool], after: int):
        self._world, self._fits, self._after = world, fits, after

    async def look(self, pane: PaneView) -> Seen | None:
        while lines := await self._world.history.lines(pane.id, after=self._after, limit=_PAGE):
            self._after = lines[-1].number
            for line in lines:
                if self._fits(line.text):
                    return Seen(outcome="matched", line=line)
        pending = self._world.fleet.pending(pane.id)
        return Seen(outcome="matched", pending=pending) if pending and self._fits(pending) else None

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
        thing = "the pattern was seen" if wanted.pattern is not None else "it fell quiet"
        raise NotFound(
            f"pane {pane.id} ended before {thing}",
            hint=f"`visor get-text {pane.id}` shows its last lines.",
            details={"pane": pane.id, "cursor": write(pane.id, position)},
        )


async def _timed_out(world: World, pane: PaneView, wanted: WaitFor) -> TimedOut:
    return TimedOut(
        f"it did not happen in pane {pane.id} within {wanted.timeout_secs:g} s",
        details={"pane": pane.id, "cursor": write(pane.id, await newest(world, pane.id))},
    )


async def _news(
    world: World, pane: PaneId, seconds: float, sources: tuple[Subscription[PaneId], Subscription[Event]]
) -> None:
    """Sleep until there is news of this pane, of the fleet, or the time is up; other panes' output wakes nobody."""
    output, _ = sources
    until = world.clock.monotonic() + seconds
    missed = output.missed
    while (left := until - world.clock.monotonic()) > 0:
        news: list[Any] = await first(world.clock, left, *sources)
        news += output.drain()
        is_ours = any(item == pane or isinstance(item, Event) for item in news)
        if not news or is_ours or output.missed != missed:
            return


async def _again(world: World, pane: PaneView) -> PaneView:
    """The pane as it is now."""
    try:
        return await named(world, str(pane.id))
    except NotFound:
        return structs.replace(pane, gone_at=world.clock.now())


async def _waited(world: World, pane: PaneView, seen: Seen, started: float) -> Waited:
    position = seen.line.number if seen.line is not None else await newest(world, pane.id)
    return Waited(
        identity=identity(pane),
        outcome=seen.outcome,
        waited_secs=round(world.clock.monotonic() - started, 3),
        cursor=write(pane.id, position),
        line=None if seen.line is None else text_line(structs.replace(seen.line, text=redact(seen.line.text))),
        pending=None if seen.pending is None else redact(seen.pending),
        exit_status=pane.facts.dead_status,
    )


def plain(waited: Waited, look: Look) -> str:
    if waited.line is not None:
        return clean(waited.line.text)
    if waited.pending is not None:
        return clean(waited.pending)
    words = {"gone": "ended", "died": f"ended with status {waited.exit_status}", "quiet": "is quiet"}
    return f"pane {waited.identity.id} {words[waited.outcome]}"


OP = Op(
    name="wait_for",
    aliases=("wait",),
    robot="wait-for",
    summary="Wait until a pane shows some text, falls quiet, or ends.",
    doc="""Looks back over the last `--tail` lines first, or from a cursor on with `--since`, so what was printed
before the call is found. Then it waits for new lines; an unfinished last line counts too. `outcome` is `matched`,
`quiet`, `gone` or `died`. A pane that ends while a pattern or quiet is waited for is `pane_not_found`; the timeout is
`timeout`; both carry the cursor to read on from.""",
    Input=WaitFor,
    Output=Waited,
    run=run,
    plain=plain,
    exits=(
        (0, "What was waited for happened."),
        (2, "The call is wrong: no or several things to wait for, a bad pattern, an invalid cursor."),
        (4, "There is no such pane, or it ended first."),
        (124, "It did not happen in time."),
    ),
    examples=(
        Example("wait-for 7 'tests passed' --timeout-secs 300", "wait for a text"),
        Example("wait-for 7 --regex 'exit (code|status) [0-9]+'", "wait for a pattern"),
        Example("robot wait-for 7 done --since 7:1042", "only what was printed after a cursor counts"),
        Example("wait-for 7 --quiet-for 10", "until it printed nothing for ten seconds"),
        Example("wait-for 7 --gone", "until it ends"),
    ),
)
