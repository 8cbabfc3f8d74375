"""Chat completions, as opencode and Copilot speak with a model of one's own."""

import json
import time
from collections.abc import Iterator

from tests.live.agents.model.dialect import PLAIN, Frame, Json, Refusal, event, fresh, texts_of
from tests.live.agents.model.openai import call_of, refusal_of
from tests.live.agents.model.script import Reply, reply_to, saying


class Chat:
    headers = PLAIN

    def wanted(self, request: Json) -> Reply:
        messages = request.get("messages", [])
        if messages and messages[-1].get("role") == "tool":
            return saying("The tool has finished.")
        said = next((one for one in reversed(messages) if one.get("role") == "user"), {})
        text = texts_of(said.get("content"))
        if not request.get("tools"):
            about = json.dumps(messages[:1]).lower() + text.lower()
            if "title" in about[:4000]:
                return saying("A scripted session")
            if "summar" in about:
                return saying("A short summary.", after=3.0)
        return reply_to(text)

    def refusal(self, reply: Reply) -> Refusal:
        return refusal_of(reply)

    def frames(self, request: Json, reply: Reply) -> Iterator[Frame]:
        head = _head(request, "chat.completion.chunk")

        def told(delta: Json, ended: str | None = None) -> bytes:
            return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": ended}]})

        yield told({"role": "assistant", "content": ""})
        if reply.tool:
            yield told({"content": "I will use a tool."})
            yield told({"tool_calls": [{"index": 0, **_call(request, reply)}]})
            yield told({}, "tool_calls")
        else:
            for pause, text in reply.pieces:
                yield pause
                yield told({"content": text})
            if reply.is_cut:
                yield None
            yield told({}, "stop")
        yield event({**head, "choices": [], "usage": _usage(reply)})
        yield event("[DONE]")

    def whole(self, request: Json, reply: Reply) -> Json:
        message: Json = {"role": "assistant", "content": None if reply.tool else reply.text}
        if reply.tool:
            message["tool_calls"] = [_call(request, reply)]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.tool else "stop"}
        return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def _head(request: Json, kind: str) -> Json:
    model = request.get("model", "scripted")
    return {"id": fresh("chatcmpl-"), "created": int(time.time()), "model": model, "object": kind}


def _call(request: Json, reply: Reply) -> Json:
    assert reply.tool is not None
    offered = [tool.get("function", {}).get("name", "") for tool in request.get("tools") or []]
    name, arguments = call_of(reply.tool, offered)
    return {"id": fresh("call_"), "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _usage(reply: Reply) -> Json:
    given = reply.input_tokens
    return {"prompt_tokens": given, "completion_tokens": 25, "total_tokens": given + 25}
