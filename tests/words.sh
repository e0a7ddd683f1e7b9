#!/usr/bin/env bash
# Names home-made words in texts, messages, comments and identifiers, each with the standard term.
#
#     tests/words.sh              checks all places; exits 1 when something is found
#     tests/words.sh docs|code    checks these places only
#
# The table is tests/words.txt. Left out are files of other people (tests/field) and the old names of options (renamed.rs).
# Each finding is a line: file:line: the words → the standard term.
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
[ ${#checked[@]} -gt 0 ] || checked=(docs code)

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
            echo "${line%%$'\r'} → $term"
            found=$((found + 1))
        done < <(grep -rnIoE --exclude=words.txt --exclude=words.sh --exclude=renamed.rs --exclude-dir=field -e "$pattern" ${places[$place]})
    done
done <"$table"

if [ "$found" -gt 0 ]; then
    echo "tests/words.sh: $found words to replace by the standard term (after the arrow)" >&2
    exit 1
fi
