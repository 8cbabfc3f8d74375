"""Real agents that need a login: a person gets the code and the address, nothing is typed, and the login is seen."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.live.agents.company import Company, company
from tests.live.agents.lab import CLAUDE, CODEX, COPILOT, GEMINI, Program, Workplace
from tests.live.agents.login import CODE, TOKEN, provider
from tests.live.agents.model.server import model_server
from tests.live.agents.runs import ENDED, POLICY, runs
from tests.live.looking import look
from tests.live.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SETTINGS = {"workflow_modes": "handle_auth_required=on"}


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with model_server() as address:
        yield address


@dataclass(frozen=True)
class SignedOut(Program):
    """Codex of which nobody knows who uses it, and who is to ask this provider."""

    issuer: str = ""

    def settle(self, place: Workplace) -> None:
        super().settle(place)
        path = place.home / ".codex/config.toml"
        needs_login = path.read_text().replace('env_key = "SCRIPTED_KEY"', "requires_openai_auth = true")
        path.write_text(f'chatgpt_base_url = "{self.issuer}/backend-api"\n{needs_login}')


class WithoutKey(Program):
    """Gemini that is to be used with an account, on a machine without a browser."""

    def settle(self, place: Workplace) -> None:
        super().settle(place)
        path = place.home / ".gemini/settings.json"
        path.write_text(path.read_text().replace("gemini-api-key", "oauth-personal"))


def run_with(one: Company, words: str, *statuses: str, seconds: float = 60.0) -> dict:
    """The run that says this of itself, once it is in one of these."""

    def look() -> list[dict]:
        return [run for run in runs(one) if run["status"] in statuses and words in f"{run['why']}{run['plan']}"]

    try:
        return until(look, seconds=seconds)[0]
    except AssertionError as error:
        raise AssertionError(f"{error}\n{runs(one)}\n{one.stage.text()}") from None


def told(one: Company) -> list[str]:
    """What a person was notified of."""
    items = look(one.visor, "audit", "--kind", "notify", "--limit", "50")["items"]
    return [item["action"]["text"] for item in items if item["stage"] == "outcome"]


def is_stored(one: Company, text: str) -> bool:
    files = [path for path in Path(one.visor.places.data_dir).rglob("*") if path.is_file()]
    return any(text.encode() in path.read_bytes() for path in files)


def test_codex_is_logged_in_by_the_code_that_a_person_is_shown(model: str) -> None:
    with provider() as issuer:
        env = {"CODEX_APP_SERVER_LOGIN_ISSUER": issuer.address}
        program = SignedOut(CODEX.name, CODEX.binary, env=env, issuer=issuer.address)
        with company(program, model, "Sign in with Device Code", settings=SETTINGS) as codex:
            codex.rule(POLICY)
            assert codex.pane
            codex.stage.press("Down")
            codex.stage.shows("> 2. Sign in with Device Code")
            codex.stage.press("Enter")
            codex.stage.shows(CODE)
            asked = codex.asked()
            assert f"open {issuer.address}/codex/device and enter the code {CODE}" in asked["what"]
            assert [text for text in told(codex) if CODE in text and issuer.address in text] != []
            issuer.is_entered.set()
            run = run_with(codex, "is logged in", *ENDED)
            assert run["status"] == "completed"
            assert look(codex.visor, "inbox")["items"] == []
            codex.stage.shows("Signed in with your ChatGPT account")
            codex.stage.press("Enter")
            until(lambda: codex.state() == "idle")
            assert TOKEN in (codex.stage.place.home / ".codex/auth.json").read_text()
            assert not is_stored(codex, TOKEN)


def test_gemini_s_address_is_left_to_a_person_who_enters_its_code_there(model: str) -> None:
    program = WithoutKey(GEMINI.name, GEMINI.binary, env={"NO_BROWSER": "true"})
    with company(program, model, "Enter the authorization code", settings=SETTINGS) as gemini:
        gemini.rule(POLICY)
        assert gemini.pane
        run = run_with(gemini, "enter in the pane", "paused")
        assert "the address that it shows" in run["plan"]
        assert any("needs a login" in text for text in told(gemini))


@pytest.mark.parametrize(
    ("program", "shows"), [(CLAUDE, "mode on"), (COPILOT, "/ commands")], ids=["claude", "copilot"]
)
def test_one_that_shows_no_code_is_left_to_a_person_and_the_run_ends_when_it_goes_on(
    program: Program, shows: str, model: str
) -> None:
    with company(replace(program), model, shows, settings=SETTINGS) as agent:
        agent.rule(POLICY)
        assert agent.pane
        agent.stage.prompt("MODEL fail 401")
        run = run_with(agent, "it shows no code", "paused", seconds=90)
        assert f"visor workflow resume {run['id']}" in run["plan"]
        agent.stage.rests()
        agent.stage.prompt("MODEL slow 5")
        run = run_with(agent, "is logged in", *ENDED)
        assert run["status"] == "completed"
