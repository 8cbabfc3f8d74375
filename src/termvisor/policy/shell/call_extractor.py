"""A tree of the grammar becomes calls, in the order in which they stand.

Where the shell's rules would need a run (branches, loops, functions that are never called), every call counts.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import msgspec

from termvisor.policy.shell.call import Call, Redirect
from termvisor.policy.shell.syntax_node import WORDS, Part, Unreadable
from termvisor.policy.shell.word import HOLE, Word, words

DEEPEST = 120
_APART: tuple[str, ...] = (
    "command",
    "file_redirect",
    "herestring_redirect",
    "redirected_statement",
    "declaration_command",
)
_APART += ("for_statement", "unset_command")
"""Here words stand apart. Where they touch, the grammar has torn one word into two."""
_RESERVED: tuple[str, ...] = (
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
_RESERVED += ("function", "}", "]]", "coproc")
_REDIRECTION = re.compile(r"[<>&|]+-?")
_QUOTED = ("raw_string", "ansi_c_string")


def calls(root: Part) -> tuple[list[Call], bool]:
    """The calls below a node, and whether these are all of them: behind what cannot be read there may be more."""
    found: list[Call] = []
    try:
        for call in _below(root, 0):
            found.append(call)
    except Unreadable:
        return found, False
    return found, True


def _visit(node: Part, depth: int) -> Iterator[Call]:
    if depth > DEEPEST:
        raise Unreadable
    visit = _VISITS.get(node.kind, _below)
    return visit(node, depth)


def _below(node: Part, depth: int) -> Iterator[Call]:
    if node.kind in _APART and any(_is_torn(one, other) for one, other in pairwise(node.pieces)):
        raise Unreadable
    for child in node.parts:
        yield from _visit(child, depth + 1)


def _is_torn(one: Part, other: Part) -> bool:
    """Only the sign of a redirection touches the word behind it."""
    return one.end == other.start and other.kind in WORDS and (one.is_named or not _REDIRECTION.fullmatch(one.text))


def _command(node: Part, depth: int) -> Iterator[Call]:
    inside = tuple(_below(node, depth))
    yield from inside
    found: list[Word] = []
    sets: list[str] = []
    for child in node.parts:
        if child.kind == "variable_assignment" and not found:
            sets.append(_assigned(child))
        elif child.kind in WORDS or child.kind == "variable_assignment":
            found += words(_checked(child, is_first=not found))
    redirects, given = _redirects(node)
    yield Call(
        words=tuple(found),
        sets=tuple(sets),
        redirects=redirects,
        given=given,
        substituted=inside,
        start=node.start,
        end=node.end,
    )


def _checked(part: Part, is_first: bool) -> Part:
    """A word of the shell's own language is no program: there the grammar has lost its way."""
    if part.text == "{" or (is_first and part.text in _RESERVED):
        raise Unreadable
    return part


def _declaration(node: Part, depth: int) -> Iterator[Call]:
    """`export A=b`: the keyword is no node of its own kind."""
    inside = tuple(_below(node, depth))
    yield from inside
    sets = tuple(_assigned(child) for child in node.parts if child.kind == "variable_assignment")
    keyword = Word(node.pieces[0].text, node.start, node.end)
    rest = tuple(word for child in node.parts for word in words(child))
    yield Call(words=(keyword, *rest), sets=sets, substituted=inside, start=node.start, end=node.end)


def _assignment(node: Part, depth: int) -> Iterator[Call]:
    inside = tuple(_below(node, depth))
    yield from inside
    yield Call(sets=(_assigned(node),), substituted=inside, start=node.start, end=node.end)


def _expansion(node: Part, depth: int) -> Iterator[Call]:
    """`${a:-`b`}` runs b and `${a@P}` runs what a holds; the grammar shows neither."""
    found = list(_below(node, depth))
    yield from found
    text = node.text
    if not found and ("`" in text or "$(" in text or text.endswith("@P}")):
        yield _unseen(node)


def _test(node: Part, depth: int) -> Iterator[Call]:
    """`[[ 'a[$(b)]' -eq 0 ]]` runs b although it stands in quotes."""
    yield from _below(node, depth)
    quoted = "".join(child.text for child in _descendants(node) if child.kind in _QUOTED)
    if "$(" in quoted or "`" in quoted:
        yield _unseen(node)


def _descendants(node: Part) -> Iterator[Part]:
    todo = [node]
    while todo:
        one = todo.pop()
        yield one
        todo += one.parts


def _unseen(node: Part) -> Call:
    return Call(words=(Word(HOLE, node.start, node.end),), start=node.start, end=node.end)


def _pipeline(node: Part, depth: int) -> Iterator[Call]:
    """Each part may read what all parts before it print."""
    before: tuple[Call, ...] = ()
    for child in node.parts:
        part = _fed(_visit(child, depth + 1), before)
        yield from part
        before += part


def _redirected(node: Part, depth: int) -> Iterator[Call]:
    """The redirections of a statement hold for every call in it; what stands behind a `<<EOF |` is fed by it."""
    files = [child for child in node.parts if child.kind in ("file_redirect", "herestring_redirect")]
    inside = tuple(call for child in files for call in _below(child, depth + 1))
    yield from inside
    others = [child for child in node.parts if not child.kind.endswith("_redirect")]
    body = [call for child in others for call in _visit(child, depth + 1)] or [Call(start=node.start, end=node.end)]
    body[-1] = msgspec.structs.replace(body[-1], words=(*body[-1].words, *_strays(node)))
    told = tuple(_told(call, node, inside) for call in body)
    yield from told
    for child in node.parts:
        if child.kind == "heredoc_redirect":
            yield from _fed(_below(child, depth + 1), told)


def _strays(node: Part) -> list[Word]:
    """The words of `rm > file -rf /` and `rm <<EOF -rf /` that the grammar counts to the redirection."""
    found: list[Part] = []
    for child in node.parts:
        if child.kind in ("file_redirect", "heredoc_redirect"):
            own = [part for part in child.parts if part.kind in WORDS]
            found += own[1:] if child.kind == "file_redirect" else own
    return [word for part in found for word in words(part)]


def _told(call: Call, node: Part, inside: tuple[Call, ...]) -> Call:
    redirects, given = _redirects(node)
    return msgspec.structs.replace(
        call,
        redirects=call.redirects + redirects,
        given=call.given or given,
        substituted=call.substituted + inside,
    )


def _fed(found: Iterator[Call], before: tuple[Call, ...]) -> tuple[Call, ...]:
    return tuple(msgspec.structs.replace(call, fed_by=before + call.fed_by) for call in found)


def _redirects(node: Part) -> tuple[tuple[Redirect, ...], Word | None]:
    found: list[Redirect] = []
    given: Word | None = None
    for child in node.parts:
        if child.kind == "file_redirect":
            sign = next((part.kind for part in child.pieces if not part.is_named), ">")
            own = [part for part in child.parts if part.kind in WORDS]
            targets = [word for part in own[:1] for word in words(part)]
            found += [Redirect(_way(sign), word) for word in targets if not _is_descriptor(sign, word)]
        elif child.kind == "herestring_redirect":
            given = next((word for part in child.parts for word in words(part)), given)
        elif child.kind == "heredoc_redirect":
            given = _here_document(child) or given
    return tuple(found), given


def _way(sign: str) -> Literal["in", "out", "both"]:
    return "both" if sign == "<>" else "in" if sign.startswith("<") else "out"


def _is_descriptor(sign: str, word: Word) -> bool:
    """`2>&1` and `>&-` name no file."""
    return sign in (">&", "<&", ">&-", "<&-") and (word.text.rstrip("-").isdigit() or word.text in ("", "-"))


def _here_document(node: Part) -> Word | None:
    body = next((child for child in node.parts if child.kind == "heredoc_body"), None)
    if body is None:
        return None
    text, at = "", 0
    for child in body.parts:
        if child.kind in WORDS:
            text += body.text[at : child.start - body.start] + "".join(word.text for word in words(child))
            at = child.end - body.start
    return Word(text + body.text[at:], body.start, body.end)


def _assigned(node: Part) -> str:
    return node.text.partition("=")[0].rstrip("+")


_VISITS = {
    "command": _command,
    "declaration_command": _declaration,
    "variable_assignment": _assignment,
    "expansion": _expansion,
    "test_command": _test,
    "pipeline": _pipeline,
    "redirected_statement": _redirected,
}
