"""Kinds of secrets recognised by the shape of the whole token: a prefix that is short, or parts of fixed lengths.

They are masked within one row. A token with a distinctive prefix belongs to `provider_prefixes`, which is followed over
wrapped rows.
"""

from termvisor.redaction import value_checks
from termvisor.redaction.secret_kind import SecretKind

_GUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _build_shape_kind(
    name: str, doc: str, pattern: str, probe: str = "", value_check: value_checks.ValueCheck | None = None
) -> SecretKind:
    """Build a kind that is recognised by the shape of the whole token. ``probe`` is the pattern without look-around."""
    return SecretKind(
        id=name,
        doc=doc,
        pattern=rf"(?<![\w.-]){pattern}(?![\w-])",
        probe=probe or pattern.replace("?P<secret>", "?:"),
        value_check=value_check,
    )


# Prefixes that are short or ordinary words: rows that end or begin with a part of them are too common to be followed.
_SHORT_PREFIX_KINDS = (
    _build_shape_kind(
        "crates_token",
        "Tokens of the Rust package registry",
        r"cio(?P<secret>[A-Za-z0-9]{32})",
        value_check=value_checks.is_random_text,
    ),
    _build_shape_kind("cursor_user_key", "Cursor user API keys", r"key_(?P<secret>[0-9a-f]{64})"),
    _build_shape_kind("elevenlabs_key", "ElevenLabs API keys", r"sk_(?P<secret>[0-9a-f]{48})"),
    _build_shape_kind("firecrawl_key", "Firecrawl API keys", r"fc-(?P<secret>[0-9a-f]{32})"),
    _build_shape_kind(
        "fireworks_key",
        "Fireworks API keys",
        r"fw_(?P<secret>[A-Za-z0-9]{22,24})",
        value_check=value_checks.is_random_text,
    ),
    _build_shape_kind("google_refresh_token", "Google OAuth refresh tokens", r"1//0(?P<secret>[\w-]{40,200})"),
    _build_shape_kind("klaviyo_key", "Klaviyo private keys", r"pk_(?P<secret>[0-9a-f]{34})"),
    _build_shape_kind("mem0_key", "Mem0 API keys", r"m0-(?P<secret>[A-Za-z0-9]{40})"),
    _build_shape_kind(
        "modal_token",
        "Modal tokens",
        r"(?:ak-|as-)(?P<secret>[A-Za-z0-9]{22})",
        value_check=value_checks.is_random_text,
    ),
    _build_shape_kind("nightfall_key", "Nightfall API keys", r"NF-(?P<secret>[A-Za-z0-9]{32})"),
    _build_shape_kind(
        "notion_legacy_token",
        "Older Notion integration tokens",
        r"secret_(?P<secret>[A-Za-z0-9]{43})",
        value_check=value_checks.is_random_text,
    ),
    _build_shape_kind(
        "nuget_key", "NuGet API keys", r"oy2(?P<secret>[a-z0-9]{43})", value_check=value_checks.is_random_text
    ),
    _build_shape_kind("openai_session", "OpenAI session keys", r"sess-(?P<secret>[A-Za-z0-9]{40})"),
    _build_shape_kind("scaleway_key", "Scaleway access keys", r"SCW(?P<secret>[A-Z0-9]{17})"),
    _build_shape_kind(
        "statsig_key",
        "Statsig server secrets",
        r"secret-(?P<secret>[A-Za-z0-9]{40,60})",
        value_check=value_checks.is_random_text,
    ),
    _build_shape_kind(
        "voyage_key", "Voyage AI keys", r"pa-(?P<secret>[\w-]{43})", value_check=value_checks.is_random_text
    ),
)

_FIXED_SHAPE_KINDS = (
    _build_shape_kind("airtable_token", "Airtable tokens", r"pat[A-Za-z0-9]{14}\.(?P<secret>[0-9a-f]{64})"),
    _build_shape_kind(
        "authress_key",
        "Authress service client keys",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.(?P<secret>[A-Za-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}"
        r"\.[A-Za-z0-9+/_=-]{30,120})",
        r"_[A-Za-z0-9]+\.[A-Za-z0-9]+\.acc[_-][a-z0-9-]{10}",
    ),
    _build_shape_kind(
        "asana_token", "Asana access tokens", r"[12]/[0-9]{13,19}(?:/[0-9]{13,19})?:(?P<secret>[0-9a-f]{32})"
    ),
    _build_shape_kind("astra_token", "DataStax Astra tokens", r"AstraCS:(?P<secret>[A-Za-z]{24}:[0-9a-f]{64})"),
    _build_shape_kind("aws_legacy_key_id", "Older AWS access key ids", r"A3T(?P<secret>[A-Z0-9]{17})"),
    _build_shape_kind(
        "azure_devops_token",
        "Azure DevOps tokens",
        r"(?P<secret>[A-Za-z0-9]{75,76}AZDO[A-Za-z0-9]{4})",
        r"[A-Za-z0-9]{8}AZDO[A-Za-z0-9]{4}",
    ),
    _build_shape_kind(
        "azure_resource_key",
        "Azure keys with a signature of their service",
        r"(?P<secret>[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{26}(?:[A-Za-z0-9]{2}==)?"
        r"|[A-Za-z0-9+/]{76}(?:\+ASt|ACDb|\+ABa)[A-Za-z0-9+/]{6}==|[A-Za-z0-9+/]{33}(?:\+ASb|\+AEh|\+ARm|AIoT)"
        r"[A-Za-z0-9+/]{6}=)(?![+=])",
        r"JQQJ9[9DH][A-Za-z0-9]{26}|(?:\+ASt|ACDb|\+ABa)[A-Za-z0-9+/]{6}==|(?:\+ASb|\+AEh|\+ARm|AIoT)[A-Za-z0-9+/]{6}=",
    ),
    _build_shape_kind(
        "bitwarden_token",
        "Bitwarden machine account tokens",
        rf"0\.{_GUID}\.(?P<secret>[A-Za-z0-9]{{30}}:[A-Za-z0-9+/]{{22}}==)",
        rf"0\.{_GUID}\.[A-Za-z0-9]{{30}}:",
    ),
    _build_shape_kind(
        "braintree_token",
        "Braintree tokens",
        r"access_token\$(?:production|sandbox)\$(?P<secret>[a-z0-9]{16}\$[0-9a-f]{32})",
    ),
    _build_shape_kind(
        "brave_key", "Brave Search API keys", r"BSA(?P<secret>[\w-]{28})", value_check=value_checks.is_random_text
    ),
    _build_shape_kind("clickup_token", "ClickUp tokens", r"pk_[0-9]{6,9}_(?P<secret>[A-Z0-9]{32})"),
    _build_shape_kind("clickhouse_key", "ClickHouse Cloud keys", r"4b1d(?P<secret>[A-Za-z0-9]{38})"),
    _build_shape_kind(
        "dropbox_long_token",
        "Dropbox long-lived tokens",
        r"(?P<secret>[A-Za-z0-9]{11}A{10}[\w=-]{43})(?![+=])",
        r"A{10}[\w=-]{43}",
        value_checks.is_random_text,
    ),
    _build_shape_kind("facebook_app_token", "Facebook app tokens", r"[0-9]{15,16}(?:\||%7C|%)(?P<secret>[\w-]{27,40})"),
    _build_shape_kind(
        "firebase_key", "Firebase server keys", r"AAAA[\w-]{7}:(?P<secret>[\w-]{140})", r"AAAA[\w-]{7}:[\w-]{8}"
    ),
    _build_shape_kind(
        "flutterwave_encryption_key", "Flutterwave encryption keys", r"FLWSECK_TEST-?(?P<secret>[A-Za-z0-9]{12})"
    ),
    _build_shape_kind("gocardless_token", "GoCardless tokens", r"(?:live|sandbox)_(?P<secret>[A-Za-z0-9=_-]{40})"),
    _build_shape_kind(
        "harness_token",
        "Harness tokens",
        r"(?:pat|sat)\.(?P<secret>[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20})",
        r"(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.",
    ),
    _build_shape_kind(
        "infisical_token",
        "Infisical service tokens",
        r"st\.(?P<secret>[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32})",
        r"st\.[0-9a-f]{24}\.[0-9a-f]{32}",
    ),
    _build_shape_kind("launchdarkly_key", "LaunchDarkly keys", rf"(?:api|sdk|mob)-(?P<secret>{_GUID})"),
    _build_shape_kind("lob_key", "Lob keys", r"(?:live|test)_(?:pub_)?(?P<secret>[0-9a-f]{31}(?:[0-9a-f]{4})?)"),
    _build_shape_kind("mailchimp_key", "Mailchimp API keys", r"(?P<secret>[0-9a-f]{32}-us[0-9]{1,2})"),
    _build_shape_kind(
        "mailgun_sending_key", "Mailgun sending keys", r"(?P<secret>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})"
    ),
    _build_shape_kind("maxmind_key", "MaxMind licence keys", r"(?P<secret>[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)"),
    _build_shape_kind("newrelic_license_key", "New Relic licence keys", r"(?P<secret>[0-9a-f]{36})NRAL"),
    _build_shape_kind(
        "ngrok_token",
        "ngrok tokens",
        r"(?P<secret>[12][A-Za-z0-9]{26}_[A-Za-z0-9]{20,22})",
        value_check=value_checks.is_random_text,
    ),
    _build_shape_kind(
        "onepassword_secret_key",
        "1Password secret keys",
        r"A3-(?P<secret>[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})",
        r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}",
    ),
    _build_shape_kind(
        "plaid_token", "Plaid access tokens", rf"access-(?:sandbox|development|production)-(?P<secret>{_GUID})"
    ),
    _build_shape_kind("razorpay_key", "Razorpay keys", r"rzp_(?:live|test)_(?P<secret>[A-Za-z0-9]{14})"),
    _build_shape_kind("resend_key", "Resend API keys", r"re_(?P<secret>[A-Za-z0-9]{8}_[A-Za-z0-9]{24})"),
    _build_shape_kind(
        "salesforce_token",
        "Salesforce session ids",
        r"00D[A-Za-z0-9]{12,15}!(?P<secret>[\w.]{60,130})",
        r"00D[A-Za-z0-9]{12,15}![\w.]{8}",
    ),
    _build_shape_kind(
        "slack_workflow_webhook",
        "Webhook URLs of Slack workflows",
        r"hooks\.slack\.com/(?:workflows|triggers)/(?P<secret>[A-Za-z0-9/]{40,80})",
        r"hooks\.slack\.com/(?:workflows|triggers)/[A-Za-z0-9/]{8}",
    ),
    _build_shape_kind("telnyx_key", "Telnyx API keys", r"KEY(?P<secret>[0-9A-F]{32}_[A-Za-z0-9]{22})"),
    _build_shape_kind(
        "twitter_bearer_token",
        "Bearer tokens of X (Twitter)",
        r"A{22}(?P<secret>[A-Za-z0-9%]{80,110})",
        r"A{22}[A-Za-z0-9%]{8}",
    ),
    _build_shape_kind(
        "zapier_webhook",
        "Zapier webhook URLs",
        r"hooks\.zapier\.com/hooks/catch/(?P<secret>[0-9]{4,12}/[A-Za-z0-9]{6,12})",
    ),
    _build_shape_kind("yandex_iam_token", "Yandex Cloud IAM tokens", r"t1\.(?P<secret>[\w-]+={0,2}\.[\w-]{86}={0,2})"),
    _build_shape_kind("yandex_secret_key", "Yandex Cloud static keys", r"YC(?P<secret>[\w-]{38})"),
)

SHAPE_KINDS: tuple[SecretKind, ...] = _FIXED_SHAPE_KINDS + _SHORT_PREFIX_KINDS
