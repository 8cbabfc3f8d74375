"""Workflows in the real daemon, with a real shell in a real tmux: killed at every step, they end the same."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from termvisor.client import AsyncVisor, connect
from termvisor.client.daemon_process import fetch_hello
from termvisor.errors import VisorError
from termvisor.testing.visor_instance import VisorInstance
from tests.live.crashing_send_daemon import NEVER
from tests.live.input_record import InputRecord
from tests.unit.wait_until import wait_until

ROOT = Path(__file__).resolve().parents[2]
POLICY = """
unproven_prompt = true
[rates]
per_minute = 100_000
[[rule]]
id = "tests"
when = { kind = ["send_text", "send_keys", "run_workflow"] }
answer = "allow"
"""
TAKES = """
name: takes
summary: Two words, one after the other.
mode: on
steps:
  - wait_for: {prompt: true, timeout: 30s}
  - send: take first
  - note: one is there
  - wait_for: {prompt: true, timeout: 30s}
  - send: take second
"""
SHORT = """
name: short
mode: on
steps:
  - wait_for: {prompt: true, timeout: 30s}
  - send: take first
"""
ASKS = """
name: asks
mode: ask
steps:
  - ask: Shall it go on?
  - send: take asked
"""
SLEEPS = """
name: sleeps
mode: on
steps:
  - wait_for: {prompt: true, timeout: 30s}
  - sleep: 4s
  - send: take woken
"""
BROKEN = "name: broken\nsteps:\n  - wait_stable: 2s\n  - wait_fro: x\n"
FILES = {"takes": TAKES, "short": SHORT, "asks": ASKS, "sleeps": SLEEPS, "broken": BROKEN}
END = ("completed", "failed", "cancelled")


class House:
    """A shell that keeps a record, and the daemons that come and go beside it."""

    def __init__(self, tmux, visor: VisorInstance):
        self._visor, self.record, self._tmux = visor, InputRecord(visor.paths), tmux
        config = Path(visor.paths.config_dir)
        (config / "policy.toml").write_text(POLICY)
        (config / "workflows").mkdir()
        for name, text in FILES.items():
            (config / "workflows" / f"{name}.yaml").write_text(text)
        self._mux_id = tmux.start_session("s", self.record.shell_command)

    @asynccontextmanager
    async def daemon(self, moment: str = NEVER, nth: int = 1) -> AsyncIterator[AsyncVisor]:
        argv = [sys.executable, "-m", "tests.live.crashing_workflow_daemon", moment, str(nth)]
        with subprocess.Popen(argv, cwd=ROOT, env=self._visor.env) as self.process:
            try:
                await wait_until(lambda: fetch_hello(self._visor.paths), timeout=30)
                async with connect(self._visor.paths, start=False) as visor:
                    yield visor
            finally:
                self.process.kill()

    async def pane(self, visor: AsyncVisor) -> str:
        """Our number of it, once it is heard and shows its prompt."""
        async with asyncio.timeout(30):
            while True:
                for item in (await visor.list_panes())["items"]:
                    if item["heard_by"] == "pipe" and item["activity"]["kind"] == "prompt":
                        return str(item["identity"]["id"])
                self._tmux("send-keys", "-t", self._mux_id, "Enter")  # the first prompt may have come before
                await asyncio.sleep(0.1)

    def approve(self, number: int) -> None:
        """A person at a terminal says yes."""
        env = " ".join(f"{name}={value}" for name, value in self._visor.env.items() if name.startswith("VISOR_"))
        self._tmux.open_window("s", f"env {env} {sys.executable} -m termvisor approve {number}")

    async def ended(self, visor: AsyncVisor, number: int) -> dict:
        async with asyncio.timeout(60):
            while True:
                told = await visor.workflow_history(run=number)
                if told["run"]["status"] in END:
                    return told
                await asyncio.sleep(0.02)

    async def due(self, visor: AsyncVisor, number: int) -> str | None:
        """When it is to go on, once it sleeps; None where it has slept already."""
        async with asyncio.timeout(60):
            while True:
                told = (await visor.workflow_history(run=number))["run"]
                if told["due_at"] is not None or told["status"] in END:
                    return told["due_at"]
                await asyncio.sleep(0.02)

    async def until_dead(self, visor: AsyncVisor, number: int) -> bool:
        """Until this daemon dies, or the run is over; whether it died."""
        try:
            await self.ended(visor, number)
        except VisorError:
            return True
        return False


AFTER, BEFORE = ("after a step is written", 1), ("before a step is written", 2)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "death", "words"),
    [
        pytest.param("short", BEFORE, ["first"], id="short"),
        pytest.param("takes", BEFORE, ["first", "second"], id="before", marks=pytest.mark.live),
        pytest.param("takes", AFTER, ["first", "second"], id="after", marks=pytest.mark.live),
        pytest.param("sleeps", BEFORE, ["woken"], id="before and after a sleep", marks=pytest.mark.live),
        pytest.param("sleeps", AFTER, ["woken"], id="at the beginning of a sleep", marks=pytest.mark.live),
    ],
)
async def test_a_run_whose_daemon_is_killed_at_every_step_ends_the_same_and_types_once(tmux, visor, name, death, words):
    house, kills = House(tmux, visor), 0
    moment, nth = death
    async with house.daemon() as client:
        pane = await house.pane(client)
    async with house.daemon(moment, nth) as client:
        run = (await client.workflow_run(name=name, pane=pane, force=True))["run"]["id"]
        kills += await house.until_dead(client, run)
    while True:
        async with house.daemon(moment, nth) as client:
            if not await house.until_dead(client, run):
                break
            kills += 1
    async with house.daemon() as client:
        told = await house.ended(client, run)
    assert told["run"]["status"] == "completed"
    assert {step["status"] for step in told["steps"]} == {"completed"}
    assert house.record.count_received() == dict.fromkeys(words, 1)
    assert kills >= len(told["steps"]) - 1


@pytest.mark.parametrize(
    "is_late", [pytest.param(False, id="back in time", marks=pytest.mark.live), pytest.param(True, id="too late")]
)
async def test_a_run_whose_daemon_is_killed_while_it_sleeps_goes_on_when_it_is_due_and_once(tmux, visor, is_late):
    house = House(tmux, visor)
    async with house.daemon() as client:
        pane = await house.pane(client)
        run = (await client.workflow_run(name="sleeps", pane=pane, force=True))["run"]["id"]
        due = await house.due(client, run)
        house.process.kill()
    await wait_until(lambda: not is_late or is_past(due), timeout=30)
    async with house.daemon() as client:
        came = await house.due(client, run) if not is_late else due
        told = await house.ended(client, run)
    asleep = next(step for step in told["steps"] if step["kind"] == "sleep_until")
    assert (told["run"]["status"], asleep["status"]) == ("completed", "completed")
    assert came in (due, None)
    assert datetime.fromisoformat(asleep["ended_at"]) >= datetime.fromisoformat(due)
    assert house.record.count_received() == {"woken": 1}


def is_past(at: str) -> bool:
    return datetime.now(UTC) > datetime.fromisoformat(at)


async def test_a_question_is_answered_in_the_inbox_and_broken_files_disturb_nobody(tmux, visor):
    house = House(tmux, visor)
    async with house.daemon() as client:
        pane = await house.pane(client)
        listed = await client.workflow_list()
        assert [item["name"] for item in listed["items"] if item["origin"] != "built-in"] == [
            "asks",
            "short",
            "sleeps",
            "takes",
        ]
        assert "broken.yaml:4: unknown step 'wait_fro'; did you mean wait_for?" in listed["broken"][0]["why"]
        told = await client.workflow_dry_run(name="asks", pane=pane)
        assert [step["verdict"] for step in told["steps"]] == [None, "ask"]
        run = (await client.workflow_run(name="asks", pane=pane))["run"]["id"]
        asked = (await client.inbox(wait=20.0))["items"][0]
        assert (asked["kind"], asked["what"].startswith("Shall it go on?")) == ("ask_person", True)
        assert (await client.workflow_status())["items"][0]["status"] == "waiting"
        house.approve(asked["id"])
        await wait_until(lambda: _open(visor, "send_text"), timeout=20)
        house.approve(_open(visor, "send_text"))
        assert (await house.ended(client, run))["run"]["status"] == "completed"
    assert house.record.count_received() == {"asked": 1}


def _open(visor: VisorInstance, kind: str) -> int:
    found = json.loads(visor.run("robot", "inbox")[1])["data"]["items"]
    return next((item["id"] for item in found if item["kind"] == kind), 0)


async def test_what_a_run_asked_ends_with_it_and_only_a_person_answers(tmux, visor):
    house = House(tmux, visor)
    (Path(visor.paths.config_dir) / "workflows" / "asks.yaml").write_text(
        ASKS + "trigger: {event: session.compactoin}\n"
    )
    async with house.daemon() as client:
        pane = await house.pane(client)
        listed = await client.workflow_list()
        doubts = next(item["doubts"] for item in listed["items"] if item["name"] == "asks")
        assert [doubt.partition(".yaml")[2] for doubt in doubts] == [
            ":7: unknown event 'session.compactoin'; did you mean session.compaction?"
        ]
        run = (await client.workflow_run(name="asks", pane=pane, force=True))["run"]["id"]
        assert (await client.inbox(wait=20.0))["items"][0]["pane"] == int(pane)
        with pytest.raises(VisorError, match="must come from an interactive terminal"):
            await client.workflow_signal(run=run, word="yes")
        await client.workflow_cancel(run=run)
        assert (await house.ended(client, run))["run"]["status"] == "cancelled"
        assert (await client.inbox())["items"] == []
        run = (await client.workflow_run(name="asks", pane=pane, force=True))["run"]["id"]
        await client.inbox(wait=20.0)
        (Path(visor.paths.config_dir) / "config.toml").write_text('workflow_modes = ["asks=off"]\n')
        await client.config_reload()
        assert (await house.ended(client, run))["run"]["why"] == "asks is switched off"
        assert (await client.inbox())["items"] == []
    assert house.record.count_received() == {}
