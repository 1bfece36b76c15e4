// SPDX-License-Identifier: Apache-2.0
// The boundaries carry what is planned: each fake under fakes/ stands for a later kind of plugin and runs through the
// real step. Expected values are closed forms.
#include "fake_scenes.h"

#include <stdlib.h>
#include <string.h>

#include "stn_tape.h"

static const double g = 9.81;

/// What acts on a geometry, as the core sums its contacts; force and counts must be these.
static void assert_carried(const stn_observation *o, int32_t geometry, stn_vec3 force, int32_t sticking,
                           double tolerance) {
    const stn_contact_side cube = {is_geometry, &geometry};
    stn_contact_force sum;
    stn_observation_contact_force(o, &cube, NULL, stn_vec3_zero(), &sum);
    assert_near(sum.normal_part.z, force.z, tolerance);
    assert_near(sum.friction_part.x, force.x, tolerance);
    assert_int_equal(sum.sticking, sticking);
    assert_int_equal(sum.slipping, 0);
    assert_near(sum.glide_gap, 0.0, 0.0);
}

static void quasistatic_stepping_holds_a_box_with_a_singular_A(void **state) {
    stn_world_options options = stn_world_options_default();
    options.integrator.id = "fake_quasistatic";
    options.dt = 0.01;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1 - 1e-6));
    scene_steps(world, 20);
    const stn_observation *o = stn_world_observation(world);
    assert_non_null(o->problem->free_impulse); // gravity could not enter v_star
    assert_near(scene_normal_impulse(o), 1.0 * g * 0.01, 1e-6);
    assert_near(o->q[2], 0.1, 1e-4);
    assert_true(o->certificate->momentum <= 1e-6);
    stn_world_destroy(world);
}

static void midstep_velocities_make_free_fall_exact(void **state) {
    stn_world_options options = stn_world_options_default();
    options.integrator.id = "fake_midstep";
    options.dt = 0.01;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 2.0));
    scene_steps(world, 50); // 0.5 s: still falling
    const stn_observation *o = stn_world_observation(world);
    assert_int_equal(o->problem->velocity_kind, STN_VELOCITY_MID);
    assert_near(o->q[2], 2.0 - 0.5 * g * 0.25, 1e-12); // the midpoint rule integrates parabolas exactly
    assert_near(o->v[2], -g * 0.5, 1e-12);
    int64_t count = 0;
    memcpy(&count, stn_world_state(world)->integrator_memory, sizeof count);
    assert_int_equal(count, 50);
    stn_world_destroy(world);
}

static void task_stiffness_enters_the_step_implicitly(void **state) {
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_zero();
    options.dt = 0.1;
    stn_world *world = scene_world(*state, &options);
    int32_t robot = scene_slider(world, "slider", NULL);
    int32_t controller = scene_controller(world, robot, "fake_impedance", "k", 1e4, "d", 3.0, NULL);
    stn_error err;
    double target = 0.5;
    assert_ok(stn_world_set_reference(world, controller, "task", &target, 1, &err), err);
    double x = 0.0, v = 0.0, dt = 0.1, m = 2.0;
    for (int32_t i = 0; i < 20; i++) {
        scene_steps(world, 1);
        v = (m * v - dt * 1e4 * (x - target)) / (m + dt * 3.0 + dt * dt * 1e4);
        x += dt * v;
        assert_near(stn_world_state(world)->v[0], v, 1e-12);
        assert_near(stn_world_state(world)->q[0], x, 1e-12);
    }
    stn_world_destroy(world);
}

static void hear_of_stiction(void *user, stn_log_level level, const char *text) {
    *(int *)user += level == STN_LOG_WARNING && strstr(text, "stiction: law fake_bristle does not tell") != NULL;
}

static void a_law_that_tells_no_slip_is_not_held_which_is_said(void **state) {
    (void)state;
    int heard = 0;
    stn_context_options quiet = {.plugin_path = STN_FAKES_DIR, .log = hear_of_stiction, .log_user = &heard};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&quiet, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    options.law.id = "fake_bristle";
    options.stiction = true;
    stn_world *world = scene_world(context, &options);
    assert_int_equal(heard, 1);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    scene_steps(world, 10);
    const stn_problem *p = stn_world_observation(world)->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        assert_true(p->constraints[i].anchor[0] == 0.0 && p->constraints[i].anchor[1] == 0.0);
    }
    stn_world_destroy(world);
    stn_context_destroy(context);
}

static void a_law_remembers_each_contact_and_checkpoints_hold_it(void **state) {
    stn_world_options options = stn_world_options_default();
    options.law.id = "fake_bristle";
    options.dt = 0.005;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_wrench(world, 1, stn_vec3_make(2.0, 0.0, 0.0), stn_vec3_zero(),
                                   stn_vec3_make(0.0, 0.0, 0.0), &err),
              err);
    double velocity[6] = {0.0};
    for (int32_t i = 0; i < 400; i++) { // undamped springs: bleed the velocity until it rests
        scene_steps(world, 1);
        memcpy(velocity, stn_world_state(world)->v, sizeof velocity);
        velocity[0] *= 0.9;
        assert_ok(stn_world_set_v(world, velocity, &err), err);
    }
    const stn_observation *o = stn_world_observation(world);
    assert_int_equal(o->contacts->count, 4);
    assert_near(o->q[0], 2.0 / (4.0 * 1000.0), 1e-6);           // F / (contacts k)
    assert_carried(o, 1, stn_vec3_make(-2.0, 0.0, g), 4, 1e-3); // the law tells no slip: the cone decides
    assert_int_equal(stn_world_state(world)->cache_count, 4);

    // a restored world makes bitwise the same steps, memory included
    stn_snapshot *snapshot = NULL;
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    scene_steps(world, 10);
    uint64_t hash = stn_world_hash(world);
    assert_ok(stn_world_restore(world, snapshot, &err), err);
    scene_steps(world, 10);
    assert_true(stn_world_hash(world) == hash);
    stn_snapshot_destroy(snapshot);

    // a lifted box forgets: the springs of new contacts start unstretched
    stn_pose pose = {stn_mat3_identity(), {0.0, 0.0, 0.5}};
    assert_ok(stn_world_set_body_pose(world, 1, &pose, &err), err);
    scene_steps(world, 1);
    assert_int_equal(stn_world_state(world)->cache_count, 0);
    stn_world_destroy(world);
}

static void a_contact_model_returns_patches_that_carry_the_weight(void **state) {
    stn_world_options options = stn_world_options_default();
    options.contact.id = "fake_two_patches";
    options.dt = 0.005;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    stn_instance *recorder = NULL;
    stn_error err;
    const char *path = STN_BINARY_DIR "/boundary.patches";
    assert_ok(stn_instance_create(*state, STN_KIND_RECORDER, "fake_patches", NULL, 0, &recorder, &err), err);
    assert_ok(stn_world_record(world, recorder, path, &err), err);
    scene_steps(world, 200);
    const stn_observation *o = stn_world_observation(world);
    assert_int_equal(o->contacts->patch_count, 2);
    assert_int_equal(o->contacts->patches[1].contact_start, 16);
    assert_int_equal(o->contacts->patches[1].contact_count, 16);
    assert_int_equal(o->contacts->vertex_count, 128);
    assert_int_equal(o->problem->constraint_count, 32);
    assert_int_equal(o->problem->constraints[20].patch, 1);
    assert_near(scene_normal_impulse(o), 1.0 * g * 0.005, 1e-6);
    assert_carried(o, 1, stn_vec3_make(0.0, 0.0, g), 32, 1e-3); // faces of patches are contacts like any other
    assert_near(0.1 - o->q[2], 1.0 * g / (1e7 * 0.04), 1e-8);   // m g / (g_foundation area)
    assert_ok(stn_world_close_recordings(world, &err), err);
    stn_world_destroy(world);

    FILE *file = fopen(path, "r");
    assert_non_null(file);
    long long step = 0;
    int patches = 0, faces = 0, vertices = 0, lines = 0;
    double force = 0.0;
    while (fscanf(file, "%lld %d %d %d %lf", &step, &patches, &faces, &vertices, &force) == 5) {
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, 200);
    assert_int_equal(faces, 32);
    assert_near(force, g, 1e-3); // the pressure that the recorder saw carries the weight
}

/// nx x ny x nz nodes at a spacing of 0.1 m, 0.05 kg each, lowest at height z.
static int32_t add_lattice(stn_world *world, int32_t nx, int32_t ny, int32_t nz, double z) {
    double *position = calloc(3 * (size_t)(nx * ny * nz), sizeof(double)),
           *mass = calloc((size_t)(nx * ny * nz), sizeof(double));
    assert_true(position != NULL && mass != NULL);
    for (int32_t i = 0; i < nx * ny * nz; i++) {
        position[3 * i] = 0.1 * (i % nx);
        position[3 * i + 1] = 0.1 * (i / nx % ny);
        position[3 * i + 2] = z + 0.1 * (i / (nx * ny));
        mass[i] = 0.05;
    }
    stn_nodes_spec spec = {.name = "lattice",
                           .node_count = nx * ny * nz,
                           .position = position,
                           .mass = mass,
                           .contact_radius = 0.01,
                           .material = stn_material_unset()};
    int32_t nodes = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &spec, &nodes, &err), err);
    free(position);
    free(mass);
    return nodes;
}

static void add_elements(stn_world *world, const char *id, double k, double c, int32_t nodes, int32_t count,
                         const int32_t *index) {
    stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = k},
                              {.name = "c", .form = STN_SETTING_NUMBER, .number = c}};
    stn_instance *instance = NULL;
    stn_error err;
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_ELEMENT, id, settings, 2, &instance, &err), err);
    const stn_elements_spec spec = {.nodes = nodes, .element_count = count, .index = index};
    int32_t group = 0;
    assert_ok(stn_builder_add_elements(stn_world_builder(world), instance, &spec, &group, &err), err);
}

/// Springs between all nodes of a 5 x 5 x 4 lattice that are at most a face diagonal apart.
static int32_t lattice_springs(int32_t *index) {
    int32_t count = 0;
    for (int32_t a = 0; a < 100; a++) {
        for (int32_t b = a + 1; b < 100; b++) {
            int32_t dx = abs(a % 5 - b % 5), dy = abs(a / 5 % 5 - b / 5 % 5), dz = abs(a / 25 - b / 25);
            if (dx <= 1 && dy <= 1 && dz <= 1 && dx + dy + dz <= 2) {
                index[2 * count] = a;
                index[2 * count + 1] = b;
                count++;
            }
        }
    }
    return count;
}

static void a_lattice_of_100_nodes_comes_to_rest_under_a_sparse_A(void **state) {
    stn_world_options options = stn_world_options_default();
    options.dt = 0.005;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    int32_t *index = calloc(2 * 100 * 100, sizeof *index);
    assert_non_null(index);
    int32_t nodes = add_lattice(world, 5, 5, 4, 0.03);
    add_elements(world, "fake_spring", 2000.0, 20.0, nodes, lattice_springs(index), index);
    free(index);
    scene_steps(world, 2); // in the air: inner forces do not move the centre of mass
    double momentum = 0.0;
    for (int32_t i = 0; i < 100; i++) {
        momentum += 0.05 * stn_world_state(world)->v[3 * i + 2];
    }
    assert_near(momentum, -5.0 * g * 0.01, 1e-12);
    scene_steps(world, 598);
    const stn_observation *o = stn_world_observation(world);
    assert_int_equal(o->problem->trees[0].A.form, STN_MATRIX_NODAL);
    assert_int_equal(o->problem->constraints[0].J[0].node_count, 1);
    assert_near(scene_normal_impulse(o), 5.0 * g * 0.005, 1e-5);
    assert_true(o->report->kinetic_J < 1e-6);
    stn_world_destroy(world);
}

/// On a slope of 10 degrees, mu 0.5; without stiction it creeps by 9 um in the second that is measured.
static void a_lattice_of_nodes_is_held_by_stiction(void **state) {
    stn_world_options options = stn_world_options_default();
    options.dt = 0.005;
    options.gravity = stn_vec3_make(g * sin(0.1745), 0.0, -g * cos(0.1745));
    options.stiction = true;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    int32_t *index = calloc(2 * 100 * 100, sizeof *index);
    assert_non_null(index);
    int32_t nodes = add_lattice(world, 5, 5, 4, 0.011);
    add_elements(world, "fake_spring", 2000.0, 20.0, nodes, lattice_springs(index), index);
    free(index);
    scene_steps(world, 800);
    double before[300], worst = 0.0;
    memcpy(before, stn_world_state(world)->q, sizeof before);
    scene_steps(world, 200);
    for (int32_t i = 0; i < 300; i++) {
        worst = worse(worst, fabs(stn_world_state(world)->q[i] - before[i]));
    }
    assert_near(worst, 0.0, 1e-9);
    stn_world_destroy(world);
}

static void an_element_of_12_dofs_keeps_momentum_and_loses_energy(void **state) {
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_zero();
    options.dt = 0.002;
    stn_world *world = scene_world(*state, &options);
    int32_t nodes = add_lattice(world, 2, 2, 2, 0.0);
    const int32_t index[] = {0, 1, 2, 4, 1, 3, 2, 7, 1, 4, 5, 7, 2, 4, 7, 6, 1, 2, 4, 7};
    add_elements(world, "fake_tet", 500.0, 0.5, nodes, 5, index);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    double v[24] = {[0] = 0.5, [4] = -0.3, [23] = 0.2};
    assert_ok(stn_world_set_v(world, v, &err), err);
    double start = 0.5 * 0.05 * (0.25 + 0.09 + 0.04), previous = start + 1e-12;
    for (int32_t i = 0; i < 300; i++) {
        scene_steps(world, 1);
        const stn_step_report *report = stn_world_observation(world)->report;
        double energy = report->kinetic_J; // elastic is that of the step's start: compare like with like over the run
        assert_true(energy <= previous + start);
    }
    const double *end = stn_world_state(world)->v;
    double px = 0.0;
    for (int32_t i = 0; i < 8; i++) {
        px += 0.05 * end[3 * i];
    }
    assert_near(px, 0.05 * 0.5, 1e-12);
    assert_true(stn_world_observation(world)->report->kinetic_J < start);
    stn_world_destroy(world);
}

/// Two nodes on a spring: A = M + dt^2/4 K is nodal, and the energy of a linear force stays to round-off.
static void nodes_on_a_spring_keep_their_energy_with_midpoint(void **state) {
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_zero();
    options.dt = 0.01;
    options.integrator.id = "midpoint";
    stn_world *world = scene_world(*state, &options);
    const int32_t index[] = {0, 1};
    add_elements(world, "fake_spring", 200.0, 0.0, add_lattice(world, 2, 1, 1, 0.0), 1, index);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    double v[6] = {[0] = 0.5, [3] = -0.5}, least = 0.1;
    assert_ok(stn_world_set_v(world, v, &err), err);
    for (int32_t i = 0; i < 200; i++) {
        scene_steps(world, 1);
        const double *q = stn_world_state(world)->q, *u = stn_world_state(world)->v;
        double length = q[3] - q[0];
        double energy = 0.025 * (u[0] * u[0] + u[3] * u[3]) + 0.5 * 200.0 * (length - 0.1) * (length - 0.1);
        assert_near(energy, 0.05 * 0.25, 1e-14);
        least = fmin(least, length);
    }
    assert_near(least, 0.1 - 1.0 * sqrt(0.025 / 200.0), 1e-4); // closing speed times sqrt(reduced mass / k)
    stn_world_destroy(world);
}

static void a_reset_tells_the_energy_that_elements_have_then(void **state) {
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_zero();
    stn_world *world = scene_world(*state, &options);
    const int32_t index[] = {0, 1};
    add_elements(world, "fake_spring", 200.0, 0.0, add_lattice(world, 2, 1, 1, 0.0), 1, index);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    assert_near(stn_world_elastic_energy(world), 0.0, 0.0);
    double v[6] = {[0] = 0.5, [3] = -0.5}, q[6];
    assert_ok(stn_world_set_v(world, v, &err), err);
    scene_steps(world, 10);
    const stn_step_report *report = stn_world_observation(world)->report;
    assert_true(report->elastic_J > 1e-5 && stn_world_elastic_energy(world) == report->elastic_J);
    stn_world_reset(world);
    assert_near(report->elastic_J, 0.0, 0.0);
    assert_near(stn_world_elastic_energy(world), 0.0, 0.0);
    memcpy(q, stn_world_state(world)->q, sizeof q);
    q[3] += 0.01; // by hand, before the next step
    assert_ok(stn_world_set_q(world, q, &err), err);
    assert_near(stn_world_elastic_energy(world), 0.5 * 200.0 * 0.01 * 0.01, 1e-15);
    stn_world_destroy(world);
}

static void an_impulse_solver_clamps_box_rows_and_the_core_completes_velocities(void **state) {
    stn_world_options options = stn_world_options_default();
    stn_setting settings[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-10},
                              {.name = "max_iterations", .form = STN_SETTING_NUMBER, .number = 20000}};
    options.solver = (stn_plugin_choice){"fake_impulse", settings, 2};
    options.dt = 0.005;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.lower = -1.0;
    spec.upper = 0.01;
    scene_slider(world, "slider", &spec);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    double v[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0};
    assert_ok(stn_world_set_v(world, v, &err), err);
    scene_steps(world, 20);
    const stn_observation *o = stn_world_observation(world);
    assert_near(scene_normal_impulse(o), 1.0 * g * 0.005, 1e-7);
    assert_true(o->certificate->momentum <= 1e-12); // v was completed from the impulses
    assert_true(stn_world_state(world)->q[7] <= 0.01 + 1e-6);
    assert_near(stn_world_state(world)->v[6], pow(0.5, 19), 1e-8); // relaxation_time = dt: the gap halves every step
    int64_t met = 0;
    memcpy(&met, stn_world_state(world)->cache_memory, sizeof met);
    assert_true(met >= 2); // the solver's memory was carried from step to step
    stn_world_destroy(world);
}

/// Recorded in the middle, when every memory holds something; a lattice and a controller come along.
static void replay_with(stn_context *context, const stn_world_options *options, bool lattice) {
    stn_world *world = scene_world(context, options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    int32_t robot = scene_slider(world, "slider", NULL);
    if (lattice) {
        int32_t *index = calloc(2 * 100 * 100, sizeof *index);
        int32_t nodes = add_lattice(world, 5, 5, 4, 0.03);
        assert_non_null(index);
        add_elements(world, "fake_spring", 2000.0, 20.0, nodes, lattice_springs(index), index);
        free(index);
    }
    int32_t controller = scene_controller(world, robot, "fake_impedance", "k", 1e2, "d", 3.0, NULL);
    stn_error err;
    tape *t = NULL;
    for (int32_t i = 0; i < 60; i++) {
        double target = 0.01 * i;
        t = i == 20 ? tape_record(world) : t;
        assert_ok(stn_world_set_reference(world, controller, "task", &target, 1, &err), err);
        assert_ok(stn_world_set_effort(world, 0, 0.1 * i, &err), err);
        assert_true(stn_world_step(world, &err) >= 0);
    }
    uint64_t hash = stn_world_hash(world);
    stn_world_destroy(world);
    assert_int_equal(t->count, 40);
    assert_true(tape_play(context, t) == hash);
    tape_drop(t);
}

static void every_kind_of_plugin_is_replayed(void **state) {
    stn_world_options options = stn_world_options_default();
    replay_with(*state, &options, true);
    options.integrator.id = "fake_midstep";
    replay_with(*state, &options, true);
    options = stn_world_options_default();
    options.law.id = "fake_bristle";
    replay_with(*state, &options, false);
    options = stn_world_options_default();
    options.contact.id = "fake_two_patches";
    replay_with(*state, &options, false);
    const stn_setting settings[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-10},
                                    {.name = "max_iterations", .form = STN_SETTING_NUMBER, .number = 20000}};
    options = stn_world_options_default();
    options.solver = (stn_plugin_choice){"fake_impulse", settings, 2};
    replay_with(*state, &options, false);
    char path[512];
    snprintf(path, sizeof path, "%s/midstep.so", STN_FAKES_DIR);
    stn_error err;
    assert_ok(stn_plugin_load(*state, STN_KIND_INTEGRATOR, path, &err), err);
    options = stn_world_options_default();
    options.integrator.id = path; // a plugin that was named by its file is found again by it
    replay_with(*state, &options, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quasistatic_stepping_holds_a_box_with_a_singular_A),
        cmocka_unit_test(midstep_velocities_make_free_fall_exact),
        cmocka_unit_test(task_stiffness_enters_the_step_implicitly),
        cmocka_unit_test(a_law_that_tells_no_slip_is_not_held_which_is_said),
        cmocka_unit_test(a_law_remembers_each_contact_and_checkpoints_hold_it),
        cmocka_unit_test(a_contact_model_returns_patches_that_carry_the_weight),
        cmocka_unit_test(a_lattice_of_100_nodes_comes_to_rest_under_a_sparse_A),
        cmocka_unit_test(a_lattice_of_nodes_is_held_by_stiction),
        cmocka_unit_test(nodes_on_a_spring_keep_their_energy_with_midpoint),
        cmocka_unit_test(a_reset_tells_the_energy_that_elements_have_then),
        cmocka_unit_test(an_element_of_12_dofs_keeps_momentum_and_loses_energy),
        cmocka_unit_test(an_impulse_solver_clamps_box_rows_and_the_core_completes_velocities),
        cmocka_unit_test(every_kind_of_plugin_is_replayed),
    };
    return cmocka_run_group_tests(tests, fakes_setup, scene_teardown);
}
