from termvisor.model.agent.account import Account
from termvisor.ops.accounts._account_item import describe_credentials


def test_only_the_location_of_credentials_is_shown() -> None:
    command = Account(service="openai", name="a", command=("pass", "show", "hush"))
    assert describe_credentials(command) == "command pass"
    assert describe_credentials(Account(service="openai", name="a")) == "the agent's own login"
    assert describe_credentials(Account(service="openai", name="a", env_file="/e")) == "env_file /e"
