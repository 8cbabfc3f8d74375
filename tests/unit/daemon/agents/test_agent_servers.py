"""A server is listened to while an agent lives that uses it, and only so long."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

from msgspec.structs import replace

from termvisor import agents
from termvisor.agents.adapters.adapter import Process
from termvisor.clock import SystemClock
from termvisor.daemon.agents.agent_servers import AgentServers
from termvisor.model.ids import RuntimeId
from termvisor.testing.world import NOON
from tests.unit.agents.tracking.house import began
from tests.unit.waiting import until


async def heard(records):
    raise AssertionError("nobody speaks here")


def host_of(agent: str):
    return agents.host_of(next((one for one in agents.load() if one.name == agent), None))


def codex(number: int = 1):
    return replace(began(NOON, number, agent="codex").runtime, id=RuntimeId(number))


def process(home: str) -> Process:
    return Process(pid=50, argv=("codex",), env={"CODEX_HOME": home})


async def test_a_home_is_listened_to_while_a_codex_lives_in_it(tmp_path):
    servers = AgentServers(heard, SystemClock(), host_of)
    task = asyncio.ensure_future(servers.run())
    servers.follow(began(NOON).runtime, process(str(tmp_path)))
    assert servers.health() == []
    servers.follow(codex(1), process(str(tmp_path)))
    servers.follow(codex(2), process(str(tmp_path)))
    (health,) = await until(lambda: [one for one in servers.health() if one.status == "absent"])
    assert (health.agent, health.source) == ("codex", "app_server")
    servers.leave(codex(1))
    assert list(servers.ears) == [("codex", str(tmp_path))]
    servers.leave(codex(2))
    servers.leave(codex(2))
    assert servers.health() == []
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_one_that_was_there_before_it_runs_is_listened_to_then(tmp_path):
    servers = AgentServers(heard, SystemClock(), host_of)
    servers.follow(codex(), process(str(tmp_path)))
    assert [one.status for one in servers.health()] == ["quiet"]
    task = asyncio.ensure_future(servers.run())
    await until(lambda: [one.status for one in servers.health()] == ["absent"])
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_host_that_fails_harms_nobody():
    def place_of(_process: Process) -> str:
        raise ValueError("broken")

    servers = AgentServers(heard, SystemClock(), lambda _agent: SimpleNamespace(source="server", place_of=place_of))
    servers.follow(codex(), process("/home/dev"))
    assert (servers.health(), servers.line_of(codex()), servers.serves(codex())) == ([], None, False)
