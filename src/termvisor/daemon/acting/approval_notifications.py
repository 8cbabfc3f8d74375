"""Notify users about open approval requests through the configured channels.

Notifications go through the gate like every action. They never require approval, so one request cannot cause another.
Notifications for requests that an earlier daemon left open are sent again, because that daemon may have died before it
sent them. They have the same key, so a webhook can drop the duplicate.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence

from termvisor.bus import Bus
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, NotificationWay, Notify
from termvisor.model.action.approval import Approval

# At startup, send a single summary if more requests than this are open.
_MAX_SINGLE_NOTICES = 3
log = get_logger("approvals")

SendNotification = Callable[[Notify, str], Awaitable[object]]


def build_actor() -> Actor:
    """Return the actor that sends these notifications. Limits for programs, such as quiet hours, apply to it."""
    return Actor(kind="workflow", name="inbox", uid=os.getuid(), pid=os.getpid())


async def notify_approvals(
    approval_bus: Bus[Approval],
    get_channels: Callable[[], Sequence[NotificationWay]],
    send: SendNotification,
    open_approvals: Sequence[Approval] = (),
) -> None:
    """Send notices for new requests until cancelled, each in its own task so that a hanging channel delays no other."""
    with approval_bus.subscribe() as approvals:
        async with asyncio.TaskGroup() as group:
            for notice, key in build_open_notices(open_approvals, get_channels()):
                group.create_task(_send_logged(send, notice, key))
            while True:
                approval = await approvals.get()
                # A request that is repeated while it is open was announced the first time.
                notices = build_notices(approval, get_channels()) if approval.count == 1 else []
                for notice in notices:
                    group.create_task(_send_logged(send, notice, build_correlation(approval)))


def build_open_notices(
    open_approvals: Sequence[Approval], channels: Sequence[NotificationWay]
) -> list[tuple[Notify, str]]:
    """Return the notices and keys for leftover requests: one per request, or a summary if there are many."""
    notices = [
        (notice, build_correlation(approval))
        for approval in open_approvals
        for notice in build_notices(approval, channels)
    ]
    count = len({key for _, key in notices})
    if count <= _MAX_SINGLE_NOTICES:
        return notices
    title = f"{count} requests need approval: visor inbox"
    return [(Notify(title=title, text="", way=way), os.urandom(8).hex()) for way in dict.fromkeys(channels)]


def build_correlation(approval: Approval) -> str:
    return f"{approval.correlation}.question.{approval.id}"


def build_notices(approval: Approval, channels: Sequence[NotificationWay]) -> list[Notify]:
    """Return the notices for a request; none if it is answered, or if its caller is prompted at the terminal.

    A notice has no pane: the request is not visible in its pane, so users who have that pane open are notified too.
    """
    is_asked_at_terminal = approval.actor.kind == "human" and approval.needs < 2
    if approval.state != "open" or approval.voices or is_asked_at_terminal:
        return []
    name = f" ({approval.actor.name})" if approval.actor.name else ""
    place = f" in {approval.place}" if approval.place else ""
    text = f"{approval.actor.kind}{name} requests {approval.kind}{place}; risk: {approval.risk}"
    title = f"Approval required: visor approve {approval.id}"
    return [Notify(title=title, text=text, way=way) for way in dict.fromkeys(channels)]


async def _send_logged(send: SendNotification, notice: Notify, key: str) -> None:
    try:
        await send(notice, key)
    except VisorError as error:
        # The request stays open in the inbox, so a notification that failed is not fatal.
        log.warning("approval notification by %s failed: %s", notice.way, error.message)
