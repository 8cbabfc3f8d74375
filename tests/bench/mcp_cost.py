"""Measure what `visor mcp` costs a client: its start, its memory and each call."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure
from tests.live.polling import wait_until

COMMAND = [os.path.join(os.path.dirname(sys.executable), "visor"), "mcp"]
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def measure_mcp_bridge(rounds: int = 30, calls: int = 2000) -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        tmux.start_session()
        wait_until(lambda: visor.call_robot("state")["items"])
        first = b"".join(
            _encode(number, method, _INITIALIZE) for number, method in enumerate(("initialize", "tools/list"))
        )
        bare = _measure_cpu([sys.executable, "-I", "-S", "-c", "pass"], b"", visor.env, rounds)
        started = _measure_cpu(COMMAND, first, visor.env, rounds)
        memory_mb, call_ms = _measure_calls(visor.env, calls)
    return [
        BudgetedFigure(
            "mcp: start to the first lists", started / bare, 4.0, "x", f"CPU of an interpreter ({1000 * bare:.1f} ms)"
        ),
        BudgetedFigure("mcp: memory of a bridge", memory_mb, 12.0, "MB", f"RSS after {calls} calls"),
        BudgetedFigure("mcp: a call", call_ms, 0.5, "ms", "CPU of the bridge"),
    ]


def _encode(number: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def _measure_cpu(argv: list[str], data: bytes, env: Any, rounds: int) -> float:
    """Return the CPU seconds of one run; alone among the children, so that the sum is theirs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(rounds):
        subprocess.run(argv, input=data, env=env, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / rounds


def _measure_calls(env: Any, calls: int) -> tuple[float, float]:
    bridge = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    assert bridge.stdin is not None
    assert bridge.stdout is not None

    def call(number: int) -> None:
        params = {"name": "get_text", "arguments": {"pane": "1"}}
        bridge.stdin.write(_encode(number, "tools/call", params))
        bridge.stdin.flush()
        assert b'"content"' in bridge.stdout.readline()

    call(0)
    before = _read_cpu(bridge.pid)
    for number in range(1, calls + 1):
        call(number)
    spent = _read_cpu(bridge.pid) - before
    memory = int(Path(f"/proc/{bridge.pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1000
    bridge.communicate(timeout=10)
    return memory, 1000 * spent / calls


def _read_cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S
