"""Extract the program calls from a syntax tree, in source order.

Every call counts, even if it may not run (branches, loops, functions that are never called).
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import msgspec

from termvisor.policy.shell.call import ProgramCall, ShellRedirect
from termvisor.policy.shell.grammar import WORD_KINDS, SyntaxNode, UnreadableSyntax
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord, expand_word

# Kept below Python's recursion limit, because the visitors are recursive.
MAX_TREE_DEPTH = 120
_SPACED_KIND_NAMES = (
    "command file_redirect herestring_redirect redirected_statement declaration_command for_statement unset_command"
)
# Nodes whose words are separated by spaces. If two words touch, the grammar has split one word in two.
_SPACED_KINDS = frozenset(_SPACED_KIND_NAMES.split())
_RESERVED_WORD_NAMES = "if then elif else fi for while until do done case esac select in function } ]] coproc"
_RESERVED_WORDS = frozenset(_RESERVED_WORD_NAMES.split())
_REDIRECTION = re.compile(r"[<>&|]+-?")
_QUOTED_KINDS = ("raw_string", "ansi_c_string")


def extract_calls(root: SyntaxNode) -> tuple[list[ProgramCall], bool]:
    """Return the calls under a node, and whether they are complete (False if a part could not be parsed)."""
    calls: list[ProgramCall] = []
    try:
        # A loop instead of list(), to keep the calls before an unreadable part.
        for call in _visit_children(root, 0):
            calls.append(call)
    except UnreadableSyntax:  # the calls before it still count
        return calls, False
    return calls, True


def _visit_node(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    if depth > MAX_TREE_DEPTH:
        raise UnreadableSyntax
    visit = _VISITORS.get(node.kind, _visit_children)
    return visit(node, depth)


def _visit_children(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    if node.kind in _SPACED_KINDS and any(_is_torn(child, following) for child, following in pairwise(node.children)):
        raise UnreadableSyntax
    for child in node.named_children:
        yield from _visit_node(child, depth + 1)


def _is_torn(node: SyntaxNode, following: SyntaxNode) -> bool:
    """Return True if a word touches the previous node, which is valid only after a redirection operator."""
    is_touching = node.end == following.start and following.kind in WORD_KINDS
    return is_touching and (node.is_named or not _REDIRECTION.fullmatch(node.text))


def _extract_command(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    inside = tuple(_visit_children(node, depth))
    yield from inside
    words: list[ShellWord] = []
    variables: list[str] = []
    values: list[ShellWord] = []
    for child in node.named_children:
        if child.kind == "variable_assignment" and not words:
            variables.append(_get_variable_name(child))
            values += _expand_value(child)
        elif child.kind in WORD_KINDS or child.kind == "variable_assignment":
            words += expand_word(_reject_reserved_word(child, is_first=not words))
    redirects, input_text = _parse_redirects(node)
    yield ProgramCall(
        words=tuple(words),
        sets=tuple(variables),
        assigned=tuple(values),
        redirects=redirects,
        input_text=input_text,
        substituted=inside,
        start=node.start,
        end=node.end,
    )


def _reject_reserved_word(node: SyntaxNode, is_first: bool) -> SyntaxNode:
    """Raise UnreadableSyntax if a reserved word takes the place of a program, which is a misparse."""
    if node.text == "{" or (is_first and node.text in _RESERVED_WORDS):
        raise UnreadableSyntax
    return node


def _extract_declaration(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Extract `export A=b`, whose keyword is not a named node."""
    inside = tuple(_visit_children(node, depth))
    yield from inside
    sets = tuple(_get_variable_name(child) for child in node.named_children if child.kind == "variable_assignment")
    keyword = ShellWord(node.children[0].text, node.start, node.end)
    rest = tuple(word for child in node.named_children for word in expand_word(child))
    yield ProgramCall(words=(keyword, *rest), sets=sets, substituted=inside, start=node.start, end=node.end)


def _extract_assignment(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    inside = tuple(_visit_children(node, depth))
    yield from inside
    values = tuple(_expand_value(node))
    yield ProgramCall(
        sets=(_get_variable_name(node),), assigned=values, substituted=inside, start=node.start, end=node.end
    )
    if any(re.search(r"\[.*(?:\$\(|`)", word.text) for word in values):  # `x='a[$(b)]'; echo $((x))` runs b
        yield _build_unknown_call(node)


def _expand_value(node: SyntaxNode) -> list[ShellWord]:
    return [word for child in node.named_children[1:] if child.kind in WORD_KINDS for word in expand_word(child)]


def _extract_substitution(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Extract `$(< file)`, which prints the file without a program."""
    yield from _visit_children(node, depth)
    redirects, _ = _parse_redirects(node)
    if redirects:
        yield ProgramCall(redirects=redirects, start=node.start, end=node.end)


def _extract_function(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Extract a function, whose redirections apply to every call in it."""
    is_redirected = any(child.kind.endswith("_redirect") for child in node.named_children)
    yield from (_extract_redirected if is_redirected else _visit_children)(node, depth)


def _extract_expansion(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Find calls missing from the syntax tree: `${a:-`b`}` runs b and `${a@P}` runs the value of a."""
    calls = list(_visit_children(node, depth))
    yield from calls
    text = node.text
    if not calls and ("`" in text or "$(" in text or text.endswith("@P}")):
        yield _build_unknown_call(node)


def _extract_test(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Find calls in tests: `[[ 'a[$(b)]' -eq 0 ]]` runs b although it is quoted."""
    yield from _visit_children(node, depth)
    quoted = "".join(child.text for child in node.iterate_descendants() if child.kind in _QUOTED_KINDS)
    if "$(" in quoted or "`" in quoted:
        yield _build_unknown_call(node)


def _build_unknown_call(node: SyntaxNode) -> ProgramCall:
    return ProgramCall(words=(ShellWord(UNKNOWN_TEXT, node.start, node.end),), start=node.start, end=node.end)


def _extract_pipeline(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Extract a pipeline: each part may read the output of all parts before it."""
    before: tuple[ProgramCall, ...] = ()
    for child in node.named_children:
        part = _feed_calls(_visit_node(child, depth + 1), before)
        yield from part
        before += part


def _extract_redirected(node: SyntaxNode, depth: int) -> Iterator[ProgramCall]:
    """Extract a redirected statement. Redirections apply to every call in it; calls after `<<EOF |` read its output."""
    files = [redirect for redirect in _iterate_redirects(node) if redirect.kind != "heredoc_redirect"]
    inside = tuple(call for child in files for call in _visit_children(child, depth + 1))
    yield from inside
    others = [child for child in node.named_children if not child.kind.endswith("_redirect")]
    body = [call for child in others for call in _visit_node(child, depth + 1)] or [
        ProgramCall(start=node.start, end=node.end)
    ]
    body[-1] = msgspec.structs.replace(body[-1], words=(*body[-1].words, *_find_stray_words(node)))
    redirected = tuple(_add_redirects(call, node, inside) for call in body)
    yield from redirected
    for child in node.named_children:
        if child.kind == "heredoc_redirect":
            yield from _feed_calls(_visit_children(child, depth + 1), redirected)


def _iterate_redirects(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the redirections of a statement. The grammar puts those after `<<EOF` into its here-document."""
    for child in node.named_children:
        if child.kind.endswith("_redirect"):
            yield child
        if child.kind == "heredoc_redirect":
            yield from _iterate_redirects(child)


def _find_stray_words(node: SyntaxNode) -> list[ShellWord]:
    """Return the words of `rm > file -rf /` and `rm <<EOF -rf /` that the grammar puts into the redirection."""
    stray: list[SyntaxNode] = []
    for redirect in _iterate_redirects(node):
        if redirect.kind != "herestring_redirect":
            words = [part for part in redirect.named_children if part.kind in WORD_KINDS]
            stray += words[1:] if redirect.kind == "file_redirect" else words
    return [word for part in stray for word in expand_word(part)]


def _add_redirects(call: ProgramCall, node: SyntaxNode, inside: tuple[ProgramCall, ...]) -> ProgramCall:
    redirects, input_text = _parse_redirects(node)
    return msgspec.structs.replace(
        call,
        redirects=call.redirects + redirects,
        input_text=call.input_text or input_text,
        substituted=call.substituted + inside,
    )


def _feed_calls(calls: Iterator[ProgramCall], sources: tuple[ProgramCall, ...]) -> tuple[ProgramCall, ...]:
    return tuple(msgspec.structs.replace(call, fed_by=sources + call.fed_by) for call in calls)


def _parse_redirects(node: SyntaxNode) -> tuple[tuple[ShellRedirect, ...], ShellWord | None]:
    redirects: list[ShellRedirect] = []
    input_text: ShellWord | None = None
    for child in _iterate_redirects(node):
        if child.kind == "file_redirect":
            operator = next((part.kind for part in child.children if not part.is_named), ">")
            words = [part for part in child.named_children if part.kind in WORD_KINDS]
            targets = [word for part in words[:1] for word in expand_word(part)]
            direction = _parse_direction(operator)
            redirects += [ShellRedirect(direction, word) for word in targets if not _is_descriptor(operator, word)]
        elif child.kind == "herestring_redirect":
            input_text = next((word for part in child.named_children for word in expand_word(part)), input_text)
        else:
            input_text = _build_here_document(child) or input_text
    return tuple(redirects), input_text


def _parse_direction(operator: str) -> Literal["in", "out", "both"]:
    return "both" if operator == "<>" else "in" if operator.startswith("<") else "out"


def _is_descriptor(operator: str, word: ShellWord) -> bool:
    """Return True if the target is a file descriptor, as in `2>&1` and `>&-`, instead of a file."""
    return operator in (">&", "<&", ">&-", "<&-") and (word.text.rstrip("-").isdigit() or word.text in ("", "-"))


def _build_here_document(node: SyntaxNode) -> ShellWord | None:
    body = next((child for child in node.named_children if child.kind == "heredoc_body"), None)
    if body is None:
        return None
    text, position = "", 0
    for child in body.named_children:
        if child.kind in WORD_KINDS:
            text += body.text[position : child.start - body.start] + "".join(word.text for word in expand_word(child))
            position = child.end - body.start
    return ShellWord(text + body.text[position:], body.start, body.end)


def _get_variable_name(node: SyntaxNode) -> str:
    return node.text.partition("=")[0].rstrip("+")


_VISITORS = {
    "command": _extract_command,
    "declaration_command": _extract_declaration,
    "unset_command": _extract_declaration,
    "command_substitution": _extract_substitution,
    "function_definition": _extract_function,
    "variable_assignment": _extract_assignment,
    "expansion": _extract_expansion,
    "test_command": _extract_test,
    "pipeline": _extract_pipeline,
    "redirected_statement": _extract_redirected,
}
