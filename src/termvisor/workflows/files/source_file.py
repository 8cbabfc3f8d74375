"""Parse a YAML or TOML workflow file into plain values, with the line number of each value."""

import re
import tomllib
from typing import Any

from termvisor.errors import ConfigError
from termvisor.system.files import open_regular_file

ValuePath = tuple[str | int, ...]
_TOML_LINE_PATTERN = re.compile(r"^\s*(?:\[\[\s*(?P<table>\w+)\s*\]\]|(?P<key>\w+)\s*=|(?P<item>\{))")
_TOML_ERROR_PATTERN = re.compile(r"(?P<why>.*) \((?:at line (?P<line>\d+), column \d+|at end of document)\)")
# Far more than a workflow of 200 steps needs. Parsing a huge file would block the daemon.
_MAX_FILE_CHARS = 256 * 1024
_MAX_DEPTH = 20


class WorkflowSource:
    """The parsed values; ``lines`` maps the path of each mapping, list and value to its line."""

    def __init__(self, file: str, value: Any, lines: dict[ValuePath, int]):
        self.file, self.value, self._line_numbers = file, value, lines

    def format_location(self, path: ValuePath) -> str:
        """Return `file:line` of a value, or of its closest parent."""
        while path and path not in self._line_numbers:
            path = path[:-1]
        return f"{self.file}:{self._line_numbers.get(path, 1)}"

    def build_error(self, path: ValuePath, why: str) -> ConfigError:
        hint = "`visor workflow list` shows the errors of all files; see docs/guides/workflows.md."
        return ConfigError(f"{self.format_location(path)}: {why}", hint=hint)


def read_source(file: str) -> WorkflowSource:
    """Read and parse a file. Raises ``ConfigError`` with file and line."""
    try:
        with open(file, encoding="utf-8", opener=open_regular_file) as stream:
            text = stream.read(_MAX_FILE_CHARS + 1)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 text (byte {error.start + 1})") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    if len(text) > _MAX_FILE_CHARS:
        raise ConfigError(f"{file}: longer than {_MAX_FILE_CHARS} characters")
    return parse_source(file, text)


def parse_source(file: str, text: str) -> WorkflowSource:
    return _parse_toml(file, text) if file.endswith(".toml") else _parse_yaml(file, text)


def _parse_toml(file: str, text: str) -> WorkflowSource:
    try:
        value = tomllib.loads(text)
    # tomllib raises RecursionError for deeply nested arrays.
    except (ValueError, RecursionError) as error:
        match = _TOML_ERROR_PATTERN.fullmatch(str(error))
        line = match["line"] if match and match["line"] else max(1, len(text.splitlines()))
        raise ConfigError(f"{file}:{line}: invalid TOML: {match['why'] if match else error}") from error
    return WorkflowSource(file, value, _find_toml_lines(text))


def _find_toml_lines(text: str) -> dict[ValuePath, int]:
    """Find the lines of keys, tables and list items by text search, because tomllib reports no lines."""
    lines: dict[ValuePath, int] = {(): 1}
    table: ValuePath = ()
    key: ValuePath = ()
    last_index: dict[ValuePath, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _TOML_LINE_PATTERN.match(line)
        if match and (match["table"] or match["item"]):
            parent = (match["table"],) if match["table"] else key
            index = last_index[parent] = last_index.get(parent, -1) + 1
            lines.setdefault((*parent, index), number)
            table = (*parent, index) if match["table"] else table
        elif match:
            key = (*table, match["key"])
            lines.setdefault(key, number)
    return lines


def _parse_yaml(file: str, text: str) -> WorkflowSource:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        parts = (getattr(error, "context", None), getattr(error, "problem", None))
        raise ConfigError(f"{file}:{line}: invalid YAML: {', '.join(filter(None, parts)) or error}") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: nested too deeply") from error
    lines: dict[ValuePath, int] = {(): 1}
    return WorkflowSource(file, None if node is None else _YamlConverter(file, lines).convert(node, ()), lines)


class _YamlConverter:
    """Converts YAML nodes to plain values. Aliases are rejected: a few of them can expand to millions of values."""

    def __init__(self, file: str, lines: dict[ValuePath, int]):
        self._file, self._line_numbers = file, lines
        self._seen_nodes: set[int] = set()

    def convert(self, node: Any, path: ValuePath) -> Any:
        line = node.start_mark.line + 1
        self._line_numbers[path] = line
        # An alias returns the same node object again.
        if id(node) in self._seen_nodes or len(path) > _MAX_DEPTH:
            raise ConfigError(f"{self._file}:{line}: aliases and deep nesting are not supported")
        self._seen_nodes.add(id(node))
        if node.id == "mapping":
            return self._convert_mapping(node, path)
        if node.id == "sequence":
            return [self.convert(item, (*path, number)) for number, item in enumerate(node.value)]
        return _convert_scalar(node)

    def _convert_mapping(self, node: Any, path: ValuePath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            # PyYAML would silently use the last one.
            if name in values:
                raise ConfigError(f"{self._file}:{key.start_mark.line + 1}: duplicate name {name}")
            values[name] = self.convert(value, (*path, name))
            self._line_numbers[(*path, name)] = key.start_mark.line + 1
        return values


def _convert_scalar(node: Any) -> Any:
    import yaml

    if node.tag == "tag:yaml.org,2002:bool":
        return node.value.lower() in ("true", "yes", "on")
    if node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:null"):
        return yaml.safe_load(node.value)
    return node.value
