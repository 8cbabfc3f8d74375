"""The Codex adapter as a whole."""

from termvisor.agents.adapters.adapter import CONTRACT_VERSION
from termvisor.agents.adapters.codex import ADAPTER


def test_it_has_the_current_contract_version():
    assert ADAPTER.contract_version == CONTRACT_VERSION
    assert ADAPTER.env_names == ("HOME", "CODEX_HOME")


def test_a_session_is_resumed_by_its_id():
    assert ADAPTER.build_resume_command("0199aaaa-0000-7000-8000-000000000001") == (
        "codex",
        "resume",
        "0199aaaa-0000-7000-8000-000000000001",
    )
    assert ADAPTER.build_resume_command("") == ()
