# Hook script of Termvisor, installed by `visor setup agents`:
#   sh hook.sh tell <agent> <event> <pid>   append the event on stdin to the spool
#   sh hook.sh ask <agent>                  request a permission and print the answer
# The agent waits for it: on any error it prints nothing and exits with status 0.
exec 2>/dev/null
[ -t 0 ] && exit 0
if [ "$1" = ask ]; then
    VISOR_RUNTIME_DIR=@RUNTIME_DIR@ @PYTHON@ -P -m termvisor hook permission \
        --agent="$2" --tmux="$TMUX" --tmux-pane="$TMUX_PANE"
    exit 0
fi

LC_ALL=C
export LC_ALL
umask 077
spool=@SPOOL@
payload=$(tr '\n\r\000' '   ')
case $payload in '{'*) ;; *) payload='{}' ;; esac
at=$(date +%s%3N)
case $at in '' | *[!0-9]*) at=$(date +%s)000 ;; esac
case $4 in '' | *[!0-9]*) pid=0 ;; *) pid=$4 ;; esac
case $TMUX_PANE,$TMUX in *[\"\\]* | *[[:cntrl:]]*) TMUX_PANE='' TMUX='' ;; esac
head="{\"v\":1,\"agent\":\"$2\",\"event\":\"$3\",\"at\":$at,\"pane\":\"$TMUX_PANE\",\"tmux\":\"$TMUX\",\"pid\":$pid"

# A single write of less than a page is atomic; a longer payload gets its own file.
[ -d "$spool" ] || mkdir -p "$spool"
if [ ${#payload} -le 3000 ]; then
    printf '%s,"payload":%s}\n' "$head" "$payload" >>"$spool/hooks.jsonl"
else
    file=$2.$at.$$.json
    [ ${#payload} -gt 1048576 ] || printf '%s' "$payload" >"$spool/$file"
    printf '%s,"file":"%s"}\n' "$head" "$file" >>"$spool/hooks.jsonl"
fi
exit 0
