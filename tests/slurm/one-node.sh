#!/usr/bin/env bash
# A Slurm cluster of one node for tests, without systemd or cgroups, as root or as any user.
#
#     tests/slurm/one-node.sh start DIR   starts munged, slurmctld and slurmd with all their files in DIR, and waits until the node is
#                                         idle; prints the path of slurm.conf: set SLURM_CONF to it
#     tests/slurm/one-node.sh stop DIR    cancels the jobs and ends everything that `start` started
#
# Needs the Debian packages slurmctld, slurmd, slurm-client and munge. Nothing outside of DIR is written, and the ports are free ones, so
# that a cluster of the machine, or another test, is not disturbed.
set -euo pipefail

usage() { echo "usage: $0 start|stop DIR" >&2; exit 2; }
[ $# -eq 2 ] || usage
mkdir -p "$2"
dir=$(cd "$2" && pwd)
PATH=$PATH:/usr/sbin:/sbin
export SLURM_CONF=$dir/slurm.conf

start() {
    local tool
    for tool in munged slurmctld slurmd sinfo scancel; do
        if ! command -v "$tool" >/dev/null; then
            echo "$0: there is no $tool; install slurmctld, slurmd, slurm-client and munge" >&2
            exit 1
        fi
    done
    mkdir -p "$dir/state" "$dir/spool" "$dir/log"
    head -c 128 /dev/urandom >"$dir/munge.key"
    chmod 600 "$dir/munge.key"
    configure >"$SLURM_CONF"

    # --force: the folder of a test is closed to other users, which munged takes for a mistake.
    munged --force --socket="$dir/munge.socket" --key-file="$dir/munge.key" --pid-file="$dir/munged.pid" \
        --log-file="$dir/log/munged" --seed-file="$dir/munge.seed" 2>>"$dir/log/munged.start"
    slurmctld -c >>"$dir/log/slurmctld" 2>&1
    slurmd -c >>"$dir/log/slurmd" 2>&1
    local tries
    for ((tries = 0; tries < 150; tries++)); do
        if [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ]; then
            echo "$SLURM_CONF"
            return
        fi
        sleep 0.2
    done
    echo "$0: the node does not become idle" >&2
    tail -n 20 "$dir"/log/* >&2
    stop
    exit 1
}

# Prints slurm.conf. config_overrides: the node has 4 processors for Slurm however many the machine has. cred_expire: a requeued job waits
# that long, 120 s by default. KillWait: seconds between SIGTERM and SIGKILL.
configure() {
    local host user ports
    host=$(hostname -s)
    user=$(id -un)
    ports=$(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))')
    cat <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=5
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/log/slurmctld
StateSaveLocation=$dir/state
SlurmdPidFile=$dir/slurmd.pid
SlurmdLogFile=$dir/log/slurmd
SlurmdSpoolDir=$dir/spool
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MaxArraySize=${MAX_ARRAY_SIZE:-1001}
KillWait=2
ReturnToService=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

# The process whose number a file holds ends, by SIGTERM, or after 5 s by SIGKILL.
end() {
    local pid tries
    pid=$(cat "$1" 2>/dev/null) || return 0
    for ((tries = 0; tries < 50; tries++)); do
        kill -TERM "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

stop() {
    local tries process
    if [ -f "$dir/slurmctld.pid" ] && kill -0 "$(cat "$dir/slurmctld.pid")" 2>/dev/null; then
        timeout 5 scancel --quiet --user="$(id -un)" 2>/dev/null || true
        for ((tries = 0; tries < 25; tries++)); do
            [ -n "$(timeout 5 squeue --noheader 2>/dev/null)" ] || break
            sleep 0.2
        done
    fi
    end "$dir/slurmd.pid"
    end "$dir/slurmctld.pid"
    end "$dir/munged.pid"
    # What runs the script of a job outlives slurmd.
    for process in /proc/[0-9]*; do
        if tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -qxF "SLURM_CONF=$SLURM_CONF" &&
            grep -q slurmstepd "$process/comm" 2>/dev/null; then
            kill -KILL "${process#/proc/}" 2>/dev/null || true
        fi
    done
}

case $1 in
    start) start ;;
    stop) stop ;;
    *) usage ;;
esac
