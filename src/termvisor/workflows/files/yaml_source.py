"""A file of steps as it is written: its values, and the line on which each of them stands."""

import re
import tomllib
from typing import Any

from termvisor.errors import ConfigError
from termvisor.system.regular_file import plain

Path = tuple[str | int, ...]
_TOML_PLACE = re.compile(r"^\s*(?:\[\[\s*(?P<table>\w+)\s*\]\]|(?P<key>\w+)\s*=|(?P<item>\{))")
_TOML_ERROR = re.compile(r"(?P<why>.*) \((?:at line (?P<line>\d+), column \d+|at end of document)\)")
_LONGEST = 256 * 1024
_DEEPEST = 20


class Source:
    """``lines`` has the lines of mappings, lists and values by their path."""

    def __init__(self, file: str, value: Any, lines: dict[Path, int]):
        self.file, self.value, self._lines = file, value, lines

    def place(self, path: Path) -> str:
        """The file, and the line on which that stands."""
        while path and path not in self._lines:
            path = path[:-1]
        return f"{self.file}:{self._lines.get(path, 1)}"

    def wrong(self, path: Path, why: str) -> ConfigError:
        """What is wrong with it, and where."""
        return ConfigError(
            f"{self.place(path)}: {why}",
            hint="`visor workflow list` shows what is wrong with the files; see docs/guides/workflows.md.",
        )


def read(file: str) -> Source:
    """Raises ``ConfigError`` with file and line."""
    try:
        with open(file, encoding="utf-8", opener=plain) as opened:
            text = opened.read(_LONGEST + 1)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: it is not text in UTF-8 (byte {error.start + 1})") from error
    except OSError as error:
        raise ConfigError(f"{file}: it cannot be read: {error.strerror or error}") from error
    if len(text) > _LONGEST:
        raise ConfigError(f"{file}: a workflow is no longer than {_LONGEST} characters")
    return parse(file, text)


def parse(file: str, text: str) -> Source:
    return _toml(file, text) if file.endswith(".toml") else _yaml(file, text)


def _toml(file: str, text: str) -> Source:
    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = _TOML_ERROR.fullmatch(str(error))
        line = found["line"] if found and found["line"] else max(1, len(text.splitlines()))
        raise ConfigError(f"{file}:{line}: not TOML: {found['why'] if found else error}") from error
    return Source(file, value, _toml_lines(text))


def _toml_lines(text: str) -> dict[Path, int]:
    """TOML's reader tells no lines: those of keys and of tables in a list are found by how they are written."""
    lines: dict[Path, int] = {(): 1}
    within: Path = ()
    inside: Path = ()
    counted: dict[Path, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _TOML_PLACE.match(line)
        if found and (found["table"] or found["item"]):
            of = (found["table"],) if found["table"] else inside
            index = counted[of] = counted.get(of, -1) + 1
            lines.setdefault((*of, index), number)
            within = (*of, index) if found["table"] else within
        elif found:
            inside = (*within, found["key"])
            lines.setdefault(inside, number)
    return lines


def _yaml(file: str, text: str) -> Source:
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
    lines: dict[Path, int] = {(): 1}
    return Source(file, None if node is None else _Nodes(file, lines).value(node, ()), lines)


class _Nodes:
    """YAML's nodes as plain values. Aliases are refused: a few of them can stand for millions of values."""

    def __init__(self, file: str, lines: dict[Path, int]):
        self._file, self._lines = file, lines
        self._seen: set[int] = set()

    def value(self, node: Any, path: Path) -> Any:
        line = node.start_mark.line + 1
        self._lines[path] = line
        if id(node) in self._seen or len(path) > _DEEPEST:
            raise ConfigError(f"{self._file}:{line}: aliases and deep nesting are not known here")
        self._seen.add(id(node))
        if node.id == "mapping":
            return self._mapping(node, path)
        if node.id == "sequence":
            return [self.value(one, (*path, number)) for number, one in enumerate(node.value)]
        return _scalar(node)

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in found:
                raise ConfigError(f"{self._file}:{key.start_mark.line + 1}: {name} stands here twice")
            found[name] = self.value(value, (*path, name))
            self._lines[(*path, name)] = key.start_mark.line + 1
        return found


def _scalar(node: Any) -> Any:
    import yaml

    if node.tag == "tag:yaml.org,2002:bool":
        return node.value.lower() in ("true", "yes", "on")
    if node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:null"):
        return yaml.safe_load(node.value)
    return node.value
