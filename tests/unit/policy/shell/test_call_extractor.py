import pytest

from termvisor.policy.shell import grammar
from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.call_extractor import extract_calls


def extract(text: str) -> list[ProgramCall]:
    root = grammar.parse_script(text)
    assert root is not None
    return extract_calls(root)[0]


def lines(text: str) -> list[str]:
    return [call.text for call in extract(text) if call.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b & c && d || e", ["a", "b", "c", "d", "e"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("for x in $(a); do b $x; done", ["a", "b …"]),
        ("case $(a) in x) b;; *) c;; esac", ["a", "b", "c"]),
        ("{ a; }; (b); ! c", ["a", "b", "c"]),
        ("f() { a; }; function g { b; }", ["a", "b"]),
        ('echo $(a) `b` <(c) "$(d)" ${x:-$(e)} $(( $(f) ))', ["a", "b", "c", "d", "e", "f", "echo … … … … … …"]),
        ("x=$(a) b", ["a", "b"]),
        ("export x=$(a)", ["a", "export x=…"]),
        ("[[ -n $(a) ]] && b", ["a", "b"]),
        ("cat <<EOF\n$(a)\nEOF", ["cat", "a"]),
        ('echo "${x:-`a`}"', ["…", "echo …"]),
        ("[[ 'x[$(a)]' -eq 0 ]]", ["…"]),
        ("# a", []),
    ],
)
def test_every_call_is_extracted(text: str, expected: list[str]) -> None:
    assert sorted(lines(text)) == sorted(expected)


def test_a_pipeline_part_gets_input_from_all_before_it() -> None:
    third = extract("a | b | c")[2]
    assert [call.name for call in third.fed_by] == ["a", "b"]


def test_a_here_document_is_input_of_its_command_and_output_goes_on_in_the_pipe() -> None:
    cat, sh = extract("cat <<EOF | sh\nrm $X\nEOF")
    assert (cat.input_text and cat.input_text.text.replace("\ue00f", "…"), [call.name for call in sh.fed_by]) == (
        "rm …\n",
        ["cat"],
    )


def test_a_here_string_is_the_input_of_its_command() -> None:
    (call,) = extract("sh <<< 'a b'")
    assert call.input_text is not None
    assert call.input_text.text == "a b"


def test_redirections_apply_to_every_call_of_a_statement() -> None:
    one, two = extract("{ a; b; } > f 2>&1 < g")
    assert [(each.direction, each.word.text) for each in one.redirects] == [("out", "f"), ("in", "g")]
    assert two.redirects == one.redirects


def test_substituted_calls_are_recorded() -> None:
    assert [call.name for call in extract("sh <(a)")[-1].substituted] == ["a"]
    assert [call.name for call in extract("sh < <(a)")[-1].substituted] == ["a"]


def test_assigned_variables_are_recorded() -> None:
    assert [call.sets for call in extract("A=1 B+=2 c") if call.words] == [("A", "B")]
    assert extract("export C=3")[-1].sets == ("C",)


def test_too_deep_tree_is_incomplete() -> None:
    root = grammar.parse_script("a; " + "(" * 130 + "b" + ")" * 130)
    assert root is not None
    assert ([call.name for call in extract_calls(root)[0]], extract_calls(root)[1]) == (["a"], False)


@pytest.mark.parametrize(
    "text",
    [
        "ls =~${X}",
        "] [[",
        "} [",
        "sudo \n\\[",
        "2$X$X/",
        "=`b`{",
        '2"q"$/',
        "a=(!)/",
        "ls ``-x y",
        "'q'#\\\n=",
        '$\n"q"b',
    ],
)
def test_words_that_the_grammar_splits_or_drops_are_incomplete(text: str) -> None:
    root = grammar.parse_script(text)
    assert root is not None
    assert (root.has_error, extract_calls(root)[1]) == (False, False)
