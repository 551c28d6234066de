#!/bin/sh
# packaging/slurm/demur-shards on a Slurm of one host, started here: five shards of a validation in whatever order
# they end, merged by a job behind them, say what one run says; where a shard fails nothing is merged.
# slurm.sh DEMUR SOURCE_FOLDER. 77: no Slurm here.
set -eu
DEMUR=$(readlink -f "$1") shards=$(readlink -f "$2")/packaging/slurm/demur-shards
export DEMUR
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd sbatch munged; do
  command -v $program > /dev/null || { echo "no $program: not run"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "slurmd needs root: not run"; exit 77; }
folder=$(mktemp -d)
finish() {
  for pid in "$folder"/*.pid; do
    [ ! -s "$pid" ] || kill "$(cat "$pid")" 2> /dev/null || true
  done
  sleep 1
  rm -rf "$folder"
}
trap finish EXIT
chmod 755 "$folder"
mkdir "$folder/state" "$folder/spool" "$folder/munge"
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 2> /dev/null
chmod 400 "$folder/munge/key"
host=$(hostname -s)
# A port of its own, so that a Slurm of this host is not met.
port=$((20000 + $$ % 20000))
cat > "$folder/slurm.conf" << END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/ctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/ctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$folder/slurm.conf"
munged --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" --pid-file="$folder/munged.pid" \
  --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
slurmctld
slurmd -N "$host"

cd "$folder"
$DEMUR --workspace w.demur --quiet cohort simulate c --scans 1500 > /dev/null
$DEMUR --workspace w.demur --quiet train s --cohort c --method network --epochs 1 --datasets-per-epoch 64 \
  --average 1 > /dev/null
cp w.demur whole.demur
$DEMUR --workspace whole.demur --quiet --json validate s --cohort c > whole.json

wait_for() { # the job of that name to leave the queue
  for _ in $(seq 600); do
    [ -n "$(squeue --noheader --name "$1")" ] || return 0
    sleep 1
  done
  echo "job $1 does not end"
  squeue
  exit 1
}
"$shards" 5 parts --workspace w.demur --json validate s --cohort c
wait_for demur-merge
cmp parts/merge.log whole.json
if "$shards" 5 parts --workspace w.demur --json validate s --cohort c 2> again; then
  echo "parts of before were taken"
  exit 1
fi

# A cohort that is not there: every shard fails, the merge is dropped.
"$shards" 2 failed --workspace w.demur --json validate s --cohort none
wait_for demur-shards
wait_for demur-merge
[ ! -e failed/merge.log ] || { echo "merged though the shards failed"; exit 1; }
grep -q none failed/shard-1.log
# A search whose selector has its name already: all its jobs are told that it may be replaced.
"$shards" 2 searched --workspace w.demur --json train s --cohort c --epochs 1 --datasets-per-epoch 64 --average 1 \
  --search-grid kernel_width=0.2,0.5 --replace > /dev/null
wait_for demur-merge
grep -q '"search"' searched/merge.log || { cat searched/*.log; exit 1; }

echo "shards on Slurm: the same bytes as in one run"
