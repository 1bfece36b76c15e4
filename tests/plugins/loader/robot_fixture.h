// SPDX-License-Identifier: Apache-2.0
// A folder for small robot files, and what came of the last one that was loaded.
#ifndef ROBOT_FIXTURE_H
#define ROBOT_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <stiction/loader.h>

#include "stn_heap.h"
#include "stn_test.h"

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    stn_diagnostics list;
    stn_model *model; // NULL when loading or compiling failed
    stn_pose base;    // of the root; at first the origin
    bool free;        // the root floats; at first it is welded
    bool as_proposed; // the base is where the file says
    const char *file; // that load_text writes, "robot.urdf" unless set
    stn_status status;
    stn_error err;
    char folder[64];
    stn_load_request request; // its path is set by load_text
    char path[160];
} fixture;

static inline void drop_log(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

static inline int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    stn_context_options options = stn_heap_options(&f->heap);
    options.log = drop_log;
    assert_int_equal(stn_context_create(&options, &f->context, NULL), STN_OK);
    stn_diagnostics_init(&f->list, f->context);
    strcpy(f->folder, "/tmp/stn_urdf_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->base = stn_pose_identity();
    *state = f;
    return 0;
}

static inline int tear_down(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    stn_model_destroy(f->model);
    stn_diagnostics_clear(&f->list);
    stn_context_destroy(f->context);
    assert_int_equal(f->heap.live, 0);
    free(f);
    return 0;
}

/// Writes `length` bytes to a file below the folder, making the folders on the way.
static inline void write_bytes(fixture *f, const char *name, const char *bytes, size_t length) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    for (char *slash = path + strlen(f->folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    unlink(path); // a file that is cut and written again is flushed to the disk by some file systems
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static inline void write_text(fixture *f, const char *name, const char *text) {
    write_bytes(f, name, text, strlen(text));
}

/// Loads f->request and compiles the robot; f->status is that of the first that fails.
static inline void load_request(fixture *f) {
    stn_model_builder *builder = NULL;
    int32_t robot = -1;
    stn_model_destroy(f->model);
    f->model = NULL;
    stn_diagnostics_clear(&f->list);
    f->err = (stn_error){0};
    f->status = stn_builder_create(f->context, &builder, &f->err);
    if (f->status == STN_OK) {
        f->status = stn_load_robot(f->context, &f->request, builder, &robot, &f->list, &f->err);
    }
    if (f->status == STN_OK) {
        assert_int_equal(robot, 0);
        assert_int_equal(f->list.error_count, 0);
    }
    if (f->status == STN_OK && !f->as_proposed) {
        f->status = stn_builder_set_base(builder, robot, &f->base, !f->free, &f->err);
    }
    if (f->status == STN_OK) {
        f->status = stn_model_compile(builder, &f->model, &f->err);
    }
    stn_builder_destroy(builder);
}

static inline void load_bytes(fixture *f, const char *name, const char *bytes, size_t length) {
    write_bytes(f, name, bytes, length);
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, name);
    f->request.path = f->path;
    load_request(f);
}

static inline void load_text(fixture *f, const char *text) {
    load_bytes(f, f->file != NULL ? f->file : "robot.urdf", text, strlen(text));
}

static inline void print_findings(const fixture *f) {
    for (int32_t i = 0; i < f->list.count; i++) {
        const stn_diagnostic *d = &f->list.items[i];
        print_message("  %d %s:%d: %s: [%s] %s\n", (int)d->severity, d->file, (int)d->line, d->where, d->code, d->text);
    }
}

/// The file must load and compile.
static inline const stn_model *good_model(fixture *f, const char *text) {
    load_text(f, text);
    if (f->status != STN_OK) {
        print_findings(f);
        fail_msg("%s", f->err.text);
    }
    return f->model;
}

/// A robot of our own, below models/: loading it must find nothing.
static inline const stn_model *own_model(fixture *f, const char *file) {
    snprintf(f->path, sizeof f->path, STN_SOURCE_DIR "/models/%s", file);
    f->request.path = f->path;
    load_request(f);
    if (f->status != STN_OK) {
        fail_msg("%s", f->err.text);
    }
    print_findings(f);
    assert_int_equal(f->list.count, 0);
    return f->model;
}

static inline const stn_joint *joint_of(const fixture *f, const char *name) {
    int32_t joint = stn_model_find_joint(f->model, 0, name);
    assert_true(joint >= 0);
    return &f->model->joints[joint];
}

static inline const stn_link *link_of(const fixture *f, const char *name) {
    int32_t link = stn_model_find_link(f->model, 0, name);
    assert_true(link >= 0);
    return &f->model->links[link];
}

static inline const stn_geometry *geometry_of(const fixture *f, const char *name) {
    for (int32_t i = 0; i < f->model->geometry_count; i++) {
        if (strcmp(f->model->geometries[i].name, name) == 0) {
            return &f->model->geometries[i];
        }
    }
    fail_msg("no geometry %s", name);
    return NULL;
}

/// The finding of that severity, line, element and code whose text holds `part`; line 0 and NULL match all.
static inline const stn_diagnostic *find_finding(const fixture *f, stn_severity severity, const char *code,
                                                 int32_t line, const char *element, const char *part) {
    for (int32_t i = 0; i < f->list.count; i++) {
        const stn_diagnostic *d = &f->list.items[i];
        if (d->severity == severity && strcmp(d->code, code) == 0 && (line == 0 || d->line == line) &&
            (element == NULL || strcmp(d->where, element) == 0) && (part == NULL || strstr(d->text, part) != NULL)) {
            return d;
        }
    }
    return NULL;
}

static inline void expect_finding(const fixture *f, stn_severity severity, const char *code, int32_t line,
                                  const char *element, const char *part) {
    if (find_finding(f, severity, code, line, element, part) == NULL) {
        print_findings(f);
        fail_msg("no finding [%s] line %d, %s, \"%s\"", code, (int)line, element != NULL ? element : "any element",
                 part != NULL ? part : "");
    }
}

/// The smallest mesh that is a solid.
static const char tetrahedron[] =
    "solid t\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
    "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n"
    "facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid t\n";

static inline void write_mesh(fixture *f, const char *name) {
    write_text(f, name, tetrahedron);
}

#endif
