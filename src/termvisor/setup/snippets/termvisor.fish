# Marks prompts and commands (OSC 133), the typed command line and the directory (OSC 7) for Termvisor.
# Does not change $status, your prompt or what you see. `visor setup shell fish --remove` removes it.
if status is-interactive; and test "$TERM" != dumb; and test -n "$TMUX$WEZTERM_PANE$VISOR"; and not set -q __visor_tail
    # The nonce proves that a mark is your shell's own. It is never exported: programs that you start must not know it.
    set -l nonce
    test -r @NONCE_FILE@; and read -l nonce <@NONCE_FILE@
    string match -qr '^[0-9a-f]+$' -- "$nonce"; or set nonce
    set -g __visor_is_new (string match -r '^[0-9]+' -- $FISH_VERSION)
    test "$__visor_is_new" -ge 4; or set -g __visor_is_new ''

    # fish 4.0 and later sends marks and the directory itself; ours only add the nonce.
    if test -n "$nonce" -o -z "$__visor_is_new"
        set -g --unexport __visor_tail ";aid=$fish_pid"(test -n "$nonce"; and echo ";nonce=$nonce")\a

        function __visor_prompt --on-event fish_prompt
            printf '\e]133;A%s' $__visor_tail
            test -n "$__visor_is_new"; or printf '\e]7;file://%s%s\a' "$hostname" (string escape --style=url -- "$PWD")
            # Where the prompt ends is where you type. Your own fish_prompt is kept, also one that you change later.
            if functions -q fish_prompt; and not functions fish_prompt | string match -q '*__visor_input*'
                functions -q __visor_yours; and functions -e __visor_yours
                functions -c fish_prompt __visor_yours
                function fish_prompt
                    __visor_yours
                    __visor_input
                end
            end
        end

        function __visor_input
            printf '\e]133;B%s' $__visor_tail
        end

        function __visor_start --on-event fish_preexec
            set -l line (string sub -l 8192 -- (string escape --style=url -- "$argv[1]"))
            printf '\e]133;C;cmdline_url=%s%s' "$line" $__visor_tail
        end

        function __visor_end --on-event fish_postexec
            printf '\e]133;D;%s%s' $status $__visor_tail
        end
    end
end
