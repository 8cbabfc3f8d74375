"""A tree of the grammar becomes calls, in the order in which they stand.

Where the shell's rules would need a run (branches, loops, functions that are never called), every call counts.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import msgspec

from termvisor.policy.shell.call import ProgramCall, ShellRedirect
from termvisor.policy.shell.syntax_node import WORD_KINDS, SyntaxNode, UnreadableSyntax
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord, expand_word

MAX_TREE_DEPTH = 120
_SPACED_KINDS: tuple[str, ...] = (
    "command",
    "file_redirect",
    "herestring_redirect",
    "redirected_statement",
    "declaration_command",
)
_SPACED_KINDS += ("for_statement", "unset_command")
"""Here words stand apart. Where they touch, the grammar has torn one word into two."""
_RESERVED_WORDS: tuple[str, ...] = (
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "for",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "select",
    "in",
)
_RESERVED_WORDS += ("function", "}", "]]", "coproc")
_REDIRECTION = re.compile(r"[<>&|]+-?")
_QUOTED_KINDS = ("raw_string", "ansi_c_string")


def extract_calls(root: SyntaxNode) -> tuple[list[ProgramCall], bool]:
    """The calls below a node, and whether these are all of them: behind what cannot be read there may be more."""
    found: list[ProgramCall] = []
    try:
        for call in _visit_children(root, 0):
            found.append(call)
    except UnreadableSyntax:
        return found, False
    return found, True


def _visit_node(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    if depth > MAX_TREE_DEPTH:
        raise UnreadableSyntax
    visit = _VISITORS.get(node.kind, _visit_children)
    return visit(node, depth)


def _visit_children(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    if node.kind in _SPACED_KINDS and any(_is_torn(one, other) for one, other in pairwise(node.children)):
        raise UnreadableSyntax
    for child in node.named_children:
        yield from _visit_node(child, depth + 1)


def _is_torn(one: SyntaxNode, other: SyntaxNode) -> bool:
    """Only the sign of a redirection touches the word behind it."""
    return (
        one.end == other.start and other.kind in WORD_KINDS and (one.is_named or not _REDIRECTION.fullmatch(one.text))
    )


def _extract_command(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    inside = tuple(_visit_children(node, depth))
    yield from inside
    found: list[ShellWord] = []
    sets: list[str] = []
    for child in node.named_children:
        if child.kind == "variable_assignment" and not found:
            sets.append(_get_variable_name(child))
        elif child.kind in WORD_KINDS or child.kind == "variable_assignment":
            found += expand_word(_reject_reserved_word(child, is_first=not found))
    redirects, given = _parse_redirects(node)
    yield ProgramCall(
        words=tuple(found),
        sets=tuple(sets),
        redirects=redirects,
        given=given,
        substituted=inside,
        start=node.start,
        end=node.end,
    )


def _reject_reserved_word(part: SyntaxNode, is_first: bool) -> SyntaxNode:
    """A word of the shell's own language is no program: there the grammar has lost its way."""
    if part.text == "{" or (is_first and part.text in _RESERVED_WORDS):
        raise UnreadableSyntax
    return part


def _extract_declaration(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """`export A=b`: the keyword is no node of its own kind."""
    inside = tuple(_visit_children(node, depth))
    yield from inside
    sets = tuple(_get_variable_name(child) for child in node.named_children if child.kind == "variable_assignment")
    keyword = ShellWord(node.children[0].text, node.start, node.end)
    rest = tuple(word for child in node.named_children for word in expand_word(child))
    yield ProgramCall(words=(keyword, *rest), sets=sets, substituted=inside, start=node.start, end=node.end)


def _extract_assignment(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    inside = tuple(_visit_children(node, depth))
    yield from inside
    yield ProgramCall(sets=(_get_variable_name(node),), substituted=inside, start=node.start, end=node.end)


def _extract_expansion(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """`${a:-`b`}` runs b and `${a@P}` runs what a holds; the grammar shows neither."""
    found = list(_visit_children(node, depth))
    yield from found
    text = node.text
    if not found and ("`" in text or "$(" in text or text.endswith("@P}")):
        yield _build_unknown_call(node)


def _extract_test(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """`[[ 'a[$(b)]' -eq 0 ]]` runs b although it stands in quotes."""
    yield from _visit_children(node, depth)
    quoted = "".join(child.text for child in _iterate_descendants(node) if child.kind in _QUOTED_KINDS)
    if "$(" in quoted or "`" in quoted:
        yield _build_unknown_call(node)


def _iterate_descendants(node: SyntaxNode) -> Iterator[SyntaxNode]:
    todo = [node]
    while todo:
        one = todo.pop()
        yield one
        todo += one.named_children


def _build_unknown_call(node: SyntaxNode) -> ProgramCall:
    return ProgramCall(words=(ShellWord(UNKNOWN_TEXT, node.start, node.end),), start=node.start, end=node.end)


def _extract_pipeline(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Each part may read what all parts before it print."""
    before: tuple[ProgramCall, ...] = ()
    for child in node.named_children:
        part = _feed_calls(_visit_node(child, depth + 1), before)
        yield from part
        before += part


def _extract_redirected(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """The redirections of a statement hold for every call in it; what stands behind a `<<EOF |` is fed by it."""
    files = [child for child in node.named_children if child.kind in ("file_redirect", "herestring_redirect")]
    inside = tuple(call for child in files for call in _visit_children(child, depth + 1))
    yield from inside
    others = [child for child in node.named_children if not child.kind.endswith("_redirect")]
    body = [call for child in others for call in _visit_node(child, depth + 1)] or [
        ProgramCall(start=node.start, end=node.end)
    ]
    body[-1] = msgspec.structs.replace(body[-1], words=(*body[-1].words, *_find_stray_words(node)))
    told = tuple(_add_redirects(call, node, inside) for call in body)
    yield from told
    for child in node.named_children:
        if child.kind == "heredoc_redirect":
            yield from _feed_calls(_visit_children(child, depth + 1), told)


def _find_stray_words(node: SyntaxNode) -> list[ShellWord]:
    """The words of `rm > file -rf /` and `rm <<EOF -rf /` that the grammar counts to the redirection."""
    found: list[SyntaxNode] = []
    for child in node.named_children:
        if child.kind in ("file_redirect", "heredoc_redirect"):
            own = [part for part in child.named_children if part.kind in WORD_KINDS]
            found += own[1:] if child.kind == "file_redirect" else own
    return [word for part in found for word in expand_word(part)]


def _add_redirects(call: ProgramCall, node: SyntaxNode, inside: tuple[ProgramCall, ...]) -> ProgramCall:
    redirects, given = _parse_redirects(node)
    return msgspec.structs.replace(
        call,
        redirects=call.redirects + redirects,
        given=call.given or given,
        substituted=call.substituted + inside,
    )


def _feed_calls(found: Iterator[ProgramCall], before: tuple[ProgramCall, ...]) -> tuple[ProgramCall, ...]:
    return tuple(msgspec.structs.replace(call, fed_by=before + call.fed_by) for call in found)


def _parse_redirects(node: SyntaxNode) -> tuple[tuple[ShellRedirect, ...], ShellWord | None]:
    found: list[ShellRedirect] = []
    given: ShellWord | None = None
    for child in node.named_children:
        if child.kind == "file_redirect":
            sign = next((part.kind for part in child.children if not part.is_named), ">")
            own = [part for part in child.named_children if part.kind in WORD_KINDS]
            targets = [word for part in own[:1] for word in expand_word(part)]
            found += [ShellRedirect(_parse_direction(sign), word) for word in targets if not _is_descriptor(sign, word)]
        elif child.kind == "herestring_redirect":
            given = next((word for part in child.named_children for word in expand_word(part)), given)
        elif child.kind == "heredoc_redirect":
            given = _build_here_document(child) or given
    return tuple(found), given


def _parse_direction(sign: str) -> Literal["in", "out", "both"]:
    return "both" if sign == "<>" else "in" if sign.startswith("<") else "out"


def _is_descriptor(sign: str, word: ShellWord) -> bool:
    """`2>&1` and `>&-` name no file."""
    return sign in (">&", "<&", ">&-", "<&-") and (word.text.rstrip("-").isdigit() or word.text in ("", "-"))


def _build_here_document(node: SyntaxNode) -> ShellWord | None:
    body = next((child for child in node.named_children if child.kind == "heredoc_body"), None)
    if body is None:
        return None
    text, at = "", 0
    for child in body.named_children:
        if child.kind in WORD_KINDS:
            text += body.text[at : child.start - body.start] + "".join(word.text for word in expand_word(child))
            at = child.end - body.start
    return ShellWord(text + body.text[at:], body.start, body.end)


def _get_variable_name(node: SyntaxNode) -> str:
    return node.text.partition("=")[0].rstrip("+")


_VISITORS = {
    "command": _extract_command,
    "declaration_command": _extract_declaration,
    "variable_assignment": _extract_assignment,
    "expansion": _extract_expansion,
    "test_command": _extract_test,
    "pipeline": _extract_pipeline,
    "redirected_statement": _extract_redirected,
}
