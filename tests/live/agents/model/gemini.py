"""generateContent, as Gemini CLI speaks with its model."""

import json
from collections.abc import Iterator

from tests.live.agents.model.dialect import PLAIN, Frame, Json, Refusal, event
from tests.live.agents.model.script import Reply, reply_to, saying

_STATUS = {
    401: ("UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    403: ("PERMISSION_DENIED", "not permitted"),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
_CODE_ASSIST = "cloudcode-pa.googleapis.com"
_TYPES = "type.googleapis.com/google.rpc."


class Gemini:
    headers = PLAIN

    def wanted(self, request: Json) -> Reply:
        contents = request.get("contents", [])
        last = contents[-1] if isinstance(contents, list) and contents else contents or {}
        parts = last.get("parts", [])
        text = " ".join(part.get("text", "") for part in parts)
        if any("functionResponse" in part for part in parts):
            return saying("The tool has finished.")
        if side := _side_question(request, text):
            return side
        return reply_to(text)

    def refusal(self, reply: Reply) -> Refusal:
        status, message = _STATUS.get(reply.failure, ("UNKNOWN", "scripted error"))
        error: Json = {"code": reply.failure, "message": message, "status": status}
        if reply.is_limit:
            quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaValue": "100"}
            error["details"] = [
                {"@type": _TYPES + "QuotaFailure", "violations": [quota]},
                {"@type": _TYPES + "ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED"},
            ]
            if reply.tells_end:
                error["details"] = [
                    {"@type": _TYPES + "ErrorInfo", "reason": "QUOTA_EXHAUSTED", "domain": _CODE_ASSIST},
                    {"@type": _TYPES + "RetryInfo", "retryDelay": f"{reply.limit_for}s"},
                ]
        return Refusal(reply.failure, {"error": error})

    def frames(self, request: Json, reply: Reply) -> Iterator[Frame]:
        if reply.tool:
            yield event(self.whole(request, reply))
            return
        for pause, text in reply.pieces:
            yield pause
            yield event(_candidate({"text": text}))
        if reply.is_cut:
            yield None
        yield event(_ended({"text": ""}, reply))

    def whole(self, request: Json, reply: Reply) -> Json:
        return _ended(_call(reply) if reply.tool else {"text": reply.text}, reply)


def _side_question(request: Json, text: str) -> Reply | None:
    """What the program asks its model beside the talk: who speaks next, which model to use, a summary."""
    settings = request.get("generationConfig", {})
    shape = json.dumps(settings)
    if "chema" in shape or settings.get("responseMimeType") == "application/json":
        if "next_speaker" in shape:
            return saying('{"reasoning": "scripted", "next_speaker": "user"}')
        if "complexity" in shape or "model_choice" in shape:
            return saying('{"reasoning": "scripted", "model_choice": "flash", "complexity_score": 10}')
        return saying("{}")
    if "state_snapshot" in json.dumps(request.get("systemInstruction", "")) + text:
        return saying("<state_snapshot><overall_goal>a test</overall_goal></state_snapshot>", after=3.0)
    return None


def _candidate(part: Json, **further: str) -> Json:
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "index": 0, **further}], "modelVersion": "scripted"}


def _ended(part: Json, reply: Reply) -> Json:
    given = reply.input_tokens
    usage = {"promptTokenCount": given, "candidatesTokenCount": 20, "totalTokenCount": given + 20}
    return {**_candidate(part, finishReason="STOP"), "usageMetadata": usage}


def _call(reply: Reply) -> Json:
    tool = reply.tool
    assert tool is not None
    name, arguments = {
        "shell": ("run_shell_command", {"command": tool.value, "description": "A scripted command"}),
        "write": ("write_file", {"file_path": tool.value, "content": "scripted\n"}),
    }.get(tool.name, (tool.name, tool.arguments))
    return {"functionCall": {"name": name, "args": arguments}}
