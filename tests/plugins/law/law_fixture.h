// SPDX-License-Identifier: Apache-2.0
// A law with a batch of contacts of a small scene.
#ifndef STN_LAW_FIXTURE_H
#define STN_LAW_FIXTURE_H

#include <stiction/plugin.h>

#include "stn_scene.h"
#include "stn_test.h"

enum { LANES = 16, MAX_COEFFICIENTS = 32 };

typedef struct fixture {
    stn_context *context;
    stn_instance *instance;
    const stn_law_ops *ops;
    scene scene;
    int32_t constraint[LANES];
    stn_law_batch batch;
    stn_error err;
    _Alignas(64) double coefficients[MAX_COEFFICIENTS * LANES];
    _Alignas(64) double v_c[3 * LANES], cost[LANES], gamma[3 * LANES], G[6 * LANES];
} fixture;

#endif
