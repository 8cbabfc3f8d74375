"""The voices of a verdict. Each looks at a case and says what it has to say: reasons, or nothing."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct

from termvisor.model.action.action import Action, AnswerAgent, Notify, RunProgram, WriteFile, risk_of
from termvisor.model.action.policy import COMMAND_CLASSES, Policy
from termvisor.model.action.readonly_program import lookup_of
from termvisor.model.action.verdict import Answer, Reason
from termvisor.policy import quiet_hours as hours
from termvisor.policy.path_rules import fits_any, holds_never_written, never_written, resolve
from termvisor.policy.protected_panes import protected_by
from termvisor.policy.request import HookAnswer, Request, typed
from termvisor.policy.rule_match import fits
from termvisor.policy.shell import Examined, Finding
from termvisor.redaction import redact
from termvisor.regex import Matcher, compile_patterns

_LONGEST, _REDACTED = 80, 4096
_HOOKS: dict[str, Answer] = {"allow": "allow", "deny": "deny", "modify": "deny", "failed": "deny"}


class Case(Struct, frozen=True):
    """``examined`` is what the command line would do; None where there is none."""

    policy: Policy
    request: Request
    examined: Examined | None = None

    @property
    def is_human(self) -> bool:
        return self.request.actor.kind == "human"

    @property
    def is_a_plea(self) -> bool:
        """An agent asks a person about its own work: that is no caller who reaches into a pane."""
        return isinstance(self.request.action, AnswerAgent)

    @property
    def only_looks(self) -> bool:
        return risk_of(self.request.action) == "look"


def deny_list(case: Case) -> Iterator[Reason]:
    """Folders that are never written to, denied paths, denied patterns."""
    scope = case.request.scope
    reads, writes, removes = _paths(case)
    forbidden = [(path, never_written(path, scope)) for path in writes]
    forbidden += [(path, holds_never_written(path, scope)) for path in removes]
    for path, folder in dict.fromkeys(forbidden):
        if folder:
            yield Reason(
                source="deny_list", id="never_written", answer="deny", text=f"{shown(path)}: never written ({folder})"
            )
    for path in dict.fromkeys((*reads, *writes, *removes)):
        if glob := fits_any(path, case.policy.filesystem.deny, scope):
            yield Reason(source="deny_list", id="filesystem.deny", answer="deny", text=f"{shown(path)} fits {glob}")
    for pattern in _denied_patterns(case):
        yield Reason(
            source="deny_list", id="shell.deny_patterns", answer="deny", text=f"the pattern {pattern} was found"
        )


def hooks(case: Case) -> Iterator[Reason]:
    """Every hook that must be asked has answered; its allow lifts nothing."""
    answers = {answer.id: answer for answer in case.request.hooks}
    for hook in case.policy.hooks:
        if hook.runs == "after" or (hook.kinds and case.request.kind not in hook.kinds):
            continue
        answer = answers.pop(hook.id, HookAnswer(hook.id, "failed", "it was not asked"))
        yield _heard(answer)
    yield from map(_heard, answers.values())


def _heard(answer: HookAnswer) -> Reason:
    said = {"modify": "it wants another action", "failed": "it gave no answer"}.get(answer.decision, "")
    text = ": ".join(filter(None, (said, shown(answer.reason))))
    return Reason(source="hook", id=answer.id, answer=_HOOKS[answer.decision], text=text)


def rules(case: Case) -> Iterator[Reason]:
    for rule in case.policy.rules:
        if fits(rule, case.request, case.examined):
            yield Reason(source="rule", id=rule.id, answer=rule.answer, text=rule.text, two_person=rule.two_person)


def commands(case: Case) -> Iterator[Reason]:
    """One reason a class. A rule that allows a class by name stands in for its ask, not for its deny."""
    if case.examined is None:
        return
    lifted = {
        name
        for rule in case.policy.rules
        if rule.answer == "allow" and rule.when.command and fits(rule, case.request, case.examined)
        for name in rule.when.command
    }
    for name in dict.fromkeys(finding.name for finding in case.examined.findings):
        answer = _class_answer(case, name)
        may_lift = answer == "ask" and name in lifted and not COMMAND_CLASSES[name].is_fixed
        answer = "allow" if may_lift else answer
        yield Reason(source="command", id=name, answer=answer, text=_class_text(case.examined, name))


def _class_answer(case: Case, name: str) -> Answer:
    declared = COMMAND_CLASSES[name]
    usual = declared.human if case.is_human else declared.others
    if name != "network" or name in case.policy.commands:
        return case.policy.commands.get(name, usual)
    hosts = case.examined.hosts if case.examined else ()
    network = case.policy.network
    is_listed = bool(hosts) and all(any(fnmatchcase(host, glob) for glob in network.allow_hosts) for host in hosts)
    return "allow" if is_listed else network.mode or usual


def _class_text(examined: Examined, name: str) -> str:
    found: Finding = next(finding for finding in examined.findings if finding.name == name)
    return f"{COMMAND_CLASSES[name].text}: {shown(found.text)}"


def capabilities(case: Case) -> Iterator[Reason]:
    """The tables `shell` and `filesystem`, and whether a robot may type here at all."""
    policy, request = case.policy, case.request
    if case.examined is not None and policy.shell.mode:
        yield Reason(source="capability", id="shell.mode", answer=policy.shell.mode)
    if policy.network.mode and _reaches_out(request.action):
        yield Reason(source="capability", id="network.mode", answer=policy.network.mode)
    reads, writes, removes = _paths(case)
    yield from _listed("filesystem.read", reads, policy.filesystem.read, case)
    yield from _listed("filesystem.write", (*writes, *removes), policy.filesystem.write, case)
    if (
        case.examined
        and "dynamic_path" in case.examined.classes
        and (policy.filesystem.write or policy.filesystem.deny)
    ):
        yield Reason(source="capability", id="filesystem", answer="ask", text="only the shell will know the path")
    yield from _typing(case)


def _reaches_out(action: Action) -> bool:
    """Of what is no command line."""
    if isinstance(action, RunProgram):
        lookup = lookup_of(action.argv, action.cwd)
        return lookup is not None and lookup.reaches_out
    return isinstance(action, Notify) and action.way == "webhook"


def _listed(name: str, paths: tuple[str, ...], globs: tuple[str, ...], case: Case) -> Iterator[Reason]:
    """For a file that is written, a path on the list is allowed; elsewhere being on it says nothing."""
    outside = [path for path in paths if not fits_any(path, globs, case.request.scope)] if globs else []
    for path in outside:
        yield Reason(source="capability", id=name, answer="ask", text=f"{shown(path)} is not on the list")
    if globs and paths and not outside and isinstance(case.request.action, WriteFile):
        yield Reason(source="capability", id=name, answer="allow")


def _typing(case: Case) -> Iterator[Reason]:
    place, policy = case.request.place, case.policy
    if case.is_human or risk_of(case.request.action) != "input":
        return
    if place.is_human_typing and not policy.human_typing_override:
        yield Reason(
            source="capability", id="human_typing_override", answer="ask", text="a person is typing in this pane"
        )
    is_clear = place.is_proven or place.agent or place.activity in ("alt_screen", "command")
    if not is_clear and not policy.unproven_prompt:
        yield Reason(
            source="capability", id="unproven_prompt", answer="ask", text="no proof shows what this pane is doing"
        )


def protected(case: Case) -> Iterator[Reason]:
    pattern = "" if case.only_looks else protected_by(case.request.place, case.policy.protected)
    if pattern:
        answer: Answer = "ask" if case.is_human or case.is_a_plea else "deny"
        yield Reason(source="protected", id=pattern, answer=answer, text="this pane is protected")


def quiet_hours(case: Case) -> Iterator[Reason]:
    for one in () if case.only_looks else case.policy.quiet_hours:
        if case.request.actor.kind in one.actors and hours.is_within(one, case.request.local):
            yield Reason(source="hours", id=f"{one.since}-{one.until}", answer=one.answer, text="these are quiet hours")


def shown(text: str) -> str:
    """A short, printable, redacted form of what came from outside."""
    clean = "".join(sign if sign.isprintable() else "·" for sign in redact(text[:_REDACTED]))
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def _paths(case: Case) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    action = case.request.action
    if isinstance(action, WriteFile):
        return (), (resolve(action.path, case.request.scope),), ()
    if isinstance(action, AnswerAgent) and action.writes:
        return (), tuple(resolve(path, case.request.scope) for path in action.writes), ()
    found = case.examined
    return (found.reads, found.writes, found.removes) if found else ((), (), ())


def _denied_patterns(case: Case) -> list[str]:
    patterns = case.policy.shell.deny_patterns
    if case.examined is None or not patterns:
        return []
    lines = [typed(case.request) or "", *(line.replace("\n", " ") for line in case.examined.lines)]
    data = "\n".join(lines).encode(errors="replace")
    return sorted(_compiled(patterns).ids(data))


@lru_cache(4)
def _compiled(patterns: tuple[str, ...]) -> Matcher:
    return compile_patterns({pattern: pattern for pattern in patterns}, "re2")
