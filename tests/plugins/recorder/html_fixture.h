// SPDX-License-Identifier: Apache-2.0
// A folder for recordings of recorder/html, and a world's recording in it.
#ifndef HTML_FIXTURE_H
#define HTML_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "html_decode.h"
#include "scenes.h"
#include "stn_setting.h"

static char folder[] = "/tmp/stn_html_XXXXXX", path[64];
static stn_world_options defaults;

static inline void make_folder(void) {
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.html", folder);
    defaults = stn_world_options_default();
}

static inline int remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static inline int forget(void **state) {
    (void)state;
    forget_recordings();
    return 0;
}

static inline stn_status try_to_record(stn_world *world, const char *to, stn_setting setting, stn_error *err) {
    stn_instance *recorder = NULL;
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_RECORDER, "html", &setting, 1, &recorder, err),
              *err);
    return stn_world_record(world, recorder, to, err);
}

static inline void record(stn_world *world, stn_setting setting) {
    stn_error err;
    assert_ok(try_to_record(world, path, setting, &err), err);
}

static inline const decoded *close_and_decode(stn_world *world) {
    stn_error err;
    assert_ok(stn_world_close_recordings(world, &err), err);
    const decoded *d = decode_recording(path);
    assert_non_null(d->scene);
    assert_non_null(d->end);
    assert_false(d->cut);
    return d;
}

static inline void near3(const double *a, stn_vec3 b, double tolerance) {
    assert_near(a[0], b.x, tolerance);
    assert_near(a[1], b.y, tolerance);
    assert_near(a[2], b.z, tolerance);
}

#endif
