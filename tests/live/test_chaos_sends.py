"""The daemon is killed while it sends, at every step: nothing is delivered twice, and outcomes are correct.

Each daemon is killed while a text is being sent to every pane. The next daemon gets the same sends again, with the same
keys.
"""

import asyncio
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from termvisor.client import AsyncVisor, connect
from termvisor.client.daemon_process import fetch_hello
from termvisor.errors import VisorError
from termvisor.testing.private_tmux import PrivateTmux
from termvisor.testing.visor_instance import VisorInstance
from tests.live.crashing_send_daemon import NEVER, SEND_MOMENTS
from tests.live.input_record import InputRecord
from tests.unit.wait_until import wait_until

ROOT = Path(__file__).resolve().parents[2]
AT_RANDOM = "at random"


class SendRun:
    """One text and its outcomes: from the killed daemon, and twice from the next one."""

    def __init__(self, word: str, pane: int, is_shell: bool):
        self.word, self._pane, self._is_shell = word, pane, is_shell
        self.answers: list[str] = []

    @property
    def request(self) -> dict[str, object]:
        text = f"take {self.word}" if self._is_shell else self.word
        return {"pane": str(self._pane), "text": text, "key": self.word, "program": not self._is_shell}

    async def send(self, visor: AsyncVisor) -> None:
        try:
            sent = await visor.send_text(**self.request)
        except VisorError as error:
            self.answers.append(str(error.details.get("outcome", error.code)))
        else:
            self.answers.append("under_way" if sent["why"] == "under_way" else sent["status"])

    def check(self, times: int) -> None:
        first, repeated, last = self.answers
        assert times <= 1, f"{self.word} arrived {times} times: {self.answers}"
        assert last in ("delivered", "typed_not_submitted", "unknown", "refused"), f"{self.word}: {self.answers}"
        assert repeated in ("under_way", last), f"{self.word}: {self.answers}"
        assert first in ("unavailable", last), f"{self.word}: {self.answers}"
        assert last == "unknown" or times == (last == "delivered"), f"{self.word} arrived {times}: {self.answers}"


class CrashScene:
    """The panes: every other one runs a shell, the rest a program that reads lines."""

    def __init__(self, tmux: PrivateTmux, visor: VisorInstance, panes: int):
        self._tmux, self._visor, self.record = tmux, visor, InputRecord(visor.paths)
        self._life_count = 0
        commands = [self.record.shell_command, self.record.reader_command] * (panes // 2)
        self._mux_ids = [tmux.start_session("s", commands[0]), *(tmux.open_window("s", one) for one in commands[1:])]

    async def run_daemon_life(self, moment: str, rng: random.Random) -> list[SendRun]:
        """Run one daemon that is killed while it sends, and its successor."""
        self._life_count += 1
        nth, alive_for = rng.randint(1, len(self._mux_ids)), rng.uniform(0.0, 0.6)
        async with self._daemon(moment, nth) as (visor, process):
            panes = await self._wait_until_ready(visor)
            runs = [
                SendRun(f"w{self._life_count}x{number}", pane, number % 2 == 0) for number, pane in enumerate(panes)
            ]
            async with asyncio.TaskGroup() as group:
                for run in runs:
                    group.create_task(run.send(visor))
                if moment == AT_RANDOM:
                    await asyncio.sleep(alive_for)
                    process.kill()
        await self._repeat(runs)
        return runs

    async def _repeat(self, runs: list[SendRun]) -> None:
        async with self._daemon(NEVER) as (visor, _):
            for _ in range(2):
                await asyncio.gather(*(run.send(visor) for run in runs))
                await wait_until(lambda: not self._list_unfinished())
            assert (await visor.audit_verify())["is_whole"]
        for mux_id in self._mux_ids:
            self._tmux("send-keys", "-t", mux_id, "C-u")  # clear text that was typed and not submitted

    @asynccontextmanager
    async def _daemon(self, moment: str, nth: int = 1) -> AsyncIterator[tuple[AsyncVisor, subprocess.Popen[bytes]]]:
        """Run a daemon that crashes at this moment; it is killed on exit."""
        places, armed = self._visor.paths, moment if moment in SEND_MOMENTS else NEVER
        argv = [sys.executable, "-m", "tests.live.crashing_send_daemon", armed, str(nth)]
        with subprocess.Popen(argv, cwd=ROOT, env=self._visor.env) as process:
            try:
                await wait_until(lambda: fetch_hello(places), timeout=30)
                async with connect(places, start=False) as visor:
                    yield visor, process
            finally:
                process.kill()

    async def _wait_until_ready(self, visor: AsyncVisor) -> list[int]:
        """Return the pane numbers once every pane waits for input."""
        async with asyncio.timeout(30):
            while len(await self._list_captured(visor)) < len(self._mux_ids):
                await asyncio.sleep(0.02)
            for mux_id in self._mux_ids[::2] if self._life_count == 1 else ():
                self._tmux(
                    "send-keys", "-t", mux_id, "Enter"
                )  # the first prompt may have been printed before the capture
            while len(ready := await self._list_captured(visor, at="prompt")) < len(self._mux_ids):
                await asyncio.sleep(0.02)
        return [ready[mux_id] for mux_id in self._mux_ids]

    async def _list_captured(self, visor: AsyncVisor, at: str | None = None) -> dict[str, int]:
        """Return the captured panes; of the shells only those with this activity."""
        found = {}
        for item in (await visor.list_panes())["items"]:
            is_there = item["command"] != "bash" or at in (None, item["activity"]["kind"])
            if item["heard_by"] == "pipe" and is_there:
                found[item["identity"]["pane_id"]] = item["identity"]["id"]
        return found

    def _list_unfinished(self) -> list[tuple]:
        """Return sends and audited intents without an outcome."""
        with closing(sqlite3.connect(f"file:{self._visor.paths.database}?mode=ro", uri=True)) as database:
            return [
                *database.execute("SELECT key FROM send WHERE outcome IS NULL"),
                *database.execute(
                    "SELECT correlation FROM audit WHERE stage = 'intent' EXCEPT"
                    " SELECT correlation FROM audit WHERE stage = 'outcome'"
                ),
            ]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("panes", "moments"),
    [
        pytest.param(6, [*SEND_MOMENTS, AT_RANDOM], id="each moment once", marks=pytest.mark.live),
        pytest.param(18, [*SEND_MOMENTS, *SEND_MOMENTS, *[AT_RANDOM] * 9], id="522 runs", marks=pytest.mark.live),
    ],
)
async def test_a_daemon_killed_while_sending_sends_nothing_twice_and_reports_correctly(tmux, visor, panes, moments):
    scene, rng = CrashScene(tmux, visor, panes), random.Random(11)
    runs = [run for moment in moments for run in await scene.run_daemon_life(moment, rng)]
    delivered = {run.word for run in runs if run.answers[-1] == "delivered"}
    await wait_until(lambda: delivered <= scene.record.count_received().keys())
    received = scene.record.count_received()
    for run in runs:
        run.check(received[run.word])
    outcomes = Counter(run.answers[-1] for run in runs)
    assert len(runs) == panes * len(moments)
    assert min(outcomes["delivered"], outcomes["typed_not_submitted"], outcomes["unknown"]) > 0, outcomes
