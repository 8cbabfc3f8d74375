"""Small faults in a module; each changes one node of its syntax tree.

Left out, because no test should notice them: log lines, docstrings, annotations, contracts, `__repr__`, decorators,
options of classes, and texts that contain a space (wording).
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
PAIRS = [(ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)]
COMPARISONS = {first: second for pair in PAIRS for first, second in (pair, pair[::-1])}
UNTESTED_FIELDS = ("annotation", "returns", "decorator_list", "bases")
UNTESTED_NAMES = frozenset(["__repr__", "__str__", "__all__", "Literal", "TypeVar", "cast", "get_logger", "log"])


@dataclass(frozen=True)
class Mutant:
    """``lines`` are those of the outermost function around the change; empty if its code runs on import."""

    path: str
    line: int
    lines: range
    kind: str
    change: str
    nodes: tuple[ast.Module, ast.AST, ast.AST, ast.AST]

    def render(self) -> str:
        """Return the text of the whole changed module."""
        tree, owner, node, changed = self.nodes
        _replace_child(owner, node, changed)
        try:
            return ast.unparse(ast.fix_missing_locations(tree))
        finally:
            _replace_child(owner, changed, node)


def list_mutants(path: str, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a module. The order depends on the text alone."""
    tree = ast.parse(text)
    for owner, node, lines in _walk(tree, range(0)):
        for kind, changed in _change_node(node):
            change = _describe_change(node, changed)
            yield Mutant(path, getattr(node, "lineno", lines.start), lines, kind, change, (tree, owner, node, changed))


def _replace_child(owner: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for name, value in ast.iter_fields(owner):
        if value is old:
            setattr(owner, name, new)
        elif isinstance(value, list):
            value[:] = [new if item is old else item for item in value]


def _walk(owner: ast.AST, lines: range) -> Iterator[tuple[ast.AST, ast.AST, range]]:
    """Yield the nodes worth changing, each with its owner and the lines of the outermost function around it."""
    for name, value in ast.iter_fields(owner):
        if name in UNTESTED_FIELDS or (isinstance(owner, ast.ClassDef) and name == "keywords"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not _is_untested(node):
                outermost = lines or (_find_lines(node) if isinstance(node, Function) else lines)
                yield owner, node, outermost
                yield from _walk(node, outermost)


def _find_lines(function: Function) -> range:
    """Return the lines from the first decorator on; none for a cached function, which one test calls for all others."""
    if any("cache" in ast.unparse(decorator) for decorator in function.decorator_list):
        return range(0)
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return range(first, (function.end_lineno or first) + 1)


def _is_untested(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr | ast.Await):
        return isinstance(node.value, ast.Constant) or _is_untested(node.value)
    if isinstance(node, ast.ClassDef):
        return any("Protocol" in ast.unparse(base) for base in node.bases)
    if isinstance(node, Function):
        return node.name in UNTESTED_NAMES
    if isinstance(node, ast.Call | ast.Subscript | ast.Assign):
        named = (
            node.func if isinstance(node, ast.Call) else node.targets[0] if isinstance(node, ast.Assign) else node.value
        )
        return ast.unparse(named).partition(".")[0] in UNTESTED_NAMES
    if isinstance(node, ast.If | ast.ExceptHandler) and not getattr(node, "orelse", []):
        return all(isinstance(line, ast.Pass) or _is_untested(line) for line in node.body)
    return isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom)


def _change_node(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "condition negated", _copy_with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.BoolOp):
        for term in node.values:
            rest = [other for other in node.values if other is not term]
            yield "term dropped", rest[0] if len(rest) == 1 else _copy_with(node, values=rest)
        yield "and/or swapped", _copy_with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    # A deadline is never met to the nanosecond.
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS and "monotonic" not in ast.unparse(node):
        yield "comparison changed", _copy_with(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.ExceptHandler):
        yield "handler emptied", _copy_with(node, body=[ast.Pass()])
    elif isinstance(node, ast.Call):
        for dropped in filter(lambda keyword: keyword.arg, node.keywords):
            yield (
                "argument dropped",
                _copy_with(node, keywords=[other for other in node.keywords if other is not dropped]),
            )
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
        yield "text changed", ast.Constant(f"{node.value}_")
    elif isinstance(node, ast.Raise | ast.Expr | ast.Assign | ast.AugAssign | ast.Delete | ast.Continue | ast.Break):
        yield "raise removed" if isinstance(node, ast.Raise) else "statement deleted", ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        is_truth = isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool)
        # None would mean the same as False.
        yield "return changed", ast.Return(ast.UnaryOp(ast.Not(), node.value) if is_truth else ast.Constant(None))


def _copy_with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _describe_change(node: ast.AST, changed: ast.AST) -> str:
    if isinstance(node, ast.Call) and isinstance(changed, ast.Call):
        (dropped,) = (keyword for keyword in node.keywords if keyword not in changed.keywords)
        return f"{_format_node(node.func)}(…, {_format_node(dropped)})  →  {_format_node(node.func)}(…)"
    return f"{_format_node(node)}  →  {_format_node(changed)}"


def _format_node(node: ast.AST) -> str:
    first, *more = ast.unparse(node).splitlines()
    line = f"{first} {more[0].strip()}" if isinstance(node, ast.ExceptHandler) else first
    return line if len(line) <= 100 else line[:99] + "…"
