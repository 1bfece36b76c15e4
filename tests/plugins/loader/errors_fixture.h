// SPDX-License-Identifier: Apache-2.0
// For tests of what loaders refuse: files with one error each, and what a bad file leaves behind.
#ifndef ERRORS_FIXTURE_H
#define ERRORS_FIXTURE_H

#include "robot_fixture.h"

/// A file and its only finding, an error; line 0 and NULL match all.
typedef struct wrong {
    const char *text, *code;
    int32_t line;
    const char *element, *part;
} wrong;

static inline void expect_one_error(fixture *f, const wrong *w) {
    load_text(f, w->text);
    if (f->status == STN_OK) {
        fail_msg("loaded: %s", w->text);
    }
    if (f->list.error_count != 1 ||
        find_finding(f, STN_SEVERITY_ERROR, w->code, w->line, w->element, w->part) == NULL) {
        print_findings(f);
        fail_msg("expected line %d, %s, [%s] %s in: %s", (int)w->line, w->element, w->code, w->part, w->text);
    }
    assert_int_equal(f->status, STN_ERR_PARSE);
    assert_non_null(strstr(f->err.text, strrchr(f->path, '/') + 1));
}

/// A good robot of one link, a bad file, and the first again into one builder: two robots, nothing of the bad one.
static inline void expect_nothing_stays(fixture *f, const char *good_file, const char *good, const char *bad_file,
                                        const char *bad) {
    const char *names[] = {good_file, bad_file, good_file}, *robots[] = {"one", "two", "two"};
    stn_model_builder *builder = NULL;
    stn_error err = {0};
    int32_t robot = -1;
    assert_ok(stn_builder_create(f->context, &builder, &err), err);
    write_text(f, good_file, good);
    write_text(f, bad_file, bad);
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", f->folder, names[i]);
        stn_load_request request = {.path = path, .robot_name = robots[i]};
        stn_status status = stn_load_robot(f->context, &request, builder, &robot, &f->list, &err);
        assert_int_equal(status, i == 1 ? STN_ERR_PARSE : STN_OK);
        stn_diagnostics_clear(&f->list);
    }
    assert_int_equal(robot, 1);
    assert_ok(stn_model_compile(builder, &f->model, &err), err);
    assert_int_equal(f->model->link_count, 2);
    stn_builder_destroy(builder);
}

#endif
