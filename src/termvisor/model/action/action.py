"""Actions: everything that changes something. The gate checks, approves and logs each action before executing it.

Each kind is one class. Its fields define the action completely, so that its hash identifies it: an approval of one
action cannot be used for another.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.readonly_program import READONLY_CWD, find_readonly_program
from termvisor.model.ids import PaneId

Risk = Literal["look", "reversible", "input", "process", "destructive", "outside"]
"""Worst possible effect: none, a change that can be undone, input to a program, a program started or ended, lost data,
data sent to another machine."""

NotificationWay = Literal["terminal", "desktop", "webhook", "command"]
"""How the user is notified: in the terminal, on the desktop, by HTTP request, or by a configured program."""

ActorKind = Literal["human", "robot", "mcp", "workflow", "assistant", "agent"]

CallerFace = Literal["cli", "tui", "robot", "mcp", "web", "python"]
"""The interface through which a call came: a caller declares it, and the daemon decides who the caller is."""


class Actor(Struct, frozen=True, kw_only=True):
    """The caller of an action: its kind, user and process, and its self-chosen name."""

    kind: ActorKind
    uid: int
    pid: int
    name: str = ""
    pane: PaneId | None = None
    """The pane that the caller runs in, if known."""
    face: CallerFace | Literal[""] = ""
    """The interface that it used; empty for actions of the daemon itself."""
    doubt: str = ""
    """Why the caller does not count as a person; empty for a person and for the daemon."""


def get_default_owner(actor: Actor) -> str:
    """Return the owner of reservations whose caller names none: the person, or the program by its name or pane."""
    if actor.kind == "human" or actor.pane is None:
        return actor.name or f"{actor.kind}:{actor.uid}"
    return actor.name or f"{actor.kind}:{actor.uid}:pane{actor.pane}"


class SendText(Struct, frozen=True, kw_only=True, tag="send_text"):
    """Type a text into a pane and, unless ``enter`` is false, press Enter once the text is visible."""

    pane: PaneId
    text: str
    enter: bool = True
    into_screen: bool = False
    """True if the caller confirms that the text is meant for the full-screen program."""
    at_prompt: bool = False
    """True if the caller asserts that the shell, which sends no marks, is at its empty prompt."""


class SendKeys(Struct, frozen=True, kw_only=True, tag="send_keys"):
    """Press named keys, such as ``C-c``, ``Escape``, ``Up`` or ``a``."""

    pane: PaneId
    keys: tuple[str, ...]


# The keys that clear the input line of shells.
CLEAR_INPUT_KEYS = ("C-u",)


class Spawn(Struct, frozen=True, kw_only=True, tag="spawn"):
    """Start a program in a new session, window or pane; an empty command means the user's shell."""

    where: Literal["session", "window", "pane"]
    target: str = "local"
    place: str = ""
    """The backend that is to run it; empty for the one of the server."""
    server: str = ""
    """The address of the server within the target; empty for the only or the default server."""
    session: str = ""
    """For a new session: its name. For a new window: its session, by name or id such as ``$3``."""
    beside: PaneId | None = None
    """For a new pane: the pane to split."""
    is_horizontal: bool = False
    command: tuple[str, ...] = ()
    cwd: str = ""
    env: dict[str, str] = {}
    name: str = ""
    account: str = ""
    """The account to start it with, such as ``openai/work``: a reference, never the credentials."""
    keeps_failure: bool = False
    """Keep the pane and its screen if the program exits with an error."""


class RunJob(Struct, frozen=True, kw_only=True, tag="run_job"):
    """Run a command in a terminal of its own and keep track of it until it ends."""

    command: tuple[str, ...]
    place: Literal["pty", "tmux", "session"] = "pty"
    session: str = ""
    server: str = ""
    cwd: str = ""
    env: dict[str, str] = {}
    name: str = ""
    is_interactive: bool = False
    timeout: float = 0.0
    options: str = ""
    """The other settings of the job, as JSON: they change how it is watched, not what it does."""


class StopJob(Struct, frozen=True, kw_only=True, tag="stop_job"):
    """End a job: INT, TERM and KILL to its program, then to every process of its terminal."""

    job: int
    pane: PaneId | None = None


class SendJobInput(Struct, frozen=True, kw_only=True, tag="send_job_input"):
    """Type into the terminal of a job that waits for input: a text, or a secret known only by its digest.

    The secret itself is held in memory until it is typed; it is never part of an action.
    """

    pane: PaneId
    job: int
    text: str = ""
    secret: str = ""
    enter: bool = True
    is_forced: bool = False
    """Type although the job is not proven to wait for input."""


class Kill(Struct, frozen=True, kw_only=True, tag="kill"):
    """Send a signal to the foreground program of a pane, or close the pane."""

    pane: PaneId
    signal: Literal["INT", "TERM", "KILL", "HUP", "QUIT"] = "INT"
    closes_pane: bool = False


class Activate(Struct, frozen=True, kw_only=True, tag="activate"):
    """Make a pane the active pane of its session, without resizing anything."""

    pane: PaneId


class Attach(Struct, frozen=True, kw_only=True, tag="attach"):
    """Show a pane in the caller's terminal."""

    pane: PaneId
    client: str = ""


class SetTitle(Struct, frozen=True, kw_only=True, tag="set_title"):
    pane: PaneId
    title: str


class Reserve(Struct, frozen=True, kw_only=True, tag="reserve"):
    """Reserve a pane for some time. Only callers that name the same owner may act on it."""

    pane: PaneId
    owner: str
    seconds: float


class Release(Struct, frozen=True, kw_only=True, tag="release"):
    """End a reservation early."""

    pane: PaneId
    reservation: int


class Notify(Struct, frozen=True, kw_only=True, tag="notify"):
    """Notify the user by one of the configured ways."""

    title: str
    text: str
    pane: PaneId | None = None
    way: NotificationWay = "terminal"


class AnswerAgent(Struct, frozen=True, kw_only=True, tag="answer_agent"):
    """Allow an agent's permission request for a tool once. The answer goes through its hook, server or dialog keys."""

    agent: str
    tool: str
    command: str = ""
    """The command that a shell would run."""
    writes: tuple[str, ...] = ()
    """The files that the tool would write."""
    given: str = ""
    """The other arguments of the tool, as JSON."""
    cwd: str = ""
    session: str = ""
    pane: PaneId | None = None
    request: str
    """Unique id of the request. An answer is valid for one request, even if the next one is identical."""


class AnswerDialog(Struct, frozen=True, kw_only=True, tag="answer_dialog"):
    """Press the keys that select one choice of an agent's dialog."""

    pane: PaneId
    agent: str
    choice: str
    """`allow` (once), `deny`, or the label of a choice."""
    rows: tuple[str, ...] = ()
    """The rows of the dialog, which must be unchanged. If empty, the gate fills in the visible dialog."""


class Interrupt(Struct, frozen=True, kw_only=True, tag="interrupt"):
    """Interrupt the current task of an agent; the agent keeps running."""

    pane: PaneId
    agent: str


class QuitAgent(Struct, frozen=True, kw_only=True, tag="quit_agent"):
    """Make an idle agent exit through its own command, so that its session can be resumed."""

    pane: PaneId
    agent: str


class WriteFile(Struct, frozen=True, kw_only=True, tag="write_file"):
    """Change a file of the user. The caller writes it, once the gate allows it."""

    path: str
    data: bytes = b""
    """The new content; empty for a set-up, whose content follows from the present one."""
    why: str = ""


class WriteConfig(Struct, frozen=True, kw_only=True, tag="write_config"):
    """Change how Termvisor works: its settings, the settings in force, rules, mutes, permits, or the account in use."""

    change: Literal["set", "unset", "init", "reload", "mute", "unmute", "rule", "workflow", "revoke", "account"]
    name: str = ""
    value: str = ""


class PruneData(Struct, frozen=True, kw_only=True, tag="prune_data"):
    """Delete recorded data now, as far as the retention settings allow."""


class RestoreData(Struct, frozen=True, kw_only=True, tag="restore_data"):
    """Replace the database, and with it the audit log, with a backup. Only a person may do that."""

    file: str


class UpdateRecords(Struct, frozen=True, kw_only=True, tag="update_records"):
    """Change stored records without losing any: compact or index them, acknowledge detections, steer a workflow run."""

    change: Literal["vacuum", "reindex", "acknowledge", "pause", "resume", "cancel", "signal", "detach"]
    name: str = ""
    value: str = ""


class ExportUnredacted(Struct, frozen=True, kw_only=True, tag="export_unredacted"):
    """Give the caller the recorded bytes of a pane with the secrets in them."""

    reference: str
    """The pane as the caller named it; it may be gone."""


class RunProgram(Struct, frozen=True, kw_only=True, tag="run_program"):
    """Run a program without a shell, terminal or input, and capture its output until it exits."""

    argv: tuple[str, ...]
    cwd: str = READONLY_CWD


class AskPerson(Struct, frozen=True, kw_only=True, tag="ask_person"):
    """Ask the user a question. The answer is the only outcome."""

    question: str
    choices: tuple[str, ...] = ("yes", "no")
    """The choices. Approving selects the first, denying the last."""
    how: str = ""
    """How to select any of the choices."""
    pane: PaneId | None = None
    request: str
    """Unique id of the request. An answer is valid for one question."""


class RunWorkflow(Struct, frozen=True, kw_only=True, tag="run_workflow"):
    """Start a workflow. Each of its actions passes the gate separately."""

    workflow: str
    pane: PaneId
    is_forced: bool = False


Action = (
    SendText
    | SendKeys
    | Spawn
    | RunJob
    | StopJob
    | SendJobInput
    | Kill
    | Activate
    | Attach
    | SetTitle
    | Reserve
    | Release
    | Notify
    | AnswerAgent
    | AnswerDialog
    | Interrupt
    | QuitAgent
    | WriteFile
    | WriteConfig
    | PruneData
    | RestoreData
    | UpdateRecords
    | ExportUnredacted
    | RunProgram
    | AskPerson
    | RunWorkflow
)

# Every kind of action, including kinds that are not implemented yet, because a policy may name them all.
RISK_BY_ACTION_KIND: dict[str, Risk] = {
    "send_text": "input",
    "send_keys": "input",
    "spawn": "process",
    "run_job": "process",
    "stop_job": "process",
    "send_job_input": "input",
    "kill": "process",
    "activate": "reversible",
    "attach": "look",
    "set_title": "reversible",
    "reserve": "reversible",
    "release": "reversible",
    "notify": "outside",
    "answer_agent": "process",
    "answer_dialog": "process",
    "interrupt": "input",
    "quit_agent": "process",
    "write_file": "destructive",
    "write_config": "process",
    "prune_data": "destructive",
    "restore_data": "destructive",
    "update_records": "reversible",
    "export_unredacted": "outside",
    "run_program": "process",
    "run_workflow": "process",
    "ask_person": "look",
    "model_call": "outside",
    "browser_auth": "outside",
}


def get_action_kind(action: Action) -> str:
    """Return the name of the kind, as used in the policy, the audit log and events."""
    return str(type(action).__struct_config__.tag)


def assess_risk(action: Action) -> Risk:
    """Return the risk of an action, which depends on its kind and, for some kinds, its fields."""
    if isinstance(action, Kill) and (action.closes_pane or action.signal in ("KILL", "QUIT")):
        return "destructive"
    if isinstance(action, Notify) and action.way in ("terminal", "desktop"):
        return "reversible"
    if isinstance(action, AnswerAgent) and action.writes:
        return "destructive"
    if isinstance(action, AnswerDialog) and action.choice == "deny":
        return "reversible"
    if isinstance(action, UpdateRecords) and action.change in ("resume", "cancel"):
        return "process"
    if isinstance(action, RunProgram) and find_readonly_program(action.argv, action.cwd) is not None:
        return "look"
    return RISK_BY_ACTION_KIND[get_action_kind(action)]


def find_action_pane(action: Action) -> PaneId | None:
    """Return the pane that an action is about, if there is one."""
    return action.beside if isinstance(action, Spawn) else getattr(action, "pane", None)


def find_checked_pane(action: Action) -> PaneId | None:
    """Return the pane whose state must be checked. Some actions only mention a pane, which may be gone."""
    return (
        None if isinstance(action, Notify | Release | AskPerson | RunWorkflow | StopJob) else find_action_pane(action)
    )
