"""Kinds of secrets recognised by a provider's prefix, one row per kind.

If prefixes overlap, the more specific kind must come first, so that it names the marker.
"""

from termvisor.redaction.secret_kind import SecretKind

_WORD_CHARS = "A-Za-z0-9_-"
_DOTTED_WORD_CHARS = "A-Za-z0-9_.-"
# Not `EAA` alone, which is also how `EAAA` of Square begins: a row that ends there could continue as either.
_FACEBOOK_PREFIXES = " ".join(f"EAA{letter}" for letter in "BCDEFGHIJKLMNOPQRSTUVWXYZ")
# A path of a program may contain `api/webhooks/` as well, but no number after it.
_DISCORD_PREFIXES = " ".join(f"api/webhooks/{digit}" for digit in range(1, 10))
_ALNUM_CHARS = "A-Za-z0-9"
_HEX_CHARS = "0-9a-f"

SHELL_NONCE = "shell_nonce"


def _build_kind(name: str, doc: str, prefixes: str, charset: str, bounds: tuple[int, int]) -> SecretKind:
    low, high = bounds
    return SecretKind(
        id=name, doc=doc, prefixes=tuple(prefixes.split()), charset=charset, min_length=low, max_length=high
    )


_FURTHER_KINDS = (
    _build_kind("adafruit_key", "Adafruit IO keys", "aio_", _ALNUM_CHARS, (28, 28)),
    _build_kind("adobe_client_secret", "Adobe client secrets", "p8e-", _ALNUM_CHARS, (32, 32)),
    _build_kind("alibaba_access_key_id", "Alibaba Cloud access key ids", "LTAI", _ALNUM_CHARS, (20, 20)),
    _build_kind("artifactory_key", "Artifactory API keys", "AKCp", _ALNUM_CHARS, (69, 69)),
    _build_kind("artifactory_reference_token", "Artifactory reference tokens", "cmVmdGtu", _ALNUM_CHARS, (56, 56)),
    _build_kind("aws_bedrock_key", "Amazon Bedrock API keys", "ABSK bedrock-api-key", "A-Za-z0-9+/=-", (90, 0)),
    _build_kind("cerebras_key", "Cerebras API keys", "csk-", _ALNUM_CHARS, (40, 0)),
    _build_kind("clojars_token", "Clojars deploy tokens", "CLOJARS_", _ALNUM_CHARS, (60, 60)),
    _build_kind("cloudflare_origin_key", "Cloudflare Origin CA keys", "v1.0-", "a-f0-9-", (171, 171)),
    _build_kind("defined_networking_key", "Defined Networking API keys", "dnkey-", "A-Za-z0-9=_-", (79, 79)),
    _build_kind("dropbox_token", "Dropbox short-lived tokens", "sl.", "A-Za-z0-9_.=-", (100, 0)),
    _build_kind("duffel_token", "Duffel tokens", "duffel_test_ duffel_live_", "A-Za-z0-9_=-", (43, 43)),
    _build_kind("dynatrace_token", "Dynatrace tokens", "dt0c01. dt0s01. dt0s02. dt0s08.", "A-Za-z0-9.", (80, 0)),
    _build_kind("easypost_key", "EasyPost API keys", "EZAK EZTK", _ALNUM_CHARS, (54, 54)),
    _build_kind("square_access_token", "Square access tokens", "EAAA", _WORD_CHARS, (22, 60)),
    _build_kind("facebook_token", "Facebook access tokens", _FACEBOOK_PREFIXES, _ALNUM_CHARS, (80, 400)),
    _build_kind(
        "flutterwave_key", "Flutterwave keys", "FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK-", "A-Za-z0-9-", (32, 0)
    ),
    _build_kind("frameio_token", "Frame.io tokens", "fio-u-", "A-Za-z0-9_=-", (64, 64)),
    _build_kind(
        "hubspot_token", "HubSpot private app tokens", "pat-na1- pat-na2- pat-eu1- pat-ap1-", "A-Za-z0-9-", (36, 36)
    ),
    _build_kind("infracost_key", "Infracost API keys", "ico-", _ALNUM_CHARS, (32, 32)),
    _build_kind("intra42_secret", "42 Intra client secrets", "s-s4t2ud- s-s4t2af-", _HEX_CHARS, (64, 64)),
    _build_kind(
        "jwt_base64",
        "JSON Web Tokens, encoded in base64 once more",
        "ZXlK",
        "A-Za-z0-9+/=_-",
        (40, 0),
    ),
    _build_kind("mapbox_token", "Mapbox tokens", "sk.eyJ tk.eyJ pk.eyJ", _DOTTED_WORD_CHARS, (60, 0)),
    _build_kind("netlify_token", "Netlify tokens", "nfp_ nfc_ nfo_ nfu_ nfb_", _ALNUM_CHARS, (36, 36)),
    _build_kind("nvidia_key", "NVIDIA API keys", "nvapi-", _WORD_CHARS, (60, 0)),
    _build_kind("octopus_key", "Octopus Deploy API keys", "API-", "A-Z0-9", (26, 26)),
    _build_kind("onepassword_token", "1Password service account tokens", "ops_eyJ", "A-Za-z0-9+/=_-", (100, 0)),
    _build_kind("openshift_token", "OpenShift user tokens", "sha256~", _WORD_CHARS, (43, 43)),
    _build_kind("prefect_key", "Prefect API keys", "pnu_ pnb_", _ALNUM_CHARS, (36, 36)),
    _build_kind("pulumi_token", "Pulumi access tokens", "pul-", _HEX_CHARS, (40, 40)),
    _build_kind("readme_key", "ReadMe API keys", "rdme_", "a-z0-9", (70, 70)),
    _build_kind("scalingo_token", "Scalingo tokens", "tk-us-", _WORD_CHARS, (48, 48)),
    _build_kind("settlemint_token", "SettleMint tokens", "sm_aat_ sm_pat_ sm_sat_", _ALNUM_CHARS, (16, 16)),
    _build_kind("shippo_token", "Shippo tokens", "shippo_live_ shippo_test_", "A-Fa-f0-9", (40, 40)),
    _build_kind("sonar_token", "SonarQube tokens", "squ_ sqp_ sqa_", "A-Za-z0-9=_-", (40, 40)),
    _build_kind("sourcegraph_token", "Sourcegraph tokens", "sgp_ slk_", "A-Za-z0-9_", (40, 0)),
    _build_kind("tavily_key", "Tavily API keys", "tvly-", "A-Za-z0-9-", (28, 0)),
    _build_kind("teams_webhook", "Microsoft Teams webhook URLs", "webhookb2/", "A-Za-z0-9@/-", (80, 0)),
    _build_kind("terraform_token", "HCP Terraform tokens", "atlasv1.", "A-Za-z0-9=_-", (60, 0)),
    _build_kind("typeform_token", "Typeform tokens", "tfp_", "A-Za-z0-9_.=-", (59, 59)),
    _build_kind("yandex_key", "Yandex Cloud API keys", "AQVN", _WORD_CHARS, (35, 38)),
    _build_kind("aiven_password", "Aiven service passwords", "AVNS_", _WORD_CHARS, (19, 19)),
    _build_kind("anyscale_token", "Anyscale tokens", "aph0_ esecret_", _WORD_CHARS, (24, 0)),
    _build_kind("apify_token", "Apify tokens", "apify_api_", _ALNUM_CHARS, (36, 0)),
    _build_kind("axiom_token", "Axiom tokens", "xaat- xapt-", "a-f0-9-", (36, 36)),
    _build_kind("baidu_key", "Baidu Cloud API keys", "bce-v3/ALTAK-", "A-Za-z0-9/-", (40, 0)),
    _build_kind("bitbucket_password", "Bitbucket app passwords", "ATBB", _ALNUM_CHARS, (32, 36)),
    _build_kind("browserbase_key", "Browserbase API keys", "bb_live_ bb_test_", _WORD_CHARS, (24, 0)),
    _build_kind("buildkite_token", "Buildkite tokens", "bkua_ bkct_", _ALNUM_CHARS, (40, 0)),
    _build_kind("circleci_token", "CircleCI tokens", "CCIPAT_ CCIPRJ_", "A-Za-z0-9_", (40, 0)),
    _build_kind("cloudflare_token", "Cloudflare tokens", "cfat_ cfut_ cfk_", _WORD_CHARS, (40, 0)),
    _build_kind("cockroach_key", "CockroachDB Cloud keys", "CCDB1_", "A-Za-z0-9_", (40, 0)),
    _build_kind("confluent_key", "Confluent Cloud secrets", "cflt", "A-Za-z0-9+/", (60, 0)),
    _build_kind("contentful_token", "Contentful management tokens", "CFPAT-", _WORD_CHARS, (43, 43)),
    _build_kind("cursor_key", "Cursor API keys", "crsr_", _HEX_CHARS, (64, 64)),
    _build_kind("daytona_key", "Daytona API keys", "dtn_", _HEX_CHARS, (64, 64)),
    _build_kind("deno_token", "Deno Deploy tokens", "ddp_ ddw_ ddo_", _ALNUM_CHARS, (36, 36)),
    _build_kind("digitalocean_spaces_key", "DigitalOcean Spaces keys", "DO00 DO801", "A-Z0-9", (16, 16)),
    _build_kind("e2b_key", "E2B API keys", "e2b_", _HEX_CHARS, (40, 40)),
    _build_kind("elasticsearch_token", "Elastic Cloud API keys", "essu_", "A-Za-z0-9+/=", (40, 0)),
    _build_kind("google_auth_key", "Google API keys bound to an account", "AQ.Ab", _WORD_CHARS, (40, 0)),
    _build_kind("honeycomb_key", "Honeycomb keys", "hcaik_ hcxik_ hcamk_ hcbik_", _ALNUM_CHARS, (32, 0)),
    _build_kind("inngest_key", "Inngest signing keys", "signkey-prod- signkey-test-", _HEX_CHARS, (32, 0)),
    _build_kind("instagram_token", "Instagram access tokens", "IGQ IGAA", _ALNUM_CHARS, (80, 0)),
    _build_kind("intercom_token", "Intercom access tokens", "dG9rO", "A-Za-z0-9+/=", (50, 0)),
    _build_kind("jina_key", "Jina API keys", "jina_", _WORD_CHARS, (60, 60)),
    _build_kind("kaggle_token", "Kaggle tokens", "KGAT_", _HEX_CHARS, (32, 32)),
    _build_kind("langsmith_key", "LangSmith keys", "lsv2_pt_ lsv2_sk_", "a-f0-9_", (43, 43)),
    _build_kind("logfire_token", "Logfire tokens", "pylf_v1_ pylf_v2_", "A-Za-z0-9_", (40, 0)),
    _build_kind("mailersend_token", "MailerSend tokens", "mlsn.", _HEX_CHARS, (64, 64)),
    _build_kind("mongodb_secret", "MongoDB Atlas service account secrets", "mdb_sa_sk_", _WORD_CHARS, (40, 40)),
    _build_kind("neon_key", "Neon API keys", "napi_", _ALNUM_CHARS, (40, 0)),
    _build_kind("netbird_token", "NetBird tokens", "nbp_", _ALNUM_CHARS, (36, 36)),
    _build_kind("onfido_token", "Onfido API tokens", "api_live. api_sandbox.", _DOTTED_WORD_CHARS, (32, 0)),
    _build_kind("paddle_key", "Paddle API keys", "pdl_live_ pdl_sdbx_", "A-Za-z0-9_", (40, 0)),
    _build_kind("pinecone_key", "Pinecone API keys", "pcsk_", "A-Za-z0-9_", (40, 0)),
    _build_kind("pinterest_token", "Pinterest access tokens", "pina_", _ALNUM_CHARS, (40, 0)),
    _build_kind("polar_token", "Polar tokens", "polar_oat_ polar_pat_", _ALNUM_CHARS, (32, 0)),
    _build_kind("posthog_key", "PostHog private keys", "phx_ phs_", _ALNUM_CHARS, (40, 0)),
    _build_kind("render_key", "Render API keys", "rnd_", _ALNUM_CHARS, (24, 0)),
    _build_kind("rootly_key", "Rootly API keys", "rootly_", _HEX_CHARS, (64, 64)),
    _build_kind("runpod_key", "RunPod API keys", "rpa_", _ALNUM_CHARS, (40, 0)),
    _build_kind("samsara_token", "Samsara API tokens", "samsara_api_", _ALNUM_CHARS, (30, 30)),
    _build_kind("snyk_token", "Snyk tokens", "snyk_uat. snyk_sat.", _DOTTED_WORD_CHARS, (40, 0)),
    _build_kind("tencent_key", "Tencent Cloud secret ids", "AKID", _ALNUM_CHARS, (32, 32)),
    _build_kind("together_key", "Together AI keys", "tgp_v1_", _WORD_CHARS, (43, 43)),
    _build_kind("trello_token", "Trello tokens", "ATTA", _ALNUM_CHARS, (72, 72)),
    _build_kind("trigger_key", "Trigger.dev keys", "tr_dev_ tr_prod_ tr_stg_ tr_pat_", _ALNUM_CHARS, (20, 0)),
    _build_kind("unkey_key", "Unkey root keys", "unkey_", "A-Za-z0-9_", (20, 0)),
    _build_kind("valtown_token", "Val Town tokens", "vtwn_", _ALNUM_CHARS, (22, 0)),
    _build_kind("vercel_token", "Vercel tokens", "vcp_ vci_ vca_ vcr_ vck_", _ALNUM_CHARS, (24, 0)),
    _build_kind("volcengine_key", "Volcengine access keys", "AKLT", "A-Za-z0-9=", (40, 0)),
    _build_kind("wakatime_key", "WakaTime keys", "waka_", "a-f0-9-", (36, 36)),
    _build_kind("wallet_key", "Extended private keys of Bitcoin wallets", "xprv", _ALNUM_CHARS, (80, 0)),
    _build_kind("wandb_key", "Weights & Biases keys", "wandb_v1_", "A-Za-z0-9_", (40, 0)),
    _build_kind("xata_key", "Xata API keys", "xau_", _ALNUM_CHARS, (32, 0)),
    _build_kind("zuplo_key", "Zuplo API keys", "zpka_", "A-Za-z0-9_", (32, 0)),
)
"""Kinds whose tokens are printed less often."""

PROVIDER_KINDS: tuple[SecretKind, ...] = (
    _build_kind("anthropic_key", "Anthropic API keys", "sk-ant-", _WORD_CHARS, (20, 0)),
    _build_kind("openrouter_key", "OpenRouter API keys", "sk-or-v1-", _HEX_CHARS, (64, 64)),
    _build_kind(
        "openai_key",
        "OpenAI API keys, and those of services with the same format",
        "sk-proj- sk-svcacct- sk-admin- sk-",
        _WORD_CHARS,
        (20, 0),
    ),
    _build_kind("google_api_key", "Google API keys", "AIza", _WORD_CHARS, (35, 35)),
    _build_kind("google_oauth_token", "Google OAuth access tokens", "ya29.", _DOTTED_WORD_CHARS, (20, 0)),
    _build_kind("google_client_secret", "Google OAuth client secrets", "GOCSPX-", _WORD_CHARS, (28, 28)),
    _build_kind("github_token", "GitHub tokens", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM_CHARS, (36, 0)),
    _build_kind("github_fine_grained_token", "GitHub fine-grained tokens", "github_pat_", "A-Za-z0-9_", (36, 0)),
    _build_kind(
        "gitlab_token",
        "GitLab tokens",
        "glpat- gldt- glrt- glptt- glcbt- glimt- glsoat- glagent- glft- glffct- gloas- glrtr- glwt- GR1348941",
        _DOTTED_WORD_CHARS,
        (20, 0),
    ),
    _build_kind(
        "slack_token",
        "Slack tokens",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-",
        "A-Za-z0-9%-",
        (16, 0),
    ),
    _build_kind("slack_webhook", "Slack webhook URLs", "com/services/T", "A-Za-z0-9/", (34, 0)),
    _build_kind("discord_webhook", "Discord webhook URLs", _DISCORD_PREFIXES, "A-Za-z0-9_/-", (60, 0)),
    _build_kind("aws_access_key_id", "AWS access key ids", "AKIA ASIA ABIA ACCA", "A-Z0-9", (16, 16)),
    _build_kind("azure_storage_key", "Azure storage account keys", "AccountKey=", "A-Za-z0-9+/=", (88, 88)),
    _build_kind(
        "stripe_key", "Stripe keys", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_", _ALNUM_CHARS, (16, 0)
    ),
    _build_kind("stripe_webhook_secret", "Stripe webhook signing secrets", "whsec_", "A-Za-z0-9+/=", (32, 0)),
    _build_kind("npm_token", "npm access tokens", "npm_", _ALNUM_CHARS, (36, 36)),
    _build_kind("pypi_token", "PyPI upload tokens", "pypi-AgE", _WORD_CHARS, (50, 0)),
    _build_kind("rubygems_key", "RubyGems API keys", "rubygems_", _HEX_CHARS, (48, 48)),
    _build_kind("huggingface_token", "Hugging Face tokens", "hf_ api_org_", _ALNUM_CHARS, (34, 34)),
    _build_kind("groq_key", "Groq API keys", "gsk_", _ALNUM_CHARS, (48, 0)),
    _build_kind("xai_key", "xAI API keys", "xai-", _ALNUM_CHARS, (60, 0)),
    _build_kind("perplexity_key", "Perplexity API keys", "pplx-", _ALNUM_CHARS, (40, 0)),
    _build_kind("replicate_token", "Replicate API tokens", "r8_", _ALNUM_CHARS, (37, 37)),
    _build_kind("twilio_key", "Twilio API keys", "SK", "A-Fa-f0-9", (32, 32)),
    _build_kind("sendgrid_key", "SendGrid API keys", "SG.", "A-Za-z0-9_.=-", (60, 0)),
    _build_kind("mailgun_key", "Mailgun keys", "key- pubkey-", _HEX_CHARS, (32, 32)),
    _build_kind("brevo_key", "Brevo (Sendinblue) API keys", "xkeysib-", "A-Za-z0-9-", (64, 0)),
    _build_kind("digitalocean_token", "DigitalOcean tokens", "dop_v1_ doo_v1_ dor_v1_", _HEX_CHARS, (64, 64)),
    _build_kind("vault_token", "HashiCorp Vault tokens", "hvs. hvb. hvr.", _WORD_CHARS, (24, 0)),
    _build_kind("databricks_token", "Databricks tokens", "dapi", _HEX_CHARS, (32, 32)),
    _build_kind("shopify_token", "Shopify tokens", "shpat_ shpca_ shppa_ shpss_ shpua_ shpit_", "A-Fa-f0-9", (32, 32)),
    _build_kind("grafana_token", "Grafana tokens", "glsa_ glc_ eyJrIjoi", "A-Za-z0-9_+/=", (32, 0)),
    _build_kind("linear_key", "Linear API keys", "lin_api_ lin_oauth_ lin_wh_", _ALNUM_CHARS, (32, 0)),
    _build_kind("notion_token", "Notion integration tokens", "ntn_", _ALNUM_CHARS, (40, 0)),
    _build_kind("postman_key", "Postman API keys", "PMAK-", "a-f0-9-", (59, 59)),
    _build_kind("figma_token", "Figma access tokens", "figd_", _WORD_CHARS, (36, 0)),
    _build_kind("docker_token", "Docker Hub access tokens", "dckr_pat_ dckr_oat_", _WORD_CHARS, (24, 0)),
    _build_kind("newrelic_key", "New Relic keys", "NRAK- NRJS- NRII-", _WORD_CHARS, (19, 0)),
    _build_kind("sentry_token", "Sentry tokens", "sntrys_ sntryu_", "A-Za-z0-9+/=_", (40, 0)),
    _build_kind("tailscale_key", "Tailscale keys", "tskey-", "A-Za-z0-9-", (20, 0)),
    _build_kind("supabase_token", "Supabase tokens and secret keys", "sbp_ sb_secret_", _WORD_CHARS, (24, 0)),
    _build_kind(
        "planetscale_token", "PlanetScale tokens", "pscale_tkn_ pscale_pw_ pscale_oauth_", "A-Za-z0-9_.=-", (32, 0)
    ),
    _build_kind(
        "doppler_token", "Doppler tokens", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", _DOTTED_WORD_CHARS, (40, 0)
    ),
    _build_kind("atlassian_token", "Atlassian API tokens", "ATATT3 ATCTT3", "A-Za-z0-9_=-", (60, 0)),
    _build_kind("square_token", "Square tokens", "sq0atp- sq0csp-", _WORD_CHARS, (22, 0)),
    _build_kind("heroku_key", "Heroku API keys", "HRKU-", _WORD_CHARS, (36, 0)),
    _build_kind("age_key", "age identities", "AGE-SECRET-KEY-", "A-Z0-9", (59, 59)),
    _build_kind("flyio_token", "Fly.io tokens", "fm1_ fm1r_ fm1a_ fm2_ fo1_", "A-Za-z0-9+/=_-", (40, 0)),
    *_FURTHER_KINDS,
    _build_kind(SHELL_NONCE, "The nonce by which Termvisor recognises your shells", "nonce=", _HEX_CHARS, (32, 32)),
)
