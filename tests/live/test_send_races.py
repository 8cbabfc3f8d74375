"""Send texts continuously while another process kills, replaces and moves the target panes.

A sent Enter reaches the program that was checked or none; unknown outcomes are reported; a refusal has a reason.
"""

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest

from termvisor.client import AsyncVisor, connect
from termvisor.errors import VisorError
from tests.live.input_record import InputRecord

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("shell", "shell", "reader", "reader", "nested", "nested")
REFUSALS = frozenset(
    [
        "pane_gone",
        "pane_dead",
        "copy_mode",
        "input_off",
        "synchronized",
        "recent_gap",
        "not_at_prompt",
        "unproven_prompt",
        "prompt_not_found",
        "input_not_empty",
        "alternate_screen",
        "stale_snapshot",
        "stale_pane",
        "stale_pid",
        "stale_dead",
        "stale_mode",
        "stale_command",
        "stale_alternate",
        "stale_screen",
    ]
)


class Sender:
    """Send one word after another to one pane, whatever runs in it."""

    def __init__(self, mux_id: str, kind: str, number: int):
        self._mux_id, self._kind, self._number = mux_id, kind, number
        self.answers: dict[str, tuple[str, str, str]] = {}
        """Status, reason and message by word."""

    async def run(self, visor: AsyncVisor, until: float) -> None:
        while time.monotonic() < until:
            word = f"r{self._number}x{len(self.answers)}"
            self.answers[word] = await self._send(visor, word)
            await asyncio.sleep(0.03)

    async def _send(self, visor: AsyncVisor, word: str) -> tuple[str, str, str]:
        is_shell = self._kind == "shell"
        text = f"take {word}" if is_shell else word
        try:
            sent = await visor.send_text(pane=self._mux_id, text=text, program=not is_shell, key=word)
        except VisorError as error:
            return str(error.details.get("outcome", error.code)), str(error.details.get("why", "")), error.message
        return sent["status"], sent["why"], sent["text"]


@contextmanager
def disturb_panes(socket: str, panes: list[tuple[str, str, str]], env):
    argv = [sys.executable, "-m", "tests.live.pane_disturber", socket, "5", *("=".join(pane) for pane in panes)]
    with subprocess.Popen(argv, cwd=ROOT, env=env) as process:
        try:
            yield
        finally:
            process.kill()


def list_intents(database: str) -> dict[str, tuple[str, str]]:
    """Return, by word, the program and the pane process that were checked."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as found:
        rows = found.execute("SELECT entry FROM audit WHERE stage = 'intent' AND kind = 'send_text'").fetchall()
    entries = [msgspec.json.decode(row[0]) for row in rows]
    return {
        entry["action"]["text"].split()[-1]: (entry["observed"]["command"], str(entry["observed"]["pid"]))
        for entry in entries
    }


def is_intended_receiver(receiver: tuple[str, str, str], checked: dict[str, tuple[str, str]]) -> bool:
    """Return True if the checked program received it. In a reader's pane the same process counts: tmux starts it by
    a shell, which execs the reader."""
    program, pid, word = receiver
    own_process, starting_shell = (program, pid), ("bash", pid)
    is_reader_pane = KINDS[int(word[1 : word.index("x")])] == "reader"
    return checked.get(word) in ((own_process, starting_shell) if is_reader_pane else (own_process,))


async def run_race(tmux, visor, record: InputRecord, race_for: float) -> dict[str, tuple[str, str, str]]:
    commands = [record.reader_command if kind == "reader" else record.shell_command for kind in KINDS]
    mux_ids = [tmux.start_session("s", commands[0]), *(tmux.open_window("s", one) for one in commands[1:])]
    visor.start()
    senders = [Sender(mux_id, kind, number) for number, (mux_id, kind) in enumerate(zip(mux_ids, KINDS, strict=True))]
    panes = list(zip(KINDS, mux_ids, commands, strict=True))
    async with connect(visor.paths) as client:
        with disturb_panes(tmux.socket, panes, visor.env):
            until = time.monotonic() + race_for
            async with asyncio.TaskGroup() as group:
                for sender in senders:
                    group.create_task(sender.run(client, until))
        assert (await client.audit_verify())["is_whole"]
    return {word: answer for sender in senders for word, answer in sender.answers.items()}


@pytest.mark.parametrize("race_for", [8.0, pytest.param(20.0, marks=pytest.mark.live)])
async def test_a_sent_enter_reaches_only_the_checked_program(tmux, visor, race_for):
    record = InputRecord(visor.paths)
    answers = await run_race(tmux, visor, record, race_for)
    receivers, checked = record.list_received(), list_intents(visor.paths.database)
    times = Counter(word for _, _, word in receivers if word in answers)
    misdelivered = [
        (receiver, checked.get(receiver[2]))
        for receiver in receivers
        if receiver[2] in answers and not is_intended_receiver(receiver, checked)
    ]
    assert misdelivered == [], [answers[receiver[2]] for receiver, _ in misdelivered]
    for word, (status, why, text) in answers.items():
        description = f"{word} arrived {times[word]} times: {status}, {why}, {text}"
        assert times[word] <= 1, description
        assert status != "delivered" or times[word] == 1, description
        assert status not in ("typed_not_submitted", "refused", "pane_not_found") or times[word] == 0, description
        assert status != "refused" or why in REFUSALS, description
        assert status in ("delivered", "pane_not_found") or (why and text), description
        assert why != "program_changed" or "screen" in text or "went away" in text, description
    statuses = Counter(status for status, _, _ in answers.values())
    assert min(statuses["delivered"], statuses["refused"]) > 10, statuses
    assert statuses["unknown"] + statuses["typed_not_submitted"] > 0, statuses
