from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_health_reports_state_and_resource_usage() -> None:
    data = (await run_command(await build_sample_services(), "robot", "health")).envelope["data"]
    assert data["is_ok"]
    assert (data["uptime_secs"], data["started_at"]) == (3600.0, "2026-01-01T11:01:15.000Z")
    assert data["servers"][0]["mux_ok"]
    assert data["daemon"]["rss_bytes"] == 41_000_000


async def test_without_a_recorder_health_needs_attention() -> None:
    services = await build_sample_services()
    services.maintenance.is_recording = False
    assert not (await run_command(services, "robot", "health")).envelope["data"]["is_ok"]
    lines = (await run_command(services, "health")).out.splitlines()
    assert lines[1].split(maxsplit=1) == ["health", "needs attention"]
    assert "recorder     not running" in lines


async def test_text_output_shows_resource_usage() -> None:
    out = (await run_command(await build_sample_services(), "health")).out
    assert "pid 4242, 41.0 MB, 0.7 % of a core, up 1h" in out
    assert "31 ms maximum, 8 ms average" in out


async def test_corrections_are_shown_per_server() -> None:
    data = (await run_command(await build_sample_services(), "robot", "health")).envelope["data"]
    assert data["servers"][0]["corrections"] == 0
    assert "CORRECTIONS" in (await run_command(await build_sample_services(), "health")).out
