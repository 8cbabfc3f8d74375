"""Whoever listens to a server connects again, says how that goes, and is disturbed by nothing."""

import asyncio
import os
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.server_contract import ServerDependencies
from termvisor.agents.sources.server_connection import (
    LOOKUP_INTERVAL_S,
    MAX_LOOKUP_INTERVAL_S,
    AgentServerConnection,
    ServerConnectionDependencies,
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

    def __init__(self, means: ServerDependencies):
        self.means = means
        self.is_absent = True
        self.talks = 0
        self.goes_on = asyncio.Event()
        self.stirs = 0

    async def find_absence_reason(self) -> str:
        return "nobody is there" if self.is_absent else ""

    async def run_connection(self, group: asyncio.TaskGroup) -> None:
        self.talks += 1
        self.means.report_health("all is well", 0.5)
        await self.means.store_records([SourceRecord(source="server", text=f'{{"said":"{TOKEN}"}}', at=1)])
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
        around = ServerConnectionDependencies(
            list_pane_agents=tuple, list_other_agents=self.nobody, on_records=self.heard, clock=self.clock
        )
        self.ear = AgentServerConnection("toy", "here", SimpleNamespace(source="server", server=self.open), around)

    def open(self, place: str, means: ServerDependencies) -> Scripted:
        self.server = Scripted(means)
        return self.server

    async def nobody(self) -> list:
        return []

    async def heard(self, records: list[SourceRecord]) -> None:
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
async def running(ear: AgentServerConnection):
    task = asyncio.ensure_future(ear.run())
    yield
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_one_that_is_not_there_is_looked_for_less_and_less_until_somebody_comes(one):
    async with running(one.ear):
        await wait_until(lambda: one.clock.pauses[-1:] == [MAX_LOOKUP_INTERVAL_S])
        assert (one.ear.health.status, one.ear.health.detail) == ("absent", "nobody is there")
        assert one.clock.pauses[0] == LOOKUP_INTERVAL_S
        one.ear.refresh()
        await wait_until(lambda: one.clock.pauses.count(LOOKUP_INTERVAL_S) == 2)
        assert one.server.stirs == 1
    assert (one.server.talks, one.texts) == (0, [])


async def test_what_it_says_is_told_without_secrets_and_its_health_too(one):
    one.server.is_absent = False
    async with running(one.ear):
        await wait_until(lambda: one.texts)
        health = one.ear.health
    assert TOKEN not in one.texts[0]
    assert (health.agent, health.source, health.where, health.status) == ("toy", "server", "somewhere", "well")
    assert (health.lag, health.detail, health.records) == (0.5, "all is well", 1)


async def test_one_that_hangs_up_is_told_to_be_lost_and_called_again(one):
    one.server.is_absent = False
    one.server.goes_on.set()
    async with running(one.ear):
        await wait_until(lambda: one.server.talks >= 2)
    assert one.texts[1] == "lost"
    assert "it hung up" in one.ear.health.detail or one.ear.health.status == "well"


async def test_records_that_cannot_be_stored_end_only_this_talk(one):
    one.server.is_absent, one.trouble = False, 1
    async with running(one.ear):
        await wait_until(lambda: one.server.talks == 2)
    assert one.texts[0] == "lost"


async def test_ports_are_those_of_the_very_process(one):
    with_none = ProcessInfo(pid=os.getpid(), pid_started=procfs.read_process(os.getpid()).started + 1)
    assert await one.server.means.list_ports(with_none) == ()
