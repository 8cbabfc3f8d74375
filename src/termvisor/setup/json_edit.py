"""Edit JSON text in place: add and remove list items and members, preserving every other byte.

Invariant: whitespace, line endings, order and spelling of all other values are preserved. `parse_tree` validates with
msgspec first, so the small parser here only sees valid JSON.
"""

import re
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

_WHITESPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,\]}]+')
_INDENT = "  "


class JsonShapeError(ValueError):
    """Valid JSON with an unexpected structure."""


class JsonNode(Struct, frozen=True):
    """A value at ``text[start:end]``; ``at`` is where its key begins, if it has one."""

    start: int
    end: int
    kind: str
    """``{``, ``[``, or empty for a scalar."""
    children: "tuple[JsonNode, ...]" = ()
    key: str = ""
    at: int = 0

    def find_child(self, key: str) -> "JsonNode | None":
        """Return the last member with this key: JSON parsers use the last of duplicate keys."""
        return next((child for child in reversed(self.children) if child.key == key), None)


def parse_tree(text: str) -> JsonNode:
    """Parse the text. Raises ValueError if it is not valid JSON."""
    try:
        msgspec.json.decode(text)
    # msgspec limits the nesting depth, which protects the recursive parser below.
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return _parse_node(text, 0)


def append_item(text: str, keys: Sequence[str], item: str) -> str:
    """Append an item to the list at this key path, creating missing objects. Raises JsonShapeError."""
    node = parse_tree(text)
    for depth, key in enumerate(keys):
        if node.kind != "{":
            raise JsonShapeError(f"{'.'.join(keys[:depth]) or 'the root'} is not an object")
        child = node.find_child(key)
        if child is None:
            return _insert_item(text, node, keys[depth:], item)
        node = child
    if node.kind != "[":
        raise JsonShapeError(f"{'.'.join(keys)} is not a list")
    return _insert_item(text, node, (), item)


def set_member(text: str, key: str, value: str) -> str:
    """Set a member of the root object. Raises JsonShapeError if the root is not an object."""
    root = parse_tree(text)
    if root.kind != "{":
        raise JsonShapeError("the root is not an object")
    old = root.find_child(key)
    if old is not None:
        return text[: old.start] + value + text[old.end :]
    return _insert_item(text, root, (), f"{msgspec.json.encode(key).decode()}: {value}")


def get_member(text: str, key: str) -> str | None:
    """Return the JSON text of a member of the root object."""
    member = parse_tree(text).find_child(key)
    return None if member is None else text[member.start : member.end]


def remove_items(text: str, key: str, is_ours: Callable[[str], bool]) -> str:
    """Remove our leaf objects under this root member, and all containers that hold nothing else."""
    root = parse_tree(text)
    child = root.find_child(key) if root.kind == "{" else None
    spans: list[tuple[int, int]] = []
    if child is not None and _is_fully_removed(text, child, is_ours, spans):
        spans = _compute_cut_spans(root, [other is child for other in root.children])
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


def find_leaves(text: str, key: str, is_ours: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Return our leaf objects under this root member, each as (key of its list, text)."""
    root = parse_tree(text)
    child = root.find_child(key) if root.kind == "{" else None
    lists = () if child is None else child.children
    return [(member.key, leaf) for member in lists for leaf in _find_own_leaves(text, member, is_ours)]


def _find_own_leaves(text: str, node: JsonNode, is_ours: Callable[[str], bool]) -> list[str]:
    if _is_leaf(node):
        raw = text[node.start : node.end]
        return [raw] if is_ours(raw) else []
    return [leaf for child in node.children for leaf in _find_own_leaves(text, child, is_ours)]


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
    match = _WHITESPACE.match(text, offset)
    return match.end() if match else offset


def _insert_item(text: str, node: JsonNode, keys: Sequence[str], item: str) -> str:
    """Insert after the last child in the existing style; an empty object is expanded over several lines."""
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
    """Format ``"a": {"b": [item]}``; over several lines if ``indent`` is given."""
    if not keys:
        return item
    name = msgspec.json.encode(keys[0]).decode()
    if len(keys) == 1:
        return f"{name}: [{item}]"
    inner = _format_item(keys[1:], item, None if indent is None else indent + _INDENT)
    return f"{name}: {{{inner}}}" if indent is None else f"{name}: {{\n{indent}{_INDENT}{inner}\n{indent}}}"


def _is_fully_removed(text: str, node: JsonNode, is_ours: Callable[[str], bool], spans: list[tuple[int, int]]) -> bool:
    """Return True if nothing of the node would remain. Otherwise add the spans to cut from it to ``spans``."""
    if _is_leaf(node):
        return is_ours(text[node.start : node.end])
    inner_spans: list[tuple[int, int]] = []
    removed = [_is_fully_removed(text, child, is_ours, inner_spans) for child in node.children]
    # A matcher object without hooks is useless, even if it has other members such as a pattern.
    loses_hooks = any(flag and child.key == "hooks" for flag, child in zip(removed, node.children, strict=True))
    if loses_hooks or (removed and all(removed)):
        return True
    spans += inner_spans + (_compute_cut_spans(node, removed) if any(removed) else [])
    return False


def _is_leaf(node: JsonNode) -> bool:
    return node.kind == "{" and bool(node.children) and not any(child.kind for child in node.children)


def _compute_cut_spans(node: JsonNode, is_removed: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the spans of the removed children, each including one comma."""
    if all(is_removed):
        return [(node.start + 1, node.end - 1)]
    first_kept = is_removed.index(False)
    return [
        (node.children[index - 1].end, child.end) if index > first_kept else (child.at, node.children[index + 1].at)
        for index, child in enumerate(node.children)
        if is_removed[index]
    ]
