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


async def refuse_records(records):
    raise AssertionError("no records are expected")


def load_provider(agent: str):
    return loader.load_server_provider(next((one for one in loader.load_adapters() if one.name == agent), None))


def build_codex(number: int = 1):
    return replace(build_agent_started(NOON, number, agent="codex").runtime, id=RuntimeId(number))


def build_process(home: str) -> ProcessInfo:
    return ProcessInfo(pid=50, argv=("codex",), env={"CODEX_HOME": home})


async def test_a_home_has_a_connection_while_a_codex_process_uses_it(tmp_path):
    servers = AgentServers(refuse_records, SystemClock(), load_provider)
    task = asyncio.ensure_future(servers.run())
    servers.follow(build_agent_started(NOON).runtime, build_process(str(tmp_path)))
    assert servers.collect_health() == []
    servers.follow(build_codex(1), build_process(str(tmp_path)))
    servers.follow(build_codex(2), build_process(str(tmp_path)))
    (health,) = await wait_until(lambda: [one for one in servers.collect_health() if one.status == "absent"])
    assert (health.agent, health.source) == ("codex", "app_server")
    servers.leave(build_codex(1))
    assert list(servers.connections) == [("codex", str(tmp_path))]
    servers.leave(build_codex(2))
    servers.leave(build_codex(2))
    assert servers.collect_health() == []
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_an_agent_followed_before_run_is_connected_when_it_starts(tmp_path):
    servers = AgentServers(refuse_records, SystemClock(), load_provider)
    servers.follow(build_codex(), build_process(str(tmp_path)))
    assert [one.status for one in servers.collect_health()] == ["quiet"]
    assert servers.has_server(build_codex())
    task = asyncio.ensure_future(servers.run())
    await wait_until(lambda: [one.status for one in servers.collect_health()] == ["absent"])
    assert servers.has_server(build_codex()), "it may start later"
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_an_agent_may_have_a_server_until_its_process_was_scanned(tmp_path):
    servers = AgentServers(refuse_records, SystemClock(), load_provider)
    assert servers.has_server(build_codex())
    assert not servers.has_server(replace(build_codex(), pid=0)), "a remote agent has no process to scan"
    assert not servers.has_server(build_agent_started(NOON).runtime), "its adapter knows no server"
    servers.follow(build_codex(), build_process(str(tmp_path)))
    assert servers.has_server(build_codex())
    servers.leave(build_codex())


async def test_a_failing_provider_is_contained():
    def raise_error(_process: ProcessInfo) -> str:
        raise ValueError("broken")

    servers = AgentServers(
        refuse_records, SystemClock(), lambda _agent: SimpleNamespace(source="server", get_server_key=raise_error)
    )
    servers.follow(build_codex(), build_process("/home/dev"))
    assert (
        servers.collect_health(),
        servers.find_session_control(build_codex()),
        servers.has_server(build_codex()),
    ) == (
        [],
        None,
        False,
    )
