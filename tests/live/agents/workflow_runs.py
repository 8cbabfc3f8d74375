"""Workflow runs with a real agent, under a policy that allows workflows everything."""

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
"""Types of the session file lines that hold prompts; other types repeat them."""


@contextmanager
def start_agent_with_workflow(
    program: AgentProgram, model: str, ready_text: str, workflow: str, hooks: str = ""
) -> Iterator[WatchedAgent]:
    settings = {"workflow_modes": f"{workflow}=on"}
    with start_watched_agent(program, model, ready_text, hooks=hooks, settings=settings) as agent:
        agent.write_policy(ALLOW_ALL_POLICY)
        assert agent.pane
        yield agent


def list_runs(agent: WatchedAgent) -> list[dict]:
    return call_robot(agent.visor, "workflow", "status", "--all")["items"]


def wait_for_run(agent: WatchedAgent, *statuses: str, seconds: float = 60.0) -> dict:
    """Wait until the only run is in one of these statuses and return it."""
    try:
        found = wait_until(lambda: [run for run in list_runs(agent) if run["status"] in statuses], timeout_s=seconds)
    except AssertionError as error:
        events = call_robot(agent.visor, "events", "--limit", "50")["items"]
        event_data = [(item["kind"], item["data"]) for item in events]
        raise AssertionError(f"{error}\n{list_runs(agent)}\n{event_data}\n{agent.agent_pane.capture_text()}") from None
    assert len(list_runs(agent)) == 1, list_runs(agent)
    return found[0]


def count_prompts(agent: WatchedAgent, folder: str, words: str) -> int:
    """Return how often the agent's session files contain this prompt."""
    files = (agent.agent_pane.place.home / folder).rglob("*.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sum(_is_prompt(line, words) for line in lines)


def _is_prompt(line: dict, words: str) -> bool:
    message = line.get("message") or line.get("payload") or {}
    is_users = isinstance(message, dict) and message.get("role") == "user" and line["type"] in PROMPT_LINE_TYPES
    content = message.get("content") if is_users else ""
    parts = content if isinstance(content, list) else [{"text": content}]
    return any(str(part.get("text", "")).strip() == words for part in parts if isinstance(part, dict))


def list_detections(agent: WatchedAgent, kind: str) -> list[dict]:
    return call_robot(agent.visor, "events", "--type", kind, "--limit", "50")["items"]


def list_steps(agent: WatchedAgent) -> list[dict]:
    return call_robot(agent.visor, "workflow", "history", "1")["steps"]


def parse_timestamp(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
