"""Build fake services with sample panes, agents, detections, approvals and workflows for tests of operations."""

import os
import tempfile

from msgspec.structs import replace

from termvisor.clock import NS, SystemClock
from termvisor.model.action.action import Actor, SetTitle
from termvisor.model.action.approval import Approval, Permit, PermitScope, Reservation, VerdictReason, combine_reasons
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import UndoAction, UndoPrecondition
from termvisor.model.agent.account import Account, Allowance
from termvisor.model.detection.detection import Detection, DetectionHandling, DetectionMute
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import EpochId, JobId, PaneId, RuntimeId
from termvisor.model.job import Job
from termvisor.model.maintenance import MaintenanceRun
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import ReplayFrame, Screen
from termvisor.settings import Paths
from termvisor.store import Store
from termvisor.testing import sample_agents
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.fake_workflows import add_sample_workflows
from termvisor.testing.memory_store import run_now

AGENT_OPERATIONS = frozenset(
    {"list_panes", "list_windows", "list_sessions", "status", "next", "explain", "watch", "tmux_status"}
)
AGENT_OPERATIONS |= {"agents_list", "agents_sessions", "list_sources", "answer_dialog", "interrupt", "quit_agent"}
AGENT_OPERATIONS |= {"watch_panes", "timeline", "usage_daily"}
AGENT_OPERATIONS |= {"resume_session", "revive", "agents_new", "agents_record"}
"""Operations on agents, whose sample services contain agents."""

DETECTION_OPERATIONS = frozenset({"explain_event", "events_ack", "events_mute", "events_mutes", "events_unmute"})
"""Operations on detections, whose sample services contain detections."""

SAMPLE_RULE = Rule(
    id="shell.test_failed",
    pack="core.shell",
    since="0.1",
    scope="line",
    anchors=("test failed",),
    pattern=r"error: (?P<count>\d+) test failed",
    severity="warning",
    event="test.failed",
    why="A test failed.",
    hits=(),
    misses=(),
)


def _build_dialog_screen(pane: PaneId, now: int) -> Screen:
    rows = ("╭─ Fix the tests? ─╮", "│ 1. Yes  2. No    │", "╰──────────────────╯")
    return Screen(pane=pane, rows=rows, width=20, height=3, cursor_x=2, cursor_y=1, alternate=True, at=now)


def _build_frames(screen: Screen) -> list[ReplayFrame]:
    """Return two frames: one after a gap, then the screen itself."""
    frame = ReplayFrame(pane=screen.pane, at=screen.at, width=20, height=3, rows=screen.rows, is_alternate=True)
    return [
        replace(frame, rows=screen.rows[:1], note="gap: pipe_closed for 4.0 s"),
        replace(frame, at=screen.at + NS, cursor_x=2, cursor_y=1, epoch=EpochId(1), offset=120),
    ]


def _build_maintenance_steps(now: int) -> list[MaintenanceRun]:
    """Return one maintenance step in progress and its result."""
    step = MaintenanceRun(operation="delete_raw", started_at=now, rows=1, detail="1 of 2 segments", is_done=False)
    result = MaintenanceRun(
        operation="delete_raw",
        started_at=now,
        duration=0.25,
        rows=2,
        bytes=16_000_000,
        detail="2 segments of 1 pane",
    )
    return [step, result]


async def build_sample_services(paths: Paths | None = None, op: str = "") -> FakeServices:
    """Return services with samples of everything, and create the files that the call of ``op`` needs."""
    services = FakeServices(paths)
    if paths is not None and op == "db_restore":
        await _write_snapshot(paths)
    shell_pane = services.add_pane(build_shell_facts("%1", active=True, title="make test"))
    agent = services.add_pane(
        build_shell_facts("%4", session="agents", window=2, command="claude", title="✳ fixing tests")
    )
    ended = services.add_pane(build_shell_facts("%9", session="agents", window=3))
    services.add_event("daemon_started", version="0.1.0")
    services.add_event("pane_appeared", shell_pane.id, session="work")
    await _add_shell_output(services, shell_pane.id)
    services.remove_pane(ended.id)
    stream = services.pipeline.stream_states[shell_pane.id]
    stream.read_offset, stream.bytes_per_second = 4321, 12.34
    services.change_pane(agent.id, activity=PaneActivity(kind="alt_screen"))
    services.screens[agent.id] = _build_dialog_screen(agent.id, services.clock.now())
    services.recording.stored_frames += _build_frames(services.screens[agent.id])
    services.maintenance.maintenance_steps += _build_maintenance_steps(services.clock.now())
    add_sample_actions(services, shell_pane.id)
    add_sample_workflows(services.workflows, shell_pane.id, services.clock.now())
    # Advance the clock, so that ages and durations in the answers are not all zero.
    await services.clock.advance(10)
    if op == "hook_permission":
        services.gate.outcome = Outcome(status="done", why="allow", text='{"behavior":"allow"}', correlation="c0ffee")
    await _add_agents(services, op, agent.id)
    if op == "run" or op.startswith("job_"):
        await _add_jobs(services, shell_pane.id)
    if op in DETECTION_OPERATIONS:
        await _add_detections(services, shell_pane.id, agent.id)
    return services


async def _add_shell_output(services: FakeServices, pane: PaneId) -> None:
    """Add a failed command, and a second command with a gap in its output."""
    services.start_command(pane, "make test")
    services.print_lines(pane, "error: 1 test failed")
    services.finish_command(pane, 2)
    services.start_command(pane, "make test")
    await services.clock.advance(60)
    services.add_gap(pane, "pipe_stolen", 4.0)
    await services.clock.advance(5)
    services.print_lines(pane, "tests passed", "error: none")
    services.finish_command(pane)
    services.print_partial_line(pane, "$ ")


async def _add_accounts(services: FakeServices) -> None:
    """Add two accounts, one of them in use."""
    now, accounts = services.clock.now(), services.store.accounts
    work = Account(service="openai", name="work", email="me@example.org", env_file="~/work.env")
    second = Account(service="anthropic", name="second", config_dir="~/.claude-2")
    services.settings = replace(services.settings, accounts=(work, second))
    window = Allowance(span="5h", percent_remaining=80.0, resets_at=now + 3600 * NS, checked_at=now, source="signal")
    await accounts.record_allowances(work, [window])
    await accounts.set_in_use(work, now)


async def _add_agents(services: FakeServices, op: str, pane: PaneId) -> None:
    # The config file has no accounts, so a reload would report that they were removed.
    if op != "config_reload":
        await _add_accounts(services)
    if op in AGENT_OPERATIONS:
        await sample_agents.add_sample_agents(services, pane)
    if op in ("resume_session", "revive"):
        services.agents.end_agent(pane)


def add_sample_actions(services: FakeServices, pane: PaneId) -> None:
    """Add an open approval request, a permit, a reservation and an audit entry."""
    now, robot = services.clock.now(), Actor(kind="robot", uid=1000, pid=77, name="builder")
    action = {"type": "send_text", "pane": pane, "text": "make deploy", "enter": True, "into_screen": False}
    reason = VerdictReason(source="default", id="others.input", answer="ask", text="a caller of the kind robot")
    expires_at = now + 600 * NS
    approval = Approval(
        at=now,
        expires_at=expires_at,
        correlation="c0ffee",
        action_hash="ab12",
        kind="send_text",
        actor=robot,
        risk="input",
        pane=pane,
        place="pane 1 (local/work:1.0 %1, pid 1000, bash)",
        shown=action,
        reasons=(reason,),
        capabilities=("run make",),
    )
    entry = AuditEntry(at=now, correlation="c0ffee", stage="asked", kind="send_text", actor=robot, pane=pane)
    services.gate.add_request(
        approval, replace(entry, action=action, verdict=combine_reasons((reason,)), observed={"command": "bash"})
    )
    capabilities = ("category send_keys",)
    scope = PermitScope(
        kind="send_keys", actor_kind="robot", actor_name="builder", uid=1000, pane=pane, capabilities=capabilities
    )
    run_now(services.store.permits.add(Permit(at=now, expires_at=expires_at, scope=scope, who="human:1000")))
    run_now(services.store.reservations.hold(Reservation(pane=pane, owner="alice", at=now, expires_at=expires_at)))
    services.gate.audit.sample_inverse = UndoAction(
        action=SetTitle(pane=pane, title="make test"),
        undoes=UndoPrecondition(correlation="0ff1ce", title="release build"),
    )
    services.gate.outcome = Outcome(status="done", correlation="c0ffee", mux_pane="%4", pid=1000)
    services.gate.send_outcome = Outcome(
        status="delivered", why="command_started", correlation="c0ffee", key="k1", bytes_sent=9
    )


async def _add_jobs(services: FakeServices, pane: PaneId) -> None:
    """Add a job that failed, and one that waits for input."""
    now = services.clock.now()
    failed = Job(
        id=JobId(0),
        name="build",
        command="make test",
        place="tmux",
        state="finished",
        pane=pane,
        created_at=now - 90 * NS,
        started_at=now - 90 * NS,
        finished_at=now - 30 * NS,
        code=2,
        user_s=12.5,
        system_s=1.25,
        end_offset=4321,
        correlation="c0ffee",
    )
    await services.store.jobs.add(failed)
    waiting = Job(
        id=JobId(0),
        name="login",
        command="gh auth login",
        place="tmux",
        state="waiting_for_input",
        evidence="reads_terminal",
        prompt="Press Enter to open the browser",
        prompts="Press Enter to open the browser",
        pane=pane,
        created_at=now - 20 * NS,
        started_at=now - 20 * NS,
        extractor="gh_auth_login",
    )
    services.jobs.runner.watch_job(await services.store.jobs.add(waiting))


async def _add_detections(services: FakeServices, shell: PaneId, agent: PaneId) -> None:
    """Add a usage limit that a workflow handled, a failed test, and a mute."""
    now = services.clock.now()
    services.pipeline.matcher.set_rules([SAMPLE_RULE], None)
    limit = services.add_detection(
        Detection(
            at=now,
            type="usage.reached",
            rule="signal.usage_limited",
            pane=agent,
            runtime=RuntimeId(12),
            agent="claude_code",
            severity="error",
            captures={"resets_at": "2026-01-01T15:00:00.000Z"},
            source="signal",
            evidence={"signal": 40, "source": "transcript"},
            key="usage.reached runtime:12",
        )
    )
    await services.detections.mark_handled(
        limit.event, DetectionHandling(at=now, by="workflow:handle_usage_limits", action="paused", run=3)
    )
    services.add_detection(
        Detection(
            at=now,
            type="test.failed",
            rule=SAMPLE_RULE.id,
            pane=shell,
            severity="warning",
            captures={"count": "1"},
            source="stream",
            evidence={"epoch": 1, "line": 2},
            context="$ make test\nerror: 1 test failed",
            key="test.failed shell.test_failed count=1",
        )
    )
    await services.detections.mutes.add_mute(
        DetectionMute(what="usage.warning", at=now, until=now + 3600 * NS, by="person:1000")
    )


async def _write_snapshot(paths: Paths) -> None:
    os.makedirs(paths.data_dir, exist_ok=True)
    # `db restore` reads a database file, which a memory store does not have.
    with tempfile.TemporaryDirectory() as folder:
        store = await Store.open(f"{folder}/visor.db", SystemClock())
        await store.maintenance.write_snapshot(paths.snapshot_file)
        await store.close()
