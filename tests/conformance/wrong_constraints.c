// SPDX-License-Identifier: Apache-2.0
// A spring between two points, right and with one fault each.
#include "misconduct.h" // first: it asks for more of the system's headers

typedef enum fault {
    NONE,
    HALF_RATE,       // its Jacobian is half of the derivative of phi
    NO_REACTION,     // pulls at one end alone
    OTHER_LINE,      // pushes back beside the line
    KEEPS_COUNT,     // remembers in the program what belongs into its state
    TOO_MANY,        // emits more rows than it said
    NO_NUMBER,       // phi is NaN
    SAME_PART,       // two blocks of one part
    ROPE,            // has a row while it is longer than 1 m
    HALF_ROPE,       // the same with half of the rate
    PULLS_ALONE,     // a row that pulls and never pushes
    LARGE_ENERGY,    // stores 100 times as much
    NEGATIVE_ENERGY, // its sign is wrong
    NO_ENERGY,       // its energy is NaN
    NO_WORK,         // does not tell what its channel gives
    OUTPUT_NO_NUMBER,
    OUTPUT_NO_WORD,
    WRITES_CHANNEL, // writes into the view
} fault;

typedef struct config {
    int32_t fault;
} config;

static double counted;

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)described;
    return ((const config *)self)->fault == SAME_PART ? 2 : 1;
}

/// Its outputs, then whether it was asked before and the channel then; the rest for the faults of misconduct.h.
enum { TELLS_PHI, TELLS_SIDE, ASKED, REST_BEFORE, STATE_NUMBERS = 8 };

static size_t state_size(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return STATE_NUMBERS * sizeof(double);
}

/// The channel; 1 m where it has none.
static double rest_of(const stn_constraint_view *view) {
    return view->described->instance->desc->ops.constraint->channel_count > 0 ? view->reference[0] : 1.0;
}

static void initial_reference(const void *self, const stn_kinematics *kinematics, const stn_model_constraint *described,
                              double *reference) {
    (void)self;
    (void)kinematics;
    (void)described;
    reference[0] = 1.0;
}

static double length_of(const stn_constraint_view *view) {
    const stn_constraint_end *a = &view->described->ends[0], *b = &view->described->ends[1];
    stn_vec3 p = stn_pose_apply(&view->kinematics->body_pose[a->body], a->frame.position);
    stn_vec3 q = stn_pose_apply(&view->kinematics->body_pose[b->body], b->frame.position);
    return stn_vec3_norm(stn_vec3_sub(q, p));
}

static double stored(fault f, double longer) {
    const bool one_sided = f == ROPE || f == HALF_ROPE || f == PULLS_ALONE;
    return one_sided && longer < 0.0 ? 0.0 : 50.0 * longer * longer;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    const fault f = (fault)((const config *)self)->fault;
    const double right = stored(f, length_of(view) - rest_of(view));
    return f == LARGE_ENERGY ? 100.0 * right : f == NEGATIVE_ENERGY ? -right : f == NO_ENERGY ? (double)NAN : right;
}

/// What it tells and keeps; the work of its channel [J].
static double remember(fault f, const stn_constraint_view *view, double *state) {
    const double length = length_of(view), rest = rest_of(view);
    const double work =
        state[ASKED] > 0.0 && f != NO_WORK ? stored(f, length - rest) - stored(f, length - state[REST_BEFORE]) : 0.0;
    state[TELLS_PHI] = f == OUTPUT_NO_NUMBER ? (double)NAN : length - rest;
    state[TELLS_SIDE] = f == OUTPUT_NO_WORD ? 2.0 : length > rest;
    state[ASKED] = 1.0;
    state[REST_BEFORE] = rest;
    if (f == WRITES_CHANNEL) {
        ((double *)(uintptr_t)view->reference)[0] += 1e-3;
    }
    return work;
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    const fault f = (fault)((const config *)self)->fault;
    const stn_constraint_end *a = &view->described->ends[0], *b = &view->described->ends[1];
    stn_vec3 p = stn_pose_apply(&view->kinematics->body_pose[a->body], a->frame.position);
    stn_vec3 q = stn_pose_apply(&view->kinematics->body_pose[b->body], b->frame.position);
    stn_vec3 apart = stn_vec3_sub(q, p), u = stn_vec3_normalize_or(apart, stn_vec3_make(0.0, 0.0, 1.0));
    misbehave((int32_t)f, state, STATE_NUMBERS, view->arena);
    const double rest = rest_of(view), work = remember(f, view, state);
    if ((f == ROPE || f == HALF_ROPE) && stn_vec3_norm(apart) < rest) {
        return STN_OK;
    }
    counted += f == KEEPS_COUNT ? 1e-3 : 0.0;
    for (int32_t k = 0; k < (f == TOO_MANY || f == SAME_PART ? 2 : 1); k++) {
        stn_row_block block = stn_row_block_default(f == SAME_PART ? 0 : k, 1);
        block.phi[0] = f == NO_NUMBER ? (double)NAN : stn_vec3_norm(apart) - rest + counted;
        block.input_work = k == 0 ? work : 0.0;
        block.stiffness = 100.0;
        block.hi[0] = f == PULLS_ALONE ? 0.0 : block.hi[0];
        stn_status status = stn_rows_begin(rows, &block, err);
        if (status != STN_OK) {
            return status;
        }
        double s = f == HALF_RATE || f == HALF_ROPE ? 0.5 : 1.0;
        if (f != NO_REACTION) {
            stn_vec3 beside = f == OTHER_LINE ? stn_vec3_make(0.1, 0.2, 0.3) : stn_vec3_zero();
            stn_rows_add_point(rows, 0, a->body, stn_vec3_add(p, beside), stn_vec3_scale(-s, u));
        }
        stn_rows_add_point(rows, 0, b->body, q, stn_vec3_scale(s, u));
    }
    return STN_OK;
}

static const stn_channel channels[] = {{"rest", "m", "at which it is at rest", 1}};
static const char *const sides[] = {"short", "long", NULL};
static const stn_constraint_output outputs[] = {{"longer", "m", "than at rest", 1, NULL},
                                                {"side", "1", "on which it is", 1, sides}};

static const stn_constraint_ops ops = {.size = sizeof ops,
                                       .channel_count = 1,
                                       .channels = channels,
                                       .row_count = row_count,
                                       .state_size = state_size,
                                       .initial_reference = initial_reference,
                                       .emit = emit,
                                       .energy = energy,
                                       .output_count = STN_COUNT(outputs),
                                       .outputs = outputs};

#define CONSTRAINT_THAT_SAYS(word, number, words)                                    \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_CONSTRAINT,                \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "a spring with a fault",         \
                                         .capabilities = words,                      \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.constraint = &ops};
#define CONSTRAINT(word, number) CONSTRAINT_THAT_SAYS(word, number, NULL)

static const char *const slack[] = {"slack", NULL};

CONSTRAINT(rope, ROPE)
CONSTRAINT(pull, PULLS_ALONE)
CONSTRAINT_THAT_SAYS(slack_rope, ROPE, slack)
CONSTRAINT_THAT_SAYS(slack_pull, PULLS_ALONE, slack)
CONSTRAINT_THAT_SAYS(slack_rate, HALF_ROPE, slack)
CONSTRAINT(none, NONE)
CONSTRAINT(rate, HALF_RATE)
CONSTRAINT(reaction, NO_REACTION)
CONSTRAINT(line, OTHER_LINE)
CONSTRAINT(count, KEEPS_COUNT)
CONSTRAINT(many, TOO_MANY)
CONSTRAINT(number, NO_NUMBER)
CONSTRAINT(part, SAME_PART)
CONSTRAINT(large_energy, LARGE_ENERGY)
CONSTRAINT(negative_energy, NEGATIVE_ENERGY)
CONSTRAINT(no_energy, NO_ENERGY)
CONSTRAINT(work, NO_WORK)
CONSTRAINT(output, OUTPUT_NO_NUMBER)
CONSTRAINT(word, OUTPUT_NO_WORD)
CONSTRAINT(channel, WRITES_CHANNEL)

/// Its state has no room for what it tells.
static size_t small_state(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 4;
}
static const stn_constraint_output told[] = {{"turns", "1", "made so far", 1, NULL}};
static const stn_constraint_ops small_ops = {.size = sizeof small_ops,
                                             .row_count = row_count,
                                             .emit = emit,
                                             .state_size = small_state,
                                             .output_count = 1,
                                             .outputs = told};
static const stn_plugin_desc state = {.size = sizeof state,
                                      .kind = STN_KIND_CONSTRAINT,
                                      .id = "wrong_state",
                                      .version = "1",
                                      .summary = "a spring with a fault",
                                      .config_size = sizeof(config),
                                      .params = none_params,
                                      .param_count = 1,
                                      .ops.constraint = &small_ops};

/// Without parameters and channels: none of them can make it one-sided.
static const stn_constraint_ops bare_ops = {
    .size = sizeof bare_ops, .row_count = row_count, .state_size = state_size, .emit = emit, .energy = energy};
static const stn_plugin_desc slack_none = {.size = sizeof slack_none,
                                           .kind = STN_KIND_CONSTRAINT,
                                           .id = "wrong_slack_none",
                                           .version = "1",
                                           .summary = "a spring with a fault",
                                           .capabilities = slack,
                                           .config_size = sizeof(config),
                                           .ops.constraint = &bare_ops};

/// Its state is larger than any memory.
static size_t huge_state(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return (size_t)1 << 60;
}
static const stn_constraint_ops huge_ops = {
    .size = sizeof huge_ops, .row_count = row_count, .emit = emit, .state_size = huge_state};
static const stn_plugin_desc huge = {.size = sizeof huge,
                                     .kind = STN_KIND_CONSTRAINT,
                                     .id = "wrong_huge",
                                     .version = "1",
                                     .summary = "a spring with a fault",
                                     .config_size = sizeof(config),
                                     .ops.constraint = &huge_ops};

#define WITH_MISCONDUCT(word) CONSTRAINT(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&rope, &pull, &slack_rope, &slack_pull, &slack_rate, &slack_none, &none, &rate, &reaction, &line,
                   &count, &many, &number, &part, &state, &huge, &large_energy, &negative_energy, &no_energy, &work,
                   &output, &word, &channel STN_MISCONDUCTS(ITS_DESCRIPTOR));
