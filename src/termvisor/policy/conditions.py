"""Match the conditions of a policy against a request: rules, protected panes and quiet hours."""

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from termvisor.model.action.action import assess_risk
from termvisor.model.action.policy import WEEKDAYS, PolicyRule, QuietHours
from termvisor.policy.request import LocalTime, PaneContext, PolicyRequest

if TYPE_CHECKING:  # the policy file parser imports this module, but does not need the command analyzers
    from termvisor.policy.shell import CommandAnalysis


# The pane attribute that a protected pattern such as `session:prod*` matches.
PROTECTED_NAME_KINDS = ("session", "window", "title", "target", "agent", "foreground", "pane")


def matches_rule(rule: PolicyRule, request: PolicyRequest, analysis: "CommandAnalysis | None") -> bool:
    """Return True if all conditions set in the rule hold."""
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
    names = ("target", "session", "window", "title", "agent", "foreground")
    is_named = all(_matches_any_glob(getattr(when, name), getattr(place, name)) for name in names)
    return is_named and (not when.pane or request.pane in when.pane)


def _matches_command(rule: PolicyRule, analysis: "CommandAnalysis | None") -> bool:
    """Match programs and classes. An allow rule must cover the whole command line, other rules any part of it."""
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
