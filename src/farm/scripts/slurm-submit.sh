#!/usr/bin/env bash
# Submits the job to Slurm: submit.sh [OPTIONS OF SBATCH], for example submit.sh --partition=render --time=1:00:00
#
# Arrays render, and for each an array merges when all its tasks have ended: a frame of which a part is missing fails by the part's name,
# and does not keep the others from being merged. Submitting again renders what is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"
. ./settings.sh

# What Slurm takes.
configured() { # NAME DEFAULT
    local value
    value=$(scontrol show config | sed -n "s/^$1 *= *\([0-9]*\).*/\1/p")
    echo "${value:-$2}"
}
most=$(configured MaxArraySize 1001)
most_jobs=$(configured MaxJobCount 10000)

# Tasks of a chunk of frames, chunks of frames, and how many of them an array takes.
of_chunk=$(((columns + columns_of_task - 1) / columns_of_task * rows * shares))
chunks=$(((${#frames[@]} + frames_of_task - 1) / frames_of_task))
of_array=$((most / of_chunk))
[ "$of_array" -ge 1 ] || of_array=1
[ "$of_array" -le "$most" ] || of_array=$most
jobs=$((chunks * of_chunk + chunks))
if [ "$jobs" -gt "$most_jobs" ]; then
    echo "error: these are $jobs jobs, and Slurm holds $most_jobs (MaxJobCount in slurm.conf)" >&2
    echo "hint: write the job again with a larger --chunk, fewer frames, tiles or shares of samples" >&2
    exit 2
fi

options_of_all=(--job-name="$name" --requeue --open-mode=append --chdir="$here" ${slurm_options[@]+"${slurm_options[@]}"} "$@")
for ((chunk = 0, array = 1; chunk < chunks; chunk += of_array, array++)); do
    count=$((chunks - chunk))
    [ "$count" -le "$of_array" ] || count=$of_array
    logs=logs/$(printf %04d "$array")
    mkdir -p "$logs"
    dependency=afterany
    first=$((chunk * of_chunk)) end=$(((chunk + count) * of_chunk))
    while [ "$first" -lt "$end" ]; do
        tasks=$((end - first))
        [ "$tasks" -le "$most" ] || tasks=$most
        id=$(sbatch --parsable --array="0-$((tasks - 1))${at_once:+%$at_once}" --output="$logs/render-$first-%a.log" \
            "${options_of_all[@]}" task.sh render "$first")
        dependency+=:${id%%;*}
        first=$((first + tasks))
    done
    id=$(sbatch --parsable --array="0-$((count - 1))" --output="$logs/merge-$chunk-%a.log" --dependency="$dependency" \
        "${options_of_all[@]}" task.sh merge "$chunk")
    echo "array $array: render ${dependency#*:}, merge ${id%%;*}, logs in $here/$logs"
done
