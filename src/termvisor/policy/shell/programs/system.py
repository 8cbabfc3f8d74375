"""Functions for package managers and the kernel's settings."""

from termvisor.policy.shell.call import CommandEffect, ParsedOptions, ProgramCall, classify


def analyze_packages(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    """Analyze yarn, which installs packages if it gets no arguments."""
    return classify("package_change", when=call.name == "yarn" and not call.arguments)


def analyze_sysctl(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze sysctl, which only prints the settings that it gets without a value."""
    is_change = options.has("-w", "-p", "--load", "--system", "--write") or any("=" in w.text for w in call.arguments)
    return classify("service_change", when=is_change or call.reads_stdin)
