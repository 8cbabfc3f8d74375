"""The user's policy (`policy.toml`): which callers may do what, where and when. Every key is declared here, once.

Without a file the defaults below apply. No policy can override the list of folders that are never written to.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.model.action.action import ActorKind, CallerFace, Risk
from termvisor.model.action.approval import PolicyAnswer

StringTuple = tuple[str, ...]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# All kinds of callers except a person at a terminal.
NON_HUMAN_ACTORS: tuple[ActorKind, ...] = ("robot", "mcp", "workflow", "assistant", "agent")

# Risks that are allowed if no other reason applies. For all others, `approval.default` is the answer.
DEFAULT_ALLOWED_RISKS: dict[Literal["human", "others"], tuple[Risk, ...]] = {
    "human": ("look", "reversible", "input", "process", "outside"),
    "others": ("look", "reversible"),
}

TimeOfDay = Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="A time of day, as 22:00.")]


class ApprovalPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The default answer, and how long approval requests stay open. The tables `shell`, `filesystem`, `network`, `ui`,
    `vision` and `audio` may also be written below it, as `[approval.shell]`."""

    default: Annotated[
        PolicyAnswer,
        Meta(description="The answer if no other reason applies and the risk is not allowed for the caller."),
    ] = "ask"
    expiry: Annotated[
        int, Meta(description="Seconds until an approval request expires, which denies it.", ge=5, le=86_400)
    ] = 600


class ShellPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Commands: text with Enter at a shell's prompt, and started programs."""

    mode: Annotated[
        PolicyAnswer | None,
        Meta(description="The answer for every command, in addition to those of its classes. Unset: none."),
    ] = None
    deny_patterns: Annotated[
        StringTuple,
        Meta(
            description="Regular expressions; a command line that contains a match is denied. They are matched with the"
            " text as sent, and with each command without quotes and wrappers (`sudo`, `env`, …)."
        ),
    ] = ()


class FilesystemPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Paths, as globs: `*` stays within a folder, `**` does not; `$HOME`, `~` and `$CWD` are expanded."""

    mode: Annotated[
        PolicyAnswer | None,
        Meta(description="The answer for paths that are not listed. Unset: ask where a list exists, else not checked."),
    ] = None
    read: Annotated[
        StringTuple, Meta(description="Paths that may be read; others require approval. Empty: not checked.")
    ] = ()
    write: Annotated[
        StringTuple, Meta(description="Paths that may be written; others require approval. Empty: not checked.")
    ] = ()
    deny: Annotated[StringTuple, Meta(description="Paths that may be neither read nor written.")] = ()


class NetworkPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Other machines; localhost is not checked."""

    mode: Annotated[
        PolicyAnswer | None,
        Meta(description="The answer for hosts that are not listed. Unset: that of the class `network`."),
    ] = None
    allow_hosts: Annotated[StringTuple, Meta(description="Hosts that may be reached, as globs: `*.example.org`.")] = ()


class UiPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The desktop: keys and clicks in other programs."""

    mode: Annotated[PolicyAnswer, Meta(description="The answer for programs that are not listed.")] = "ask"
    allow_apps: Annotated[StringTuple, Meta(description="Programs that may be used, as globs.")] = ()


class VisionPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Capturing the screen of the desktop."""

    mode: Annotated[PolicyAnswer, Meta(description="The answer where no other key is set.")] = "ask"
    screenshot: Annotated[PolicyAnswer | None, Meta(description="The answer for pictures of the screen.")] = None
    ui_tree: Annotated[PolicyAnswer | None, Meta(description="The answer for windows and their texts.")] = None


class AudioPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Capturing sound."""

    mode: Annotated[PolicyAnswer, Meta(description="The answer where no other key is set.")] = "ask"
    microphone: Annotated[PolicyAnswer | None, Meta(description="The answer for the microphone.")] = None
    system_audio: Annotated[PolicyAnswer | None, Meta(description="The answer for what the machine plays.")] = None
    speech_to_text: Annotated[PolicyAnswer | None, Meta(description="The answer for turning speech into text.")] = None


class RuleCondition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All keys that are set must match; of a list one entry is enough. Texts are globs."""

    actor: Annotated[tuple[ActorKind, ...], Meta(description="Kinds of callers.")] = ()
    face: Annotated[tuple[CallerFace, ...], Meta(description="Interfaces that callers use.")] = ()
    name: Annotated[StringTuple, Meta(description="Names that callers gave themselves.")] = ()
    kind: Annotated[StringTuple, Meta(description="Kinds of actions.")] = ()
    risk: Annotated[tuple[Risk, ...], Meta(description="Worst consequences.")] = ()
    target: Annotated[StringTuple, Meta(description="Targets of the pane.")] = ()
    session: Annotated[StringTuple, Meta(description="Session names.")] = ()
    window: Annotated[StringTuple, Meta(description="Window names.")] = ()
    title: Annotated[StringTuple, Meta(description="Pane titles; any program may set its own.")] = ()
    pane: Annotated[tuple[int, ...], Meta(description="Pane numbers.")] = ()
    agent: Annotated[StringTuple, Meta(description="Agents in the pane.")] = ()
    foreground: Annotated[StringTuple, Meta(description="Programs in the pane's foreground.")] = ()
    program: Annotated[
        StringTuple,
        Meta(description="Programs that the command line runs. For `allow` all must match, otherwise one."),
    ] = ()
    command: Annotated[
        StringTuple, Meta(description="Classes of the command line. For `allow` all must be listed, otherwise one.")
    ] = ()


class PolicyRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule. `allow` overrides only the default and the `ask` of the command classes that it names.

    If it names programs, it also overrides the `ask` of `unknown_effect`.
    """

    id: Annotated[str, Meta(description="Its name in verdicts and in the audit log.", min_length=1, max_length=80)]
    answer: Annotated[PolicyAnswer, Meta(description="allow, ask or deny.")]
    when: Annotated[RuleCondition, Meta(description="When it applies; without it always.")] = RuleCondition()
    text: Annotated[str, Meta(description="The reason, for the user.", max_length=500)] = ""
    two_person: Annotated[
        bool,
        Meta(
            description="Two users must approve; only with `ask`. A daemon serves one user, so there is no second one:"
            " the action is denied at once."
        ),
    ] = False


class RateLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rate limits. Read-only actions are not counted."""

    per_minute: Annotated[
        int, Meta(description="Maximum actions in any minute for each pane and kind.", ge=1, le=100_000)
    ] = 30
    actors: Annotated[
        dict[ActorKind, Annotated[int, Meta(ge=1, le=100_000)]],
        Meta(description="Actions per minute of one caller of this kind in all panes. Unset: not limited."),
    ] = {}


class QuietHours(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"since": "from", "until": "to"}
):
    """A time in which callers other than people are restricted. `to` before `from` means the next morning."""

    since: Annotated[TimeOfDay, Meta(description="Start, as 22:00.")]
    until: Annotated[TimeOfDay, Meta(description="End; the same time as the start means a whole day.")]
    days: Annotated[tuple[Weekday, ...], Meta(description="The days on which they start.", min_length=1)] = WEEKDAYS
    actors: Annotated[tuple[ActorKind, ...], Meta(description="The restricted kinds of callers.")] = NON_HUMAN_ACTORS
    answer: Annotated[Literal["ask", "deny"], Meta(description="ask or deny.")] = "ask"


class PolicyHook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that also decides. Its `allow` overrides nothing; no answer, a crash or a timeout is a deny."""

    id: Annotated[str, Meta(description="Its name in verdicts.", min_length=1, max_length=80)]
    program: Annotated[StringTuple, Meta(description="The program and its arguments.", min_length=1)]
    kinds: Annotated[StringTuple, Meta(description="Kinds of actions that it is run for. Empty: all.")] = ()
    timeout: Annotated[float, Meta(description="Timeout in seconds.", gt=0, le=60)] = 5.0
    runs: Annotated[
        Literal["before", "after", "both"],
        Meta(description="Before the action, or after it with the outcome."),
    ] = "before"


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"rules": "rule", "hooks": "hook"}):
    """The whole file."""

    approval: ApprovalPolicy = ApprovalPolicy()
    shell: ShellPolicy = ShellPolicy()
    filesystem: FilesystemPolicy = FilesystemPolicy()
    network: NetworkPolicy = NetworkPolicy()
    ui: UiPolicy = UiPolicy()
    vision: VisionPolicy = VisionPolicy()
    audio: AudioPolicy = AudioPolicy()
    commands: Annotated[
        dict[str, PolicyAnswer], Meta(description="Another answer for a command class, for all callers.")
    ] = {}
    rules: tuple[PolicyRule, ...] = ()
    rates: RateLimits = RateLimits()
    quiet_hours: tuple[QuietHours, ...] = ()
    protected: Annotated[
        StringTuple,
        Meta(
            description="Panes where actions of people require approval and all others are denied: a number, or a glob"
            " after `session:`, `window:`, `title:`, `target:`, `agent:`, `foreground:`, or"
            " `pane:<target>/<session>/<window>/<pane>`."
        ),
    ] = ()
    hooks: tuple[PolicyHook, ...] = ()
    unproven_prompt: Annotated[
        bool,
        Meta(
            description="Whether callers other than people may type without approval if it is not proven what the pane"
            " is doing."
        ),
    ] = False
    human_typing_override: Annotated[
        bool, Meta(description="Whether others may type without approval while a person is typing.")
    ] = False


class CommandClass(Struct, frozen=True):
    """A class of effects of a command line, with the default answers for people and for other callers."""

    name: str
    human: PolicyAnswer
    others: PolicyAnswer
    text: str
    is_fixed: bool = False
    """True if it always requires at least approval, regardless of the policy."""


# All command classes. `[commands]` in the policy can override the answers.
COMMAND_CLASSES: dict[str, CommandClass] = {
    command_class.name: command_class
    for command_class in (
        CommandClass("unparsed", "ask", "ask", "cannot be parsed, or is too long or too deeply nested", True),
        CommandClass("hidden_text", "ask", "ask", "contains invisible characters", True),
        CommandClass("dynamic", "ask", "ask", "runs or removes something known only at run time"),
        CommandClass("dynamic_path", "allow", "ask", "writes to a path known only at run time"),
        CommandClass("inline_code", "ask", "ask", "runs code of another language, which is not analyzed"),
        CommandClass("remote_code", "ask", "ask", "runs code from another machine"),
        CommandClass("fork_bomb", "deny", "deny", "starts itself endlessly"),
        CommandClass("unknown_effect", "allow", "ask", "runs a program or code whose effects are not known"),
        CommandClass("environment", "allow", "ask", "sets a variable that makes other programs run or load code"),
        CommandClass("privilege", "ask", "ask", "runs as another user, or outside its container"),
        CommandClass("bypass", "allow", "ask", "acts on terminals or on Termvisor itself, bypassing the gate"),
        CommandClass("delete", "allow", "ask", "removes individually named files"),
        CommandClass("destructive_delete", "ask", "ask", "removes whole folders, or everything that matches a pattern"),
        CommandClass("system_delete", "deny", "deny", "removes the root, a system folder or a home folder"),
        CommandClass("disk", "ask", "deny", "writes to a disk device, or creates or removes file systems"),
        CommandClass("system_write", "ask", "ask", "writes to the system, or configures a shell, an agent or keys"),
        CommandClass("outside_write", "ask", "ask", "writes outside the current folder and those for temporary files"),
        CommandClass("permissions", "ask", "ask", "changes permissions, owners or accounts widely"),
        CommandClass("protected_path", "ask", "ask", "names a folder that is never written to"),
        CommandClass("credential_read", "ask", "ask", "reads keys, tokens or passwords"),
        CommandClass("network", "allow", "ask", "reaches another machine"),
        CommandClass("network_exfiltration", "ask", "ask", "sends files or output to another machine"),
        CommandClass("package_change", "allow", "ask", "installs or removes packages, or runs one it fetches"),
        CommandClass("service_change", "ask", "ask", "starts, stops or changes services, schedules or the machine"),
        CommandClass("process_kill", "allow", "ask", "ends processes"),
        CommandClass("history_rewrite", "ask", "ask", "rewrites or removes version control history"),
        CommandClass("git_discard", "ask", "ask", "discards uncommitted changes"),
        CommandClass("database_drop", "ask", "ask", "drops or empties tables or databases"),
        CommandClass("infrastructure", "ask", "ask", "removes or changes containers, clusters or cloud resources"),
    )
}

EXAMPLE_POLICY = """\
unproven_prompt = false
protected = ["session:prod*"]

[approval]
default = "ask"

[shell]
deny_patterns = ["^git push .*--force"]

[filesystem]
write = ["$CWD/**", "/tmp/**"]
deny = ["$HOME/Documents/**"]

[network]
mode = "ask"
allow_hosts = ["*.example.org"]

[commands]
delete = "allow"

[[rule]]
id = "ci_may_build"
when = { actor = ["robot", "workflow"], session = ["ci"], program = ["make", "pytest"] }
answer = "allow"
text = "The build session is for robots."

[[rule]]
id = "ask_for_production"
when = { session = ["prod*"] }
answer = "ask"

[rates]
per_minute = 30
actors = { robot = 120 }

[[quiet_hours]]
from = "22:00"
to = "07:00"
days = ["mon", "tue", "wed", "thu", "fri"]
answer = "deny"

[[hook]]
id = "house_rules"
program = ["/usr/local/bin/house-rules", "--json"]
kinds = ["send_text", "run_program"]
timeout = 2.0
"""
