"""Whether a rule speaks of a request: all keys that it sets fit."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from termvisor.model.action.action import risk_of
from termvisor.model.action.policy import Rule
from termvisor.policy.request import Request
from termvisor.policy.shell import Examined


def fits(rule: Rule, request: Request, examined: Examined | None) -> bool:
    return _fits_actor(rule, request) and _fits_place(rule, request) and _fits_command(rule, examined)


def _fits_actor(rule: Rule, request: Request) -> bool:
    when, actor = rule.when, request.actor
    return (
        (not when.actor or actor.kind in when.actor)
        and _globs(when.name, actor.name)
        and (not when.kind or request.kind in when.kind)
        and (not when.risk or risk_of(request.action) in when.risk)
    )


def _fits_place(rule: Rule, request: Request) -> bool:
    when, place = rule.when, request.place
    pairs = (
        (when.target, place.target),
        (when.session, place.session),
        (when.window, place.window),
        (when.title, place.title),
        (when.agent, place.agent),
        (when.foreground, place.foreground),
    )
    return all(_globs(globs, text) for globs, text in pairs) and (not when.pane or request.pane in when.pane)


def _fits_command(rule: Rule, examined: Examined | None) -> bool:
    """To allow, everything in the command line must be meant; to ask or deny, one thing is enough."""
    when = rule.when
    if not when.program and not when.command:
        return True
    if examined is None:
        return False
    programs = [_globs(when.program, name) for name in examined.programs]
    classes = [name in when.command for name in examined.classes]
    return _enough(rule, when.program, programs) and _enough(rule, when.command, classes)


def _enough(rule: Rule, wanted: tuple[str, ...], found: list[bool]) -> bool:
    if not wanted:
        return True
    return bool(found) and (all(found) if rule.answer == "allow" else any(found))


def _globs(globs: Iterable[str], text: str) -> bool:
    """No glob means that anything fits."""
    wanted = tuple(globs)
    return not wanted or any(fnmatchcase(text, glob) for glob in wanted)
