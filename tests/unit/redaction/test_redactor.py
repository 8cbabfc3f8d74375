"""The stream of lines, its state, and the default rules."""

import subprocess
import sys
import threading

import pytest

from termvisor.redaction import Redactor, build_rules, redact, redact_each, redact_values, use_rules

KEY = "sk-ant-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP1qR2"
MASKED = "sk-ant-[redacted:anthropic_key]"


def test_clean_lines_are_unchanged():
    lines = ["one", "", "drei ⏺", "\udcff broken"]
    assert Redactor().redact_lines(lines) == lines
    assert Redactor().redact_lines([]) == []


def test_a_line_with_a_newline_inside_stays_one_line():
    assert Redactor().redact_lines(["a\nb", f"x {KEY}.\ny"]) == ["a\nb", f"x {MASKED}.\ny"]


@pytest.mark.parametrize(
    "texts", [[], ["a", ""], [KEY], ["a", f"b {KEY}", "c\nd", f"{KEY}\n", KEY[8:]], ["-----BEGIN", KEY]]
)
def test_texts_are_redacted_independently(texts):
    assert redact_each(texts) == [redact(text) for text in texts]


def test_a_lone_surrogate_does_not_hide_a_secret():
    assert redact(f"\udcff {KEY} \udcff") == f"\udcff {MASKED} \udcff"


def test_a_secret_behind_wide_characters_is_masked_at_its_place():
    assert redact(f"⏺ 密钥 {KEY} ✔") == f"⏺ 密钥 {MASKED} ✔"


def test_several_secrets_in_one_line_are_each_masked():
    text = f"a {KEY} b password=hunter2 c"
    assert redact(text) == f"a {MASKED} b password=[redacted:password_assignment] c"


def test_the_more_specific_kind_names_the_marker():
    assert redact(f"Authorization: Bearer {KEY}") == f"Authorization: Bearer {MASKED}"
    assert redact(f'"api_key": "{KEY}"') == f'"api_key": "{MASKED}"'


def test_a_marker_is_not_matched_as_a_name():
    text = "GOCSPX-[redacted:google_client_secret]: abcd1234efgh"
    assert redact(text) == text


@pytest.mark.parametrize("state", [b"nonsense", b"gone_kind 0 5", b"anthropic_key 99 5", b"\xff", b"a b c"])
def test_an_unreadable_state_is_ignored(state: bytes):
    assert Redactor(state=state).redact_lines(["aB3dE5gH7jK9 x"]) == ["aB3dE5gH7jK9 x"]


def test_the_default_rules_can_be_replaced():
    try:
        use_rules(build_rules(extra=["geheim-[0-9]+"], allow=["anthropic_key", "openai_key"]))
        assert redact(f"geheim-12 {KEY}") == f"[redacted:custom_1] {KEY}"
    finally:
        use_rules(build_rules())
    assert redact(f"geheim-12 {KEY}") == f"geheim-12 {MASKED}"


def test_two_threads_may_redact_at_once():
    text = "\n".join(["plain words here", KEY + "."] * 500)
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(redact(text))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [text.replace(KEY, MASKED)] * 4


def test_the_engine_is_loaded_with_the_first_text():
    code = (
        "import sys, termvisor.redaction as r; n = 'hyperscan'\n"
        "print(n in sys.modules, r.redact('x'), n in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "x", "True"]


def test_hostile_lines_take_linear_time():
    for piece in (
        "sk-",
        "token=",
        "password:",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "://a:",
        "curl -u ",
        "Cookie: a=",
    ):
        assert len(redact(piece * 3000)) > 0


@pytest.mark.parametrize("char", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\ufe0f"])
def test_invisible_characters_hide_no_secret(char):
    split = f"{KEY[:5]}{char}{KEY[5:20]}{char}{KEY[20:]}"
    assert redact(f"key {split} end") == f"key {MASKED} end"
    assert redact_each(["a", f"pass{char}word=hunter2"]) == ["a", "password=[redacted:password_assignment]"]
    assert redact(f"a family 👨{char}👩 at home") == f"a family 👨{char}👩 at home"


@pytest.mark.parametrize("text", ["sk-ant-aB3dE5gH7", "$ ghp_aB3dE5gH7"])
def test_a_line_that_ends_anywhere_in_a_secret_is_masked(text):
    assert redact(text) == text, "a short line is not cut by the edge of a screen"
    assert "aB3dE5gH" not in Redactor().redact_cut_line(text)
    assert Redactor().redact_cut_line("  task-force") == "  task-force"


def test_only_the_row_of_the_cursor_may_end_anywhere_in_a_secret():
    rows = ["sk-ant-aB3dE5gH7", "sk-ant-bB3dE5gH7", "sk-ant-cB3dE5gH7"]
    assert Redactor().redact_screen(rows, 1) == [rows[0], MASKED, rows[2]]
    assert Redactor().redact_screen(rows, 5) == rows
    rest = "[redacted:anthropic_key]"
    assert Redactor().redact_screen(["x", KEY[:30], KEY[30:], "y z"], 2) == ["x", MASKED, rest, "y z"]


@pytest.mark.parametrize(
    ("rows", "redacted"),
    [
        (["--secret sm_pat_4iB0o", "X2qS7mF5pG9"], ["--secret [redacted:secret_flag]", "[redacted:settlemint_token]"]),
        (["API-0J3R8Q0N9E7T2A5R7G", "6V5S6J7D"], ["API-[redacted:octopus_key]", "[redacted:octopus_key]"]),
        (
            ["export TOKEN=nfp_0zW5u", "A0vA3oX0mV4wF6oA8fE9uF", "2bS5xH4kW"],
            ["export TOKEN=[redacted:secret_assignment]", "[redacted:netlify_token]", "[redacted:netlify_token]"],
        ),
        (
            [KEY, "password=hunter2 rest"],
            [MASKED, "password=[redacted:password_assignment] rest"],
        ),
        (
            [KEY[:30], f"{KEY[30:]} and password=hunter2"],
            [MASKED, "[redacted:anthropic_key] and password=[redacted:password_assignment]"],
        ),
    ],
)
def test_a_row_may_continue_a_secret_and_contain_another(rows, redacted):
    assert Redactor().redact_lines(rows) == redacted
    assert Redactor().redact_lines(redacted) == redacted


def test_the_first_line_of_a_text_is_not_part_of_the_last_line_of_another():
    texts = ["ends in sk-an", "t-" + KEY[7:], "plain"]
    assert redact_each(texts) == [texts[0], redact(texts[1]), texts[2]]


def test_a_state_without_an_open_secret_is_empty():
    redactor = Redactor()
    redactor.redact_lines(["a row that ends in sk-an"])
    assert redactor.state.endswith(b" 5")
    redactor.redact_lines([])
    assert redactor.state.endswith(b" 5")
    redactor.redact_lines(["plain"])
    assert redactor.state == b""


def test_texts_and_names_of_a_document_are_redacted_at_any_depth():
    document = {"env": {"A": [KEY, 1]}, KEY: ("plain", None)}
    assert redact_values(document) == {"env": {"A": [MASKED, 1]}, MASKED: ["plain", None]}
