#!/usr/bin/env bash
# A Slurm cluster of three nodes on this machine, for tests. Needs root and the packages slurmctld, slurmd, slurm-client
# and munge; uses the ports 16817 to 16823 of the loopback interface. Everything it writes is in FOLDER.
#
#   cluster.sh check            exits with 0 if a cluster can be started, else says what is missing
#   cluster.sh start FOLDER     starts it and waits until its nodes are idle; use it by SLURM_CONF=FOLDER/slurm.conf
#   cluster.sh crash FOLDER N   ends node N and all that runs on it, as a power cut would
#   cluster.sh stop FOLDER      ends it
set -euo pipefail

nodes=(n1 n2 n3)

check() {
    local program
    for program in munged slurmctld slurmd sbatch scontrol sinfo; do
        PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null || { echo "$program is not installed"; return 1; }
    done
    [[ $(id -u) == 0 ]] || { echo "only root can start slurmd"; return 1; }
}

configure() {
    local folder=$1 host node port=16821
    host=$(hostname -s)
    mkdir -p "$folder"/{state,log,run}
    # A GPU that is none: a character device is all that Slurm asks for.
    [[ -e $folder/fakegpu0 ]] || mknod "$folder/fakegpu0" c 1 3
    printf 'AutoDetect=off\nNodeName=n1 Name=gpu File=%s\n' "$folder/fakegpu0" >"$folder/gres.conf"
    cat >"$folder/slurm.conf" <<END
ClusterName=warplings
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
GresTypes=gpu
SlurmctldPort=16817
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
MaxArraySize=101
MaxJobCount=200
KillWait=3
MinJobAge=60
SlurmdTimeout=10
InactiveLimit=0
SchedulerParameters=bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
END
    for node in "${nodes[@]}"; do
        mkdir -p "$folder/$node/spool"
        local gpu=""
        [[ $node != n1 ]] || gpu="Gres=gpu:1"
        echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$port CPUs=2 RealMemory=8000 $gpu" >>"$folder/slurm.conf"
        port=$((port + 1))
    done
    echo "PartitionName=main Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP" >>"$folder/slurm.conf"
}

start() {
    local folder=$1 node
    configure "$folder"
    export SLURM_CONF="$folder/slurm.conf"
    # A munged that runs already is used, and left alone.
    if ! munge -n >/dev/null 2>&1; then
        install -d -o munge -g munge -m 755 /run/munge
        runuser -u munge -- munged --pid-file=/run/munge/warplings.pid --log-file=/run/munge/warplings.log
        cp /run/munge/warplings.pid "$folder/run/munged.pid"
    fi
    slurmctld -c
    for node in "${nodes[@]}"; do slurmd -N "$node"; done
    for _ in $(seq 60); do
        [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle && $(sinfo -h -o %D) == 3 ]] && return
        sleep 0.5
    done
    echo "the nodes do not come up:"
    sinfo || true
    tail -n 5 "$folder"/log/*.log
    return 1
}

# Ends a process that a pid file names, if it is the program that it should be.
end() {
    local file=$1 program=$2 signal=$3 pid
    pid=$(cat "$file" 2>/dev/null) || return 0
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) == "$program" ]] || return 0
    kill "-$signal" "$pid" 2>/dev/null || true
}

crash() {
    local folder=$1 node=$2 entry pid parent environment victims=()
    end "$folder/run/slurmd.$node.pid" slurmd KILL
    for entry in /proc/[0-9]*; do
        pid=${entry#/proc/}
        environment=$'\n'$({ tr '\0' '\n' <"$entry/environ"; } 2>/dev/null || true)$'\n'
        [[ $environment == *$'\n'"SLURM_CONF=$folder/slurm.conf"$'\n'* ]] || continue
        [[ $environment == *$'\n'"SLURMD_NODENAME=$node"$'\n'* ]] || continue
        # The step that started a job has no name of its node; the job itself has.
        parent=$(awk '/^PPid:/ { print $2 }' "$entry/status" 2>/dev/null || true)
        [[ $(cat "/proc/$parent/comm" 2>/dev/null) != slurmstepd ]] || victims+=("$parent")
        victims+=("$pid")
    done
    [[ ${#victims[@]} == 0 ]] || kill -KILL "${victims[@]}" 2>/dev/null || true
    echo "ended ${#victims[@]} processes of $node"
}

stop() {
    local folder=$1 node
    export SLURM_CONF="$folder/slurm.conf"
    timeout 10 scancel --user="$(id -un)" 2>/dev/null || true
    for node in "${nodes[@]}"; do end "$folder/run/slurmd.$node.pid" slurmd TERM; done
    end "$folder/run/slurmctld.pid" slurmctld TERM
    end "$folder/run/munged.pid" munged TERM
}

PATH="$PATH:/usr/sbin:/sbin"
case ${1:-} in
check) check ;;
start) start "$2" ;;
crash) crash "$2" "$3" ;;
stop) stop "$2" ;;
*) sed -n '2,10s/^# \?//p' "$0"; exit 2 ;;
esac
