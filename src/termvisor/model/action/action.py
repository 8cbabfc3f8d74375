"""An Action is something we want done in the world. It is a value: judged, asked about and recorded before it is done.

Every kind is one class here. What an action means is all in its fields, so that its hash stands for exactly it: an
answer given to one action cannot be used for another.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.readonly_program import READONLY_CWD, find_readonly_program
from termvisor.model.ids import PaneId

Risk = Literal["look", "reversible", "input", "process", "destructive", "outside"]
"""What may go wrong at worst: nothing, something that can be put back, something typed into a program, a program
started or told to end, something lost for good, something that leaves this machine."""

NotificationWay = Literal["terminal", "desktop", "webhook", "command"]
"""How a person is told something: at their terminal, on their desktop, by an HTTP request, by a program of theirs."""

ActorKind = Literal["human", "robot", "mcp", "workflow", "assistant", "agent"]


class Actor(Struct, frozen=True, kw_only=True):
    """Who wants it: what kind of caller, which user and process, and the name it gave itself."""

    kind: ActorKind
    uid: int
    pid: int
    name: str = ""
    pane: PaneId | None = None
    """The pane that the caller itself runs in, where that is known."""


class SendText(Struct, frozen=True, kw_only=True, tag="send_text"):
    """Type a text into a pane and, unless told otherwise, press Enter once it was seen there."""

    pane: PaneId
    text: str
    enter: bool = True
    into_screen: bool = False
    """The caller says that the full-screen program there is to get it."""


class SendKeys(Struct, frozen=True, kw_only=True, tag="send_keys"):
    """Press named keys, such as ``C-c``, ``Escape``, ``Up`` or ``a``."""

    pane: PaneId
    keys: tuple[str, ...]


CLEAR_INPUT_KEYS = ("C-u",)
"""The keys at which shells forget the line that stands in their input."""


class Spawn(Struct, frozen=True, kw_only=True, tag="spawn"):
    """Start a program in a new session, window or pane; no program means the user's shell."""

    where: Literal["session", "window", "pane"]
    target: str = "local"
    server: str = ""
    """The socket of the multiplexer's server; empty: the only one, or the default one."""
    session: str = ""
    """For a new session: its name. For a new window: where it opens, by name or as ``$3``."""
    beside: PaneId | None = None
    """For a new pane: the one that is split."""
    is_horizontal: bool = False
    command: tuple[str, ...] = ()
    cwd: str = ""
    env: dict[str, str] = {}
    name: str = ""
    account: str = ""
    """The account under which it starts, such as ``openai/work``: a reference, never what it stands for."""
    keeps_failure: bool = False
    """Whether the pane stays, with what is on its screen, where the program ends with an error."""


class Kill(Struct, frozen=True, kw_only=True, tag="kill"):
    """Send a signal to what runs in the foreground of a pane; or close the whole pane."""

    pane: PaneId
    signal: Literal["INT", "TERM", "KILL", "HUP", "QUIT"] = "INT"
    closes_pane: bool = False


class Activate(Struct, frozen=True, kw_only=True, tag="activate"):
    """Make a pane the one that people see in its session, without resizing anything."""

    pane: PaneId


class Attach(Struct, frozen=True, kw_only=True, tag="attach"):
    """Show a pane to the person at this terminal."""

    pane: PaneId
    client: str = ""


class SetTitle(Struct, frozen=True, kw_only=True, tag="set_title"):
    pane: PaneId
    title: str


class Reserve(Struct, frozen=True, kw_only=True, tag="reserve"):
    """Have a pane for oneself for a while: nobody but who names the same owner acts on it."""

    pane: PaneId
    owner: str
    seconds: float


class Release(Struct, frozen=True, kw_only=True, tag="release"):
    """End a reservation before its time."""

    pane: PaneId
    reservation: int


class Notify(Struct, frozen=True, kw_only=True, tag="notify"):
    """Tell a person something, by one of the ways that are set up."""

    title: str
    text: str
    pane: PaneId | None = None
    way: NotificationWay = "terminal"


class AnswerAgent(Struct, frozen=True, kw_only=True, tag="answer_agent"):
    """Say yes, this once, to an agent that asks whether it may use a tool. Its hook carries the answer, or its server,
    or the keys of its dialog.
    """

    agent: str
    tool: str
    command: str = ""
    """What a shell would run."""
    writes: tuple[str, ...] = ()
    """The files that the tool would write."""
    given: str = ""
    """What else the agent gives to the tool, as JSON."""
    cwd: str = ""
    session: str = ""
    pane: PaneId | None = None
    request: str
    """Never the same twice: an answer is good for one request, also where the next one asks for the same."""


class AnswerDialog(Struct, frozen=True, kw_only=True, tag="answer_dialog"):
    """Press the keys that pick one choice of the dialog which an agent shows, and nothing else."""

    pane: PaneId
    agent: str
    choice: str
    """`allow` (this once), `deny`, or the label of a choice."""
    rows: tuple[str, ...] = ()
    """The dialog: it must still be that very one. The gate puts in the one that is shown where none is named."""


class Interrupt(Struct, frozen=True, kw_only=True, tag="interrupt"):
    """Have an agent stop what it is at; it stays, and can be told something else."""

    pane: PaneId
    agent: str


class QuitAgent(Struct, frozen=True, kw_only=True, tag="quit_agent"):
    """Have an agent that rests leave in its own way; its conversation can be taken up again."""

    pane: PaneId
    agent: str


class WriteFile(Struct, frozen=True, kw_only=True, tag="write_file"):
    path: str
    data: bytes


class RunProgram(Struct, frozen=True, kw_only=True, tag="run_program"):
    """Start a program without a shell, a terminal or an input, and hear what it says until it ends."""

    argv: tuple[str, ...]
    cwd: str = READONLY_CWD


class AskPerson(Struct, frozen=True, kw_only=True, tag="ask_person"):
    """Ask a person something; their answer is all that comes of it."""

    question: str
    choices: tuple[str, ...] = ("yes", "no")
    """Approving means the first, denying the last."""
    how: str = ""
    """How any of them is said."""
    pane: PaneId | None = None
    request: str
    """Never the same twice: an answer is good for one question."""


class RunWorkflow(Struct, frozen=True, kw_only=True, tag="run_workflow"):
    """Start a workflow; whatever it does then passes the gate by itself."""

    workflow: str
    pane: PaneId
    is_forced: bool = False


Action = (
    SendText
    | SendKeys
    | Spawn
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
    | RunProgram
    | AskPerson
    | RunWorkflow
)

RISK_BY_ACTION_KIND: dict[str, Risk] = {
    "send_text": "input",
    "send_keys": "input",
    "spawn": "process",
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
    "run_program": "process",
    "run_workflow": "process",
    "ask_person": "look",
    "model_call": "outside",
    "browser_auth": "outside",
}
"""Every kind of action, also those that no part of the product can do yet: a policy may speak of all of them."""


def get_action_kind(action: Action) -> str:
    """The kind's name, as policy, audit and events call it."""
    return str(type(action).__struct_config__.tag)


def assess_risk(action: Action) -> Risk:
    """By kind; closing a pane and the hard signals lose something for good, a notification may stay on this machine, an
    agent that is refused may ask again, some programs only look."""
    if isinstance(action, Kill) and (action.closes_pane or action.signal in ("KILL", "QUIT")):
        return "destructive"
    if isinstance(action, Notify) and action.way in ("terminal", "desktop"):
        return "reversible"
    if isinstance(action, AnswerAgent) and action.writes:
        return "destructive"
    if isinstance(action, AnswerDialog) and action.choice == "deny":
        return "reversible"
    if isinstance(action, RunProgram) and find_readonly_program(action.argv, action.cwd) is not None:
        return "look"
    return RISK_BY_ACTION_KIND[get_action_kind(action)]


def find_action_pane(action: Action) -> PaneId | None:
    """The pane that it is about, if there is one."""
    return action.beside if isinstance(action, Spawn) else getattr(action, "pane", None)


def find_checked_pane(action: Action) -> PaneId | None:
    """The pane that must be as it is believed to be. Some only speak of a pane, which may be gone."""
    return None if isinstance(action, Notify | Release | AskPerson | RunWorkflow) else find_action_pane(action)
