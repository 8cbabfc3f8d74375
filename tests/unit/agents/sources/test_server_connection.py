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


class Scripted:
    """A server that goes as its test says."""

    location = "somewhere"

    def __init__(self, dependencies: ServerDependencies):
        self.dependencies = dependencies
        self.is_absent = True
        self.talks = 0
        self.goes_on = asyncio.Event()
        self.stirs = 0

    async def find_absence_reason(self) -> str:
        return "nobody is there" if self.is_absent else ""

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        self.talks += 1
        self.dependencies.report_health("all is well", 0.5)
        await self.dependencies.store_records([SourceRecord(source="server", text=f'{{"said":"{TOKEN}"}}', at=1)])
        await self.goes_on.wait()
        raise Unavailable("it hung up")

    def build_lost_records(self) -> list[SourceRecord]:
        return [SourceRecord(source="server", text="lost", at=2)]

    def refresh(self) -> None:
        self.stirs += 1

    def find_session_control(self, _process: ProcessInfo) -> None:
        return None


class Listener:
    def __init__(self) -> None:
        self.clock, self.records, self.trouble = Clock(), [], 0
        self.connection = AgentServerConnection(
            "toy",
            "here",
            SimpleNamespace(source="server", create_server=self.create_server),
            list_agents=tuple,
            list_unwatched_agents=self.list_no_agents,
            on_records=self.store_records,
            clock=self.clock,
        )

    def create_server(self, location: str, dependencies: ServerDependencies) -> Scripted:
        self.server = Scripted(dependencies)
        return self.server

    async def list_no_agents(self) -> list:
        return []

    async def store_records(self, records: list[SourceRecord]) -> None:
        if self.trouble:
            self.trouble -= 1
            raise OSError("no room")
        self.records += records

    @property
    def texts(self) -> list[str]:
        return [record.text for record in self.records]


@pytest.fixture
async def one():
    return Listener()


@asynccontextmanager
async def running(connection: AgentServerConnection):
    task = asyncio.ensure_future(connection.run())
    yield
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_an_absent_server_is_looked_up_less_often_until_an_agent_starts(one):
    async with running(one.connection):
        await wait_until(lambda: one.clock.pauses[-1:] == [MAX_LOOKUP_INTERVAL_S])
        assert (one.connection.health.status, one.connection.health.detail) == ("absent", "nobody is there")
        assert one.clock.pauses[0] == LOOKUP_INTERVAL_S
        one.connection.refresh()
        await wait_until(lambda: one.clock.pauses.count(LOOKUP_INTERVAL_S) == 2)
        assert one.server.stirs == 1
    assert (one.server.talks, one.texts) == (0, [])


async def test_records_are_redacted_and_health_is_reported(one):
    one.server.is_absent = False
    async with running(one.connection):
        await wait_until(lambda: one.texts)
        health = one.connection.health
    assert TOKEN not in one.texts[0]
    assert (health.agent, health.source, health.where, health.status) == ("toy", "server", "somewhere", "well")
    assert (health.lag, health.detail, health.records) == (0.5, "all is well", 1)


async def test_a_lost_connection_is_reported_and_retried(one):
    one.server.is_absent = False
    one.server.goes_on.set()
    async with running(one.connection):
        await wait_until(lambda: one.server.talks >= 2)
    assert one.texts[1] == "lost"
    assert "it hung up" in one.connection.health.detail or one.connection.health.status == "well"


async def test_a_storage_error_ends_only_this_connection(one):
    one.server.is_absent, one.trouble = False, 1
    async with running(one.connection):
        await wait_until(lambda: one.server.talks == 2)
    assert one.texts[0] == "lost"


async def test_ports_are_those_of_the_same_process(one):
    with_none = ProcessInfo(pid=os.getpid(), pid_started=procfs.read_process(os.getpid()).started + 1)
    assert await one.server.dependencies.list_ports(with_none) == ()
