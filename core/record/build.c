// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/kernels.h"
#include "record/build.h"
#include "world/world.h"

#if defined(__clang__)
#define COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "GCC " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

void build_text(char text[BUILD_TEXT]) {
    static const char here; // any address of this library
    const char *kernels = "plain";
#ifdef STN_KERNELS_X86
    kernels = kernels_have_avx2() ? "AVX2" : kernels;
#endif
    snprintf(text, BUILD_TEXT, "%s, %.40s, %s kernels, code %08x", STN_VERSION, COMPILER, kernels,
             (unsigned)stn_code_hash(&here));
}

static uint64_t add(uint64_t hash, const stn_instance *plugin) {
    uint64_t code = stn_code_hash(plugin->desc);
    return stn_hash(hash, &code, sizeof code);
}

uint64_t build_plugins(const struct stn_world *world) {
    uint64_t hash = 0;
    for (int32_t kind = 0; kind < STN_KIND_COUNT; kind++) {
        hash = world->setup->plugin[kind] != NULL ? add(hash, world->setup->plugin[kind]) : hash;
    }
    const stn_model *model = world->setup->model;
    for (int32_t i = 0; model != NULL && i < model->constraint_count; i++) {
        hash = add(hash, model->constraints[i].instance);
    }
    for (int32_t i = 0; i < world->setup->controller_count; i++) {
        hash = add(hash, world->setup->controllers[i].instance);
    }
    return hash;
}
