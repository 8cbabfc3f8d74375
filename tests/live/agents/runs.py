"""What runs make of a real agent: an agent at work beside a daemon whose policy allows a workflow everything."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from tests.live.agents.company import Company, company
from tests.live.agents.lab import Program
from tests.live.looking import look
from tests.live.waiting import until

POLICY = '[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot", "workflow"] }\n'
ENDED = ("completed", "failed", "cancelled")
TOLD = ("user", "response_item")
"""The lines of an agent's record that say what it was told; others repeat it."""


@contextmanager
def at_work(program: Program, model: str, shows: str, workflow: str, hooks: str = "") -> Iterator[Company]:
    settings = {"workflow_modes": f"{workflow}=on"}
    with company(program, model, shows, hooks=hooks, settings=settings) as one:
        one.rule(POLICY)
        assert one.pane
        yield one


def runs(one: Company) -> list[dict]:
    return look(one.visor, "workflow", "status", "--all")["items"]


def run_in(one: Company, *statuses: str, seconds: float = 60.0) -> dict:
    """The only run, once it is in one of these."""
    try:
        found = until(lambda: [run for run in runs(one) if run["status"] in statuses], seconds=seconds)
    except AssertionError as error:
        events = look(one.visor, "events", "--limit", "50")["items"]
        told = [(item["kind"], item["data"]) for item in events]
        raise AssertionError(f"{error}\n{runs(one)}\n{told}\n{one.stage.text()}") from None
    assert len(runs(one)) == 1, runs(one)
    return found[0]


def said_to(one: Company, folder: str, words: str) -> int:
    """How often the agent's own record says that it was told this."""
    files = (one.stage.place.home / folder).rglob("*.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sum(_is_said(line, words) for line in lines)


def _is_said(line: dict, words: str) -> bool:
    message = line.get("message") or line.get("payload") or {}
    is_users = isinstance(message, dict) and message.get("role") == "user" and line["type"] in TOLD
    content = message.get("content") if is_users else ""
    parts = content if isinstance(content, list) else [{"text": content}]
    return any(str(part.get("text", "")).strip() == words for part in parts if isinstance(part, dict))


def detected(one: Company, kind: str) -> list[dict]:
    return look(one.visor, "events", "--type", kind, "--limit", "50")["items"]


def steps(one: Company) -> list[dict]:
    return look(one.visor, "workflow", "history", "1")["steps"]


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
