// SPDX-License-Identifier: Apache-2.0
// Rules about joints: their limits, the numbers that drive them, and names.
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const double LARGE_ANGLE = 12.0 * STN_PI, LARGE_TRAVEL = 20.0; // [rad], [m]

void check_joint_locked(check *c) {
    for (int32_t j = 0; j < c->model->joint_count; j++) {
        const stn_joint *joint = &c->model->joints[j];
        if (joint->lower == joint->upper) {
            check_say_joint(c, j, "lower and upper limit are both %g %s: the joint is locked there", joint->lower,
                            check_unit(joint));
        }
    }
}

void check_limit_large(check *c) {
    for (int32_t j = 0; j < c->model->joint_count; j++) {
        const stn_joint *joint = &c->model->joints[j];
        bool slides = joint->type == STN_JOINT_PRISMATIC;
        double lower = isfinite(joint->lower) ? fabs(joint->lower) : 0.0;
        double upper = isfinite(joint->upper) ? fabs(joint->upper) : 0.0, most = fmax(lower, upper);
        if (!slides && most > LARGE_ANGLE) {
            check_say_joint(
                c, j,
                "limits %g to %g rad are %.3g turns: are they degrees? For none use type continuous (MJCF: no range)",
                joint->lower, joint->upper, most / (2.0 * STN_PI));
        } else if (slides && most > LARGE_TRAVEL) {
            check_say_joint(c, j, "limits %g to %g m: are they millimetres?", joint->lower, joint->upper);
        }
    }
}

void check_effort_zero(check *c) {
    for (int32_t j = 0; j < c->model->joint_count; j++) {
        const stn_joint *joint = &c->model->joints[j];
        if (joint->effort == 0.0 && joint->mimic < 0) {
            check_say_joint(c, j, "effort limit 0 %s: nothing can drive this joint; for no limit leave it out",
                            check_effort_unit(joint));
        }
    }
}

void check_velocity_zero(check *c) {
    for (int32_t j = 0; j < c->model->joint_count; j++) {
        const stn_joint *joint = &c->model->joints[j];
        if (joint->velocity == 0.0) {
            check_say_joint(c, j, "velocity limit 0 %s/s: this joint may not move; for no limit leave it out",
                            check_unit(joint));
        }
    }
}

/// Where the follower is when its master is at `limit`; an unlimited master has no end.
static double image(const cli_chain *chain, double limit) {
    return chain->scale == 0.0 ? chain->offset : chain->scale * limit + chain->offset;
}

void check_mimic_limits(check *c) {
    for (int32_t j = 0; j < c->model->joint_count; j++) {
        const stn_joint *joint = &c->model->joints[j];
        if (joint->mimic < 0) {
            continue;
        }
        cli_chain chain = c->robot->chains[j];
        const stn_joint *master = &c->model->joints[chain.master];
        double a = image(&chain, master->lower), b = image(&chain, master->upper);
        double low = fmin(a, b), high = fmax(a, b), slack = 1e-4 * fmax(1.0, fabs(joint->upper - joint->lower));
        slack = isfinite(slack) ? slack : 1e-4;
        if (low < joint->lower - slack || high > joint->upper + slack) {
            check_say_joint(c, j, "its master '%s' drives it from %g to %g %s, beyond its limits %g to %g",
                            master->name, low, high, check_unit(joint), joint->lower, joint->upper);
        }
    }
}

// ------------------------------------------------------------------------------------------------ extreme numbers

/// What a number of a robot may be without a question.
typedef struct span {
    const char *what, *unit;
    double value, least, most; // 0 and infinity always may
} span;

/// The first number outside its span, NULL: none.
static const span *find_extreme(const span *spans, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        double value = spans[i].value;
        if (value != 0.0 && isfinite(value) && (value < spans[i].least || value > spans[i].most)) {
            return &spans[i];
        }
    }
    return NULL;
}

void check_number_extreme(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        const stn_mass *mass = &c->model->links[i].mass;
        double p[3];
        cli_judge_inertia(mass, p);
        const span spans[] = {
            {"mass", "kg", mass->mass, 1e-6, 1e5},
            {"largest principal moment", "kg m^2", p[2], 1e-14, 1e8},
        };
        const span *found = find_extreme(spans, STN_COUNT(spans));
        if (found != NULL) {
            check_say_link(c, i, "%s %g %s is very %s", found->what, found->value, found->unit,
                           found->value > found->most ? "large" : "small");
        }
    }
    for (int32_t j = 0; j < c->model->joint_count; j++) {
        const stn_joint *joint = &c->model->joints[j];
        bool slides = joint->type == STN_JOINT_PRISMATIC;
        const span spans[] = {
            {"effort limit", check_effort_unit(joint), joint->effort, 1e-6, 1e6},
            {"velocity limit", slides ? "m/s" : "rad/s", joint->velocity, 1e-5, 1e4},
            {"damping", slides ? "N s/m" : "N m s/rad", joint->damping, 1e-12, 1e6},
            {"friction", check_effort_unit(joint), joint->friction, 1e-12, 1e6},
            {"reflected inertia of the rotor", slides ? "kg" : "kg m^2", joint->reflected_inertia, 1e-14, 1e5},
        };
        const span *found = find_extreme(spans, STN_COUNT(spans));
        if (found != NULL) {
            check_say_joint(c, j, "%s %g %s is very %s", found->what, found->value, found->unit,
                            found->value > found->most ? "large" : "small");
        }
    }
}

// ----------------------------------------------------------------------------------------------------------- names

static int compare_names(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

void check_name_shared(check *c) {
    const stn_model *m = c->model;
    const char **names = STN_ARENA(c->arena, m->link_count, const char *);
    if (names == NULL) {
        c->out_of_memory = true;
        return;
    }
    for (int32_t i = 0; i < m->link_count; i++) {
        names[i] = m->links[i].name;
    }
    qsort(names, (size_t)m->link_count, sizeof *names, compare_names);
    for (int32_t i = 0; i < m->link_count; i++) {
        const char *joint = m->links[i].joint_name;
        if (joint != NULL && bsearch(&joint, names, (size_t)m->link_count, sizeof *names, compare_names) != NULL) {
            check_say_joint_above(c, i, "a link has the same name; programs with one list of frames confuse them");
        }
    }
}
