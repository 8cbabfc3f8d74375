"""OpenAI's Responses API, as Codex uses it."""

import json
import time
from collections.abc import Iterator
from itertools import count

from tests.live.agents.model.openai import build_openai_error, build_usage_headers, resolve_tool_call
from tests.live.agents.model.prompt_script import ScriptedReply, build_text_reply, parse_prompt
from tests.live.agents.model.vendor_api import ErrorResponse, Frame, Json, encode_event, extract_text, make_id

_TOOL_RESULT_TYPES = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


class ResponsesApi:
    headers = build_usage_headers(42.0)

    def choose_reply(self, request: Json) -> ScriptedReply:
        for item in reversed(_list_items(request)):
            if item.get("type") in _TOOL_RESULT_TYPES:
                return build_text_reply("The tool has finished.")
            if item.get("role") == "user":
                text = extract_text(item.get("content"))
                is_summary = "CONTEXT CHECKPOINT COMPACTION" in text or "handoff summary" in text
                return build_text_reply("A short summary.", after=3.0) if is_summary else parse_prompt(text)
        return ScriptedReply()

    def build_error(self, reply: ScriptedReply) -> ErrorResponse:
        return build_openai_error(reply)

    def stream_frames(self, request: Json, reply: ScriptedReply) -> Iterator[Frame]:
        numbers = count(1)

        def encode_frame(kind: str, **fields: object) -> bytes:
            return encode_event({"type": kind, "sequence_number": next(numbers), **fields}, kind)

        head = _build_response(request, "in_progress")
        yield encode_frame("response.created", response=head)
        if reply.tool:
            item = _build_tool_call(request, reply)
            yield encode_frame("response.output_item.added", output_index=0, item={**item, "status": "in_progress"})
        else:
            item = _build_message(reply.text)
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            begun = {**item, "status": "in_progress", "content": []}
            yield encode_frame("response.output_item.added", output_index=0, item=begun)
            part = {"type": "output_text", "text": "", "annotations": []}
            yield encode_frame("response.content_part.added", **place, part=part)
            for pause, text in reply.pieces:
                yield pause
                yield encode_frame("response.output_text.delta", **place, delta=text)
            if reply.is_cut:
                yield None
            yield encode_frame("response.output_text.done", **place, text=reply.text)
        yield encode_frame("response.output_item.done", output_index=0, item=item)
        ended = {**head, "status": "completed", "output": [item], "usage": _build_usage(reply)}
        yield encode_frame("response.completed", response=ended)

    def build_response(self, request: Json, reply: ScriptedReply) -> Json:
        item = _build_tool_call(request, reply) if reply.tool else _build_message(reply.text)
        return {**_build_response(request, "completed"), "output": [item], "usage": _build_usage(reply)}


def _list_items(request: Json) -> list[Json]:
    given = request.get("input", [])
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _list_tool_names(request: Json) -> list[str]:
    """Return the tool names, also those in groups."""
    names = []
    for tool in request.get("tools") or []:
        names += [one.get("name", "") for one in tool.get("tools", [tool])]
    return names


def _build_response(request: Json, status: str) -> Json:
    model = request.get("model", "scripted")
    born = int(time.time())
    return {
        "id": make_id("resp_"),
        "object": "response",
        "created_at": born,
        "status": status,
        "model": model,
        "output": [],
    }


def _build_message(text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": make_id("msg_"), "role": "assistant", "status": "completed", "content": content}


def _build_tool_call(request: Json, reply: ScriptedReply) -> Json:
    assert reply.tool is not None
    name, arguments = resolve_tool_call(reply.tool, _list_tool_names(request))
    is_custom = any(tool.get("name") == name and tool.get("type") == "custom" for tool in request.get("tools") or [])
    body = (
        {"type": "custom_tool_call", "id": make_id("ctc_"), "input": arguments.get("input", "")}
        if is_custom
        else {"type": "function_call", "id": make_id("fc_"), "arguments": json.dumps(arguments)}
    )
    named = {"name": name}
    for tool in request.get("tools") or []:
        # Tools of an MCP server are offered in a group, and called by the group and their own name.
        group = f"{tool.get('name')}__"
        if tool.get("type") == "namespace" and name.startswith(group):
            named = {"name": name.removeprefix(group), "namespace": tool["name"]}
    return {**body, "call_id": make_id("call_"), **named, "status": "completed"}


def _build_usage(reply: ScriptedReply) -> Json:
    return {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 25,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + 25,
    }
