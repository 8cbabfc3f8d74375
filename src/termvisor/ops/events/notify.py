"""The op `notify`: tell a person something, by the ways that are set up."""

import asyncio
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Refused, VisorError
from termvisor.model.action.action import NotificationWay
from termvisor.model.action.action import Notify as Action
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._execute_action import ActionRequest, DryRunResult, dry_run_action, render_dry_run_lines
from termvisor.ops.panes._listing import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.redaction import redact

NotifyStatus = Literal["done", "suppressed", "failed", "denied", "unknown", "foreseen"]


class NotifyArgs(Struct, frozen=True, kw_only=True):
    """What is told, and how."""

    title: Annotated[
        str, Meta(description="What it is about.", extra={"positional": "one"}, min_length=1, max_length=200)
    ]
    text: Annotated[
        str, Meta(description="What there is to say; all further words.", extra={"positional": "rest"}, max_length=4000)
    ] = ""
    pane: Annotated[str | None, Meta(description="The pane that it is about; whoever looks at it is not told.")] = None
    way: Annotated[
        tuple[NotificationWay, ...],
        Meta(description="terminal, desktop, webhook or command; may be repeated. None: those of `notify_ways`."),
    ] = ()
    dry_run: Annotated[bool, Meta(description="Say what would be decided, and tell nobody.")] = False


class NotifyChannelResult(Struct, frozen=True, kw_only=True):
    """What came of one way. ``why`` is a stable code; ``correlation`` finds it in the audit."""

    way: NotificationWay
    status: NotifyStatus
    why: str = ""
    text: str = ""
    correlation: str = ""
    foreseen: DryRunResult | None = None


class NotifyResult(Struct, frozen=True, kw_only=True):
    """``ways`` in the order in which they were named."""

    pane: PaneIdentity | None
    ways: tuple[NotifyChannelResult, ...]


async def build_request(services: ActingServices, args: NotifyArgs) -> ActionRequest:
    """That of the first way."""
    pane, ways = await _resolve_pane_and_channels(services, args)
    return ActionRequest(action=_build_action(args, pane, ways[0]), preconditions=Preconditions(), pane=pane)


async def run(services: ActingServices, args: NotifyArgs) -> NotifyResult:
    pane, ways = await _resolve_pane_and_channels(services, args)
    async with asyncio.TaskGroup() as group:
        actions = [_build_action(args, pane, way) for way in ways]
        tasks = [group.create_task(_notify_channel(services, action, is_dry=args.dry_run)) for action in actions]
    return NotifyResult(pane=None if pane is None else identify_pane(pane), ways=tuple(task.result() for task in tasks))


async def _resolve_pane_and_channels(
    services: ActingServices, args: NotifyArgs
) -> tuple[PaneView | None, list[NotificationWay]]:
    ways = args.way or services.configuration[1].notify_ways
    if not ways:
        hint = "Name one with --way, or set `notify_ways`."
        raise BadRequest("nobody would be told: no way is set up", hint=hint)
    return None if args.pane is None else await resolve_pane(services, args.pane), list(dict.fromkeys(ways))


def _build_action(args: NotifyArgs, pane: PaneView | None, way: NotificationWay) -> Action:
    title, text = sanitize(args.title), sanitize_lines(args.text)
    return Action(title=title, text=text, pane=None if pane is None else pane.id, way=way)


async def _notify_channel(services: ActingServices, action: Action, *, is_dry: bool) -> NotifyChannelResult:
    """What one way does or fails to do is its own answer, and changes nothing for the others."""
    if is_dry:
        foreseen = await dry_run_action(services, ActionRequest(action=action, preconditions=Preconditions()))
        return NotifyChannelResult(way=action.way, status="foreseen", foreseen=foreseen)
    try:
        outcome = await services.gate.run(action, Preconditions())
    except VisorError as error:
        return NotifyChannelResult(
            way=action.way,
            status="denied" if isinstance(error, Refused) else "failed",
            why=error.code,
            text=redact(error.message),
            correlation=str(error.details.get("correlation", "")),
        )
    return NotifyChannelResult(
        way=action.way,
        status=_OUTCOME_STATUSES.get(outcome.status, "unknown"),
        why=outcome.why,
        text=redact(outcome.text),
        correlation=outcome.correlation,
    )


_OUTCOME_STATUSES: dict[str, NotifyStatus] = {"done": "done", "suppressed": "suppressed", "failed": "failed"}


def get_exit_status(result: NotifyResult) -> int:
    statuses = [telling.status for telling in result.ways]
    return 69 if "failed" in statuses else 77 if "denied" in statuses else 0


def render_text(result: NotifyResult, options: RenderOptions) -> str:
    return "\n".join(line for telling in result.ways for line in _format_channel_lines(telling, options))


def _format_channel_lines(channel_result: NotifyChannelResult, options: RenderOptions) -> list[str]:
    if channel_result.foreseen is not None:
        return render_dry_run_lines(channel_result.foreseen, options)
    style = {"done": "green", "suppressed": "yellow"}.get(channel_result.status, "red")
    word = {"done": "told", "suppressed": "not told", "denied": "denied"}.get(channel_result.status, "failed")
    why = ": ".join(filter(None, (channel_result.why, channel_result.text)))
    return [options.paint(style, f"{channel_result.way}: {word}") + sanitize(f" ({why})" if why else "")]


OP = Operation(
    name="notify",
    robot_name="notify",
    summary="Tell a person something: at their terminal, desktop, by webhook or a program.",
    doc="""Each way has its own answer: `done`, `suppressed` (on purpose; `why` says for what reason), `failed` or
`denied`. The same is not told twice within `notify_window` seconds, no way is used more often than `notify_rate` times
a minute, and who has that pane before them and is at the keys is not told at all; what was held back is counted in the
next one. Control characters and secrets are taken out. Where the policy would ask a person, nobody is asked and nobody
is told. `policy explain notify` speaks of the first way.""",
    args_type=NotifyArgs,
    result_type=NotifyResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=((69, "One way at least failed."), (77, "The policy denied one way at least.")),
    examples=(
        OperationExample("notify 'tests are green'", "by the ways that are set up"),
        OperationExample(
            "notify --pane 7 --way desktop build 'it waits for you'", "on the desktop, unless you look at pane 7"
        ),
        OperationExample("robot notify --way webhook deploy done", "as JSON, for a program"),
    ),
)
