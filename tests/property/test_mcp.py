"""Laws of the bridge to models: no line crashes it, pages join to the answer, settings files survive."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from termvisor.frontends.mcp.answer_pages import AnswerPages
from termvisor.frontends.mcp.bridge import ClientLines
from termvisor.frontends.mcp.json_codec import decode_json, encode_json
from termvisor.setup.mcp_registration import add_server, build_server_file, remove_server
from tests.unit.frontends.mcp.mcp_client import MODERN, McpClient

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(
    [
        *("initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read"),
        *("resources/templates/list", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen"),
        *("prompts/list", "prompts/get", "notifications/cancelled", "notifications/initialized"),
    ]
)
NAMES = st.sampled_from(["name", "arguments", "uri", "cursor", "requestId", "notifications", "_meta"])
VALUES = JSON | st.sampled_from(["state", "send", "standup", "visor://panes", "visor://pane/7/text", MODERN])
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS | st.text(max_size=9)},
    optional={"id": JSON | st.integers(0, 3), "params": JSON | st.dictionaries(NAMES, VALUES, max_size=4)},
)


@given(
    st.lists(
        st.binary(max_size=40)
        | JSON.map(lambda value: json.dumps(value).encode())
        | MESSAGES.map(lambda value: json.dumps(value).encode()),
        max_size=6,
    )
)
def test_no_line_crashes_a_session_and_every_answer_is_json_rpc(lines: list[bytes]) -> None:
    client = McpClient("all")
    for line in lines:
        client.write_line(line)
    for params, on_answer in client.backend.calls.values():
        on_answer({"text": params["tool"], "is_untrusted": True}, None)
    for message in client.sent:
        assert message["jsonrpc"] == "2.0"
        assert ("method" in message) != ("result" in message or "error" in message)
        assert b"\n" not in encode_json(message)


@given(st.text(), st.integers(4, 40))
def test_the_pages_of_an_answer_joined_are_the_answer(text: str, page_bytes: int) -> None:
    pages = AnswerPages(page_bytes)
    page = pages.cut_answer(text, False, "")
    parts = [page.text]
    while page.cursor:
        found = pages.find_page(page.cursor)
        assert found is not None
        page = found
        parts.append(page.text)
    assert "".join(parts) == text.encode("utf-8", "replace").decode()
    assert all(len(part.encode()) <= page_bytes for part in parts)


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=6), st.data())
def test_lines_survive_any_split(lines: list[bytes], data: st.DataObject) -> None:
    stream, reader, found = b"".join(line + b"\n" for line in lines), ClientLines(limit=64), list[bytes]()
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += reader.feed(stream[:size])
        stream = stream[size:]
    assert found == lines


@given(JSON)
def test_the_codec_agrees_with_the_module_json(value: Any) -> None:
    assert json.loads(encode_json(value)) == value
    assert decode_json(json.dumps(value).encode()) == value


SERVERS = st.dictionaries(st.text(max_size=5).filter(lambda name: name != "visor"), JSON, max_size=3)
SETTINGS = st.dictionaries(st.text(max_size=5).filter(lambda name: name != "mcpServers"), JSON, max_size=3)


@given(SETTINGS, st.none() | SERVERS, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_removing_the_server_restores_any_settings(
    settings: dict[str, Any], servers: dict[str, Any] | None, indent: Any, is_last: bool
) -> None:
    added = {} if servers is None else {"mcpServers": servers}
    data = json.dumps(settings | added if is_last else added | settings, indent=indent).encode()
    file = build_server_file("gemini", {"HOME": "/home/you"}, "user", "/src")
    once = add_server(file, data)
    assert (add_server(file, once), remove_server(file, once)) == (once, data)
    assert json.loads(once)["mcpServers"]["visor"]["args"] == ["mcp"]
