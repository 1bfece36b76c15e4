// SPDX-License-Identifier: Apache-2.0
// What every controller must do with a robot of four joints, an arm or, where it refuses that one, jaws: finite efforts
// on its own joints, within their limits; gains that a step may put into A; everything that lasts in its state.
#include <math.h>
#include <string.h>

#include <stiction/record.h>

#include "common/eigenvalues.h"
#include "random_stream.h"
#include "validate.h"

enum { JOINTS = 4, ROUNDS = 100, GUARD = 64, POISON = 0xa5 };

/// A robot of four joints of which the controller gets some; one motor has no limit.
typedef struct specimen {
    const char *name;
    stn_joint_type type[JOINTS];
    stn_vec3 axis[JOINTS];
    int32_t parent[JOINTS]; // joint that moves the body that carries this one, -1: the world
    double place[JOINTS];   // of the joint along x of that body [m]
    double effort[JOINTS];
    int32_t driven_count, driven[JOINTS];
} specimen;

static const specimen arm = {.name = "arm",
                             .type = {STN_JOINT_REVOLUTE, STN_JOINT_REVOLUTE, STN_JOINT_PRISMATIC, STN_JOINT_REVOLUTE},
                             .axis = {{0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 1.0, 0.0}},
                             .parent = {-1, 0, 1, 2},
                             .effort = {5.0, INFINITY, 20.0, 3.0},
                             .driven_count = 3,
                             .driven = {0, 1, 3}};
/// Two jaws on a palm that a hinge and a rail carry.
static const specimen jaws = {
    .name = "jaws",
    .type = {STN_JOINT_REVOLUTE, STN_JOINT_PRISMATIC, STN_JOINT_PRISMATIC, STN_JOINT_PRISMATIC},
    .axis = {{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}},
    .parent = {-1, 0, 1, 1},
    .place = {0.0, 0.0, 0.1, -0.1},
    .effort = {5.0, INFINITY, 30.0, 20.0},
    .driven_count = 2,
    .driven = {2, 3}};
static const stn_vec3 earth = {0.0, 0.0, -9.81};

enum { REFERENCES = 513 }; // numbers of references that a controller may have here

/// A specimen in a world, and what a controller is handed in a step.
typedef struct subject {
    validate_trial *trial;
    const specimen *kind;
    random_stream random;
    stn_world *world;
    const stn_model *model;
    stn_instance *instance; // NULL once the world has it
    const stn_controller_ops *ops;
    stn_kinematics *kinematics;
    stn_arena *arena;
    stn_control_target target;
    double q[JOINTS], v[JOINTS], start[REFERENCES], reference[REFERENCES];
    int32_t reference_count;
    size_t state_size;
    unsigned char *state; // between guards
    stn_forces forces;
    double *tau, *K_storage, *D_storage; // (JOINTS), (JOINTS^2) each by itself, for a guard that looks at its ends
    stn_servo servos[JOINTS];
    stn_matrix K, D;
    stn_error error;
} subject;

static stn_status add_robot(stn_model_builder *builder, const specimen *kind, stn_error *err) {
    static const char *const links[] = {"a", "b", "c", "d"}, *const joints[] = {"one", "two", "three", "four"};
    const stn_geometry_spec pad = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.01, 0.01, 0.01)));
    stn_pose base = stn_pose_identity();
    int32_t robot = 0, joint = 0, geometry = 0, link_of[JOINTS];
    stn_status status = stn_builder_begin_group(builder, kind->name, &robot, err);
    for (int32_t i = 0; i < JOINTS && status == STN_OK; i++) {
        stn_joint_spec spec = stn_joint_spec_default(joints[i], kind->type[i]);
        stn_link_spec link = {.name = links[i], .mass = {1.0, {0.0, 0.0, 0.1}, stn_mat3_diagonal(0.01, 0.01, 0.005)}};
        status = stn_builder_add_link(builder, &link, &link_of[i], err);
        status = status == STN_OK ? stn_builder_add_geometry(builder, link_of[i], &pad, &geometry, err) : status;
        spec.parent = kind->parent[i] >= 0 ? link_of[kind->parent[i]] : STN_WORLD;
        spec.child = link_of[i];
        spec.axis = kind->axis[i];
        spec.origin.position = stn_vec3_make(kind->place[i], 0.0, 0.2);
        spec.effort = kind->effort[i];
        spec.lower = -2.0;
        spec.upper = 2.0;
        status = status == STN_OK ? stn_builder_add_joint(builder, &spec, &joint, err) : status;
    }
    return status == STN_OK ? stn_builder_set_base(builder, robot, &base, true, err) : status;
}

static void end(subject *s) {
    stn_release(s->trial->request->context, s->state != NULL ? s->state - GUARD : NULL);
    stn_release(s->trial->request->context, s->tau);
    stn_release(s->trial->request->context, s->K_storage);
    stn_release(s->trial->request->context, s->D_storage);
    stn_kinematics_destroy(s->kinematics);
    stn_arena_destroy(s->arena);
    stn_instance_destroy(s->instance);
    stn_world_destroy(s->world);
}

static bool begin_with(subject *s, validate_trial *trial, const specimen *kind) {
    stn_context *context = trial->request->context;
    memset(s, 0, sizeof *s);
    s->trial = trial;
    s->kind = kind;
    s->random.state = stn_hash(trial->request->seed, trial->check, strlen(trial->check));
    s->instance = trial_instance(trial, STN_KIND_CONTROLLER);
    if (s->instance == NULL) {
        return false;
    }
    s->ops = s->instance->desc->ops.controller;
    stn_world_options options = stn_world_options_default();
    options.dt = 2e-3;
    stn_status status = stn_world_create(context, &options, &s->world, &s->error);
    status = status == STN_OK ? add_robot(stn_world_builder(s->world), kind, &s->error) : status;
    status = status == STN_OK ? stn_world_compile(s->world, &s->error) : status;
    s->model = status == STN_OK ? stn_world_model(s->world) : NULL;
    status = status == STN_OK ? stn_kinematics_create(s->model, &s->kinematics, &s->error) : status;
    s->arena = stn_arena_create(context);
    s->tau = stn_allocate(context, JOINTS, sizeof(double));
    s->K_storage = stn_allocate(context, (size_t)JOINTS * JOINTS, sizeof(double));
    s->D_storage = stn_allocate(context, (size_t)JOINTS * JOINTS, sizeof(double));
    bool room = s->arena != NULL && s->tau != NULL && s->K_storage != NULL && s->D_storage != NULL;
    if (status != STN_OK || !room) {
        trial_fail(trial, "the battery cannot make %s: %s", kind->name, s->error.text);
        end(s);
        return false;
    }
    s->target = (stn_control_target){s->model,           0,           kind->driven_count, kind->driven,
                                     kind->driven_count, kind->driven}; // each joint is one dof
    return true;
}

static bool accepts_target(subject *s) {
    return s->ops->bind == NULL || s->ops->bind(s->instance->self, &s->target, &s->error) == STN_OK;
}

/// With jaws where these alone are what it is for, else with the arm.
static bool begin(subject *s, validate_trial *trial) {
    const specimen *const kinds[] = {&arm, &jaws};
    const specimen *fits = NULL;
    for (int32_t i = 0; i < STN_COUNT(kinds) && fits == NULL; i++) {
        if (!begin_with(s, trial, kinds[i])) {
            return false;
        }
        fits = accepts_target(s) ? kinds[i] : NULL;
        end(s);
    }
    return begin_with(s, trial, fits != NULL ? fits : &arm);
}

/// A controller that is for other robots says so.
static void skip(subject *s) {
    trial_skip(s->trial, "is neither for an arm of hinges and a rail nor for jaws: %s", s->error.text);
}

/// Binds the controller to the joints that are its own, state zero, references as at the start.
static bool bind(subject *s) {
    if (!accepts_target(s)) {
        skip(s);
        return false;
    }
    for (int32_t c = 0; c < s->ops->channel_count; c++) {
        s->reference_count += stn_channel_count(s->ops, c, s->kind->driven_count);
    }
    if (s->reference_count > STN_COUNT(s->reference) - 1) {
        trial_skip(s->trial, "has %d references, the battery at most %d", s->reference_count,
                   STN_COUNT(s->reference) - 1);
        return false;
    }
    s->start[s->reference_count] = 77.0; // must stay
    if (s->ops->initial_reference != NULL) {
        s->ops->initial_reference(s->instance->self, &s->target, s->q, s->start);
    }
    s->state_size = s->ops->state_size != NULL ? s->ops->state_size(s->instance->self, &s->target) : 0;
    unsigned char *bytes = stn_allocate(s->trial->request->context, s->state_size + 2 * GUARD, 1);
    if (bytes == NULL) {
        trial_fail(s->trial, "out of memory for a state of %zu bytes", s->state_size);
        return false;
    }
    memset(bytes, POISON, s->state_size + 2 * GUARD);
    s->state = bytes + GUARD;
    memset(s->state, 0, s->state_size);
    return true;
}

/// What a controller may demand to be >= 0.
static bool stays_positive(const char *channel) {
    static const char *const names[] = {"stiffness", "damping", "force", "speed"};
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        if (strcmp(channel, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool evaluate(subject *s) {
    memset(s->tau, 0, JOINTS * sizeof *s->tau);
    s->K = (stn_matrix){.n = JOINTS, .values = s->K_storage};
    s->D = (stn_matrix){.n = JOINTS, .values = s->D_storage};
    s->forces = (stn_forces){.model = s->model,
                             .tau = s->tau,
                             .K = &s->K,
                             .D = &s->D,
                             .servos = s->servos,
                             .servo_storage = s->servos,
                             .K_storage = s->K_storage,
                             .D_storage = s->D_storage};
    stn_arena_reset(s->arena);
    stn_control_view view = {.target = &s->target,
                             .time = 0.5,
                             .dt = 2e-3,
                             .gravity = earth,
                             .q = s->q,
                             .v = s->v,
                             .kinematics = s->kinematics,
                             .arena = s->arena};
    s->error = (stn_error){STN_OK, ""};
    if (s->ops->evaluate(s->instance->self, &view, s->reference, s->state, &s->forces, &s->error) != STN_OK) {
        trial_fail(s->trial, "fails in an ordinary state: %s", s->error.text);
    }
    return !s->trial->decided;
}

static const stn_servo *servo_of(const subject *s, int32_t dof) {
    for (int32_t i = 0; i < s->forces.servo_count; i++) {
        if (s->forces.servos[i].dof == dof) {
            return &s->forces.servos[i];
        }
    }
    return NULL;
}

typedef void visit(subject *s, double *worst);

/// Visits the controller's answer in many states.
static void visit_all(validate_trial *trial, visit *look, const char *what) {
    subject s;
    double worst = 0.0;
    if (!begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0, bound = bind(&s); bound && round < ROUNDS && !trial->decided; round++) {
        for (int32_t i = 0; i < JOINTS; i++) {
            s.q[i] = random_uniform(&s.random, -1.5, 1.5);
            s.v[i] = 3.0 * random_normal(&s.random);
        }
        // References near those of the start.
        double *next = s.reference;
        for (int32_t c = 0; c < s.ops->channel_count; c++) {
            const stn_channel *channel = &s.ops->channels[c];
            double reach = stn_channel_rows(s.ops, c) > 1 ? 0.1 : 1.0; // a curve swings wider than its points
            bool positive = stays_positive(channel->name),
                 rises = stn_channel_rows(s.ops, c) > 1 && strcmp(channel->name, "times") == 0;
            for (int32_t i = 0; i < stn_channel_count(s.ops, c, s.kind->driven_count); i++, next++) {
                *next = s.start[next - s.reference] + random_uniform(&s.random, -reach, reach);
                *next = positive ? fabs(*next) : *next;
                *next = rises && i > 0 ? next[-1] + 0.1 + fabs(*next) : *next;
            }
        }
        stn_kinematics_update(s.kinematics, s.q, s.v);
        memset(s.state, 0, s.state_size);
        if (evaluate(&s)) {
            look(&s, &worst);
        }
    }
    trial_ok(trial, "%d states, %s %.3g", ROUNDS, what, worst);
    end(&s);
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_controller_ops *ops = trial->request->plugin->desc->ops.controller;
    if (ops == NULL || ops->evaluate == NULL) {
        trial_fail(trial, "evaluate is missing");
        return;
    }
    for (int32_t c = 0; c < ops->channel_count; c++) {
        const stn_channel *channel = &ops->channels[c];
        if (channel->name == NULL || channel->unit == NULL || channel->summary == NULL || channel->size < 0 ||
            channel->size > STN_CHANNEL_MOST || stn_channel_rows(ops, c) > STN_CHANNEL_MOST) {
            trial_fail(trial, "channel %d has no name, unit or summary, or a size or rows beyond 0 to %d", c,
                       STN_CHANNEL_MOST);
            return;
        }
    }
    subject s;
    if (begin(&s, trial)) {
        if (bind(&s) && s.start[s.reference_count] != 77.0) {
            trial_fail(trial, "initial_reference writes beyond its %d values", s.reference_count);
        }
        for (int32_t i = 0; i < s.reference_count && s.state != NULL; i++) {
            if (!isfinite(s.start[i])) {
                trial_fail(trial, "initial_reference[%d] = %g", i, s.start[i]);
            }
        }
        trial_ok(trial, "%d channels, %d references, %zu bytes of state", ops->channel_count, s.reference_count,
                 s.state_size);
        end(&s);
    }
}

static void look_at_efforts(subject *s, double *worst) {
    for (int32_t d = 0; d < JOINTS; d++) {
        const stn_servo *servo = servo_of(s, d);
        if (!isfinite(s->tau[d]) || (servo != NULL && !isfinite(servo->kp + servo->kd + servo->error + servo->velocity +
                                                                servo->feedforward + servo->effort))) {
            trial_fail(s->trial, "joint %d: tau = %g, or a number of its servo is not finite", d, s->tau[d]);
        }
        *worst = fmax(*worst, fabs(s->tau[d]));
    }
    for (int32_t d = 0; d < JOINTS; d++) {
        bool mine = false;
        for (int32_t i = 0; i < s->kind->driven_count; i++) {
            mine = mine || s->kind->driven[i] == d;
        }
        if (!mine && (s->tau[d] != 0.0 || servo_of(s, d) != NULL)) {
            trial_fail(s->trial, "acts on joint %d, which is not in its target: tau = %g", d, s->tau[d]);
        }
    }
}

static void check_efforts(validate_trial *trial) {
    visit_all(trial, look_at_efforts, "largest effort");
}

/// What a servo may use and what is applied besides, at the step's start.
static void look_at_limits(subject *s, double *worst) {
    for (int32_t d = 0; d < JOINTS; d++) {
        const stn_servo *servo = servo_of(s, d);
        double most = fabs(s->tau[d]) + (servo != NULL ? servo->effort : 0.0);
        *worst = isfinite(s->kind->effort[d]) ? fmax(*worst, most / s->kind->effort[d]) : *worst;
        if (!(most <= (1.0 + 1e-12) * s->kind->effort[d])) {
            trial_fail(s->trial, "joint %d gets up to %.6g, its motor can %g", d, most, s->kind->effort[d]);
        }
    }
}

static void check_limits(validate_trial *trial) {
    visit_all(trial, look_at_limits, "at most this part of a motor's effort:");
}

/// All numbers of a matrix, column after column: the rows of a symmetric one.
static void write_out(const stn_matrix *matrix, double A[JOINTS * JOINTS]) {
    double unit[JOINTS] = {0.0};
    memset(A, 0, JOINTS * JOINTS * sizeof *A);
    for (int32_t c = 0; c < JOINTS; c++) {
        unit[c] = 1.0;
        stn_matrix_mul_add(matrix, 1.0, unit, A + c * JOINTS);
        unit[c] = 0.0;
    }
}

static void look_at_gains(subject *s, double *least) {
    const stn_matrix *both[2] = {&s->K, &s->D};
    for (int32_t k = 0; k < 2; k++) {
        double A[JOINTS * JOINTS], values[JOINTS];
        write_out(both[k], A);
        for (int32_t i = 0; i < JOINTS * JOINTS; i++) {
            if (!(fabs(A[i] - A[i % JOINTS * JOINTS + i / JOINTS]) <= 1e-12 * (fabs(A[i]) + 1.0))) {
                trial_fail(s->trial, "%c is not symmetric: %g and %g", "KD"[k], A[i],
                           A[i % JOINTS * JOINTS + i / JOINTS]);
            }
        }
        stn_status status = symmetric_eigenvalues(JOINTS, A, values, &s->error);
        if (status != STN_OK || !(values[0] >= -1e-9 * fabs(values[JOINTS - 1]))) {
            trial_fail(s->trial, "%c has the eigenvalue %.3g, expected >= 0", "KD"[k],
                       status == STN_OK ? values[0] : (double)NAN);
        }
        *least = fmin(*least, status == STN_OK ? values[0] : 0.0);
    }
    for (int32_t i = 0; i < s->forces.servo_count; i++) {
        const stn_servo *servo = &s->forces.servos[i];
        if (!(servo->kp >= 0.0) || !(servo->kd >= 0.0) || !(servo->effort > 0.0)) {
            trial_fail(s->trial, "the servo of joint %d has kp = %g, kd = %g, effort = %g", servo->dof, servo->kp,
                       servo->kd, servo->effort);
        }
    }
}

static void check_gains(validate_trial *trial) {
    visit_all(trial, look_at_gains, "least eigenvalue of K and D");
}

static bool guards_stand(const subject *s) {
    for (int32_t i = 0; i < GUARD; i++) {
        if (s->state[i - GUARD] != POISON || s->state[s->state_size + (size_t)i] != POISON) {
            return false;
        }
    }
    return true;
}

/// Numbers for numbers: the padding of a servo says nothing.
static bool same_servos(const stn_servo *x, const stn_servo *y, int32_t count) {
    bool same = true;
    for (int32_t i = 0; i < count; i++) {
        same = same && x[i].dof == y[i].dof && x[i].kp == y[i].kp && x[i].kd == y[i].kd && x[i].error == y[i].error &&
               x[i].velocity == y[i].velocity && x[i].feedforward == y[i].feedforward && x[i].effort == y[i].effort;
    }
    return same;
}

/// Again from the same state: the same bytes, without an allocation, inputs as they were.
static void look_again(subject *s, double *most) {
    double tau[JOINTS], q[JOINTS], v[JOINTS], reference[REFERENCES], gains[4][JOINTS * JOINTS];
    stn_servo servos[JOINTS];
    int32_t count = s->forces.servo_count;
    memcpy(tau, s->tau, sizeof tau);
    memcpy(servos, s->servos, sizeof servos);
    memcpy(q, s->q, sizeof q);
    memcpy(v, s->v, sizeof v);
    memcpy(reference, s->reference, sizeof reference);
    write_out(&s->K, gains[0]);
    write_out(&s->D, gains[1]);
    memset(s->state, 0, s->state_size);
    int64_t before = stn_context_allocations(s->trial->request->context);
    if (!evaluate(s)) {
        return;
    }
    int64_t more = stn_context_allocations(s->trial->request->context) - before;
    write_out(&s->K, gains[2]);
    write_out(&s->D, gains[3]);
    if (memcmp(tau, s->tau, sizeof tau) != 0 || count != s->forces.servo_count ||
        !same_servos(servos, s->servos, count)) {
        trial_fail(s->trial, "in the same state once more: other efforts, tau[0] = %.17g, first %.17g", s->tau[0],
                   tau[0]);
    } else if (memcmp(gains[0], gains[2], 2 * sizeof gains[0]) != 0) {
        trial_fail(s->trial, "in the same state once more: other gains, K[0][0] = %.17g, first %.17g", gains[2][0],
                   gains[0][0]);
    } else if (memcmp(q, s->q, sizeof q) != 0 || memcmp(v, s->v, sizeof v) != 0 ||
               memcmp(reference, s->reference, sizeof reference) != 0) {
        trial_fail(s->trial, "changed q, v or its references");
    } else if (!guards_stand(s)) {
        trial_fail(s->trial, "writes outside of its %zu bytes of state", s->state_size);
    } else if (more > 0) {
        trial_fail(s->trial, "made %lld allocations in a step, expected none", (long long)more);
    }
    *most = fmax(*most, (double)more);
}

static void check_again(validate_trial *trial) {
    visit_all(trial, look_again, "allocations:");
}

/// A world with it: after a reset and from a snapshot the same steps.
static void check_world(validate_trial *trial) {
    enum { STEPS = 100, HALF = 50 };
    uint64_t hash[STEPS];
    stn_snapshot *snapshot = NULL;
    int32_t index = 0;
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    stn_instance *instance = s.instance;
    s.instance = NULL; // the world takes it over
    if (stn_world_add_controller(s.world, instance, 0, s.kind->driven, s.kind->driven_count, &index, &s.error) !=
        STN_OK) {
        skip(&s);
    }
    for (int32_t round = 0; round < 3 && !trial->decided; round++) { // then after a reset, then from the snapshot
        for (int32_t i = round < 2 ? 0 : HALF; i < STEPS && !trial->decided; i++) {
            if (stn_world_step(s.world, &s.error) < 0) {
                trial_fail(trial, "step %d: %s", i + 1, s.error.text);
            } else if (round > 0 && stn_world_hash(s.world) != hash[i]) {
                trial_fail(trial, "step %d %s has another state than the first time", i + 1,
                           round == 1 ? "after a reset" : "from a snapshot");
            }
            hash[i] = stn_world_hash(s.world);
            if (round == 0 && i == HALF - 1 && stn_world_snapshot(s.world, &snapshot, &s.error) != STN_OK) {
                trial_fail(trial, "snapshot: %s", s.error.text);
            }
        }
        if (round == 0) {
            stn_world_reset(s.world);
        } else if (round == 1 && !trial->decided && stn_world_restore(s.world, snapshot, &s.error) != STN_OK) {
            trial_fail(trial, "restore: %s", s.error.text);
        }
    }
    stn_snapshot_destroy(snapshot);
    trial_ok(trial, "%d steps of group %s, again after a reset and from a snapshot: the same states", STEPS,
             s.kind->name);
    end(&s);
}

static const validate_check checks[] = {
    {"declares what it is", "evaluate, and name, unit, summary of every channel; controller.h", check_declares},
    {"finite, on its own joints", "act on the dofs of the target alone", check_efforts},
    {"effort limits", "joints with a finite effort get a servo, stn_forces_add_servo, or a clamped effort",
     check_limits},
    {"gains >= 0", "leave a negative tangent out: A must stay positive definite", check_gains},
    {"same again", "all that lasts belongs into state, scratch memory into the view's arena", check_again},
    {"steps of a world", "all that lasts from step to step belongs into state_size", check_world},
};

const validate_battery validate_controllers = {STN_KIND_CONTROLLER, STN_COUNT(checks), checks};
