// SPDX-License-Identifier: Apache-2.0
// Contexts that find the plugins of fakes/, and sides of contacts that are one geometry.
#ifndef STN_TEST_FAKE_SCENES_H
#define STN_TEST_FAKE_SCENES_H

#include "scenes.h"

/// With scene_teardown.
static inline int fakes_setup(void **state) {
    stn_context_options options = {.plugin_path = STN_FAKES_DIR};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    *state = context;
    return 0;
}

/// Of a stn_contact_side whose `user` is the geometry's number.
static inline bool is_geometry(const void *user, int32_t geometry) {
    return geometry == *(const int32_t *)user;
}

#endif
