"""Responses, as Codex speaks with its model."""

import json
import time
from collections.abc import Iterator
from itertools import count

from tests.live.agents.model.dialect import Frame, Json, Refusal, event, fresh, texts_of
from tests.live.agents.model.openai import call_of, refusal_of, windows
from tests.live.agents.model.script import Reply, reply_to, saying

_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


class Responses:
    headers = windows(42.0)

    def wanted(self, request: Json) -> Reply:
        for item in reversed(_items(request)):
            if item.get("type") in _RESULTS:
                return saying("The tool has finished.")
            if item.get("role") == "user":
                text = texts_of(item.get("content"))
                is_summary = "CONTEXT CHECKPOINT COMPACTION" in text or "handoff summary" in text
                return saying("A short summary.", after=3.0) if is_summary else reply_to(text)
        return Reply()

    def refusal(self, reply: Reply) -> Refusal:
        return refusal_of(reply)

    def frames(self, request: Json, reply: Reply) -> Iterator[Frame]:
        numbers = count(1)

        def told(kind: str, **fields: object) -> bytes:
            return event({"type": kind, "sequence_number": next(numbers), **fields}, kind)

        head = _response(request, "in_progress")
        yield told("response.created", response=head)
        if reply.tool:
            item = _call(request, reply)
            yield told("response.output_item.added", output_index=0, item={**item, "status": "in_progress"})
        else:
            item = _message(reply.text)
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            begun = {**item, "status": "in_progress", "content": []}
            yield told("response.output_item.added", output_index=0, item=begun)
            part = {"type": "output_text", "text": "", "annotations": []}
            yield told("response.content_part.added", **place, part=part)
            for pause, text in reply.pieces:
                yield pause
                yield told("response.output_text.delta", **place, delta=text)
            if reply.is_cut:
                yield None
            yield told("response.output_text.done", **place, text=reply.text)
        yield told("response.output_item.done", output_index=0, item=item)
        ended = {**head, "status": "completed", "output": [item], "usage": _usage(reply)}
        yield told("response.completed", response=ended)

    def whole(self, request: Json, reply: Reply) -> Json:
        item = _call(request, reply) if reply.tool else _message(reply.text)
        return {**_response(request, "completed"), "output": [item], "usage": _usage(reply)}


def _items(request: Json) -> list[Json]:
    given = request.get("input", [])
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _offered(request: Json) -> list[str]:
    """Names of tools, also of those that stand in a group."""
    names = []
    for tool in request.get("tools") or []:
        names += [one.get("name", "") for one in tool.get("tools", [tool])]
    return names


def _response(request: Json, status: str) -> Json:
    model = request.get("model", "scripted")
    born = int(time.time())
    return {
        "id": fresh("resp_"),
        "object": "response",
        "created_at": born,
        "status": status,
        "model": model,
        "output": [],
    }


def _message(text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": fresh("msg_"), "role": "assistant", "status": "completed", "content": content}


def _call(request: Json, reply: Reply) -> Json:
    assert reply.tool is not None
    name, arguments = call_of(reply.tool, _offered(request))
    is_custom = any(tool.get("name") == name and tool.get("type") == "custom" for tool in request.get("tools") or [])
    body = (
        {"type": "custom_tool_call", "id": fresh("ctc_"), "input": arguments.get("input", "")}
        if is_custom
        else {"type": "function_call", "id": fresh("fc_"), "arguments": json.dumps(arguments)}
    )
    return {**body, "call_id": fresh("call_"), "name": name, "status": "completed"}


def _usage(reply: Reply) -> Json:
    return {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 25,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + 25,
    }
