"""A real PTY host and a real recorder in a private folder."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from termvisor.backends.backend import BackendDependencies
from termvisor.backends.pty.backend import PtyBackend
from termvisor.backends.pty.host_client import PtyHostClient
from termvisor.backends.pty.host_messages import HostedProgram
from termvisor.backends.pty.pane_control import PtyPaneControl
from termvisor.backends.pty.pane_source import PtyServer
from termvisor.backends.transports.local import LocalTransport
from termvisor.capture.recorder_client import RecorderClient
from termvisor.daemon.replay.terminal_renderer import build_renderer_factory
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.output import Epoch
from termvisor.recorder.segment_log import SegmentReader
from termvisor.settings import Paths, Settings, make_instance_folders
from tests.unit.wait_until import wait_until


class PtySandbox:
    """The clients of one host and one recorder; programs get pane and epoch numbers of their own."""

    def __init__(self, folder: str):
        self.paths = Paths(f"{folder}/config", f"{folder}/data", f"{folder}/run")
        make_instance_folders(self.paths)
        self.sizes: dict[int, int] = {}
        self.recorder = RecorderClient(self.paths, Settings(), self.sizes.__setitem__)
        self.hosts: list[PtyHostClient] = []
        self.epoch = 0

    def make_client(self) -> PtyHostClient:
        self.hosts.append(PtyHostClient(self.paths))
        return self.hosts[-1]

    async def start_held(self, client: PtyHostClient, *argv: str | bytes, **options) -> HostedProgram:
        env = options.pop("env", {"PATH": os.environ["PATH"], "TERM": "xterm-256color"})
        return await client.start_program(argv, cwd=options.pop("cwd", "/"), env=env, **options)

    async def start(self, client: PtyHostClient, *argv: str | bytes, **options) -> HostedProgram:
        """Start a program and let it run; its output is in the stream `<number>/<epoch>`."""
        program = await self.start_held(client, *argv, **options)
        await self.hold(client, program)
        return program

    async def start_python(self, client: PtyHostClient, code: str, **options) -> HostedProgram:
        return await self.start(client, sys.executable, "-ISc", code, **options)

    async def hold(self, client: PtyHostClient, program: HostedProgram) -> None:
        self.epoch += 1
        assert await client.hold(program.number, program.number, self.epoch) is None

    def read_log(self, stream: str) -> bytes:
        reader = SegmentReader(f"{self.paths.raw_dir}/{stream}")
        content = b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 30))
        reader.close()
        return content

    async def wait_for_text(self, stream: str, text: bytes) -> bytes:
        await wait_until(lambda: text in self.read_log(stream))
        return self.read_log(stream)

    async def wait_for_end(self, epoch: int) -> None:
        """Wait until the recorder has read the last byte of a stream."""
        await wait_until(lambda: epoch in self.recorder.streams and self.recorder.streams[epoch].state == "ended")

    async def restart_recorder(self) -> None:
        os.kill(self.recorder.pid, signal.SIGKILL)
        await wait_until(lambda: not self.recorder.is_connected)
        await self.recorder.start()

    async def close(self) -> None:
        client = self.make_client()
        with suppress(Exception):
            for program in (await client.start(may_spawn=False)).values():
                await client.send_signal(program.number, signal.SIGKILL, "session")
                await asyncio.wait_for(client.wait_exit(program.number), 10)
                await client.forget_program(program.number)
        for each in reversed(self.hosts):
            await each.quit()
            each.close()
        await self.recorder.quit()


class PaneScene:
    """A backend with its server and control, on the host of a sandbox; ``news`` is what the server has reported."""

    def __init__(self, sandbox: PtySandbox):
        self.sandbox = sandbox
        build_renderer = build_renderer_factory(sandbox.paths, Settings)
        dependencies = BackendDependencies(paths=sandbox.paths, get_settings=Settings, build_renderer=build_renderer)
        self.backend = PtyBackend(dependencies)
        self.news: list = []
        self.server: PtyServer
        self.control: PtyPaneControl

    async def open(self) -> None:
        transport = LocalTransport()
        assert await self.backend.start_server(transport)
        self.sandbox.hosts.append(self.backend.client)
        [address] = await self.backend.list_addresses(transport)
        self.server = await self.backend.open_server(transport, address, self.news.append)
        self.control = self.backend.build_control(self.server)

    async def spawn(self, *command: str, **options) -> MuxPaneId:
        """Open a pane and capture it; its program runs."""
        pane, _ = await self.control.open_pane(Spawn(where="session", command=command, **options), None)
        await self.capture(pane)
        return pane

    async def capture(self, pane: MuxPaneId):
        self.sandbox.epoch += 1
        epoch = Epoch(id=self.sandbox.epoch, pane=int(pane[2:]), source="pty", opened_at=1)
        return await self.server.start_capture(pane, epoch, None, lines=0)

    async def wait_for_row(self, pane: MuxPaneId, text: str) -> list[str]:
        deadline = asyncio.get_running_loop().time() + 20
        while True:
            rows = [row.rstrip() for row in (await self.server.capture_pane(pane)).rows]
            if any(text in row for row in rows):
                return rows
            assert asyncio.get_running_loop().time() < deadline, rows
            await asyncio.sleep(0.01)

    def get_pid(self, pane: MuxPaneId) -> int:
        return self.server.find_program(pane).pid


@pytest.fixture
async def scene(sandbox: PtySandbox) -> AsyncIterator[PaneScene]:
    scene = PaneScene(sandbox)
    await scene.open()
    yield scene
    await scene.server.close()


@pytest.fixture
async def sandbox(folder: str) -> AsyncIterator[PtySandbox]:
    sandbox = PtySandbox(folder)
    await sandbox.recorder.start()
    yield sandbox
    await sandbox.close()


@pytest.fixture
async def host(sandbox: PtySandbox) -> PtyHostClient:
    client = sandbox.make_client()
    await client.start()
    return client
