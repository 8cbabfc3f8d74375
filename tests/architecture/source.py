"""The source as the architecture tests read it: parsed, never imported."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """``name`` is dotted, ``path`` relative to the repository."""

    name: str
    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def package(self) -> str:
        """The part of the product it belongs to: ``ops`` for termvisor.ops.system.health."""
        return [*self.name.split("."), ""][1]

    def functions(self) -> Iterator[Function]:
        return (node for node in self.nodes if isinstance(node, Function))

    def classes(self) -> Iterator[ast.ClassDef]:
        return (node for node in self.nodes if isinstance(node, ast.ClassDef))

    def imports(self) -> set[str]:
        """Every module it may import, also inside functions; of `from a import b` both a and a.b."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node)
                found.update({base}, (f"{base}.{alias.name}" for alias in node.names))
        return found

    def _base(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".") if self.path.endswith("__init__.py") else self.name.split(".")[:-1]
        return ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])


def sample(text: str, name: str = "termvisor.terminal.sample") -> Module:
    """A module that exists only in a test."""
    return Module(name, f"src/{name.replace('.', '/')}.py", text)


@cache
def modules() -> list[Module]:
    """All of them; read and parsed once."""
    return [_read(path) for path in sorted(SOURCE.glob("termvisor/**/*.py"))]


def _read(path: Path) -> Module:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def within(name: str, *places: str) -> bool:
    """Whether a dotted name is one of the places or inside one."""
    return any(name == place or name.startswith(f"{place}.") for place in places)
