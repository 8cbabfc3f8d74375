"""A server is connected only while an agent process uses it."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

from msgspec.structs import replace

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.sources.agent_servers import AgentServers
from termvisor.clock import SystemClock
from termvisor.model.ids import RuntimeId
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import build_agent_started
from tests.unit.wait_until import wait_until


async def heard(records):
    raise AssertionError("nobody speaks here")


def host_of(agent: str):
    return loader.load_server_provider(next((one for one in loader.load_adapters() if one.name == agent), None))


def codex(number: int = 1):
    return replace(build_agent_started(NOON, number, agent="codex").runtime, id=RuntimeId(number))


def process(home: str) -> ProcessInfo:
    return ProcessInfo(pid=50, argv=("codex",), env={"CODEX_HOME": home})


async def test_a_home_is_listened_to_while_a_codex_lives_in_it(tmp_path):
    servers = AgentServers(heard, SystemClock(), host_of)
    task = asyncio.ensure_future(servers.run())
    servers.follow(build_agent_started(NOON).runtime, process(str(tmp_path)))
    assert servers.collect_health() == []
    servers.follow(codex(1), process(str(tmp_path)))
    servers.follow(codex(2), process(str(tmp_path)))
    (health,) = await wait_until(lambda: [one for one in servers.collect_health() if one.status == "absent"])
    assert (health.agent, health.source) == ("codex", "app_server")
    servers.leave(codex(1))
    assert list(servers.connections) == [("codex", str(tmp_path))]
    servers.leave(codex(2))
    servers.leave(codex(2))
    assert servers.collect_health() == []
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_one_that_was_there_before_it_runs_is_listened_to_then(tmp_path):
    servers = AgentServers(heard, SystemClock(), host_of)
    servers.follow(codex(), process(str(tmp_path)))
    assert [one.status for one in servers.collect_health()] == ["quiet"]
    task = asyncio.ensure_future(servers.run())
    await wait_until(lambda: [one.status for one in servers.collect_health()] == ["absent"])
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_failing_provider_is_contained():
    def place_of(_process: ProcessInfo) -> str:
        raise ValueError("broken")

    servers = AgentServers(
        heard, SystemClock(), lambda _agent: SimpleNamespace(source="server", get_server_key=place_of)
    )
    servers.follow(codex(), process("/home/dev"))
    assert (servers.collect_health(), servers.find_session_control(codex()), servers.has_server(codex())) == (
        [],
        None,
        False,
    )
