# Marks prompts and commands (OSC 133), the typed command line and the directory (OSC 7) for Termvisor.
# Does not change $?, your prompt or what you see. `visor setup shell zsh --remove` removes it.
if [[ -o interactive && ${TERM-} != dumb && -n ${TMUX-}${WEZTERM_PANE-}${VISOR-} && -z ${__visor_tail-} ]]; then
    # The nonce proves that a mark is your shell's own. It is never exported: programs that you start must not know it.
    typeset -g __visor_tail= __visor_osc=$'\e]133;' __visor_ran= __visor_cwd= __visor_place=
    if [[ -r @NONCE_FILE@ ]]; then IFS= read -r __visor_tail <@NONCE_FILE@ || :; fi
    if [[ $__visor_tail == *[^0-9a-f]* ]]; then __visor_tail=; fi
    __visor_tail=";aid=$$${__visor_tail:+;nonce=$__visor_tail}"$'\a'
    typeset -g +x __visor_tail

    # At every prompt: mark the exit status, the start of the prompt and the directory.
    __visor_precmd() {
        { local ended=$? told=; emulate -L zsh; setopt no_xtrace } 2>/dev/null
        if [[ $PWD != "$__visor_cwd" ]]; then __visor_locate; fi
        if [[ -n $__visor_ran ]]; then told="${__visor_osc}D;$ended$__visor_tail"; fi
        __visor_ran=
        if [[ -t 2 ]]; then print -rnu2 -- "$told${__visor_osc}A$__visor_tail$__visor_place"; fi
    }

    # Between Enter and the command: mark the command line and its start.
    __visor_preexec() {
        { emulate -L zsh; setopt no_xtrace no_multibyte } 2>/dev/null
        local line=${1:-${3-}} char told=
        for char in "${(s::)line[1,4096]}"; do
            if [[ $char == [[:cntrl:]\;\\] ]]; then printf -v char '\\x%02x' "'$char"; fi
            told+=$char
        done
        if [[ -t 2 ]]; then print -rnu2 -- "${__visor_osc}E;$told$__visor_tail${__visor_osc}C$__visor_tail"; fi
        __visor_ran=1
    }

    # After the prompt, whatever draws it: mark where typing begins. Not while a running command reads a line.
    __visor_line_init() {
        { emulate -L zsh; setopt no_xtrace } 2>/dev/null
        if [[ ${CONTEXT-} == start && -t 2 ]]; then print -rnu2 -- "${__visor_osc}B$__visor_tail"; fi
    }

    __visor_locate() {
        emulate -L zsh
        setopt no_multibyte
        local char
        __visor_cwd=$PWD __visor_place=
        for char in "${(s::)PWD}"; do
            if [[ $char != [a-zA-Z0-9/._~-] ]]; then printf -v char '%%%02X' $((#char & 255)); fi
            __visor_place+=$char
        done
        __visor_place=$'\e]7;file://'${HOST-}$__visor_place$'\a'
    }

    typeset -ga precmd_functions preexec_functions
    precmd_functions=(__visor_precmd ${precmd_functions[@]})
    preexec_functions+=(__visor_preexec)
    if zmodload zsh/zle && autoload -Uz +X add-zle-hook-widget; then
        add-zle-hook-widget line-init __visor_line_init
    fi 2>/dev/null
fi
