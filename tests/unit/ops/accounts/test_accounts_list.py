"""The account listing as text and JSON."""

from msgspec.structs import replace

from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_accounts_are_listed_with_quota_and_credential_location() -> None:
    data = (await run_command(await build_sample_services(), "robot", "accounts", "list")).envelope["data"]
    assert [(one["service"], one["name"], one["percent_remaining"], one["credentials"]) for one in data["items"]] == [
        ("openai", "work", 80.0, "env_file ~/work.env"),
        ("anthropic", "second", None, "config_dir ~/.claude-2"),
    ]
    assert data["summary"] == {"accounts": 2, "by_service": {"anthropic": 1, "openai": 1}}


async def test_accounts_are_filtered_by_service() -> None:
    shown = (await run_command(await build_sample_services(), "accounts", "--service", "anthropic")).out
    assert "second" in shown
    assert "unknown" in shown
    assert "work" not in shown


async def test_without_accounts_it_is_reported() -> None:
    services = await build_sample_services()
    services.settings = replace(services.settings, accounts=())
    assert "No accounts." in (await run_command(services, "accounts", "list")).out


async def test_an_empty_list_names_the_service() -> None:
    assert (
        "No accounts of google."
        in (await run_command(await build_sample_services(), "accounts", "--service", "google")).out
    )
