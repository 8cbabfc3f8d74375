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
        set -g --unexport __visor_state
        set -g __visor_status -
        set -g __visor_folder @STATE_DIR@
        if test -n "$nonce" -a -r /proc/$fish_pid/stat
            read -l -d ' ' -a words </proc/$fish_pid/stat
            set __visor_state "visor1 $nonce $fish_pid $words[22]"
        end

        function __visor_prompt --on-event fish_prompt
            printf '\e]133;A%s' $__visor_tail
            test -n "$__visor_is_new"; or printf '\e]7;file://%s%s\a' "$hostname" (string escape --style=url -- "$PWD")
            # Where the prompt ends is where you type. Your own fish_prompt is kept, also one that you change later.
            if functions -q fish_prompt; and not functions fish_prompt | string match -q '*__visor_input*'
                functions -q __visor_yours; and functions -e __visor_yours
                functions -c fish_prompt __visor_yours
                function fish_prompt
                    set -l shown (__visor_yours)
                    __visor_input $shown
                end
            end
        end

        # Prints the prompt as fish would, and notes its width, so that a later listener knows where typing begins. The
        # width is unknown if fish adds a mode or shortens the prompt.
        function __visor_input
            test (count $argv) -gt 1; and printf '%s\n' $argv[1..-2]
            printf '%s\e]133;B%s' "$argv[-1]" $__visor_tail
            set -l width column=(string length --visible -- "$argv[-1]" 2>/dev/null)
            string match -q '*vi*' -- "$fish_key_bindings"; and set width -
            test "$width" = -; or test (string sub -s 8 -- $width) -lt "$COLUMNS"; or set width -
            __visor_save prompt $width
        end

        function __visor_start --on-event fish_preexec
            set -l line (string sub -l 8192 -- (string escape --style=url -- "$argv[1]"))
            printf '\e]133;C;cmdline_url=%s%s' "$line" $__visor_tail
            __visor_save command -
        end

        function __visor_end --on-event fish_postexec
            set __visor_status $status
            printf '\e]133;D;%s%s' $__visor_status $__visor_tail
        end

        # Keeps the state where a later listener finds it, in a private file, by builtins only: no text of yours.
        function __visor_save
            test -n "$__visor_state"; or return 0
            set -l file $__visor_folder/$fish_pid
            set -l cwd $PWD
            string match -qr '[[:cntrl:]]' -- $cwd; and set cwd -
            test -f $file; or begin; test -w $__visor_folder; and __visor_open; end; or return 0
            test -w $file; and printf '%s\n' "$__visor_state $argv[1] $__visor_status $argv[2] $cwd" >$file
        end

        function __visor_open
            command sh -c 'umask 077; [ -d "$1" ] || mkdir -p "$1"
                [ -O "$1/.." ] && [ -O "$1" ] && [ ! -L "$1" ] && : >"$1/$2"' sh $__visor_folder $fish_pid 2>/dev/null
        end
        test -n "$__visor_state"; and not __visor_open; and set __visor_state
    end
end
