#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sweep as a job array of Slurm, and a job that joins its tables when all of them are done. On the login node, in a
# folder that all machines see:   bash slurm_shards.sh
set -eu
shards=20
sweep=(stiction sweep scene.lua --vary mu=0.1:0.9:9 --seeds 1000 --in-process)

mkdir -p shards
array=$(sbatch --parsable --array="1-$shards" --cpus-per-task=4 --time=1:00:00 --requeue \
    --wrap "${sweep[*]} --shard \$SLURM_ARRAY_TASK_ID/$shards --csv shards/\$SLURM_ARRAY_TASK_ID.csv")
sbatch --dependency="afterany:$array" --time=0:10:00 --wrap "stiction sweep --join shards --csv whole.csv"
