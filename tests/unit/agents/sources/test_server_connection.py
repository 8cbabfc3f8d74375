"""A server connection reconnects, reports its health and isolates errors."""

import asyncio
import os
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.server_contract import ServerDependencies
from termvisor.agents.sources.agent_servers import (
    LOOKUP_INTERVAL_S,
    MAX_LOOKUP_INTERVAL_S,
    AgentServerConnection,
)
from termvisor.errors import Unavailable
from termvisor.system import procfs
from tests.unit.actions.scripted_screen import HastyClock
from tests.unit.wait_until import wait_until

TOKEN = "ghp_" + "a1B2" * 9


class Clock(HastyClock):
    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)


class ScriptedServer:
    """A server that is absent, connects once, and closes when `is_closing` is set."""

    location = "somewhere"

    def __init__(self, dependencies: ServerDependencies):
        self.dependencies = dependencies
        self.is_absent = True
        self.connections = 0
        self.is_closing = asyncio.Event()
        self.refreshes = 0

    async def find_absence_reason(self) -> str:
        return "no server is there" if self.is_absent else ""

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        self.connections += 1
        self.dependencies.report_health("all is well", 0.5)
        await self.dependencies.store_records([SourceRecord(source="server", text=f'{{"said":"{TOKEN}"}}', at=1)])
        await self.is_closing.wait()
        raise Unavailable("it hung up")

    def build_lost_records(self) -> list[SourceRecord]:
        return [SourceRecord(source="server", text="lost", at=2)]

    def refresh(self) -> None:
        self.refreshes += 1

    def find_session_control(self, _process: ProcessInfo) -> None:
        return None


class ConnectionScene:
    def __init__(self) -> None:
        self.clock, self.records, self.storage_failures = Clock(), [], 0
        self.connection = AgentServerConnection(
            "toy",
            "here",
            SimpleNamespace(source="server", create_server=self.create_server),
            list_agents=tuple,
            list_unwatched_agents=self.list_no_agents,
            on_records=self.store_records,
            clock=self.clock,
        )

    def create_server(self, location: str, dependencies: ServerDependencies) -> ScriptedServer:
        self.server = ScriptedServer(dependencies)
        return self.server

    async def list_no_agents(self) -> list:
        return []

    async def store_records(self, records: list[SourceRecord]) -> None:
        if self.storage_failures:
            self.storage_failures -= 1
            raise OSError("no room")
        self.records += records

    @property
    def texts(self) -> list[str]:
        return [record.text for record in self.records]


@pytest.fixture
async def scene():
    return ConnectionScene()


@asynccontextmanager
async def run_connection(connection: AgentServerConnection):
    task = asyncio.ensure_future(connection.run())
    yield
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_an_absent_server_is_looked_up_less_often_until_an_agent_starts(scene):
    async with run_connection(scene.connection):
        await wait_until(lambda: scene.clock.pauses[-1:] == [MAX_LOOKUP_INTERVAL_S])
        assert (scene.connection.health.status, scene.connection.health.detail) == ("absent", "no server is there")
        assert scene.clock.pauses[0] == LOOKUP_INTERVAL_S
        scene.connection.refresh()
        await wait_until(lambda: scene.clock.pauses.count(LOOKUP_INTERVAL_S) == 2)
        assert scene.server.refreshes == 1
    assert (scene.server.connections, scene.texts) == (0, [])


async def test_records_are_redacted_and_health_is_reported(scene):
    scene.server.is_absent = False
    async with run_connection(scene.connection):
        await wait_until(lambda: scene.texts)
        health = scene.connection.health
    assert TOKEN not in scene.texts[0]
    assert (health.agent, health.source, health.where, health.status) == ("toy", "server", "somewhere", "well")
    assert (health.lag, health.detail, health.records) == (0.5, "all is well", 1)


async def test_a_lost_connection_is_reported_and_retried(scene):
    scene.server.is_absent = False
    scene.server.is_closing.set()
    async with run_connection(scene.connection):
        await wait_until(lambda: scene.server.connections >= 2)
    assert scene.texts[1] == "lost"
    assert "it hung up" in scene.connection.health.detail or scene.connection.health.status == "well"


async def test_a_storage_error_ends_only_this_connection(scene):
    scene.server.is_absent, scene.storage_failures = False, 1
    async with run_connection(scene.connection):
        await wait_until(lambda: scene.server.connections == 2)
    assert scene.texts[0] == "lost"


async def test_ports_are_those_of_the_same_process(scene):
    other_process = ProcessInfo(pid=os.getpid(), pid_started=procfs.read_process(os.getpid()).started + 1)
    assert await scene.server.dependencies.list_ports(other_process) == ()
