# A task of an Open Job Description job: `bash FILE NAME=VALUE… -- OPTIONS OF RENDER`.
set -euo pipefail
while [ "$1" != -- ]; do
    declare "$1"
    shift
done
shift
options=("$@")
[ "$samples" != 0 ] || samples=
[ -z "$cache" ] || export SHADEWRIGHT_CACHE=$cache

@PARTS@

fail() { # MESSAGE STATUS
    echo "openjd_fail: $1"
    exit "$2"
}

# Prints the lines of the program, and its progress: that of the task, of which some of all images are done.
translate() {
    local line share errors=
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "$line"
        case $line in
            error*) printf '%s%s' "${errors:+; }" "$line" >>"$session/error"; errors=1 ;;
        esac
        if [[ $line =~ ^rendering:\ ([0-9]+)\ of\ ([1-9][0-9]*)\  ]]; then
            share=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
            echo "openjd_progress: $(((100 * finished + share) / all))"
            echo "openjd_status: $where, ${line#rendering: }"
        fi
    done
}

# Runs `command`.
run_step() {
    local status=0 translator
    echo "openjd_status: $where"
    rm -f "$session/error" "$session/lines"
    mkfifo "$session/lines"
    translate <"$session/lines" &
    translator=$!
    run "${command[@]}" >"$session/lines" 2>&1 || status=$?
    wait "$translator" || true
    if [ "$status" -ne 0 ]; then
        [ -z "$is_stopped" ] || fail "$where: canceled" "$status"
        fail "$where: $(cat "$session/error" 2>/dev/null || echo "status $status")" "$status"
    fi
    finished=$((finished + 1))
    echo "openjd_progress: $((100 * finished / all))"
}

# Sets `list` to the numbers of a chunk, written FIRST-LAST.
numbers() { # CHUNK
    if ! [[ $1 =~ ^(-?[0-9]+)(-(-?[0-9]+))?$ ]]; then
        fail "the chunk \"$1\" is no contiguous range" 2
    fi
    local n first=${BASH_REMATCH[1]} last=${BASH_REMATCH[3]}
    list=()
    for ((n = first; n <= ${last:-$first}; n++)); do list+=("$n"); done
}

# A still has no frame.
frames=("")
if [ -n "$frame" ]; then
    numbers "$frame"
    frames=("${list[@]}")
fi
finished=0
