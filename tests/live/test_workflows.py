"""Workflows in a real daemon with a real shell: killed at every step, they complete with the same result."""

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
when = { kind = ["send_text", "send_keys", "run_workflow", "write_config", "update_records"] }
answer = "allow"
[commands]
unknown_effect = "allow"
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
END_STATUSES = ("completed", "failed", "cancelled")


class CrashingDaemonScene:
    """A shell that logs its input, and daemons that crash at a given point."""

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

    async def wait_for_pane(self, visor: AsyncVisor) -> str:
        """Return the pane number once the pane is captured and shows its prompt."""
        async with asyncio.timeout(30):
            while True:
                for item in (await visor.list_panes())["items"]:
                    if item["heard_by"] == "pipe" and item["activity"]["kind"] == "prompt":
                        return str(item["identity"]["id"])
                self._tmux(
                    "send-keys", "-t", self._mux_id, "Enter"
                )  # the first prompt may have been printed before the capture
                await asyncio.sleep(0.1)

    def approve(self, number: int) -> None:
        """Approve at a terminal, as a user."""
        env = " ".join(f"{name}={value}" for name, value in self._visor.env.items() if name.startswith("VISOR_"))
        self._tmux.open_window("s", f"env {env} {sys.executable} -m termvisor approve {number}")

    async def wait_until_ended(self, visor: AsyncVisor, number: int) -> dict:
        async with asyncio.timeout(60):
            while True:
                history = await visor.workflow_history(run=number)
                if history["run"]["status"] in END_STATUSES:
                    return history
                await asyncio.sleep(0.02)

    async def wait_until_sleeping(self, visor: AsyncVisor, number: int) -> str | None:
        """Return when a sleeping run is due, or None if it has slept already."""
        async with asyncio.timeout(60):
            while True:
                history = (await visor.workflow_history(run=number))["run"]
                if history["due_at"] is not None or history["status"] in END_STATUSES:
                    return history["due_at"]
                await asyncio.sleep(0.02)

    async def wait_until_dead(self, visor: AsyncVisor, number: int) -> bool:
        """Wait until the daemon dies or the run ends; return True if it died."""
        try:
            await self.wait_until_ended(visor, number)
        except VisorError:
            return True
        return False


AFTER, BEFORE = ("after a step is written", 1), ("before a step is written", 2)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "crash_point", "expected_input"),
    [
        pytest.param("short", BEFORE, ["first"], id="short"),
        pytest.param("takes", BEFORE, ["first", "second"], id="before", marks=pytest.mark.live),
        pytest.param("takes", AFTER, ["first", "second"], id="after", marks=pytest.mark.live),
        pytest.param("sleeps", BEFORE, ["woken"], id="before and after a sleep", marks=pytest.mark.live),
        pytest.param("sleeps", AFTER, ["woken"], id="at the beginning of a sleep", marks=pytest.mark.live),
    ],
)
async def test_a_run_killed_at_each_step_completes_and_types_each_text_once(
    tmux, visor, name, crash_point, expected_input
):
    scene, kill_count = CrashingDaemonScene(tmux, visor), 0
    moment, nth = crash_point
    async with scene.daemon() as client:
        pane = await scene.wait_for_pane(client)
    async with scene.daemon(moment, nth) as client:
        run = (await client.workflow_run(name=name, pane=pane, force=True))["run"]["id"]
        kill_count += await scene.wait_until_dead(client, run)
    while True:
        async with scene.daemon(moment, nth) as client:
            if not await scene.wait_until_dead(client, run):
                break
            kill_count += 1
    async with scene.daemon() as client:
        history = await scene.wait_until_ended(client, run)
    assert history["run"]["status"] == "completed"
    assert {step["status"] for step in history["steps"]} == {"completed"}
    assert scene.record.count_received() == dict.fromkeys(expected_input, 1)
    assert kill_count >= len(history["steps"]) - 1


@pytest.mark.parametrize("is_late", [pytest.param(False, id="back in time"), pytest.param(True, id="too late")])
@pytest.mark.live
async def test_a_run_killed_while_it_sleeps_continues_once_when_it_is_due(tmux, visor, is_late):
    scene = CrashingDaemonScene(tmux, visor)
    async with scene.daemon() as client:
        pane = await scene.wait_for_pane(client)
        run = (await client.workflow_run(name="sleeps", pane=pane, force=True))["run"]["id"]
        due = await scene.wait_until_sleeping(client, run)
        scene.process.kill()
    await wait_until(lambda: not is_late or is_past(due), timeout=30)
    async with scene.daemon() as client:
        due_after_restart = await scene.wait_until_sleeping(client, run) if not is_late else due
        history = await scene.wait_until_ended(client, run)
    sleep_step = next(step for step in history["steps"] if step["kind"] == "sleep_until")
    assert (history["run"]["status"], sleep_step["status"]) == ("completed", "completed")
    assert due_after_restart in (due, None)
    assert datetime.fromisoformat(sleep_step["ended_at"]) >= datetime.fromisoformat(due)
    assert scene.record.count_received() == {"woken": 1}


def is_past(at: str) -> bool:
    return datetime.now(UTC) > datetime.fromisoformat(at)


async def test_an_ask_step_is_approved_in_the_inbox_despite_broken_workflow_files(tmux, visor):
    scene = CrashingDaemonScene(tmux, visor)
    async with scene.daemon() as client:
        pane = await scene.wait_for_pane(client)
        listed = await client.workflow_list()
        assert [item["name"] for item in listed["items"] if item["origin"] != "built-in"] == [
            "asks",
            "short",
            "sleeps",
            "takes",
        ]
        assert "broken.yaml:4: unknown step 'wait_fro'; did you mean wait_for?" in listed["broken"][0]["why"]
        history = await client.workflow_dry_run(name="asks", pane=pane)
        assert [step["verdict"] for step in history["steps"]] == [None, "ask"]
        run = (await client.workflow_run(name="asks", pane=pane))["run"]["id"]
        request = (await client.inbox(wait=20.0))["items"][0]
        assert (request["kind"], request["what"].startswith("Shall it go on?")) == ("ask_person", True)
        assert (await client.workflow_status())["items"][0]["status"] == "waiting"
        scene.approve(request["id"])
        await wait_until(lambda: _find_open_request(visor, "send_text"), timeout=20)
        scene.approve(_find_open_request(visor, "send_text"))
        assert (await scene.wait_until_ended(client, run))["run"]["status"] == "completed"
    assert scene.record.count_received() == {"asked": 1}


def _find_open_request(visor: VisorInstance, kind: str) -> int:
    found = json.loads(visor.run("robot", "--full", "inbox")[1])["data"]["items"]
    return next((item["id"] for item in found if item["kind"] == kind), 0)


async def test_a_cancelled_run_withdraws_its_request_and_only_users_can_answer(tmux, visor):
    scene = CrashingDaemonScene(tmux, visor)
    (Path(visor.paths.config_dir) / "workflows" / "asks.yaml").write_text(
        ASKS + "trigger: {event: session.compactoin}\n"
    )
    async with scene.daemon() as client:
        pane = await scene.wait_for_pane(client)
        listed = await client.workflow_list()
        warnings = next(item["doubts"] for item in listed["items"] if item["name"] == "asks")
        assert [warning.partition(".yaml")[2] for warning in warnings] == [
            ":7: unknown event 'session.compactoin'; did you mean session.compaction?"
        ]
        run = (await client.workflow_run(name="asks", pane=pane, force=True))["run"]["id"]
        assert (await client.inbox(wait=20.0))["items"][0]["pane"] == int(pane)
        with pytest.raises(VisorError, match="must come from an interactive terminal"):
            await client.workflow_signal(run=run, word="yes")
        await client.workflow_cancel(run=run)
        assert (await scene.wait_until_ended(client, run))["run"]["status"] == "cancelled"
        assert (await client.inbox())["items"] == []
        run = (await client.workflow_run(name="asks", pane=pane, force=True))["run"]["id"]
        await client.inbox(wait=20.0)
        (Path(visor.paths.config_dir) / "config.toml").write_text('workflow_modes = ["asks=off"]\n')
        await client.config_reload()
        assert (await scene.wait_until_ended(client, run))["run"]["why"] == "asks is switched off"
        assert (await client.inbox())["items"] == []
    assert scene.record.count_received() == {}
