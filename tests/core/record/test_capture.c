// SPDX-License-Identifier: Apache-2.0
// Contact problems of a run as files: solved with no world around, each gives what the world's step gave.
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/solve.h>

static char folder[64];
static char path[2][128];

static const char *in_folder(int32_t which, const char *name) {
    snprintf(path[which], sizeof path[which], "%s/%s", folder, name);
    return path[which];
}

static bool is_there(const char *name) {
    return access(in_folder(1, name), F_OK) == 0;
}

/// A tower of two cubes that slides, and a ball that falls onto the ground after 0.1 s.
static stn_world *make_world(stn_context *context, const char *solver, bool rigid) {
    const stn_setting tight[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-9}};
    stn_world_options options = stn_world_options_default();
    options.dt = 0.005;
    options.exact_contacts = rigid; // a stiffness is nothing that HDF5 holds
    options.solver = (stn_plugin_choice){solver, tight, 1};
    stn_world *world = scene_world(context, &options);
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.05));
    box.material.stiffness = ball.material.stiffness = rigid ? (double)INFINITY : 1e5;
    scene_ground(world);
    scene_body(world, "lower", 2.0, &box, stn_vec3_make(0.0, 0.0, 0.0999));
    scene_body(world, "upper", 1.0, &box, stn_vec3_make(0.01, 0.02, 0.2998));
    scene_body(world, "ball", 0.3, &ball, stn_vec3_make(1.0, 0.0, 0.1));
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    const stn_model *model = stn_world_model(world);
    double *v = calloc((size_t)model->nv, sizeof *v);
    v[3] = v[9] = 0.4; // linear or angular, the tower moves
    assert_ok(stn_world_set_v(world, v, &err), err);
    free(v);
    return world;
}

static void capture(stn_world *world, const char *name, stn_capture_options options) {
    stn_error err;
    options.file = in_folder(0, name);
    assert_ok(stn_world_capture(world, &options, &err), err);
}

typedef struct solved {
    stn_problem_owner *owner;
    const stn_problem *problem;
    double *v, *gamma;
} solved;

/// Loads a problem and solves it by the plugins of the world.
static solved solve_file(stn_world *world, const char *name) {
    stn_context *context = stn_world_context(world);
    solved s;
    stn_error err;
    assert_ok(stn_problem_load(context, in_folder(1, name), &s.owner, &err), err);
    s.problem = stn_problem_of(s.owner);
    stn_problem problem = *s.problem;
    stn_problem_solver_options options = {.solver = stn_world_plugin(world, STN_KIND_SOLVER),
                                          .law = stn_world_plugin(world, STN_KIND_LAW)};
    stn_problem_solver *solver = NULL;
    s.v = calloc((size_t)problem.nv + 1, sizeof *s.v);
    s.gamma = calloc((size_t)problem.row_count + 1, sizeof *s.gamma);
    assert_ok(stn_problem_solver_create(context, &options, &solver, &err), err);
    stn_solve_request request = {0};
    stn_solution solution = {.v = s.v, .gamma = s.gamma};
    stn_status status = stn_problem_solve(solver, &problem, &request, &solution, NULL, NULL, &err);
    if (status < 0) {
        fail_msg("%s", err.text);
    }
    stn_problem_solver_destroy(solver);
    return s;
}

static void solved_clear(solved *s) {
    stn_problem_destroy(s->owner);
    free(s->v);
    free(s->gamma);
}

static void remove_file(const char *name) {
    assert_int_equal(unlink(in_folder(1, name)), 0);
}

/// Warm start, inverse masses, stiffness: all that decides the bits is in the file.
static void a_file_gives_the_same_bits_as_the_step(void **state) {
    static const char *const solvers[] = {"sap", "apgd", "admm", "ipm", "pgs", "nsgs", "bisection"};
    for (int32_t i = 0; i < STN_COUNT(solvers); i++) {
        stn_world *world = make_world(*state, solvers[i], false);
        capture(world, "p.json", (stn_capture_options){.every = 15, .title = "tower"});
        stn_error err;
        for (int32_t step = 1; step <= 45; step++) {
            if (stn_world_step(world, &err) < 0) {
                fail_msg("%s: %s", solvers[i], err.text);
            }
            if (step % 15 != 0) {
                continue;
            }
            char name[32], title[64];
            snprintf(name, sizeof name, "p-%06d.json", step);
            snprintf(title, sizeof title, "tower, step %d to t = %.9g s", step, 0.005 * step);
            const stn_observation *o = stn_world_observation(world);
            solved s = solve_file(world, name);
            assert_string_equal(s.problem->name, title);
            assert_int_equal(s.problem->nv, o->problem->nv);
            assert_int_equal(s.problem->row_count, o->problem->row_count);
            assert_true(s.problem->row_count >= 24);
            assert_memory_equal(s.v, o->solution_v, (size_t)s.problem->nv * sizeof(double));
            assert_memory_equal(s.gamma, o->gamma, (size_t)s.problem->row_count * sizeof(double));
            solved_clear(&s);
            remove_file(name);
        }
        assert_int_equal(stn_world_captured(world), 3);
        stn_world_destroy(world);
    }
}

static double largest_difference(const double *a, const double *b, int32_t count) {
    double largest = 0.0;
    for (int32_t i = 0; i < count; i++) {
        largest = worse(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

/// Rigid contacts have a place in FCLIB's layout: velocities agree, impulses where they are not shared at will.
static void forms_of_fclib_hold_the_same_problem(void **state) {
    stn_world *world = make_world(*state, "nsgs", true);
    capture(world, "global.hdf5", (stn_capture_options){.every = 20});
    capture(world, "local.hdf5", (stn_capture_options){.every = 20, .form = STN_FORM_LOCAL});
    capture(world, "local.json", (stn_capture_options){.every = 20, .form = STN_FORM_LOCAL});
    stn_error err;
    for (int32_t step = 1; step <= 40; step++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    const stn_observation *o = stn_world_observation(world);
    int32_t rows = o->problem->row_count;
    double *own = calloc(2 * (size_t)rows, sizeof *own), *u = own + rows;
    stn_problem_contact_velocity(o->problem, o->solution_v, true, own);
    solved global = solve_file(world, "global-000040.hdf5");
    assert_int_equal(global.problem->form, STN_FORM_GLOBAL);
    stn_problem_contact_velocity(global.problem, global.v, false, u);
    assert_true(largest_difference(u, own, rows) < 1e-8);
    solved_clear(&global);
    static const char *const locals[] = {"local-000040.hdf5", "local-000040.json"};
    for (int32_t i = 0; i < STN_COUNT(locals); i++) {
        solved local = solve_file(world, locals[i]);
        assert_int_equal(local.problem->form, STN_FORM_LOCAL);
        assert_int_equal(local.problem->row_count, rows);
        bool distance = !isnan(local.problem->constraints[0].phi0); // JSON knows it beside q, HDF5 as part of q
        for (int32_t r = 0; r < rows; r++) {
            double w = distance ? 0.0 : o->problem->v_hat[r]; // q + phi0/(dt + tau)
            u[r] = local.problem->q[r] + w;
            for (int32_t k = 0; k < rows; k++) {
                u[r] += local.problem->W[r * rows + k] * local.gamma[k];
            }
        }
        assert_true(largest_difference(u, own, rows) < 1e-8);
        solved_clear(&local);
    }
    free(own);
    stn_world_destroy(world);
    static const char *const all[] = {"global-000020.hdf5", "global-000040.hdf5", "local-000020.hdf5",
                                      "local-000040.hdf5",  "local-000020.json",  "local-000040.json"};
    for (int32_t i = 0; i < STN_COUNT(all); i++) {
        remove_file(all[i]);
    }
}

static void names_hold_the_step_and_never_meet(void **state) {
    stn_world *world = make_world(*state, "sap", false);
    stn_error err;
    capture(world, "one.json", (stn_capture_options){.most = 1, .every = 7});
    capture(world, "a%03d.b.json", (stn_capture_options){.every = 10});
    capture(world, "many.json", (stn_capture_options){.every = 10, .most = 3});
    scene_steps(world, 20);
    stn_world_reset(world);
    scene_steps(world, 20);
    static const char *const all[] = {"one.json",      "a010.b.json",      "a020.b.json",      "a010.b-2.json",
                                      "a020.b-2.json", "many-000010.json", "many-000020.json", "many-000010-2.json"};
    for (int32_t i = 0; i < STN_COUNT(all); i++) {
        remove_file(all[i]);
    }
    assert_false(is_there("many-000020-2.json"));
    assert_int_equal(stn_world_captured(world), STN_COUNT(all));
    stn_world_destroy(world);
    world = make_world(*state, "sap", false);
    stn_capture_options options = {.file = in_folder(0, "x.txt")};
    assert_int_equal(stn_world_capture(world, &options, &err), STN_ERR_ARGUMENT);
    options.file = in_folder(0, "no/x.json");
    assert_int_equal(stn_world_capture(world, &options, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "there is no folder"));
    options = (stn_capture_options){.file = in_folder(0, "x.json"), .every = -1};
    assert_int_equal(stn_world_capture(world, &options, &err), STN_ERR_ARGUMENT);
    assert_string_equal(strstr(err.text, "every"), "every = -1, must not be negative");
    stn_world_destroy(world);
}

/// The step stands, and says what FCLIB's layout has no place for; no file, not even a temporary one.
static void what_a_file_cannot_hold_ends_the_step(void **state) {
    stn_world *world = make_world(*state, "sap", false);
    capture(world, "soft.hdf5", (stn_capture_options){0});
    stn_error err;
    assert_int_equal(stn_world_step(world, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "capture: "));
    assert_non_null(strstr(err.text, "soft-000001.hdf5: FCLIB's layout cannot hold constraint 0"));
    assert_non_null(strstr(err.text, "a stiffness; write JSON"));
    assert_int_equal(stn_world_observation(world)->step, 1);
    assert_int_equal(rmdir(folder), 0); // it is empty
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/stiction_capture_XXXXXX")));
    stn_world_destroy(world);
}

static int setup(void **state) {
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/stiction_capture_XXXXXX")));
    return scene_setup(state);
}

static int teardown(void **state) {
    rmdir(folder);
    return scene_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_gives_the_same_bits_as_the_step),
                                       cmocka_unit_test(forms_of_fclib_hold_the_same_problem),
                                       cmocka_unit_test(names_hold_the_step_and_never_meet),
                                       cmocka_unit_test(what_a_file_cannot_hold_ends_the_step)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
