all=${#frames[@]}
for frame in "${frames[@]}"; do
    where="merging ${frame:+frame $frame}"
    merge_command "$frame"
    run_step
done
