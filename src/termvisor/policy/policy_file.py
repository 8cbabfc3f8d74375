"""`policy.toml` becomes a Policy, or one error that names the line, the key and what was probably meant."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from termvisor.errors import ConfigError
from termvisor.model.action.action import RISKS
from termvisor.model.action.policy import COMMAND_CLASSES, Policy, keys
from termvisor.model.did_you_mean import nearest
from termvisor.policy.protected_panes import KINDS
from termvisor.policy.toml_position import Step, line_of
from termvisor.regex import compile_patterns

NAME = "policy.toml"
LARGEST = 1 << 18
"""Characters of a file that is read: nobody writes more by hand."""

_WHERE = re.compile(r"^(?P<what>.*) - at (?:`key` in )?`(?P<path>\$.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_KEYS = {key.path: key for key in keys()}
_TABLES: dict[str, tuple[str, ...]] = {}
for _key in _KEYS.values():
    _TABLES[_key.parent] = (*_TABLES.get(_key.parent, ()), _key.name)


def parse(text: str, origin: str = NAME) -> Policy:
    """The policy that a file's text states; an empty one states the defaults. Raises `ConfigError`."""
    if len(text) > LARGEST:
        raise ConfigError(f"{origin}: the file has more than {LARGEST} characters", hint=_HINT)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{origin}: {error}", hint=_HINT) from error
    except RecursionError as error:
        raise ConfigError(f"{origin}: the file is nested too deeply", hint=_HINT) from error
    complain = _Complaints(text, origin)
    _check_names(data, (), complain)
    try:
        policy = msgspec.convert(data, Policy)
    except msgspec.ValidationError as error:
        raise complain.of_type(str(error)) from error
    _check_meaning(policy, complain)
    return policy


_HINT = "The page docs/reference/policy.md lists every key."


class _Complaints:
    """Errors about one text."""

    def __init__(self, text: str, origin: str):
        self._text, self._origin = text, origin

    def at(self, path: Sequence[Step], what: str, hint: str = _HINT) -> ConfigError:
        line = line_of(self._text, path)
        where = f"{self._origin}, line {line}" if line else self._origin
        key = _spelled(path)
        return ConfigError(f"{where}: {key}: {what}", hint=hint, details={"key": key, "line": line})

    def of_type(self, message: str) -> ConfigError:
        """The message of a failed conversion, which has the path at its end."""
        match = _WHERE.match(message)
        steps = [name or int(number) for name, number in _STEP.findall(match["path"])] if match else []
        path = _general(steps)
        key = _KEYS.get(path) or _KEYS.get(path.removesuffix("[]"))
        hint = f"{key.doc} It is: {key.type}." if key and not key.is_table else _HINT
        return self.at(steps, (match["what"] if match else message).replace("Object", "Table"), hint)

    def unknown(self, path: Sequence[Step], name: str, known: Iterable[str], what: str) -> ConfigError:
        near = nearest(name, known)
        hint = f"Did you mean {' or '.join(near)}?" if near else _HINT
        return self.at(path, f"there is no {what} {name!r}", hint)


def _spelled(path: Sequence[Step]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".") or "the file"


def _general(path: Sequence[Step]) -> str:
    """The path as the table of keys has it."""
    return re.sub(r"\[\d+\]", "[]", _spelled(path)) if path else ""


def _check_names(value: object, path: tuple[Step, ...], complain: _Complaints) -> None:
    """Every key of every table is one that we know."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            _check_names(item, (*path, at), complain)
        return
    known = _TABLES.get(_general(path))
    if not isinstance(value, dict) or known is None:
        return
    for name, inner in value.items():
        if name not in known:
            raise complain.unknown((*path, name), name, known, "key")
        _check_names(inner, (*path, name), complain)


def _check_meaning(policy: Policy, complain: _Complaints) -> None:
    """What the types cannot say."""
    for name, answer in policy.commands.items():
        _check_word(name, COMMAND_CLASSES, ("commands", name), complain)
        if answer == "allow" and COMMAND_CLASSES[name].is_fixed:
            raise complain.at(("commands", name), "it is asked about at least", "Say ask or deny.")
    for path, kind in _kinds(policy):
        _check_word(kind, RISKS, path, complain, "kind of action")
    for at, rule in enumerate(policy.rules):
        for number, name in enumerate(rule.when.command):
            _check_word(name, COMMAND_CLASSES, ("rule", at, "when", "command", number), complain)
        if rule.two_person and rule.answer != "ask":
            raise complain.at(("rule", at, "two_person"), f"the answer is {rule.answer}, so nobody is asked")
    _check_unique([rule.id for rule in policy.rules], "rule", complain)
    _check_unique([hook.id for hook in policy.hooks], "hook", complain)
    for at, pattern in enumerate(policy.protected):
        head = pattern.partition(":")[0]
        if not pattern.isdigit() and ":" not in pattern:
            raise complain.at(("protected", at), f"{pattern!r} is neither a number nor a glob behind `session:` or so")
        if not pattern.isdigit():
            _check_word(head, KINDS, ("protected", at), complain, "kind of reference")
    _check_patterns(policy, complain)


def _check_word(
    name: str, known: Iterable[str], path: tuple[Step, ...], complain: _Complaints, what: str = "command class"
) -> None:
    names = tuple(known)
    if name not in names:
        raise complain.unknown(path, name, names, what)


def _kinds(policy: Policy) -> Iterator[tuple[tuple[Step, ...], str]]:
    for at, rule in enumerate(policy.rules):
        yield from ((("rule", at, "when", "kind", number), kind) for number, kind in enumerate(rule.when.kind))
    for at, hook in enumerate(policy.hooks):
        yield from ((("hook", at, "kinds", number), kind) for number, kind in enumerate(hook.kinds))


def _check_unique(names: list[str], table: str, complain: _Complaints) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise complain.at((table, at, "id"), f"{name!r} is the id of an earlier {table}")


def _check_patterns(policy: Policy, complain: _Complaints) -> None:
    for at, pattern in enumerate(policy.shell.deny_patterns):
        try:
            compile_patterns({pattern: pattern}, "re2")
        except ConfigError as error:
            raise complain.at(("shell", "deny_patterns", at), error.message) from error
