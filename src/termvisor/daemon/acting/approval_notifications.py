"""Tells people that somebody waits for their answer, by the ways that are set up.

It goes through the gate like everything else. A notification is never asked about, so no question leads to another.
Questions that an earlier daemon left open are told again: nobody knows how far it came. A webhook has the same id then.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence

from termvisor.bus import Bus
from termvisor.errors import VisorError
from termvisor.log import logger
from termvisor.model.action.action import Actor, Notify, Way
from termvisor.model.action.approval import Approval

_FEW = 3
log = logger("questions")

Tell = Callable[[Notify, str], Awaitable[object]]


def myself() -> Actor:
    """As whom the daemon speaks: what holds back programs, such as quiet hours, holds it back too."""
    return Actor(kind="workflow", name="inbox", uid=os.getuid(), pid=os.getpid())


async def tell_of_questions(
    questions: Bus[Approval], ways: Callable[[], Sequence[Way]], tell: Tell, left: Sequence[Approval] = ()
) -> None:
    """Runs until it is cancelled. A way that hangs keeps no other question waiting."""
    with questions.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            for notice, key in left_open(left, ways()):
                group.create_task(_told(tell, notice, key))
            while True:
                asked = await news.get()
                for notice in notices(asked, ways()):
                    group.create_task(_told(tell, notice, key_of(asked)))


def left_open(left: Sequence[Approval], ways: Sequence[Way]) -> list[tuple[Notify, str]]:
    """A few are told one by one, many by their number."""
    told = [(notice, key_of(one)) for one in left for notice in notices(one, ways)]
    count = len({key for _, key in told})
    if count <= _FEW:
        return told
    title = f"Somebody must answer {count} questions: visor inbox"
    return [(Notify(title=title, text="", way=way), os.urandom(8).hex()) for way in dict.fromkeys(ways)]


def key_of(asked: Approval) -> str:
    return f"question.{asked.id}.{asked.correlation}"


def notices(approval: Approval, ways: Sequence[Way]) -> list[Notify]:
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
    return [Notify(title=title, text=text, way=way) for way in dict.fromkeys(ways)]


async def _told(tell: Tell, notice: Notify, key: str) -> None:
    try:
        await tell(notice, key)
    except VisorError as error:
        log.warning("nobody was told by %s that a question waits: %s", notice.way, error.message)
