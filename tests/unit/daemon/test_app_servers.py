"""One app-server for every home in which a Codex lives, and only so long."""

import asyncio
from contextlib import suppress

from msgspec.structs import replace

from termvisor.agents.base import Process
from termvisor.clock import SystemClock
from termvisor.daemon.app_servers import AppServers
from termvisor.model.ids import RuntimeId
from termvisor.testing.world import NOON
from tests.unit.pipeline.knowing.house import began
from tests.unit.waiting import until


async def heard(records):
    raise AssertionError("nobody speaks here")


def codex(number: int = 1):
    return replace(began(NOON, number, agent="codex").runtime, id=RuntimeId(number))


def process(home: str) -> Process:
    return Process(pid=50, argv=("codex",), env={"CODEX_HOME": home})


async def test_a_home_is_listened_to_while_a_codex_lives_in_it(tmp_path):
    servers = AppServers(heard, SystemClock())
    task = asyncio.ensure_future(servers.run())
    servers.follow(began(NOON).runtime, process(str(tmp_path)))
    assert servers.health() == []
    servers.follow(codex(1), process(str(tmp_path)))
    servers.follow(codex(2), process(str(tmp_path)))
    (health,) = await until(lambda: [one for one in servers.health() if one.status == "absent"])
    assert (health.agent, health.source) == ("codex", "app_server")
    servers.leave(codex(1))
    assert list(servers.servers) == [str(tmp_path)]
    servers.leave(codex(2))
    servers.leave(codex(2))
    assert servers.health() == []
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_one_that_was_there_before_it_runs_is_listened_to_then(tmp_path):
    servers = AppServers(heard, SystemClock())
    servers.follow(codex(), process(str(tmp_path)))
    assert [one.status for one in servers.health()] == ["quiet"]
    task = asyncio.ensure_future(servers.run())
    await until(lambda: [one.status for one in servers.health()] == ["absent"])
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
