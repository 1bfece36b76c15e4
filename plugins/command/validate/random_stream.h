// SPDX-License-Identifier: Apache-2.0
// Random numbers that follow from a seed, the same everywhere.
#ifndef STICTION_COMMAND_VALIDATE_RANDOM_STREAM_H
#define STICTION_COMMAND_VALIDATE_RANDOM_STREAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct random_stream {
    uint64_t state;
} random_stream;

double random_uniform(random_stream *r, double low, double high);
double random_normal(random_stream *r);
int32_t random_integer(random_stream *r, int32_t low, int32_t high); ///< both included
bool random_chance(random_stream *r, double probability);

#endif
