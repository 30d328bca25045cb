#!/usr/bin/env bash
# ./spectra up to the start of the program: what it configures and builds, and what it shows meanwhile, with programs
# that stand in for apt, cmake, ninja, nvcc and nvidia-smi.
#     tests/launcher_test.sh
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 newline=$'\n'
export LOG=$work/log

stand_in() { mkdir -p "$work/$1" && printf '#!/bin/bash\n%s\n' "$3" >"$work/$1/$2" && chmod +x "$work/$1/$2"; }
stand_in bin dpkg-query 'for name; do echo "installed $name"; done'
stand_in bin apt-get 'echo "apt-get $*" >>"$LOG"'
# cmake configures a folder, and builds the program in three steps. FAIL names what fails to build.
stand_in bin cmake 'echo "cmake $*" >>"$LOG"
cd "$ROOT"
case "$*" in
    --preset*) mkdir -p build/release/apps && touch build/release/build.ninja
        printf "%s\n" "${@: -1}" | sed "s/-D//; s/=/:STRING=/" >build/release/CMakeCache.txt ;;
    --build*)
        echo "[1/3] Building one.cpp.o"
        case " $FAIL " in *" $4 "*)
            printf "FAILED: two.cpp.o\nc++ two.cpp\ntwo.cpp:1: error: no semicolon\n"
            for i in {1..60}; do echo "note $i of the error"; done
            echo "ninja: build stopped: subcommand failed."
            exit 1 ;;
        esac
        echo "[2/3] Building two.cpp.o"
        echo "[3/3] Linking"
        printf "#!/bin/sh\necho running: \"\$@\"\n" >build/release/apps/spectra && chmod +x build/release/apps/spectra ;;
esac'
stand_in bin ninja 'exit 0'  # every target exists
# Whatever else this machine has, but none of its own CUDA.
mkdir "$work/system" && ln -s /usr/bin/* /bin/* "$work/system/" 2>/dev/null || true
rm -f "$work/system/nvcc" "$work/system/nvidia-smi"
stand_in nvcc nvcc ''
stand_in gpu nvidia-smi 'case "$*" in *compute_cap*) printf "9.0\n8.0\n9.0\n" ;; esac'
stand_in no_gpu nvidia-smi 'echo "no devices were found"; exit 6'
stand_in kernel nvidia0 ''

# attempt FOLDERS ARGUMENT…: ./spectra in a fresh checkout, with these folders of programs; $said and $called.
attempt() {
    local path=$work/bin folder
    for folder in $1; do path=$work/$folder:$path; done
    shift
    if [[ ! ${keep-} ]]; then
        rm -rf "$work/checkout"
        mkdir -p "$work/checkout"
        cp -r "$here/../spectra" "$here/../scripts" "$work/checkout/"
    fi
    : >"$LOG"
    status=0
    said=$(env -u CUDACXX ROOT="$work/checkout" FAIL="${fail-}" PATH="$path:$work/system" gpu_file="${gpu_file-/none}" \
        cuda_folders="${cuda_folders-}" progress_every="${progress_every-30}" "$work/checkout/spectra" "$@" 2>&1) || status=$?
    called=$(cat "$LOG")
}
expect() {
    if ! eval "$2"; then
        printf 'FAILED: %s\n  status: %s\n  said: %s\n  called: %s\n' "$1" "$status" "$said" "$called"
        failed=1
    fi
}
export gpu_file=/none cuda_folders=none

export SPECTRA_DRY_RUN=1
attempt ''
expect 'a dry run does nothing' '[[ $status == 0 && ! $called && ! -e $work/checkout/build ]]'
expect 'the program alone is configured' \
    '[[ $said == *BUILD_TESTING=OFF*BENCH=OFF*EXAMPLES=OFF*CHECK_HEADERS=OFF*UNITY=ON*PRECOMPILE=ON* ]]'
expect 'no CUDA without nvcc and GPU' '[[ $said == *SPECTRA_CUDA=OFF*"build spectra" ]]'
attempt nvcc
expect 'no CUDA without a GPU' '[[ $said == *SPECTRA_CUDA=OFF* && $said != *spectra_cuda* ]]'
attempt 'nvcc no_gpu'
expect 'no CUDA where nvidia-smi finds no GPU' '[[ $said == *SPECTRA_CUDA=OFF* && $said != *spectra_cuda* ]]'
attempt gpu
expect 'no CUDA without nvcc' '[[ $said == *SPECTRA_CUDA=OFF* && $said != *spectra_cuda* ]]'
attempt 'nvcc gpu'
expect 'CUDA with both' '[[ $said == *SPECTRA_CUDA=AUTO*"build spectra spectra_cuda" ]]'
expect 'for the GPUs there are, each kind once' '[[ $said == *"-DCMAKE_CUDA_ARCHITECTURES=80;90"$newline* ]]'
gpu_file=$work/kernel/nvidia0 attempt nvcc
expect 'the device file is a GPU too, of an unknown kind' '[[ $said == *CUDA=AUTO*spectra_cuda && $said != *ARCHITECTURES* ]]'
cuda_folders=$work/toolkit
stand_in toolkit/bin nvcc ''
attempt gpu
expect 'nvcc need not be on PATH' '[[ $said == *SPECTRA_CUDA=AUTO*spectra_cuda ]]'
cuda_folders=none
unset SPECTRA_DRY_RUN

progress_every=0 attempt '' --depth 3
expect 'the program is built and run' '[[ $status == 0 && $said == *"running: --depth 3" ]]'
expect 'the build shows how far it is' '[[ $said == *"building spectra: 2 of 3"* ]]'
expect 'ninja writes to the log' '[[ $(cat "$work/checkout/build/build.log") == *"[2/3] Building two"* ]]'
expect 'no CUDA module is built' '[[ $called != *spectra_cuda* ]]'
keep=yes attempt '' --depth 4
expect 'what is built is not built again' '[[ $said == "running: --depth 4" && ! $called ]]'
keep=yes attempt 'nvcc gpu' --device cuda
expect 'CUDA that has come since is built when it is asked for' \
    '[[ $called == *"cmake -DSPECTRA_CUDA=AUTO"*"--target spectra_cuda"* && $said == *"running: --device cuda" ]]'

attempt ''
expect 'nothing but the start of the build is shown where it takes less than 30 seconds' \
    '[[ $said == "building spectra (first use"*")..."$newline"running:"* ]]'

fail=spectra attempt ''
expect 'a build that fails is tried again without -Werror' '[[ $called == *"cmake -DSPECTRA_WERROR=OFF -DSPECTRA_UNITY=OFF -DSPECTRA_PRECOMPILE=OFF"* ]]'
expect 'its error is shown in full' \
    '[[ $status == 1 && $said == *"two.cpp:1: error: no semicolon"*"note 60 of the error"* && $said != *"[1/3]"* ]]'
expect 'and the log is named' '[[ $said == *"whole log: $work/checkout/build/build.log"* ]]'

fail=spectra_cuda attempt 'nvcc gpu' --depth 5
expect 'a CUDA module that fails is reported, and the program runs' \
    '[[ $status == 0 && $said == *"CUDA module could not be built"*"running: --depth 5" ]]'

root=$work
source "$here/../scripts/setup.sh"
said= called= status=0
expect 'the time left follows from the steps so far' '[[ $(time_left 100 50 200) == ", about 5 minutes left" ]]'
expect 'about a minute' '[[ $(time_left 60 50 100) == ", about a minute left" ]]'
expect 'the end' '[[ $(time_left 600 225 226) == ", less than a minute left" ]]'
expect 'too early to tell' '[[ ! $(time_left 3 4 226) ]]'

((failed)) || echo "launcher: all as it should be"
exit $failed
