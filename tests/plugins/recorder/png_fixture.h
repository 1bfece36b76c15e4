// SPDX-License-Identifier: Apache-2.0
// A model, a recording of it by recorder/png, and the pixels that libpng reads from its file.
#ifndef PNG_FIXTURE_H
#define PNG_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <png.h>

#include <stiction/plugin.h>

#include "stn_heap.h"
#include "stn_model_test.h"
#include "stn_setting.h"

enum { SETTINGS_MAX = 8 };

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    stn_model_builder *builder; // NULL once the model is compiled
    stn_model *model;
    stn_kinematics *kinematics;
    stn_setting settings[SETTINGS_MAX];
    int32_t setting_count;
    stn_contact_set contacts;
    int64_t step; // of the next observation
    char folder[64], path[128], said[1024];
    uint8_t *pixels; // RGB of the last picture that was read
    int32_t width, height;
    stn_error err;
} fixture;

static inline void keep_log(void *user, stn_log_level level, const char *text) {
    fixture *f = user;
    (void)level;
    snprintf(f->said, sizeof f->said, "%s", text);
}

static inline int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    stn_context_options options = stn_heap_options(&f->heap);
    options.log = keep_log;
    options.log_user = f;
    assert_ok(stn_context_create(&options, &f->context, &f->err), f->err);
    strcpy(f->folder, "/tmp/stn_png_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/out.png", f->folder);
    f->builder = new_builder(f->context);
    *state = f;
    return 0;
}

static inline int tear_down(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    stn_kinematics_destroy(f->kinematics);
    stn_model_destroy(f->model);
    stn_builder_destroy(f->builder);
    stn_context_destroy(f->context);
    assert_int_equal(f->heap.live, 0);
    free(f->pixels);
    free(f);
    return 0;
}

static inline void set_number(fixture *f, const char *name, double value) {
    assert_true(f->setting_count < SETTINGS_MAX);
    f->settings[f->setting_count++] = number_setting(name, value);
}

static inline void set_text(fixture *f, const char *name, const char *value) {
    assert_true(f->setting_count < SETTINGS_MAX);
    f->settings[f->setting_count++] = text_setting(name, value);
}

static inline stn_geometry_spec painted(stn_shape shape, float red, float green, float blue, float alpha) {
    stn_geometry_spec spec = stn_geometry_spec_default(shape);
    const float rgba[4] = {red, green, blue, alpha};
    memcpy(spec.rgba, rgba, sizeof rgba);
    return spec;
}

static inline void add_geometry(fixture *f, int32_t link, const stn_geometry_spec *spec) {
    int32_t geometry = -1;
    assert_ok(stn_builder_add_geometry(f->builder, link, spec, &geometry, &f->err), f->err);
}

/// A robot of one link, welded to the world at the origin or falling freely; returns the link.
static inline int32_t add_body(fixture *f, const char *name, bool fixed) {
    int32_t robot = begin_robot(f->builder, name);
    int32_t link = add_link(f->builder, name, mass_of(1.0, stn_vec3_zero(), 0.01, 0.01, 0.01));
    set_base(f->builder, robot, stn_pose_identity(), fixed);
    return link;
}

static inline void compile(fixture *f) {
    f->model = compile_model(f->builder);
    stn_builder_destroy(f->builder);
    f->builder = NULL;
    assert_ok(stn_kinematics_create(f->model, &f->kinematics, &f->err), f->err);
    double *v = calloc((size_t)f->model->nv + 1, sizeof *v);
    assert_non_null(v);
    stn_kinematics_update(f->kinematics, f->model->q0, v);
    f->kinematics->v = NULL; // poses are all that a picture needs
    free(v);
}

typedef struct recording {
    stn_instance *instance;
    void *open;
} recording;

static inline stn_status begin(fixture *f, recording *r) {
    *r = (recording){NULL, NULL};
    stn_status status =
        stn_instance_create(f->context, STN_KIND_RECORDER, "png", f->settings, f->setting_count, &r->instance, &f->err);
    stn_record_header header = {.model = f->model, .path = f->path, .parameters = "solver = sap\n"};
    if (status == STN_OK) {
        status = r->instance->desc->ops.recorder->open(r->instance->self, &header, &r->open, &f->err);
    }
    if (status < 0) {
        stn_instance_destroy(r->instance);
        r->instance = NULL;
    }
    return status;
}

static inline stn_status observe(fixture *f, const recording *r) {
    stn_observation o = {.model = f->model,
                         .step = f->step,
                         .time = 0.25 * (double)f->step,
                         .kinematics = f->kinematics,
                         .contacts = f->step > 0 ? &f->contacts : NULL};
    f->step++;
    return r->instance->desc->ops.recorder->observe(r->open, &o, &f->err);
}

static inline stn_status end(fixture *f, recording *r) {
    stn_status status = r->instance->desc->ops.recorder->close(r->open, &f->err);
    stn_instance_destroy(r->instance);
    return status;
}

/// Opens, shows the present state once and closes.
static inline stn_status record(fixture *f) {
    recording r;
    stn_status status = begin(f, &r);
    if (status < 0) {
        return status;
    }
    status = observe(f, &r);
    stn_error first = f->err;
    stn_status closed = end(f, &r);
    f->err = status < 0 ? first : f->err;
    return status < 0 ? status : closed;
}

static inline void read_picture(fixture *f, const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (png_image_begin_read_from_file(&image, path) == 0) {
        fail_msg("%s: %s", path, image.message);
    }
    assert_int_equal(image.format, PNG_FORMAT_RGB);
    free(f->pixels);
    f->pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(f->pixels);
    if (png_image_finish_read(&image, NULL, f->pixels, 0, NULL) == 0) {
        fail_msg("%s: %s", path, image.message);
    }
    f->width = (int32_t)image.width;
    f->height = (int32_t)image.height;
}

/// The picture of the present state.
static inline void draw(fixture *f) {
    assert_ok(record(f), f->err);
    read_picture(f, f->path);
}

static inline const uint8_t *pixel(const fixture *f, int32_t column, int32_t row) {
    assert_true(column >= 0 && column < f->width && row >= 0 && row < f->height);
    return f->pixels + 3 * (row * f->width + column);
}

/// The pixel must have this colour (0 to 1), to a step of 1/255 and rounding.
static inline void expect_colour(const fixture *f, int32_t column, int32_t row, double red, double green, double blue) {
    const uint8_t *p = pixel(f, column, row);
    const double expected[3] = {red, green, blue};
    for (int32_t k = 0; k < 3; k++) {
        if (!(fabs(p[k] - 255.0 * expected[k]) <= 1.5)) {
            fail_msg("pixel %d, %d: %d %d %d, expected %.1f %.1f %.1f", column, row, p[0], p[1], p[2], 255.0 * red,
                     255.0 * green, 255.0 * blue);
        }
    }
}

static inline long size_of_file(const char *path) {
    struct stat what;
    return stat(path, &what) == 0 ? (long)what.st_size : -1;
}

#endif
