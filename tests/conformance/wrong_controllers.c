// SPDX-License-Identifier: Apache-2.0
// Dampers on joints, right and with one fault each.
#include "misconduct.h" // first: it asks for more of the system's headers

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    NOT_FINITE,
    OTHER_JOINT,
    NO_LIMITS,
    NEGATIVE_GAIN,
    COUNTS,      // in static data
    COUNTS_GAIN, // the same, for its gains alone
    BEYOND_STATE,
    ALLOCATES,
    CHANGES_REFERENCE,
} fault;

typedef struct config {
    int32_t fault;
} config;

static const stn_channel channels[] = {{"speed", "rad/s, m/s", "how fast the joints should move", 0}};

static size_t state_size(const void *self, const stn_control_target *target) {
    (void)self, (void)target;
    return sizeof(double);
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)err;
    static double calls;
    fault f = (fault)((const config *)self)->fault;
    const stn_model *model = view->target->model;
    double *steps = state;
    steps[0] += 1.0;
    if (f == BEYOND_STATE) {
        steps[1] = 1.0;
    }
    if (f == ALLOCATES) {
        stn_release(model->context, stn_allocate(model->context, 1, 8));
    }
    if (f == CHANGES_REFERENCE) {
        ((double *)(uintptr_t)reference)[0] += 1.0;
    }
    misbehave((int32_t)f, forces->tau, model->nv, view->arena);
    for (int32_t i = 0; i < view->target->dof_count; i++) {
        int32_t dof = view->target->dof[i] + (f == OTHER_JOINT && i == 1);
        double most = model->joints[model->dof_joint[dof]].effort;
        double u = -30.0 * (view->v[dof] - reference[i]) + (f == COUNTS ? 1e-9 * ++calls : 0.0);
        u = f == NO_LIMITS ? u : fmin(fmax(u, -most), most);
        u = f == NOT_FINITE ? u / 0.0 : u;
        stn_forces_add_effort(forces, dof, u);
        if (f == COUNTS_GAIN) {
            stn_forces_add_gain(forces, dof, ++calls, 0.0, 0.0);
        }
        if (f == NEGATIVE_GAIN) {
            stn_forces_add_gain(forces, dof, 0.0, -1.0, 0.0);
        }
    }
    return STN_OK;
}

static const stn_controller_ops ops = {.size = sizeof ops,
                                       .channel_count = STN_COUNT(channels),
                                       .channels = channels,
                                       .state_size = state_size,
                                       .evaluate = evaluate};

#define CONTROLLER(word, number)                                                     \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_CONTROLLER,                \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "dampers with a fault",          \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.controller = &ops};

CONTROLLER(none, NONE)
CONTROLLER(infinite, NOT_FINITE)
CONTROLLER(joint, OTHER_JOINT)
CONTROLLER(limits, NO_LIMITS)
CONTROLLER(gain, NEGATIVE_GAIN)
CONTROLLER(counter, COUNTS)
CONTROLLER(gain_counter, COUNTS_GAIN)
CONTROLLER(state, BEYOND_STATE)
CONTROLLER(allocation, ALLOCATES)
CONTROLLER(reference, CHANGES_REFERENCE)

#define WITH_MISCONDUCT(word) CONTROLLER(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&none, &infinite, &joint, &limits, &gain, &counter, &gain_counter, &state, &allocation,
                   &reference STN_MISCONDUCTS(ITS_DESCRIPTOR));
