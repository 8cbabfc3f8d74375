"""Watches one tmux server: who its panes are, every second, and how they are heard. One step after the other.

What comes in: notices of the control client, news of the recorder. What goes out: stored panes, events, epochs.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Struct, field

from termvisor.backends.pane_source import Thin
from termvisor.backends.tmux.client import ControlClient, PlainClient, control_argv
from termvisor.backends.tmux.control_mode import Notice
from termvisor.backends.tmux.misplaced_windows import send_on
from termvisor.backends.tmux.pane_source import TmuxServer, identify
from termvisor.capture.control_mode_capture import ControlOutputs, Terms
from termvisor.capture.epochs import Epochs
from termvisor.capture.pane_capture import Ears, Means
from termvisor.capture.pane_diff import Change, compare
from termvisor.capture.recorder_client import Ended, Held, Lost, RecorderLink
from termvisor.capture.retry import Attempts
from termvisor.errors import MuxError
from termvisor.log import logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import DataPlane, PaneFacts, PaneInstance
from termvisor.settings import Settings

_BUSY_FULL_FOR = 2.0
_QUIET_FULL_FOR = 60.0
"""Seconds that the time between two full listings grows to while nothing happens at all."""
_LAST_BYTES_FOR = 4.0
_STRAYS = ("window-add", "client-session-changed")
"""By which something may have come into our own session."""
_TOPOLOGY = ("window", "unlinked-window", "session", "layout", "pane")
_CLIENT = "client-"
"""Somebody attached or left: whether the server ends without clients may matter now."""

T = TypeVar("T")
log = logger("watch")


class Kit(Struct):
    """What every watch shares."""

    epochs: Epochs
    recorder: RecorderLink
    settings: Settings
    heard: Callable[[], int]
    """Bytes heard so far, of all panes: whether anything was printed since the last look."""
    left_open: dict[PaneId, list[Epoch]] = field(default_factory=dict)
    """Epochs that an earlier daemon left open, oldest first."""
    forks: int = 0
    """Programs we started."""

    def forked(self) -> None:
        self.forks += 1


class OutputNotice(Struct, frozen=True):
    session_id: str
    notice: Notice


class Known(Struct):
    id: PaneId
    facts: PaneFacts


Inbox = Held | Ended | Lost | Notice | OutputNotice


class ServerWatch:
    def __init__(self, socket: str, kit: Kit):
        self.socket, self._kit = socket, kit
        self._plain = PlainClient(kit.settings.tmux_program, socket, kit.forked)
        self._inbox: deque[Inbox] = deque()
        self._wake = asyncio.Event()
        self._control = Attempts(
            f"control:{socket}", f"the control client of {socket} keeps ending", kit.epochs.chronicle, kit.epochs.clock
        )
        self._thin_at = self._full_at = self._full_was_at = 0.0
        self._full_for = kit.settings.full_interval
        self._heard = 0
        self._is_over = self._is_stopping = self._keeps_pipes = False
        self.known: dict[MuxPaneId, Known] = {}
        self.has_looked = asyncio.Event()
        self.has_begun = False
        self.detail = ""
        self.corrections = 0
        """Changes that nobody announced, found by reading everything again."""
        self._is_announced = True

    def post(self, item: Inbox) -> None:
        self._inbox.append(item)
        self._wake.set()

    def stop(self, *, keep_pipes: bool) -> None:
        self._is_stopping, self._keeps_pipes = True, keep_pipes
        self._wake.set()

    async def run(self) -> None:
        """Until the server is gone, or we are asked to stop."""
        await self._begin()
        while not (self._is_over or self._is_stopping):
            await self._read_inbox()
            if self._monotonic() >= self._thin_at:
                await self._look()
            await self._careful(self.ears.step)
            await self._wait(max(0.0, self._thin_at - self._monotonic()))
        await (self._leave() if self._is_stopping else self._server_gone())

    @property
    def health(self) -> ServerHealth:
        return ServerHealth(
            target=self.server.instance.target,
            socket=self.socket,
            mux_ok=not self._is_over,
            client=self.server.client.kind,
            panes=len(self.known),
            detail=self.detail,
            corrections=self.corrections,
        )

    @property
    def is_looking(self) -> bool:
        """Whether its first look went well and it goes on."""
        return self.has_looked.is_set() and self.has_begun and not self._is_over

    @property
    def control_restarts(self) -> int:
        return self._control.failures

    def plane_of(self, mux_id: MuxPaneId) -> DataPlane:
        ear = self.ears.of(mux_id) if self.has_looked.is_set() else None
        return "none" if ear is None else ear.plane

    async def _begin(self) -> None:
        self.server: TmuxServer = await identify(self._plain, self.socket)
        self._plain.server_pid = self.server.instance.pid
        kit = self._kit
        outputs = ControlOutputs(
            kit.epochs,
            Terms(kit.settings.tmux_program, kit.settings.segment_bytes),
            lambda s, n: self.post(OutputNotice(s, n)),
            kit.forked,
        )
        means = Means(kit.epochs, kit.recorder, outputs, kit.left_open, lambda: kit.settings.baseline_lines)
        self.ears = Ears(means, self.server)
        self.has_begun = True
        for stored in await kit.epochs.store.panes.all():
            if stored.instance.server == self.server.instance:
                self.known[stored.instance.mux_id] = Known(stored.id, stored.facts)
                await self.ears.adopt(stored.id, stored.facts)
        await kit.epochs.chronicle.tell("server_found", socket=self.socket, version=self.server.version)
        await self._attach()
        await self._careful(self._full)
        self.has_looked.set()

    async def _attach(self) -> None:
        """Go over to a control client, where that changes nothing for the server's people."""
        if self.server.exits_unattached or not self._control.is_due:
            return
        self._kit.forked()
        try:
            self.server.client = await self._control_client()
            await self.server.leave_if_last()
        except MuxError as error:
            await self._lose_client(str(error))
            return
        self._full_at = 0.0  # what nobody announced meanwhile
        await self._control.worked()

    async def _control_client(self) -> ControlClient:
        self.server.home = await self.server.free_home(os.getpid())
        argv = control_argv(self._kit.settings.tmux_program, self.socket, self.server.home)
        client = ControlClient(argv, notice=self.post)
        try:
            await client.attached()
            if (await identify(client, self.socket)).instance != self.server.instance:
                raise MuxError("another tmux server took over this socket")
        except MuxError:
            client.close()
            raise
        return client

    async def _lose_client(self, why: str) -> None:
        """Go on with plain calls; another client is tried when it is time."""
        self._detach()
        log.info("%s: no control client: %s", self.socket, why)
        await self._control.failed(why)

    def _detach(self) -> None:
        client, self.server.client = self.server.client, self._plain
        client.close()

    async def _read_inbox(self) -> None:
        while self._inbox:
            item = self._inbox.popleft()
            if isinstance(item, Notice):
                await self._noticed(item)
            elif isinstance(item, OutputNotice):
                await self.ears.output_notice(item.session_id, item.notice.name, item.notice.words)
            elif isinstance(item, Lost):
                await self.ears.recorder_lost()
            else:
                await self._careful(partial(self.ears.news, item))

    async def _noticed(self, notice: Notice) -> None:
        if notice.name == "exit" and self.server.client is not self._plain:
            await self._lose_client("it ended")
            self._thin_at = 0.0
        elif notice.name == "sessions-changed" and self.server.client is not self._plain:
            await self._careful(self.server.leave_if_last)
        elif notice.name in _STRAYS and self.server.client is not self._plain:
            await self._careful(partial(send_on, self.server))
        self._pace(is_quiet=False)
        if notice.name.startswith((*_TOPOLOGY, _CLIENT)):
            self._thin_at = self._full_at = 0.0
            self._is_announced = self._is_announced or not notice.name.startswith(_CLIENT)

    async def _look(self) -> None:
        now = self._monotonic()
        self._thin_at = now + self._kit.settings.thin_interval
        if self.server.client is self._plain:
            await self._attach()
        thin = await self._careful(self.server.thin)
        if thin is None:
            return
        is_busy = self._kit.heard() != self._heard and now >= self._full_was_at + _BUSY_FULL_FOR
        if self._differs(thin):
            self._is_announced = True
        if self._is_announced or is_busy or now >= self._full_at:
            await self._careful(self._full)

    def _differs(self, thin: Mapping[MuxPaneId, Thin]) -> bool:
        return thin.keys() != self.known.keys() or any(
            (thin[name].pid, thin[name].dead, thin[name].piped) != (one.facts.pid, one.facts.dead, one.facts.piped)
            for name, one in self.known.items()
        )

    async def _full(self) -> None:
        is_quiet = self._heard == self._kit.heard() and not self._is_announced
        self._full_was_at, self._heard = self._monotonic(), self._kit.heard()
        self._full_at = self._full_was_at + self._full_for
        new = {facts.mux_id: facts for facts in await self.server.facts()}
        old = {name: one.facts for name, one in self.known.items()}
        changes = list(compare(old, new))
        self.corrections += 0 if self._is_announced else len(changes)
        self._is_announced = False
        self._pace(is_quiet=is_quiet and not changes)
        for change in changes:
            await self._take_over(change, new)
        for name, facts in new.items():
            self.ears.see(facts)
            await self._renew(self.known[name], facts)
        await self._check_exit_rule()

    async def _renew(self, known: Known, facts: PaneFacts) -> None:
        if facts.width != known.facts.width:
            self._kit.epochs.text.resized(known.id, facts.width)
        if facts != known.facts:
            known.facts = facts
            await self._kit.epochs.store.panes.update(known.id, facts, self._now())

    def _pace(self, *, is_quiet: bool) -> None:
        """While nothing happens, everything is read ever more seldom."""
        usual = self._kit.settings.full_interval
        self._full_for = max(usual, min(_QUIET_FULL_FOR, self._full_for * 2)) if is_quiet else usual
        self._full_at = self._full_was_at + self._full_for

    async def _check_exit_rule(self) -> None:
        """A server that ends with its last attached client must not be held by ours."""
        self.server.exits_unattached = (await identify(self.server.client, self.socket)).exits_unattached
        if self.server.exits_unattached and self.server.client is not self._plain:
            self._detach()

    async def _take_over(self, change: Change, new: dict[MuxPaneId, PaneFacts]) -> None:
        panes, tell = self._kit.epochs.store.panes, self._kit.epochs.chronicle.tell
        if change.kind == "pane_appeared":
            facts = new[change.mux_id]
            instance = PaneInstance(self.server.instance, change.mux_id)
            pane, is_new = await panes.recognise(instance, facts, self._now())
            self.known[change.mux_id] = Known(pane, facts)
            await self.ears.adopt(pane, facts)
            if is_new:
                await tell(change.kind, pane, **change.data)
        elif change.kind == "pane_gone":
            gone = self.known.pop(change.mux_id)
            await self.ears.leave(change.mux_id)
            await panes.gone(gone.id, self._now())
            await tell(change.kind, gone.id)
        else:  # whoever is told and looks must see it
            known = self.known[change.mux_id]
            await self._renew(known, new[change.mux_id])
            await tell(change.kind, known.id, **change.data)

    async def _careful(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Ask the server; when it does not answer, find out whether it is gone."""
        try:
            return await call()
        except MuxError as error:
            self.detail = str(error)
            if not self.ears.is_server_alive:
                self._is_over = True
            elif self.server.client is not self._plain:
                await self._lose_client(str(error))
            return None

    async def _server_gone(self) -> None:
        await self._let_go()
        await self.ears.leave_all("server_gone")
        await self._last_bytes()
        for one in self.known.values():
            await self._kit.epochs.store.panes.gone(one.id, self._now())
            await self._kit.epochs.chronicle.tell("pane_gone", one.id)
        self.known.clear()
        await self._kit.epochs.chronicle.tell("server_gone", socket=self.socket)

    async def _leave(self) -> None:
        await self.ears.stop(keep_pipes=self._keeps_pipes)
        await self._last_bytes()
        await self._let_go()

    async def abandon(self) -> None:
        """After a failure of our own: let go of the server; what is open stays open for the next watch."""
        if self.has_begun:
            await self.ears.abandon()
            await self._let_go()

    async def _let_go(self) -> None:
        self._detach()
        await self._control.over()
        await self.ears.over()

    async def _last_bytes(self) -> None:
        """What the recorder still reads of closed pipes belongs to their epochs."""
        until = self._monotonic() + _LAST_BYTES_FOR
        while not self.ears.is_quiet and self._monotonic() < until:
            await self._wait(0.1)
            await self._read_inbox()
            await self.ears.step()

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()

    def _monotonic(self) -> float:
        return self._kit.epochs.clock.monotonic()

    def _now(self) -> int:
        return self._kit.epochs.clock.now()
