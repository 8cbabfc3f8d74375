# Marks prompts and commands (OSC 133), the typed command line and the directory (OSC 7) for Termvisor.
# Does not change $?, your traps or what you see. `visor setup shell bash --remove` removes it.
if [[ $- == *i* && ${TERM-} != dumb && -n ${TMUX-}${WEZTERM_PANE-}${VISOR-} && -z ${__visor_tail-} &&
    ! $(readonly -p) =~ \ (PROMPT_COMMAND|PS0|PS1)= ]]; then
    # The nonce proves that a mark is your shell's own. It is never exported: programs that you start must not know it.
    __visor_tail= __visor_state= __visor_record=
    if [[ -r @NONCE_FILE@ ]]; then IFS= read -r __visor_tail <@NONCE_FILE@ || :; fi
    case $__visor_tail in *[!0-9a-f]*) __visor_tail= ;; esac
    if [[ -n $__visor_tail && -r /proc/$$/stat ]]; then
        IFS=' ' read -ra __visor_line </proc/$$/stat
        __visor_record="visor1 $__visor_tail $$ ${__visor_line[21]-}"
    fi
    __visor_tail=";aid=$$${__visor_tail:+;nonce=$__visor_tail}"$'\a'
    export -n __visor_tail __visor_record
    __visor_folder=@STATE_DIR@
    __visor_osc=$'\e]133;' __visor_bell=$'\a' __visor_none= __visor_more=([1]=1)
    __visor_ran=0 __visor_at=0 __visor_next=-9 __visor_again=0 __visor_number= __visor_line=()
    __visor_told=1 __visor_cwd= __visor_place= __visor_named=- __visor_is_last= __visor_returns= __visor_status=-

    # Runs first at every prompt: marks the exit status, the start of the prompt and the directory. If another function
    # runs before it, $? may have changed; then the function that runs last marks them.
    __visor_prompt() {
        { local ended=${1-$?} told=''; if [[ $- == *x* ]]; then local - && set +x; fi; } 2>/dev/null
        if [[ $# == 0 && -n $__visor_is_last && ${PROMPT_COMMAND-} != __visor_prompt ]]; then return 0; fi
        [[ $PWD == "$__visor_cwd" ]] || __visor_locate 2>/dev/null
        if ((__visor_ran)); then told="${__visor_osc}D;$ended$__visor_tail" __visor_status=$ended; fi
        if [[ -t 2 ]]; then builtin printf %s "$told${__visor_osc}A$__visor_tail$__visor_place" >&2; fi
        __visor_told=1 __visor_ran=0 __visor_next=-9 __visor_again=0 __visor_line=()
        # A line without a new history number can then only be a repetition of the last one.
        if [[ -o history && ${HISTCONTROL-} != *ignore[sb]* && -z ${HISTIGNORE-} ]]; then __visor_again=1; fi
        [[ ${PROMPT_COMMAND[*]: -1} == __visor_input ]] || __visor_save prompt -
        [[ -z $__visor_returns || $- == *e* ]] || return "$ended"
    }

    # Runs last at every prompt: marks where typing begins, and notes the history number of the next line.
    __visor_input() {
        { local ended=$?; if [[ $- == *x* ]]; then local - && set +x; fi; } 2>/dev/null
        if [[ -n $__visor_is_last && -z $__visor_told ]]; then __visor_prompt "$ended"; fi
        __visor_told=
        [[ ${PROMPT_COMMAND[*]: -1} != __visor_input ]] || __visor_measure
        if [[ ${PS1-} != *__visor_next* ]] && shopt -q promptvars; then PS1=${PS1-}$__visor_mark; fi
    }
    __visor_mark='\[${__visor_tail+${__visor_osc}B$__visor_tail${__visor_none:$((__visor_next=\!,0)):0}}\]'

    # Notes the length of the prompt, so that a later listener knows where typing begins. A prompt that runs commands
    # is not expanded a second time.
    __visor_measure() {
        local shown=${PS1-} length=-
        shown=${shown%"$__visor_mark"}
        if [[ -n $__visor_state && $shown != *[\`]* && $shown != *'$('* && $shown != *=* ]]; then
            shown=${shown@P}
            shown=${shown##*$'\n'}
            while [[ $shown == *$'\001'*$'\002'* ]]; do shown=${shown%%$'\001'*}${shown#*$'\002'}; done
            [[ $shown == *[[:cntrl:]]* ]] || length="chars=${#shown}"
        fi
        __visor_save prompt "$length"
    }

    # Keeps the state where a later listener finds it, in a private file, by builtins only. No text of yours is in it.
    # The file is not truncated: ext4 would then flush it to the disk.
    __visor_save() {
        if [[ -z $__visor_state ]]; then return 0; fi
        if [[ ! -f $__visor_folder/$$ ]]; then [[ -w $__visor_folder ]] && __visor_open 2>/dev/null || return 0; fi
        builtin printf '%s\n' "$__visor_state $1 $__visor_status $2 $__visor_named" \
            2>/dev/null 1<>"$__visor_folder/$$" || :
    }

    __visor_open() (
        umask 077
        [[ -d $__visor_folder ]] || command mkdir -p "$__visor_folder"
        [[ -O $__visor_folder/.. && -O $__visor_folder && ! -L $__visor_folder ]] && : >|"$__visor_folder/$$"
    )

    # Runs between Enter and the command, in a child process. Prints the directory if it has changed since the prompt.
    __visor_start() {
        if [[ $- == *T* ]]; then trap - DEBUG; fi
        if [[ $PWD == "$__visor_cwd" ]]; then
            builtin printf '\a\a'
        else
            __visor_locate && builtin printf '\a%s\a' "${__visor_place%?}"
        fi
        __visor_save command -
        HISTTIMEFORMAT=?? builtin history 1
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
        __visor_place=$'\e]7;file://'${HOSTNAME-}$__visor_place$'\a' __visor_named=$PWD
        [[ $PWD != *[[:cntrl:]]* ]] || __visor_named=-
    }

    __visor_traps=$(trap -p DEBUG)
    __visor_version=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))

    # Expanded between Enter and the command, so that no DEBUG trap is needed; one fork reads the line from the history.
    # Lines that are pasted together run without a prompt between them: then the end of the previous one is marked here.
    # The text after /#y/ is only evaluated: nothing begins with y. A line that is not in the history, as its number
    # shows, is not sent. The rest of the line is percent-encoded.
    if shopt -q promptvars; then
        PS0=${PS0-}'${__visor_tail+${__visor_more[__visor_ran>0]+${__visor_osc}D;$?$__visor_tail}'
        PS0+='${__visor_none:$((__visor_at=9*__visor_ran,__visor_ran+=1,0)):0}'
        PS0+='${__visor_none/#y/${__visor_line[__visor_at]:=$({ __visor_start; } 2>/dev/null)}'
        PS0+='${__visor_line[__visor_at+1]:=${__visor_line[__visor_at]#*$__visor_bell}}'
        PS0+='${__visor_line[__visor_at+2]:=${__visor_line[__visor_at+1]%%$__visor_bell*}}'
        PS0+='${__visor_line[__visor_at+3]:=${__visor_line[__visor_at+1]#*$__visor_bell}}'
        PS0+='${__visor_line[__visor_at+4]:=${__visor_line[__visor_at+3]#*[?][?]}}'
        PS0+='${__visor_line[__visor_at+5]:=${__visor_line[__visor_at+4]:0:4096}}'
        PS0+='${__visor_line[__visor_at+6]:=${__visor_line[__visor_at+5]//[%]/%25}}'
        PS0+='${__visor_line[__visor_at+7]:=${__visor_line[__visor_at+6]//;/%3B}}'
        PS0+='${__visor_line[__visor_at+8]:=;cmdline_url=${__visor_line[__visor_at+7]//[[:cntrl:]]/ }}}'
        PS0+='${__visor_line[__visor_at+2]:+${__visor_line[__visor_at+2]}$__visor_bell}${__visor_osc}C'
        PS0+='${__visor_none:$((__visor_number=${__visor_line[__visor_at+3]%%[!0-9 ]*}+0,0)):0}'
        PS0+='${__visor_line[__visor_at+8]:0:$((__visor_number==__visor_next'
        PS0+='||__visor_number+__visor_again==__visor_next?9999:0))}$__visor_tail}'
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
    if [[ -n $__visor_record ]] && __visor_open 2>/dev/null; then __visor_state=$__visor_record; fi
    export -n __visor_state
    unset __visor_traps __visor_version __visor_record
fi
