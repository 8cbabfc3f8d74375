"""Read a permission request from the dialog on an agent's screen and answer it with keys.

Keys are pressed only while exactly this dialog is shown.
"""

import os
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Struct

from termvisor.actions.agent_commands import AgentCommander
from termvisor.actions.input_line import strip_decoration
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.permission_requests.hook import GateRunner
from termvisor.actions.permission_requests.request import RequestEnd
from termvisor.actions.preconditions import build_stale_error
from termvisor.model.action.action import Actor, AnswerAgent, AnswerDialog
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.ids import PaneId


class PermissionDialog(Struct, frozen=True, kw_only=True):
    """The rows of a dialog that keys can both allow and deny."""

    pane: PaneId
    agent: str
    rows: tuple[str, ...]
    command: str = ""
    """The command that the agent reported; used only if the dialog shows it too."""
    session: str = ""
    cwd: str = ""

    def build_action(self) -> AnswerAgent:
        text = "\n".join(row.strip(" │┃") for row in self.rows)
        return AnswerAgent(
            agent=self.agent,
            tool="dialog",
            command=self.command if strip_decoration(self.command) in strip_decoration("".join(self.rows)) else "",
            given=msgspec.json.encode({"dialog": text}).decode(),
            cwd=self.cwd,
            session=self.session,
            pane=self.pane,
            request=os.urandom(8).hex(),
        )


def find_dialog(snapshot: PaneSnapshot, agent_process: AgentProcess, command: str) -> PermissionDialog | None:
    """Return the dialog that this agent shows; None if keys cannot surely allow and deny it."""
    interaction, agent = snapshot.interaction, snapshot.agent
    if interaction is None or agent is None or agent.runtime != agent_process.id:
        return None
    allow = interaction.find_choice_keys(snapshot.screen, "allow")
    deny = interaction.find_choice_keys(snapshot.screen, "deny")
    if allow is None or deny is None or allow.rows != deny.rows or not allow.rows:
        return None
    return PermissionDialog(
        pane=agent_process.pane,
        agent=agent_process.agent,
        rows=allow.rows,
        command=command,
        session=agent.session,
        cwd=agent_process.cwd,
    )


class DialogRequest:
    """A shown dialog; ``wait_until_resolved`` returns when the agent no longer waits for an answer."""

    def __init__(
        self,
        dialog: PermissionDialog,
        *,
        commander: AgentCommander,
        gate: GateRunner,
        actor: Actor,
        wait_until_resolved: Callable[[], Awaitable[None]],
    ):
        self.action, self._dialog = dialog.build_action(), dialog
        self._commander, self._gate, self._actor = commander, gate, actor
        self._wait_until_resolved = wait_until_resolved

    async def allow(self, snapshot: PaneSnapshot | None) -> Outcome:
        if snapshot is None:
            raise build_stale_error("pane_gone", f"pane {self._dialog.pane} no longer exists")
        return await self._commander.build_keyboard(snapshot).pick_choice("allow", self._dialog.rows)

    async def deny(self, correlation: str) -> None:
        # Denying presses keys in a pane, which is an action of its own: it goes through the gate and its pane lock.
        dialog = self._dialog
        action = AnswerDialog(pane=dialog.pane, agent=dialog.agent, choice="deny", rows=dialog.rows)
        await self._gate.run(action, self._actor, Preconditions(correlation=correlation))

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        await self._wait_until_resolved()
        return "elsewhere"
