"""JSON as its owner wrote it: items are put into its lists, and taken out again, and every other byte stays.

What is parsed is known to be valid JSON; see `tree`. Spaces, line ends, the order and the spelling of values are the
owner's.
"""

import re
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,\]}]+')
_UNIT = "  "


class Misshapen(ValueError):
    """It is JSON, and yet not of the shape that is wanted."""


class Node(Struct, frozen=True):
    """A value from ``start`` to ``end``; in an object, ``at`` is where its key begins."""

    start: int
    end: int
    kind: str
    """``{``, ``[`` or nothing."""
    children: "tuple[Node, ...]" = ()
    key: str = ""
    at: int = 0

    def child(self, key: str) -> "Node | None":
        """The last of that name, as all readers take it."""
        return next((one for one in reversed(self.children) if one.key == key), None)


def tree(text: str) -> Node:
    """Raises ``ValueError`` for what is no JSON."""
    try:
        msgspec.json.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return _node(text, 0)


def appended(text: str, keys: Sequence[str], item: str) -> str:
    """With one more item in the list behind these keys; what is missing on the way there is made."""
    node = tree(text)
    for depth, key in enumerate(keys):
        if node.kind != "{":
            raise Misshapen(f"{'.'.join(keys[:depth]) or 'it'} is no object")
        child = node.child(key)
        if child is None:
            return _inserted(text, node, keys[depth:], item)
        node = child
    if node.kind != "[":
        raise Misshapen(f"{'.'.join(keys)} is no list")
    return _inserted(text, node, (), item)


def put(text: str, key: str, value: str) -> str:
    """With this value under a key of the outermost object, in the place of one that stands there."""
    root = tree(text)
    if root.kind != "{":
        raise Misshapen("it is no object")
    old = root.child(key)
    if old is not None:
        return text[: old.start] + value + text[old.end :]
    return _inserted(text, root, (), f"{msgspec.json.encode(key).decode()}: {value}")


def member(text: str, key: str) -> str | None:
    """What stands under a key of the outermost object, as it is written."""
    found = tree(text).child(key)
    return None if found is None else text[found.start : found.end]


def without(text: str, key: str, is_ours: Callable[[str], bool]) -> str:
    """Without our items anywhere behind this key, and without what holds nothing else."""
    root = tree(text)
    child = root.child(key) if root.kind == "{" else None
    spans: list[tuple[int, int]] = []
    if child is not None and _is_gone(text, child, is_ours, spans):
        spans = _cut(root, [one is child for one in root.children])
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def leaves(text: str, key: str, is_ours: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Our items behind this key: the name of the list that each stands in, and its text."""
    root = tree(text)
    child = root.child(key) if root.kind == "{" else None
    return [] if child is None else [(name.key, one) for name in child.children for one in _ours(text, name, is_ours)]


def _ours(text: str, node: Node, is_ours: Callable[[str], bool]) -> list[str]:
    if _is_leaf(node):
        raw = text[node.start : node.end]
        return [raw] if is_ours(raw) else []
    return [found for one in node.children for found in _ours(text, one, is_ours)]


def _node(text: str, at: int) -> Node:
    start = _skipped(text, at)
    if text[start] not in "{[":
        match = _SCALAR.match(text, start)
        return Node(start, match.end() if match else start + 1, "", at=start)
    return _container(text, start)


def _container(text: str, start: int) -> Node:
    children: list[Node] = []
    at = _skipped(text, start + 1)
    while text[at] not in "}]":
        child = _member(text, at) if text[start] == "{" else _node(text, at)
        children.append(child)
        at = _skipped(text, child.end)
        at = _skipped(text, at + 1) if text[at] == "," else at
    return Node(start, at + 1, text[start], tuple(children), at=start)


def _member(text: str, at: int) -> Node:
    name = _node(text, at)
    key = msgspec.json.decode(text[name.start : name.end], type=str)
    value = _node(text, _skipped(text, name.end) + 1)
    return msgspec.structs.replace(value, key=key, at=name.start)


def _skipped(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _inserted(text: str, node: Node, keys: Sequence[str], item: str) -> str:
    """In the manner of what stands there already; an empty object is opened over several lines."""
    if node.children:
        first, last = node.children[0], node.children[-1]
        space = text[node.start + 1 : first.at]
        unit = space.rpartition("\n")[2] if "\n" in space else None
        return text[: last.end] + "," + (space or " ") + _made(keys, item, unit) + text[last.end :]
    if node.kind == "[":
        return text[: node.start + 1] + item + text[node.start + 1 :]
    opened = f"{{\n{_UNIT}{_made(keys, item, _UNIT)}\n}}"
    return text[: node.start] + opened + text[node.end :]


def _made(keys: Sequence[str], item: str, lead: str | None) -> str:
    """``"a": {"b": [item]}``; over several lines where ``lead`` is what stands before the first key."""
    if not keys:
        return item
    name = msgspec.json.encode(keys[0]).decode()
    if len(keys) == 1:
        return f"{name}: [{item}]"
    inner = _made(keys[1:], item, None if lead is None else lead + _UNIT)
    return f"{name}: {{{inner}}}" if lead is None else f"{name}: {{\n{lead}{_UNIT}{inner}\n{lead}}}"


def _is_gone(text: str, node: Node, is_ours: Callable[[str], bool], spans: list[tuple[int, int]]) -> bool:
    """Whether nothing of it would be left; else what is to be cut out of it goes to ``spans``."""
    if _is_leaf(node):
        return is_ours(text[node.start : node.end])
    mine: list[tuple[int, int]] = []
    gone = [_is_gone(text, one, is_ours, mine) for one in node.children]
    holds_list = any(flag and one.key == "hooks" for flag, one in zip(gone, node.children, strict=True))
    if holds_list or (gone and all(gone)):
        return True
    spans += mine + (_cut(node, gone) if any(gone) else [])
    return False


def _is_leaf(node: Node) -> bool:
    return node.kind == "{" and bool(node.children) and not any(one.kind for one in node.children)


def _cut(node: Node, gone: Sequence[bool]) -> list[tuple[int, int]]:
    """The spans of the children that go, each with one comma."""
    if all(gone):
        return [(node.start + 1, node.end - 1)]
    kept = gone.index(False)
    return [
        (node.children[number - 1].end, one.end) if number > kept else (one.at, node.children[number + 1].at)
        for number, one in enumerate(node.children)
        if gone[number]
    ]
