#!/usr/bin/env bash
# The example of training, started by torchrun and by each mpirun: bitwise identical results on all ranks and in all runs.
# Usage: train.sh SOURCE PYTHON
set -eu
source=$1 python=$2
. "$source/scripts/mpi-environment.sh"
program=$source/examples/train_mnist_like.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MASTER_ADDR MASTER_PORT RANK WORLD_SIZE
export OMP_NUM_THREADS=1

# torchrun of 1.13 fails under Python 3.11 unless a redirection is specified.
"$python" -m torch.distributed.run --standalone --nproc_per_node 2 --redirects 1 --tee 1 --log_dir "$work/logs" \
    "$program" > "$work/lines"
sed 's/^\[default[0-9]*\]://' "$work/lines" > "$work/torchrun"
rm -r "$work/lines" "$work/logs"
for mpi in openmpi mpich; do
    if command -v mpirun.$mpi > /dev/null; then
        mpirun.$mpi -n 2 "$python" "$program" > "$work/$mpi"
    fi
done
for made in "$work"/*; do
    grep -q '^all ranks have the same bits$' "$made" || { echo "$made:"; cat "$made"; exit 1; }
    cmp "$work/torchrun" "$made" || { cat "$work/torchrun" "$made"; exit 1; }
done
first=$(sed -n 's/^step   1: loss //p' "$work/torchrun") last=$(sed -n 's/^step  60: loss //p' "$work/torchrun")
awk -v first="$first" -v last="$last" 'BEGIN { exit !(last < first / 2) }' || { echo "the loss does not decrease"; exit 1; }
cat "$work/torchrun"
