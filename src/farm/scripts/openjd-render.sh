numbers "$column"
all=$((${#frames[@]} * ${#list[@]}))
for frame in "${frames[@]}"; do
    for column in "${list[@]}"; do
        tile=$(((row - 1) * columns + column))
        where="${frame:+frame $frame, }tile $tile of ${columns}x$rows, share $share of $shares of the samples"
        part_command "$frame" "$tile" "$share"
        run_step
    done
done
