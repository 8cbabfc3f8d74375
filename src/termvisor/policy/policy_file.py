"""Parse `policy.toml` into a Policy. Errors include the line, the key and a suggestion."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from termvisor.errors import ConfigError
from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.policy import COMMAND_CLASSES, Policy
from termvisor.model.action.policy_keys import list_policy_keys
from termvisor.model.did_you_mean import find_close_matches
from termvisor.policy.request import PROTECTED_NAME_KINDS
from termvisor.regex import compile_patterns

PathStep = str | int
POLICY_FILE_NAME = "policy.toml"
# Tables that may also be written below `approval`.
_CATEGORY_TABLES = ("shell", "filesystem", "network", "ui", "vision", "audio")
# Larger files are rejected, because a policy is written by hand.
MAX_POLICY_CHARS = 1 << 18

_ERROR_LOCATION = re.compile(r"^(?P<what>.*) - at (?:`key` in )?`(?P<path>\$.*)`$", re.DOTALL)
_PATH_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_KEY_BY_PATH = {key.path: key for key in list_policy_keys()}
_KEY_NAMES_BY_TABLE: dict[str, tuple[str, ...]] = {}
for _key in _KEY_BY_PATH.values():
    _KEY_NAMES_BY_TABLE[_key.parent] = (*_KEY_NAMES_BY_TABLE.get(_key.parent, ()), _key.name)


def parse_policy(text: str, origin: str = POLICY_FILE_NAME) -> Policy:
    """Parse the text of a policy file. An empty text yields the defaults. Raises ConfigError."""
    if len(text) > MAX_POLICY_CHARS:
        raise ConfigError(f"{origin}: the file has more than {MAX_POLICY_CHARS} characters", hint=_HINT)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{origin}: {error}", hint=_HINT) from error
    # tomllib parses nested values recursively.
    except RecursionError as error:
        raise ConfigError(f"{origin}: the file is nested too deeply", hint=_HINT) from error
    errors = _PolicyErrorBuilder(text, origin)
    _move_category_tables(data, errors)
    # Check names before types, because similar names help more with a misspelled key than a type error.
    _check_names(data, (), errors)
    try:
        policy = msgspec.convert(data, Policy)
    except msgspec.ValidationError as error:
        raise errors.build_type_error(str(error)) from error
    _check_meaning(policy, errors)
    return policy


def _move_category_tables(data: dict[str, Any], errors: "_PolicyErrorBuilder") -> None:
    """Move `[approval.shell]` and the like to the top level, where they are declared."""
    approval = data.get("approval")
    if not isinstance(approval, dict):
        return
    for name in _CATEGORY_TABLES:
        if name in approval and name in data:
            raise errors.build_error((name,), f"is also written as [approval.{name}]", "Keep one of the two tables.")
        if name in approval:
            data[name] = approval.pop(name)


def check_policy_file(path: str) -> None:
    """Read and parse a policy file. Runs in the worker process of `visor policy test`. Raises ConfigError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="Check the path and its permissions.") from error
    parse_policy(text, path)


_HINT = "docs/reference/policy.md lists every key."


class _PolicyErrorBuilder:
    """Builds errors that include the line of the key in the policy text."""

    def __init__(self, text: str, origin: str):
        self._text, self._origin = text, origin

    def build_error(self, path: Sequence[PathStep], what: str, hint: str = _HINT) -> ConfigError:
        line = find_key_line(self._text, path) or find_key_line(self._text, ("approval", *path))
        where = f"{self._origin}, line {line}" if line else self._origin
        key = _format_path(path)
        return ConfigError(f"{where}: {key}: {what}", hint=hint, details={"key": key, "line": line})

    def build_type_error(self, message: str) -> ConfigError:
        """Build an error from a msgspec message, which ends with the path of the value."""
        match = _ERROR_LOCATION.match(message)
        steps = [name or int(number) for name, number in _PATH_STEP.findall(match["path"])] if match else []
        path = _generalize_path(steps)
        key = _KEY_BY_PATH.get(path) or _KEY_BY_PATH.get(path.removesuffix("[]"))
        hint = f"{key.doc} Type: {key.type}." if key and not key.is_table else _HINT
        return self.build_error(steps, (match["what"] if match else message).replace("Object", "Table"), hint)

    def build_unknown_name_error(
        self, path: Sequence[PathStep], name: str, known: Iterable[str], what: str
    ) -> ConfigError:
        matches = find_close_matches(name, known)
        hint = f"Did you mean {' or '.join(matches)}?" if matches else _HINT
        return self.build_error(path, f"unknown {what} {name!r}", hint)


def _format_path(path: Sequence[PathStep]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".") or "the file"


def _generalize_path(path: Sequence[PathStep]) -> str:
    """Replace list indexes with `[]`, as in the table of keys."""
    return re.sub(r"\[\d+\]", "[]", _format_path(path)) if path else ""


def _check_names(value: object, path: tuple[PathStep, ...], errors: _PolicyErrorBuilder) -> None:
    """Raise ConfigError for the first unknown key in any table."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            _check_names(item, (*path, index), errors)
        return
    known = _KEY_NAMES_BY_TABLE.get(_generalize_path(path))
    if not isinstance(value, dict) or known is None:
        return
    for name, inner in value.items():
        if name not in known:
            raise errors.build_unknown_name_error((*path, name), name, known, "key")
        _check_names(inner, (*path, name), errors)


def _check_meaning(policy: Policy, errors: _PolicyErrorBuilder) -> None:
    """Check constraints that the types cannot express."""
    for name, answer in policy.commands.items():
        _check_known_name(name, COMMAND_CLASSES, ("commands", name), errors)
        if answer == "allow" and COMMAND_CLASSES[name].is_fixed:
            raise errors.build_error(("commands", name), "this class cannot be allowed", "Use ask or deny.")
    for path, kind in _iterate_action_kinds(policy):
        _check_known_name(kind, RISK_BY_ACTION_KIND, path, errors, "kind of action")
    for index, rule in enumerate(policy.rules):
        for number, name in enumerate(rule.when.command):
            _check_known_name(name, COMMAND_CLASSES, ("rule", index, "when", "command", number), errors)
        if rule.two_person and rule.answer != "ask":
            raise errors.build_error(
                ("rule", index, "two_person"), f"requires the answer ask, but the rule's answer is {rule.answer}"
            )
    _check_unique([rule.id for rule in policy.rules], "rule", errors)
    _check_unique([hook.id for hook in policy.hooks], "hook", errors)
    for index, pattern in enumerate(policy.protected):
        if pattern.isdigit():
            continue
        kind, colon, _ = pattern.partition(":")
        if not colon:
            raise errors.build_error(
                ("protected", index), f"{pattern!r} is neither a pane number nor a glob such as `session:prod*`"
            )
        _check_known_name(kind, PROTECTED_NAME_KINDS, ("protected", index), errors, "kind of reference")
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
    for index, rule in enumerate(policy.rules):
        yield from ((("rule", index, "when", "kind", number), kind) for number, kind in enumerate(rule.when.kind))
    for index, hook in enumerate(policy.hooks):
        yield from ((("hook", index, "kinds", number), kind) for number, kind in enumerate(hook.kinds))


def _check_unique(names: list[str], table: str, errors: _PolicyErrorBuilder) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise errors.build_error((table, index, "id"), f"{name!r} is already the id of another {table}")


def _check_patterns(policy: Policy, errors: _PolicyErrorBuilder) -> None:
    for index, pattern in enumerate(policy.shell.deny_patterns):
        try:
            compile_patterns({pattern: pattern}, "re2")
        except ConfigError as error:
            raise errors.build_error(("shell", "deny_patterns", index), error.message) from error


def find_key_line(text: str, path: Sequence[PathStep]) -> int | None:
    """Return the line number (from 1) of the statement that sets the key at ``path``; None if there is none."""
    lines = text.split("\n")
    low, high = 1, len(lines)
    if not _has_path(_parse_lines(lines, high), path):
        return None
    while low < high:
        middle = (low + high) // 2
        end = _find_statement_end(lines, middle, high)
        if _has_path(_parse_lines(lines, end), path):
            high = middle
        else:
            low = end + 1
    return _find_statement_start(lines, low)


def _find_statement_end(lines: list[str], end: int, last_line: int) -> int:
    """Return the first line at or after ``end`` that completes a statement."""
    return next((at for at in range(end, last_line) if _parse_lines(lines, at) is not None), last_line)


def _find_statement_start(lines: list[str], end: int) -> int:
    """Return the line after the last one at which all statements are complete."""
    return next((at + 1 for at in range(end - 1, 0, -1) if _parse_lines(lines, at) is not None), 1)


def _parse_lines(lines: list[str], count: int) -> object:
    try:
        return tomllib.loads("\n".join(lines[:count]))
    except tomllib.TOMLDecodeError:
        return None


def _has_path(value: object, path: Sequence[PathStep]) -> bool:
    if not path:
        return True
    step, *rest = path
    if isinstance(value, dict) and isinstance(step, str):
        return step in value and _has_path(value[step], rest)
    if isinstance(value, list) and isinstance(step, int):
        return step < len(value) and _has_path(value[step], rest)
    return False
