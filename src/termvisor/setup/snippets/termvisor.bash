# Marks prompts and commands (OSC 133), the typed command line and the directory (OSC 7) for Termvisor.
# Does not change $?, your traps or what you see. `visor setup shell bash --remove` removes it.
if [[ $- == *i* && ${TERM-} != dumb && -n ${TMUX-}${WEZTERM_PANE-}${VISOR-} && -z ${__visor_tail-} &&
    ! $(readonly -p) =~ \ (PROMPT_COMMAND|PS0|PS1)= ]]; then
    # The nonce proves that a mark is your shell's own. It is never exported: programs that you start must not know it.
    __visor_tail=
    if [[ -r @NONCE_FILE@ ]]; then IFS= read -r __visor_tail <@NONCE_FILE@ || :; fi
    case $__visor_tail in *[!0-9a-f]*) __visor_tail= ;; esac
    __visor_tail=";aid=$$${__visor_tail:+;nonce=$__visor_tail}"$'\a'
    export -n __visor_tail
    __visor_osc=$'\e]133;'
    __visor_ran= __visor_next=-9 __visor_again=0 __visor_typed= __visor_number= __visor_line=()
    __visor_told=1 __visor_cwd= __visor_place= __visor_is_last= __visor_returns=

    # Runs first at every prompt: marks the exit status, the start of the prompt and the directory. If another function
    # runs before it, $? may have changed; then the function that runs last marks them.
    __visor_prompt() {
        { local ended=${1-$?} told=''; if [[ $- == *x* ]]; then local - && set +x; fi; } 2>/dev/null
        if [[ $# == 0 && -n $__visor_is_last && ${PROMPT_COMMAND-} != __visor_prompt ]]; then return 0; fi
        [[ $PWD == "$__visor_cwd" ]] || __visor_locate 2>/dev/null
        if [[ -n $__visor_ran ]]; then told="${__visor_osc}D;$ended$__visor_tail"; fi
        if [[ -t 2 ]]; then builtin printf %s "$told${__visor_osc}A$__visor_tail$__visor_place" >&2; fi
        __visor_told=1 __visor_ran= __visor_next=-9 __visor_again=0 __visor_typed= __visor_line=()
        # A line without a new history number can then only be a repetition of the last one.
        if [[ -o history && ${HISTCONTROL-} != *ignore[sb]* && -z ${HISTIGNORE-} ]]; then __visor_again=1; fi
        [[ -z $__visor_returns || $- == *e* ]] || return "$ended"
    }

    # Runs last at every prompt: marks where typing begins, and notes the history number of the next line.
    __visor_input() {
        { local ended=$?; if [[ $- == *x* ]]; then local - && set +x; fi; } 2>/dev/null
        if [[ -n $__visor_is_last && -z $__visor_told ]]; then __visor_prompt "$ended"; fi
        __visor_told=
        if [[ ${PS1-} != *__visor_next* ]] && shopt -q promptvars; then
            PS1=${PS1-}'\[${__visor_tail+${__visor_osc}B$__visor_tail${__visor_ran:$((__visor_next=\!,0)):0}}\]'
        fi
    }

    __visor_locate() {
        local LC_ALL=C char at
        __visor_cwd=$PWD __visor_place=
        for ((at = 0; at < ${#PWD}; at++)); do
            char=${PWD:at:1}
            case $char in
                [a-zA-Z0-9/._~-]) ;;
                *) builtin printf -v char %d "'$char" && builtin printf -v char %%%02X $((char & 255)) ;;
            esac
            __visor_place+=$char
        done
        __visor_place=$'\e]7;file://'${HOSTNAME-}$__visor_place$'\a'
    }

    __visor_traps=$(trap -p DEBUG)
    __visor_version=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))

    # Expanded between Enter and the command, so that no DEBUG trap is needed; one fork reads the line from the history.
    # The text after /#y/ is only evaluated: no mark begins with y. A line that is not in the history, as its number
    # shows, is not sent. The rest of the line is percent-encoded.
    if shopt -q promptvars; then
        PS0=${PS0-}'${__visor_tail+${__visor_ran:$((__visor_ran=1,0)):0}${__visor_osc/#y/'
        PS0+='${__visor_typed:=$({ HISTTIMEFORMAT=?? builtin history 1; } 2>/dev/null)}'
        PS0+='${__visor_line[1]:=${__visor_typed#*[?][?]}}${__visor_line[2]:=${__visor_line[1]:0:4096}}'
        PS0+='${__visor_line[3]:=${__visor_line[2]//[%]/%25}}${__visor_line[4]:=${__visor_line[3]//;/%3B}}'
        PS0+='${__visor_line[5]:=;cmdline_url=${__visor_line[4]//[[:cntrl:]]/ }}}C'
        PS0+='${__visor_ran:$((__visor_number=${__visor_typed%%[!0-9 ]*}+0,0)):0}'
        PS0+='${__visor_line[5]:0:$((__visor_number==__visor_next||__visor_number+__visor_again==__visor_next?9999:0))}'
        PS0+='$__visor_tail}'
    fi

    # With a DEBUG trap ours does not run last: a trap that measures time would restart there.
    if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
        precmd_functions=(__visor_prompt ${precmd_functions[@]+"${precmd_functions[@]}"} __visor_input)
    elif ((__visor_version >= 501)); then
        PROMPT_COMMAND=(__visor_prompt ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"})
        if [[ -z $__visor_traps ]]; then __visor_is_last=1 PROMPT_COMMAND+=(__visor_input); fi
    else
        __visor_returns=1
        PROMPT_COMMAND='${__visor_tail+__visor_prompt}'${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}
        if [[ -z $__visor_traps ]]; then PROMPT_COMMAND+=$'\n${__visor_tail+__visor_input}'; fi
    fi
    __visor_input
    unset __visor_traps __visor_version
fi
