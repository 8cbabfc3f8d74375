"""A Policy is what the user's `policy.toml` says: who may do what, where and when. Every key is declared here, once.

Without a file the defaults below hold. Nothing in a policy can lift the list of folders that are never written to.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from termvisor.model.action.action import ActorKind, Risk
from termvisor.model.action.verdict import PolicyAnswer

StringTuple = tuple[str, ...]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NON_HUMAN_ACTORS: tuple[ActorKind, ...] = ("robot", "mcp", "workflow", "assistant", "agent")
"""Everybody but a person at a terminal."""

DEFAULT_ALLOWED_RISKS: dict[Literal["human", "others"], tuple[Risk, ...]] = {
    "human": ("look", "reversible", "input", "process", "outside"),
    "others": ("look", "reversible"),
}
"""The risks that each may take when nothing else speaks of it; for the rest `approval.default` is the answer."""

TimeOfDay = Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="A time of day, as 22:00.")]


class ApprovalPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens where nothing else speaks, and how long a question stands."""

    default: Annotated[
        PolicyAnswer,
        Meta(description="The answer where nothing else speaks and the risk is not one the actor may take."),
    ] = "ask"
    expiry: Annotated[int, Meta(description="Seconds that a question stands; then it is a no.", ge=5, le=86_400)] = 600


class ShellPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Commands: text with Enter at a shell's prompt, programs that are started."""

    mode: Annotated[
        PolicyAnswer | None,
        Meta(description="The answer to every command; its classes still have their own. Unset: none."),
    ] = None
    deny_patterns: Annotated[
        StringTuple,
        Meta(
            description="Regular expressions; a command line in which one is found is denied. They see the text as it"
            " was sent, and each command without quotes and wrappers (`sudo`, `env`, …)."
        ),
    ] = ()


class FilesystemPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Paths, as globs: `*` stays within a folder, `**` does not; `$HOME`, `~` and `$CWD` are understood."""

    read: Annotated[
        StringTuple, Meta(description="What may be read; other paths are asked about. Empty: no opinion.")
    ] = ()
    write: Annotated[
        StringTuple, Meta(description="What may be written; others are asked about. Empty: no opinion.")
    ] = ()
    deny: Annotated[StringTuple, Meta(description="What is neither read nor written.")] = ()


class NetworkPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Other machines. This machine itself (localhost) is not meant."""

    mode: Annotated[
        PolicyAnswer | None,
        Meta(description="The answer for hosts that are not listed. Unset: that of the class `network`."),
    ] = None
    allow_hosts: Annotated[StringTuple, Meta(description="Hosts that may be reached, as globs: `*.example.org`.")] = ()


class UiPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The desktop: keys and clicks in other programs."""

    mode: Annotated[PolicyAnswer, Meta(description="The answer for programs that are not listed.")] = "ask"
    allow_apps: Annotated[StringTuple, Meta(description="Programs that may be used, as globs.")] = ()


class SensePolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Eyes or ears."""

    mode: Annotated[PolicyAnswer, Meta(description="The answer.")] = "ask"


class RuleCondition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All keys that are set must fit; of a list one is enough. Texts are globs."""

    actor: Annotated[tuple[ActorKind, ...], Meta(description="Kinds of callers.")] = ()
    name: Annotated[StringTuple, Meta(description="StringTuple that callers gave themselves.")] = ()
    kind: Annotated[StringTuple, Meta(description="Kinds of actions.")] = ()
    risk: Annotated[tuple[Risk, ...], Meta(description="What may go wrong at worst.")] = ()
    target: Annotated[StringTuple, Meta(description="Where the pane lives.")] = ()
    session: Annotated[StringTuple, Meta(description="Session names.")] = ()
    window: Annotated[StringTuple, Meta(description="Window names.")] = ()
    title: Annotated[StringTuple, Meta(description="Pane titles; any program may set its own.")] = ()
    pane: Annotated[tuple[int, ...], Meta(description="Pane numbers.")] = ()
    agent: Annotated[StringTuple, Meta(description="Agents in the pane.")] = ()
    foreground: Annotated[StringTuple, Meta(description="Programs in the pane's foreground.")] = ()
    program: Annotated[
        StringTuple,
        Meta(description="Programs that the command line runs. `allow` needs all of them to fit, others one."),
    ] = ()
    command: Annotated[
        StringTuple, Meta(description="Classes of the command line. `allow` needs all of them to be named, others one.")
    ] = ()


class PolicyRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule. `allow` stands in for the default, and for the `ask` of the command classes it names; nothing more."""

    id: Annotated[str, Meta(description="Its name in verdicts and in the audit.", min_length=1, max_length=80)]
    answer: Annotated[PolicyAnswer, Meta(description="allow, ask or deny.")]
    when: Annotated[RuleCondition, Meta(description="Where it holds; without it everywhere.")] = RuleCondition()
    text: Annotated[str, Meta(description="Why, for a person.", max_length=500)] = ""
    two_person: Annotated[
        bool,
        Meta(
            description="Two people must say yes; only with `ask`. People are told apart by their user, and the daemon"
            " hears its own user only, so nobody can be the second: such an action is asked about, expires and is not"
            " done. No permit spares the question."
        ),
    ] = False


class RateLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often. Looking is not counted."""

    per_minute: Annotated[int, Meta(description="Actions a minute per pane and kind.", ge=1, le=100_000)] = 30
    actors: Annotated[
        dict[ActorKind, Annotated[int, Meta(ge=1, le=100_000)]],
        Meta(description="Actions a minute of one caller of this kind, over all panes and kinds. Unset: not limited."),
    ] = {}


class QuietHours(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"since": "from", "until": "to"}
):
    """A time in which others than people are held back. `to` before `from` means the next morning."""

    since: Annotated[TimeOfDay, Meta(description="When they begin, as 22:00.")]
    until: Annotated[TimeOfDay, Meta(description="When they end; the same time means a whole day.")]
    days: Annotated[tuple[Weekday, ...], Meta(description="The days on which they begin.", min_length=1)] = WEEKDAYS
    actors: Annotated[tuple[ActorKind, ...], Meta(description="Whom they hold back.")] = NON_HUMAN_ACTORS
    answer: Annotated[Literal["ask", "deny"], Meta(description="ask or deny.")] = "ask"


class PolicyHook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that is asked too. Its `allow` lifts nothing; no answer, a crash or a timeout is a deny."""

    id: Annotated[str, Meta(description="Its name in verdicts.", min_length=1, max_length=80)]
    program: Annotated[StringTuple, Meta(description="The program and its arguments.", min_length=1)]
    kinds: Annotated[StringTuple, Meta(description="Kinds of actions it is asked about. Empty: all.")] = ()
    timeout: Annotated[float, Meta(description="Seconds it may take.", gt=0, le=60)] = 5.0
    runs: Annotated[
        Literal["before", "after", "both"], Meta(description="Before the action, or told of the outcome after it.")
    ] = "before"


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"rules": "rule", "hooks": "hook"}):
    """The whole file."""

    approval: ApprovalPolicy = ApprovalPolicy()
    shell: ShellPolicy = ShellPolicy()
    filesystem: FilesystemPolicy = FilesystemPolicy()
    network: NetworkPolicy = NetworkPolicy()
    ui: UiPolicy = UiPolicy()
    vision: Annotated[SensePolicy, Meta(description="Seeing the screen of the desktop.")] = SensePolicy()
    audio: Annotated[SensePolicy, Meta(description="Hearing the microphone.")] = SensePolicy()
    commands: Annotated[
        dict[str, PolicyAnswer], Meta(description="Another answer for a class of commands, whoever the actor is.")
    ] = {}
    rules: tuple[PolicyRule, ...] = ()
    rates: RateLimits = RateLimits()
    quiet_hours: tuple[QuietHours, ...] = ()
    protected: Annotated[
        StringTuple,
        Meta(
            description="Panes where people are asked and everybody else is denied: a number, or a glob behind"
            " `session:`, `window:`, `title:`, `target:`, `agent:`, `foreground:`, or"
            " `pane:<target>/<session>/<window>/<pane>`."
        ),
    ] = ()
    hooks: tuple[PolicyHook, ...] = ()
    unproven_prompt: Annotated[
        bool,
        Meta(
            description="Whether others than people may type without being asked where no proof shows what the pane is"
            " doing."
        ),
    ] = False
    human_typing_override: Annotated[
        bool, Meta(description="Whether others may type, without being asked, where a person is typing.")
    ] = False


class CommandClass(Struct, frozen=True):
    """What a command line may do, with the answer for a person's own commands and for everybody else's."""

    name: str
    human: PolicyAnswer
    others: PolicyAnswer
    text: str
    is_fixed: bool = False
    """Asked about at least, whatever the policy says."""


COMMAND_CLASSES: dict[str, CommandClass] = {
    one.name: one
    for one in (
        CommandClass("unparsed", "ask", "ask", "cannot be read as a command, or is too long or too deep to be", True),
        CommandClass("hidden_text", "ask", "ask", "holds characters that a person does not see", True),
        CommandClass("dynamic", "ask", "ask", "runs or removes what only the shell will know"),
        CommandClass("dynamic_path", "allow", "ask", "writes to a path that only the shell will know"),
        CommandClass("inline_code", "ask", "ask", "runs code of another language that is not looked into"),
        CommandClass("remote_code", "ask", "ask", "runs what it gets from another machine"),
        CommandClass("fork_bomb", "deny", "deny", "starts itself without end"),
        CommandClass("environment", "allow", "ask", "sets a variable by which other programs run or load code"),
        CommandClass("privilege", "ask", "ask", "runs as another user, or outside its container"),
        CommandClass("bypass", "allow", "ask", "acts on terminals or on Termvisor itself, past its gate"),
        CommandClass("delete", "allow", "ask", "removes files that are named one by one"),
        CommandClass("destructive_delete", "ask", "ask", "removes whole folders, or whatever a pattern fits"),
        CommandClass("system_delete", "deny", "deny", "removes the root, a system folder or a home folder"),
        CommandClass("disk", "ask", "deny", "writes to a disk itself, or makes or removes file systems"),
        CommandClass("system_write", "allow", "ask", "writes to the system, or to a file that runs at login"),
        CommandClass("permissions", "ask", "ask", "changes rights, owners or accounts widely"),
        CommandClass("protected_path", "ask", "ask", "names a folder that is never written to"),
        CommandClass("credential_read", "ask", "ask", "reads keys, tokens or passwords"),
        CommandClass("network", "allow", "ask", "reaches another machine"),
        CommandClass("network_exfiltration", "ask", "ask", "sends files or output to another machine"),
        CommandClass("package_change", "allow", "ask", "installs or removes packages, or runs one it fetches"),
        CommandClass("service_change", "ask", "ask", "starts, stops or changes services, schedules or the machine"),
        CommandClass("process_kill", "allow", "ask", "ends processes"),
        CommandClass("history_rewrite", "ask", "ask", "rewrites or removes what version control keeps"),
        CommandClass("git_discard", "ask", "ask", "throws away changes that were not committed"),
        CommandClass("database_drop", "ask", "ask", "drops or empties what a database holds"),
        CommandClass("infrastructure", "ask", "ask", "removes or changes containers, clusters or cloud resources"),
    )
}
"""Each class once. `[commands]` in the policy gives it another answer."""

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
id = "two_for_production"
when = { session = ["prod*"] }
answer = "ask"
two_person = true

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


class PolicyKey(Struct, frozen=True, kw_only=True):
    """One key of the file as the reference shows it. ``path`` has ``[]`` behind tables that may stand many times."""

    path: str
    type: str
    default: str
    doc: str

    @property
    def is_table(self) -> bool:
        return self.type in ("table", "tables")

    @property
    def parent(self) -> str:
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2].removesuffix("[]")


def list_policy_keys() -> tuple[PolicyKey, ...]:
    """Every key, in the order of declaration; tables stand before what they hold."""
    return tuple(_iterate_keys(Policy, ""))


def _iterate_keys(table: type[Struct], prefix: str) -> Iterator[PolicyKey]:
    hints = get_type_hints(table, include_extras=True)
    for field in msgspec.structs.fields(table):
        hint = hints[field.name]
        inner, is_many = _find_table_type(hint)
        path = prefix + field.encode_name + ("[]" if is_many else "")
        if inner is None:
            default = "required" if field.required else _format_default(_get_default(field))
            yield PolicyKey(path=path, type=_describe_type(hint), default=default, doc=_get_description(hint))
        else:
            yield PolicyKey(
                path=path,
                type="tables" if is_many else "table",
                default="",
                doc=_get_description(hint) or _get_docstring(inner),
            )
            yield from _iterate_keys(inner, f"{path}.")


def _get_default(field: msgspec.structs.FieldInfo) -> object:
    value: object = field.default
    return field.default_factory() if value is msgspec.NODEFAULT else value


def _find_table_type(hint: object) -> tuple[type[Struct] | None, bool]:
    """The Struct behind a hint, and whether there may be many."""
    plain = _unwrap_annotated(hint)
    many = get_args(plain)[:1] if get_origin(plain) is tuple else ()
    inner = many[0] if many else plain
    if isinstance(inner, type) and issubclass(inner, Struct):
        return inner, bool(many)
    return None, False


def _unwrap_annotated(hint: object) -> object:
    return _unwrap_annotated(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def _get_description(hint: object) -> str:
    found = [item for item in get_args(hint)[1:] if isinstance(item, Meta)] if get_origin(hint) is Annotated else []
    return (found[-1].description or "") if found else ""


def _get_docstring(table: type[Struct]) -> str:
    return " ".join((table.__doc__ or "").split())


def _describe_type(hint: object) -> str:
    plain = _unwrap_annotated(hint)
    if get_origin(plain) is Literal:
        return " | ".join(str(value) for value in get_args(plain))
    if get_origin(plain) is tuple:
        return f"list of {_describe_type(get_args(plain)[0])}"
    if get_origin(plain) is dict:
        return f"table of {_describe_type(get_args(plain)[1])}"
    if isinstance(plain, type):
        return {"str": "text", "int": "number", "float": "number", "bool": "true | false"}.get(plain.__name__, "")
    return " | ".join(_describe_type(part) for part in get_args(plain) if part is not type(None))


def _format_default(value: object) -> str:
    return "unset" if value is None else msgspec.json.encode(value).decode()
