"""The operation `notify`: send a notification to a person over the configured channels.

Each channel is a separate action with its own outcome; a failure of one does not affect the others.
"""

import asyncio
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Refused, VisorError
from termvisor.model.action.action import NotificationWay, Notify
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import ActionRequest, DryRunResult, dry_run_action, render_dry_run_lines
from termvisor.ops.panes._pane_reference import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.redaction import redact

NotifyStatus = Literal["done", "suppressed", "failed", "denied", "unknown", "foreseen"]


class NotifyArgs(Struct, frozen=True, kw_only=True):
    """The notification, and the channels to send it over."""

    title: Annotated[
        str, Meta(description="Title of the notification.", extra={"positional": "one"}, min_length=1, max_length=200)
    ]
    text: Annotated[
        str, Meta(description="Body; all further words.", extra={"positional": "rest"}, max_length=4000)
    ] = ""
    pane: Annotated[
        str | None, Meta(description="The pane that it is about; not sent to a person who is looking at it.")
    ] = None
    way: Annotated[
        tuple[NotificationWay, ...],
        Meta(description="Channel: terminal, desktop, webhook or command; repeatable. Default: setting `notify_ways`."),
    ] = ()
    dry_run: Annotated[bool, Meta(description="Show the decision without sending anything.")] = False


class NotifyChannelResult(Struct, frozen=True, kw_only=True):
    """The outcome of one channel. ``why`` is a stable code; ``correlation`` finds it in the audit log."""

    way: NotificationWay
    status: NotifyStatus
    why: str = ""
    text: str = ""
    correlation: str = ""
    foreseen: DryRunResult | None = None


class NotifyResult(Struct, frozen=True, kw_only=True):
    """``ways`` are the channels in the given order."""

    pane: PaneIdentity | None
    ways: tuple[NotifyChannelResult, ...]


async def build_request(services: Services, args: NotifyArgs) -> ActionRequest:
    """Build the action for the first channel."""
    pane, ways = await _resolve_pane_and_channels(services, args)
    return ActionRequest(action=_build_action(args, pane, ways[0]), preconditions=Preconditions(), pane=pane)


async def run(services: Services, args: NotifyArgs) -> NotifyResult:
    pane, ways = await _resolve_pane_and_channels(services, args)
    async with asyncio.TaskGroup() as group:
        actions = [_build_action(args, pane, way) for way in ways]
        tasks = [group.create_task(_notify_channel(services, action, is_dry=args.dry_run)) for action in actions]
    return NotifyResult(pane=None if pane is None else identify_pane(pane), ways=tuple(task.result() for task in tasks))


async def _resolve_pane_and_channels(
    services: Services, args: NotifyArgs
) -> tuple[PaneView | None, list[NotificationWay]]:
    ways = args.way or services.configuration[1].notify_ways
    if not ways:
        raise BadRequest(
            "no notification channel is configured",
            hint="Pass `--way` with the name of a channel, or set `notify_ways`.",
        )
    return None if args.pane is None else await resolve_pane(services, args.pane), list(dict.fromkeys(ways))


def _build_action(args: NotifyArgs, pane: PaneView | None, way: NotificationWay) -> Notify:
    title, text = sanitize(args.title), sanitize_lines(args.text)
    return Notify(title=title, text=text, pane=None if pane is None else pane.id, way=way)


async def _notify_channel(services: Services, action: Notify, *, is_dry: bool) -> NotifyChannelResult:
    if is_dry:
        preview = await dry_run_action(services, ActionRequest(action=action, preconditions=Preconditions()))
        return NotifyChannelResult(way=action.way, status="foreseen", foreseen=preview)
    try:
        outcome = await services.gate.run(action, Preconditions())
    # An exception would cancel the other channels in the task group.
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
        status=outcome.status if outcome.status in ("done", "suppressed", "failed") else "unknown",
        why=outcome.why,
        text=redact(outcome.text),
        correlation=outcome.correlation,
    )


def get_exit_status(result: NotifyResult) -> int:
    statuses = [channel.status for channel in result.ways]
    return 69 if "failed" in statuses else 77 if "denied" in statuses else 0


def render_text(result: NotifyResult, options: RenderOptions) -> str:
    return "\n".join(line for channel in result.ways for line in _format_channel_lines(channel, options))


def _format_channel_lines(channel_result: NotifyChannelResult, options: RenderOptions) -> list[str]:
    if channel_result.foreseen is not None:
        return render_dry_run_lines(channel_result.foreseen, options)
    style = {"done": "green", "suppressed": "yellow"}.get(channel_result.status, "red")
    label = {"done": "sent", "suppressed": "suppressed", "denied": "denied"}.get(channel_result.status, "failed")
    why = ": ".join(filter(None, (channel_result.why, channel_result.text)))
    return [options.paint(style, f"{channel_result.way}: {label}") + sanitize(f" ({why})" if why else "")]


OP = Operation(
    name="notify",
    robot_name="notify",
    summary="Send a notification: to the terminal, desktop, a webhook or a program.",
    doc="""Each channel has its own outcome: `done`, `suppressed` (on purpose; `why` gives the reason), `failed` or
`denied`. The same notification is not sent twice within `notify_window` seconds, a channel is used at most
`notify_rate` times a minute, and a person who is active in that pane is not notified; the next notification counts the
suppressed ones. Control characters are removed and secrets redacted. A notification never requests approval: if the
policy requires one, it is suppressed. `policy explain notify` explains the first channel.""",
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=((69, "At least one channel failed."), (77, "The policy denied at least one channel.")),
    examples=(
        OperationExample("notify 'tests are green'", "over the configured channels"),
        OperationExample(
            "notify --pane 7 --way desktop build 'it waits for you'", "on the desktop, unless you look at pane 7"
        ),
        OperationExample("robot notify --way webhook deploy done", "to the webhook, result as JSON"),
    ),
)
