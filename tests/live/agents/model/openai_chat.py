"""OpenAI's Chat Completions API, as opencode and Copilot use it with a custom model."""

import json
import time
from collections.abc import Iterator

from tests.live.agents.model.openai import build_openai_error, resolve_tool_call
from tests.live.agents.model.prompt_script import ScriptedReply, build_text_reply, parse_prompt
from tests.live.agents.model.vendor_api import (
    NO_HEADERS,
    ErrorResponse,
    Frame,
    Json,
    encode_event,
    extract_text,
    make_id,
)

TEXT_MODEL = "scripted-text"
"""A model for agents that send no tools: it proposes commands in its text."""


class ChatCompletionsApi:
    headers = NO_HEADERS

    def choose_reply(self, request: Json) -> ScriptedReply:
        messages = request.get("messages", [])
        if messages and messages[-1].get("role") == "tool":
            return build_text_reply("The tool has finished.")
        user_message = next((one for one in reversed(messages) if one.get("role") == "user"), {})
        text = extract_text(user_message.get("content"))
        if request.get("model") == TEXT_MODEL:
            return _write_command_as_text(parse_prompt(text))
        if not request.get("tools"):
            about = json.dumps(messages[:1]).lower() + text.lower()
            if "title" in about[:4000]:
                return build_text_reply("A scripted session")
            if "summar" in about:
                return build_text_reply("A short summary.", after=3.0)
        return parse_prompt(text)

    def build_error(self, reply: ScriptedReply) -> ErrorResponse:
        return build_openai_error(reply)

    def stream_frames(self, request: Json, reply: ScriptedReply) -> Iterator[Frame]:
        head = _build_header(request, "chat.completion.chunk")

        def encode_chunk(delta: Json, ended: str | None = None) -> bytes:
            return encode_event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": ended}]})

        yield encode_chunk({"role": "assistant", "content": ""})
        if reply.tool:
            yield encode_chunk({"content": "I will use a tool."})
            yield encode_chunk({"tool_calls": [{"index": 0, **_build_tool_call(request, reply)}]})
            yield encode_chunk({}, "tool_calls")
        else:
            for pause, text in reply.pieces:
                yield pause
                yield encode_chunk({"content": text})
            if reply.is_cut:
                yield None
            yield encode_chunk({}, "stop")
        yield encode_event({**head, "choices": [], "usage": _build_usage(reply)})
        yield encode_event("[DONE]")

    def build_response(self, request: Json, reply: ScriptedReply) -> Json:
        message: Json = {"role": "assistant", "content": None if reply.tool else reply.text}
        if reply.tool:
            message["tool_calls"] = [_build_tool_call(request, reply)]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.tool else "stop"}
        return {**_build_header(request, "chat.completion"), "choices": [choice], "usage": _build_usage(reply)}


def _write_command_as_text(reply: ScriptedReply) -> ScriptedReply:
    return build_text_reply(f"Run this:\n\n```bash\n{reply.tool.value}\n```\n") if reply.tool else reply


def _build_header(request: Json, kind: str) -> Json:
    model = request.get("model", "scripted")
    return {"id": make_id("chatcmpl-"), "created": int(time.time()), "model": model, "object": kind}


def _build_tool_call(request: Json, reply: ScriptedReply) -> Json:
    assert reply.tool is not None
    offered = [tool.get("function", {}).get("name", "") for tool in request.get("tools") or []]
    name, arguments = resolve_tool_call(reply.tool, offered)
    return {"id": make_id("call_"), "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _build_usage(reply: ScriptedReply) -> Json:
    given = reply.input_tokens
    return {"prompt_tokens": given, "completion_tokens": 25, "total_tokens": given + 25}
