"""Kinds of secrets recognised by their context: headers, URLs, assignments, flags.

The risk here is false positives: code, prompts, counters and placeholders must not match. `value_checks` rejects them.
"""

from termvisor.redaction import value_checks
from termvisor.redaction.secret_kind import NOT_AFTER_ALNUM, SecretKind
from termvisor.redaction.token_shapes import SHAPE_KINDS

_CHOSEN_NAMES = r"passw(?:or)?d|passphrase|pwd"
_GENERATED_NAMES = (
    r"secret|token|api[_-]?key|access[_-]?key|private[_-]?key(?:[_-]?id)?|signing[_-]?key|encryption[_-]?key"
    r"|auth[_-]?key|account[_-]?key|secret[_-]?key(?:[_-]?base)?|master[_-]?key|pre-?shared[_-]?key|credentials?"
)
_ENVIRONMENT_SUFFIX = r"(?:_(?:prod|production|dev|test|staging|old|new|[0-9]))?"
_UNQUOTED_VALUE = r"[^\s\"'`&,;\\]{4,}(?:[&,;](?![A-Za-z_][\w.-]*[=:\s]|\s)[^\s\"'`&,;\\]+)*(?<![.,;:)\]}>])"
_VALUE = rf"(?:\\?(?P<quote>[\"'`]))?(?P<secret>(?(quote)[^\"'`\s\\]{{4,}}(?=\\?[\"'`]|$)|{_UNQUOTED_VALUE}))"
_SEPARATOR = r"(?:\\?[\"'`]\]?)?(?P<sep>[ \t]{0,20}(?:=>|:=|=(?![=~>])|:(?![:/=]))[ \t]{0,20})"
# Base64 of ``"alg":``, ``"typ":``, ``"kid":`` and other fields with which a token header may start.
_JWT_HEADER_STARTS = "hbGciOi 0eXAiOi raWQiOi lbmMiOi jdHkiOi 4NXQiOi qa3UiOi 6aXAiOi"


def _build_assignment_patterns(words: str) -> tuple[str, str]:
    pattern = rf"(?P<word>(?i:{words}))(?i:{_ENVIRONMENT_SUFFIX}){_SEPARATOR}{_VALUE}"
    probe = rf"(?i)(?:{words}){_ENVIRONMENT_SUFFIX}[\\\"'`\]]*[ \t]*[=:]+>?[ \t]*[\\\"'`]*[^\s\"'`]{{4}}"
    return pattern, probe


def _build_assignment_kind(name: str, doc: str, words: str, value_check: value_checks.ValueCheck) -> SecretKind:
    pattern, probe = _build_assignment_patterns(words)
    return SecretKind(id=name, doc=doc, pattern=pattern, probe=probe, value_check=value_check)


# Services whose keys have no prefix of their own: letters and digits assigned to a name that contains one of these.
_SERVICES = (
    "adafruit|adobe|airtable|algolia|alibaba|artifactory|asana|atlassian|beamer|bintray|bitbucket|bittrex|circleci|cloudflare|codecov"
    "|cohere|coinbase|confluent|contentful|datadog|deepgram|discord|droneci|dropbox|elevenlabs|etsy|facebook|fastly"
    "|finicity|finnhub|flickr|freemius|freshbooks|gitter|gocardless|heroku|hubspot|intercom|jfrog|jira|kraken|kucoin|launchdarkly"
    "|linear[_-](?:api|app|client|key)|linked[_-]?in|looker|mailchimp|mailgun|mapbox|mattermost|meraki|message[_-]?bird|mistral"
    "|netlify|new[_-]?relic|newyorktimes|nytimes|okta|plaid|private[_-]?ai|rapidapi|sendbird|sentry|shodan|sidekiq|snyk|sonar"
    "|squarespace|sumo[_-]?(?:logic|access|key)|travis(?:ci)?|trello|twilio|twitch|twitter|vercel|wandb|wakatime|zendesk"
)
_SHORT_OPTION = (
    r"(?:\bsshpass[ \t]{1,4}-p[ \t]{0,4}|\bmysql(?:dump|admin|import)?[ \t](?:.{0,200}[ \t])?-p(?![ \t])"
    r"|\bredis-cli[ \t](?:.{0,200}[ \t])?-a[ \t]{1,4}"
    r"|\b(?:docker|podman|helm|oc|az)[ \t].{0,40}login[ \t].{0,200}?-p[ \t]{1,4}|-pass(?:in|out)?[ \t]{1,4}pass:)"
)
# What precedes a password in an entry of a .netrc file that is on one line.
_NETRC_ENTRY = (
    r"(?:\bmachine[ \t]{1,20}\S{1,200}[ \t]{1,20}login|\bdefault[ \t]{1,20}login)[ \t]{1,20}\S{1,200}"
    r"[ \t]{1,20}(?:account[ \t]{1,20}\S{1,200}[ \t]{1,20})?|\bmachine[ \t]{1,20}[\w-]{1,100}\.[\w.-]{1,100}[ \t]{1,20}"
)

_NAMED_KINDS = (
    SecretKind(
        id="vault_legacy_token",
        doc="Tokens of older HashiCorp Vault servers",
        pattern=r"(?<![\w.-])s\.(?P<secret>[A-Za-z0-9]{24})(?![\w.-])",
        probe=r"\bs\.[A-Za-z0-9]{24}",
        value_check=value_checks.is_random_text,
    ),
    SecretKind(
        id="gitlab_session",
        doc="GitLab session cookies",
        pattern=r"_gitlab_session=(?P<secret>[0-9a-f]{32})",
        probe=r"_gitlab_session=[0-9a-f]{32}",
    ),
    SecretKind(
        id="nuget_password",
        doc="Passwords in NuGet configuration files",
        pattern=r"(?i:key=\"(?:ClearText)?Password\"[ \t]{1,10}value=\")(?P<secret>[^\"\s]{4,})\"",
        probe=r"(?i)Password\"[ \t]{1,10}value=\"",
        value_check=value_checks.is_no_placeholder,
    ),
    SecretKind(
        id="okta_token",
        doc="Okta API tokens in Authorization headers",
        pattern=r"\bSSWS[ \t]{1,4}(?P<secret>[\w.~-]{20,})",
        probe=r"\bSSWS[ \t]{1,4}[\w.~-]{20}",
    ),
    SecretKind(
        id="netrc_password",
        doc="Passwords in .netrc files",
        pattern=rf"(?:(?P<entry>{_NETRC_ENTRY})|^[ \t]{{0,20}}(?:login[ \t]{{1,20}}\S{{1,200}}[ \t]{{1,20}})?)"
        r"password[ \t]{1,20}(?P<secret>[^\s\"'`]\S{3,})(?(entry)|[ \t]*$)",
        probe=r"password[ \t]{1,20}\S{4}",
        value_check=value_checks.is_netrc_password,
    ),
    SecretKind(
        id="service_assignment",
        doc="Letters and digits assigned to a name that contains the name of a service whose keys have no prefix",
        pattern=rf"(?i:{_SERVICES})[\w.-]{{0,40}}{_SEPARATOR}\\?[\"'`]?(?P<secret>[A-Za-z0-9][\w=-]{{14,200}})(?![\w./:@-])",
        # Only literals: with the assignment, this one pattern would take longer than all others together.
        probe=rf"(?i)(?:{_SERVICES})",
        value_check=value_checks.is_random_text,
    ),
)

CONTEXT_KINDS: tuple[SecretKind, ...] = (
    SecretKind(
        id="jwt",
        doc="JSON Web Tokens",
        prefixes=tuple("eyJ" + head for head in _JWT_HEADER_STARTS.split()),
        charset="A-Za-z0-9_.-",
        min_length=40,
        pattern=NOT_AFTER_ALNUM
        + rf"eyJ(?P<secret>(?:[\w-]{{5,}}\.eyJ|(?:{_JWT_HEADER_STARTS.replace(' ', '|')})[\w-]*\.)[\w.-]{{8,}})",
        probe=r"eyJ[\w-]{5}",
    ),
    SecretKind(
        id="private_key",
        doc="Private keys in PEM, OpenSSH and PGP blocks, over all their lines",
        pattern=r"BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-{5}(?P<secret>[^\"'`]{16,}?)(?=-----END|[\"'`]|$)",
        probe=r"BEGIN [A-Z0-9 ]*PRIVATE KEY|-----B[A-Z0-9 ]*[^\w.,;:-]*$",
        value_check=value_checks.is_key_material,
    ),
    SecretKind(
        id="aws_secret_key",
        doc="AWS secret access keys where they are assigned",
        pattern=r"(?i:secret_?(?:access_?)?key)[\"']?[ \t]{0,20}[:=][ \t]{0,20}[\"']?"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        probe=r"(?i)secret_?(?:access_?)?key[\"']?[ \t]{0,20}[:=][ \t]{0,20}[\"']?[a-z0-9/+]{40}",
    ),
    SecretKind(
        id="azure_client_secret",
        doc="Azure (Entra) client secrets",
        pattern=r"(?<![\w~.-])(?P<secret>[\w~.]{3}[0-9]Q~[\w~.-]{31,34})(?![\w~.-])",
        probe=r"[\w~.]{3}[0-9]Q~[\w~.-]{31}",
    ),
    SecretKind(
        id="azure_signature",
        doc="Signatures of Azure shared-access URLs",
        pattern=r"[?&]sig=(?P<secret>[A-Za-z0-9%+/=]{40,})",
        probe=r"[?&]sig=[A-Za-z0-9%+/=]{40}",
    ),
    SecretKind(
        id="telegram_bot_token",
        doc="Telegram bot tokens",
        pattern=NOT_AFTER_ALNUM + r"[0-9]{5,16}:(?P<secret>[\w-]{35})(?![\w-])",
        probe=r"[0-9]{5}:[\w-]{35}",
    ),
    SecretKind(
        id="discord_token",
        doc="Discord bot tokens",
        pattern=r"(?<![\w.-])(?P<secret>[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38})(?![\w-])",
        probe=r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}",
    ),
    SecretKind(
        id="bearer_token",
        doc="What follows the word Bearer",
        pattern=r"(?i:\bbearer[ \t]{1,4})(?P<secret>[\w.~+/=-]{16,})",
        probe=r"(?i)\bbearer[ \t]{1,4}[\w.~+/=-]{16}",
        value_check=value_checks.is_header_value,
    ),
    SecretKind(
        id="basic_auth",
        doc="Basic authentication (base64 of user and password)",
        pattern=r"(?i:\bbasic[ \t]{1,4})(?P<secret>[A-Za-z0-9+/]{8,}={0,2})(?!\w)",
        probe=r"(?i)\bbasic[ \t]{1,4}[a-z0-9+/]{8}",
        value_check=value_checks.is_base64,
    ),
    SecretKind(
        id="authorization_header",
        doc="The value of an Authorization header",
        pattern=r"(?i:authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
        r"(?:(?:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256)[ \t]{1,4})?)(?P<secret>[^\s\"',;]{8,})",
        probe=r"(?i)authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[^\s\"',;]{5}",
        value_check=value_checks.is_header_value,
    ),
    SecretKind(
        id="cookie",
        doc="Cookie values in Cookie and Set-Cookie headers",
        pattern=r"(?i:(?P<set>set-)?cookie[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?)[^\s=;\"']{1,64}="
        r"(?P<secret>(?(set)[^;\s\"']{6,}|[^\"'\r]{6,}))",
        probe=r"(?i)cookie[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?[^\s=;\"']+=[^\"'\r]",
        value_check=value_checks.is_not_masked,
    ),
    SecretKind(
        id="url_password",
        doc="Passwords in URLs",
        pattern=r"://[^\s/:@\"'<>`]{0,100}:(?P<secret>[^\s/\"'<>`]{1,256})@",
        probe=r"://[^\s/:]*:[^\s/]+@",
        value_check=value_checks.is_url_password,
    ),
    SecretKind(
        id="curl_user",
        doc="User and password given to curl",
        pattern=r"\bcurl[ \t].{0,400}?(?:-u|--user)[ \t=]{0,4}[\"']?[^\s:\"']{1,100}:(?P<secret>[^\s\"']{3,})",
        probe=r"\bcurl[ \t].*(?:-u|--user).*:",
        value_check=value_checks.is_url_password,
    ),
    SecretKind(
        id="program_password",
        doc="Passwords given to mysql, sshpass, redis-cli, openssl and logins of docker in a short option",
        pattern=rf"{_SHORT_OPTION}[\"']?(?P<secret>[^\s\"'`]{{4,}})",
        probe=r"\b(?:sshpass|mysql|redis-cli|login)[a-z]*[ \t].*-[pa]|[ \t]pass:[^\s\"'`]{4}",
        value_check=value_checks.is_no_placeholder,
    ),
    SecretKind(
        id="secret_flag",
        doc="Command-line flags such as --password and --token, followed by a blank and the value",
        pattern=rf"-(?i:{_CHOSEN_NAMES}|{_GENERATED_NAMES})[ \t]{{1,4}}[\"']?(?P<secret>[^\s\"'`-][^\s\"'`]{{3,}})",
        probe=rf"(?i)-(?:{_CHOSEN_NAMES}|{_GENERATED_NAMES})[ \t]+[\"']?[^\s\"'`]{{4}}",
        value_check=value_checks.is_flag_value,
    ),
    *SHAPE_KINDS,
    *_NAMED_KINDS,
    _build_assignment_kind(
        "password_assignment",
        "Values assigned to a name that ends in password",
        _CHOSEN_NAMES,
        value_checks.is_password,
    ),
    _build_assignment_kind(
        "secret_assignment",
        "Values assigned to a name that ends in secret, token, api_key, access_key, credential, …",
        _GENERATED_NAMES,
        value_checks.is_machine_secret,
    ),
)
