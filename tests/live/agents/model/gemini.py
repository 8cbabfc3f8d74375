"""Gemini's generateContent API, as Gemini CLI uses it."""

import json
from collections.abc import Iterator

from tests.live.agents.model.prompt_script import ScriptedReply, build_text_reply, parse_prompt
from tests.live.agents.model.vendor_api import NO_HEADERS, ErrorResponse, Frame, Json, encode_event

_ERRORS_BY_STATUS = {
    401: ("UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    403: ("PERMISSION_DENIED", "not permitted"),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
_CODE_ASSIST = "cloudcode-pa.googleapis.com"
_TYPES = "type.googleapis.com/google.rpc."


class GeminiApi:
    headers = NO_HEADERS

    def choose_reply(self, request: Json) -> ScriptedReply:
        contents = request.get("contents", [])
        last = contents[-1] if isinstance(contents, list) and contents else contents or {}
        parts = last.get("parts", [])
        text = " ".join(part.get("text", "") for part in parts)
        if any("functionResponse" in part for part in parts):
            return build_text_reply("The tool has finished.")
        if side := _answer_side_question(request, text):
            return side
        return parse_prompt(text)

    def build_error(self, reply: ScriptedReply) -> ErrorResponse:
        status, message = _ERRORS_BY_STATUS.get(reply.failure, ("UNKNOWN", "scripted error"))
        error: Json = {"code": reply.failure, "message": message, "status": status}
        if reply.is_limit:
            quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaValue": "100"}
            error["details"] = [
                {"@type": _TYPES + "QuotaFailure", "violations": [quota]},
                {"@type": _TYPES + "ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED"},
            ]
            if reply.reports_end:
                error["details"] = [
                    {"@type": _TYPES + "ErrorInfo", "reason": "QUOTA_EXHAUSTED", "domain": _CODE_ASSIST},
                    {"@type": _TYPES + "RetryInfo", "retryDelay": f"{reply.limit_duration_s}s"},
                ]
        return ErrorResponse(reply.failure, {"error": error})

    def stream_frames(self, request: Json, reply: ScriptedReply) -> Iterator[Frame]:
        if reply.tool:
            yield encode_event(self.build_response(request, reply))
            return
        for pause, text in reply.pieces:
            yield pause
            yield encode_event(_build_candidate({"text": text}))
        if reply.is_cut:
            yield None
        yield encode_event(_build_final_chunk({"text": ""}, reply))

    def build_response(self, request: Json, reply: ScriptedReply) -> Json:
        return _build_final_chunk(_build_tool_call(reply) if reply.tool else {"text": reply.text}, reply)


def _answer_side_question(request: Json, text: str) -> ScriptedReply | None:
    """Answer the program's side requests: next speaker, model routing, summary."""
    settings = request.get("generationConfig", {})
    shape = json.dumps(settings)
    if "chema" in shape or settings.get("responseMimeType") == "application/json":
        if "next_speaker" in shape:
            return build_text_reply('{"reasoning": "scripted", "next_speaker": "user"}')
        if "complexity" in shape or "model_choice" in shape:
            return build_text_reply('{"reasoning": "scripted", "model_choice": "flash", "complexity_score": 10}')
        return build_text_reply("{}")
    if "state_snapshot" in json.dumps(request.get("systemInstruction", "")) + text:
        return build_text_reply("<state_snapshot><overall_goal>a test</overall_goal></state_snapshot>", after=3.0)
    return None


def _build_candidate(part: Json, **further: str) -> Json:
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "index": 0, **further}], "modelVersion": "scripted"}


def _build_final_chunk(part: Json, reply: ScriptedReply) -> Json:
    given = reply.input_tokens
    usage = {"promptTokenCount": given, "candidatesTokenCount": 20, "totalTokenCount": given + 20}
    return {**_build_candidate(part, finishReason="STOP"), "usageMetadata": usage}


def _build_tool_call(reply: ScriptedReply) -> Json:
    tool = reply.tool
    assert tool is not None
    name, arguments = {
        "shell": ("run_shell_command", {"command": tool.value, "description": "A scripted command"}),
        "write": ("write_file", {"file_path": tool.value, "content": "scripted\n"}),
    }.get(tool.name, (tool.name, tool.arguments))
    return {"functionCall": {"name": name, "args": arguments}}
