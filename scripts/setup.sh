# Sourced by ./spectra and ./test: system packages, configuring and building.
# Expects $root, the folder of the checkout. Says what it does on stderr, in a line each.

# Needed to build and run the program, and besides to test it.
run_packages=(cmake g++ ninja-build git
    libeigen3-dev libboost-math-dev libhdf5-dev libopenblas-dev liblapacke-dev zlib1g-dev
    librandom123-dev libfmt-dev nlohmann-json3-dev libcli11-dev gnuplot-nox)
train_packages=(libtorch-dev)  # for the commands train and validate
test_packages=("${train_packages[@]}" libgtest-dev libbenchmark-dev python3-h5py python3-torch
    groff-base libopenmpi-dev openmpi-bin doxygen)

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
    say "installing..."
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

# set_up run|train|test: everything the program, its Torch commands too, or all and the tests, need from the system.
set_up() {
    local packages=("${run_packages[@]}") headers=("${run_headers[@]}")
    [[ $1 == train ]] && packages+=("${train_packages[@]}")
    if [[ $1 == test ]]; then
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
