"""Tells people that somebody waits for their answer, by the ways that are set up.

It goes through the gate like everything else. A notification is never asked about, so no question leads to another.
Questions that an earlier daemon left open are told again: nobody knows how far it came. A webhook has the same id then.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence

from termvisor.bus import Bus
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor, NotificationWay, Notify
from termvisor.model.action.approval import Approval

_MAX_SINGLE_NOTICES = 3
log = get_logger("questions")

SendNotification = Callable[[Notify, str], Awaitable[object]]


def build_actor() -> Actor:
    """As whom the daemon speaks: what holds back programs, such as quiet hours, holds it back too."""
    return Actor(kind="workflow", name="inbox", uid=os.getuid(), pid=os.getpid())


async def notify_approvals(
    approval_bus: Bus[Approval],
    get_channels: Callable[[], Sequence[NotificationWay]],
    send: SendNotification,
    open_approvals: Sequence[Approval] = (),
) -> None:
    """Runs until it is cancelled. A way that hangs keeps no other question waiting."""
    with approval_bus.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            for notice, key in build_open_notices(open_approvals, get_channels()):
                group.create_task(_send_logged(send, notice, key))
            while True:
                asked = await news.get()
                for notice in build_notices(asked, get_channels()):
                    group.create_task(_send_logged(send, notice, build_correlation(asked)))


def build_open_notices(
    open_approvals: Sequence[Approval], channels: Sequence[NotificationWay]
) -> list[tuple[Notify, str]]:
    """A few are told one by one, many by their number."""
    told = [(notice, build_correlation(one)) for one in open_approvals for notice in build_notices(one, channels)]
    count = len({key for _, key in told})
    if count <= _MAX_SINGLE_NOTICES:
        return told
    title = f"Somebody must answer {count} questions: visor inbox"
    return [(Notify(title=title, text="", way=way), os.urandom(8).hex()) for way in dict.fromkeys(channels)]


def build_correlation(approval: Approval) -> str:
    return f"question.{approval.id}.{approval.correlation}"


def build_notices(approval: Approval, channels: Sequence[NotificationWay]) -> list[Notify]:
    """What is said of a question: nothing once somebody answered, or when the one person it needs is at it anyway.

    The notice names no pane. Who has the pane before them does not see the question there, and must be told too.
    """
    is_asked_on_the_spot = approval.actor.kind == "human" and approval.needs < 2
    if approval.state != "open" or approval.voices or is_asked_on_the_spot:
        return []
    name = f" ({approval.actor.name})" if approval.actor.name else ""
    where = f" in {approval.place}" if approval.place else ""
    text = f"{approval.actor.kind}{name} asks for {approval.kind}{where}; risk: {approval.risk}"
    title = f"Somebody must answer: visor approve {approval.id}"
    return [Notify(title=title, text=text, way=way) for way in dict.fromkeys(channels)]


async def _send_logged(send: SendNotification, notice: Notify, key: str) -> None:
    try:
        await send(notice, key)
    except VisorError as error:
        log.warning("nobody was told by %s that a question waits: %s", notice.way, error.message)
