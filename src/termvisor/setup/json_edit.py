"""JSON as its owner wrote it: items are put into its lists, and taken out again, and every other byte stays.

What is parsed is known to be valid JSON; see `tree`. Spaces, line ends, the order and the spelling of values are the
owner's.
"""

import re
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

_WHITESPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,\]}]+')
_INDENT = "  "


class JsonShapeError(ValueError):
    """It is JSON, and yet not of the shape that is wanted."""


class JsonNode(Struct, frozen=True):
    """A value from ``start`` to ``end``; in an object, ``at`` is where its key begins."""

    start: int
    end: int
    kind: str
    """``{``, ``[`` or nothing."""
    children: "tuple[JsonNode, ...]" = ()
    key: str = ""
    at: int = 0

    def find_child(self, key: str) -> "JsonNode | None":
        """The last of that name, as all readers take it."""
        return next((one for one in reversed(self.children) if one.key == key), None)


def parse_tree(text: str) -> JsonNode:
    """Raises ``ValueError`` for what is no JSON."""
    try:
        msgspec.json.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return _parse_node(text, 0)


def append_item(text: str, keys: Sequence[str], item: str) -> str:
    """With one more item in the list behind these keys; what is missing on the way there is made."""
    node = parse_tree(text)
    for depth, key in enumerate(keys):
        if node.kind != "{":
            raise JsonShapeError(f"{'.'.join(keys[:depth]) or 'it'} is no object")
        child = node.find_child(key)
        if child is None:
            return _insert_item(text, node, keys[depth:], item)
        node = child
    if node.kind != "[":
        raise JsonShapeError(f"{'.'.join(keys)} is no list")
    return _insert_item(text, node, (), item)


def set_member(text: str, key: str, value: str) -> str:
    """With this value under a key of the outermost object, in the place of one that stands there."""
    root = parse_tree(text)
    if root.kind != "{":
        raise JsonShapeError("it is no object")
    old = root.find_child(key)
    if old is not None:
        return text[: old.start] + value + text[old.end :]
    return _insert_item(text, root, (), f"{msgspec.json.encode(key).decode()}: {value}")


def get_member(text: str, key: str) -> str | None:
    """What stands under a key of the outermost object, as it is written."""
    found = parse_tree(text).find_child(key)
    return None if found is None else text[found.start : found.end]


def remove_items(text: str, key: str, is_ours: Callable[[str], bool]) -> str:
    """Without our items anywhere behind this key, and without what holds nothing else."""
    root = parse_tree(text)
    child = root.find_child(key) if root.kind == "{" else None
    spans: list[tuple[int, int]] = []
    if child is not None and _is_fully_removed(text, child, is_ours, spans):
        spans = _compute_cut_spans(root, [one is child for one in root.children])
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def find_leaves(text: str, key: str, is_ours: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Our items behind this key: the name of the list that each stands in, and its text."""
    root = parse_tree(text)
    child = root.find_child(key) if root.kind == "{" else None
    return (
        []
        if child is None
        else [(name.key, one) for name in child.children for one in _find_own_leaves(text, name, is_ours)]
    )


def _find_own_leaves(text: str, node: JsonNode, is_ours: Callable[[str], bool]) -> list[str]:
    if _is_leaf(node):
        raw = text[node.start : node.end]
        return [raw] if is_ours(raw) else []
    return [found for one in node.children for found in _find_own_leaves(text, one, is_ours)]


def _parse_node(text: str, offset: int) -> JsonNode:
    start = _skip_whitespace(text, offset)
    if text[start] not in "{[":
        match = _SCALAR.match(text, start)
        return JsonNode(start, match.end() if match else start + 1, "", at=start)
    return _parse_container(text, start)


def _parse_container(text: str, start: int) -> JsonNode:
    children: list[JsonNode] = []
    at = _skip_whitespace(text, start + 1)
    while text[at] not in "}]":
        child = _parse_member(text, at) if text[start] == "{" else _parse_node(text, at)
        children.append(child)
        at = _skip_whitespace(text, child.end)
        at = _skip_whitespace(text, at + 1) if text[at] == "," else at
    return JsonNode(start, at + 1, text[start], tuple(children), at=start)


def _parse_member(text: str, offset: int) -> JsonNode:
    name = _parse_node(text, offset)
    key = msgspec.json.decode(text[name.start : name.end], type=str)
    value = _parse_node(text, _skip_whitespace(text, name.end) + 1)
    return msgspec.structs.replace(value, key=key, at=name.start)


def _skip_whitespace(text: str, offset: int) -> int:
    found = _WHITESPACE.match(text, offset)
    return found.end() if found else offset


def _insert_item(text: str, node: JsonNode, keys: Sequence[str], item: str) -> str:
    """In the manner of what stands there already; an empty object is opened over several lines."""
    if node.children:
        first, last = node.children[0], node.children[-1]
        space = text[node.start + 1 : first.at]
        unit = space.rpartition("\n")[2] if "\n" in space else None
        return text[: last.end] + "," + (space or " ") + _format_item(keys, item, unit) + text[last.end :]
    if node.kind == "[":
        return text[: node.start + 1] + item + text[node.start + 1 :]
    opened = f"{{\n{_INDENT}{_format_item(keys, item, _INDENT)}\n}}"
    return text[: node.start] + opened + text[node.end :]


def _format_item(keys: Sequence[str], item: str, indent: str | None) -> str:
    """``"a": {"b": [item]}``; over several lines where ``lead`` is what stands before the first key."""
    if not keys:
        return item
    name = msgspec.json.encode(keys[0]).decode()
    if len(keys) == 1:
        return f"{name}: [{item}]"
    inner = _format_item(keys[1:], item, None if indent is None else indent + _INDENT)
    return f"{name}: {{{inner}}}" if indent is None else f"{name}: {{\n{indent}{_INDENT}{inner}\n{indent}}}"


def _is_fully_removed(text: str, node: JsonNode, is_ours: Callable[[str], bool], spans: list[tuple[int, int]]) -> bool:
    """Whether nothing of it would be left; else what is to be cut out of it goes to ``spans``."""
    if _is_leaf(node):
        return is_ours(text[node.start : node.end])
    mine: list[tuple[int, int]] = []
    gone = [_is_fully_removed(text, one, is_ours, mine) for one in node.children]
    holds_list = any(flag and one.key == "hooks" for flag, one in zip(gone, node.children, strict=True))
    if holds_list or (gone and all(gone)):
        return True
    spans += mine + (_compute_cut_spans(node, gone) if any(gone) else [])
    return False


def _is_leaf(node: JsonNode) -> bool:
    return node.kind == "{" and bool(node.children) and not any(one.kind for one in node.children)


def _compute_cut_spans(node: JsonNode, is_removed: Sequence[bool]) -> list[tuple[int, int]]:
    """The spans of the children that go, each with one comma."""
    if all(is_removed):
        return [(node.start + 1, node.end - 1)]
    kept = is_removed.index(False)
    return [
        (node.children[number - 1].end, one.end) if number > kept else (one.at, node.children[number + 1].at)
        for number, one in enumerate(node.children)
        if is_removed[number]
    ]
