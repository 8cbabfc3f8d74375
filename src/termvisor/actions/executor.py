"""Execute admitted actions other than text: keys, signals, new panes, titles, reservations, programs, notifications.

Runs only the programs in `model.action.readonly_program`, without a shell or stdin. Their environment holds only the
variables for paths and locale and, for programs that use the network, for proxies and certificates.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec.structs import replace

from termvisor.actions.agent_commands import AgentCommander
from termvisor.actions.input_line import find_guard_piece
from termvisor.actions.job_input import JobInputTyper
from termvisor.actions.notifications.notifier import Notifier
from termvisor.actions.pane_snapshot import ActionRoutes, PaneSnapshot
from termvisor.actions.precondition_failure import build_guard_error
from termvisor.actions.preconditions import AgentAction
from termvisor.backends.pane_control import AppliedPaneChange, GuardMismatch
from termvisor.clock import Clock
from termvisor.errors import NotFound, ObjectNotFound, Unsupported
from termvisor.model.action.action import (
    Action,
    Activate,
    AnswerAgent,
    AskPerson,
    Attach,
    ExportUnredacted,
    Kill,
    Notify,
    PruneData,
    Release,
    Reserve,
    RestoreData,
    RunJob,
    RunProgram,
    RunWorkflow,
    SendJobInput,
    SendKeys,
    SetTitle,
    Spawn,
    StopJob,
    UpdateRecords,
    WriteConfig,
    WriteFile,
    get_action_kind,
)
from termvisor.model.action.outcome import Outcome, ProgramOutput
from termvisor.model.action.readonly_program import ReadOnlyProgram, find_readonly_program
from termvisor.model.event import Scalar
from termvisor.redaction import redact
from termvisor.settings import get_environment
from termvisor.system.subprocesses import ProgramResult, run_bounded

# Replacing a longer title cannot be undone, because the old title is not stored.
_MAX_TITLE_CHARS = 500
_LOCATION_VARIABLES: tuple[str, ...] = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE")
_LOCATION_VARIABLES += ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_NETWORK_VARIABLES: tuple[str, ...] = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
_NETWORK_VARIABLES += tuple(name.lower() for name in _NETWORK_VARIABLES if name.endswith("PROXY"))


def _reject_account(account: str) -> tuple[str, ...]:
    raise ObjectNotFound(f"account {account!r} not found")


class ActionExecutor:
    """``get_account_prefix`` returns the argv prefix that runs a command with an account, or raises ``NotFound``."""

    def __init__(
        self,
        routes: ActionRoutes,
        clock: Clock,
        notifier: Notifier | None = None,
        get_account_prefix: Callable[[str], tuple[str, ...]] = _reject_account,
    ):
        self._routes, self._notifier, self._get_account_prefix = routes, notifier, get_account_prefix
        self._clock, self._agent_commander = clock, AgentCommander(routes, clock)

    async def execute(self, action: Action, snapshot: PaneSnapshot | None, correlation: str = "") -> Outcome:
        """Execute the action. Raises ``StaleSnapshot``, without acting, if the pane changed since the snapshot."""
        if isinstance(action, Notify) and self._notifier is not None:
            return await self._notifier.send_notification(action, correlation)
        if isinstance(action, Spawn):
            return await self._spawn(action, snapshot)
        if isinstance(action, Reserve | Release | RunJob | StopJob):
            return await self._change_elsewhere(action, correlation)
        if isinstance(action, AnswerAgent):
            return await self._agent_commander.deliver_approval(action, snapshot)
        if isinstance(action, RunProgram):
            return await run_program(action)
        # The caller proceeds by itself once the gate allows it.
        if isinstance(action, AskPerson | RunWorkflow):
            return Outcome(status="done", pane=action.pane)
        if isinstance(action, WriteFile | WriteConfig | PruneData | RestoreData | UpdateRecords | ExportUnredacted):
            return Outcome(status="done")
        if snapshot is None:
            raise NotFound(f"{get_action_kind(action)} needs a pane, and none was found")
        return await self._execute_in_pane(action, snapshot)

    async def _execute_in_pane(self, action: Action, snapshot: PaneSnapshot) -> Outcome:
        if isinstance(action, SendKeys):
            return await self._press_keys(action, snapshot)
        if isinstance(action, SendJobInput):
            typer = JobInputTyper(self._routes.get_job_control(), self._routes.get_control(action.pane), self._clock)
            return await typer.type_input(action, snapshot)
        if isinstance(action, AgentAction):
            return await self._agent_commander.execute(action, snapshot)
        if isinstance(action, Kill):
            return await self._kill(action, snapshot)
        if isinstance(action, Activate):
            return await self._alter_pane(snapshot, "activate")
        if isinstance(action, Attach):
            return Outcome(status="done", pane=action.pane)  # done by the caller's own terminal
        if isinstance(action, SetTitle):
            return await self._alter_pane(snapshot, "title", action.title)
        raise Unsupported(f"{get_action_kind(action)} is not supported here")

    async def _spawn(self, action: Spawn, snapshot: PaneSnapshot | None) -> Outcome:
        if action.account:
            # The prefix only names the account. The new process loads the credentials, which never pass through here.
            action = replace(action, command=(*self._get_account_prefix(action.account), *action.command))
        text = ""
        if snapshot is None:
            opener = await self._routes.get_pane_opener(action)
            mux_pane, pid = await opener.open_pane(action, None)
            text = f"no server was running; started {opener.started_server}" if opener.started_server else ""
        else:
            session = action.session or snapshot.view.facts.session_id
            action = replace(action, session=session) if action.where == "window" else action
            mux_pane, pid = await self._routes.get_control(snapshot.view.id).open_pane(action, snapshot.pane_state.pane)
        former: dict[str, Scalar] = {"mux_pane": mux_pane, "pid": pid}
        return Outcome(status="done", mux_pane=mux_pane, pid=pid, former=former, text=text)

    async def _change_elsewhere(self, action: Reserve | Release | RunJob | StopJob, correlation: str) -> Outcome:
        """Execute an action on what is not the pane itself: its reservation, or a job."""
        if isinstance(action, Reserve | Release):
            return await self._change_reservation(action)
        jobs = self._routes.get_job_control()
        return await (jobs.start_job(action, correlation) if isinstance(action, RunJob) else jobs.stop_job(action))

    async def _press_keys(self, action: SendKeys, snapshot: PaneSnapshot) -> Outcome:
        piece = ""
        # Keys that clear a typed text are pressed only while that text is still on the screen.
        if snapshot.undo_target is not None and snapshot.undo_target.is_typed and snapshot.typed_input:
            piece = find_guard_piece(snapshot.typed_input.before, snapshot.pane_state.width)
        pressed = await self._routes.get_control(action.pane).press(snapshot.build_guard(piece), action.keys)
        if isinstance(pressed, GuardMismatch):
            raise build_guard_error(pressed)
        return Outcome(status="done", pane=snapshot.view.id)

    async def _change_reservation(self, action: Reserve | Release) -> Outcome:
        if isinstance(action, Release):
            await self._routes.release(action)
            return Outcome(status="done", pane=action.pane)
        reservation, is_new = await self._routes.reserve(action)
        former: dict[str, Scalar] = {"reservation": reservation.id, "is_longer": not is_new}
        return Outcome(status="done", pane=action.pane, former=former)

    async def _kill(self, action: Kill, snapshot: PaneSnapshot) -> Outcome:
        if action.closes_pane:
            return await self._alter_pane(snapshot, "close")
        group = await self._routes.send_signal(snapshot, action.signal)
        return Outcome(status="done", pane=action.pane, pid=group, text=f"SIG{action.signal} was sent")

    async def _alter_pane(
        self, snapshot: PaneSnapshot, change: Literal["activate", "title", "close"], value: str = ""
    ) -> Outcome:
        # No input is sent, so it does not matter which program runs in the pane.
        guard = replace(snapshot.build_guard(), command=None, alternate=None, takes_input=False)
        applied = await self._routes.get_control(snapshot.view.id).change_pane(guard, change, value)
        if isinstance(applied, GuardMismatch):
            raise build_guard_error(applied)
        return Outcome(status="done", pane=snapshot.view.id, former=_collect_former_values(applied, change))


def _collect_former_values(
    former: AppliedPaneChange, change: Literal["activate", "title", "close"]
) -> dict[str, Scalar]:
    """Return the values that undo needs from the audit log, except a title that contains a secret."""
    if change == "activate":
        return {"former_front": former.old_front or ""}
    titles = {"former_title": former.old_title, "title": former.new_title} if change == "title" else {}
    return {name: title for name, title in titles.items() if redact(title) == title and len(title) <= _MAX_TITLE_CHARS}


async def run_program(action: RunProgram) -> Outcome:
    """Run the program within its time and output limits. Raises ``Unsupported`` if it is not known to be read-only."""
    program = find_readonly_program(action.argv, action.cwd)
    if program is None:
        raise Unsupported("only programs that are known to be read-only can be run")
    # A program that prints its environment must not find tokens there.
    env = build_environment(program, get_environment())
    max_bytes = program.max_output_bytes
    result = await run_bounded(action.argv, timeout_s=program.timeout_s, max_bytes=max_bytes, env=env)
    return build_outcome(result, program, action)


def build_environment(program: ReadOnlyProgram, environ: Mapping[str, str]) -> dict[str, str]:
    names = (*_LOCATION_VARIABLES, *_NETWORK_VARIABLES) if program.uses_network else _LOCATION_VARIABLES
    return {name: environ[name] for name in names if name in environ}


def build_outcome(result: ProgramResult, program: ReadOnlyProgram, action: RunProgram) -> Outcome:
    """Build the outcome. The output is passed on uninterpreted, because only the caller knows what it contains."""
    name = action.argv[0]
    failures = {
        "missing": ("not_installed", f"{name} is not installed"),
        "cannot_start": ("cannot_start", f"{name} cannot be started"),
        "timed_out": ("timed_out", f"{name} timed out after {program.timeout_s:g} s"),
        "too_much": ("too_much", f"the output of {name} is longer than {program.max_output_bytes >> 10} KiB"),
    }
    if result.failure:
        why, text = failures[result.failure]
        return Outcome(status="failed", why=why, text=text)
    why = f"exit_{result.status}" if result.status else ""
    return Outcome(status="done", why=why, answered=ProgramOutput(result.status, result.out, result.errors))
