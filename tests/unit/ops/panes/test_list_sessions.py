from msgspec.structs import replace

from termvisor.model.ids import TargetName
from termvisor.testing.fake_services import SERVER, FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_sessions_are_listed_with_totals() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1", session_attached=1))
    services.add_pane(build_shell_facts("%2", window=2, session_attached=1))
    services.add_pane(build_shell_facts("%3", session="other"))
    data = (await run_command(services, "robot", "sessions")).envelope["data"]
    found = {item["identity"]["session_name"]: item for item in data["items"]}
    assert (found["work"]["windows"], found["work"]["panes"], found["work"]["attached"]) == (2, [1, 2], 1)
    assert data["summary"] == {"sessions": 2, "windows": 3, "panes": 3, "by_target": {"local": 2}}


async def test_the_table_has_a_row_per_session() -> None:
    lines = (await run_command(await build_sample_services(), "sessions")).out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["SESSION", "agents", "work"]
    assert (await run_command(FakeServices(), "sessions")).out == "No sessions.\n"


async def test_sessions_have_agent_totals() -> None:
    data = (
        await run_command(await build_sample_services(op="list_sessions"), "robot", "sessions", "--agent-summary")
    ).envelope["data"]
    agents, work = data["items"]
    assert (agents["top_state"], agents["waiting"], agents["running"]) == ("waiting_approval", 1, 1)
    assert agents["agent_states"] == {"claude_code": {"waiting_approval": 1}, "codex": {"running": 1}}
    assert (work["top_state"], work["by_state"]) == ("completed", {"completed": 1, "unknown": 1})


async def test_sessions_of_one_name_are_merged_on_request() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1"))
    server = replace(SERVER, target=TargetName("build"), socket="/run/other")
    services.add_pane(build_shell_facts("%2"), server=server)
    apart = (await run_command(services, "robot", "sessions")).envelope["data"]["items"]
    assert [item["identity"]["target"] for item in apart] == ["build", "local"]
    (merged,) = (await run_command(services, "robot", "sessions", "--group-by", "session-name")).envelope["data"][
        "items"
    ]
    assert (merged["identity"], merged["panes"]) == ({"target": "", "session_name": "work"}, [1, 2])
    assert (merged["by_target"], merged["windows"]) == ({"build": 1, "local": 1}, 2)
