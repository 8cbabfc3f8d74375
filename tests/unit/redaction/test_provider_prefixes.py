"""Every provider kind, with what it must mask and what it must not."""

import pytest

from termvisor.redaction import redact
from termvisor.redaction.provider_prefixes import PROVIDER_KINDS

A = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP1qR2sT4uV6wX8yZ0bD2eF4aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z"
H = "3f9a1c7e5b2d8046" * 6
U = "Q7ZK2M9XR4TB6WYD3HPV5NCJ8LGF1S0A" * 2

HITS: dict[str, list[tuple[str, str, str]]] = {
    # text before, the secret, text after
    "anthropic_key": [("export K=sk-ant-", "api03-" + A, ""), ("'sk-ant-", A[:20], "' was used")],
    "openrouter_key": [("key sk-or-v1-", H[:64], ".")],
    "openai_key": [("OPENAI=sk-proj-", A, ";"), ("sk-", A[:48], ""), ("sk-", H[:32], " (deepseek)")],
    "google_api_key": [("https://x/y?key=AIza", A[:35], "&z=1")],
    "google_oauth_token": [("access ya29.", "a0" + A, "")],
    "google_client_secret": [("GOCSPX-", A[:28], "")],
    "github_token": [("x ghp_", A[:36], ""), ("git clone https://ghs_", A[:36], "@github.com/a/b")],
    "github_fine_grained_token": [("github_pat_", A[:22] + "_" + A[:59], "")],
    "gitlab_token": [("glpat-", A[:20], ""), ("PRIVATE: glrt-", A[:20], "")],
    "slack_token": [("xoxb-", "123456789012-1234567890123-" + A[:24], ""), ("xapp-", "1-A1B2C3-" + A[:30], "")],
    "slack_webhook": [("https://hooks.slack.com/services/T", "0A1B2C3D4/B" + "0A1B2C3D4/" + A[:24], "")],
    "discord_webhook": [("https://discord.com/api/webhooks/", "123456789012345678/" + A[:68], "")],
    "aws_access_key_id": [("id AKIA", U[:16], ""), ('"ASIA', U[:16], '"')],
    "azure_storage_key": [("AccountName=x;AccountKey=", A[:86] + "==", ";EndpointSuffix=y")],
    "stripe_key": [("sk_live_", A[:24], ""), ("rk_live_", A[:24], " x")],
    "stripe_webhook_secret": [("whsec_", A[:32], "")],
    "npm_token": [("//registry/:_auth npm_", A[:36], "")],
    "pypi_token": [("pypi-AgE", "IcHlwaS5vcmc" + A[:60], "")],
    "rubygems_key": [("rubygems_", H[:48], "")],
    "huggingface_token": [("hf_", A[:34], "")],
    "groq_key": [("gsk_", A[:52], "")],
    "xai_key": [("xai-", A[:80], "")],
    "perplexity_key": [("pplx-", A[:48], "")],
    "replicate_token": [("r8_", A[:37], "")],
    "twilio_key": [("SK", H[:32], "")],
    "sendgrid_key": [("SG.", A[:22] + "." + A[:43], "")],
    "mailgun_key": [("key-", H[:32], "")],
    "brevo_key": [("xkeysib-", H[:64] + "-" + A[:16], "")],
    "digitalocean_token": [("dop_v1_", H[:64], "")],
    "vault_token": [("VAULT hvs.", A[:90], "")],
    "databricks_token": [("dapi", H[:32], "")],
    "shopify_token": [("shpat_", H[:32], "")],
    "grafana_token": [("glsa_", A[:32] + "_" + H[:8], "")],
    "linear_key": [("lin_api_", A[:40], "")],
    "notion_token": [("ntn_", A[:46], "")],
    "postman_key": [("PMAK-", H[:24] + "-" + H[:34], "")],
    "figma_token": [("figd_", A[:40], "")],
    "docker_token": [("dckr_pat_", A[:27], "")],
    "newrelic_key": [("NRAK-", U[:27], "")],
    "sentry_token": [("sntrys_", A[:60], "")],
    "tailscale_key": [("tskey-", "auth-" + A[:30], "")],
    "supabase_token": [("sbp_", H[:40], "")],
    "planetscale_token": [("pscale_tkn_", A[:43], "")],
    "doppler_token": [("dp.pt.", A[:43], "")],
    "atlassian_token": [("ATATT3", "xFfGF0" + A, "")],
    "square_token": [("sq0atp-", A[:22], "")],
    "heroku_key": [("HRKU-", "AA" + A[:58], "")],
    "age_key": [("AGE-SECRET-KEY-", "1" + U[:58], "")],
    "flyio_token": [("FlyV1 fm2_", A, "")],
    "shell_nonce": [("__visor_tail=$';aid=7;nonce=", H[:32], "\\a'")],
}

MISSES: dict[str, list[str]] = {
    "anthropic_key": ["sk-ant-", "sk-ant-short", "the sk-ant-prefixed-keys-are-from-anthropic"],
    "openrouter_key": ["sk-or-v1-" + H[:10] + " ends early"],
    "openai_key": ["task-force", "risk-averse-" + "b" * 20, "disk-usage", "sk-learn-based-classifier-model-two", "sk-"],
    "google_api_key": ["AIza", "AIza" + A[:20] + " ends early", "xAIza" + A[:35], "AIza" + A[:50]],
    "google_oauth_token": ["ya29.", "ya29.short"],
    "google_client_secret": ["GOCSPX-" + A[:10]],
    "github_token": ["ghp_", "ghp_" + A[:20] + ".", "the ghp_ prefix"],
    "github_fine_grained_token": ["github_pat_example"],
    "gitlab_token": ["glpat-short", "glrt-runner-tokens-are-described-below"],
    "slack_token": ["xoxb-1234", "xoxb-your-token-goes-here-please"],
    "slack_webhook": ["https://hooks.slack.com/services/T000", "/etc/services/Tools"],
    "discord_webhook": ["https://discord.com/api/webhooks/123456"],
    "aws_access_key_id": ["AKIA", "AKIA" + U[:12], "AKIA" + U[:20], "XAKIA" + U[:16], "MAKIA"],
    "azure_storage_key": ["AccountKey=", "AccountKey=$KEY"],
    "stripe_key": ["sk_live_", "sk_live_key", "task_live_" + A[:10]],
    "stripe_webhook_secret": ["whsec_", "whsec_test"],
    "npm_token": ["npm_config_registry=x", "npm_lifecycle_event", "npm_package_version_is_not_a_token_at_all_1"],
    "pypi_token": ["pypi-server", "pypi-AgE"],
    "rubygems_key": ["rubygems_version 3.4"],
    "huggingface_token": ["hf_hub_download", "from hf_transfer import x", "shf_" + A[:20]],
    "groq_key": ["gsk_short"],
    "xai_key": ["xai-org/grok"],
    "perplexity_key": ["pplx-api"],
    "replicate_token": ["r8_unorm", "r8_" + A[:12]],
    "twilio_key": ["SK", "SKU 12", "TASK" + H[:32], "SK" + H[:40]],
    "sendgrid_key": ["SG.pdf", "MSG.text"],
    "mailgun_key": ["key-value", "key-" + H[:8], "api-key-rotation"],
    "brevo_key": ["xkeysib-abc"],
    "digitalocean_token": ["dop_v1_" + H[:20] + " ends early"],
    "vault_token": ["hvs.", "hvs.example"],
    "databricks_token": ["dapi", "dapi_client", "dapi" + H[:12]],
    "shopify_token": ["shpat_abc"],
    "grafana_token": ["glc_test"],
    "linear_key": ["lin_api_key"],
    "notion_token": ["ntn_db"],
    "postman_key": ["PMAK-" + H[:20] + "."],
    "figma_token": ["figd_x"],
    "docker_token": ["dckr_pat_x"],
    "newrelic_key": ["NRAK-X"],
    "sentry_token": ["sntrys_x"],
    "tailscale_key": ["tskey-auth", "tskey-the-name-of-the-key-file"],
    "supabase_token": ["sbp_x"],
    "planetscale_token": ["pscale_pw_x"],
    "doppler_token": ["dp.pt.x"],
    "atlassian_token": ["ATATT3x"],
    "square_token": ["sq0atp-x"],
    "heroku_key": ["HRKU-x"],
    "age_key": ["AGE-SECRET-KEY-1"],
    "flyio_token": ["fm2_x", "fm1_radio"],
    "shell_nonce": ["nonce=" + H[:31] + ".", "nonce=" + H[:33], "nonce=", "announce=" + H[:32]],
}


def test_every_kind_has_hits_and_near_misses():
    assert set(HITS) == {kind.id for kind in PROVIDER_KINDS} == set(MISSES)
    assert all(HITS.values()) and all(MISSES.values())


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in HITS.items() for case in cases])
def test_the_secret_is_masked_and_its_context_is_unchanged(kind: str, case: tuple[str, str, str]):
    before, secret, behind = case
    assert redact(before + secret + behind) == f"{before}[redacted:{kind}]{behind}"


@pytest.mark.parametrize("text", [text for texts in MISSES.values() for text in texts])
def test_text_that_only_resembles_a_secret_is_unchanged(text: str):
    assert redact(text) == text


@pytest.mark.parametrize("kind", PROVIDER_KINDS, ids=lambda kind: kind.id)
def test_a_prefix_is_cut_at_most_once_by_rows_of_twenty_columns(kind):
    assert all(1 < len(prefix) <= 15 for prefix in kind.prefixes)
    assert kind.min_length >= 16
