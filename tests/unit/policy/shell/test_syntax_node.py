from termvisor.policy.shell import grammar
from termvisor.policy.shell.syntax_node import SyntaxNode


def test_node_has_the_original_text() -> None:
    root = grammar.parse_script("echo 'é' > ü")
    assert isinstance(root, SyntaxNode)
    (statement,) = root.named_children
    command, redirect = statement.named_children
    assert (root.kind, root.has_error, statement.kind) == ("program", False, "redirected_statement")
    assert (command.text, command.start, command.end) == ("echo 'é'", 0, 8)
    assert [(piece.text, piece.is_named) for piece in redirect.children] == [(">", False), ("ü", True)]
