# What this script runs. SIGTERM reaches it, and it ends without a part.
child=
is_stopped=
stop() {
    is_stopped=1
    [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true
}
trap stop TERM INT HUP

# Runs a command and returns its status.
run() {
    local status=0
    "$@" &
    child=$!
    [ -z "$is_stopped" ] || stop
    wait "$child" || status=$?
    # A signal ends `wait` before the command ends.
    while [ "$status" -gt 128 ] && kill -0 "$child" 2>/dev/null; do
        status=0
        wait "$child" || status=$?
    done
    child=
    return "$status"
}

# The name of a frame in names of files. A still has no frame.
frame_name() {
    if [ -n "$1" ]; then printf %04d "$1"; else echo image; fi
}

# The folder of a frame's parts: other divisions have other folders.
folder_of_parts() { # FRAME
    echo "$parts/${columns}x$rows-$shares/$(frame_name "$1")"
}

# Sets `command` to what renders a part: a tile of a frame, with a share of the samples. A part that is there already is checked and kept.
part_command() { # FRAME TILE SHARE
    local folder
    folder=$(folder_of_parts "$1")
    mkdir -p "$folder"
    command=("$program" render "$scene" -o "$folder/tile-$2.share-$3.exr" --reuse --backend "$backend")
    command+=(--part "tiles:$2/${columns}x$rows,samples:$3/$shares")
    [ -z "$1" ] || command+=(--frames "$1")
    [ -z "$samples" ] || command+=(--spp "$samples")
    [ -z "$size" ] || command+=(--size "$size")
    command+=(${options[@]+"${options[@]}"})
}

# Sets `command` to what joins the parts of a frame to its image.
merge_command() { # FRAME
    local name=$image
    [ -z "$1" ] || name=${image%.*}.$(frame_name "$1").${image##*.}
    mkdir -p "$images"
    command=("$program" merge "$(folder_of_parts "$1")" -o "$images/$name" --scene "$scene")
    # What the scene may do is no part's to say.
    local option
    for option in ${options[@]+"${options[@]}"}; do
        [ "$option" != --allow-run ] || command+=(--allow-run)
    done
}
