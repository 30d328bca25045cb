#!/usr/bin/env bash
# srun starts the program as two tasks: what they write is what one process writes.   srun_test.sh SPECTRA
# Without a cluster at hand, this machine becomes one for the time of the test (munge, slurmctld and slurmd in a folder of
# their own), which takes root. Status 77 where that cannot be.
set -euo pipefail
spectra=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/spectra-srun-XXXXXX")
trap 'rm -rf "$folder"' EXIT

skip() {
    echo "not run: $1"
    exit 77
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_cluster() {
    local name host=""
    for name in srun munged slurmctld slurmd; do
        PATH=$PATH:/usr/sbin command -v "$name" > /dev/null || skip "$name is not installed (Debian: slurm-wlm)"
    done
    [[ $EUID == 0 ]] || skip "a cluster of this machine takes root"
    PATH=$PATH:/usr/sbin
    host=$(hostname -s)
    chmod 755 "$folder"
    mkdir -p "$folder"/{munge,state,spool,log}
    (umask 077 && head -c 128 /dev/urandom > "$folder/munge/key")
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
        --log-file="$folder/log/munge" --seed-file="$folder/munge/seed"
    cat > "$folder/slurm.conf" << CONF
ClusterName=spectra
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthInfo=socket=$folder/munge/socket
SlurmUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=all Nodes=$host Default=YES
CONF
    export SLURM_CONF="$folder/slurm.conf"
    trap stop_cluster EXIT
    slurmctld
    slurmd
    for _ in $(seq 100); do
        [[ $(sinfo -h -o %T 2> /dev/null) != idle ]] || return 0
        sleep 0.2
    done
    cat "$folder"/log/slurm*
    echo "the cluster did not start"
    exit 1
}

stop_cluster() {
    local pid
    for pid in "$folder"/{slurmd.pid,slurmctld.pid,munge/pid}; do pkill -F "$pid" 2> /dev/null || true; done
    sleep 1
    rm -rf "$folder"
}

srun=(srun --quiet --ntasks 2 --overcommit --mpi=pmix)
sinfo -h > /dev/null 2>&1 || start_cluster
"${srun[@]}" true || skip "srun has no --mpi=pmix here"
cd "$folder"

# compare WORDS…: the same JSON from both, but for times and names of files.
compare() {
    "$spectra" "$@" --out one --json > one.json
    "${srun[@]}" "$spectra" "$@" --out two --json > two.json
    python3 - << 'CHECK'
import json
def cleaned(value):
    if isinstance(value, dict):
        return {k: cleaned(v) for k, v in value.items()
                if "second" not in k and k not in ("files", "file", "command", "device")}
    return [cleaned(v) for v in value] if isinstance(value, list) else value
def near(a, b, place=""):
    if isinstance(a, dict):
        assert a.keys() == b.keys(), (place, a.keys() ^ b.keys())
        for k in a:
            near(a[k], b[k], place + "/" + k)
    elif isinstance(a, list):
        assert len(a) == len(b), place
        for i, pair in enumerate(zip(a, b)):
            near(*pair, f"{place}/{i}")
    elif isinstance(a, float):
        # Gradients of two processes are sums in another order.
        assert abs(a - b) <= 1e-4 * abs(a) + 1e-12, (place, a, b)
    else:
        assert a == b, (place, a, b)
one, two = (cleaned(json.load(open(name + ".json"))) for name in ("one", "two"))
near(one, two)
CHECK
}

compare --mixer cayley --depth 3 --width 8 --theory none --samples 20 --plot none --force
echo "an analysis by two tasks is that of one process"
if "$spectra" train --help > /dev/null 2>&1; then
    compare train near-pi-single --mixer cayley --layers 1 --channels 16 --streams 2 --samples 32 --validation-samples 4 \
        --batch 7 --steps 6 --log-every 3 --device cpu --plot none --force
    echo "a training by two tasks is that of one process"
fi
