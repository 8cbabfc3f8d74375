"""A running daemon with a real bash in a real tmux, and a gate with a scripted policy."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.gate import Gate
from termvisor.actions.policy_check import PolicyDecision
from termvisor.daemon.acting.pane_access import LivePaneAccess
from termvisor.daemon.assembly import load_nonce, open_services
from termvisor.daemon.services.services import DaemonServices
from termvisor.model.action.action import Action, Actor, SendText
from termvisor.model.action.approval import VerdictReason, combine_reasons
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import PaneId
from termvisor.settings import Paths, Settings
from termvisor.setup.shell_integration import build_snippet
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from tests.pattern_cache import install_pattern_cache
from tests.unit.wait_until import wait_until

ME = Actor(kind="human", uid=1000, pid=1)
RC = "HISTFILE=\nPS1='$ '\nset +o history; set -o history\n"


class ScriptedPolicy:
    """A policy whose verdict the test sets."""

    def __init__(self) -> None:
        self.answer: str = "allow"
        self.needs = 1
        self.allows_unproven = False
        self.reported: list[tuple[str, str]] = []

    async def check(self, action: Action, actor: Actor, snapshot: object) -> PolicyDecision:
        return await self.preview(action, actor, snapshot)

    async def preview(self, action: Action, _actor: Actor, _snapshot: object) -> PolicyDecision:
        reason = VerdictReason(source="rule", id="test", answer=self.answer, text="the test says so")
        return PolicyDecision(
            action=action,
            verdict=combine_reasons((reason,)),
            needs=self.needs,
            expires_for=60,
            allows_unproven=self.allows_unproven,
        )

    def explain(self, action: Action, actor: Actor, snapshot: object) -> list[str]:
        return [self.answer]

    async def report_outcome(self, decision: PolicyDecision, status: str, why: str) -> None:
        self.reported.append((status, why))


class GateScene:
    def __init__(self, services: DaemonServices, tmux: PrivateTmux, places: Paths):
        components = services._components
        self.services, self.tmux, self.places, self.store = services, tmux, places, components.store
        self.policy = ScriptedPolicy()
        self.panes = LivePaneAccess(components, services.panes.find_pane)
        self.approvals = ApprovalQueue(components.store, components.clock)
        self.gate = Gate(
            store=components.store,
            panes=self.panes,
            policy=self.policy,
            approvals=self.approvals,
            executor=ActionExecutor(self.panes, components.clock),
            clock=components.clock,
            hash_key=b"0123456789abcdef",
        )

    async def wait_for_capture(self, mux_id: str) -> PaneId:
        """Return the id of a pane once it is captured."""

        async def find_captured_pane() -> PaneId | None:
            views = await self.services.panes.list_panes()
            return next((view.id for view in views if view.instance.mux_id == mux_id and view.heard_by == "pipe"), None)

        for _ in range(500):
            if (number := await find_captured_pane()) is not None:
                return number
            await wait_briefly()
        raise AssertionError(f"{mux_id} is not captured")

    async def start_bash(self, *, session: str = "work") -> tuple[str, PaneId]:
        """Start a bash with shell integration, captured from its first byte, and wait for its prompt."""
        rc = f"{self.places.config_dir}/rc"
        os.makedirs(self.places.config_dir, exist_ok=True)
        with open(rc, "wb") as file:
            file.write(RC.encode() + build_snippet("bash", self.places))
        gate = f"{self.places.config_dir}/gate"
        os.mkfifo(gate)
        mux_id = self.tmux.open_window(session, f"read go < {gate}; exec bash --noprofile --rcfile {rc} -i")
        number = await self.wait_for_capture(mux_id)
        with open(gate, "w"):
            os.unlink(gate)
        await self.wait_until_at_prompt(number)
        return mux_id, number

    async def wait_until_at_prompt(self, pane: PaneId) -> None:
        """Wait until the prompt is printed completely: the mark at its end may arrive after the one at its start."""

        def is_at_prompt() -> bool:
            text = self.services._components.pipeline.current_readers.get(pane)
            has_input = text is not None and text.shells.activity_state.place.column is not None
            return has_input and self.read_activity(pane) == ("prompt", True)

        await wait_until(is_at_prompt)

    def find_mux_id(self, pane: PaneId) -> str:
        place = self.services._components.server_supervisor.locate_pane(pane)
        assert place is not None
        return place[1]

    def read_activity(self, pane: PaneId) -> tuple[str, bool]:
        text = self.services._components.pipeline.current_readers.get(pane)
        return (
            ("none", False)
            if text is None
            else (text.shells.activity_state.activity.kind, text.shells.activity_state.activity.is_proven)
        )

    def capture_screen(self, mux_id: str) -> str:
        return self.tmux("capture-pane", "-p", "-J", "-t", mux_id)

    async def send(self, pane: PaneId, text: str, *, enter: bool = True, **preconditions: object) -> Outcome:
        return await self.gate.run(SendText(pane=pane, text=text, enter=enter), ME, Preconditions(**preconditions))


async def wait_briefly() -> None:
    await asyncio.sleep(0.02)


@asynccontextmanager
async def open_gate_scene(folder: str) -> AsyncIterator[GateScene]:
    places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    install_pattern_cache(places)
    load_nonce(places.nonce_file)
    with run_private_tmux(places.runtime_dir) as tmux:
        tmux.start_session(command="sh")
        settings = Settings(tmux_sockets=(tmux.socket,), thin_interval=0.1, flush_interval=0.02)
        async with open_services(places, settings) as services:
            yield GateScene(services, tmux, places)
