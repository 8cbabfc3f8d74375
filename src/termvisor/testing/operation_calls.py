"""Asking an in-memory World as a face would, and the calls that stand for every op in goldens and schema tests."""

import os
import tempfile
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS, SystemClock
from termvisor.detection import packs
from termvisor.model.action.action import Actor, SetTitle
from termvisor.model.action.approval import Approval, Permit, PermitScope, Reservation
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.undo import UndoAction, UndoPrecondition
from termvisor.model.action.verdict import VerdictReason, combine_reasons
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.maintenance import MaintenanceRun
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import Screen
from termvisor.ops.api.dispatch import CHUNK_KINDS, CommandContext, dispatch_command_line
from termvisor.ops.api.services import Services
from termvisor.settings import Paths
from termvisor.store import Store
from termvisor.testing import sample_agents
from termvisor.testing.fake_accounts import add_sample_accounts
from termvisor.testing.fake_detections import add_sample_detections
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.fake_workflows import add_sample_workflows


class CommandResult(Struct, frozen=True):
    """What the caller's terminal and shell got."""

    out: str
    err: str
    status: int
    file: str = ""
    """The file that took the place of stdout, if one did."""
    question: str = ""
    """What a person at a terminal would have been asked to confirm."""
    approval_number: str = ""
    """The number of the question in the inbox that they would have answered."""
    editable_text: str = ""
    """The text that they could have edited."""
    input_source: str = ""
    """Where the caller's side was told to look for a text."""

    @property
    def envelope(self) -> dict[str, Any]:
        return dict(msgspec.json.decode(self.out))

    @property
    def items(self) -> list[Any]:
        """The objects of a JSON stream."""
        return [msgspec.json.decode(line) for line in self.out.splitlines()]


async def run_command(
    services: Services, *argv: str, width: int = 0, colour: bool = False, is_terminal: bool = False
) -> CommandResult:
    """What `visor <argv>` says; the first word `robot` means what it means there."""
    is_robot = argv[:1] == ("robot",)
    words = argv[1:] if is_robot else argv
    return await collect_answer(
        services, CommandContext(argv=words, is_robot=is_robot, width=width, colour=colour, is_terminal=is_terminal)
    )


async def collect_answer(services: Services, context: CommandContext) -> CommandResult:
    said: dict[bytes, bytes] = {}
    status = -1
    async for piece in dispatch_command_line(services, context):
        if isinstance(piece, int):
            status = piece
        else:
            kind = CHUNK_KINDS.get(type(piece), b"o")
            said[kind] = said.get(kind, b"") + piece
    out, err, *more = (said.get(kind, b"").decode() for kind in (b"o", b"e", b"f", b"q", b"n", b"t", b"i"))
    return CommandResult(out, err, status, *more)


_SAMPLE_PACK = os.path.join(os.path.dirname(packs.__file__), "core", "wezterm")
"""A small one: to prove all of them takes seconds, and tests/unit/detection/packs/test_lint.py does."""

OPERATION_CALLS: dict[str, tuple[str, ...]] = {
    "list_panes": ("state", "--gone"),
    "list_windows": ("list-windows", "--with-agent-status"),
    "list_sessions": ("list-sessions", "--agent-summary"),
    "status": ("status",),
    "next": ("next",),
    "explain": ("explain", "2"),
    "watch": ("watch", "--once"),
    "agents_list": ("agents", "list"),
    "agents_sessions": ("agents", "sessions", "--agent", "claude_code"),
    "list_sources": ("sources",),
    "tmux_status": ("tmux-status", "{waiting} wait, {running} run"),
    "get_text": ("get-text", "1", "--numbers"),
    "get_screen": ("get-screen", "2"),
    "search_history": ("search", "error", "--limit", "2"),
    "wait_for": ("wait-for", "1", "tests passed"),
    "list_commands": ("commands",),
    "list_gaps": ("gaps",),
    "export": ("export", "1", "--jsonl"),
    "replay": ("replay", "2"),
    "list_events": ("events",),
    "watch_events": ("watch-events", "--since-cursor", "1", "--once"),
    "report_event": ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready", "--value", '{"port": 8080}'),
    "explain_event": ("explain-event", "event:6"),
    "events_ack": ("events", "ack", "5", "6", "--note", "waited"),
    "events_mute": ("events", "mute", "usage.*", "--for", "2h"),
    "events_mutes": ("events", "mutes"),
    "events_unmute": ("events", "unmute", "1"),
    "send_text": ("send", "1", "make test"),
    "send_keys": ("send-keys", "1", "C-c"),
    "answer_dialog": ("answer", "2", "allow"),
    "interrupt": ("interrupt", "2"),
    "quit_agent": ("quit", "2", "--dry-run"),
    "resume_session": ("resume", "5e55", "--dry-run"),
    "revive": ("revive", "5e55", "--dry-run"),
    "spawn": ("spawn", "--session", "work", "--", "claude"),
    "split": ("split", "1", "--dry-run", "--", "htop"),
    "kill": ("kill", "1", "--yes"),
    "activate": ("activate", "2"),
    "attach": ("attach", "2"),
    "set_title": ("set-title", "1", "release", "build"),
    "notify": ("notify", "--pane", "1", "--way", "desktop", "build", "it waits for you"),
    "undo": ("undo",),
    "reserve": ("reserve", "1", "--owner", "alice"),
    "release": ("release", "1"),
    "list_reservations": ("list-reservations",),
    "inbox": ("inbox",),
    "approve": ("approve", "1"),
    "deny": ("deny", "1"),
    "list_permits": ("list-permits",),
    "revoke_permit": ("revoke-permit", "1"),
    "audit": ("audit",),
    "audit_verify": ("audit", "verify"),
    "audit_export": ("audit", "export"),
    "policy_show": ("policy", "show"),
    "policy_explain": ("policy", "explain", "send", "1", "make test"),
    "policy_test": ("policy", "test"),
    "rules_list": ("rules", "list", "--pack", "core.wezterm"),
    "rules_show": ("rules", "show", "wezterm.version.mismatch"),
    "rules_test": ("rules", "test", "--trace", "Port 5000 is already in use"),
    "rules_lint": ("rules", "lint", _SAMPLE_PACK),
    "rules_new": ("rules", "new", "deploy.rollout.stuck"),
    "workflow_list": ("workflow", "list"),
    "workflow_show": ("workflow", "show", "nightly"),
    "workflow_run": ("workflow", "run", "nightly", "1"),
    "workflow_dry_run": ("workflow", "dry-run", "nightly", "1"),
    "workflow_status": ("workflow", "status", "--all"),
    "workflow_history": ("workflow", "history", "3"),
    "workflow_signal": ("workflow", "signal", "3", "go"),
    "workflow_pause": ("workflow", "pause", "3"),
    "workflow_resume": ("workflow", "resume", "3"),
    "workflow_cancel": ("workflow", "cancel", "3"),
    "accounts_list": ("accounts", "list"),
    "accounts_show": ("accounts", "show", "work"),
    "accounts_pick": ("accounts", "pick", "openai", "--explain"),
    "accounts_use": ("accounts", "use", "anthropic/second"),
    "accounts_refresh": ("accounts", "refresh", "--service", "openai"),
    "setup_shell": ("setup", "shell", "bash", "--remove"),
    "setup_tmux": ("setup", "tmux"),
    "setup_agents": ("setup", "agents", "--agent", "copilot", "--remove"),
    "hook_permission": ("hook", "permission", "--agent", "claude_code", "--text", '{"tool_name": "Bash"}'),
    "config_init": ("config", "init"),
    "config_show": ("config", "show", "--effective"),
    "config_set": ("config", "set", "log_level", "debug"),
    "config_unset": ("config", "unset", "log_level"),
    "config_reload": ("config", "reload"),
    "config_validate": ("config", "validate"),
    "config_path": ("config", "path"),
    "health": ("health",),
    "doctor": ("doctor",),
    "logs": ("logs",),
    "db_status": ("db", "status"),
    "db_prune": ("db", "prune"),
    "db_vacuum": ("db", "vacuum"),
    "db_reindex": ("db", "reindex"),
    "db_check": ("db", "check"),
    "db_backup": ("db", "backup", "/backups/copy.db"),
    "db_restore": ("db", "restore", "--dry-run"),
    "completion": ("completion", "panes"),
    "version": ("version",),
    "quick_start": ("quick-start",),
    "help": ("help", "get-screen"),
}
"""One robot call an op, to be asked of the lively world."""

AGENT_OPERATIONS = frozenset(
    {"list_panes", "list_windows", "list_sessions", "status", "next", "explain", "watch", "tmux_status"}
)
AGENT_OPERATIONS |= {"agents_list", "agents_sessions", "list_sources", "answer_dialog", "interrupt", "quit_agent"}
AGENT_OPERATIONS |= {"resume_session", "revive"}
"""Those that are about agents: for them a crew is there."""

DETECTION_OPERATIONS = frozenset({"explain_event", "events_ack", "events_mute", "events_mutes", "events_unmute"})
"""Those that are about what rules found: for them something was."""


def _build_dialog_screen(pane: PaneId, now: int) -> Screen:
    rows = ("╭─ Fix the tests? ─╮", "│ 1. Yes  2. No    │", "╰──────────────────╯")
    return Screen(pane=pane, rows=rows, width=20, height=3, cursor_x=2, cursor_y=1, alternate=True, at=now)


def _build_frames(screen: Screen) -> list[ReplayFrame]:
    """Two frames: one behind a gap, and then the screen itself."""
    frame = ReplayFrame(pane=screen.pane, at=screen.at, width=20, height=3, rows=screen.rows, is_alternate=True)
    return [
        replace(frame, rows=screen.rows[:1], note="gap: pipe_closed for 4.0 s"),
        replace(frame, at=screen.at + NS, cursor_x=2, cursor_y=1, epoch=EpochId(1), offset=120),
    ]


def _build_maintenance_steps(now: int) -> list[MaintenanceRun]:
    """One piece of work, half-way and done."""
    half = MaintenanceRun(operation="delete_raw", started_at=now, rows=1, detail="1 of 2 segments", is_done=False)
    done = MaintenanceRun(
        operation="delete_raw",
        started_at=now,
        duration=0.25,
        rows=2,
        bytes=16_000_000,
        detail="2 segments of 1 pane",
    )
    return [half, done]


async def build_sample_services(paths: Paths | None = None, op: str = "") -> FakeServices:
    """A world in which something of every kind happened, with the files on disk that the call of ``op`` needs."""
    world = FakeServices(paths)
    if paths is not None and op == "db_restore":
        await _write_snapshot(paths)
    shell_pane = world.add_pane(build_shell_facts("%1", active=True, title="make test"))
    agent = world.add_pane(
        build_shell_facts("%4", session="agents", window=2, command="claude", title="✳ fixing tests")
    )
    ended = world.add_pane(build_shell_facts("%9", session="agents", window=3))
    world.add_event("daemon_started", version="0.1.0")
    world.add_event("pane_appeared", shell_pane.id, session="work")
    world.print_lines(shell_pane.id, "$ make test", "error: 1 test failed", "$ make test")
    world.history.commands.start_command(shell_pane.id, "make test", world.clock.now(), 2)
    world.history.commands.end_command(shell_pane.id, 2, world.clock.now(), 2)
    world.history.commands.start_command(shell_pane.id, "make test", world.clock.now(), 4)
    await world.clock.advance(60)
    world.add_gap(shell_pane.id, "pipe_stolen", 4.0)
    await world.clock.advance(5)
    world.print_lines(shell_pane.id, "tests passed", "error: none")
    world.history.commands.end_command(shell_pane.id, 0, world.clock.now(), 5)
    world.print_partial_line(shell_pane.id, "$ ")
    world.remove_pane(ended.id)
    world.change_pane(
        shell_pane.id,
        activity=PaneActivity(kind="prompt", since=world.clock.now(), last_exit=0, is_proven=True),
        bytes_heard=4321,
        bytes_per_second=12.34,
    )
    world.change_pane(agent.id, activity=PaneActivity(kind="alt_screen"))
    world.panes.screens[agent.id] = _build_dialog_screen(agent.id, world.clock.now())
    world.history.recording.stored_frames += _build_frames(world.panes.screens[agent.id])
    world.maintenance.maintenance_steps += _build_maintenance_steps(world.clock.now())
    add_sample_actions(world, shell_pane.id)
    add_sample_workflows(world.workflows, shell_pane.id, world.clock.now())
    await world.clock.advance(10)
    if op == "hook_permission":
        world.gate.outcome = Outcome(status="done", why="allow", text='{"behavior":"allow"}', correlation="c0ffee")
    await _add_agents(world, op, agent.id)
    if op in DETECTION_OPERATIONS:
        await add_sample_detections(world.detections, shell_pane.id, agent.id, world.clock.now())
    return world


async def _add_agents(services: FakeServices, op: str, pane: PaneId) -> None:
    add_sample_accounts(services.accounts, services.clock.now())
    if op in AGENT_OPERATIONS:
        await sample_agents.add_sample_agents(services, pane)
    if op in ("resume_session", "revive"):
        services.agents.end_agent(pane)


def add_sample_actions(services: FakeServices, pane: PaneId) -> None:
    """Somebody acted: a question is open, a permit and a reservation hold, and it is on record."""
    now, asker = services.clock.now(), Actor(kind="robot", uid=1000, pid=77, name="builder")
    action = {"type": "send_text", "pane": pane, "text": "make deploy", "enter": True, "into_screen": False}
    reason = VerdictReason(source="default", id="others.input", answer="ask", text="a caller of the kind robot")
    until = now + 600 * NS
    services.gate.approvals.add_request(
        Approval(
            at=now,
            expires_at=until,
            correlation="c0ffee",
            action_hash="ab12",
            kind="send_text",
            actor=asker,
            risk="input",
            pane=pane,
            place="pane 1 (local/work:1.0 %1, pid 1000, bash)",
            shown=action,
            reasons=(reason,),
        )
    )
    scope = PermitScope(kind="send_keys", actor_kind="robot", actor_name="builder", uid=1000, pane=pane)
    services.gate.approvals.stored_permits.append(Permit(id=1, at=now, expires_at=until, scope=scope, who="human:1000"))
    services.gate.reservations.stored_reservations.append(
        Reservation(id=1, pane=pane, owner="alice", at=now, expires_at=until)
    )
    entry = AuditEntry(at=now, correlation="c0ffee", stage="asked", kind="send_text", actor=asker, pane=pane)
    services.gate.audit.add_entry(
        replace(entry, action=action, verdict=combine_reasons((reason,)), observed={"command": "bash"})
    )
    services.gate.audit.sample_inverse = UndoAction(
        action=SetTitle(pane=pane, title="make test"),
        undoes=UndoPrecondition(correlation="0ff1ce", title="release build"),
    )
    services.gate.outcome = Outcome(status="done", correlation="c0ffee", mux_pane="%4", pid=1000)
    services.gate.send_outcome = Outcome(
        status="delivered", why="command_started", correlation="c0ffee", key="k1", bytes_sent=9
    )


async def _write_snapshot(paths: Paths) -> None:
    os.makedirs(paths.data_dir, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = await Store.open(f"{folder}/visor.db", SystemClock())
        await store.maintenance.write_snapshot(paths.snapshot_file)
        await store.close()
