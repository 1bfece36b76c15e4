// SPDX-License-Identifier: Apache-2.0
// What every constraint must do between free bodies, along a path of three or over the joints of an arm, whichever ends
// it takes: rows whose Jacobian is the derivative of their error, that keep momentum, and all that lasts in its state.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/record.h>

#include "random_stream.h"
#include "validate.h"

enum {
    BODIES = 3,
    JOINTS = 3,
    ROUNDS = 50,
    MOST_ROWS = 64,
    MOST_Q = 7 * BODIES + JOINTS,
    MOST_V = 6 * BODIES + JOINTS,
    MOST_CHANNELS = 64,
    MOST_BLOCKS = 16
};

/// Which ends a constraint is given.
typedef enum ends_kind { ENDS_PAIR, ENDS_PATH, ENDS_JOINTS, ENDS_TWO_JOINTS, ENDS_COUNT } ends_kind;
static const char *const ends_names[ENDS_COUNT] = {"two free bodies", "three free bodies", "three joints of an arm",
                                                   "two joints of an arm"};

/// A world with the constraint in it.
typedef struct subject {
    validate_trial *trial;
    ends_kind ends;
    random_stream random;
    stn_world *world;
    const stn_model *model;
    stn_error error;
    bool tells; // it does nothing until its channels are told these numbers
    double channels[MOST_CHANNELS];
} subject;

/// `touching`: soft balls that overlap, for what emits rows beside contacts.
static stn_status add_bodies(stn_model_builder *builder, bool touching, int32_t links[BODIES], stn_error *err) {
    stn_geometry_spec ball = stn_geometry_spec_default((stn_shape){.type = STN_SHAPE_SPHERE, .radius = 0.7});
    ball.material.stiffness = 500.0;
    ball.material.relaxation_time = 0.01;
    static const char *const names[BODIES] = {"a", "b", "c"};
    for (int32_t i = 0; i < BODIES; i++) {
        const stn_link_spec link = {.name = names[i],
                                    .mass = {1.0 + i, {0.0, 0.0, 0.0}, stn_mat3_diagonal(0.02, 0.03, 0.04)}};
        stn_pose base = stn_pose_identity();
        base.position = stn_vec3_make(i, 0.3 * i * i, 0.1 * i);
        int32_t group = 0, geometry = 0;
        stn_status status = stn_builder_begin_group(builder, names[i], &group, err);
        status = status == STN_OK ? stn_builder_add_link(builder, &link, &links[i], err) : status;
        status = status == STN_OK ? stn_builder_set_base(builder, group, &base, false, err) : status;
        status =
            status == STN_OK && touching ? stn_builder_add_geometry(builder, links[i], &ball, &geometry, err) : status;
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

static stn_status add_arm(stn_model_builder *builder, int32_t joints[JOINTS], stn_error *err) {
    static const char *const links[JOINTS] = {"upper", "lower", "hand"}, *const names[JOINTS] = {"one", "two", "three"};
    const stn_pose base = stn_pose_identity();
    int32_t group = 0, link[JOINTS];
    stn_status status = stn_builder_begin_group(builder, "arm", &group, err);
    for (int32_t i = 0; i < JOINTS && status == STN_OK; i++) {
        const stn_link_spec spec = {.name = links[i],
                                    .mass = {1.0, {0.0, 0.0, 0.1}, stn_mat3_diagonal(0.01, 0.01, 0.01)}};
        stn_joint_spec joint = stn_joint_spec_default(names[i], STN_JOINT_CONTINUOUS);
        status = stn_builder_add_link(builder, &spec, &link[i], err);
        joint.parent = i > 0 ? link[i - 1] : STN_WORLD;
        joint.child = link[i];
        joint.axis = i == 1 ? stn_vec3_make(1.0, 0.0, 0.0) : stn_vec3_make(0.0, 1.0, 0.0);
        joint.origin.position = stn_vec3_make(0.0, 0.0, 0.3);
        status = status == STN_OK ? stn_builder_add_joint(builder, &joint, &joints[i], err) : status;
    }
    return status == STN_OK ? stn_builder_set_base(builder, group, &base, true, err) : status;
}

static void end(subject *s) {
    stn_world_destroy(s->world);
}

/// The world with these ends. STN_ERR_...: the plugin refuses them.
static stn_status make_world(subject *s, ends_kind kind) {
    const validate_request *r = s->trial->request;
    stn_instance *instance = trial_instance(s->trial, STN_KIND_CONSTRAINT);
    if (instance == NULL) {
        return STN_ERR_PLUGIN;
    }
    stn_world_options options = stn_world_options_default();
    options.dt = 2e-3;
    options.gravity = stn_vec3_zero();
    stn_status status = stn_world_create(r->context, &options, &s->world, &s->error);
    if (status != STN_OK) {
        stn_instance_destroy(instance);
        return status;
    }
    stn_model_builder *builder = stn_world_builder(s->world);
    int32_t links[BODIES], joints[JOINTS], constraint = 0;
    status = add_bodies(builder, STN_PLUGIN_HAS(instance->desc->ops.constraint, contact_rows), links, &s->error);
    status = status == STN_OK ? add_arm(builder, joints, &s->error) : status;
    if (status != STN_OK) {
        stn_instance_destroy(instance);
        return status;
    }
    const bool on_joints = kind == ENDS_JOINTS || kind == ENDS_TWO_JOINTS,
               two = kind == ENDS_PAIR || kind == ENDS_TWO_JOINTS;
    stn_constraint_end_spec ends[BODIES];
    for (int32_t i = 0; i < BODIES; i++) {
        ends[i] = (stn_constraint_end_spec){.link = links[i],
                                            .pose = stn_pose_identity(),
                                            .joint = on_joints ? joints[i] : -1,
                                            .factor = on_joints ? 0.02 - 0.015 * i : 1.0};
        ends[i].pose.rotation = stn_mat3_from_rpy(0.3 * i, -0.2, 0.1);
        ends[i].pose.position = stn_vec3_make(0.05, 0.02 * i, -0.03);
    }
    const stn_constraint_spec spec = {.name = "subject", .end_count = two ? 2 : 3, .ends = ends};
    status = stn_builder_add_constraint(builder, instance, &spec, &constraint, &s->error);
    status = status == STN_OK ? stn_world_compile(s->world, &s->error) : status;
    s->model = status == STN_OK ? stn_world_model(s->world) : NULL;
    return status;
}

/// Rows of one step, and errors: of every row its own, of a block of a weld or ball the length alone, because its axes
/// turn with the bodies.
typedef struct emitted {
    int32_t rows, errors;
    double rate[MOST_ROWS], J[MOST_ROWS * MOST_V]; // of rows: J w
    uint64_t id[MOST_ROWS];                        // of errors: the block's, and the row
    double phi[MOST_ROWS], phi_rate[MOST_ROWS];    // as J w has it
    bool one_sided;                                // a row pushes alone, or pulls alone
} emitted;

static void keep_error(emitted *out, uint64_t id, double phi, double rate) {
    out->id[out->errors] = id;
    out->phi[out->errors] = phi;
    out->phi_rate[out->errors++] = rate;
}

/// Of constraint c, with the rates of its rows.
static void keep_errors(emitted *out, const stn_problem *p, const stn_constraint *c, const double *rate) {
    const bool turns = c->kind == STN_CONSTRAINT_WELD || c->kind == STN_CONSTRAINT_BALL;
    double square = 0.0, along = 0.0;
    for (int32_t r = 0; r < c->rows; r++) {
        const double phi = c->rows == 1 ? c->phi0 : p->phi[c->row + r];
        square += phi * phi;
        along += phi * rate[r];
        if (!turns) {
            keep_error(out, c->id + (uint64_t)r, phi, rate[r]);
        }
    }
    if (turns && square > 0.0) {
        keep_error(out, c->id, sqrt(square), along / sqrt(square));
    }
}

/// The rows at q, with their rates for velocities w; a failed step decides the trial.
static bool emit_at(subject *s, const double *q, const double *w, emitted *out) {
    static const double rest[MOST_V];
    out->rows = out->errors = 0;
    out->one_sided = false;
    if (stn_world_set_q(s->world, q, &s->error) < 0 || stn_world_set_v(s->world, rest, &s->error) < 0 ||
        stn_world_step(s->world, &s->error) < 0) {
        trial_fail(s->trial, "fails in an ordinary state: %s", s->error.text);
        return false;
    }
    const stn_observation *o = stn_world_observation(s->world);
    const stn_problem *p = o->problem;
    for (int32_t i = o->constraint_block[0]; i < o->constraint_block[s->model->constraint_count]; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (out->rows + c->rows > MOST_ROWS) {
            break;
        }
        const double *rates = out->rate + out->rows;
        for (int32_t r = 0; r < c->rows; r++) {
            double unit[STN_MAX_ROWS] = {0.0}, *J = out->J + (size_t)out->rows * MOST_V;
            unit[r] = 1.0;
            memset(J, 0, MOST_V * sizeof *J);
            stn_constraint_transposed_add(p, c, 1.0, unit, J);
            out->rate[out->rows] = 0.0;
            double lo = p->lo[c->row + r], hi = p->hi[c->row + r];
            out->one_sided = out->one_sided || (lo == 0.0) != (hi == 0.0);
            for (int32_t d = 0; d < p->nv; d++) {
                out->rate[out->rows] += J[d] * w[d];
            }
            out->rows++;
        }
        keep_errors(out, p, c, rates);
    }
    return true;
}

static void random_state(subject *s, double *q, double *w) {
    double turn[MOST_V];
    for (int32_t d = 0; d < s->model->nv; d++) {
        turn[d] = random_uniform(&s->random, -0.6, 0.6);
        w[d] = random_normal(&s->random);
    }
    stn_integrate_q(s->model, s->model->q0, turn, 1.0, q);
}

/// Again what tell_if_silent told, if it did.
static bool set_channels(subject *s) {
    const stn_constraint_ops *ops = s->trial->request->plugin->desc->ops.constraint;
    double *values = s->channels;
    for (int32_t c = 0; c < ops->channel_count && s->tells; values += ops->channels[c++].size) {
        if (stn_world_set_constraint(s->world, 0, ops->channels[c].name, values, ops->channels[c].size, &s->error) <
            0) {
            return false;
        }
    }
    return true;
}

/// What only acts when told is told: where it has no row at the start, every channel gets a number above 0.
static void tell_if_silent(subject *s) {
    const stn_constraint_ops *ops = s->trial->request->plugin->desc->ops.constraint;
    stn_row_block block;
    int32_t numbers = 0;
    for (int32_t c = 0; c < ops->channel_count; c++) {
        numbers += ops->channels[c].size;
    }
    if (numbers == 0 || numbers > MOST_CHANNELS ||
        stn_world_constraint_blocks(s->world, 0, &block, 1, &s->error) != 0) {
        return;
    }
    for (int32_t i = 0; i < numbers; i++) {
        s->channels[i] = random_uniform(&s->random, 0.1, 1.0);
    }
    s->tells = true;
    (void)set_channels(s);
}

static stn_status start(subject *s, validate_trial *trial, ends_kind kind) {
    *s = (subject){.trial = trial, .ends = kind};
    s->random.state = stn_hash(trial->request->seed, trial->check, strlen(trial->check));
    stn_status status = make_world(s, kind);
    if (status == STN_OK) {
        tell_if_silent(s);
    } else {
        end(s);
    }
    return status;
}

/// Does it have rows, and with `moves` a phi that differs between states?
static bool acts(subject *s, bool moves) {
    static emitted here;
    double q[MOST_Q], w[MOST_V], first = (double)NAN;
    for (int32_t round = 0; round < 10; round++) {
        random_state(s, q, w);
        if (!emit_at(s, q, w, &here)) {
            return false;
        }
        if (here.rows > 0 && (!moves || (here.errors > 0 && !isnan(first) && here.phi[0] != first))) {
            return true;
        }
        first = here.errors > 0 ? here.phi[0] : first;
    }
    return false;
}

/// Values to try of a parameter; false: there are no more.
static bool value_to_try(const stn_param *param, int32_t k, char *text, size_t size) {
    static const double numbers[] = {1.0, 1e9};
    if (param->type == STN_PARAM_TYPE_REAL && k < STN_COUNT(numbers)) {
        snprintf(text, size, "%g", fmax(param->minimum, fmin(param->maximum, numbers[k])));
        return true;
    }
    if (param->type == STN_PARAM_TYPE_BOOL && k == 0) {
        snprintf(text, size, "%s", param->default_number == 0.0 ? "true" : "false");
        return true;
    }
    const char *list = param->type == STN_PARAM_TYPE_TEXT ? param->default_text : NULL;
    if (k > 0 || list == NULL || *list == '\0' || list[strspn(list, "0 ")] != '\0') {
        return false;
    }
    size_t used = 0;
    for (int32_t i = 1; *list != '\0' && used < size; list++) { // a list of zeros
        used += *list == '0' ? (size_t)snprintf(text + used, size - used, "%s%d", i > 1 ? " " : "", 10 * i) : 0;
        i += *list == '0';
    }
    return used < size;
}

typedef struct advice {
    ends_kind ends;
    char set[200]; // "--set stiffness=1", empty: none was found
} advice;

/// One setting more with which it acts: tried, not guessed.
static advice find_setting(const validate_trial *trial, bool moves) {
    enum { MOST_SETTINGS = 64 };
    const stn_plugin_desc *desc = trial->request->plugin->desc;
    const int32_t count = trial->request->setting_count;
    stn_setting settings[MOST_SETTINGS];
    validate_request request = *trial->request;
    char value[100];
    if (count >= MOST_SETTINGS) {
        return (advice){0};
    }
    for (int32_t i = 0; i < count; i++) {
        settings[i] = request.settings[i];
    }
    request.settings = settings;
    request.setting_count = count + 1;
    for (int32_t i = 0; i < desc->param_count; i++) {
        for (int32_t k = 0; value_to_try(&desc->params[i], k, value, sizeof value); k++) {
            settings[count] =
                (stn_setting){.name = desc->params[i].name, .form = STN_SETTING_TEXT, .text = value, .where = "--set"};
            for (int32_t kind = 0; kind < ENDS_COUNT; kind++) {
                validate_trial attempt = {.request = &request, .check = trial->check};
                subject s;
                if (start(&s, &attempt, (ends_kind)kind) != STN_OK) {
                    continue;
                }
                const bool found = acts(&s, moves) && !attempt.decided;
                end(&s);
                if (found) {
                    advice a = {.ends = (ends_kind)kind};
                    const char *quote = strchr(value, ' ') != NULL ? "'" : "";
                    snprintf(a.set, sizeof a.set, "--set %s%s=%s%s", quote, desc->params[i].name, value, quote);
                    return a;
                }
            }
        }
    }
    return (advice){0};
}

/// Skips what has no row that the check can judge.
static void skip_idle(validate_trial *trial, const subject *s, bool moves) {
    const advice a = find_setting(trial, moves);
    trial_skip(trial, "%s: emits no row%s; give it settings with which it does%s%s", ends_names[s->ends],
               moves ? " whose phi changes" : "", a.set[0] != '\0' ? ", such as " : "", a.set);
}

/// The refusal that says most: ends that do not fit are refused alike, those that fit for another reason.
static int32_t rarest(char refusals[ENDS_COUNT][sizeof((stn_error *)0)->text]) {
    int32_t best = 0, fewest = ENDS_COUNT + 1;
    for (int32_t kind = 0; kind < ENDS_COUNT; kind++) {
        int32_t same = 0;
        for (int32_t other = 0; other < ENDS_COUNT; other++) {
            same += strcmp(refusals[kind], refusals[other]) == 0;
        }
        best = same < fewest ? kind : best;
        fewest = same < fewest ? same : fewest;
    }
    return best;
}

/// With the first ends that the plugin takes; false: with none, which decides the trial.
static bool begin(subject *s, validate_trial *trial) {
    static char refusals[ENDS_COUNT][sizeof((stn_error *)0)->text];
    for (int32_t kind = 0; kind < ENDS_COUNT; kind++) {
        stn_status status = start(s, trial, (ends_kind)kind);
        if (status == STN_OK) {
            return true;
        }
        if (status == STN_ERR_PLUGIN || status == STN_ERR_MEMORY) { // not the ends: the plugin breaks its contract
            trial_fail(trial, "%s: %s", ends_names[kind], s->error.text);
        }
        if (trial->decided) {
            return false;
        }
        snprintf(refusals[kind], sizeof refusals[kind], "%s", s->error.text);
    }
    const advice a = find_setting(trial, false);
    const int32_t told = a.set[0] != '\0' ? (int32_t)a.ends : rarest(refusals);
    trial_skip(trial, "refuses %s: %s%s%s", ends_names[told], refusals[told],
               a.set[0] != '\0' ? "; it takes them with "
                                : "; it refuses other ends too, whichever one parameter is set",
               a.set);
    return false;
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_constraint_ops *ops = trial->request->plugin->desc->ops.constraint;
    if (ops == NULL || ops->row_count == NULL || ops->emit == NULL) {
        trial_fail(trial, "row_count or emit is missing");
        return;
    }
    for (int32_t c = 0; c < ops->channel_count; c++) {
        const stn_channel *channel = &ops->channels[c];
        if (channel->name == NULL || channel->unit == NULL || channel->summary == NULL || channel->size < 1) {
            trial_fail(trial, "channel %d has no name, unit, summary or size", c);
            return;
        }
    }
    subject s;
    if (begin(&s, trial)) {
        const stn_model_constraint *c = &s.model->constraints[0];
        trial_ok(trial, "takes %s, %d channels, at most %d rows", ends_names[s.ends], ops->channel_count,
                 ops->row_count(c->instance->self, c));
        end(&s);
    }
}

static bool same_rows(const emitted *a, const emitted *b) {
    return a->errors == b->errors && memcmp(a->id, b->id, (size_t)a->errors * sizeof *a->id) == 0;
}

/// phi along q(t) against J v, by central differences. A row whose phi is the same everywhere has no error to lessen: a
/// damper, a given force. At a kink, where rows come or go, there is no derivative.
static void check_derivative(validate_trial *trial) {
    const double h = 1e-5;
    static emitted here, ahead, behind;
    double q[MOST_Q], w[MOST_V], next[MOST_Q], worst = 0.0;
    int32_t compared = 0, constant = 0;
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < ROUNDS && !trial->decided; round++) {
        random_state(&s, q, w);
        if (!emit_at(&s, q, w, &here)) {
            break;
        }
        stn_integrate_q(s.model, q, w, h, next);
        bool good = emit_at(&s, next, w, &ahead);
        stn_integrate_q(s.model, q, w, -h, next);
        good = good && emit_at(&s, next, w, &behind);
        if (!good || !same_rows(&here, &ahead) || !same_rows(&here, &behind)) {
            continue; // a row came or went: a kink
        }
        for (int32_t r = 0; r < here.errors; r++) {
            double rate = (ahead.phi[r] - behind.phi[r]) / (2.0 * h), off = fabs(rate - here.phi_rate[r]);
            if (rate == 0.0) {
                constant++;
                continue;
            }
            compared++;
            worst = fmax(worst, off / (1.0 + fabs(rate)));
            if (!(off <= 1e-6 * (1.0 + fabs(rate)))) {
                trial_fail(trial, "row %d of state %d: J v = %.9g, and phi changes by %.9g per second", r, round,
                           here.phi_rate[r], rate);
            }
        }
    }
    if (compared == 0 && !trial->decided) {
        skip_idle(trial, &s, true);
    }
    trial_ok(trial, "%d rows in %d states of %s: J v is the rate of phi to %.1e (%d rows have a constant phi)",
             compared, ROUNDS, ends_names[s.ends], worst, constant);
    end(&s);
}

/// What is seen of a one-sided constraint, beside its word. Settings and channels may decide whether anything is seen,
/// the word is the plugin's: it is superfluous only where there are neither.
static void check_sides(validate_trial *trial) {
    static emitted here, first;
    const stn_plugin_desc *desc = trial->request->plugin->desc;
    const bool says_slack = trial_says(trial, "slack");
    double q[MOST_Q], w[MOST_V];
    int32_t rows = 0, other_rows = 0;
    bool one_sided = false;
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    if (STN_PLUGIN_HAS(desc->ops.constraint, contact_rows)) {
        trial_skip(trial, "its rows come and go with contacts");
    }
    for (int32_t round = 0; round < ROUNDS && !trial->decided; round++) {
        random_state(&s, q, w);
        if (!emit_at(&s, q, w, &here)) {
            break;
        }
        first = round == 0 ? here : first;
        other_rows += !same_rows(&here, &first);
        one_sided = one_sided || here.one_sided;
        rows += here.rows;
    }
    if (rows == 0 && !trial->decided) {
        skip_idle(trial, &s, false);
    } else if (!says_slack && other_rows > 0) {
        trial_fail(
            trial,
            "in %d states it emits other rows than in the first: what comes and goes is one-sided, and says slack",
            other_rows);
    } else if (!says_slack && one_sided) {
        trial_fail(trial,
                   "a row has 0 as one of its bounds, so it pulls or pushes alone, which is one-sided: say slack");
    } else if (says_slack && !one_sided && other_rows == 0 && desc->param_count == 0 &&
               desc->ops.constraint->channel_count == 0) {
        trial_fail(trial, "says slack, and in %d states nothing is one-sided: leave the word out", ROUNDS);
    }
    trial_ok(trial, "%s slack; in %d states %s", says_slack ? "says" : "does not say", ROUNDS,
             one_sided        ? "a row has 0 as a bound"
             : other_rows > 0 ? "rows come and go"
                              : "of these settings nothing is one-sided");
    end(&s);
}

/// Between free bodies no row may feel a motion of all of them as one: so its force has neither sum nor moment.
static void check_momentum(validate_trial *trial) {
    static emitted here;
    double q[MOST_Q], w[MOST_V], worst = 0.0;
    int32_t rows = 0;
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    if (s.ends == ENDS_JOINTS || s.ends == ENDS_TWO_JOINTS) {
        trial_skip(trial, "takes joints, whose forces the arm hands to the world");
    }
    for (int32_t round = 0; round < ROUNDS && !trial->decided; round++) {
        random_state(&s, q, w);
        stn_vec3 linear = stn_vec3_make(w[0], w[1], w[2]), angular = stn_vec3_make(w[3], w[4], w[5]);
        double rigid[MOST_V] = {0.0};
        for (int32_t b = 0; b < BODIES; b++) {
            const stn_joint *joint = &s.model->joints[s.model->bodies[b + 1].joint];
            const double *at = q + joint->q_start;
            stn_vec3 v = stn_vec3_add(linear, stn_vec3_cross(angular, stn_vec3_make(at[0], at[1], at[2])));
            const double motion[6] = {v.x, v.y, v.z, angular.x, angular.y, angular.z};
            memcpy(rigid + joint->v_start, motion, sizeof motion);
        }
        if (!emit_at(&s, q, rigid, &here)) {
            break;
        }
        for (int32_t r = 0; r < here.rows; r++, rows++) {
            worst = fmax(worst, fabs(here.rate[r]));
            if (!(fabs(here.rate[r]) <= 1e-9)) {
                trial_fail(trial,
                           "row %d feels all bodies moving as one: J v = %.3g; its forces do not add up to nothing", r,
                           here.rate[r]);
            }
        }
    }
    if (rows == 0 && !trial->decided) {
        skip_idle(trial, &s, false);
    }
    trial_ok(trial, "%d rows in %d states of %s: rigid motion felt to %.1e", rows, ROUNDS, ends_names[s.ends], worst);
    end(&s);
}

// ------------------------------------------------------------------------------------------------- between the steps

/// What is seen at a state without a step.
typedef struct seen {
    double energy; // [J]
    int32_t count;
    stn_row_block blocks[MOST_BLOCKS];
} seen;

/// False: it fails there, or has more blocks than there is room for.
static bool look_at(subject *s, const double *q, seen *out) {
    out->count = -1;
    if (stn_world_set_q(s->world, q, &s->error) == STN_OK) {
        out->energy = stn_world_elastic_energy(s->world);
        out->count = stn_world_constraint_blocks(s->world, 0, out->blocks, MOST_BLOCKS, &s->error);
    }
    return out->count >= 0 && out->count <= MOST_BLOCKS;
}

/// Force of row r that comes from what is stored, without what channels give. NaN: its limit is reached, or whether it
/// is depends on what channels give.
static double stored_force(const stn_row_block *b, int32_t r) {
    if (isinf(b->stiffness) || b->lo[r] == b->hi[r]) {
        return 0.0;
    }
    if (b->input[r] != 0.0 && !(isinf(b->lo[r]) && isinf(b->hi[r]))) {
        return (double)NAN;
    }
    const double force = -b->stiffness * b->phi[r];
    const double bound = force < b->lo[r] ? b->lo[r] : force > b->hi[r] ? b->hi[r] : force;
    return bound == force || bound == 0.0 ? bound : (double)NAN;
}

/// Of the rows [W], and by how much differences may miss it: phi bends on the way.
typedef struct row_power {
    double value, off;
} row_power;

/// Power that the rows take from what is stored, between the states `behind` and `ahead` which are `apart` [s] from one
/// another. NaN: they do not tell.
static row_power stored_power(const seen *here, const seen *behind, const seen *ahead, double apart) {
    row_power power = {0.0, 1e-9};
    if (here->count != behind->count || here->count != ahead->count) {
        return (row_power){(double)NAN, 0.0};
    }
    for (int32_t i = 0; i < here->count; i++) {
        const stn_row_block *b = &here->blocks[i], *before = &behind->blocks[i], *after = &ahead->blocks[i];
        if (b->part != before->part || b->part != after->part) {
            return (row_power){(double)NAN, 0.0};
        }
        for (int32_t r = 0; r < b->rows; r++) {
            const double change = after->phi[r] - before->phi[r];
            const bool jumps = !(fabs(change) < 1e-2); // as an angle does at half a turn
            power.value += jumps ? (double)NAN : stored_force(b, r) * change / apart;
            power.off += isinf(b->stiffness) ? 0.0 : 10.0 * b->stiffness * change * change;
        }
    }
    return power;
}

/// E along q(t) falls by the work of the rows, where these are not at their limits.
static void check_energy(validate_trial *trial) {
    const double h = 1e-5;
    static emitted step;
    static seen here, ahead, behind;
    double q[MOST_Q], w[MOST_V], next[MOST_Q], worst = 0.0;
    int32_t compared = 0;
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    if (STN_PLUGIN_HAS(trial->request->plugin->desc->ops.constraint, contact_rows)) {
        trial_skip(trial, "its rows come and go with contacts");
    }
    for (int32_t round = 0; round < ROUNDS && !trial->decided; round++) {
        random_state(&s, q, w);
        if (!emit_at(&s, q, w, &step)) { // what it keeps of a step
            break;
        }
        stn_integrate_q(s.model, q, w, h, next);
        bool good = look_at(&s, next, &ahead);
        stn_integrate_q(s.model, q, w, -h, next);
        good = good && look_at(&s, next, &behind) && look_at(&s, q, &here);
        if (!good) {
            continue;
        }
        const row_power told = stored_power(&here, &behind, &ahead, 2.0 * h);
        const double power = told.value;
        const double rate = (ahead.energy - behind.energy) / (2.0 * h), off = fabs(rate + power);
        const double scale = 1e-5 * (fabs(rate) + fabs(power)) + 1e-8 * fabs(here.energy) + told.off;
        if (!isfinite(here.energy)) {
            trial_fail(trial, "state %d: its energy is %g J", round, here.energy);
        } else if (!isnan(power) && !(off <= scale)) {
            trial_fail(trial, "state %d: its rows do work at %.9g W, and its energy of %.9g J changes by %.9g W", round,
                       power, here.energy, rate);
        }
        compared += !isnan(power) && power != 0.0;
        worst = isnan(power) ? worst : fmax(worst, off / (fabs(power) + 1.0));
    }
    if (compared == 0 && !trial->decided) {
        trial_skip(trial, "%s: no row of finite stiffness does work; give it settings with which one does",
                   ends_names[s.ends]);
    }
    trial_ok(trial, "in %d states of %s the rows' work is what the energy falls by, to %.1e", compared,
             ends_names[s.ends], worst);
    end(&s);
}

/// The energy that a channel gives when it moves between two steps is told as input_work.
static void check_input_work(validate_trial *trial) {
    static emitted step;
    static seen before, after;
    const stn_constraint_ops *ops = trial->request->plugin->desc->ops.constraint;
    double q[MOST_Q], w[MOST_V], old[MOST_CHANNELS], values[MOST_CHANNELS];
    int32_t compared = 0, moved = 0;
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    if (ops->channel_count == 0) {
        trial_skip(trial, "has no channels");
    }
    for (int32_t round = 0; round < ROUNDS && !trial->decided; round++) {
        const stn_channel *channel = &ops->channels[round % ops->channel_count];
        stn_constraint_value value;
        random_state(&s, q, w);
        if (!emit_at(&s, q, w, &step)) {
            break;
        }
        if (channel->size > MOST_CHANNELS || !look_at(&s, q, &before) ||
            stn_world_get_constraint(s.world, 0, channel->name, &value, &s.error) < 0) {
            continue;
        }
        for (int32_t i = 0; i < channel->size; i++) {
            old[i] = value.values[i];
            values[i] = old[i] + random_uniform(&s.random, 0.01, 0.1);
        }
        bool good = stn_world_set_constraint(s.world, 0, channel->name, values, channel->size, &s.error) == STN_OK &&
                    look_at(&s, q, &after) && after.count > 0; // without a row nothing can be told
        if (stn_world_set_constraint(s.world, 0, channel->name, old, channel->size, &s.error) < 0 || !good) {
            continue;
        }
        double told = 0.0;
        for (int32_t i = 0; i < after.count; i++) {
            told += after.blocks[i].input_work;
        }
        const double given = after.energy - before.energy;
        compared++;
        moved += given != 0.0;
        if (!(fabs(given - told) <= 1e-9 * (fabs(after.energy) + fabs(before.energy) + fabs(told)) + 1e-12)) {
            trial_fail(trial, "state %d: channel %s gives its energy %.9g J, and input_work is %.9g J", round,
                       channel->name, given, told);
        }
    }
    if (compared == 0 && !trial->decided) {
        skip_idle(trial, &s, false);
    }
    trial_ok(trial, "channels moved %d times, of which %d changed the energy: input_work is that change", compared,
             moved);
    end(&s);
}

/// Fails where an output is not finite, or is no number of its words.
static void judge_outputs(subject *s, const stn_constraint_ops *ops) {
    for (int32_t i = 0; i < ops->output_count; i++) {
        const char *name = ops->outputs[i].name;
        stn_constraint_value value;
        if (stn_world_get_constraint(s->world, 0, name, &value, &s->error) < 0) {
            trial_fail(s->trial, "output %s: %s", name, s->error.text);
            return;
        }
        int32_t words = 0;
        while (value.words != NULL && value.words[words] != NULL) {
            words++;
        }
        for (int32_t k = 0; k < value.count; k++) {
            const double x = value.values[k];
            if (!isfinite(x)) {
                trial_fail(s->trial, "output %s is %g, must be finite", name, x);
            } else if (value.words != NULL && !(x >= 0.0 && x < words && x == floor(x))) {
                trial_fail(s->trial, "output %s is %g, and has %d words from 0 on", name, x, words);
            }
        }
    }
}

static void check_outputs(validate_trial *trial) {
    static emitted step;
    const stn_constraint_ops *ops = trial->request->plugin->desc->ops.constraint;
    double q[MOST_Q], w[MOST_V];
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    if (!STN_PLUGIN_HAS(ops, outputs) || ops->output_count == 0) {
        trial_skip(trial, "tells nothing of itself");
    }
    for (int32_t round = 0; round < ROUNDS && !trial->decided; round++) {
        random_state(&s, q, w);
        if (!emit_at(&s, q, w, &step)) {
            break;
        }
        judge_outputs(&s, ops);
    }
    trial_ok(trial, "%d outputs in %d states", trial->decided ? 0 : ops->output_count, ROUNDS);
    end(&s);
}

/// Positions, velocities and channels have the same bytes after all that it is asked at a state.
static void check_inputs(validate_trial *trial) {
    static emitted step;
    static seen at;
    double q[MOST_Q], w[MOST_V];
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < ROUNDS && !trial->decided; round++) {
        random_state(&s, q, w);
        if (!emit_at(&s, q, w, &step)) {
            break;
        }
        const stn_state *state = stn_world_state(s.world);
        const stn_state_sizes *sizes = &state->sizes;
        const struct {
            const char *name;
            const double *values;
            size_t count;
        } inputs[] = {{"reference", state->reference, sizes->reference_count},
                      {"q", state->q, sizes->nq},
                      {"v", state->v, sizes->nv}};
        uint64_t before[STN_COUNT(inputs)];
        (void)stn_world_set_q(s.world, q, &s.error); // as look_at does
        for (int32_t i = 0; i < STN_COUNT(inputs); i++) {
            before[i] = stn_hash(0, inputs[i].values, inputs[i].count * sizeof(double));
        }
        (void)look_at(&s, q, &at);
        for (int32_t i = 0; i < STN_COUNT(inputs); i++) {
            if (stn_hash(0, inputs[i].values, inputs[i].count * sizeof(double)) != before[i]) {
                trial_fail(trial, "state %d: emit or energy wrote into the view's %s", round, inputs[i].name);
            }
        }
    }
    trial_ok(trial, "positions, velocities and channels in %d states keep their bytes", ROUNDS);
    end(&s);
}

/// Again after a reset and from a snapshot; no allocation in a steady step.
static void check_world(validate_trial *trial) {
    enum { STEPS = 60, HALF = 30 };
    uint64_t hash[STEPS];
    stn_snapshot *snapshot = NULL;
    int64_t more = 0;
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    double q[MOST_Q], w[MOST_V];
    random_state(&s, q, w);
    for (int32_t round = 0; round < 3 && !trial->decided; round++) { // then after a reset, then from the snapshot
        if (round < 2 && (stn_world_set_q(s.world, q, &s.error) < 0 || stn_world_set_v(s.world, w, &s.error) < 0 ||
                          !set_channels(&s))) {
            trial_fail(trial, "%s", s.error.text);
        }
        for (int32_t i = round < 2 ? 0 : HALF; i < STEPS && !trial->decided; i++) {
            int64_t before = stn_context_allocations(trial->request->context);
            if (stn_world_step(s.world, &s.error) < 0) {
                trial_fail(trial, "step %d: %s", i + 1, s.error.text);
            } else if (round > 0 && stn_world_hash(s.world) != hash[i]) {
                trial_fail(trial, "step %d %s has another state than the first time", i + 1,
                           round == 1 ? "after a reset" : "from a snapshot");
            }
            more += round == 1 ? stn_context_allocations(trial->request->context) - before : 0;
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
    if (more > 0) {
        trial_fail(trial, "%lld allocations in %d steady steps, expected none", (long long)more, STEPS);
    }
    stn_snapshot_destroy(snapshot);
    trial_ok(trial, "%d steps of %s, again after a reset and from a snapshot: the same states, no allocation", STEPS,
             ends_names[s.ends]);
    end(&s);
}

static const validate_check checks[] = {
    {"declares what it is", "row_count, emit, and name, unit, summary, size of every channel; constraint.h",
     check_declares},
    {"J is the derivative of phi", "emit every point, axis and joint on which phi depends, with its factor",
     check_derivative},
    {"one-sided is said",
     "capabilities of its descriptor: slack, if with any settings its rows come and go or pull or "
     "push alone",
     check_sides},
    {"momentum", "what pushes one body pushes another one back, at the same line", check_momentum},
    {"energy", "energy is the integral of what the rows of finite stiffness do: 0.5 k phi^2 where nothing bounds them",
     check_energy},
    {"work of channels", "input_work of its blocks: energy with these channels less that with those of the last step",
     check_input_work},
    {"outputs are numbers", "the outputs begin its state, finite; of one with words a number of theirs", check_outputs},
    {"inputs unchanged", "what the view points to is only read", check_inputs},
    {"steps of a world", "all that lasts from step to step belongs into state_size", check_world},
};

const validate_battery validate_constraints = {STN_KIND_CONSTRAINT, STN_COUNT(checks), checks};
