"""A pipeline that is killed at any moment stores what an undisturbed run stores.

The exception is masking: there may be more masks, never fewer.
"""

import asyncio
import re
import tempfile
from base64 import b64encode
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.clock import SystemClock
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.pipeline import Pipeline
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.store import Store
from tests.fuzz.example_count import build_settings

SECRET = b"ghp_" + b"a1B2c3D4" * 4 + b"e5F6"
pieces = st.sampled_from(
    [b"word ", b"\r\n", b"\n", b"\r", "日本é".encode(), b"\xe6\x97", b"\t", b"\x08", b"\x07",
     b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2K", b"\x1b[A", b"\x1b[3", b"1m", b"\x1bc", b"\x1b]0;title",
     b"\x1b]133;A\x1b\\", b"\x1b]133;D;1\x07", b"\x1b]133;C;cmdline=ls\x1b\\", b"\x1b]7770;end;0\x1b\\",
     b"token " + SECRET[:22], SECRET[22:], b" " + SECRET + b"\r\n"]
)  # fmt: skip
NONCE = "5eed" * 8
FIELD = b";nonce=" + NONCE.encode()
shell_pieces = st.sampled_from(
    [b"\x1b]133;A\x07", b"$ \x1b]133;B\x07", b"typed\r\n", b"\x1b]133;C\x07", b"\x1b]133;D;0\x07", b"out\r\n", b"out",
     b"\x1b]133;A;aid=1%s\x07" % FIELD, b"\x1b]133;C%s\x07" % FIELD, b"\x1b]133;D;2;aid=1%s\x07" % FIELD,
     b"\x1b]133;A;aid=2%s\x07" % FIELD, b"\x1b]133;E;login " + SECRET + b"%s\x07" % FIELD, b"\x1b]633;E;ls\x07",
     b"\x1b]7;file:///a\x07", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2J", b"\r\x1b[K", b"\x1bc", b" ",
     b"\x1b]133;C;cmdline=ls",
     b"\x1b]1337;SetUserVar=visor-ready=" + b64encode(b'{"nonce": "%s", "a": 1}' % NONCE.encode()) + b"\x07" * 3,
     b"\x1b]1337;SetUserVar=visor-x=MQ==\x07" * 4]
)  # fmt: skip


def build_plans(printed: st.SearchStrategy[bytes]) -> st.SearchStrategy[list]:
    """Build plans: output, what happens next, and after how many turns."""
    writes = st.lists(printed, max_size=12).map(b"".join)
    return st.lists(st.tuples(writes, st.sampled_from(["continue", "settle", "kill"]), st.integers(0, 12)), max_size=8)


class Daemon:
    """A pipeline on one epoch that can be killed and restarted."""

    def __init__(self, store: Store, folder: str):
        self._store, self._folder = store, folder

    def start(self, epoch: Epoch) -> None:
        self.pipeline = Pipeline(
            self._store.output, raw_dir=self._folder, clock=SystemClock(), flush_interval=0.0, nonce=NONCE
        )
        self.pipeline.open_epoch(epoch)
        self._task = asyncio.ensure_future(self.pipeline.run())

    async def kill(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        # Wait for the writer thread, which a killed process would not have.
        await self._store.output.end_gaps(PaneId(0), before=None, at=0)

    async def restart(self) -> None:
        await self.kill()
        (open_epoch_left,) = await self._store.output.list_open_epochs()
        self.start(open_epoch_left)


async def open_epoch(store: Store, mux_id: str) -> Epoch:
    server = ServerInstance(TargetName("local"), "/s", 1, 1)
    facts = PaneFacts(mux_id=MuxPaneId(mux_id), pid=1)
    pane, _ = await store.panes.find_or_add(PaneInstance(server, MuxPaneId(mux_id)), facts, at=1)
    return Epoch(id=await store.output.open_epoch(pane, "pipe", 1), pane=pane, source="pipe", opened_at=1)


async def read_stored(store: Store, epoch: Epoch) -> tuple[list, ...]:
    lines = await store.output.read_lines(epoch.pane, limit=10_000)
    marks = await store.output.list_marks(epoch.pane, limit=10_000)
    events = await store.events.list(pane=epoch.pane, limit=10_000)
    return (
        [line.text for line in lines],
        [(mark.kind, mark.offset, mark.text, mark.exit_code) for _, mark in marks],
        [normalize_command(command) for command in await store.commands.list(pane=epoch.pane, limit=10_000)],
        [event.data for event in events],
    )


def normalize_command(command: ShellCommand) -> ShellCommand:
    """Return the command without ids and times, which differ between runs."""
    ended_at = None if command.ended_at is None else 0
    return replace(command, id=0, pane=0, epoch=0, started_at=0, ended_at=ended_at)


async def finish_run(daemon: Daemon, store: Store, epoch: Epoch, size: int) -> bool:
    is_proven = await daemon.pipeline.finish_epoch(epoch.id, size)
    await store.output.close_epoch(epoch.id, "stopped", 2, size)
    await daemon.kill()
    return is_proven


async def store_undisturbed(store: Store, folder: str, data: bytes) -> tuple:
    epoch = await open_epoch(store, "%1")
    writer = SegmentWriter(f"{folder}/{epoch.pane}/{epoch.id}", 1 << 20)
    writer.append(data, 1)
    daemon = Daemon(store, folder)
    daemon.start(epoch)
    is_proven = await finish_run(daemon, store, epoch, len(data))
    writer.close()
    return (*await read_stored(store, epoch), is_proven)


async def store_disturbed(store: Store, folder: str, plan: list) -> tuple:
    epoch = await open_epoch(store, "%2")
    writer = SegmentWriter(f"{folder}/{epoch.pane}/{epoch.id}", 40)
    daemon = Daemon(store, folder)
    daemon.start(epoch)
    for number, (data, then, turns) in enumerate(plan):
        writer.append(data, number + 1)
        daemon.pipeline.note_growth(epoch.id, writer.offset)
        for _ in range(turns):
            await asyncio.sleep(0.001)
        await {"continue": do_nothing, "settle": daemon.pipeline.wait_settled, "kill": daemon.restart}[then]()
    is_proven = await finish_run(daemon, store, epoch, writer.offset)
    writer.close()
    return (*await read_stored(store, epoch), is_proven)


async def do_nothing() -> None:
    """Let the daemon continue."""


@build_settings(25)
@given(build_plans(pieces))
def test_a_pipeline_killed_at_any_moment_stores_every_line_and_mark_once(plan):
    check_plan(plan)


@build_settings(40)
@given(build_plans(shell_pieces))
@example(
    [
        (b"\x1b]133;A\x07\x1b]133;A\x07typed\r\n\x1b]133;C\x07\x1b]633;E;ls\x07", "settle", 11),
        (b"\x1b]133;E;login " + SECRET + FIELD + b"\x07", "continue", 9),
    ]
)
def test_a_pipeline_killed_at_any_moment_stores_every_command_and_variable_once(plan):
    check_plan(plan)


def is_same_but_for_masks(text: str, expected: str) -> bool:
    """Return True if the texts are equal but for what is masked.

    A restart scans the last bytes again and may find more. A line that is read together with a key that follows it
    loses its pieces of that key, too; read before it, it does not.
    """
    return text == expected or _has_more_masks(text, expected) or _has_more_masks(expected, text)


def _has_more_masks(text: str, other: str) -> bool:
    parts = re.split(r"\[redacted:\w+\]", text)
    return re.fullmatch(".+".join(map(re.escape, parts)), other) is not None


def check_plan(plan: list) -> None:
    async def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                whole = b"".join(data for data, _, _ in plan)
                lines, *others = await store_disturbed(store, folder, plan)
                expected_lines, *expected_others = await store_undisturbed(store, folder, whole)
                assert others == expected_others
                assert [is_same_but_for_masks(*pair) for pair in zip(lines, expected_lines, strict=True)] == [
                    True
                ] * len(lines)
                await store.checkpoint()
                database_bytes = b"".join(path.read_bytes() for path in Path(folder).glob("visor.db*"))
                assert SECRET not in database_bytes
                assert NONCE.encode() not in database_bytes
            finally:
                await store.close()

    asyncio.run(check())
