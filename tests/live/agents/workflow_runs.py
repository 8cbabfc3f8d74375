"""What runs make of a real agent: an agent at work beside a daemon whose policy allows a workflow everything."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from tests.live.agents.agent_programs import AgentProgram
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

ALLOW_ALL_POLICY = '[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot", "workflow"] }\n'
ENDED_STATUSES = ("completed", "failed", "cancelled")
PROMPT_LINE_TYPES = ("user", "response_item")
"""The lines of an agent's record that say what it was told; others repeat it."""


@contextmanager
def start_agent_with_workflow(
    program: AgentProgram, model: str, ready_text: str, workflow: str, hooks: str = ""
) -> Iterator[WatchedAgent]:
    settings = {"workflow_modes": f"{workflow}=on"}
    with start_watched_agent(program, model, ready_text, hooks=hooks, settings=settings) as one:
        one.write_policy(ALLOW_ALL_POLICY)
        assert one.pane
        yield one


def list_runs(one: WatchedAgent) -> list[dict]:
    return call_robot(one.visor, "workflow", "status", "--all")["items"]


def wait_for_run(one: WatchedAgent, *statuses: str, seconds: float = 60.0) -> dict:
    """The only run, once it is in one of these."""
    try:
        found = wait_until(lambda: [run for run in list_runs(one) if run["status"] in statuses], timeout_s=seconds)
    except AssertionError as error:
        events = call_robot(one.visor, "events", "--limit", "50")["items"]
        told = [(item["kind"], item["data"]) for item in events]
        raise AssertionError(f"{error}\n{list_runs(one)}\n{told}\n{one.agent_pane.capture_text()}") from None
    assert len(list_runs(one)) == 1, list_runs(one)
    return found[0]


def count_prompts(one: WatchedAgent, folder: str, words: str) -> int:
    """How often the agent's own record says that it was told this."""
    files = (one.agent_pane.place.home / folder).rglob("*.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sum(_is_prompt(line, words) for line in lines)


def _is_prompt(line: dict, words: str) -> bool:
    message = line.get("message") or line.get("payload") or {}
    is_users = isinstance(message, dict) and message.get("role") == "user" and line["type"] in PROMPT_LINE_TYPES
    content = message.get("content") if is_users else ""
    parts = content if isinstance(content, list) else [{"text": content}]
    return any(str(part.get("text", "")).strip() == words for part in parts if isinstance(part, dict))


def list_detections(one: WatchedAgent, kind: str) -> list[dict]:
    return call_robot(one.visor, "events", "--type", kind, "--limit", "50")["items"]


def list_steps(one: WatchedAgent) -> list[dict]:
    return call_robot(one.visor, "workflow", "history", "1")["steps"]


def parse_timestamp(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
