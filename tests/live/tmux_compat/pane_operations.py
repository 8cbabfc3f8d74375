"""Every operation that changes something in a tmux server, run on one pane as a program would run it."""

from pathlib import Path
from typing import Any

import msgspec

from termvisor.frontends.cli import fast_client
from termvisor.protocol import command_protocol
from termvisor.testing.visor_instance import VisorInstance

POLICY = """
unproven_prompt = true
[rates]
per_minute = 100_000
[[rule]]
id = "programs_may_do_everything"
when = { actor = ["robot"] }
answer = "allow"
[commands]
unknown_effect = "allow"
"""


def allow_all_operations(visor: VisorInstance) -> None:
    """Write a policy that allows programs every action. Must run before the daemon starts."""
    config = Path(visor.paths.config_dir)
    config.mkdir(parents=True, exist_ok=True)
    (config / "policy.toml").write_text(POLICY)
    (config / "policy.toml").chmod(0o600)


def run_robot(visor: VisorInstance, *words: str) -> dict[str, Any]:
    """Return the whole answer of a robot call, which may be an error."""
    output = bytearray()
    request = command_protocol.CommandRequest(words, True, "/")
    fast_client.exchange(visor.paths.daemon_socket, request, lambda _kind, data: output.extend(data))
    answer: dict[str, Any] = msgspec.json.decode(output)
    return answer


def run_all_operations(visor: VisorInstance, pane: int, session: str, socket: str) -> list[str]:
    """Run each operation on the pane, or beside it, and return those that were refused, with the reason."""
    place = ("--session", session, "--server", socket, "--", "cat", "-u")
    answers = {
        "get-screen": run_robot(visor, "get-screen", str(pane)),
        "send": run_robot(visor, "send", str(pane), "--program", "--", "echo typed"),
        "send-keys": run_robot(visor, "send-keys", str(pane), "Up"),
        "set-title": run_robot(visor, "set-title", str(pane), "a title"),
        "activate": run_robot(visor, "activate", str(pane)),
        "split": run_robot(visor, "split", str(pane), "--", "cat", "-u"),
        "spawn window": run_robot(visor, "spawn", "--where", "window", *place),
        "spawn session": run_robot(visor, "spawn", "--where", "session", "--session", "spawned", *place[2:]),
    }
    answers["kill"] = run_robot(visor, "kill", "--close", "--yes", str(find_new_pane(answers["split"])))
    return [f"{name}: {answer['error']}" for name, answer in answers.items() if not answer["ok"]]


def find_new_pane(answer: dict[str, Any]) -> int:
    """Return the number of the pane that an operation opened; 0 if it did not, or if its program ended at once."""
    new = (answer["data"] or {}).get("new") or {"id": 0}
    return int(new["id"])
