"""Anthropic's Messages API, as Claude Code uses it."""

import json
import time
from collections.abc import Iterator

from tests.live.agents.model.prompt_script import ScriptedReply, ToolRequest, build_text_reply, parse_prompt
from tests.live.agents.model.vendor_api import (
    NO_HEADERS,
    ErrorResponse,
    Frame,
    Json,
    encode_event,
    extract_text,
    make_id,
)

_ERRORS_BY_STATUS = {
    400: ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "not permitted"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}


class AnthropicApi:
    headers = NO_HEADERS

    def choose_reply(self, request: Json) -> ScriptedReply:
        user_messages = [message for message in request.get("messages", []) if message.get("role") == "user"]
        content = user_messages[-1].get("content") if user_messages else ""
        text = extract_text(content)
        is_answered = not isinstance(content, str) and any(part.get("type") == "tool_result" for part in content or [])
        if "detailed summary" in text and "conversation" in text:
            return build_text_reply("<analysis>short</analysis>\n<summary>\n1. A test.\n</summary>", after=3.0)
        if is_answered and "MODEL " not in text:
            return build_text_reply("The tool has finished.")
        if not request.get("tools"):
            wants_title = request.get("output_config") or "title" in json.dumps(request.get("system", "")).lower()
            return build_text_reply('{"title": "A scripted session"}' if wants_title else "ok")
        return parse_prompt(text)

    def build_error(self, reply: ScriptedReply) -> ErrorResponse:
        kind, message = _ERRORS_BY_STATUS.get(reply.failure, ("api_error", "scripted error"))
        body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": make_id("req_")}
        return ErrorResponse(
            reply.failure, body, _build_limit_headers(reply.limit_duration_s) if reply.is_limit else {}
        )

    def stream_frames(self, request: Json, reply: ScriptedReply) -> Iterator[Frame]:
        yield _encode_event(
            "message_start", message={**_build_message(request, reply), "content": [], "stop_reason": None}
        )
        yield _encode_event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for pause, text in ((0.0, "I will use a tool."),) if reply.tool else reply.pieces:
            yield pause
            yield _encode_event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        if reply.is_cut:
            yield None
        yield _encode_event("content_block_stop", index=0)
        for index, tool in enumerate(_list_tools(reply), 1):
            yield from _stream_tool(tool, index)
        ended = {"stop_reason": "tool_use" if reply.tool else "end_turn", "stop_sequence": None}
        yield _encode_event("message_delta", delta=ended, usage={"output_tokens": 20})
        yield _encode_event("message_stop")

    def build_response(self, request: Json, reply: ScriptedReply) -> Json:
        parts = (
            [_build_tool_block(tool) for tool in _list_tools(reply)]
            if reply.tool
            else [{"type": "text", "text": reply.text}]
        )
        ended = "tool_use" if reply.tool else "end_turn"
        return {**_build_message(request, reply), "content": parts, "stop_reason": ended, "stop_sequence": None}


def _encode_event(kind: str, **fields: object) -> bytes:
    return encode_event({"type": kind, **fields}, kind)


def _build_message(request: Json, reply: ScriptedReply) -> Json:
    usage = {
        "input_tokens": reply.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    return {
        "id": make_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "scripted"),
        "stop_sequence": None,
        "usage": usage,
    }


def _list_tools(reply: ScriptedReply) -> list[ToolRequest]:
    return [reply.tool, *reply.more_tools] if reply.tool else []


def _stream_tool(tool: ToolRequest, index: int) -> Iterator[Frame]:
    block = _build_tool_block(tool)
    yield _encode_event("content_block_start", index=index, content_block={**block, "input": {}})
    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield _encode_event("content_block_delta", index=index, delta=delta)
    yield _encode_event("content_block_stop", index=index)


def _build_tool_block(tool: ToolRequest) -> Json:
    name, arguments = {
        "shell": ("Bash", {"command": tool.value, "description": "A scripted command"}),
        "write": ("Write", {"file_path": tool.value, "content": "scripted\n"}),
    }.get(tool.name, (tool.name, tool.arguments))
    return {"type": "tool_use", "id": make_id("toolu_"), "name": name, "input": arguments}


def _build_limit_headers(seconds: int) -> dict[str, str]:
    resets = str(int(time.time()) + seconds)
    unified = {
        "status": "rejected",
        "reset": resets,
        "representative-claim": "five_hour",
        "5h-status": "rejected",
        "5h-reset": resets,
        "5h-utilization": "1.0",
        "overage-status": "rejected",
        "overage-disabled-reason": "org_level_disabled",
    }
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in unified.items()}
    return {**headers, "retry-after": str(seconds), "x-should-retry": "false"}
