// SPDX-License-Identifier: Apache-2.0
// Contact problems and solutions in FCLIB's layout: HDF5, which a process of its own reads and makes (worker/).
#include <stiction/plugin.h>

#include "fclib.h"

static stn_status read(void *self, const stn_problem_source *source, stn_problem *out, stn_error *err) {
    (void)self;
    return fclib_read(source, out, err);
}

static stn_status write(void *self, const stn_problem_sink *sink, const stn_problem *problem, stn_error *err) {
    (void)self;
    return fclib_write(sink, problem, err);
}

static stn_status write_solution(void *self, const stn_problem_sink *sink, const stn_problem_result *result,
                                 stn_error *err) {
    (void)self;
    return fclib_write_solution(sink, result, err);
}

static const char *const extensions[] = {"hdf5", "h5", NULL};
static const char *const formats[] = {"fclib", NULL};
static const stn_problem_file_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = array_file_is_hdf5,
    .read = read,
    .formats = formats,
    .write = write,
    .write_solution = write_solution,
};
static const stn_plugin_desc fclib = {
    .size = sizeof fclib,
    .kind = STN_KIND_PROBLEM_FILE,
    .id = "fclib",
    .version = STN_VERSION,
    .summary = "contact problems and solutions of the literature: HDF5 in FCLIB's layout",
    .reference =
        "Acary et al., An open question: how to solve efficiently 3D frictional contact problem, inria-00599616",
    .ops = {.problem_file = &ops},
};
STN_PLUGIN_LIBRARY(&fclib);
