// SPDX-License-Identifier: Apache-2.0
// What every element must do: forces that are the gradient of its energy, stiffness and damping that a step may put
// into A, no force or moment on the whole, the same in a batch as alone.
#include <math.h>
#include <string.h>

#include <stiction/matrix.h>

#include "common/eigenvalues.h"
#include "random_stream.h"
#include "validate.h"

enum {
    MOST_NODES = STN_ELEMENT_NODES,
    MOST_DOFS = 6 * MOST_NODES,
    MOST_COORDINATES = 7 * MOST_NODES,
    BATCH = 5,
    ROUNDS = 50
};

/// Elements of a plugin in random deformation, and what evaluate says of them.
typedef struct subject {
    validate_trial *trial;
    stn_instance *instance;
    const stn_element_ops *ops;
    random_stream random;
    int32_t nodes, nq, nv;   // of an element; coordinates and velocities of a node
    int32_t m, n, constants; // velocities and coordinates of an element; constants
    double *constant;        // (BATCH x constants)
    double rest[BATCH * MOST_COORDINATES], x[BATCH * MOST_COORDINATES], v[BATCH * MOST_DOFS];
    double force[BATCH * MOST_DOFS], K[BATCH * MOST_DOFS * MOST_DOFS], D[BATCH * MOST_DOFS * MOST_DOFS];
    double energy;
    double *parameters, *channels, *state, *next_state; // NaN, zeros, (BATCH x state_count) each
} subject;

static bool begin(subject *s, validate_trial *trial) {
    memset(s, 0, sizeof *s);
    s->trial = trial;
    s->random.state = stn_hash(trial->request->seed, trial->check, strlen(trial->check));
    s->instance = trial_instance(trial, STN_KIND_ELEMENT);
    if (s->instance == NULL) {
        return false;
    }
    s->ops = s->instance->desc->ops.element;
    s->nodes = s->ops->nodes_per_element;
    s->nq = stn_node_type_nq(s->ops->node_type);
    s->nv = stn_node_type_nv(s->ops->node_type);
    s->m = s->nodes * s->nv;
    s->n = s->nodes * s->nq;
    s->constants = s->ops->constant_count;
    int32_t channels = 0;
    for (int32_t i = 0; i < s->ops->channel_count; i++) {
        channels += s->ops->channels[i].size;
    }
    stn_context *context = trial->request->context;
    s->constant = stn_allocate(context, (size_t)(BATCH * s->constants) + 1, sizeof(double));
    s->parameters = stn_allocate(context, (size_t)s->ops->parameter_count + 1, sizeof(double));
    s->channels = stn_allocate(context, (size_t)channels + 1, sizeof(double));
    s->state = stn_allocate(context, (size_t)(BATCH * s->ops->state_count) + 1, sizeof(double));
    s->next_state = stn_allocate(context, (size_t)(BATCH * s->ops->state_count) + 1, sizeof(double));
    if (s->constant == NULL || s->parameters == NULL || s->channels == NULL || s->state == NULL ||
        s->next_state == NULL) {
        trial_fail(trial, "out of memory");
        return false;
    }
    for (int32_t i = 0; i < s->ops->parameter_count; i++) {
        s->parameters[i] = (double)NAN;
    }
    for (int32_t i = 0; trial_says(trial, "load") && i < channels; i++) {
        s->channels[i] = 1.0; // a load of 0 would be judged by nothing
    }
    return true;
}

static void end(subject *s) {
    double *owned[] = {s->constant, s->parameters, s->channels, s->state, s->next_state};
    for (int32_t i = 0; i < STN_COUNT(owned); i++) {
        stn_release(s->trial->request->context, owned[i]);
    }
    stn_instance_destroy(s->instance);
}

/// Corners of a decimetre cube, in the order in which hexahedra have them; the first four of a tetrahedron are
/// right-handed.
static void rest_corner(int32_t nodes, int32_t node, double x[3]) {
    static const double cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    static const int32_t simplex[4] = {0, 1, 3, 4};
    memcpy(x, cube[nodes <= 4 ? simplex[node] : node], 3 * sizeof *x);
}

static bool prepare(subject *s, const double *x, double *constants) {
    stn_error err = {STN_OK, ""};
    if (s->ops->prepare != NULL && s->ops->prepare(s->instance->self, x, s->parameters, constants, &err) != STN_OK) {
        trial_fail(s->trial, "prepare refuses an ordinary element, a corner of a cube of 0.1 m: %s", err.text);
    }
    return !s->trial->decided;
}

static stn_vec3 random_vector(subject *s, double size) {
    const double x = random_uniform(&s->random, -size, size), y = random_uniform(&s->random, -size, size);
    return stn_vec3_make(x, y, random_uniform(&s->random, -size, size));
}

/// The orientation of a node's coordinates.
static void put_turn(stn_quat turn, double *x) {
    x[3] = turn.w;
    x[4] = turn.x;
    x[5] = turn.y;
    x[6] = turn.z;
}

/// Coordinates of element 0 moved by h along velocity `dof`: turned about an axis of the world where that is angular.
static void move(subject *s, int32_t dof, double h) {
    double *x = &s->x[dof / s->nv * s->nq];
    const int32_t k = dof % s->nv;
    if (k < 3) {
        x[k] += h;
        return;
    }
    const stn_quat now = {x[3], x[4], x[5], x[6]};
    const stn_vec3 turn = {k == 3 ? h : 0.0, k == 4 ? h : 0.0, k == 5 ? h : 0.0};
    put_turn(stn_quat_mul(stn_quat_exp(turn), now), x);
}

/// New elements, deformed by `strain`, at velocities of `speed`. False: the trial is decided.
static bool draw(subject *s, double strain, double speed) {
    for (int32_t e = 0; e < BATCH; e++) {
        for (int32_t i = 0; i < s->nodes; i++) {
            double corner[3], *rest = &s->rest[e * s->n + i * s->nq], *x = &s->x[e * s->n + i * s->nq];
            rest_corner(s->nodes, i, corner);
            for (int32_t k = 0; k < 3; k++) {
                rest[k] = 0.1 * (corner[k] + random_uniform(&s->random, -0.1, 0.1));
                x[k] = rest[k] + 0.1 * strain * random_uniform(&s->random, -1.0, 1.0);
            }
            if (s->nq == 7) {
                const stn_quat turn = stn_quat_exp(random_vector(s, 0.2));
                put_turn(turn, rest);
                put_turn(stn_quat_mul(stn_quat_exp(random_vector(s, strain)), turn), x);
            }
            for (int32_t k = 0; k < s->nv; k++) {
                s->v[e * s->m + i * s->nv + k] = speed * random_normal(&s->random);
            }
        }
        if (!prepare(s, s->rest + e * s->n, s->constant + e * s->constants)) {
            return false;
        }
        if (s->ops->initial_state != NULL) {
            s->ops->initial_state(s->instance->self, s->constant + e * s->constants,
                                  s->state + e * s->ops->state_count);
        }
    }
    return true;
}

/// `count` elements from `first` on at velocities `v`, with results at the subject's arrays.
static stn_element_batch batch_of(subject *s, int32_t first, int32_t count, const double *v) {
    return (stn_element_batch){
        .count = count,
        .first = first,
        .dt = 1e-3,
        .x = s->x + first * s->n,
        .v = v,
        .constants = s->constant + first * s->constants,
        .channels = s->channels,
        .state = s->state + first * s->ops->state_count,
        .force = s->force,
        .K = s->K,
        .D = s->D,
        .energy = &s->energy,
        .next_state = s->next_state,
        .wrong = -1,
    };
}

static void run(subject *s, stn_element_batch *batch) {
    stn_error err = {STN_OK, ""};
    stn_status status = s->ops->evaluate(s->instance->self, batch, &err);
    if (status != STN_OK) {
        trial_fail(s->trial, "evaluate refuses element %d of a batch of %d, deformed a little: %s", batch->wrong,
                   batch->count, err.text);
    } else if (batch->inverted < 0 || batch->inverted > batch->count ||
               (batch->inverted > 0 && (batch->wrong < 0 || batch->wrong >= batch->count))) {
        trial_fail(s->trial, "%d of %d elements inverted, the first of them %d", batch->inverted, batch->count,
                   batch->wrong);
    }
}

/// Element e alone.
static void evaluate(subject *s, int32_t e) {
    stn_element_batch batch = batch_of(s, e, 1, s->v + e * s->m);
    run(s, &batch);
}

static double norm(const double *x, int32_t n) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_element_ops *ops = trial->request->plugin->desc->ops.element;
    if (ops == NULL || ops->evaluate == NULL || (ops->constant_count > 0 && ops->prepare == NULL)) {
        trial_fail(trial, "evaluate, or the prepare of its %d constants, is missing",
                   ops != NULL ? ops->constant_count : 0);
    } else if (ops->nodes_per_element < 2 || ops->nodes_per_element > MOST_NODES || ops->constant_count < 0) {
        trial_fail(trial, "%d nodes, %d constants an element; expected 2 to 8 nodes", ops->nodes_per_element,
                   ops->constant_count);
    } else {
        stn_instance *instance = trial_instance(trial, STN_KIND_ELEMENT);
        stn_instance_destroy(instance);
        trial_ok(trial, "%d nodes and %d constants an element", ops->nodes_per_element, ops->constant_count);
    }
}

/// The energy of element 0 with coordinate i moved by h.
static double energy_at(subject *s, int32_t i, double h) {
    double before[MOST_COORDINATES];
    memcpy(before, s->x, sizeof before);
    move(s, i, h);
    evaluate(s, 0);
    memcpy(s->x, before, sizeof before);
    return s->energy;
}

/// Central differences of the energy, nodes at rest, against the force.
static double gradient_error(subject *s) {
    double force[MOST_DOFS], h = 1e-6, worst = 0.0;
    evaluate(s, 0);
    memcpy(force, s->force, sizeof force);
    double size = norm(force, s->m);
    for (int32_t i = 0; i < s->m && !s->trial->decided; i++) {
        double high = energy_at(s, i, h), low = energy_at(s, i, -h), falls = (low - high) / (2.0 * h);
        double off = fabs(force[i] - falls), rounding = 1e-9 * (fabs(high) + fabs(low)) / h;
        worst = fmax(worst, size > 0.0 ? off / size : off);
        if (!(off <= 1e-6 * size + rounding)) {
            trial_fail(s->trial, "force[%d] = %.9g N, but the energy falls by %.9g N along it", i, force[i], falls);
        }
    }
    memcpy(s->force, force, sizeof force);
    return worst;
}

/// What says load stores nothing, whatever it does.
static void check_load(subject *s) {
    double largest = 0.0;
    for (int32_t round = 0; round < ROUNDS && draw(s, 0.3, 1.0) && !s->trial->decided; round++) {
        evaluate(s, 0);
        largest = fmax(largest, norm(s->force, s->m));
        if (s->energy != 0.0) {
            trial_fail(s->trial, "says load and stores %g J", s->energy);
        } else if (norm(s->K, s->m * s->m) > 0.0) {
            trial_fail(s->trial, "says load and has a K: leave it out, its force is taken in the middle of steps");
        }
    }
    if (!(largest > 0.0)) {
        trial_fail(s->trial, "no force with all channels at 1");
    }
    trial_ok(s->trial, "%d elements push and store nothing, as a load", ROUNDS);
}

static void check_gradient(validate_trial *trial) {
    subject s;
    double worst = 0.0, largest = 0.0;
    if (!begin(&s, trial)) {
        return;
    }
    if (trial_says(trial, "load")) {
        check_load(&s);
    }
    for (int32_t round = 0; round < ROUNDS && draw(&s, 0.3, 0.0) && !trial->decided; round++) {
        worst = fmax(worst, gradient_error(&s));
        largest = fmax(largest, norm(s.force, s.m));
    }
    if (!(largest > 0.0)) {
        trial_fail(trial, "no force on any of %d deformed elements", ROUNDS);
    }
    trial_ok(trial, "%d deformed elements, largest error %.1e of the force", ROUNDS, worst);
    end(&s);
}

/// Least eigenvalue over the largest; NaN when a number is not finite.
static double least_eigenvalue(const double *A, int32_t n) {
    double copy[MOST_DOFS * MOST_DOFS], values[MOST_DOFS];
    memcpy(copy, A, (size_t)(n * n) * sizeof *copy);
    if (symmetric_eigenvalues(n, copy, values, NULL) != STN_OK) {
        return (double)NAN;
    }
    return values[n - 1] > 0.0 ? values[0] / values[n - 1] : values[0];
}

static double asymmetry(const double *A, int32_t n) {
    double worst = 0.0, size = norm(A, n * n);
    for (int32_t i = 0; i < n * n; i++) {
        worst = fmax(worst, fabs(A[i] - A[i % n * n + i / n]));
    }
    return size > 0.0 ? worst / size : worst;
}

static void check_matrices(validate_trial *trial) {
    subject s;
    double least = 0.0;
    if (!begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < ROUNDS && draw(&s, 0.3, 1.0) && !trial->decided; round++) {
        evaluate(&s, 0);
        for (int32_t k = 0; k < 2 && !trial->decided; k++) {
            const double *A = k == 0 ? s.K : s.D;
            double low = least_eigenvalue(A, s.m), off = asymmetry(A, s.m);
            least = fmin(least, low);
            if (!(off <= 1e-12) || !(low >= -1e-9)) {
                trial_fail(trial,
                           "%c: asymmetry %.2g, least eigenvalue %.3g, of its largest; expected symmetric and >= 0",
                           k == 0 ? 'K' : 'D', off, low);
            }
        }
    }
    trial_ok(trial, "%d deformed elements, least eigenvalue %.1e of the largest", ROUNDS, least);
    end(&s);
}

/// -df/dx (`at` < m) or -df/dv by differences to one side (h > 0, h < 0) of a coordinate or velocity.
static void one_sided(subject *s, int32_t at, double h, const double *here, double *column) {
    double before[MOST_COORDINATES], speed = s->v[at % s->m];
    memcpy(before, s->x, sizeof before);
    if (at < s->m) {
        move(s, at, h);
    } else {
        s->v[at - s->m] = speed + h;
    }
    evaluate(s, 0);
    memcpy(s->x, before, sizeof before);
    s->v[at % s->m] = speed;
    for (int32_t r = 0; r < s->m; r++) {
        column[r] = -(s->force[r] - here[r]) / h;
    }
}

/// Where nothing pushes, no stiffness is left out for being negative: K = -df/dx. Everywhere D = -df/dv. At a kink of
/// what says `slack` the derivative of either side will do; `kinks` counts the columns whose sides differ, or that are
/// zero.
static double derivative_error(subject *s, bool says_slack, int32_t *kinks) {
    double A[2][MOST_DOFS * MOST_DOFS], here[MOST_DOFS], side[2][MOST_DOFS], worst = 0.0;
    evaluate(s, 0);
    bool at_rest = norm(s->force, s->m) <= 1e-9 * norm(s->K, s->m * s->m);
    memcpy(A[0], s->K, sizeof A[0]);
    memcpy(A[1], s->D, sizeof A[1]);
    memcpy(here, s->force, sizeof here);
    for (int32_t c = at_rest ? 0 : s->m; c < 2 * s->m && !s->trial->decided; c++) {
        int32_t k = c / s->m;
        double size = norm(A[k], s->m * s->m), off[2] = {0.0}, apart = 0.0, largest = 0.0;
        int32_t row[2] = {0};
        // Column c of the force's derivative, by positions (c < m) or by velocities, times -1.
        double h = c < s->m ? 1e-7 : 1e-4;
        one_sided(s, c, h, here, side[0]);
        one_sided(s, c, -h, here, side[1]);
        for (int32_t r = 0; r < s->m; r++) {
            double value = A[k][r * s->m + c % s->m], middle = 0.5 * (side[0][r] + side[1][r]);
            apart = fmax(apart, fabs(side[0][r] - side[1][r]));
            largest = fmax(largest, fabs(middle));
            for (int32_t i = 0; i < 2; i++) {
                side[i][r] = says_slack ? side[i][r] : middle;
                double wrong = fabs(value - side[i][r]);
                row[i] = wrong > off[i] || isnan(wrong) ? r : row[i];
                off[i] = wrong > off[i] || isnan(wrong) ? wrong : off[i];
            }
        }
        const int32_t better = off[1] < off[0] ? 1 : 0;
        double least = off[better];
        // one side alone is of first order in h, and the rounding of the force is divided by h
        double allowed = 1e-5 * size + (says_slack ? 1e-4 * size + 1e-6 : 1e-9);
        *kinks += k == 0 && (apart > 1e-3 * size || largest == 0.0);
        worst = fmax(worst, size > 0.0 ? least / size : least);
        if (!(least <= allowed)) {
            const char *more = says_slack            ? ", and neither side is right"
                               : apart > 1e-3 * size ? ", whose sides differ: one-sided elements say slack"
                                                     : "";
            trial_fail(s->trial, "%c[%d][%d] = %.9g, but the force says %.9g%s", "KD"[k], row[better], c % s->m,
                       A[k][row[better] * s->m + c % s->m], side[better][row[better]], more);
        }
    }
    return worst;
}

static void check_derivatives(validate_trial *trial) {
    subject s;
    double worst = 0.0;
    int32_t kinks = 0;
    const bool says_slack = trial_says(trial, "slack");
    if (!begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < 10 && draw(&s, 0.0, 0.0) && !trial->decided; round++) {
        worst = fmax(worst, derivative_error(&s, says_slack, &kinks));
    }
    if (says_slack && kinks == 0) {
        trial_fail(trial, "says slack, and its force is smooth in all directions at rest: leave the word out");
    }
    trial_ok(trial, "K and D of 10 elements at rest are those of the force to %.1e", worst);
    end(&s);
}

/// Forces between the nodes add up to no force and no moment, at whatever velocities; those of what is meant for small
/// strains to no moment of the nodes at rest.
static void check_balance(validate_trial *trial) {
    subject s;
    double worst = 0.0;
    const bool small = trial_says(trial, "small_strain"), load = trial_says(trial, "load");
    if (!begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < ROUNDS && draw(&s, 0.3, 1.0) && !trial->decided; round++) {
        evaluate(&s, 0);
        stn_vec3 force = {0.0, 0.0, 0.0}, moment = {0.0, 0.0, 0.0}, deformed = {0.0, 0.0, 0.0};
        for (int32_t n = 0; n < s.nodes; n++) {
            const double *pull = s.force + s.nv * n, *place = (small ? s.rest : s.x) + s.nq * n, *at = s.x + s.nq * n;
            const stn_vec3 f = stn_vec3_at(pull, 0), torque = s.nv == 6 ? stn_vec3_at(pull + 3, 0) : stn_vec3_zero();
            force = stn_vec3_add(force, f);
            moment = stn_vec3_add(moment, stn_vec3_add(stn_vec3_cross(stn_vec3_at(place, 0), f), torque));
            deformed = stn_vec3_add(deformed, stn_vec3_add(stn_vec3_cross(stn_vec3_at(at, 0), f), torque));
        }
        if (small && stn_vec3_norm(deformed) <= 1e-9 * norm(s.force, s.m)) {
            trial_fail(trial, "says small_strain, and is invariant to rotation all the same: leave the word out");
        }
        double size = norm(s.force, s.m), off = stn_vec3_norm(force) + stn_vec3_norm(moment) / 0.1;
        worst = fmax(worst, size > 0.0 ? off / size : off);
        if (!load && !(off <= 1e-9 * size + 1e-12)) {
            trial_fail(trial, "the forces of an element add up to (%.3g, %.3g, %.3g) N and (%.3g, %.3g, %.3g) N m%s",
                       force.x, force.y, force.z, moment.x, moment.y, moment.z,
                       small ? " about the nodes at rest" : "");
        }
    }
    if (load && worst <= 1e-9) {
        trial_fail(trial, "says load, and its forces balance each other: leave the word out");
    } else if (load) {
        trial_ok(trial, "%d elements: a load, whose forces need not balance", ROUNDS);
    }
    trial_ok(trial, "%d elements: force and moment on the whole%s vanish to %.1e", ROUNDS, small ? ", at rest," : "",
             worst);
    end(&s);
}

static void check_damping(validate_trial *trial) {
    static const double still[MOST_DOFS] = {0.0};
    subject s;
    double most = -INFINITY;
    if (!begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < ROUNDS && draw(&s, 0.3, 1.0) && !trial->decided; round++) {
        double force[MOST_DOFS], power = 0.0;
        stn_element_batch at_rest = batch_of(&s, 0, 1, still);
        at_rest.force = force;
        run(&s, &at_rest);
        evaluate(&s, 0);
        for (int32_t i = 0; i < s.m; i++) {
            power += (s.force[i] - force[i]) * s.v[i];
        }
        most = fmax(most, power);
        if (!(power <= 1e-12 * norm(s.force, s.m) * norm(s.v, s.m))) {
            trial_fail(trial, "what velocities add to the force does work: %.3g W > 0", power);
        }
    }
    trial_ok(trial, "%d elements: at most %.1e W", ROUNDS, most);
    end(&s);
}

/// In a batch, with numbers behind the arrays that must stay, and once more.
static void check_batch(validate_trial *trial) {
    enum { GUARD = 4 };
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    double *next = stn_allocate(trial->request->context, (size_t)(BATCH * s.ops->state_count) + 1, sizeof(double));
    if (next == NULL) {
        trial_fail(trial, "out of memory");
    }
    for (int32_t round = 0; round < 10 && draw(&s, 0.3, 1.0) && !trial->decided; round++) {
        double force[BATCH * MOST_DOFS + GUARD], K[BATCH * MOST_DOFS * MOST_DOFS + GUARD],
            D[BATCH * MOST_DOFS * MOST_DOFS + GUARD];
        double x[BATCH * MOST_COORDINATES], energy[BATCH + GUARD];
        size_t m = (size_t)s.m, bytes = m * sizeof(double);
        memset(force, 0xff, sizeof force); // NaN: what is only added to shows
        memset(K, 0xff, sizeof K);
        memset(D, 0xff, sizeof D);
        memset(energy, 0xff, sizeof energy);
        memcpy(x, s.x, sizeof x);
        int64_t requests = stn_context_allocations(trial->request->context);
        stn_element_batch batch = batch_of(&s, 0, BATCH, s.v);
        batch.force = force;
        batch.K = K;
        batch.D = D;
        batch.energy = energy;
        batch.next_state = next;
        run(&s, &batch);
        requests = stn_context_allocations(trial->request->context) - requests;
        if (requests > 0) {
            trial_fail(trial, "evaluate made %lld allocations in a step, expected none", (long long)requests);
        }
        if (memcmp(x, s.x, sizeof x) != 0) {
            trial_fail(trial, "evaluate changed the positions");
        }
        if (!isnan(force[BATCH * m]) || !isnan(K[BATCH * m * m]) || !isnan(D[BATCH * m * m]) || !isnan(energy[BATCH])) {
            trial_fail(trial, "evaluate writes beyond its %d elements", BATCH);
        }
        for (int32_t e = 0; e < BATCH; e++) {
            evaluate(&s, e);
            size_t at = (size_t)e * m;
            if (memcmp(force + at, s.force, bytes) != 0 || memcmp(K + at * m, s.K, m * bytes) != 0 ||
                memcmp(D + at * m, s.D, m * bytes) != 0 || memcmp(energy + e, &s.energy, sizeof s.energy) != 0) {
                trial_fail(trial, "element %d of a batch of %d has other forces, K, D or energy than alone", e, BATCH);
            }
            if (memcmp(next + e * s.ops->state_count, s.next_state, (size_t)s.ops->state_count * sizeof(double)) != 0) {
                trial_fail(trial, "element %d of a batch of %d has another next state than alone", e, BATCH);
            }
            // where nothing but forces and energy is asked, as between steps
            double alone[MOST_DOFS], stored = 0.0;
            stn_element_batch question = batch_of(&s, e, 1, s.v + (size_t)e * m);
            question.force = alone;
            question.energy = &stored;
            question.K = question.D = question.next_state = NULL;
            run(&s, &question);
            if (memcmp(alone, s.force, bytes) != 0 || stored != s.energy) {
                trial_fail(trial, "without K and D element %d has other forces or energy", e);
            }
        }
    }
    trial_ok(trial, "10 batches of %d elements", BATCH);
    stn_release(trial->request->context, next);
    end(&s);
}

static void check_degenerate(validate_trial *trial) {
    subject s;
    stn_error err = {STN_OK, ""};
    if (!begin(&s, trial)) {
        return;
    }
    double points[2][MOST_COORDINATES] = {{0.0}};
    for (int32_t i = 0; i < 2 * s.nodes && s.nq == 7; i++) {
        put_turn(stn_quat_identity(), points[i / s.nodes] + s.nq * (i % s.nodes));
    }
    points[1][0] = (double)NAN;
    for (int32_t k = 0; k < 2 && s.ops->prepare != NULL; k++) {
        err = (stn_error){STN_OK, ""};
        stn_status status = s.ops->prepare(s.instance->self, points[k], s.parameters, s.constant, &err);
        if (status >= 0 || err.text[0] == '\0') {
            trial_fail(trial, "rest positions %s: status '%s' \"%s\", expected STN_ERR_ARGUMENT and a line",
                       k == 0 ? "that are all one point" : "of which one is NaN", stn_status_text(status), err.text);
        }
    }
    if (s.ops->prepare == NULL) {
        trial_skip(trial, "has no prepare");
    }
    trial_ok(trial, "refused: %s", err.text);
    end(&s);
}

static void check_mass(validate_trial *trial) {
    subject s;
    double M[MOST_NODES * MOST_NODES], least = 0.0;
    if (!begin(&s, trial)) {
        return;
    }
    if (s.ops->mass == NULL) {
        trial_skip(trial, "its nodes have their mass from elsewhere");
    }
    for (int32_t round = 0; round < ROUNDS && draw(&s, 0.3, 1.0) && !trial->decided; round++) {
        s.ops->mass(s.instance->self, s.constant, M);
        const int32_t n = s.ops->nodes_per_element;
        double low = least_eigenvalue(M, n), off = asymmetry(M, n);
        least = round == 0 ? low : fmin(least, low);
        double total = 0.0;
        for (int32_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (int32_t k = 0; k < n; k++) {
                sum += M[i * n + k];
            }
            total += sum;
            if (!(sum >= 0.0)) {
                trial_fail(trial, "row %d of the mass matrix adds up to %g kg, expected >= 0", i, sum);
            }
        }
        if (!(off == 0.0) || !(low >= -1e-12) || !(total > 0.0)) {
            trial_fail(trial,
                       "mass matrix of %.3g kg: asymmetry %.2g, least eigenvalue %.3g of its largest; expected a mass, "
                       "symmetric and >= 0",
                       total, off, low);
        }
    }
    trial_ok(trial, "%d elements, least eigenvalue %.1e of the largest", ROUNDS, least);
    end(&s);
}

static void check_outputs(validate_trial *trial) {
    enum { GUARD = 4 };
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    size_t width = 0;
    for (int32_t i = 0; i < s.ops->output_count; i++) {
        width += (size_t)s.ops->outputs[i].size;
    }
    if (width == 0) {
        trial_skip(trial, "has no outputs");
    }
    double *values = stn_allocate(trial->request->context, (BATCH + 1) * width + GUARD, sizeof(double));
    if (values == NULL) {
        trial_fail(trial, "out of memory");
    }
    for (int32_t round = 0; round < 10 && width > 0 && draw(&s, 0.3, 1.0) && !trial->decided; round++) {
        memset(values, 0xff, ((BATCH + 1) * width + GUARD) * sizeof *values);
        stn_element_batch batch = batch_of(&s, 0, BATCH, s.v);
        batch.K = batch.D = batch.next_state = NULL;
        s.ops->measure(s.instance->self, &batch, values);
        if (!isnan(values[BATCH * width])) {
            trial_fail(trial, "measure writes beyond its %d elements", BATCH);
        }
        for (int32_t e = 0; e < BATCH && !trial->decided; e++) {
            stn_element_batch one = batch_of(&s, e, 1, s.v + (size_t)e * (size_t)s.m);
            double *alone = values + BATCH * width;
            one.K = one.D = one.next_state = NULL;
            s.ops->measure(s.instance->self, &one, alone);
            for (size_t i = 0; i < width; i++) {
                if (!isfinite(alone[i]) || alone[i] != values[(size_t)e * width + i]) {
                    trial_fail(trial, "output %zu of element %d is %g alone and %g in a batch", i, e, alone[i],
                               values[(size_t)e * width + i]);
                }
            }
        }
    }
    trial_ok(trial, "%zu numbers an element", width);
    stn_release(trial->request->context, values);
    end(&s);
}

static const validate_check checks[] = {
    {"declares what it is", "evaluate is required, prepare with constants; element.h", check_declares},
    {"forces from the energy", "the force on a node is minus the derivative of the energy by its position",
     check_gradient},
    {"K and D symmetric, >= 0", "leave out what makes K negative: A must stay positive definite", check_matrices},
    {"K and D of the force", "K = -df/dx where nothing pushes, D = -df/dv; say slack of what is one-sided",
     check_derivatives},
    {"no force on the whole",
     "energy may depend only on how the nodes lie to each other; say small_strain of what is linear", check_balance},
    {"damping takes energy", "damping opposes the velocities between the nodes", check_damping},
    {"alone and in a batch", "every output is written, not added to; element e at e m, e m m", check_batch},
    {"mass of the nodes", "M is symmetric and >= 0; nodes that only show an element its neighbours may get none",
     check_mass},
    {"outputs", "measure writes the numbers of every element, finite, the same alone and in a batch", check_outputs},
    {"degenerate elements", "prepare refuses them with STN_ERR_ARGUMENT", check_degenerate},
};

const validate_battery validate_elements = {STN_KIND_ELEMENT, STN_COUNT(checks), checks};
