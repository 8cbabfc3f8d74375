"""Container, cluster and cloud tools, package managers and the kernel's settings."""

import re

from msgspec.structs import replace

from termvisor.policy.path_rules import PathScope, resolve_path
from termvisor.policy.shell.call import (
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    merge_effects,
    parse_options,
)

# Host folders whose mount gives a container control over the machine.
_HOST_PATH = re.compile(
    r"^(?:/|~|/(?:etc|root|home|usr|var|boot|proc|sys|dev)(?:/.*)?|/(?:home|Users)/[^/]+|.*docker\.sock|~/\..*)$"
)
_CLOUD_CHANGE = re.compile(
    r"^(?:delete|terminate|remove|rm|rb|destroy|purge|stop|deregister|detach|revoke|put|update|create|reset|disable|merge"
    r"|close|modify|restore|run|start|reboot|attach|deploy|set|edit|cancel|replace|invoke|call|execute|exec|import|submit"
    r"|publish|send|add|enable|apply|approve|rollback|move|rename|transfer|grant|assign|push)(?:-|$)"
)
_CLOUD_READ = re.compile(r"^(?:describe|list|ls|get|show|view|status|checks|diff|search|help|version|info|head)(?:-|$)")
_TOKEN_COMMAND = re.compile(
    r"^(?:auth token|auth print-|auth application-default print-|secrets? (?:versions )?access|account get-access-token"
    r"|secretsmanager get-secret|ssm get-parameter|configure get|keyvault secret show|sts get-session|ecr get-login)"
)


def analyze_inside(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze `docker run` and `exec`: the words after the container or image run inside."""
    inner = options.rest[1:]
    # The entry point is the program; the words after the image are its arguments.
    entry = options.find_value("--entrypoint")
    inner = (entry, *inner) if entry else inner
    is_privileged = options.has("--privileged", "--cap-add", "--device", "--security-opt") or any(
        _is_host_mount(volume.text) for volume in options.find_values("-v", "--volume", "--mount")
    )
    spaces = options.find_values("--pid", "--ipc", "--userns", "--uts", "--network", "--net", "--cgroupns")
    is_privileged = is_privileged or any(value.text == "host" for value in spaces)
    # Without a command, the image decides what runs.
    return merge_effects(
        classify("privilege", when=is_privileged),
        classify("unknown_effect", when=not inner),
        CommandEffect(calls=(replace(call, words=inner),) if inner else ()),
    )


def _is_host_mount(text: str) -> bool:
    """Return True if the volume is a folder of the machine that must not be given to a container."""
    named = re.search(r"(?:^|,)(?:source|src)=([^,]+)", text)
    source = named[1] if named else text.partition(":")[0]
    is_path = source.startswith(("/", "~", ".")) or not source.isascii()
    return bool(is_path and _HOST_PATH.match(resolve_path(source, PathScope())))


def analyze_cluster_run(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze `kubectl exec`: the words after `--`, or after the pod, run inside."""
    texts = [word.text for word in call.arguments]
    # Without `--`, the first operand is the pod and the words after it are the command.
    later = parse_options(options.rest[1:], "-c= -n=", stops_at_operand=True).rest
    inner = call.arguments[texts.index("--") + 1 :] if "--" in texts else later
    effect = CommandEffect(calls=(replace(call, words=tuple(inner)),) if inner else ())
    return merge_effects(effect, classify("unknown_effect", when=not inner))


def analyze_cluster_read(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    names = [part for word in call.arguments for part in re.split(r"[/,]", word.text)]
    return classify("credential_read", when=any(name.casefold() in ("secret", "secrets") for name in names))


def analyze_cloud(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze aws, gcloud, az, gh and doctl, whose first words contain the verb."""
    words = [word.text for word in options.operands]
    # The verb follows the group. In some tools there are several groups.
    depth = 2 if call.name in ("aws", "gh", "glab") else 5
    changes, reads = any(map(_CLOUD_CHANGE.match, words[1:6])), any(map(_CLOUD_READ.match, words[1:depth]))
    is_token = _TOKEN_COMMAND.search(" ".join(words[:4]))
    is_upload = words[:1] == ["s3"] and words[1:2] != ["ls"] and len(words) > 3 and words[-1].startswith("s3:")
    is_api = words[:1] == ["api"] or any(word.text == "--cli-input-json" for word in call.arguments)
    return merge_effects(
        classify("credential_read", when=is_token),
        classify("network_exfiltration", when=call.name == "gh" and words[:2] == ["gist", "create"]),
        classify("network_exfiltration", "network", when=is_upload),
        classify(
            "infrastructure",
            when=(changes or (is_api and any(w.text.startswith(("-X", "--method")) for w in call.arguments)))
            and words[:2] != ["gist", "create"],
        ),
        classify("unknown_effect", when=words and (is_api or not (reads or changes or is_token))),
    )


def analyze_packages(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    """Analyze yarn, which installs without arguments and, like others, ignores the options of a dry run."""
    ignores = call.name in (
        "yarn",
        "pnpm",
        "bundle",
        "gem",
        "pipx",
        "go",
        "port",
        "snap",
        "flatpak",
        "dnf",
        "yum",
        "opkg",
    )
    is_dry = any(word.text.startswith(("--dry-run", "--simulate")) for word in call.arguments)
    return classify("package_change", when=(ignores and is_dry) or (call.name == "yarn" and not call.arguments))


def analyze_sysctl(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze sysctl, which only prints the settings that it gets without a value."""
    is_change = options.has("-w", "-p", "--load", "--system", "--write") or any("=" in w.text for w in call.arguments)
    return classify("service_change", when=is_change or call.reads_stdin)
