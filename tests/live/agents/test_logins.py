"""Real agents that need a login: the user gets code and address, nothing is typed, and the login is detected."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.live.agents.agent_programs import CLAUDE, CODEX, COPILOT, GEMINI, AgentFolders, AgentProgram
from tests.live.agents.login_server import DEVICE_CODE, REFRESH_TOKEN, run_identity_provider
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent, start_watched_agent
from tests.live.agents.workflow_runs import ALLOW_ALL_POLICY, ENDED_STATUSES, list_runs
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SETTINGS = {"workflow_modes": "handle_auth_required=on"}


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with run_model_server() as address:
        yield address


@dataclass(frozen=True)
class SignedOutCodex(AgentProgram):
    """Codex without credentials that logs in at this identity provider."""

    issuer: str = ""

    def prepare(self, place: AgentFolders) -> None:
        super().prepare(place)
        path = place.home / ".codex/config.toml"
        needs_login = path.read_text().replace('env_key = "SCRIPTED_KEY"', "requires_openai_auth = true")
        path.write_text(f'chatgpt_base_url = "{self.issuer}/backend-api"\n{needs_login}')


class GeminiWithoutKey(AgentProgram):
    """Gemini that logs in with an account, on a machine without a browser."""

    def prepare(self, place: AgentFolders) -> None:
        super().prepare(place)
        path = place.home / ".gemini/settings.json"
        path.write_text(path.read_text().replace("gemini-api-key", "oauth-personal"))


def wait_for_run_saying(agent: WatchedAgent, words: str, *statuses: str, seconds: float = 60.0) -> dict:
    """Wait for a run in one of these statuses whose reason or plan contains the words."""

    def list_matching_runs() -> list[dict]:
        return [run for run in list_runs(agent) if run["status"] in statuses and words in f"{run['why']}{run['plan']}"]

    try:
        return wait_until(list_matching_runs, timeout_s=seconds)[0]
    except AssertionError as error:
        raise AssertionError(f"{error}\n{list_runs(agent)}\n{agent.agent_pane.capture_text()}") from None


def list_notification_texts(agent: WatchedAgent) -> list[str]:
    """Return the texts of all notifications."""
    items = call_robot(agent.visor, "audit", "--kind", "notify", "--limit", "50")["items"]
    return [item["action"]["text"] for item in items if item["stage"] == "outcome"]


def is_stored(agent: WatchedAgent, text: str) -> bool:
    files = [path for path in Path(agent.visor.paths.data_dir).rglob("*") if path.is_file()]
    return any(text.encode() in path.read_bytes() for path in files)


def test_codex_is_logged_in_by_the_device_code_in_the_request(model: str) -> None:
    with run_identity_provider() as issuer:
        env = {"CODEX_APP_SERVER_LOGIN_ISSUER": issuer.address}
        program = SignedOutCodex(CODEX.name, CODEX.binary, env=env, issuer=issuer.address)
        with start_watched_agent(program, model, "Sign in with Device Code", settings=SETTINGS) as codex:
            codex.write_policy(ALLOW_ALL_POLICY)
            assert codex.pane
            codex.agent_pane.press("Down")
            codex.agent_pane.wait_for_text("> 2. Sign in with Device Code")
            codex.agent_pane.press("Enter")
            codex.agent_pane.wait_for_text(DEVICE_CODE)
            request = codex.wait_for_approval()
            assert f"open {issuer.address}/codex/device and enter the code {DEVICE_CODE}" in request["what"]
            assert [
                text for text in list_notification_texts(codex) if DEVICE_CODE in text and issuer.address in text
            ] != []
            issuer.code_entered.set()
            run = wait_for_run_saying(codex, "is logged in", *ENDED_STATUSES)
            assert run["status"] == "completed"
            assert call_robot(codex.visor, "inbox")["items"] == []
            codex.agent_pane.wait_for_text("Signed in with your ChatGPT account")
            codex.agent_pane.press("Enter")
            wait_until(lambda: codex.get_state() == "idle")
            assert REFRESH_TOKEN in (codex.agent_pane.place.home / ".codex/auth.json").read_text()
            assert not is_stored(codex, REFRESH_TOKEN)


def test_a_gemini_login_is_paused_for_the_user_to_enter_the_code(model: str) -> None:
    program = GeminiWithoutKey(GEMINI.name, GEMINI.binary, env={"NO_BROWSER": "true"})
    with start_watched_agent(program, model, "Enter the authorization code", settings=SETTINGS) as gemini:
        gemini.write_policy(ALLOW_ALL_POLICY)
        assert gemini.pane
        run = wait_for_run_saying(gemini, "enter in the pane", "paused")
        assert "the address that it shows" in run["plan"]
        assert any("needs a login" in text for text in list_notification_texts(gemini))


@pytest.mark.parametrize(
    ("program", "shows"), [(CLAUDE, "mode on"), (COPILOT, "/ commands")], ids=["claude", "copilot"]
)
def test_a_login_without_a_code_is_paused_and_ends_when_the_agent_works_again(
    program: AgentProgram, shows: str, model: str
) -> None:
    with start_watched_agent(replace(program), model, shows, settings=SETTINGS) as agent:
        agent.write_policy(ALLOW_ALL_POLICY)
        assert agent.pane
        agent.agent_pane.send_prompt("MODEL fail 401")
        run = wait_for_run_saying(agent, "it shows no code", "paused", seconds=90)
        assert f"visor workflow resume {run['id']}" in run["plan"]
        agent.agent_pane.wait_until_still()
        agent.agent_pane.send_prompt("MODEL slow 5")
        run = wait_for_run_saying(agent, "is logged in", *ENDED_STATUSES)
        assert run["status"] == "completed"
