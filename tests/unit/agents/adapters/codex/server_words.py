"""Messages of an app-server about one thread, and the processes that may own it."""

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.server_contract import Face

MS = 10**6
BORN = 1_794_802_600_000
THREAD = f"{BORN:012x}"
THREAD = f"{THREAD[:8]}-{THREAD[8:]}-7552-9a96-bdc8cca6f404"
CHILD = THREAD[:-1] + "5"
LATER = THREAD[:-1] + "6"
ACTIVE, IDLE = {"type": "active", "activeFlags": []}, {"type": "idle"}
ASKS = {"type": "active", "activeFlags": ["waitingOnApproval"]}


def face(pid: int = 7, *words: str, cwd: str = "/src", born: int = BORN - 5000) -> Face:
    process = Process(pid=pid, pid_started=pid * 11, argv=("codex", *words), cwd=cwd, env={"HOME": "/home/dev"})
    return Face(process, born * MS)


def thread(id_: str = THREAD, **fields: object) -> dict[str, object]:
    return {"id": id_, "cwd": "/src", "originator": "codex-tui", "status": IDLE, **fields}


def started(id_: str = THREAD, **fields: object) -> dict[str, object]:
    return {"method": "thread/started", "params": {"thread": thread(id_, **fields)}}


def changed(status: dict[str, object], id_: str = THREAD) -> dict[str, object]:
    return {"method": "thread/status/changed", "params": {"threadId": id_, "status": status}}
