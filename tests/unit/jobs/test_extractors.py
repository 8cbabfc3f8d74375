import pytest

from termvisor.jobs.extractors import BUILTIN, load_extractors

SAMPLES = {
    "claude_setup_token": (
        "Visit https://claude.ai/oauth/authorize?code=true\nYour token: sk-ant-oat01-" + "a1" * 20 + "\n",
        {"url": "https://claude.ai/oauth/authorize?code=true", "token": "sk-ant-oat01-" + "a1" * 20},
    ),
    "gh_auth_login": (
        "! First copy your one-time code: ABCD-1234\nOpen https://github.com/login/device\n✓ Logged in as ada\n",
        {"code": "ABCD-1234", "url": "https://github.com/login/device", "account": "ada"},
    ),
}


@pytest.mark.parametrize("extractor", BUILTIN, ids=lambda extractor: extractor.name)
def test_an_extractor_finds_its_values_and_knows_which_are_secret(extractor) -> None:
    text, values = SAMPLES[extractor.name]
    assert extractor.extract(text) == values
    assert extractor.is_secret("token") and not extractor.is_secret("url")
    assert extractor.extract("nothing here") == {}


def test_every_built_in_extractor_is_loaded_by_name() -> None:
    assert set(SAMPLES) <= set(load_extractors())
