from termvisor.model.agent.evidence import SourceHealth
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import SAMPLE_KINDS
from termvisor.testing.sample_services import build_sample_services


async def test_sources_are_listed_with_their_status() -> None:
    data = (await run_command(await build_sample_services(op="list_sources"), "robot", "list-sources")).envelope["data"]
    assert [(item["agent"], item["source"], item["status"]) for item in data["items"]] == [
        ("claude_code", "hook", "well"),
        ("codex", "app_server", "down"),
    ]
    assert data["items"][0]["heard_age"] == 60.0
    assert data["summary"] == {
        "sources": 2,
        "by_status": {"down": 1, "well": 1},
        "by_agent": {"claude_code": 1, "codex": 1},
    }


async def test_sources_that_are_down_are_found() -> None:
    services = await build_sample_services(op="list_sources")
    out = (await run_command(services, "sources", "--status", "down")).out
    assert "the server does not answer" in out
    assert "hook" not in out


async def test_an_unknown_agent_is_an_error() -> None:
    services = FakeServices()
    services.agents.agent_kinds += SAMPLE_KINDS
    for command in ("sources", "agents-sessions"):
        answer = (await run_command(services, "robot", *command.split("-"), "--agent", "copilt")).envelope
        assert (answer["error"]["code"], answer["hint"]) == ("invalid_args", "Did you mean copilot?")


async def test_a_secret_in_an_address_is_removed() -> None:
    services = FakeServices()
    secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
    services.agents.source_health.append(SourceHealth(agent="codex", source="server", where=f"https://x/{secret}"))
    assert secret not in (await run_command(services, "sources")).out


async def test_without_sources_it_is_reported() -> None:
    assert (await run_command(FakeServices(), "sources")).out == "No sources yet.\n"
    assert (await run_command(FakeServices(), "sources", "--status", "down")).out == "No matching sources.\n"
