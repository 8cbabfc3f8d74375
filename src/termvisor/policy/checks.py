"""Policy checks. Each applies one part of the policy to a request and yields its reasons, if any.

Below them, the conditions that they match: rules, protected panes and quiet hours.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct

from termvisor.model.action.action import (
    Action,
    AnswerAgent,
    Notify,
    RestoreData,
    RunProgram,
    SendJobInput,
    WriteFile,
    assess_risk,
)
from termvisor.model.action.approval import PolicyAnswer, VerdictReason
from termvisor.model.action.policy import COMMAND_CLASSES, WEEKDAYS, Policy, PolicyRule, QuietHours
from termvisor.model.action.policy_hook import PaneContext
from termvisor.model.action.readonly_program import find_readonly_program
from termvisor.policy.path_rules import (
    find_matching_glob,
    find_never_written_folder,
    find_never_written_inside,
    resolve_path,
)
from termvisor.policy.request import (
    PROTECTED_NAME_KINDS,
    HookAnswer,
    LocalTime,
    PolicyRequest,
    get_command_text,
)
from termvisor.policy.shell import CommandAnalysis
from termvisor.redaction import redact
from termvisor.regex import PatternMatcher, compile_patterns

_TWO_PERSON_TEXT = "two people must approve this, and the daemon serves only one user"
# Also limits redaction, so that a command of a megabyte does not delay the verdict.
_MAX_SHOWN_CHARS, _MAX_REDACTED_CHARS = 80, 4096


class PolicyCase(Struct, frozen=True):
    """A request and its policy. ``analysis`` describes the effects of its command line; None without one."""

    policy: Policy
    request: PolicyRequest
    analysis: CommandAnalysis | None = None

    @property
    def is_human(self) -> bool:
        return self.request.actor.kind == "human"

    @property
    def is_permission_request(self) -> bool:
        """Return True for an agent's own permission request, which does not act on a pane from outside."""
        return isinstance(self.request.action, AnswerAgent)

    @property
    def is_read_only(self) -> bool:
        return assess_risk(self.request.action) == "look"


def check_deny_list(case: PolicyCase) -> Iterator[VerdictReason]:
    """Deny writes to never-written folders and denied paths, commands that match a denied pattern, and a program that
    replaces the audit log."""
    if isinstance(case.request.action, RestoreData) and not case.is_human:
        text = "only a person may replace the database: it holds the audit log"
        yield VerdictReason("deny_list", "restore_data", "deny", text)
    scope = case.request.scope
    reads, writes, removes = _collect_paths(case)
    forbidden = [("writing to", path, find_never_written_folder(path, scope)) for path in writes]
    forbidden += [("removing or moving", path, find_never_written_inside(path, scope)) for path in removes]
    for verb, path, folder in dict.fromkeys(forbidden):
        if folder:
            text = f"{verb} {format_untrusted_text(path)} is never allowed ({folder} is protected)"
            yield VerdictReason("deny_list", "never_written", "deny", text)
    for path in dict.fromkeys((*reads, *writes, *removes)):
        if glob := find_matching_glob(path, case.policy.filesystem.deny, scope):
            yield VerdictReason(
                "deny_list", "filesystem.deny", "deny", f"{format_untrusted_text(path)} is denied: it matches {glob}"
            )
    for pattern in _find_denied_patterns(case):
        yield VerdictReason("deny_list", "shell.deny_patterns", "deny", f"the command matches {pattern}")


def check_hooks(case: PolicyCase) -> Iterator[VerdictReason]:
    """Yield a reason for each hook answer. A hook that was not run counts as a denial; allow overrides nothing."""
    answers = {answer.id: answer for answer in case.request.hooks}
    for hook in case.policy.hooks:
        if hook.runs == "after" or (hook.kinds and case.request.kind not in hook.kinds):
            continue
        # A configured hook without an answer was not run, which must not count as consent.
        answer = answers.pop(hook.id, HookAnswer(hook.id, "failed", "the hook was not run"))
        yield _build_hook_reason(answer)
    yield from map(_build_hook_reason, answers.values())


def _build_hook_reason(answer: HookAnswer) -> VerdictReason:
    prefix = {"modify": "the hook wants another action", "failed": "the hook gave no answer"}.get(answer.decision, "")
    text = ": ".join(filter(None, (prefix, format_untrusted_text(answer.reason))))
    return VerdictReason("hook", answer.id, "allow" if answer.decision == "allow" else "deny", text)


def check_rules(case: PolicyCase) -> Iterator[VerdictReason]:
    for rule in case.policy.rules:
        if matches_rule(rule, case.request, case.analysis):
            # One user has one identity here, so a request for two approvals could only expire.
            reason = VerdictReason("rule", rule.id, rule.answer, rule.text)
            yield VerdictReason("rule", rule.id, "deny", _TWO_PERSON_TEXT) if rule.two_person else reason


def check_command_classes(case: PolicyCase) -> Iterator[VerdictReason]:
    """Yield a reason for each command class. A rule that allows a class by name overrides its ask, not its deny.

    A rule that allows programs by name also overrides the ask of their unknown effects.
    """
    if case.analysis is None:
        return
    allowed_classes = {
        name
        for rule in case.policy.rules
        if rule.answer == "allow" and matches_rule(rule, case.request, case.analysis)
        for name in (*rule.when.command, *(("unknown_effect",) if rule.when.program else ()))
    }
    first_texts = {finding.name: finding.text for finding in reversed(case.analysis.findings)}
    for name in dict.fromkeys(finding.name for finding in case.analysis.findings):
        answer = _find_class_answer(case, name)
        if answer == "ask" and name in allowed_classes and not COMMAND_CLASSES[name].is_fixed:
            answer = "allow"
        text = f"{COMMAND_CLASSES[name].text}: {format_untrusted_text(first_texts[name])}"
        yield VerdictReason("command", name, answer, text)


def _find_class_answer(case: PolicyCase, name: str) -> PolicyAnswer:
    command_class = COMMAND_CLASSES[name]
    if name == "unknown_effect" and _is_readonly_program(case.request.action):
        return "allow"
    default = command_class.human if case.is_human else command_class.others
    if name != "network" or name in case.policy.commands:
        return case.policy.commands.get(name, default)
    hosts = case.analysis.hosts if case.analysis else ()
    network = case.policy.network
    is_listed = bool(hosts) and all(any(fnmatchcase(host, glob) for glob in network.allow_hosts) for host in hosts)
    return "allow" if is_listed else network.mode or default


def check_capabilities(case: PolicyCase) -> Iterator[VerdictReason]:
    """Apply the `shell`, `network` and `filesystem` tables, and the rules for typing into a pane."""
    policy, request = case.policy, case.request
    if case.analysis is not None and policy.shell.mode:
        yield VerdictReason("capability", "shell.mode", policy.shell.mode, "shell commands (shell.mode)")
    if policy.network.mode and _uses_network(request.action):
        yield VerdictReason("capability", "network.mode", policy.network.mode, "use of the network (network.mode)")
    reads, writes, removes = _collect_paths(case)
    yield from _check_path_list("filesystem.read", reads, policy.filesystem.read, case)
    yield from _check_path_list("filesystem.write", (*writes, *removes), policy.filesystem.write, case)
    if (
        case.analysis
        and "dynamic_path" in case.analysis.classes
        and (policy.filesystem.write or policy.filesystem.deny)
    ):
        yield VerdictReason("capability", "filesystem", "ask", "the path is known only at run time")
    yield from _check_typing(case)


def _is_readonly_program(action: Action) -> bool:
    return isinstance(action, RunProgram) and find_readonly_program(action.argv, action.cwd) is not None


def _uses_network(action: Action) -> bool:
    """Return True if the action reaches other machines although it has no command line."""
    if isinstance(action, RunProgram):
        program = find_readonly_program(action.argv, action.cwd)
        return program is not None and program.uses_network
    return isinstance(action, Notify) and action.way == "webhook"


def _check_path_list(
    name: str, paths: tuple[str, ...], globs: tuple[str, ...], case: PolicyCase
) -> Iterator[VerdictReason]:
    """Require approval for paths outside the list. A listed path is a reason to allow only `write_file`."""
    mode = case.policy.filesystem.mode
    is_checked = bool(globs) or mode is not None
    outside = [path for path in paths if not find_matching_glob(path, globs, case.request.scope)] if is_checked else []
    # An allow here would replace the default for the whole action, not only for its paths.
    for path in outside if mode != "allow" else ():
        yield VerdictReason("capability", name, mode or "ask", f"{format_untrusted_text(path)} is not in the list")
    if globs and paths and not outside and isinstance(case.request.action, WriteFile):
        yield VerdictReason("capability", name, "allow")


def _check_typing(case: PolicyCase) -> Iterator[VerdictReason]:
    place, policy = case.request.place, case.policy
    if case.is_human or assess_risk(case.request.action) != "input":
        return
    if place.is_human_typing and not policy.human_typing_override:
        yield VerdictReason("capability", "human_typing_override", "ask", "a person is typing in this pane")
    # Marks of a running command prove nothing about a shell that is in front meanwhile, and any program can print them.
    is_other_shell = place.is_shell and place.activity != "prompt"
    is_known = not is_other_shell and (place.is_proven or place.activity in ("alt_screen", "command"))
    # The kernel proves what a job does with its input, right before it is typed.
    is_clear = is_known or place.agent or isinstance(case.request.action, SendJobInput)
    if not is_clear and not policy.unproven_prompt:
        yield VerdictReason("capability", "unproven_prompt", "ask", "it is not proven what this pane is doing")


def check_protected_panes(case: PolicyCase) -> Iterator[VerdictReason]:
    pattern = "" if case.is_read_only else find_protecting_pattern(case.request.place, case.policy.protected)
    if pattern:
        answer: PolicyAnswer = "ask" if case.is_human or case.is_permission_request else "deny"
        yield VerdictReason("protected", pattern, answer, "this pane is protected")


def check_quiet_hours(case: PolicyCase) -> Iterator[VerdictReason]:
    for hours in () if case.is_read_only else case.policy.quiet_hours:
        if case.request.actor.kind in hours.actors and is_quiet_time(hours, case.request.local):
            yield VerdictReason("hours", f"{hours.since}-{hours.until}", hours.answer, "within quiet hours")


def format_untrusted_text(text: str) -> str:
    """Return a short, printable, redacted form of text from a command or hook."""
    clean = "".join(sign if sign.isprintable() else "·" for sign in redact(text[:_MAX_REDACTED_CHARS]))
    return clean if len(clean) <= _MAX_SHOWN_CHARS else clean[: _MAX_SHOWN_CHARS - 1] + "…"


def _collect_paths(case: PolicyCase) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    action = case.request.action
    if isinstance(action, WriteFile):
        return (), (resolve_path(action.path, case.request.scope),), ()
    if isinstance(action, AnswerAgent) and action.writes:
        return (), tuple(resolve_path(path, case.request.scope) for path in action.writes), ()
    analysis = case.analysis
    return (analysis.reads, analysis.writes, analysis.removes) if analysis else ((), (), ())


def _find_denied_patterns(case: PolicyCase) -> list[str]:
    patterns = case.policy.shell.deny_patterns
    if case.analysis is None or not patterns:
        return []
    lines = [get_command_text(case.request) or "", *(line.replace("\n", " ") for line in case.analysis.lines)]
    data = "\n".join(lines).encode(errors="replace")
    return sorted(_compile_deny_patterns(patterns).find_ids(data))


@lru_cache(4)
def _compile_deny_patterns(patterns: tuple[str, ...]) -> PatternMatcher:
    # re2 runs in linear time, which matters because the text comes from an untrusted program.
    return compile_patterns({pattern: pattern for pattern in patterns}, "re2")


def matches_rule(rule: PolicyRule, request: PolicyRequest, analysis: CommandAnalysis | None) -> bool:
    """Return True if all conditions set in the rule hold."""
    return _matches_actor(rule, request) and _matches_pane(rule, request) and _matches_command(rule, analysis)


def _matches_actor(rule: PolicyRule, request: PolicyRequest) -> bool:
    when, actor = rule.when, request.actor
    return (
        (not when.actor or actor.kind in when.actor)
        and (not when.face or actor.face in when.face)
        and _matches_any_glob(when.name, actor.name)
        and (not when.kind or request.kind in when.kind)
        and (not when.risk or assess_risk(request.action) in when.risk)
    )


def _matches_pane(rule: PolicyRule, request: PolicyRequest) -> bool:
    when, place = rule.when, request.place
    names = ("target", "session", "window", "title", "agent", "foreground")
    is_named = all(_matches_any_glob(getattr(when, name), getattr(place, name)) for name in names)
    return is_named and (not when.pane or request.pane in when.pane)


def _matches_command(rule: PolicyRule, analysis: CommandAnalysis | None) -> bool:
    """Match programs and classes. An allow rule must cover the whole command line, other rules any part of it."""
    when = rule.when
    if not when.program and not when.command:
        return True
    if analysis is None:
        return False
    programs = [_matches_any_glob(when.program, name) for name in analysis.programs]
    # Naming a program is consent to effects that only the program itself knows.
    consented = {"unknown_effect"} if when.program and rule.answer == "allow" else set()
    classes = [name in when.command for name in analysis.classes - consented]
    return _has_enough_matches(rule, when.program, programs) and _has_enough_matches(rule, when.command, classes)


def _has_enough_matches(rule: PolicyRule, condition: tuple[str, ...], matches: list[bool]) -> bool:
    if not condition:
        return True
    return bool(matches) and (all(matches) if rule.answer == "allow" else any(matches))


def _matches_any_glob(globs: tuple[str, ...], text: str) -> bool:
    """Return True if one of the globs matches, or if there are none."""
    return not globs or any(fnmatchcase(text, glob) for glob in globs)


def find_protecting_pattern(pane: PaneContext, patterns: tuple[str, ...]) -> str:
    """Return the first pattern that matches the pane, or an empty string."""
    return next((pattern for pattern in patterns if _matches_pattern(pane, pattern)), "")


def _matches_pattern(pane: PaneContext, pattern: str) -> bool:
    kind, _, glob = pattern.partition(":")
    if kind not in PROTECTED_NAME_KINDS:
        return pane.pane is not None and pattern == str(pane.pane)
    path = f"{pane.target}/{pane.session}/{pane.window}/{pane.pane_index}"
    return fnmatchcase(path if kind == "pane" else getattr(pane, kind), glob)


def is_quiet_time(hours: QuietHours, local: LocalTime) -> bool:
    """Return True within the quiet hours, which start on the listed days. Equal start and end mean a whole day."""
    start, end = _parse_minutes(hours.since), _parse_minutes(hours.until)
    today = WEEKDAYS[local.weekday % 7] in hours.days
    yesterday = WEEKDAYS[(local.weekday - 1) % 7] in hours.days
    if start < end:
        return today and start <= local.minute < end
    return (today and local.minute >= start) or (yesterday and local.minute < end)


def _parse_minutes(text: str) -> int:
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)
