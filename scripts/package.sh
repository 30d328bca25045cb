#!/usr/bin/env bash
# Makes the Debian package and the container image of spectra, and tries both: scripts/package.sh [-b BUILD] [-o FOLDER]
#   -b BUILD    a build folder whose program is packed as it is (default: build/package, configured and built)
#   -o FOLDER   where the package and the image are put (default: build/packages)
# The package is installed in a bare Debian system, made by mmdebstrap, and its program is run there. The image is that
# system, and is run by buildah; where this machine does not let buildah run anything, its files are run by chroot. Needs
# root. The maintainer named in the package is DEBFULLNAME and DEBEMAIL. SUITE is the Debian release (bookworm).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
source "$root/scripts/setup.sh"
suite=${SUITE:-bookworm}
build='' out=$root/build/packages
while getopts b:o: option; do
    case $option in
        b) build=$(cd "$OPTARG" && pwd) ;;
        o) out=$OPTARG ;;
        *) exit 2 ;;
    esac
done
mkdir -p "$out" && out=$(cd "$out" && pwd)
is_root || { say "scripts/package.sh must be run as root: it makes and enters a Debian system"; exit 2; }

work=$(mktemp -d)
system=$work/system
# Not across file systems: a failing step may leave one of this machine's mounted there.
trap 'rm -rf --one-file-system "$work"' EXIT

build_package() {
    local arguments
    if [[ ! $build ]]; then
        build=$root/build/package
        # Debian's libraries are where the loader looks: no search path. One package must run anywhere: no CUDA, no MPI.
        mapfile -t arguments < <(program_arguments)
        (cd "$root" && cmake --preset release -B "$build" "${arguments[@]}" -DSPECTRA_TORCH=OFF -DSPECTRA_CUDA=OFF \
            -DSPECTRA_MPI=OFF -DCMAKE_SKIP_RPATH=ON -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON)
        cmake --build "$build" --target spectra -j "$(jobs)"
    fi
    (cd "$build" && cpack -G DEB -D CPACK_COMPONENTS_ALL=program -B "$work/packages")
    package=$(echo "$work"/packages/jacobian-spectra_*.deb)
    # A package for one's own use needs no address that others can write to.
    lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$package"
}

# within FOLDER COMMAND…: with FOLDER as the whole file system. What is mounted for it goes with the command.
within() {
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$1" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "${@:2}"
}
inside() { within "$system" "$@"; }

# check_run: what the main command wrote in $work/run.log.
check_run() {
    grep -q '^wrote spectra-cayley-L10\.png$' "$work/run.log" && grep -q 'theory and simulation agree' "$work/run.log" || {
        cat "$work/run.log" >&2
        say "spectra --mixer cayley --depth 10 did not do what it should in $1"
        exit 1
    }
    say "runs in $1: $(grep -m1 'Gradients pass' "$work/run.log")"
}

try_package() {
    mmdebstrap --quiet --variant=minbase "$suite" "$system"
    cp "$package" "$system/root/"
    inside apt-get update -qq
    inside env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
        "/root/$(basename "$package")" >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 1; }
    rm "$system/root/$(basename "$package")"
    inside sh -c 'cd /tmp && spectra --mixer cayley --depth 10 2>&1' >"$work/run.log" || true
    check_run "a bare Debian $suite"
    inside sh -c 'rm -f /tmp/spectra-*; rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb'
    inside dpkg --verify jacobian-spectra
    for file in man/man1/spectra.1.gz doc/jacobian-spectra/copyright bash-completion/completions/spectra \
        zsh/site-functions/_spectra; do
        [[ -s $system/usr/share/$file ]] || { say "the package has no /usr/share/$file"; exit 1; }
    done
}

# The image: the system with the package, and spectra as the command of a container, in /work.
make_image() {
    local container mounted
    mkdir -p "$system/work"
    export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
    local storage=(--root "$work/storage" --runroot "$work/storage-run")
    container=$(buildah "${storage[@]}" from scratch)
    buildah "${storage[@]}" copy --quiet "$container" "$system" / >/dev/null
    buildah "${storage[@]}" config --entrypoint '["/usr/bin/spectra"]' --cmd '--help' --workingdir /work \
        --env LC_ALL=C.UTF-8 --label org.opencontainers.image.title=spectra "$container"
    buildah "${storage[@]}" commit --quiet "$container" spectra >/dev/null
    rm -f "$out/spectra-image.tar"
    buildah "${storage[@]}" push --quiet spectra "oci-archive:$out/spectra-image.tar:spectra"

    # From the archive, as on another machine.
    container=$(buildah "${storage[@]}" from "oci-archive:$out/spectra-image.tar")
    if buildah "${storage[@]}" run "$container" -- true >"$work/run.log" 2>&1; then
        buildah "${storage[@]}" run "$container" -- spectra --mixer cayley --depth 10 >"$work/run.log" 2>&1 || true
        check_run "a container"
    else
        say "buildah cannot run containers here: $(tail -n 1 "$work/run.log")"
        mounted=$(buildah "${storage[@]}" mount "$container")
        within "$mounted" sh -c 'cd /work && spectra --mixer cayley --depth 10 2>&1' >"$work/run.log" || true
        buildah "${storage[@]}" umount "$container" >/dev/null
        check_run "the files of the image"
    fi
    buildah "${storage[@]}" rm --all >/dev/null
}

for program in mmdebstrap buildah lintian dpkg-shlibdeps; do
    command -v "$program" >/dev/null || { say "needs mmdebstrap, buildah, lintian and dpkg-dev: apt-get install them"; exit 2; }
done
build_package
try_package
make_image
cp "$package" "$out/"
say "made $out/$(basename "$package") and $out/spectra-image.tar"
