# Sourced by ./spectra, ./test and scripts/package.sh: system packages, configuring and building.
# Expects $root, the folder of the checkout. Says what it does on stderr, in a line each.

# Needed to build and run the program, and besides to test it.
run_packages=(cmake g++ ninja-build git
    libeigen3-dev libboost-math-dev libhdf5-dev libopenblas-dev liblapacke-dev zlib1g-dev
    librandom123-dev libfmt-dev nlohmann-json3-dev libcli11-dev gnuplot-nox)
train_packages=(libtorch-dev libgloo-dev)  # for the commands train, cost and validate
test_packages=("${train_packages[@]}" libgtest-dev libbenchmark-dev python3-h5py python3-torch
    python3-dev python3-numpy pybind11-dev groff-base libopenmpi-dev openmpi-bin doxygen faketime)
full_packages=(clang clangd clang-tidy libomp-dev mmdebstrap buildah lintian dpkg-dev python3-pip python3-setuptools
    python3-wheel chromium slurm-wlm)  # for ./test --full

# What these packages bring, for systems where they have other names: programs, and headers with
# the places where they are known to live (relative to the compiler's own search path).
run_programs=(cmake ninja git c++ gnuplot)
run_headers=(Eigen/Core:eigen3/Eigen/Core boost/math/quadrature/tanh_sinh.hpp hdf5.h:hdf5/serial/hdf5.h
    lapacke.h:lapacke/lapacke.h:openblas/lapacke.h Random123/philox.h fmt/format.h nlohmann/json.hpp zlib.h
    CLI/CLI.hpp)
test_headers=(gtest/gtest.h)

say() { printf '%s\n' "$*" >&2; }

# logged LOGFILE COMMAND…: runs quietly; on failure shows the end of the log and stops.
logged() {
    local log=$1 status=0
    shift
    "$@" >>"$log" 2>&1 </dev/null || status=$?
    if ((status)); then
        tail -n 40 "$log" >&2
        say "failed: $* (whole log: $log)"
        exit 1
    fi
}

is_root() { ((EUID == 0)); }
at_terminal() { [[ -t 0 && -t 2 ]]; }

# download_size NAME…: "85 packages, 310 MB to download", with what they need; nothing where apt cannot tell.
download_size() {
    apt-get install --print-uris -qq -y --no-install-recommends "$@" 2>/dev/null |
        awk '$3 ~ /^[0-9]+$/ { bytes += $3; ++count }
             END { if (count) printf "%d packages, %.0f MB to download", count, bytes / 1e6 }' || true
}

# install_packages NAME…: those that are missing, by apt. Says which and how much that is; a person who is not root is
# asked first.
install_packages() {
    local missing=() name installed size answer
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    for name; do
        [[ $'\n'$installed$'\n' == *$'\n'"installed $name"$'\n'* ]] || missing+=("$name")
    done
    ((${#missing[@]})) || return 0

    size=$(download_size "${missing[@]}")
    say "needs ${#missing[@]} system packages: ${missing[*]}${size:+ (with what they need: $size)}"
    local as_root=()
    if ! is_root; then
        if ! command -v sudo >/dev/null; then
            say "neither root nor sudo is at hand to install them; please run:"
            say "    apt-get install ${missing[*]}"
            exit 1
        fi
        if at_terminal; then
            printf 'Install them with sudo? [Y/n] ' >&2
            read -r answer
            if [[ $answer == [nN]* ]]; then
                say "nothing was installed; to do it yourself:"
                say "    sudo apt-get install ${missing[*]}"
                exit 1
            fi
        fi
        as_root=(sudo)
        # Ask for the password here: the installation itself is quiet.
        sudo -v || { say "could not become root to install: ${missing[*]}"; exit 1; }
    fi
    say "installing (a minute or two; log: $root/build/packages.log)..."
    mkdir -p "$root/build"
    : >"$root/build/packages.log"
    logged "$root/build/packages.log" "${as_root[@]}" apt-get update
    logged "$root/build/packages.log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}"
}

# Without apt: names what is missing and stops.
check_by_hand() {
    local missing=() program header place found
    for program in "${run_programs[@]}"; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    if command -v c++ >/dev/null; then
        for header; do
            found=
            for place in ${header//:/ }; do
                if printf '#include <%s>\n' "$place" | c++ -std=c++20 -M -x c++ - >/dev/null 2>&1; then
                    found=yes
                    break
                fi
            done
            [[ $found ]] || missing+=("<${header%%:*}>")
        done
    fi
    ((${#missing[@]})) || return 0
    say "this system has no apt; please install what provides: ${missing[*]}"
    say "(what Debian calls ${run_packages[*]} ${test_packages[*]})"
    exit 1
}

# set_up run|train|test|full: everything the program, its Torch commands too, all and the tests, or the long tests too,
# need from the system.
set_up() {
    local packages=("${run_packages[@]}") headers=("${run_headers[@]}")
    [[ $1 == train ]] && packages+=("${train_packages[@]}")
    if [[ $1 == full ]]; then
        packages+=("${full_packages[@]}")
        # Where they come from elsewhere, as with NodeSource's package, Debian's would conflict.
        command -v node >/dev/null && command -v npm >/dev/null || packages+=(nodejs npm)
    fi
    if [[ $1 == test || $1 == full ]]; then
        packages+=("${test_packages[@]}")
        headers+=("${test_headers[@]}")
    fi
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
        install_packages "${packages[@]}"
    elif [[ ! -e $root/build/release/build.ninja ]]; then
        check_by_hand "${headers[@]}"
    fi
}

# As many compilers at a time as there are cores, and memory: a gigabyte each.
jobs() {
    local cores memory
    cores=$(nproc)
    memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || true)
    [[ $memory ]] && ((memory < cores)) && cores=$memory
    ((cores > 0)) && echo "$cores" || echo 1
}

# The GPU's device file, and the places of nvcc besides PATH: variables, so that tests can stand in for them.
: "${gpu_file:=/dev/nvidia0}" "${cuda_folders:=${CUDA_PATH-} /usr/local/cuda}"

has_gpu() { nvidia-smi -L >/dev/null 2>&1 || [[ -e $gpu_file ]]; }

has_nvcc() {
    local folder
    command -v nvcc >/dev/null || [[ -x ${CUDACXX-} ]] && return
    for folder in $cuda_folders; do
        [[ -x $folder/bin/nvcc ]] && return
    done
    return 1
}

# The CUDA module is built where it can be compiled and used.
cuda_wanted() { has_nvcc && has_gpu; }

# cuda_arguments: CMake's, one per line: no CUDA, or CUDA for the GPUs of this machine alone where they can be asked.
cuda_arguments() {
    local kinds
    cuda_wanted || { echo -DSPECTRA_CUDA=OFF; return; }
    echo -DSPECTRA_CUDA=AUTO
    kinds=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -un | paste -sd ';' || true)
    [[ ! $kinds =~ ^[0-9]+(\;[0-9]+)*$ ]] || echo "-DCMAKE_CUDA_ARCHITECTURES=$kinds"
}

# program_arguments: CMake's, one per line, for the program alone. Warnings are warnings: g++ 12 makes one up with
# precompiled headers, and a build that fails begins again without them.
program_arguments() {
    printf '%s\n' -DBUILD_TESTING=OFF -DSPECTRA_BENCH=OFF -DSPECTRA_EXAMPLES=OFF -DSPECTRA_CHECK_HEADERS=OFF \
        -DSPECTRA_PYTHON=OFF -DSPECTRA_WERROR=OFF -DSPECTRA_UNITY=ON -DSPECTRA_PRECOMPILE=ON
    cuda_arguments
}

# time_left ELAPSED DONE TOTAL: ", about 3 minutes left", from the steps so far; nothing while they are too few.
time_left() {
    local seconds
    (($2 >= 5 && $1 >= 5)) || return 0
    seconds=$(($1 * ($3 - $2) / $2))
    if ((seconds >= 90)); then
        echo ", about $(((seconds + 30) / 60)) minutes left"
    elif ((seconds >= 45)); then
        echo ", about a minute left"
    else
        echo ", less than a minute left"
    fi
}

shows_line() { [[ -t 2 ]]; }

# show_progress LOG NAME: copies ninja's output, its input, to LOG, and shows how far it is: in one line that changes
# on a terminal, otherwise in a line every $progress_every seconds (30).
show_progress() {
    local log=$1 name=$2 begin=$SECONDS shown=$SECONDS finished=0 total=0 status piece line= text
    while true; do
        status=0
        IFS= read -r -t 1 piece || status=$?
        line+=$piece
        if ((status == 0)); then
            printf '%s\n' "$line" >>"$log"
            if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
                finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
            fi
            line=
        elif ((status <= 128)); then
            break  # the end
        fi
        ((total > 2)) || continue  # ninja looking after its own files
        text="building $name: $finished of $total$(time_left $((SECONDS - begin)) "$finished" "$total")"
        if shows_line; then
            printf '\r%s\033[K' "$text" >&2
        elif ((SECONDS - shown >= ${progress_every:-30})); then
            say "$text"
            shown=$SECONDS
        fi
    done
    [[ ! $line ]] || printf '%s\n' "$line" >>"$log"
    ! shows_line || printf '\r\033[K' >&2
}

# compile LOG BUILD TARGET…: builds, and shows how far it is; the status is the compilers'.
compile() {
    local log=$1 build=$2
    shift 2
    NINJA_STATUS='[%f/%t] ' cmake --build "$build" --target "$@" -j "$(jobs)" 2>&1 </dev/null |
        show_progress "$log" "${@: -1}"
    return "${PIPESTATUS[0]}"
}

# show_errors LOG: what failed, in full; the end of LOG where no step of ninja did.
show_errors() {
    local errors
    errors=$(awk '/^\[[0-9]+\/[0-9]+\]/ || /^ninja: / { failed = 0 } /^FAILED:/ { failed = 1 } failed' "$1")
    if [[ $errors ]]; then printf '%s\n' "$errors" >&2; else tail -n 40 "$1" >&2; fi
}
