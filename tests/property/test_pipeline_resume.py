"""A law of the pipeline: whoever kills it whenever, what is stored in the end is what one quiet run stores.

But for masks: there may be more of them, never fewer.
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
OURS = b";nonce=" + NONCE.encode()
shell_pieces = st.sampled_from(
    [b"\x1b]133;A\x07", b"$ \x1b]133;B\x07", b"typed\r\n", b"\x1b]133;C\x07", b"\x1b]133;D;0\x07", b"out\r\n", b"out",
     b"\x1b]133;A;aid=1%s\x07" % OURS, b"\x1b]133;C%s\x07" % OURS, b"\x1b]133;D;2;aid=1%s\x07" % OURS,
     b"\x1b]133;A;aid=2%s\x07" % OURS, b"\x1b]133;E;login " + SECRET + b"%s\x07" % OURS, b"\x1b]633;E;ls\x07",
     b"\x1b]7;file:///a\x07", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2J", b"\r\x1b[K", b"\x1bc", b" ",
     b"\x1b]133;C;cmdline=ls",
     b"\x1b]1337;SetUserVar=visor-ready=" + b64encode(b'{"nonce": "%s", "a": 1}' % NONCE.encode()) + b"\x07" * 3,
     b"\x1b]1337;SetUserVar=visor-x=MQ==\x07" * 4]
)  # fmt: skip


def plans_of(printed: st.SearchStrategy[bytes]) -> st.SearchStrategy[list]:
    """What is printed, what happens then, and how soon."""
    writings = st.lists(printed, max_size=12).map(b"".join)
    return st.lists(st.tuples(writings, st.sampled_from(["go on", "settle", "kill"]), st.integers(0, 12)), max_size=8)


class Daemon:
    """A pipeline on one epoch that can be killed and comes back."""

    def __init__(self, store: Store, folder: str):
        self._store, self._folder = store, folder

    def start(self, epoch: Epoch) -> None:
        self.pipeline = Pipeline(
            self._store.output, raw_dir=self._folder, clock=SystemClock(), flush_interval=0.0, nonce=NONCE
        )
        self.pipeline.open_epoch(epoch)
        self._flow = asyncio.ensure_future(self.pipeline.run())

    async def kill(self) -> None:
        self._flow.cancel()
        await asyncio.wait([self._flow])
        # What was handed to the writer's thread is written by now; a killed process has no such thread.
        await self._store.output.end_gaps(PaneId(0), before=None, at=0)

    async def again(self) -> None:
        await self.kill()
        (left,) = await self._store.output.list_open_epochs()
        self.start(left)


async def begin(store: Store, mux_id: str) -> Epoch:
    server = ServerInstance(TargetName("local"), "/s", 1, 1)
    facts = PaneFacts(mux_id=MuxPaneId(mux_id), pid=1)
    pane, _ = await store.panes.find_or_add(PaneInstance(server, MuxPaneId(mux_id)), facts, at=1)
    return Epoch(id=await store.output.open_epoch(pane, "pipe", 1), pane=pane, source="pipe", opened_at=1)


async def stored(store: Store, epoch: Epoch) -> tuple[list, ...]:
    lines = await store.output.read_lines(epoch.pane, limit=10_000)
    marks = await store.output.list_marks(epoch.pane, limit=10_000)
    events = await store.events.list(pane=epoch.pane, limit=10_000)
    return (
        [line.text for line in lines],
        [(mark.kind, mark.offset, mark.text, mark.exit_code) for _, mark in marks],
        [told(command) for command in await store.commands.list(pane=epoch.pane, limit=10_000)],
        [event.data for event in events],
    )


def told(command: ShellCommand) -> ShellCommand:
    """Without what differs from pane to pane and from time to time."""
    ended_at = None if command.ended_at is None else 0
    return replace(command, id=0, pane=0, epoch=0, started_at=0, ended_at=ended_at)


async def finish(daemon: Daemon, store: Store, epoch: Epoch, size: int) -> bool:
    is_proven = await daemon.pipeline.finish_epoch(epoch.id, size)
    await store.output.close_epoch(epoch.id, "stopped", 2, size)
    await daemon.kill()
    return is_proven


async def in_one_run(store: Store, folder: str, data: bytes) -> tuple:
    epoch = await begin(store, "%1")
    writer = SegmentWriter(f"{folder}/{epoch.pane}/{epoch.id}", 1 << 20)
    writer.append(data, 1)
    daemon = Daemon(store, folder)
    daemon.start(epoch)
    is_proven = await finish(daemon, store, epoch, len(data))
    writer.close()
    return (*await stored(store, epoch), is_proven)


async def disturbed(store: Store, folder: str, plan: list) -> tuple:
    epoch = await begin(store, "%2")
    writer = SegmentWriter(f"{folder}/{epoch.pane}/{epoch.id}", 40)
    daemon = Daemon(store, folder)
    daemon.start(epoch)
    for number, (data, then, turns) in enumerate(plan):
        writer.append(data, number + 1)
        daemon.pipeline.note_growth(epoch.id, writer.offset)
        for _ in range(turns):
            await asyncio.sleep(0.001)
        await {"go on": nothing, "settle": daemon.pipeline.wait_settled, "kill": daemon.again}[then]()
    is_proven = await finish(daemon, store, epoch, writer.offset)
    writer.close()
    return (*await stored(store, epoch), is_proven)


async def nothing() -> None:
    """The daemon goes on."""


@build_settings(25)
@given(plans_of(pieces))
def test_killed_at_any_moment_it_stores_every_line_and_mark_once(plan):
    obey(plan)


@build_settings(40)
@given(plans_of(shell_pieces))
@example(
    [
        (b"\x1b]133;A\x07\x1b]133;A\x07typed\r\n\x1b]133;C\x07\x1b]633;E;ls\x07", "settle", 11),
        (b"\x1b]133;E;login " + SECRET + OURS + b"\x07", "go on", 9),
    ]
)
def test_killed_at_any_moment_it_stores_every_command_and_user_variable_once(plan):
    obey(plan)


def is_alike(text: str, quiet: str) -> bool:
    """The same; or more of it is masked: who comes back looks through the last bytes again and may learn more."""
    parts = re.split(r"\[redacted:\w+\]", text)
    return text == quiet or re.fullmatch(".+".join(map(re.escape, parts)), quiet) is not None


def obey(plan: list) -> None:
    async def law() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                whole = b"".join(data for data, _, _ in plan)
                lines, *others = await disturbed(store, folder, plan)
                quiet_lines, *quiet_others = await in_one_run(store, folder, whole)
                assert others == quiet_others
                assert [is_alike(*pair) for pair in zip(lines, quiet_lines, strict=True)] == [True] * len(lines)
                await store.checkpoint()
                kept = b"".join(path.read_bytes() for path in Path(folder).glob("visor.db*"))
                assert SECRET not in kept
                assert NONCE.encode() not in kept
            finally:
                await store.close()

    asyncio.run(law())
