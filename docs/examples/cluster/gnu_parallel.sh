#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sweep by GNU parallel, on the machines of the file `machines` (a name each line, reached by ssh), which see this
# folder under the same path. Each machine makes one shard at a time, with all of its processors.
set -eu
shards=20
mkdir -p shards
seq "$shards" | parallel --sshloginfile machines --workdir . --jobs 1 \
    "stiction sweep scene.lua --vary mu=0.1:0.9:9 --seeds 1000 --in-process --quiet \
        --shard {}/$shards --csv shards/{}.csv" || true # what is missing is told by the next line
stiction sweep --join shards --csv whole.csv
