"""The op `notify`: tell a person something, by the ways that are set up."""

import asyncio
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Refused, VisorError
from termvisor.model.action.action import Notify as Action
from termvisor.model.action.action import Way
from termvisor.model.action.preconditions import Terms
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Foretold, Wish, foretold, foretold_lines
from termvisor.ops.panes._listing import PaneIdentity, identity, named
from termvisor.ops.render.text import Look, clean, clean_lines
from termvisor.redaction import redact

Status = Literal["done", "suppressed", "failed", "denied", "unknown", "foreseen"]


class Notify(Struct, frozen=True, kw_only=True):
    """What is told, and how."""

    title: Annotated[
        str, Meta(description="What it is about.", extra={"positional": "one"}, min_length=1, max_length=200)
    ]
    text: Annotated[
        str, Meta(description="What there is to say; all further words.", extra={"positional": "rest"}, max_length=4000)
    ] = ""
    pane: Annotated[str | None, Meta(description="The pane that it is about; whoever looks at it is not told.")] = None
    way: Annotated[
        tuple[Way, ...],
        Meta(description="terminal, desktop, webhook or command; may be repeated. None: those of `notify_ways`."),
    ] = ()
    dry_run: Annotated[bool, Meta(description="Say what would be decided, and tell nobody.")] = False


class Telling(Struct, frozen=True, kw_only=True):
    """What came of one way. ``why`` is a stable code; ``correlation`` finds it in the audit."""

    way: Way
    status: Status
    why: str = ""
    text: str = ""
    correlation: str = ""
    foreseen: Foretold | None = None


class Notified(Struct, frozen=True, kw_only=True):
    """``ways`` in the order in which they were named."""

    pane: PaneIdentity | None
    ways: tuple[Telling, ...]


async def wish(world: ActingWorld, wanted: Notify) -> Wish:
    """That of the first way."""
    pane, ways = await _meant(world, wanted)
    return Wish(action=_action(wanted, pane, ways[0]), terms=Terms(), pane=pane)


async def run(world: ActingWorld, wanted: Notify) -> Notified:
    pane, ways = await _meant(world, wanted)
    async with asyncio.TaskGroup() as group:
        actions = [_action(wanted, pane, way) for way in ways]
        tasks = [group.create_task(_told(world, action, is_dry=wanted.dry_run)) for action in actions]
    return Notified(pane=None if pane is None else identity(pane), ways=tuple(task.result() for task in tasks))


async def _meant(world: ActingWorld, wanted: Notify) -> tuple[PaneView | None, list[Way]]:
    ways = wanted.way or world.configuration[1].notify_ways
    if not ways:
        hint = "Name one with --way, or set `notify_ways`."
        raise BadRequest("nobody would be told: no way is set up", hint=hint)
    return None if wanted.pane is None else await named(world, wanted.pane), list(dict.fromkeys(ways))


def _action(wanted: Notify, pane: PaneView | None, way: Way) -> Action:
    title, text = clean(wanted.title), clean_lines(wanted.text)
    return Action(title=title, text=text, pane=None if pane is None else pane.id, way=way)


async def _told(world: ActingWorld, action: Action, *, is_dry: bool) -> Telling:
    """What one way does or fails to do is its own answer, and changes nothing for the others."""
    if is_dry:
        foreseen = await foretold(world, Wish(action=action, terms=Terms()))
        return Telling(way=action.way, status="foreseen", foreseen=foreseen)
    try:
        outcome = await world.door.do(action, Terms())
    except VisorError as error:
        return Telling(
            way=action.way,
            status="denied" if isinstance(error, Refused) else "failed",
            why=error.code,
            text=redact(error.message),
            correlation=str(error.details.get("correlation", "")),
        )
    return Telling(
        way=action.way,
        status=_STATUS.get(outcome.status, "unknown"),
        why=outcome.why,
        text=redact(outcome.text),
        correlation=outcome.correlation,
    )


_STATUS: dict[str, Status] = {"done": "done", "suppressed": "suppressed", "failed": "failed"}


def exit_status(notified: Notified) -> int:
    statuses = [telling.status for telling in notified.ways]
    return 69 if "failed" in statuses else 77 if "denied" in statuses else 0


def plain(notified: Notified, look: Look) -> str:
    return "\n".join(line for telling in notified.ways for line in _lines(telling, look))


def _lines(telling: Telling, look: Look) -> list[str]:
    if telling.foreseen is not None:
        return foretold_lines(telling.foreseen, look)
    style = {"done": "green", "suppressed": "yellow"}.get(telling.status, "red")
    word = {"done": "told", "suppressed": "not told", "denied": "denied"}.get(telling.status, "failed")
    why = ": ".join(filter(None, (telling.why, telling.text)))
    return [look.paint(style, f"{telling.way}: {word}") + clean(f" ({why})" if why else "")]


OP = Op(
    name="notify",
    robot="notify",
    summary="Tell a person something: at their terminal, desktop, by webhook or a program.",
    doc="""Each way has its own answer: `done`, `suppressed` (on purpose; `why` says for what reason), `failed` or
`denied`. The same is not told twice within `notify_window` seconds, no way is used more often than `notify_rate` times
a minute, and who has that pane before them and is at the keys is not told at all; what was held back is counted in the
next one. Control characters and secrets are taken out. Where the policy would ask a person, nobody is asked and nobody
is told. `policy explain notify` speaks of the first way.""",
    Input=Notify,
    Output=Notified,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exit_status=exit_status,
    exits=((69, "One way at least failed."), (77, "The policy denied one way at least.")),
    examples=(
        Example("notify 'tests are green'", "by the ways that are set up"),
        Example("notify --pane 7 --way desktop build 'it waits for you'", "on the desktop, unless you look at pane 7"),
        Example("robot notify --way webhook deploy done", "as JSON, for a program"),
    ),
)
