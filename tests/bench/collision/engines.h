// SPDX-License-Identifier: Apache-2.0
// Our engine and the peers that are installed.
#ifndef BENCH_COLLISION_ENGINES_H
#define BENCH_COLLISION_ENGINES_H

#include <stdio.h>

#include "scene.h"

static const engine *const engines[] = {
    &stiction_engine,
#ifdef HAVE_BULLET
    &bullet_engine,
#endif
#ifdef HAVE_ODE
    &ode_engine,
#endif
#ifdef HAVE_MUJOCO
    &mujoco_engine,
#endif
};
enum { ENGINES = sizeof engines / sizeof engines[0] };

#endif
