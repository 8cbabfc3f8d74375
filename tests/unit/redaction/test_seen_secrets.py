"""Pieces of seen secrets are masked while they may be on a screen."""

import random
import string

import pytest

from termvisor.redaction import Redactor, SeenSecrets
from termvisor.redaction.partial_secrets import FORGET_AFTER_LINES, MAX_PIECES, MAX_VALUES

BODY = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP1qR2"
KEY = f"sk-ant-{BODY}"
MASK = "[redacted:anthropic_key]"


def build_other_key(number: int) -> str:
    return "ghp_" + "".join(random.Random(number).choices(string.ascii_letters + string.digits, k=40))


def remember_rows(*rows: str) -> SeenSecrets:
    memory = SeenSecrets()
    Redactor(seen_secrets=memory).redact_lines(rows)
    return memory


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (f"working on it{BODY[20:]}", f"working on it{MASK}"),
        (f"{BODY[:8]} {BODY[30:40]}", f"{MASK} {MASK}"),
        (f"│ {BODY[12:25]}~ │", f"│ {MASK}~ │"),
        (f"x{BODY[5:15]}y", f"x{MASK}y"),
        (BODY[:7], BODY[:7]),
        ("ordinary words and src/paths_12.py", "ordinary words and src/paths_12.py"),
        (f"sk-ant-{MASK}", f"sk-ant-{MASK}"),
        ("", ""),
    ],
)
def test_pieces_of_eight_or_more_characters_are_masked(row, expected):
    assert remember_rows(KEY).mask_known_pieces(row) == expected


def test_a_wrapped_key_is_known_as_one():
    rows = [f"│ {KEY[at : at + 22].ljust(22)} │" for at in range(0, len(KEY), 22)]
    assert remember_rows(*rows).mask_known_pieces(f"{BODY[11:19]} {BODY[33:41]}") == f"{MASK} {MASK}"


def test_two_stacked_keys_are_not_one():
    row = BODY[-4:] + build_other_key(1)[4:8]
    assert remember_rows(KEY, build_other_key(1)).mask_known_pieces(row) == row


def test_a_private_key_is_known_by_any_part_of_its_lines():
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4p8Q"]
    memory = remember_rows("-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----")
    assert memory.mask_known_pieces(f"> {lines[1][10:30]}") == "> [redacted:private_key]"


@pytest.mark.parametrize("secret", ["0" * 40, "sk-ant-" + "0" * 40, 'password = "ordinary-words-only"', "plain text"])
def test_words_and_zeros_are_not_distinctive(secret):
    assert not remember_rows(secret)


def test_pieces_are_forgotten_after_many_plain_lines():
    memory = remember_rows(KEY)
    memory.count_lines(10 * FORGET_AFTER_LINES, is_repainting=False)  # the lines with the key
    memory.count_lines(FORGET_AFTER_LINES, is_repainting=False)
    assert memory
    memory.count_lines(1, is_repainting=True)
    memory.count_lines(FORGET_AFTER_LINES, is_repainting=False)
    assert memory
    memory.count_lines(1, is_repainting=False)
    assert not memory


def test_the_oldest_pieces_are_dropped_first():
    redactor = Redactor(seen_secrets=(memory := SeenSecrets()))
    redactor.redact_lines([KEY])
    for number in range(MAX_PIECES // 40):
        redactor.redact_lines([build_other_key(number)])
    assert memory.mask_known_pieces(BODY) == MASK
    for number in range(MAX_PIECES // 20):
        redactor.redact_lines([build_other_key(number)])
    assert memory.mask_known_pieces(BODY) == BODY
    assert len(memory._kinds_by_piece) <= MAX_PIECES


def test_a_piece_seen_again_is_kept_longer():
    redactor = Redactor(seen_secrets=(memory := SeenSecrets()))
    for number in range(MAX_PIECES // 20):
        redactor.redact_lines([KEY, build_other_key(number)])
    assert memory.mask_known_pieces(BODY) == MASK


def test_a_whole_value_is_masked_where_it_is_a_word_of_its_own():
    memory = SeenSecrets()
    memory.learn_values("password=hunter2", "password=[redacted:password_assignment]", is_any=True)
    masked = "okssword=[redacted:password_assignment], xhunter2 [redacted:hunter2]"
    assert memory.mask_known_pieces("okssword=hunter2, xhunter2 [redacted:hunter2]") == masked
    assert memory


def test_ordinary_words_are_learnt_only_if_their_name_was_overwritten():
    memory = SeenSecrets()
    memory.learn_values('password: "admin"', 'password: "[redacted:password_assignment]"', is_any=False)
    assert not memory
    memory.learn_values('password: "admin"', 'password: "[redacted:password_assignment]"', is_any=True)
    assert memory.mask_known_pieces("admin") == "[redacted:password_assignment]"


def test_the_number_of_values_is_bounded():
    memory = SeenSecrets()
    for number in range(2 * MAX_VALUES):
        memory.learn_values(f"password=hunter{number}", "password=[redacted:password_assignment]", is_any=True)
    assert memory.mask_known_pieces("hunter0") == "hunter0"
    assert memory.mask_known_pieces(f"hunter{2 * MAX_VALUES - 1}") == "[redacted:password_assignment]"


@pytest.mark.parametrize(
    ("value", "is_any", "is_known"),
    [
        ("abc", True, False),
        ("abcd", True, True),
        ("abcd", False, False),
        ("ab1d", False, True),
        ("a" * 256, True, True),
        ("a" * 257, True, False),
    ],
)
def test_values_of_a_usual_length_are_learnt(value, is_any, is_known):
    memory = SeenSecrets()
    memory.learn_values(f"x={value};", "x=[redacted:y];", is_any=is_any)
    assert memory.mask_known_pieces(value) == ("[redacted:y]" if is_known else value)


@pytest.mark.parametrize(("piece", "is_known"), [("1212+212", False), ("1212+323", True), ("wordword", False)])
def test_a_piece_of_few_characters_is_not_distinctive(piece, is_known):
    memory = SeenSecrets()
    memory.learn(f"x={piece}", "x=[redacted:y]")
    assert bool(memory) is is_known


def test_a_value_that_is_no_word_is_masked_inside_of_words():
    memory = SeenSecrets()
    memory.learn_values("x=+12+;", "x=[redacted:y];", is_any=True)
    assert memory.mask_known_pieces("a+12+b") == "a[redacted:y]b"


def test_a_learnt_value_starts_the_count_of_lines_again():
    memory = SeenSecrets()
    memory.count_lines(FORGET_AFTER_LINES, is_repainting=False)
    memory.learn_values("x=ab1d", "x=[redacted:y]", is_any=True)
    memory.count_lines(FORGET_AFTER_LINES, is_repainting=False)
    memory.count_lines(FORGET_AFTER_LINES, is_repainting=False)
    assert memory
    memory.count_lines(1, is_repainting=False)
    assert not memory


def test_the_end_of_a_forgotten_secret_continues_no_other():
    memory = remember_rows(KEY)
    memory.count_lines(1, is_repainting=False)
    memory.count_lines(FORGET_AFTER_LINES + 1, is_repainting=False)
    memory.learn(f"{BODY[:8]} x", "[redacted:y] x", is_continuation=True)
    assert set(memory._kinds_by_piece) == {BODY[:8]}


def test_only_the_first_secret_of_a_line_continues_the_last_one():
    memory = remember_rows(KEY)
    memory.learn("aaab1 bbbc2ddd", "[redacted:y] [redacted:y]", is_continuation=True)
    assert memory.mask_known_pieces(f"{BODY[-4:]}aaab") == "[redacted:y]"
    assert memory.mask_known_pieces("ab1bbbc2") == "ab1bbbc2"


def test_a_value_learnt_again_is_kept_longer():
    memory = SeenSecrets()
    for number in range(2 * MAX_VALUES):
        memory.learn_values("x=first1", "x=[redacted:y]", is_any=True)
        memory.learn_values(f"x=hunter{number}", "x=[redacted:y]", is_any=True)
    assert memory.mask_known_pieces("first1") == "[redacted:y]"
    assert len(memory._values) == MAX_VALUES
