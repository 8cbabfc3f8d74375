"""Messages of an app-server about one thread, and the processes that may own it."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.server_contract import ServedAgent

NS_PER_MS = 10**6
CREATED_AT_MS = 1_794_802_600_000
THREAD = f"{CREATED_AT_MS:012x}"
THREAD = f"{THREAD[:8]}-{THREAD[8:]}-7552-9a96-bdc8cca6f404"
CHILD_THREAD = THREAD[:-1] + "5"
LATER_THREAD = THREAD[:-1] + "6"
ACTIVE_STATUS, IDLE_STATUS = {"type": "active", "activeFlags": []}, {"type": "idle"}
WAITING_STATUS = {"type": "active", "activeFlags": ["waitingOnApproval"]}


def build_agent(
    pid: int = 7, *arguments: str, cwd: str = "/src", started_at_ms: int = CREATED_AT_MS - 5000
) -> ServedAgent:
    process = ProcessInfo(pid=pid, pid_started=pid * 11, argv=("codex", *arguments), cwd=cwd, env={"HOME": "/home/dev"})
    return ServedAgent(process, started_at_ms * NS_PER_MS)


def build_thread(thread_id: str = THREAD, **fields: object) -> dict[str, object]:
    return {"id": thread_id, "cwd": "/src", "originator": "codex-tui", "status": IDLE_STATUS, **fields}


def build_started_message(thread_id: str = THREAD, **fields: object) -> dict[str, object]:
    return {"method": "thread/started", "params": {"thread": build_thread(thread_id, **fields)}}


def build_status_message(status: dict[str, object], thread_id: str = THREAD) -> dict[str, object]:
    return {"method": "thread/status/changed", "params": {"threadId": thread_id, "status": status}}
