"""The kinds that a provider made recognisable by a prefix. Data only; one row a kind.

Order matters where prefixes overlap: the more special kind stands first and gives the mask its name.
"""

from termvisor.redaction.secret_kind import Kind

_WORD = "A-Za-z0-9_-"
_DOTTED = "A-Za-z0-9_.-"
_ALNUM = "A-Za-z0-9"
_HEX = "0-9a-f"

SHELL_NONCE = "shell_nonce"


def _key(name: str, doc: str, prefixes: str, charset: str, bounds: tuple[int, int]) -> Kind:
    low, high = bounds
    return Kind(id=name, doc=doc, prefixes=tuple(prefixes.split()), charset=charset, low=low, high=high)


PROVIDERS: tuple[Kind, ...] = (
    _key("anthropic_key", "Anthropic API keys", "sk-ant-", _WORD, (20, 0)),
    _key("openrouter_key", "OpenRouter API keys", "sk-or-v1-", _HEX, (64, 64)),
    _key(
        "openai_key",
        "OpenAI API keys, and those of the many services that copy the form",
        "sk-proj- sk-svcacct- sk-admin- sk-",
        _WORD,
        (20, 0),
    ),
    _key("google_api_key", "Google API keys", "AIza", _WORD, (35, 35)),
    _key("google_oauth_token", "Google OAuth access tokens", "ya29.", _DOTTED, (20, 0)),
    _key("google_client_secret", "Google OAuth client secrets", "GOCSPX-", _WORD, (28, 28)),
    _key("github_token", "GitHub tokens", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, (36, 0)),
    _key("github_fine_grained_token", "GitHub fine-grained tokens", "github_pat_", "A-Za-z0-9_", (36, 0)),
    _key(
        "gitlab_token",
        "GitLab tokens",
        "glpat- gldt- glrt- glptt- glcbt- glimt- glsoat- glagent-",
        _DOTTED,
        (20, 0),
    ),
    _key(
        "slack_token",
        "Slack tokens",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-",
        "A-Za-z0-9%-",
        (16, 0),
    ),
    _key("slack_webhook", "Slack webhook URLs", "services/T", "A-Za-z0-9/", (34, 0)),
    _key("discord_webhook", "Discord webhook URLs", "api/webhooks/", "A-Za-z0-9_/-", (60, 0)),
    _key("aws_access_key_id", "AWS access key ids", "AKIA ASIA ABIA ACCA", "A-Z0-9", (16, 16)),
    _key("azure_storage_key", "Azure storage account keys", "AccountKey=", "A-Za-z0-9+/=", (88, 88)),
    _key("stripe_key", "Stripe keys", "sk_live_ rk_live_ sk_test_ rk_test_", _ALNUM, (16, 0)),
    _key("stripe_webhook_secret", "Stripe webhook signing secrets", "whsec_", "A-Za-z0-9+/=", (32, 0)),
    _key("npm_token", "npm access tokens", "npm_", _ALNUM, (36, 36)),
    _key("pypi_token", "PyPI upload tokens", "pypi-AgE", _WORD, (50, 0)),
    _key("rubygems_key", "RubyGems API keys", "rubygems_", _HEX, (48, 48)),
    _key("huggingface_token", "Hugging Face tokens", "hf_", _ALNUM, (34, 34)),
    _key("groq_key", "Groq API keys", "gsk_", _ALNUM, (48, 0)),
    _key("xai_key", "xAI API keys", "xai-", _ALNUM, (60, 0)),
    _key("perplexity_key", "Perplexity API keys", "pplx-", _ALNUM, (40, 0)),
    _key("replicate_token", "Replicate API tokens", "r8_", _ALNUM, (37, 37)),
    _key("twilio_key", "Twilio API keys", "SK", _HEX, (32, 32)),
    _key("sendgrid_key", "SendGrid API keys", "SG.", _DOTTED, (60, 0)),
    _key("mailgun_key", "Mailgun keys", "key-", _HEX, (32, 32)),
    _key("brevo_key", "Brevo (Sendinblue) API keys", "xkeysib-", "A-Za-z0-9-", (64, 0)),
    _key("digitalocean_token", "DigitalOcean tokens", "dop_v1_ doo_v1_ dor_v1_", _HEX, (64, 64)),
    _key("vault_token", "HashiCorp Vault tokens", "hvs. hvb. hvr.", _WORD, (24, 0)),
    _key("databricks_token", "Databricks tokens", "dapi", _HEX, (32, 32)),
    _key("shopify_token", "Shopify tokens", "shpat_ shpca_ shppa_ shpss_", "A-Fa-f0-9", (32, 32)),
    _key("grafana_token", "Grafana tokens", "glsa_ glc_", "A-Za-z0-9_+/=", (32, 0)),
    _key("linear_key", "Linear API keys", "lin_api_ lin_oauth_", _ALNUM, (32, 0)),
    _key("notion_token", "Notion integration tokens", "ntn_", _ALNUM, (40, 0)),
    _key("postman_key", "Postman API keys", "PMAK-", "a-f0-9-", (59, 59)),
    _key("figma_token", "Figma access tokens", "figd_", _WORD, (36, 0)),
    _key("docker_token", "Docker Hub access tokens", "dckr_pat_ dckr_oat_", _WORD, (24, 0)),
    _key("newrelic_key", "New Relic keys", "NRAK- NRJS- NRII-", _WORD, (19, 0)),
    _key("sentry_token", "Sentry tokens", "sntrys_ sntryu_", "A-Za-z0-9+/=_", (40, 0)),
    _key("tailscale_key", "Tailscale keys", "tskey-", "A-Za-z0-9-", (20, 0)),
    _key("supabase_token", "Supabase tokens and secret keys", "sbp_ sb_secret_", _WORD, (24, 0)),
    _key("planetscale_token", "PlanetScale tokens", "pscale_tkn_ pscale_pw_ pscale_oauth_", _DOTTED, (32, 0)),
    _key("doppler_token", "Doppler tokens", "dp.pt. dp.st. dp.ct. dp.sa.", _DOTTED, (40, 0)),
    _key("atlassian_token", "Atlassian API tokens", "ATATT3", "A-Za-z0-9_=-", (60, 0)),
    _key("square_token", "Square tokens", "sq0atp- sq0csp-", _WORD, (22, 0)),
    _key("heroku_key", "Heroku API keys", "HRKU-", _WORD, (36, 0)),
    _key("age_key", "age identities", "AGE-SECRET-KEY-", "A-Z0-9", (59, 59)),
    _key("flyio_token", "Fly.io tokens", "fm1_ fm1r_ fm1a_ fm2_ fo1_", "A-Za-z0-9+/=_-", (40, 0)),
    _key(SHELL_NONCE, "The nonce by which Termvisor knows your shells", "nonce=", _HEX, (32, 32)),
)
