#!/usr/bin/env bash
# A task of the job, started by submit.sh in the folder of the job:
#
#     task.sh render FIRST    renders the parts of task FIRST + SLURM_ARRAY_TASK_ID
#     task.sh merge FIRST     joins the parts of frames of chunk FIRST + SLURM_ARRAY_TASK_ID
#
# A task that is run again keeps the parts that are there. One whose program is killed, or whose device fails, is queued again, up to
# `retries` times; Slurm itself queues tasks of lost nodes again.
set -euo pipefail
. ./settings.sh
[ -z "$cache" ] || export SHADEWRIGHT_CACHE=$cache
retries=3

@PARTS@

# Runs `command`; if it fails, queues the task again where that may help.
run_step() { # WHERE
    local status=0
    echo "$(date +%T) $(hostname): $1"
    run "${command[@]}" || status=$?
    [ "$status" -ne 0 ] || return 0
    echo "$1: failed with status $status" >&2
    # Status 2 is wrong input, which fails everywhere. A task that got a signal was canceled, or Slurm itself queues it again.
    if [ "$status" -ne 2 ] && [ -z "$is_stopped" ] && [ "${SLURM_RESTART_COUNT:-0}" -lt "$retries" ]; then
        echo "$1: queued again" >&2
        scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" || true
    fi
    exit "$status"
}

index=$(($2 + SLURM_ARRAY_TASK_ID))
case $1 in
    render)
        # The cores of this task, which are not all of the node's.
        case " ${options[*]-}" in
            *" --threads"*) ;;
            *) options+=(--threads "${SLURM_CPUS_ON_NODE:-0}") ;;
        esac
        # Tasks are counted by share, then by tile, then by frame.
        share=$((index % shares + 1))
        index=$((index / shares))
        in_row=$(((columns + columns_of_task - 1) / columns_of_task))
        column=$((index % in_row * columns_of_task + 1))
        index=$((index / in_row))
        row=$((index % rows + 1))
        index=$((index / rows))
        end=$((column + columns_of_task))
        [ "$end" -le "$columns" ] || end=$((columns + 1))
        for frame in "${frames[@]:index * frames_of_task:frames_of_task}"; do
            for ((x = column; x < end; x++)); do
                tile=$(((row - 1) * columns + x))
                part_command "$frame" "$tile" "$share"
                run_step "${frame:+frame $frame, }tile $tile of ${columns}x$rows, share $share of $shares of the samples"
            done
        done
        ;;
    merge)
        failed=0
        for frame in "${frames[@]:index * frames_of_task:frames_of_task}"; do
            merge_command "$frame"
            (run_step "merging ${frame:+frame }${frame:-the image}") || failed=$?
        done
        exit "$failed"
        ;;
esac
