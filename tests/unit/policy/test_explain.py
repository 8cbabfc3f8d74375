from termvisor.policy.explain import explain_verdict
from termvisor.policy.policy_file import parse_policy
from tests.unit.policy.policy_requests import make_command_request

POLICY = parse_policy("""
[[rule]]
id = "two"
answer = "ask"
two_person = true
text = "Two pairs of eyes."
""")


def test_every_check_is_listed_also_without_a_reason() -> None:
    assert explain_verdict(POLICY, make_command_request("rm a && ls")) == [
        "send_text by robot",
        "  deny list: no reason",
        "  hooks: no reason",
        "  rules: ask by two (Two pairs of eyes.)",
        "  commands: ask by delete (removes individually named files: rm a)",
        "  capabilities: no reason",
        "  protected panes: no reason",
        "  quiet hours: no reason",
        "  rates: no reason",
        "  default: ask by others.input (default for robot callers: send_text, risk input)",
        "ask: Two pairs of eyes.",
        "two users must approve; the daemon accepts only its own user, so the request will expire",
    ]


def test_denial_names_the_deciding_reason() -> None:
    assert explain_verdict(parse_policy(""), make_command_request("echo x >> ~/.ssh/config", "human"))[-1] == (
        "deny: /home/me/.ssh/config: never written (~/.ssh)"
    )
