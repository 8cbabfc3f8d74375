"""Real agents that need a login: a person gets the code and the address, nothing is typed, and the login is seen."""

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
class SignedOut(AgentProgram):
    """Codex of which nobody knows who uses it, and who is to ask this provider."""

    issuer: str = ""

    def prepare(self, place: AgentFolders) -> None:
        super().prepare(place)
        path = place.home / ".codex/config.toml"
        needs_login = path.read_text().replace('env_key = "SCRIPTED_KEY"', "requires_openai_auth = true")
        path.write_text(f'chatgpt_base_url = "{self.issuer}/backend-api"\n{needs_login}')


class WithoutKey(AgentProgram):
    """Gemini that is to be used with an account, on a machine without a browser."""

    def prepare(self, place: AgentFolders) -> None:
        super().prepare(place)
        path = place.home / ".gemini/settings.json"
        path.write_text(path.read_text().replace("gemini-api-key", "oauth-personal"))


def run_with(one: WatchedAgent, words: str, *statuses: str, seconds: float = 60.0) -> dict:
    """The run that says this of itself, once it is in one of these."""

    def look() -> list[dict]:
        return [run for run in list_runs(one) if run["status"] in statuses and words in f"{run['why']}{run['plan']}"]

    try:
        return wait_until(look, timeout_s=seconds)[0]
    except AssertionError as error:
        raise AssertionError(f"{error}\n{list_runs(one)}\n{one.agent_pane.capture_text()}") from None


def told(one: WatchedAgent) -> list[str]:
    """What a person was notified of."""
    items = call_robot(one.visor, "audit", "--kind", "notify", "--limit", "50")["items"]
    return [item["action"]["text"] for item in items if item["stage"] == "outcome"]


def is_stored(one: WatchedAgent, text: str) -> bool:
    files = [path for path in Path(one.visor.paths.data_dir).rglob("*") if path.is_file()]
    return any(text.encode() in path.read_bytes() for path in files)


def test_codex_is_logged_in_by_the_code_that_a_person_is_shown(model: str) -> None:
    with run_identity_provider() as issuer:
        env = {"CODEX_APP_SERVER_LOGIN_ISSUER": issuer.address}
        program = SignedOut(CODEX.name, CODEX.binary, env=env, issuer=issuer.address)
        with start_watched_agent(program, model, "Sign in with Device Code", settings=SETTINGS) as codex:
            codex.write_policy(ALLOW_ALL_POLICY)
            assert codex.pane
            codex.agent_pane.press("Down")
            codex.agent_pane.wait_for_text("> 2. Sign in with Device Code")
            codex.agent_pane.press("Enter")
            codex.agent_pane.wait_for_text(DEVICE_CODE)
            asked = codex.wait_for_approval()
            assert f"open {issuer.address}/codex/device and enter the code {DEVICE_CODE}" in asked["what"]
            assert [text for text in told(codex) if DEVICE_CODE in text and issuer.address in text] != []
            issuer.code_entered.set()
            run = run_with(codex, "is logged in", *ENDED_STATUSES)
            assert run["status"] == "completed"
            assert call_robot(codex.visor, "inbox")["items"] == []
            codex.agent_pane.wait_for_text("Signed in with your ChatGPT account")
            codex.agent_pane.press("Enter")
            wait_until(lambda: codex.get_state() == "idle")
            assert REFRESH_TOKEN in (codex.agent_pane.place.home / ".codex/auth.json").read_text()
            assert not is_stored(codex, REFRESH_TOKEN)


def test_gemini_s_address_is_left_to_a_person_who_enters_its_code_there(model: str) -> None:
    program = WithoutKey(GEMINI.name, GEMINI.binary, env={"NO_BROWSER": "true"})
    with start_watched_agent(program, model, "Enter the authorization code", settings=SETTINGS) as gemini:
        gemini.write_policy(ALLOW_ALL_POLICY)
        assert gemini.pane
        run = run_with(gemini, "enter in the pane", "paused")
        assert "the address that it shows" in run["plan"]
        assert any("needs a login" in text for text in told(gemini))


@pytest.mark.parametrize(
    ("program", "shows"), [(CLAUDE, "mode on"), (COPILOT, "/ commands")], ids=["claude", "copilot"]
)
def test_one_that_shows_no_code_is_left_to_a_person_and_the_run_ends_when_it_goes_on(
    program: AgentProgram, shows: str, model: str
) -> None:
    with start_watched_agent(replace(program), model, shows, settings=SETTINGS) as agent:
        agent.write_policy(ALLOW_ALL_POLICY)
        assert agent.pane
        agent.agent_pane.send_prompt("MODEL fail 401")
        run = run_with(agent, "it shows no code", "paused", seconds=90)
        assert f"visor workflow resume {run['id']}" in run["plan"]
        agent.agent_pane.wait_until_still()
        agent.agent_pane.send_prompt("MODEL slow 5")
        run = run_with(agent, "is logged in", *ENDED_STATUSES)
        assert run["status"] == "completed"
