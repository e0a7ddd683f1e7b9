all=${#frames[@]}
for frame in "${frames[@]}"; do
    where="merging ${frame:+frame }${frame:-the image}"
    merge_command "$frame"
    run_step
done
