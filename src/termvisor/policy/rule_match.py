"""Match policy rules against requests: all conditions that a rule sets must match."""

from fnmatch import fnmatchcase

from termvisor.model.action.action import assess_risk
from termvisor.model.action.policy import PolicyRule
from termvisor.policy.request import PolicyRequest
from termvisor.policy.shell import CommandAnalysis


def matches_rule(rule: PolicyRule, request: PolicyRequest, analysis: CommandAnalysis | None) -> bool:
    return _matches_actor(rule, request) and _matches_pane(rule, request) and _matches_command(rule, analysis)


def _matches_actor(rule: PolicyRule, request: PolicyRequest) -> bool:
    when, actor = rule.when, request.actor
    return (
        (not when.actor or actor.kind in when.actor)
        and _matches_any_glob(when.name, actor.name)
        and (not when.kind or request.kind in when.kind)
        and (not when.risk or assess_risk(request.action) in when.risk)
    )


def _matches_pane(rule: PolicyRule, request: PolicyRequest) -> bool:
    when, place = rule.when, request.place
    pairs = (
        (when.target, place.target),
        (when.session, place.session),
        (when.window, place.window),
        (when.title, place.title),
        (when.agent, place.agent),
        (when.foreground, place.foreground),
    )
    return all(_matches_any_glob(globs, text) for globs, text in pairs) and (not when.pane or request.pane in when.pane)


def _matches_command(rule: PolicyRule, analysis: CommandAnalysis | None) -> bool:
    """Match programs and classes: an allow rule must cover all of the command line, other rules any part of it."""
    when = rule.when
    if not when.program and not when.command:
        return True
    if analysis is None:
        return False
    programs = [_matches_any_glob(when.program, name) for name in analysis.programs]
    classes = [name in when.command for name in analysis.classes]
    return _has_enough_matches(rule, when.program, programs) and _has_enough_matches(rule, when.command, classes)


def _has_enough_matches(rule: PolicyRule, condition: tuple[str, ...], matches: list[bool]) -> bool:
    if not condition:
        return True
    return bool(matches) and (all(matches) if rule.answer == "allow" else any(matches))


def _matches_any_glob(globs: tuple[str, ...], text: str) -> bool:
    """Return True if a glob matches, or if there are none."""
    return not globs or any(fnmatchcase(text, glob) for glob in globs)
