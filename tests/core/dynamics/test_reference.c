// SPDX-License-Identifier: Apache-2.0
// Chains, tops and pendulums against references that were computed by other formulations.
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "simulate.h"
#include "stn_model_test.h"

#define DATA STN_SHARED_DIR "/reference/g_dynamics/"

static const stn_vec3 GRAVITY = {0.0, 0.0, -9.81};

// --------------------------------------------------------------------------------------------------------- files

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    return text;
}

typedef struct table {
    double *values; // rows x columns
    int32_t rows, columns;
} table;

static table read_table(const char *path) {
    char *text = read_text(path), *line = strchr(text, '\n') + 1;
    table t = {.columns = 1};
    for (char *p = text; p < line; p++) {
        t.columns += *p == ',';
    }
    t.values = malloc(strlen(line) * sizeof(double));
    int32_t count = 0;
    for (char *p = line; *p != '\0';) {
        char *end = p;
        t.values[count] = strtod(p, &end);
        if (end == p) {
            p++;
            continue;
        }
        count++;
        p = end;
    }
    t.rows = count / t.columns;
    assert_int_equal(count, t.rows * t.columns);
    free(text);
    return t;
}

static stn_vec3 read_vec3(const cJSON *link, const char *name) {
    const cJSON *v = cJSON_GetObjectItem(link, name);
    return stn_vec3_make(cJSON_GetArrayItem(v, 0)->valuedouble, cJSON_GetArrayItem(v, 1)->valuedouble,
                         cJSON_GetArrayItem(v, 2)->valuedouble);
}

// -------------------------------------------------------------------------------------------------------- chains

typedef struct chain {
    stn_context *context;
    stn_model *model;
    double damping;
} chain;

static stn_context *new_context(void) {
    stn_error err;
    stn_context *context = NULL;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    return context;
}

static chain read_chain(const char *path) {
    chain c = {.context = new_context()};
    char *text = read_text(path), name[32];
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    c.damping = cJSON_GetObjectItem(json, "damping")->valuedouble;
    stn_model_builder *b = new_builder(c.context);
    int32_t robot = begin_robot(b, "chain"), parent = add_link(b, "base", (stn_mass){.mass = 0.0}), number = 0;
    set_base(b, robot, stn_pose_identity(), true);
    stn_pose origin = stn_pose_identity();
    const cJSON *link = NULL;
    cJSON_ArrayForEach(link, cJSON_GetObjectItem(json, "links")) {
        stn_vec3 i = read_vec3(link, "inertia_diag_about_com"), tip = read_vec3(link, "tip");
        double mass = cJSON_GetObjectItem(link, "mass")->valuedouble;
        snprintf(name, sizeof name, "link%d", number);
        int32_t child = add_link(b, name, mass_of(mass, read_vec3(link, "com"), i.x, i.y, i.z));
        snprintf(name, sizeof name, "joint%d", number++);
        add_joint(b, name, STN_JOINT_REVOLUTE, parent, child, origin, read_vec3(link, "axis"));
        origin = shift(tip.x, tip.y, tip.z);
        parent = child;
    }
    c.model = compile_model(b);
    stn_builder_destroy(b);
    cJSON_Delete(json);
    free(text);
    return c;
}

static void chain_clear(chain *c) {
    stn_model_destroy(c->model);
    stn_context_destroy(c->context);
}

/// Row of `trajectory` with the same time.
static const double *row_at(const table *trajectory, double time) {
    for (int32_t i = 0; i < trajectory->rows; i++) {
        const double *row = trajectory->values + (size_t)i * (size_t)trajectory->columns;
        if (fabs(row[0] - time) < 1e-9) {
            return row;
        }
    }
    fail_msg("no row at t = %g", time);
    return NULL;
}

/// Largest errors, relative to the largest entry, of accelerations and mass matrix at all recorded states.
static void compare_chain(const char *model_path, const char *trajectory_path, const char *dynamics_path) {
    chain c = read_chain(model_path);
    table states = read_table(trajectory_path), expected = read_table(dynamics_path);
    simulator s = simulator_create(c.model, GRAVITY);
    s.damping = c.damping;
    int32_t n = c.model->nv;
    double worst_a = 0.0, worst_m = 0.0;
    for (int32_t r = 0; r < expected.rows; r++) {
        const double *row = expected.values + (size_t)r * (size_t)expected.columns, *state = row_at(&states, row[0]);
        const double *entry = row + 1 + n;
        double a[16], largest_a = 0.0, largest_m = 0.0, error_a = 0.0, error_m = 0.0;
        accelerations(&s, state + 1, state + 1 + n, a);
        for (int32_t i = 0; i < n; i++) {
            largest_a = worse(largest_a, fabs(row[1 + i]));
            error_a = worse(error_a, fabs(a[i] - row[1 + i]));
            for (int32_t j = i; j < n; j++, entry++) {
                largest_m = worse(largest_m, fabs(*entry));
                error_m = worse(error_m, fabs(s.M[i * n + j] - *entry));
            }
        }
        worst_a = worse(worst_a, error_a / largest_a);
        worst_m = worse(worst_m, error_m / largest_m);
    }
    print_message("  accelerations %.2g, mass matrix %.2g relative\n", worst_a, worst_m);
    assert_near(worst_a, 0.0, 1e-10);
    assert_near(worst_m, 0.0, 1e-10);
    simulator_destroy(&s);
    free(states.values);
    free(expected.values);
    chain_clear(&c);
}

static void double_pendulum_has_the_reference_accelerations_and_mass_matrix(void **state) {
    (void)state;
    skip_without(DATA "double_pendulum.json");
    compare_chain(DATA "double_pendulum.json", DATA "double_pendulum.csv", DATA "double_pendulum_qdd_M.csv");
}

static void chain_of_seven_has_the_reference_accelerations_and_mass_matrix(void **state) {
    (void)state;
    skip_without(DATA "chain7.json");
    compare_chain(DATA "chain7.json", DATA "chain7.csv", DATA "chain7_qdd_M.csv");
    compare_chain(DATA "chain7_damped.json", DATA "chain7_damped.csv", DATA "chain7_damped_qdd_M.csv");
}

/// RK4 from the first state; largest error of q and of the energy against the table.
static void follow_chain(const char *model_path, const char *trajectory_path, double tolerance) {
    chain c = read_chain(model_path);
    table states = read_table(trajectory_path);
    simulator s = simulator_create(c.model, GRAVITY);
    s.damping = c.damping;
    int32_t n = c.model->nv, steps = 10;
    double q[16], v[16], worst = 0.0, worst_energy = 0.0;
    memcpy(q, states.values + 1, (size_t)n * sizeof *q);
    memcpy(v, states.values + 1 + n, (size_t)n * sizeof *v);
    for (int32_t r = 0; r < states.rows; r++) {
        const double *row = states.values + (size_t)r * (size_t)states.columns;
        for (int32_t i = 0; i < n; i++) {
            worst = worse(worst, fabs(q[i] - row[1 + i]));
        }
        stn_kinematics_update(s.kinematics, q, v);
        double energy = stn_kinetic_energy(s.kinematics) + stn_gravitational_energy(s.kinematics, GRAVITY);
        worst_energy = worse(worst_energy, fabs(energy - row[1 + 2 * n]));
        double dt = r + 1 < states.rows ? (row[states.columns] - row[0]) / steps : 0.0;
        for (int32_t k = 0; k < steps && dt > 0.0; k++) {
            rk4_step(&s, dt, q, v);
        }
    }
    print_message("  q %.2g rad, energy %.2g J\n", worst, worst_energy);
    assert_near(worst, 0.0, tolerance);
    assert_near(worst_energy, 0.0, tolerance);
    simulator_destroy(&s);
    free(states.values);
    chain_clear(&c);
}

static void chains_follow_the_reference_trajectories(void **state) {
    (void)state;
    skip_without(DATA "chain7.json");
    follow_chain(DATA "double_pendulum.json", DATA "double_pendulum.csv", 1e-6);
    follow_chain(DATA "chain7.json", DATA "chain7.csv", 1e-5); // chaotic; the reference itself is good to 1e-7
    follow_chain(DATA "chain7_damped.json", DATA "chain7_damped.csv", 1e-6);
}

// ---------------------------------------------------------------------------------------------------------- tops

static void free_asymmetric_top_follows_the_jacobi_functions_up_to_its_first_flip(void **state) {
    (void)state;
    skip_without(DATA "free_top.csv");
    table top = read_table(DATA "free_top.csv");
    stn_context *context = new_context();
    stn_model_builder *b = new_builder(context);
    begin_robot(b, "top");
    add_link(b, "top", mass_of(1.0, stn_vec3_zero(), 0.1, 0.2, 0.3));
    stn_model *model = compile_model(b);
    simulator s = simulator_create(model, stn_vec3_zero());
    double q[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, v[6] = {0.0, 0.0, 0.0, 0.01, 5.0, 0.02};
    double worst = 0.0, worst_energy = 0.0, worst_momentum = 0.0;
    for (int32_t r = 0; r < top.rows; r++) {
        const double *row = top.values + (size_t)r * (size_t)top.columns;
        stn_kinematics_update(s.kinematics, q, v);
        const stn_mat3 *R = &s.kinematics->body_pose[1].rotation;
        stn_vec3 w = stn_mat3_apply_transposed(R, stn_vec3_make(v[3], v[4], v[5]));
        stn_quat e = {row[1], row[2], row[3], row[4]};
        stn_mat3 expected = stn_quat_matrix(e);
        stn_spatial momentum = stn_momentum(s.kinematics);
        stn_vec3 off = stn_vec3_sub(momentum.angular, stn_vec3_make(row[9], row[10], row[11]));
        worst_energy = worse(worst_energy, fabs(stn_kinetic_energy(s.kinematics) - row[8]));
        worst_momentum = worse(worst_momentum, stn_vec3_norm(off));
        for (int32_t i = 0; i < 9 && row[0] <= 2.32; i++) {
            worst = worse(worst, fabs(R->m[i / 3][i % 3] - expected.m[i / 3][i % 3]));
        }
        worst =
            row[0] <= 2.32 ? fmax(worst, stn_vec3_norm(stn_vec3_sub(w, stn_vec3_make(row[5], row[6], row[7])))) : worst;
        for (int32_t k = 0; k < 20 && r + 1 < top.rows; k++) {
            rk4_step(&s, 0.001, q, v);
        }
    }
    print_message("  attitude and rate %.2g, energy %.2g J, momentum %.2g kg m^2/s\n", worst, worst_energy,
                  worst_momentum);
    assert_near(worst, 0.0, 1e-6);
    assert_near(worst_energy, 0.0, 1e-7);
    assert_near(worst_momentum, 0.0, 1e-7);
    simulator_destroy(&s);
    stn_model_destroy(model);
    stn_builder_destroy(b);
    stn_context_destroy(context);
    free(top.values);
}

/// A heavy symmetric top on Euler angles z-x-z: three hinges, two of them between links without mass.
static stn_model *gyroscope(stn_context *context, double A, double C, double m, double l) {
    stn_model_builder *b = new_builder(context);
    stn_mass none = {.mass = 0.0};
    int32_t robot = begin_robot(b, "gyroscope"), base = add_link(b, "base", none), yoke = add_link(b, "yoke", none);
    int32_t gimbal = add_link(b, "gimbal", none), rotor = 0;
    double across = A - m * l * l; // about the centre of mass
    rotor = add_link(b, "rotor", mass_of(m, stn_vec3_make(0.0, 0.0, l), across, across, C));
    stn_vec3 x = {1.0, 0.0, 0.0}, z = {0.0, 0.0, 1.0};
    set_base(b, robot, stn_pose_identity(), true);
    add_joint(b, "precession", STN_JOINT_CONTINUOUS, base, yoke, stn_pose_identity(), z);
    add_joint(b, "tilt", STN_JOINT_CONTINUOUS, yoke, gimbal, stn_pose_identity(), x);
    add_joint(b, "spin", STN_JOINT_CONTINUOUS, gimbal, rotor, stn_pose_identity(), z);
    stn_model *model = compile_model(b);
    stn_builder_destroy(b);
    return model;
}

/// Columns by name, because the files of this case differ.
static int32_t column_of(const char *path, const char *name) {
    char *text = read_text(path), *save = NULL;
    *strchr(text, '\n') = '\0';
    int32_t column = 0;
    for (char *word = strtok_r(text, ",\r", &save); word != NULL; word = strtok_r(NULL, ",\r", &save), column++) {
        if (strcmp(word, name) == 0) {
            free(text);
            return column;
        }
    }
    fail_msg("%s has no column %s", path, name);
    return -1;
}

static void heavy_top_nods_as_the_reference_does(void **state) {
    (void)state;
    skip_without(DATA "gyro_cusp.csv");
    static const char *const files[] = {DATA "gyro_cusp.csv", DATA "gyro_steady_slow.csv", DATA "gyro_loop.csv"};
    static const double precession[] = {0.0, 0.6599917874466905, -0.5 * 0.6599917874466905};
    for (int32_t f = 0; f < 3; f++) {
        stn_context *context = new_context();
        stn_model *model = gyroscope(context, 0.01, 0.004, 0.5, 0.08);
        assert_int_equal(stn_model_massless_link(model, 0), -1);
        simulator s = simulator_create(model, GRAVITY);
        table t = read_table(files[f]);
        int32_t theta = column_of(files[f], "theta"), phi = column_of(files[f], "phi");
        double q[3] = {0.0, 0.6, 0.0}, v[3] = {precession[f], 0.0, 150.0 - precession[f] * cos(0.6)}, worst = 0.0;
        double phi0 = t.values[phi];
        for (int32_t r = 0; r < t.rows; r++) {
            const double *row = t.values + (size_t)r * (size_t)t.columns;
            worst = worse(worst, fmax(fabs(q[1] - row[theta]), fabs(q[0] + phi0 - row[phi])));
            double dt = r + 1 < t.rows ? (row[t.columns] - row[0]) / 20.0 : 0.0;
            for (int32_t k = 0; k < 20 && dt > 0.0; k++) {
                rk4_step(&s, dt, q, v);
            }
        }
        print_message("  angles %.2g rad\n", worst);
        assert_near(worst, 0.0, 1e-8);
        free(t.values);
        simulator_destroy(&s);
        stn_model_destroy(model);
        stn_context_destroy(context);
    }
}

static void pendulum_period_is_the_elliptic_integral(void **state) {
    (void)state;
    skip_without(DATA "pendulum_period.csv");
    table periods = read_table(DATA "pendulum_period.csv");
    const double m = 1.5, l = 0.4, pivot = 0.26, dt = 2e-4;
    stn_context *context = new_context();
    stn_model_builder *b = new_builder(context);
    int32_t robot = begin_robot(b, "pendulum"), base = add_link(b, "base", (stn_mass){.mass = 0.0});
    double i = pivot - m * l * l;
    int32_t bob = add_link(b, "bob", mass_of(m, stn_vec3_make(0.0, 0.0, -l), i, i, i));
    set_base(b, robot, stn_pose_identity(), true);
    add_joint(b, "hinge", STN_JOINT_CONTINUOUS, base, bob, stn_pose_identity(), stn_vec3_make(0.0, 1.0, 0.0));
    stn_model *model = compile_model(b);
    simulator s = simulator_create(model, GRAVITY);
    for (int32_t r = 0; r < periods.rows; r++) {
        double amplitude = periods.values[r * periods.columns] * STN_PI / 180.0, q = amplitude, v = 0.0, t = 0.0;
        double before = q;
        for (; q > 0.0; t += dt) { // a quarter of the period, ends at the lowest point
            before = q;
            rk4_step(&s, dt, &q, &v);
        }
        double quarter = t - dt * q / (q - before); // linear: the acceleration is zero there
        assert_near(4.0 * quarter, periods.values[r * periods.columns + 1], 1e-7);
    }
    simulator_destroy(&s);
    stn_model_destroy(model);
    stn_builder_destroy(b);
    stn_context_destroy(context);
    free(periods.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum_has_the_reference_accelerations_and_mass_matrix),
        cmocka_unit_test(chain_of_seven_has_the_reference_accelerations_and_mass_matrix),
        cmocka_unit_test(chains_follow_the_reference_trajectories),
        cmocka_unit_test(free_asymmetric_top_follows_the_jacobi_functions_up_to_its_first_flip),
        cmocka_unit_test(heavy_top_nods_as_the_reference_does),
        cmocka_unit_test(pendulum_period_is_the_elliptic_integral),
    };
    return cmocka_run_group_tests_name("dynamics against references", tests, NULL, NULL);
}
