"""`policy.toml` becomes a Policy, or one error that names the line, the key and what was probably meant."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from termvisor.errors import ConfigError
from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.policy import COMMAND_CLASSES, Policy, list_policy_keys
from termvisor.model.did_you_mean import find_close_matches
from termvisor.policy.protected_panes import NAME_GETTERS_BY_KIND
from termvisor.policy.toml_position import PathStep, find_key_line
from termvisor.regex import compile_patterns

POLICY_FILE_NAME = "policy.toml"
MAX_POLICY_CHARS = 1 << 18
"""Characters of a file that is read: nobody writes more by hand."""

_ERROR_LOCATION = re.compile(r"^(?P<what>.*) - at (?:`key` in )?`(?P<path>\$.*)`$", re.DOTALL)
_PATH_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_KEY_BY_PATH = {key.path: key for key in list_policy_keys()}
_KEY_NAMES_BY_TABLE: dict[str, tuple[str, ...]] = {}
for _key in _KEY_BY_PATH.values():
    _KEY_NAMES_BY_TABLE[_key.parent] = (*_KEY_NAMES_BY_TABLE.get(_key.parent, ()), _key.name)


def parse_policy(text: str, origin: str = POLICY_FILE_NAME) -> Policy:
    """The policy that a file's text states; an empty one states the defaults. Raises `ConfigError`."""
    if len(text) > MAX_POLICY_CHARS:
        raise ConfigError(f"{origin}: the file has more than {MAX_POLICY_CHARS} characters", hint=_HINT)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{origin}: {error}", hint=_HINT) from error
    except RecursionError as error:
        raise ConfigError(f"{origin}: the file is nested too deeply", hint=_HINT) from error
    complain = _PolicyErrorBuilder(text, origin)
    _check_names(data, (), complain)
    try:
        policy = msgspec.convert(data, Policy)
    except msgspec.ValidationError as error:
        raise complain.build_type_error(str(error)) from error
    _check_meaning(policy, complain)
    return policy


_HINT = "The page docs/reference/policy.md lists every key."


class _PolicyErrorBuilder:
    """Errors about one text."""

    def __init__(self, text: str, origin: str):
        self._text, self._origin = text, origin

    def build_error(self, path: Sequence[PathStep], what: str, hint: str = _HINT) -> ConfigError:
        line = find_key_line(self._text, path)
        where = f"{self._origin}, line {line}" if line else self._origin
        key = _format_path(path)
        return ConfigError(f"{where}: {key}: {what}", hint=hint, details={"key": key, "line": line})

    def build_type_error(self, message: str) -> ConfigError:
        """The message of a failed conversion, which has the path at its end."""
        match = _ERROR_LOCATION.match(message)
        steps = [name or int(number) for name, number in _PATH_STEP.findall(match["path"])] if match else []
        path = _generalize_path(steps)
        key = _KEY_BY_PATH.get(path) or _KEY_BY_PATH.get(path.removesuffix("[]"))
        hint = f"{key.doc} It is: {key.type}." if key and not key.is_table else _HINT
        return self.build_error(steps, (match["what"] if match else message).replace("Object", "Table"), hint)

    def build_unknown_name_error(
        self, path: Sequence[PathStep], name: str, known: Iterable[str], what: str
    ) -> ConfigError:
        near = find_close_matches(name, known)
        hint = f"Did you mean {' or '.join(near)}?" if near else _HINT
        return self.build_error(path, f"there is no {what} {name!r}", hint)


def _format_path(path: Sequence[PathStep]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".") or "the file"


def _generalize_path(path: Sequence[PathStep]) -> str:
    """The path as the table of keys has it."""
    return re.sub(r"\[\d+\]", "[]", _format_path(path)) if path else ""


def _check_names(value: object, path: tuple[PathStep, ...], errors: _PolicyErrorBuilder) -> None:
    """Every key of every table is one that we know."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            _check_names(item, (*path, at), errors)
        return
    known = _KEY_NAMES_BY_TABLE.get(_generalize_path(path))
    if not isinstance(value, dict) or known is None:
        return
    for name, inner in value.items():
        if name not in known:
            raise errors.build_unknown_name_error((*path, name), name, known, "key")
        _check_names(inner, (*path, name), errors)


def _check_meaning(policy: Policy, errors: _PolicyErrorBuilder) -> None:
    """What the types cannot say."""
    for name, answer in policy.commands.items():
        _check_known_name(name, COMMAND_CLASSES, ("commands", name), errors)
        if answer == "allow" and COMMAND_CLASSES[name].is_fixed:
            raise errors.build_error(("commands", name), "it is asked about at least", "Say ask or deny.")
    for path, kind in _iterate_action_kinds(policy):
        _check_known_name(kind, RISK_BY_ACTION_KIND, path, errors, "kind of action")
    for at, rule in enumerate(policy.rules):
        for number, name in enumerate(rule.when.command):
            _check_known_name(name, COMMAND_CLASSES, ("rule", at, "when", "command", number), errors)
        if rule.two_person and rule.answer != "ask":
            raise errors.build_error(("rule", at, "two_person"), f"the answer is {rule.answer}, so nobody is asked")
    _check_unique([rule.id for rule in policy.rules], "rule", errors)
    _check_unique([hook.id for hook in policy.hooks], "hook", errors)
    for at, pattern in enumerate(policy.protected):
        head = pattern.partition(":")[0]
        if not pattern.isdigit() and ":" not in pattern:
            raise errors.build_error(
                ("protected", at), f"{pattern!r} is neither a number nor a glob behind `session:` or so"
            )
        if not pattern.isdigit():
            _check_known_name(head, NAME_GETTERS_BY_KIND, ("protected", at), errors, "kind of reference")
    _check_patterns(policy, errors)


def _check_known_name(
    name: str,
    known: Iterable[str],
    path: tuple[PathStep, ...],
    errors: _PolicyErrorBuilder,
    what: str = "command class",
) -> None:
    names = tuple(known)
    if name not in names:
        raise errors.build_unknown_name_error(path, name, names, what)


def _iterate_action_kinds(policy: Policy) -> Iterator[tuple[tuple[PathStep, ...], str]]:
    for at, rule in enumerate(policy.rules):
        yield from ((("rule", at, "when", "kind", number), kind) for number, kind in enumerate(rule.when.kind))
    for at, hook in enumerate(policy.hooks):
        yield from ((("hook", at, "kinds", number), kind) for number, kind in enumerate(hook.kinds))


def _check_unique(names: list[str], table: str, errors: _PolicyErrorBuilder) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise errors.build_error((table, at, "id"), f"{name!r} is the id of an earlier {table}")


def _check_patterns(policy: Policy, errors: _PolicyErrorBuilder) -> None:
    for at, pattern in enumerate(policy.shell.deny_patterns):
        try:
            compile_patterns({pattern: pattern}, "re2")
        except ConfigError as error:
            raise errors.build_error(("shell", "deny_patterns", at), error.message) from error
