#!/usr/bin/env bash
# Builds the fuzz targets with clang in build/fuzz and runs each of them: scripts/fuzz.sh [-n RUNS] [-t SECONDS] [-s SEED] [-j N] [TARGET…]
#   -n RUNS      executions of a target (10000000)
#   -t SECONDS   but no longer than that (0: any time)
#   -s SEED      of libFuzzer (1)
#   -j N         targets at a time (1)
# What a target learns stays in build/fuzz/corpus/TARGET, what it finds in build/fuzz/findings/TARGET. The targets
# NAME_image are NAME on images of HDF5 files, each run in a process of its own: the C library of HDF5 does not survive
# all of them, so that they are only run where they are named. NAME itself reads the same content without that library.
# JOBS is how many compilers run at once (1), CLANG the compiler (clang++). Ends with 1 if a target did not end well.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/fuzz
runs=10000000 seconds=0 seed=1 at_once=1
while getopts n:t:s:j: option; do
    case $option in
        n) runs=$OPTARG ;;
        t) seconds=$OPTARG ;;
        s) seed=$OPTARG ;;
        j) at_once=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
targets=("$@")
if ((${#targets[@]} == 0)); then
    targets=(require omega script_scan matrix_text npy toml model layout_map shard_index gguf safetensors pickle torch_file
        command_line hdf5_mixers network_file resume result_file)
fi

compiler=()
if command -v ccache >/dev/null; then compiler=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
# Named once: CMake throws every setting away where the compiler is named again in other words.
[[ -e $build/CMakeCache.txt ]] || compiler+=(-DCMAKE_CXX_COMPILER="${CLANG:-clang++}")
{
    cmake -S "$root" -B "$build" -G Ninja "${compiler[@]}" \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -gline-tables-only -ffunction-sections" \
        -DCMAKE_EXE_LINKER_FLAGS=-Wl,--gc-sections -DSPECTRA_FUZZ=ON -DSPECTRA_UNITY=ON \
        -DSPECTRA_TORCH=OFF -DSPECTRA_CUDA=OFF -DSPECTRA_MPI=OFF -DSPECTRA_BENCH=OFF -DSPECTRA_EXAMPLES=OFF
    cmake --build "$build" --target fuzz_targets --parallel "${JOBS:-1}"
} >&2

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Stacks of two frames with every allocation: thirty, the default, take a third of the time.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2}

# seeds_of TARGET: folders it starts from.
seeds_of() {
    case $1 in
        safetensors | torch_file) echo "$root/data/checkpoints" ;;
        *) echo "$root/data/fuzz/$1" ;;
    esac
}

# length_of TARGET: the most bytes of an input. Options are short, and files that need more are found in the seeds.
length_of() {
    case $1 in
        require | omega) echo 256 ;;
        command_line | script_scan | matrix_text | toml | model | layout_map | shard_index | hdf5_mixers | network_file) echo 1024 ;;
        npy | gguf | pickle | safetensors | torch_file) echo 4096 ;;
        *) echo 16384 ;;
    esac
}

# run_target TARGET: a line of the table; fails as the target does.
run_target() {
    local target=$1 name=${1%_image} status=0 begin taken executions found
    local corpus=$build/corpus/$target findings=$build/findings/$target log=$build/$target.log
    mkdir -p "$corpus" "$findings"
    local options=(-runs="$runs" -max_total_time="$seconds" -seed="$seed" -max_len="$(length_of "$name")" -rss_limit_mb=2048 -timeout=10
        -artifact_prefix="$findings/" -print_final_stats=1)
    if [[ $target == *_image ]]; then
        options+=(-fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1)
    else
        options+=(-fork=0)
        [[ -e $root/data/fuzz/$name.dict ]] && options+=(-dict="$root/data/fuzz/$name.dict")
    fi
    begin=$(date +%s)
    # In a folder of its own: options that name files must not find any.
    mkdir -p "$build/empty"
    (cd "$build/empty" && "$build/tests/fuzz/fuzz_$target" "${options[@]}" "$corpus" "$(seeds_of "$target")") >"$log" 2>&1 ||
        status=$?
    taken=$(($(date +%s) - begin))
    executions=$(grep -aoE 'number_of_executed_units: [0-9]+' "$log" | tail -1 | grep -oE '[0-9]+' ||
        grep -aoE '^#[0-9]+' "$log" | tail -1 | tr -d '#' || echo 0)
    found=$(find "$findings" -type f | wc -l)
    printf '%-20s %12s %8s s %9s %9s%s\n' "$target" "$executions" "$taken" "$((executions / (taken > 0 ? taken : 1)))" \
        "$found" "$( ((status)) && echo "  (ended with $status: $log)")"
    ((status == 0))
}

failed=0
printf '%-20s %12s %10s %9s %9s\n' target executions time per\ s findings
for ((k = 0; k < ${#targets[@]}; ++k)); do
    ((k < at_once)) || wait -n || failed=1
    run_target "${targets[k]}" &
done
for ((k = 0; k < at_once && k < ${#targets[@]}; ++k)); do wait -n || failed=1; done
exit $failed
