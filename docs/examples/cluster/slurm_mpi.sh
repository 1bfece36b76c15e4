#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sweep by the ranks of Open MPI under Slurm: sbatch slurm_mpi.sh. Submitted again it goes on where it ended.
#SBATCH --ntasks=64
#SBATCH --time=1:00:00
#SBATCH --requeue
exec mpirun stiction sweep scene.lua --vary mu=0.1:0.9:9 --seeds 1000 --in-process --csv whole.csv
