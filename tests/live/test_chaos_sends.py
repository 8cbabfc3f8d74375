"""The daemon is killed while it sends, at every step and at any moment: nothing arrives twice, nothing is made up.

A life is one daemon with a text on its way to every pane when the kill lands: as many runs as there are panes. Its
texts are then asked for once more, with the same keys, from the daemon that comes after it.
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


class Run:
    """One text, and what was said of it: by the daemon that was killed, and twice by the next one."""

    def __init__(self, word: str, pane: int, is_shell: bool):
        self.word, self._pane, self._is_shell = word, pane, is_shell
        self.answers: list[str] = []

    @property
    def request(self) -> dict[str, object]:
        text = f"take {self.word}" if self._is_shell else self.word
        return {"pane": str(self._pane), "text": text, "key": self.word, "program": not self._is_shell}

    async def ask(self, visor: AsyncVisor) -> None:
        try:
            sent = await visor.send_text(**self.request)
        except VisorError as error:
            self.answers.append(str(error.details.get("outcome", error.code)))
        else:
            self.answers.append("under_way" if sent["why"] == "under_way" else sent["status"])

    def check(self, times: int) -> None:
        first, again, last = self.answers
        assert times <= 1, f"{self.word} arrived {times} times: {self.answers}"
        assert last in ("delivered", "typed_not_submitted", "unknown", "refused"), f"{self.word}: {self.answers}"
        assert again in ("under_way", last), f"{self.word}: {self.answers}"
        assert first in ("unavailable", last), f"{self.word}: {self.answers}"
        assert last == "unknown" or times == (last == "delivered"), f"{self.word} arrived {times}: {self.answers}"


class Stage:
    """The panes of all lives: every other one has a shell, the rest have a program that reads lines."""

    def __init__(self, tmux: PrivateTmux, visor: VisorInstance, panes: int):
        self._tmux, self._visor, self.record = tmux, visor, InputRecord(visor.paths)
        self._lives = 0
        commands = [self.record.shell_command, self.record.reader_command] * (panes // 2)
        self._mux_ids = [tmux.start_session("s", commands[0]), *(tmux.open_window("s", one) for one in commands[1:])]

    async def live(self, moment: str, draw: random.Random) -> list[Run]:
        """One daemon that dies while it sends, and the one after it."""
        self._lives += 1
        nth, alive_for = draw.randint(1, len(self._mux_ids)), draw.uniform(0.0, 0.6)
        async with self._daemon(moment, nth) as (visor, process):
            panes = await self._ready(visor)
            runs = [Run(f"w{self._lives}x{number}", pane, number % 2 == 0) for number, pane in enumerate(panes)]
            async with asyncio.TaskGroup() as group:
                for run in runs:
                    group.create_task(run.ask(visor))
                if moment == AT_RANDOM:
                    await asyncio.sleep(alive_for)
                    process.kill()
        await self._repeat(runs)
        return runs

    async def _repeat(self, runs: list[Run]) -> None:
        async with self._daemon(NEVER) as (visor, _):
            for _ in range(2):
                await asyncio.gather(*(run.ask(visor) for run in runs))
                await wait_until(lambda: not self._unfinished())
            assert (await visor.audit_verify())["is_whole"]
        for mux_id in self._mux_ids:
            self._tmux("send-keys", "-t", mux_id, "C-u")  # what was typed and not submitted

    @asynccontextmanager
    async def _daemon(self, moment: str, nth: int = 1) -> AsyncIterator[tuple[AsyncVisor, subprocess.Popen[bytes]]]:
        """It does not outlive this."""
        places, armed = self._visor.paths, moment if moment in SEND_MOMENTS else NEVER
        argv = [sys.executable, "-m", "tests.live.crashing_send_daemon", armed, str(nth)]
        with subprocess.Popen(argv, cwd=ROOT, env=self._visor.env) as process:
            try:
                await wait_until(lambda: fetch_hello(places), timeout=30)
                async with connect(places, start=False) as visor:
                    yield visor, process
            finally:
                process.kill()

    async def _ready(self, visor: AsyncVisor) -> list[int]:
        """Our numbers for the panes, once each of them waits for input."""
        async with asyncio.timeout(30):
            while len(await self._heard(visor)) < len(self._mux_ids):
                await asyncio.sleep(0.02)
            for mux_id in self._mux_ids[::2] if self._lives == 1 else ():
                self._tmux("send-keys", "-t", mux_id, "Enter")  # the first prompt may have come before we listened
            while len(ready := await self._heard(visor, at="prompt")) < len(self._mux_ids):
                await asyncio.sleep(0.02)
        return [ready[mux_id] for mux_id in self._mux_ids]

    async def _heard(self, visor: AsyncVisor, at: str | None = None) -> dict[str, int]:
        """The panes that are heard; of the shells only those that are at this."""
        found = {}
        for item in (await visor.list_panes())["items"]:
            is_there = item["command"] != "bash" or at in (None, item["activity"]["kind"])
            if item["heard_by"] == "pipe" and is_there:
                found[item["identity"]["pane_id"]] = item["identity"]["id"]
        return found

    def _unfinished(self) -> list[tuple]:
        """Sends without an outcome, and intents on record without one."""
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
    ("panes", "lives"),
    [
        pytest.param(6, [*SEND_MOMENTS, AT_RANDOM], id="each moment once", marks=pytest.mark.live),
        pytest.param(18, [*SEND_MOMENTS, *SEND_MOMENTS, *[AT_RANDOM] * 9], id="522 runs", marks=pytest.mark.live),
    ],
)
async def test_a_killed_daemon_sends_nothing_twice_and_makes_nothing_up(tmux, visor, panes, lives):
    stage, draw = Stage(tmux, visor, panes), random.Random(11)
    runs = [run for moment in lives for run in await stage.live(moment, draw)]
    delivered = {run.word for run in runs if run.answers[-1] == "delivered"}
    await wait_until(lambda: delivered <= stage.record.count_received().keys())
    taken = stage.record.count_received()
    for run in runs:
        run.check(taken[run.word])
    told = Counter(run.answers[-1] for run in runs)
    assert len(runs) == panes * len(lives)
    assert min(told["delivered"], told["typed_not_submitted"], told["unknown"]) > 0, told
