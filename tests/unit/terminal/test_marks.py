"""Parse marks from OSC and CSI sequences."""

import base64
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.model.terminal.output import Mark
from termvisor.terminal.marks import MAX_TEXT_LENGTH, decode_percent, parse_csi_marks, parse_osc_mark, sanitize


def parse_payload(payload: str | bytes) -> Mark | None:
    return parse_osc_mark(payload.encode() if isinstance(payload, str) else payload, 7)


def encode_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SHELL = [
    ("133;A", Mark(kind="prompt_start", offset=7)),
    ("133;A;aid=12;cl=line", Mark(kind="prompt_start", offset=7, params={"aid": "12", "cl": "line"})),
    ("133;B;nonce=5eed", Mark(kind="input_start", offset=7, params={"nonce": "5eed"})),
    ("133;C", Mark(kind="command_start", offset=7)),
    ("133;C;cmdline_url=ls%20-l%3B%0Apwd", Mark(kind="command_start", offset=7, text="ls -l; pwd")),
    ("133;C;cmdline=make;nonce=1", Mark(kind="command_start", offset=7, text="make", params={"nonce": "1"})),
    ("133;D", Mark(kind="command_end", offset=7)),
    ("133;D;0", Mark(kind="command_end", offset=7, exit_code=0)),
    ("133;D;130;aid=12", Mark(kind="command_end", offset=7, exit_code=130, params={"aid": "12"})),
    ("133;D;nonce=5eed;1", Mark(kind="command_end", offset=7, exit_code=1, params={"nonce": "5eed"})),
    ("133;D;oops", Mark(kind="command_end", offset=7)),
    (
        "133;E;echo a; echo b;nonce=5eed",
        Mark(kind="command_line", offset=7, text="echo a; echo b", params={"nonce": "5eed"}),
    ),
    ("133;P;k=i", Mark(kind="prompt_property", offset=7, params={"k": "i"})),
    ("633;A", Mark(kind="prompt_start", offset=7)),
    ("633;D;2", Mark(kind="command_end", offset=7, exit_code=2)),
    ("633;E;echo \\x3b \\\\n;5eed", Mark(kind="command_line", offset=7, text="echo ; \\n", params={"nonce": "5eed"})),
    ("633;E;a;nonce=5eed", Mark(kind="command_line", offset=7, text="a", params={"nonce": "5eed"})),
    ("633;E;ls", Mark(kind="command_line", offset=7, text="ls")),
    ("633;P;Cwd=/a\\x3bb", Mark(kind="prompt_property", offset=7, params={"Cwd": "/a;b"})),
]
OTHERS = [
    ("7;file://box/home/me/a%20b", Mark(kind="cwd", offset=7, text="/home/me/a b", params={"host": "box"})),
    ("7;file:///tmp", Mark(kind="cwd", offset=7, text="/tmp")),
    ("7;kitty-shell-cwd://box/a%20b", Mark(kind="cwd", offset=7, text="/a%20b", params={"host": "box"})),
    ("7;/plain", Mark(kind="cwd", offset=7, text="/plain")),
    ('9;9;"C:\\work"', Mark(kind="cwd", offset=7, text="C:\\work")),
    ("1337;CurrentDir=/srv", Mark(kind="cwd", offset=7, text="/srv")),
    (
        f"1337;SetUserVar=visor-ready={encode_base64('{}')}",
        Mark(kind="user_var", offset=7, text="{}", params={"name": "visor-ready"}),
    ),
    ("0;both", Mark(kind="title", offset=7, text="both")),
    ("2;a;b", Mark(kind="title", offset=7, text="a;b")),
    ("9;done; really", Mark(kind="notification", offset=7, text="done; really")),
    ("9;4;1;50", Mark(kind="progress", offset=7, params={"state": "1", "progress": "50"})),
    ("9;4;0", Mark(kind="progress", offset=7, params={"state": "0", "progress": ""})),
    ("99;i=1:d=0;hello", Mark(kind="notification", offset=7, text="hello", params={"i": "1", "d": "0"})),
    (f"99;e=1;{encode_base64('héllo')}", Mark(kind="notification", offset=7, text="héllo", params={"e": "1"})),
    ("777;notify;Title;Body; more", Mark(kind="notification", offset=7, text="Body; more", params={"title": "Title"})),
    ("7501;state=idle:app=codex", Mark(kind="agent", offset=7, text="state=idle:app=codex")),
    ("7770;end;3", Mark(kind="end_of_program", offset=7, exit_code=3)),
]
NONE = [
    "",
    "1;icon",
    "4;1;rgb",
    "8;;http://x",
    "52;c;aaaa",
    "133;Z",
    "133;",
    "7;http://x/y",
    "9;1;500",
    "777;precmd",
    "7770;x",
]
NONE += ["1337;SetUserVar=name=not base64!", "1337;RemoteHost=me@box", "99999999999;x"]


@pytest.mark.parametrize(("payload", "expected"), SHELL + OTHERS)
def test_a_payload_is_parsed_to_its_mark(payload: str, expected: Mark) -> None:
    assert parse_payload(payload) == expected


@pytest.mark.parametrize("payload", NONE)
def test_unknown_sequences_give_no_mark(payload: str) -> None:
    assert parse_payload(payload) is None


def test_a_title_loses_its_newlines_and_escapes() -> None:
    assert parse_payload(b"2;one\r\ntwo\x00\x7f\xc2\x9b three") == Mark(kind="title", offset=7, text="one two three")


def test_invalid_utf8_is_replaced() -> None:
    assert parse_payload(b"2;caf\xe9") == Mark(kind="title", offset=7, text="caf�")


def test_control_characters_hidden_in_an_encoding_are_removed() -> None:
    found = parse_payload(f"1337;SetUserVar=v={base64.b64encode(bytes([27]) + b']0;x').decode()}")
    assert found is not None
    assert found.text == "]0;x"


def test_texts_and_parameters_are_bounded() -> None:
    title, shell = (
        parse_payload("2;" + "x" * 60_000),
        parse_payload("133;A;" + ";".join(f"k{n}={'v' * 2000}" for n in range(30))),
    )
    assert title is not None
    assert shell is not None
    assert (len(title.text), len(shell.params), len(shell.params["k0"])) == (MAX_TEXT_LENGTH, 16, 1024)


@given(st.text("%0aAfFcC3é密/+ ", max_size=30))
def test_percent_encoding_is_decoded_like_urllib(text: str) -> None:
    assert decode_percent(text) == unquote(text)


def test_white_space_becomes_one_blank() -> None:
    assert sanitize("a\t\r\nb\x1b[1m") == "a b[1m"


@pytest.mark.parametrize(
    ("parameters", "final", "kinds"),
    [
        (b"?1049", "h", ["alt_screen_on"]),
        (b"?1047", "l", ["alt_screen_off"]),
        (b"?47", "h", ["alt_screen_on"]),
        (b"?2004", "h", ["paste_on"]),
        (b"?2004", "l", ["paste_off"]),
        (b"?2026", "h", ["sync_on"]),
        (b"?2026", "l", ["sync_off"]),
        (b"?1049;25;2004", "h", ["alt_screen_on", "paste_on"]),
        (b"!", "p", ["reset"]),
        (b"1049", "h", []),
        (b"?1049", "s", []),
        (b"?25", "h", []),
    ],
)
def test_private_modes_are_parsed_to_marks(parameters: bytes, final: str, kinds: list[str]) -> None:
    assert [parse_payload.kind for parse_payload in parse_csi_marks(parameters, final, 7)] == kinds
