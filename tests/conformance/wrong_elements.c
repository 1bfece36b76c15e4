// SPDX-License-Identifier: Apache-2.0
// A spring with a damper between two nodes, right and with one fault each.
#include "misconduct.h" // first: it asks for more of the system's headers

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    DOUBLE_FORCE,
    GEOMETRIC_PART, // K is the whole derivative, negative under compression
    SOFT_K,
    TO_THE_GROUND, // its second node hangs on a place of the world
    DRIVES,
    ADDS,
    TAKES_ALL,
    CABLE,      // no force while it is shorter than at rest
    SOFT_CABLE, // and half of its stiffness in K
    LINEAR,     // along the line at rest, which is right for small strains
    LINEAR_TO_THE_GROUND,
    FORGETS, // the energy that it stores
} fault;

typedef struct config {
    int32_t fault;
} config;

static const double hardness = 1000.0, damping = 5.0;

static double direction(const double *x, double n[3]) {
    double length = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        n[i] = x[3 + i] - x[i];
        length += n[i] * n[i];
    }
    length = sqrt(length);
    for (int32_t i = 0; i < 3; i++) {
        n[i] = length > 0.0 ? n[i] / length : 0.0;
    }
    return length;
}

static stn_status prepare(const void *self, const double *x, const double *parameters, double *constants,
                          stn_error *err) {
    (void)parameters;
    double n[3];
    constants[0] = direction(x, n);
    for (int32_t i = 0; i < 3; i++) {
        constants[1 + i] = n[i];
    }
    bool bad = !(constants[0] > 0.0) && ((const config *)self)->fault != TAKES_ALL;
    return bad ? stn_fail(err, STN_ERR_ARGUMENT, "length %g m", constants[0]) : STN_OK;
}

static void evaluate_one(fault f, const double *x, const double *v, const double *constants, double *force, double *K,
                         double *D, double *energy) {
    double n[3], length = direction(x, n), stretch = length - constants[0], rate = 0.0;
    if (f == LINEAR || f == LINEAR_TO_THE_GROUND) {
        stretch = -constants[0];
        for (int32_t i = 0; i < 3; i++) {
            n[i] = constants[1 + i];
            stretch += n[i] * (x[3 + i] - x[i]);
        }
    }
    const bool loose = (f == CABLE || f == SOFT_CABLE) && stretch < 0.0;
    const double k = loose ? 0.0 : hardness, c = loose ? 0.0 : damping,
                 half = f == SOFT_K || f == SOFT_CABLE ? 0.5 : 1.0;
    double across = f == GEOMETRIC_PART ? k * stretch / length : 0.0, d = f == DRIVES ? -c : c;
    for (int32_t i = 0; i < 3; i++) {
        rate += n[i] * (v[3 + i] - v[i]);
    }
    *energy += 0.5 * k * stretch * stretch;
    for (int32_t r = 0; r < 6; r++) {
        double side = r < 3 ? 1.0 : -1.0, value = side * (k * stretch + d * rate) * n[r % 3];
        value = f == DOUBLE_FORCE ? 2.0 * value : value;
        force[r] = f == ADDS ? force[r] + value : value;
        for (int32_t s = 0; s < 6; s++) {
            double sides = side * (s < 3 ? 1.0 : -1.0), nn = n[r % 3] * n[s % 3];
            K[6 * r + s] = sides * (half * k * nn + across * ((r % 3 == s % 3) - nn));
            D[6 * r + s] = sides * c * nn;
        }
    }
    for (int32_t i = 3; i < 6 && (f == TO_THE_GROUND || f == LINEAR_TO_THE_GROUND); i++) {
        *energy += 0.5 * x[i] * x[i];
        force[i] -= x[i];
        K[7 * i] += 1.0;
    }
}

static stn_status evaluate(const void *self, stn_element_batch *b, stn_error *err) {
    (void)err;
    double unused[2][36];
    misbehave(((const config *)self)->fault, b->force, 6 * b->count, NULL);
    for (int32_t e = 0; e < b->count; e++) {
        b->energy[e] = 0.0;
        evaluate_one((fault)((const config *)self)->fault, b->x + 6 * e, b->v + 6 * e, b->constants + 4 * e,
                     b->force + 6 * e, b->K != NULL ? b->K + 36 * e : unused[0],
                     b->D != NULL ? b->D + 36 * e : unused[1], &b->energy[e]);
        b->energy[e] = ((const config *)self)->fault == FORGETS ? 0.0 : b->energy[e];
    }
    return STN_OK;
}

static const stn_element_ops ops = {
    .size = sizeof ops, .nodes_per_element = 2, .constant_count = 4, .prepare = prepare, .evaluate = evaluate};

#define ELEMENT_THAT_SAYS(word, number, words)                                       \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_ELEMENT,                   \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "a spring with a fault",         \
                                         .capabilities = words,                      \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.element = &ops};
#define ELEMENT(word, number) ELEMENT_THAT_SAYS(word, number, NULL)

static const char *const slack[] = {"slack", NULL}, *const small_strain[] = {"small_strain", NULL},
                         *const load[] = {"load", NULL};

ELEMENT(cable, CABLE)
ELEMENT_THAT_SAYS(slack_cable, CABLE, slack)
ELEMENT_THAT_SAYS(slack_soft, SOFT_CABLE, slack)
ELEMENT_THAT_SAYS(slack_none, NONE, slack)
ELEMENT(linear, LINEAR)
ELEMENT_THAT_SAYS(small_linear, LINEAR, small_strain)
ELEMENT_THAT_SAYS(small_ground, LINEAR_TO_THE_GROUND, small_strain)
ELEMENT_THAT_SAYS(small_none, NONE, small_strain)
ELEMENT_THAT_SAYS(load_stores, TO_THE_GROUND, load)
ELEMENT_THAT_SAYS(load_none, FORGETS, load)
ELEMENT(none, NONE)
ELEMENT(force, DOUBLE_FORCE)
ELEMENT(geometric, GEOMETRIC_PART)
ELEMENT(stiffness, SOFT_K)
ELEMENT(ground, TO_THE_GROUND)
ELEMENT(drive, DRIVES)
ELEMENT(sum, ADDS)
ELEMENT(point, TAKES_ALL)

#define WITH_MISCONDUCT(word) ELEMENT(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&cable, &slack_cable, &slack_soft, &slack_none, &linear, &small_linear, &small_ground, &small_none,
                   &load_stores, &load_none, &none, &force, &geometric, &stiffness, &ground, &drive, &sum,
                   &point STN_MISCONDUCTS(ITS_DESCRIPTOR));
