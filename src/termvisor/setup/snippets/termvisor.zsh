# Marks prompts and commands (OSC 133), the typed command line and the directory (OSC 7) for Termvisor.
# Does not change $?, your prompt or what you see. `visor setup shell zsh --remove` removes it.
if [[ -o interactive && ${TERM-} != dumb && -n ${TMUX-}${WEZTERM_PANE-}${VISOR-} && -z ${__visor_tail-} ]]; then
    # The nonce proves that a mark is your shell's own. It is never exported: programs that you start must not know it.
    typeset -g __visor_tail= __visor_state= __visor_osc=$'\e]133;' __visor_ran= __visor_marked= __visor_status=-
    typeset -g __visor_cwd= __visor_place= __visor_folder=@STATE_DIR@
    if [[ -r @NONCE_FILE@ ]]; then IFS= read -r __visor_tail <@NONCE_FILE@ || :; fi
    if [[ $__visor_tail == *[^0-9a-f]* ]]; then __visor_tail=; fi
    __visor_state=$__visor_tail
    __visor_tail=";aid=$$${__visor_tail:+;nonce=$__visor_tail}"$'\a'
    typeset -g +x __visor_tail __visor_state

    # After a command, before any other function that could print: mark its exit status, the start of the prompt and the
    # directory.
    __visor_mark() {
        { local ended=$? told=; emulate -L zsh; setopt no_xtrace } 2>/dev/null
        if [[ $PWD != "$__visor_cwd" ]]; then __visor_locate; fi
        if [[ -n $__visor_ran ]]; then told="${__visor_osc}D;$ended$__visor_tail" __visor_status=$ended; fi
        __visor_ran= __visor_marked=1
        if [[ -t 2 ]]; then print -rnu2 -- "$told${__visor_osc}A$__visor_tail$__visor_place"; fi
        __visor_save prompt -
    }

    __visor_precmd() {
        if [[ -z $__visor_marked ]]; then __visor_mark; fi
        __visor_marked=
        __visor_wrap
    }

    # zsh calls precmd() before precmd_functions. So precmd() is ours and calls yours, also one that you define later;
    # as a math function, __visor_mark leaves $? and $pipestatus as they are.
    __visor_wrap() {
        emulate -L zsh
        setopt no_xtrace no_aliases
        if [[ ${functions[precmd]-} == *__visor_mark* ]]; then return 0; fi
        if (( $+functions[precmd] )); then
            autoload +X precmd
            functions -c precmd __visor_yours || functions[__visor_yours]=$functions[precmd]
            functions[precmd]='__visor_yours ${${:-$((__visor_mark()))}##*}'
        else
            functions[precmd]='__visor_mark'
        fi
    } 2>/dev/null

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
        __visor_save command -
    }

    # After the prompt, whatever draws it: mark where typing begins. Not while a running command reads a line. The
    # number of bytes that this process has read tells a later listener whether you have typed since.
    __visor_line_init() {
        { emulate -L zsh; setopt no_xtrace no_multibyte } 2>/dev/null
        local file text
        if [[ ${CONTEXT-} != start ]]; then return 0; fi
        if [[ -n $__visor_state ]] && sysopen -r -o cloexec -u file /proc/self/io; then
            sysread -i $file text
            exec {file}<&-
            __visor_save prompt "read=$((${${text#rchar: }%%$'\n'*} + ${#text}))"
        fi 2>/dev/null
        if [[ -t 2 ]]; then print -rnu2 -- "${__visor_osc}B$__visor_tail"; fi
    }

    # Keep the state where a later listener finds it, in a private file, by builtins only. No text of yours is in it.
    # The file is not truncated: ext4 would then flush it to the disk.
    __visor_save() {
        local cwd=$PWD
        if [[ -z $__visor_state ]]; then return 0; fi
        if [[ $cwd == *[[:cntrl:]]* ]]; then cwd=-; fi
        if [[ ! -f $__visor_folder/$$ ]]; then [[ -w $__visor_folder ]] && __visor_open || return 0; fi
        print -r -- "$__visor_state $1 $__visor_status $2 $cwd" 1<>"$__visor_folder/$$"
    } 2>/dev/null

    __visor_open() (
        umask 077
        [[ -d $__visor_folder ]] || command mkdir -p "$__visor_folder"
        [[ -O $__visor_folder/.. && -O $__visor_folder && ! -L $__visor_folder ]] && : >|"$__visor_folder/$$"
    )

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

    __visor_begin() {
        emulate -L zsh
        local text
        if [[ -z $__visor_state ]] || ! IFS= read -r text </proc/$$/stat || ! zmodload zsh/system; then
            __visor_state=
            return 0
        fi
        __visor_state="visor1 $__visor_state $$ ${${=text}[22]}"
        __visor_open || __visor_state=
    } 2>/dev/null

    __visor_begin
    functions -M __visor_mark 0 0
    typeset -ga precmd_functions preexec_functions
    precmd_functions=(__visor_precmd ${precmd_functions[@]})
    preexec_functions+=(__visor_preexec)
    if zmodload zsh/zle && autoload -Uz +X add-zle-hook-widget; then
        add-zle-hook-widget line-init __visor_line_init
    fi 2>/dev/null
fi
if (( ${+functions[__visor_wrap]} )); then __visor_wrap; fi
