#!/usr/bin/env bash
# Names home-made words in texts, messages, comments and identifiers, each with the standard term.
#
#     tests/words.sh              checks all places but the files of tests/words_pending.txt; exits 1 when something is found
#     tests/words.sh docs|code    checks these places only, and the pending files too
#
# The table is tests/words.txt. Left out are files of other people (tests/field) and the old names of options (renamed.rs).
# Each finding is a line: file:line: the words → the standard term.
# Files whose words are still to be replaced are in tests/words_pending.txt; a file leaves that list when it is clean.
# Also runs when another shell is named: `sh tests/words.sh`.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "$0")/.."

table=tests/words.txt
declare -A places=(
    [docs]="README.md docs .github"
    [code]="src wgsl tests benches fuzz/fuzz_targets fuzz/harness.rs assets"
)
checked=("$@")
pending=()
if [ ${#checked[@]} -eq 0 ]; then
    checked=(docs code)
    mapfile -t pending < <(grep -v '^#' tests/words_pending.txt)
fi
is_pending() {
    local file
    for file in "${pending[@]}"; do
        [ "$file" != "$1" ] || return 0
    done
    return 1
}

found=0
while IFS=$'\t' read -r scope pattern term phrase; do
    case $scope in '' | '#'*) continue ;; esac
    if ! grep -qE -e "$pattern" <<<"$phrase"; then
        echo "$table: the pattern \"$pattern\" does not find its own example, \"$phrase\"" >&2
        exit 2
    fi
    for place in "${checked[@]}"; do
        [ "$scope" = all ] || [ "$scope" = "$place" ] || continue
        # shellcheck disable=SC2086 # a list of folders
        while IFS= read -r line; do
            ! is_pending "${line%%:*}" || continue
            echo "${line%%$'\r'} → $term"
            found=$((found + 1))
        done < <(grep -rnIoE --exclude=words.txt --exclude=words.sh --exclude=renamed.rs --exclude-dir=field -e "$pattern" ${places[$place]})
    done
done <"$table"

if [ "$found" -gt 0 ]; then
    echo "tests/words.sh: $found words to replace by the standard term (after the arrow)" >&2
    exit 1
fi
