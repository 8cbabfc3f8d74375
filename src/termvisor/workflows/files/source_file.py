"""A file of steps as it is written: its values, and the line on which each of them stands."""

import re
import tomllib
from typing import Any

from termvisor.errors import ConfigError
from termvisor.system.regular_file import open_regular_file

ValuePath = tuple[str | int, ...]
_TOML_LINE_PATTERN = re.compile(r"^\s*(?:\[\[\s*(?P<table>\w+)\s*\]\]|(?P<key>\w+)\s*=|(?P<item>\{))")
_TOML_ERROR_PATTERN = re.compile(r"(?P<why>.*) \((?:at line (?P<line>\d+), column \d+|at end of document)\)")
_MAX_FILE_CHARS = 256 * 1024
_MAX_DEPTH = 20


class WorkflowSource:
    """``lines`` has the lines of mappings, lists and values by their path."""

    def __init__(self, file: str, value: Any, lines: dict[ValuePath, int]):
        self.file, self.value, self._line_numbers = file, value, lines

    def format_location(self, path: ValuePath) -> str:
        """The file, and the line on which that stands."""
        while path and path not in self._line_numbers:
            path = path[:-1]
        return f"{self.file}:{self._line_numbers.get(path, 1)}"

    def build_error(self, path: ValuePath, why: str) -> ConfigError:
        """What is wrong with it, and where."""
        return ConfigError(
            f"{self.format_location(path)}: {why}",
            hint="`visor workflow list` shows what is wrong with the files; see docs/guides/workflows.md.",
        )


def read_source(file: str) -> WorkflowSource:
    """Raises ``ConfigError`` with file and line."""
    try:
        with open(file, encoding="utf-8", opener=open_regular_file) as opened:
            text = opened.read(_MAX_FILE_CHARS + 1)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: it is not text in UTF-8 (byte {error.start + 1})") from error
    except OSError as error:
        raise ConfigError(f"{file}: it cannot be read: {error.strerror or error}") from error
    if len(text) > _MAX_FILE_CHARS:
        raise ConfigError(f"{file}: a workflow is no longer than {_MAX_FILE_CHARS} characters")
    return parse_source(file, text)


def parse_source(file: str, text: str) -> WorkflowSource:
    return _parse_toml(file, text) if file.endswith(".toml") else _parse_yaml(file, text)


def _parse_toml(file: str, text: str) -> WorkflowSource:
    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = _TOML_ERROR_PATTERN.fullmatch(str(error))
        line = found["line"] if found and found["line"] else max(1, len(text.splitlines()))
        raise ConfigError(f"{file}:{line}: not TOML: {found['why'] if found else error}") from error
    return WorkflowSource(file, value, _find_toml_lines(text))


def _find_toml_lines(text: str) -> dict[ValuePath, int]:
    """TOML's reader tells no lines: those of keys and of tables in a list are found by how they are written."""
    lines: dict[ValuePath, int] = {(): 1}
    within: ValuePath = ()
    inside: ValuePath = ()
    counted: dict[ValuePath, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _TOML_LINE_PATTERN.match(line)
        if found and (found["table"] or found["item"]):
            of = (found["table"],) if found["table"] else inside
            index = counted[of] = counted.get(of, -1) + 1
            lines.setdefault((*of, index), number)
            within = (*of, index) if found["table"] else within
        elif found:
            inside = (*within, found["key"])
            lines.setdefault(inside, number)
    return lines


def _parse_yaml(file: str, text: str) -> WorkflowSource:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        told = (getattr(error, "context", None), getattr(error, "problem", None))
        raise ConfigError(f"{file}:{line}: not YAML: {', '.join(filter(None, told)) or error}") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: it is nested too deep") from error
    lines: dict[ValuePath, int] = {(): 1}
    return WorkflowSource(file, None if node is None else _YamlConverter(file, lines).convert(node, ()), lines)


class _YamlConverter:
    """YAML's nodes as plain values. Aliases are refused: a few of them can stand for millions of values."""

    def __init__(self, file: str, lines: dict[ValuePath, int]):
        self._file, self._line_numbers = file, lines
        self._seen_nodes: set[int] = set()

    def convert(self, node: Any, path: ValuePath) -> Any:
        line = node.start_mark.line + 1
        self._line_numbers[path] = line
        if id(node) in self._seen_nodes or len(path) > _MAX_DEPTH:
            raise ConfigError(f"{self._file}:{line}: aliases and deep nesting are not known here")
        self._seen_nodes.add(id(node))
        if node.id == "mapping":
            return self._convert_mapping(node, path)
        if node.id == "sequence":
            return [self.convert(one, (*path, number)) for number, one in enumerate(node.value)]
        return _convert_scalar(node)

    def _convert_mapping(self, node: Any, path: ValuePath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in found:
                raise ConfigError(f"{self._file}:{key.start_mark.line + 1}: {name} stands here twice")
            found[name] = self.convert(value, (*path, name))
            self._line_numbers[(*path, name)] = key.start_mark.line + 1
        return found


def _convert_scalar(node: Any) -> Any:
    import yaml

    if node.tag == "tag:yaml.org,2002:bool":
        return node.value.lower() in ("true", "yes", "on")
    if node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:null"):
        return yaml.safe_load(node.value)
    return node.value
