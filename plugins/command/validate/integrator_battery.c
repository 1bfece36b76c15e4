// SPDX-License-Identifier: Apache-2.0
// What every integrator of motion must do: closed forms of free fall and of a spring, conserved momentum, unit
// quaternions, convergence, rest on the ground; and what it owes the core: repeatable bytes, no allocation, nothing
// done in a failed step.
#include <float.h>
#include <string.h>

#include <stiction/record.h>

#include "validate.h"

typedef enum scene_kind {
    SCENE_TOP,      // a free rigid body with three different moments of inertia
    SCENE_SPRING,   // a mass on a rail with a spring of 1 Hz
    SCENE_PENDULUM, // two links on hinges
    SCENE_BOX       // a box over the ground
} scene_kind;

typedef struct scene {
    validate_trial *trial;
    stn_world *world;
    stn_error error;
} scene;

/// Of motion with inertia. True: the integrator is quasistatic, the trial is skipped.
static bool without_inertia(validate_trial *trial) {
    if (trial_says(trial, "quasistatic")) {
        trial_skip(trial, "it says that it is quasistatic: no energy and no momentum of motion");
    }
    return trial_says(trial, "quasistatic");
}

/// A scene in which something holds everything: without inertia nothing falls.
static scene_kind held(const validate_trial *trial, scene_kind kind) {
    return trial_says(trial, "quasistatic") ? SCENE_SPRING : kind;
}

// ------------------------------------------------------------------------------------------------------------ scenes

static const double spring_rate = 4.0 * STN_PI * STN_PI; // [1/s^2] k/m: 1 Hz
static const stn_vec3 no_gravity = {0.0, 0.0, 0.0}, earth = {0.0, 0.0, -9.81};

/// False decides the trial.
static bool scene_open(scene *s, validate_trial *trial, scene_kind kind, double dt, stn_vec3 gravity) {
    const validate_request *request = trial->request;
    *s = (scene){.trial = trial};
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.gravity = gravity;
    options.margin = trial_says(trial, "quasistatic") ? 0.02 : options.margin; // v_star promises no contact there
    options.integrator = (stn_plugin_choice){request->id, request->settings, request->setting_count};
    stn_status status = stn_world_create(request->context, &options, &s->world, &s->error);
    stn_model_builder *builder = status == STN_OK ? stn_world_builder(s->world) : NULL;
    if (status == STN_OK && (kind == SCENE_TOP || kind == SCENE_BOX)) {
        bool box = kind == SCENE_BOX;
        stn_link_spec link = {.name = "top"};
        link.mass = (stn_mass){.mass = 2.0, .inertia = stn_mat3_diagonal(0.02, 0.03, 0.04)};
        stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
        stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
        stn_pose base = {stn_mat3_identity(), {0.0, 0.0, box ? 0.12 : 1.0}};
        int32_t robot = 0, id = 0, geometry = 0;
        status = stn_builder_begin_group(builder, "top", &robot, &s->error);
        status = status == STN_OK ? stn_builder_add_link(builder, &link, &id, &s->error) : status;
        status = status == STN_OK && box ? stn_builder_add_geometry(builder, id, &shape, &geometry, &s->error) : status;
        status = status == STN_OK && box ? stn_builder_add_geometry(builder, STN_WORLD, &ground, &geometry, &s->error)
                                         : status;
        status = status == STN_OK ? stn_builder_set_base(builder, robot, &base, false, &s->error) : status;
    } else if (status == STN_OK) {
        // a chain on the world: one prismatic joint with a spring, or two hinges
        int32_t count = kind == SCENE_SPRING ? 1 : 2;
        bool spring = kind == SCENE_SPRING;
        static const char *const links[] = {"first", "second"}, *const joints[] = {"joint_1", "joint_2"};
        stn_pose base = stn_pose_identity();
        int32_t robot = 0, parent = STN_WORLD, joint = 0;
        status = stn_builder_begin_group(builder, "chain", &robot, &s->error);
        for (int32_t i = 0; i < count && status == STN_OK; i++) {
            stn_joint_spec spec = stn_joint_spec_default(joints[i], spring ? STN_JOINT_PRISMATIC : STN_JOINT_REVOLUTE);
            stn_link_spec link = {.name = links[i]};
            link.mass = (stn_mass){.mass = 1.5, .inertia = stn_mat3_diagonal(0.02, 0.02, 0.01)};
            link.mass.com = stn_vec3_make(0.0, 0.0, spring ? 0.0 : -0.25);
            status = stn_builder_add_link(builder, &link, &spec.child, &s->error);
            spec.parent = parent;
            spec.axis = stn_vec3_make(1.0, 0.0, 0.0);
            spec.origin.position.z = i > 0 ? -0.5 : 0.0;
            spec.stiffness = spring ? 1.5 * spring_rate : 0.0;
            parent = spec.child;
            status = status == STN_OK ? stn_builder_add_joint(builder, &spec, &joint, &s->error) : status;
        }
        status = status == STN_OK ? stn_builder_set_base(builder, robot, &base, true, &s->error) : status;
    }
    status = status == STN_OK ? stn_world_compile(s->world, &s->error) : status;
    if (status != STN_OK) {
        trial_fail(trial, "cannot be made: %s", s->error.text);
        stn_world_destroy(s->world);
        s->world = NULL;
    }
    return status == STN_OK;
}

static bool scene_start(scene *s, const double *q, const double *v) {
    stn_status status = q != NULL ? stn_world_set_q(s->world, q, &s->error) : STN_OK;
    status = status == STN_OK && v != NULL ? stn_world_set_v(s->world, v, &s->error) : status;
    if (status != STN_OK) {
        trial_fail(s->trial, "start: %s", s->error.text);
    }
    return status == STN_OK;
}

static bool scene_steps(scene *s, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (stn_world_step(s->world, &s->error) < 0) {
            trial_fail(s->trial, "step %lld: %s", (long long)i + 1, s->error.text);
            return false;
        }
    }
    return true;
}

static double distance(const double *a, const double *b, int32_t n) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

// ------------------------------------------------------------------------------------------------------ closed forms

static void check_declares(validate_trial *trial) {
    const stn_integrator_ops *ops = trial->request->plugin->desc->ops.integrator;
    scene s;
    if (ops == NULL || ops->form == NULL || ops->advance == NULL) {
        trial_fail(trial, "form or advance is missing");
    } else if (scene_open(&s, trial, SCENE_TOP, 1e-3, earth)) {
        stn_world_destroy(s.world);
        trial_ok(trial, "form and advance are there, a world takes it");
    }
}

/// v = v0 + g t whatever the scheme; q is off by at most g t dt/2, what a first order scheme is.
static void check_free_fall(validate_trial *trial) {
    static const double steps[] = {1e-9, 1e-5, 1e-3, 1e-2, 0.1};
    static const double start[6] = {0.3, -0.2, 2.0, 0.0, 0.0, 0.0};
    double worst_v = 0.0, worst_q = 0.0;
    if (without_inertia(trial)) {
        return;
    }
    for (int32_t k = 0; k < STN_COUNT(steps); k++) {
        scene s;
        double dt = steps[k], time = 200 * dt;
        if (!scene_open(&s, trial, SCENE_TOP, dt, earth)) {
            return;
        }
        if (scene_start(&s, NULL, start) && scene_steps(&s, 200)) {
            const stn_state *state = stn_world_state(s.world);
            double v_error = fabs(state->v[2] - (2.0 - 9.81 * time)) / (2.0 + 9.81 * time);
            double q_error = fabs(state->q[2] - (1.0 + 2.0 * time - 0.5 * 9.81 * time * time));
            double allowed = 0.5 * 9.81 * time * dt;
            worst_v = fmax(worst_v, v_error);
            worst_q = fmax(worst_q, q_error / (allowed + 1e-12));
            if (!(v_error <= 1e-12)) {
                trial_fail(trial, "dt = %g s: after 200 steps v_z = %.12g m/s, expected %.12g", dt, state->v[2],
                           2.0 - 9.81 * time);
            } else if (!(q_error <= 1.000001 * allowed + 1e-12)) {
                trial_fail(trial, "dt = %g s: after 200 steps z is off by %.3g m, expected at most g t dt/2 = %.3g", dt,
                           q_error, allowed);
            }
        }
        stn_world_destroy(s.world);
    }
    trial_ok(trial, "steps of 1e-9 to 0.1 s: v to %.1e, z off by %.2g of g t dt/2", worst_v, worst_q);
}

/// Error of a spring's position after `time`, from rest at 0.1 m.
static double spring_error(validate_trial *trial, double dt, double time) {
    static const double start = 0.1;
    scene s;
    double error = (double)NAN;
    if (scene_open(&s, trial, SCENE_SPRING, dt, no_gravity)) {
        if (scene_start(&s, &start, NULL) && scene_steps(&s, (int64_t)floor(time / dt + 0.5))) {
            error = fabs(stn_world_state(s.world)->q[0] - start * cos(sqrt(spring_rate) * time)) / start;
        }
        stn_world_destroy(s.world);
    }
    return error;
}

static void check_spring(validate_trial *trial) {
    const double dt = 1e-3, time = 0.7;
    if (without_inertia(trial)) {
        return;
    }
    double coarse = spring_error(trial, dt, time), fine = spring_error(trial, 0.5 * dt, time);
    double order = log2(coarse / fine);
    if (!(coarse <= 0.1 && (order >= 0.8 || coarse < 1e-9))) {
        trial_fail(
            trial,
            "a spring of 1 Hz after 0.7 s is off by %.2g of its amplitude at dt = 1 ms, by %.2g at 0.5 ms: order %.2f, "
            "expected at least 1",
            coarse, fine, order);
    }
    trial_ok(trial, "a spring of 1 Hz after 0.7 s is off by %.1e of its amplitude at dt = 1 ms, order %.2f", coarse,
             order);
}

/// A pendulum of two links at `time`: q and v.
static bool swing(validate_trial *trial, double dt, double time, double end[4], double *energy) {
    static const double start[2] = {1.2, -0.7};
    scene s;
    bool good = false;
    if (scene_open(&s, trial, SCENE_PENDULUM, dt, earth)) {
        good = scene_start(&s, start, NULL);
        const stn_kinematics *k = stn_world_kinematics(s.world);
        double before = stn_kinetic_energy(k) + stn_gravitational_energy(k, earth);
        good = good && scene_steps(&s, (int64_t)floor(time / dt + 0.5));
        k = stn_world_kinematics(s.world);
        *energy = fabs(stn_kinetic_energy(k) + stn_gravitational_energy(k, earth) - before);
        memcpy(end, stn_world_state(s.world)->q, 2 * sizeof *end);
        memcpy(end + 2, stn_world_state(s.world)->v, 2 * sizeof *end);
        stn_world_destroy(s.world);
    }
    return good;
}

static void check_pendulum(validate_trial *trial) {
    double ends[4][4], energy[4];
    if (without_inertia(trial)) {
        return;
    }
    for (int32_t i = 0; i < 4; i++) {
        if (!swing(trial, 2e-3 / (double)(1 << i), 0.5, ends[i], &energy[i])) {
            return;
        }
    }
    double coarse = distance(ends[0], ends[1], 4), middle = distance(ends[1], ends[2], 4),
           fine = distance(ends[2], ends[3], 4);
    double order = log2(middle / fine);
    if (!(order >= 0.8 && coarse > middle)) {
        trial_fail(
            trial,
            "a double pendulum: halving dt from 2 ms changes its state after 0.5 s by %.2g, %.2g, %.2g: order %.2f, "
            "expected at least 1",
            coarse, middle, fine, order);
    } else if (!(energy[3] <= 0.75 * energy[2] + 1e-9)) {
        trial_fail(
            trial,
            "a double pendulum: energy is off by %.2g J at dt = 0.5 ms and by %.2g J at 0.25 ms, expected it to fall",
            energy[2], energy[3]);
    }
    trial_ok(trial, "a double pendulum converges with order %.2f; energy off by %.1e J after 0.5 s at dt = 0.25 ms",
             order, energy[3]);
}

// ---------------------------------------------------------------------------------------------------------- momentum

/// How far the angular momentum of a free top strays within a second, relative; linear momentum and unit norm must
/// stay.
static double stray(validate_trial *trial, double dt) {
    static const double start[6] = {0.7, -0.4, 0.2, 1.0, 4.0, -2.0};
    scene s;
    double error = (double)NAN;
    if (!scene_open(&s, trial, SCENE_TOP, dt, no_gravity)) {
        return error;
    }
    if (scene_start(&s, NULL, start)) {
        stn_spatial before = stn_momentum(stn_world_kinematics(s.world));
        scene_steps(&s, (int64_t)floor(1.0 / dt + 0.5));
        stn_spatial after = stn_momentum(stn_world_kinematics(s.world));
        const double *q = stn_world_state(s.world)->q;
        double norm = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
        double linear = stn_vec3_norm(stn_vec3_sub(after.linear, before.linear)) / stn_vec3_norm(before.linear);
        stn_vec3 lost = stn_vec3_sub(after.angular, before.angular);
        error = stn_vec3_norm(lost) / stn_vec3_norm(before.angular);
        if (!(linear <= 1e-12)) {
            trial_fail(trial, "dt = %g s: a free top loses %.2g of its linear momentum in 1 s", dt, linear);
        } else if (!(fabs(norm - 1.0) <= 1e-12)) {
            trial_fail(trial, "dt = %g s: the norm of the quaternion is off by %.2g after 1 s", dt, norm - 1.0);
        }
    }
    stn_world_destroy(s.world);
    return error;
}

static void check_momentum(validate_trial *trial) {
    if (without_inertia(trial)) {
        return;
    }
    double coarse = stray(trial, 1e-3), fine = stray(trial, 5e-4);
    if (!(fine <= 0.65 * coarse || fine <= 1e-10) || !(coarse <= 0.1)) {
        trial_fail(
            trial,
            "a free top loses %.2g of its angular momentum in 1 s at dt = 1 ms, %.2g at 0.5 ms, expected half or less",
            coarse, fine);
    }
    trial_ok(
        trial,
        "a free top for 1 s: linear momentum and unit quaternion to 1e-12; angular momentum off by %.1e at 1 ms, %.1e "
        "at 0.5 ms",
        coarse, fine);
}

/// Without inertia a spring hangs at m g/k after every step, whatever its speed was.
static void check_balance(validate_trial *trial) {
    static const double away = 0.1, fast = 3.0;
    static const stn_vec3 along = {9.81, 0.0, 0.0};
    const double expected = along.x / spring_rate;
    scene s;
    if (!trial_says(trial, "quasistatic")) {
        trial_skip(trial, "it does not say that it is quasistatic");
        return;
    }
    if (!scene_open(&s, trial, SCENE_SPRING, 1e-2, along)) {
        return;
    }
    double worst = 0.0;
    if (scene_start(&s, &away, &fast)) {
        for (int32_t i = 0; i < 10 && scene_steps(&s, 1); i++) {
            double off = fabs(stn_world_state(s.world)->q[0] - expected);
            worst = fmax(worst, off);
            if (!(off <= 1e-6 * expected)) {
                trial_fail(trial,
                           "says that it is quasistatic, but %d steps after a start at 0.1 m and 3 m/s a spring is at "
                           "%.6g m, and holds its weight at %.6g m",
                           i + 1, stn_world_state(s.world)->q[0], expected);
                break;
            }
        }
    }
    stn_world_destroy(s.world);
    trial_ok(trial, "a spring holds its weight after every step, to %.1e m", worst);
}

static void check_rest(validate_trial *trial) {
    static const double touching[7] = {0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0}; // where nothing falls
    scene s;
    if (!scene_open(&s, trial, SCENE_BOX, 2e-3, earth)) {
        return;
    }
    if (scene_start(&s, trial_says(trial, "quasistatic") ? touching : NULL, NULL) && scene_steps(&s, 750)) {
        const stn_state *state = stn_world_state(s.world);
        static const double none[6] = {0.0};
        double speed = distance(state->v, none, 6), height = state->q[2];
        if (!(speed <= 1e-3) || !(fabs(height - 0.1) <= 1e-3)) {
            trial_fail(
                trial,
                "a box of 0.2 m that falls by 2 cm: after 1.5 s its centre is at %.6f m, its speed %.2g m/s, expected "
                "0.1 m to 1 mm and 1 mm/s",
                height, speed);
        }
        trial_ok(trial, "a box of 0.2 m that falls by 2 cm rests after 1.5 s: centre at %.6f m, speed %.1e m/s", height,
                 speed);
    }
    stn_world_destroy(s.world);
}

// ------------------------------------------------------------------------------------------------------------ border

static void check_repeats(validate_trial *trial) {
    enum { STEPS = 120, HALF = 60 };
    uint64_t hash[2][STEPS];
    stn_snapshot *snapshot = NULL;
    scene s;
    if (!scene_open(&s, trial, held(trial, SCENE_BOX), 2e-3, earth)) {
        return;
    }
    for (int32_t round = 0; round < 2 && !trial->decided; round++) { // the second one after a reset
        for (int32_t i = 0; i < STEPS && scene_steps(&s, 1); i++) {
            hash[round][i] = stn_world_hash(s.world);
            if (round == 0 && i == HALF - 1 && stn_world_snapshot(s.world, &snapshot, &s.error) != STN_OK) {
                trial_fail(trial, "snapshot: %s", s.error.text);
            }
            if (hash[round][i] != hash[0][i]) {
                trial_fail(trial, "step %d after a reset has another state than the first time", i + 1);
            }
        }
        stn_world_reset(s.world);
    }
    if (!trial->decided && stn_world_restore(s.world, snapshot, &s.error) != STN_OK) {
        trial_fail(trial, "restore: %s", s.error.text);
    }
    for (int32_t i = HALF; i < STEPS && !trial->decided && scene_steps(&s, 1); i++) {
        if (stn_world_hash(s.world) != hash[0][i]) {
            trial_fail(trial, "step %d after restoring step %d has another state: what lasts belongs into state_size",
                       i + 1, HALF);
        }
    }
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(s.world);
    trial_ok(trial, "%d steps again after a reset and from a snapshot: the same state", STEPS);
}

static void check_allocations(validate_trial *trial) {
    scene s;
    if (!scene_open(&s, trial, held(trial, SCENE_PENDULUM), 2e-3, earth) || !scene_steps(&s, 20)) {
        return;
    }
    int64_t before = stn_context_allocations(trial->request->context);
    scene_steps(&s, 100);
    int64_t more = stn_context_allocations(trial->request->context) - before;
    stn_world_destroy(s.world);
    if (more > 0) {
        trial_fail(trial, "steps 21 to 120 made %lld allocations, expected none", (long long)more);
    }
    trial_ok(trial, "steps 21 to 120: no allocation");
}

static void check_failure(validate_trial *trial) {
    scene s;
    if (!scene_open(&s, trial, held(trial, SCENE_PENDULUM), 2e-3, earth) || !scene_steps(&s, 5)) {
        return;
    }
    stn_world_set_gravity(s.world, stn_vec3_make(-DBL_MAX, 0.0, -DBL_MAX), NULL); // times a mass: infinite
    uint64_t before = stn_world_hash(s.world);
    s.error = (stn_error){STN_OK, ""};
    stn_status status = stn_world_step(s.world, &s.error);
    if (status >= 0 || s.error.text[0] == '\0') {
        trial_fail(trial, "a weight is infinite: status '%s' %s, expected a negative status and a line",
                   stn_status_text(status), s.error.text);
    } else if (stn_world_hash(s.world) != before) {
        trial_fail(trial, "a weight is infinite: the step failed and changed the state");
    }
    stn_world_set_gravity(s.world, earth, NULL);
    scene_steps(&s, 5);
    stn_world_destroy(s.world);
    trial_ok(trial, "a step with an infinite weight fails with a line, leaves the state, and the next one goes on");
}

static const validate_check checks[] = {
    {"declares what it is", "form and advance are required, integrator.h", check_declares},
    {"free fall", "A v_star holds the impulse of all forces; q moves by dt N v", check_free_fall},
    {"spring", "K and D of the affine forces belong into A, and into v_star", check_spring},
    {"convergence", "take M and the bias forces at the state that the scheme says", check_pendulum},
    {"balance of forces", "without inertia: A v = dt (forces), whatever the velocity was", check_balance},
    {"free flight", "turn by the exponential map, stn_integrate_q; the gyroscopic term belongs into v_star",
     check_momentum},
    {"rest on the ground", "advance must take the problem's v, which the contacts have changed", check_rest},
    {"same states again", "all that lasts from step to step belongs into state_size", check_repeats},
    {"no allocation", "take scratch memory from the view's arena", check_allocations},
    {"NaN in the input", "fail with a negative status; the core keeps the state", check_failure},
};

const validate_battery validate_integrators = {STN_KIND_INTEGRATOR, STN_COUNT(checks), checks};
