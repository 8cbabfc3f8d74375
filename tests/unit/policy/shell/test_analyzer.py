import tomllib
from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.model.action.policy import COMMAND_CLASSES
from termvisor.policy.shell import CommandAnalysis, CommandFinding, analyze_argv, analyze_command, analyzer
from termvisor.policy.shell.analyzer import has_hidden_text, has_history_expansion, replace_control_chars
from termvisor.policy.shell.grammar import MAX_TEXT_CHARS
from tests.unit.policy.policy_requests import HOME, SCOPE, analyze_text, find_classes

TABLE = tomllib.loads((Path(__file__).parent / "commands.toml").read_text("utf-8"))["command"]
EVASIONS: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "evasions.toml").read_text("utf-8"))
SAME = [
    "rm -rf /",
    "r\"m\" -r'f' /",
    "\\rm -rf /",
    "$'\\x72m' -rf /",
    "'rm' \"-rf\" '/'",
    "r''m -\\r\\f \"/\"",
    "/bin/rm -rf //",
]


def test_every_line_of_the_table_has_exactly_its_classes() -> None:
    found = {row["text"]: sorted(find_classes(row["text"])) for row in TABLE}
    assert {row["text"]: found[row["text"]] for row in TABLE if found[row["text"]] != row["classes"]} == {}


def test_table_covers_every_class_and_has_near_misses() -> None:
    assert len(TABLE) >= 500
    assert {name for row in TABLE for name in row["classes"]} == set(COMMAND_CLASSES)
    assert sum(not row["classes"] for row in TABLE) >= 100


def test_every_evasion_has_exactly_its_classes() -> None:
    found = {text: " ".join(sorted(find_classes(text))) for texts in EVASIONS.values() for text in texts}
    expected = {text: classes for classes, texts in EVASIONS.items() for text in texts}
    assert {text: (expected[text], found[text]) for text in found if found[text] != expected[text]} == {}


def test_no_evasion_is_allowed_for_a_program_and_most_ask_a_person() -> None:
    texts = [text for texts in EVASIONS.values() for text in texts]
    asked = [text for text in texts if any(COMMAND_CLASSES[name].human != "allow" for name in find_classes(text))]
    assert [text for text in texts if not find_classes(text)] == []
    assert (len(texts) >= 600, len(asked) >= 500) == (True, True)


@pytest.mark.parametrize("word", ["then", "do", "else", "elif", "fi", "done", "esac", "in", "}", "]]"])
def test_reserved_word_in_place_of_a_program_is_unparsed(word: str) -> None:
    assert "unparsed" in find_classes(f"{word} rm -rf /")


@pytest.mark.parametrize("line", ["tee *", "frobnicate a*", "frobnicate c?", "frobnicate [ab]"])
def test_pattern_in_own_folder_is_a_protected_path(line: str) -> None:
    own = replace(SCOPE, cwd=f"{HOME}/.config/termvisor")
    assert "protected_path" in analyze_command(line, own, "bash").classes
    assert "protected_path" not in find_classes(line)


@pytest.mark.parametrize("text", ["f() { ls & }", "f() { ls | wc; }", "f() { g & }; g() { ls; }", "f() { f; }"])
def test_function_that_does_not_multiply_is_no_fork_bomb(text: str) -> None:
    assert "fork_bomb" not in find_classes(text)


@pytest.mark.parametrize(
    "line", ["./ls", "/tmp/ls -l", "~/bin/git status", "LS", "bin/cat x", "/bin/../tmp/ls", "./ls --help"]
)
def test_file_named_like_a_known_program_has_an_unknown_effect(line: str) -> None:
    assert find_classes(line) == {"unknown_effect"}
    assert find_classes("/bin/ls; /usr/bin/git status; //bin/ls --help") == set()


@pytest.mark.parametrize("line", ["cat <&3", "cat <&-", "ls >&2", "exec 3<&0", "cat <&3-"])
def test_descriptor_is_not_a_file(line: str) -> None:
    assert (analyze_text(line).reads, analyze_text(line).writes) == ((), ())


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("echo x > ../a", {"outside_write"}),
        ("touch ~/a", {"outside_write"}),
        ("cp a /tmp/b", set()),
        ("echo x > /dev/null", set()),
        ("cd .. && touch a", {"outside_write"}),
        ("mv a ../b", {"outside_write"}),
        ("echo x > ~/.claude/settings.json", {"system_write"}),
        ("cp x ~/.claud?/settings.json", {"system_write"}),
        ("echo x > .mcp.json", {"system_write"}),
        ("frobnicate ~/.bashrc", {"system_write", "unknown_effect"}),
    ],
)
def test_writes_outside_the_folder_and_to_configuration_are_found(line: str, found: set[str]) -> None:
    assert find_classes(line) == found


@pytest.mark.parametrize("text", SAME)
def test_quoting_a_word_differently_changes_nothing(text: str) -> None:
    assert find_classes(text) == {"destructive_delete", "system_delete"}


def test_finding_has_its_position() -> None:
    text = "echo é; rm -rf build && ls"
    (finding,) = analyze_text(text).findings
    assert (finding.name, finding.text, text[finding.start : finding.end]) == (
        ("destructive_delete", "rm -rf build", "rm -rf build")
    )


def test_finding_in_a_redirection_without_a_program_has_its_position() -> None:
    (finding,) = analyze_text("ls; > x; ls").findings
    assert (finding.name, finding.text) == ("delete", "> x")


def test_braces_expand_to_a_limited_number_of_words() -> None:
    assert len(analyze_text(f"touch {'{a,b}' * 6}").writes) == 64
    many = analyze_text(f"touch {'{a,b}' * 7}")
    assert (many.writes, "dynamic_path" in many.classes) == ((), True)


def test_finding_in_a_nested_script_has_the_span_of_its_command() -> None:
    (finding,) = analyze_text("ls; bash -c 'rm -r x'").findings
    assert finding.text == "bash -c 'rm -r x'"


def test_programs_lines_paths_and_hosts_are_listed() -> None:
    found = analyze_text("sudo 'cat' a > b; curl https://x.example; $X")
    assert found.programs == ("sudo", "cat", "curl", "?")
    assert "cat a" in found.lines
    assert (found.reads, found.writes) == ((f"{HOME}/src/a",), (f"{HOME}/src/b",))
    assert found.hosts == ("x.example",)


def test_paths_after_cd_are_resolved_from_both_folders() -> None:
    assert analyze_text("cd /tmp; rm -r x").removes == (f"{HOME}/src/x", "/tmp/x")


def test_comment_is_analyzed_for_shells_without_comments() -> None:
    for text in ("ls # ; rm -rf /", "rm -rf build # /"):
        assert "system_delete" not in find_classes(text, "bash")
        assert "system_delete" in find_classes(text, "zsh")
        assert "system_delete" in find_classes(text, "")
    assert find_classes("# rm -rf /", "zsh") == set()


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "ksh", "fish"])
def test_comment_is_not_analyzed_for_a_shell_that_has_them(shell: str) -> None:
    assert find_classes("ls # ; rm -rf /", shell) == set()


@pytest.mark.parametrize(
    "text",
    [
        "x" * (MAX_TEXT_CHARS + 1),
        "a|" * 400,
        "(" * 200 + ")" * 200,
        "$(" * 100 + ")" * 100,
        "sudo " * 50 + "ls",
        "a && " * 140 + "b",
    ],
    ids=["long", "signs", "nested", "substituted", "wrapped", "chained"],
)
def test_too_long_or_too_deep_text_is_unparsed(text: str) -> None:
    assert "unparsed" in find_classes(text)


def test_a_million_characters_are_rejected_quickly() -> None:
    assert find_classes("rm -rf / ; " * 100_000) == {"unparsed"}


def test_half_a_million_words_cost_no_more_than_the_first_ones() -> None:
    words = ("rm", "-rf", "/", *(f"-u{number}" for number in range(500_000)))
    assert {"unparsed", "system_delete"} <= analyze_argv(words, SCOPE).classes
    assert find_classes(" ".join(words)) == {"unparsed"}


def test_argv_is_analyzed_without_shell_syntax() -> None:
    assert analyze_argv(("rm", "-rf", "/"), SCOPE).classes == {"destructive_delete", "system_delete"}
    assert analyze_argv(("echo", "$(rm -rf /)", ";", "rm"), SCOPE).classes == set()
    assert analyze_argv(("sh", "-c", "rm -rf /"), SCOPE).classes == {"destructive_delete", "system_delete"}
    assert analyze_argv(("ls", "x" * 5000), SCOPE).classes == {"unparsed"}
    assert analyze_argv(("ls", "\x1b"), SCOPE).classes == {"hidden_text"}
    assert analyze_argv((), SCOPE, ("LD_PRELOAD",)).classes == {"environment"}


def test_analysis_works_without_known_folders() -> None:
    from termvisor.policy.path_rules import PathScope

    assert "system_delete" in analyze_command("rm -rf ~", PathScope()).classes


def test_classes_are_those_of_the_findings() -> None:
    found = CommandAnalysis(findings=(CommandFinding("delete", 0, 4, "rm a"), CommandFinding("delete", 6, 10, "rm b")))
    assert found.classes == {"delete"}
    assert CommandAnalysis().classes == set()


@pytest.mark.parametrize("sign", ["\x00", "\x03", "\x1b", "\x7f", "\x9b", "\u200b", "\u202e", "\u2066", "\ufeff"])
def test_invisible_characters_are_found(sign: str) -> None:
    assert has_hidden_text(f"a{sign}b")


@pytest.mark.parametrize("sign", ["\ud800", "\U000e0041", "\ue00f"])
def test_surrogates_and_mask_characters_are_found(sign: str) -> None:
    assert has_hidden_text(f"a{sign}b")


@pytest.mark.parametrize("text", ["ls\n\tx\r\n", "é ü 漢字 😀 👩\u200d💻", "a\xa0b"])
def test_ordinary_text_hides_nothing(text: str) -> None:
    assert not has_hidden_text(text)


def test_a_control_character_ends_a_line_and_keeps_positions() -> None:
    assert replace_control_chars("ls\x03rm\r\x1bx\ud800\ue000") == "ls\nrm\n\nx\ufffd\ufffd"


@pytest.mark.parametrize("text", ["!!", "!rm", "echo !$", '"a!b"', "ls; !-2", "^a^b", "ls\n^a^b", "it's \\' !x"])
def test_history_expansion_is_found(text: str) -> None:
    assert has_history_expansion(text)


@pytest.mark.parametrize(
    "text", ["! ls", "[ a != b ]", "echo hi!", '"hi!"', "'!x'", "$!", "${!x}", "[!a]*", "\\!x", "ls !(a)", "a^b"]
)
def test_other_exclamation_marks_are_harmless(text: str) -> None:
    assert not has_history_expansion(text)


def test_only_the_first_words_of_a_very_long_command_are_analyzed(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[str] = []
    monkeypatch.setattr(analyzer, "resolve_path", lambda text, *_: resolved.append(text) or f"/{text}")
    analysis = analyze_argv(("rm", "-r", *(f"x/{number}" for number in range(100_000))), SCOPE)
    assert {"unparsed", "destructive_delete"} <= analysis.classes
    assert len(resolved) < 2 * MAX_TEXT_CHARS


def test_many_programs_for_many_paths_are_unknown() -> None:
    paths, programs = ("a",) * 2000, ("-exec", "rm", "{}", ";") * 500
    analysis = analyze_argv(("find", *paths, *programs), SCOPE)
    assert {"unparsed", "dynamic"} <= analysis.classes
    assert len(analysis.lines) == 3
