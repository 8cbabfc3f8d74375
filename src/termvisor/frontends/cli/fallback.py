"""What happens when the daemon did not answer a command line: run it here, or start the daemon and ask again."""

import asyncio
from contextlib import aclosing
from typing import Any, NoReturn, cast

from msgspec import convert

from termvisor.client.daemon_process import ensure_running
from termvisor.clock import SystemClock
from termvisor.errors import Unavailable, VisorError
from termvisor.frontends.cli import fast_client as courier
from termvisor.ops.api.dispatch import KINDS, Caller, answer, find
from termvisor.ops.api.local_services import LocalWorld
from termvisor.ops.api.services import World
from termvisor.protocol import command_protocol as face
from termvisor.settings import places


def run(asked: face.Asked, why: int) -> int:
    """``why`` is what the courier came back with."""
    if why == courier.YOURSELF or (why == courier.NOBODY and not _needs_daemon(asked)):
        return _here(LocalWorld(), asked)
    try:
        if why == courier.LOST:
            raise Unavailable(
                "the daemon did not finish its answer", hint="Ask again; `visor daemon restart` may help."
            )
        return _through_new_daemon(asked)
    except VisorError as error:
        return _here(cast(World, _Unreached(error)), asked)


def _needs_daemon(asked: face.Asked) -> bool:
    try:
        op, words = find(asked.argv, asked.is_robot)
    except VisorError:
        return False
    return not (op.is_local(words) or op.works_alone)


def _through_new_daemon(asked: face.Asked) -> int:
    where = places()
    ensure_running(where)
    status = courier.carry(where.daemon_socket, asked)
    if status < 0:
        raise Unavailable("the daemon ended right after its start", hint=f"See {where.log_file}.")
    return status


def _here(world: World, asked: face.Asked) -> int:
    outlet = courier.Outlet(asked)
    status = asyncio.run(_answered(world, asked, outlet))
    again = outlet.again(lambda _aside: None)
    return status if again is None else _here(world, again)


async def _answered(world: World, asked: face.Asked, outlet: courier.Outlet) -> int:
    async with aclosing(answer(world, convert(asked.fields(), Caller))) as pieces:
        async for piece in pieces:
            if isinstance(piece, int):
                return piece
            outlet.deliver(KINDS.get(type(piece), b"o"), piece)
    raise AssertionError("an answer ends with its exit status")


class _Unreached:
    """A world behind a daemon that cannot be reached: every look at it says why, in the words of the face."""

    def __init__(self, error: VisorError):
        self._error = error
        self.clock = SystemClock()

    def __getattr__(self, name: str) -> Any:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise self._error
