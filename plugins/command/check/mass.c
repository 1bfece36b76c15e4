// SPDX-License-Identifier: Apache-2.0
// Rules about masses. With the largest principal moment I of a mass m, k = sqrt(I / m) is its radius of gyration. All
// mass within a distance d of its centre makes k <= d, and a solid that fills its shapes has k of 0.2 to 0.6 d.
// Published robots simplify their shapes, so the rules leave a factor of 2 on one side and of 10 on the other.
#include "check.h"

static const double LARGE = 2.0;                   // k over the distance to the furthest corner
static const double SMALL = 0.02;                  // k over half the diagonal of the shapes
static const double FAR_OUTSIDE = 0.5;             // of the box's diagonal
static const double DENSEST = 5e4, LIGHTEST = 2.0; // [kg/m^3]; tungsten has 1.9e4, stiff foam 20

void check_inertia_triangle(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        double p[3];
        if (cli_judge_inertia(&c->model->links[i].mass, p) == CLI_INERTIA_TRIANGLE) {
            check_say_link(c, i,
                           "the principal moment %g kg m^2 exceeds the sum %g of the other two: no rigid body has that",
                           p[2], p[0] + p[1]);
        }
    }
}

void check_inertia_point(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        double p[3];
        if (cli_judge_inertia(&c->model->links[i].mass, p) == CLI_INERTIA_POINT) {
            check_say_link(c, i, "%g kg without any inertia: a point mass", c->model->links[i].mass.mass);
        }
    }
}

// --------------------------------------------------------------------------------------------- radius of gyration

/// Lengths of a link with mass and inertia.
typedef struct spread {
    double gyration; // k
    double reach;    // from the centre of mass to the furthest corner of the shapes
    double half;     // of the shapes' diagonal
} spread;

/// false: the shapes, mass or inertia are not known.
static bool measure(const check *c, int32_t link, spread *s) {
    double p[3];
    const stn_mass *mass = &c->model->links[link].mass;
    cli_inertia inertia = cli_judge_inertia(mass, p);
    stn_aabb box = check_box_of_link(c, link);
    stn_vec3 com = mass->com;
    s->gyration = mass->mass > 0.0 ? sqrt(p[2] / mass->mass) : 0.0;
    s->reach = cli_box_is_empty(&box)
                   ? 0.0
                   : stn_vec3_norm(stn_vec3_make(fmax(fabs(box.lower.x - com.x), fabs(box.upper.x - com.x)),
                                                 fmax(fabs(box.lower.y - com.y), fabs(box.upper.y - com.y)),
                                                 fmax(fabs(box.lower.z - com.z), fabs(box.upper.z - com.z))));
    s->half = 0.5 * cli_box_diagonal(&box);
    return (inertia == CLI_INERTIA_OK || inertia == CLI_INERTIA_TRIANGLE) && s->reach > 0.0;
}

/// 1, 1, 1 is what tools write when nobody gave an inertia; by chance it may be right.
static bool is_placeholder(const check *c, int32_t link) {
    const stn_mass *mass = &c->model->links[link].mass;
    const stn_mat3 one = stn_mat3_identity();
    bool unit = mass->mass > 0.0;
    for (int32_t i = 0; i < 9 && unit; i++) {
        unit = mass->inertia.m[i / 3][i % 3] == one.m[i / 3][i % 3];
    }
    spread s;
    return unit && (!measure(c, link, &s) || s.gyration > s.reach || s.gyration < 0.1 * s.half);
}

void check_inertia_placeholder(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        if (c->model->links[i].body > 0 && is_placeholder(c, i)) { // what the world holds moves by no inertia
            double mass = c->model->links[i].mass.mass;
            check_say_link(
                c, i,
                "an inertia of 1, 1, 1 kg m^2 for %g kg looks like a placeholder: that is a ball of %.3g m radius",
                mass, sqrt(2.5 / mass));
        }
    }
}

void check_inertia_large(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        spread s;
        if (measure(c, i, &s) && s.gyration > LARGE * s.reach && !is_placeholder(c, i)) {
            check_say_link(
                c, i,
                "its radius of gyration is %.3g m, but its shapes end %.3g m from its centre of mass: are the "
                "moments in kg m^2, about the centre of mass?",
                s.gyration, s.reach);
        }
    }
}

void check_inertia_small(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        spread s;
        if (measure(c, i, &s) && s.gyration < SMALL * s.half && !is_placeholder(c, i)) {
            check_say_link(
                c, i, "its radius of gyration is %.3g m for shapes that measure %.3g m: are the moments in kg m^2?",
                s.gyration, 2.0 * s.half);
        }
    }
}

// ------------------------------------------------------------------------------------------------ place and density

static double outside(double lower, double upper, double x) {
    return fmax(fmax(lower - x, x - upper), 0.0);
}

void check_com_outside(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        stn_aabb box = check_box_of_link(c, i);
        if (!(c->model->links[i].mass.mass > 0.0) || cli_box_is_empty(&box)) {
            continue;
        }
        stn_vec3 com = c->model->links[i].mass.com;
        stn_vec3 off = {outside(box.lower.x, box.upper.x, com.x), outside(box.lower.y, box.upper.y, com.y),
                        outside(box.lower.z, box.upper.z, com.z)};
        double distance = stn_vec3_norm(off), size = cli_box_diagonal(&box);
        if (distance > FAR_OUTSIDE * size) {
            check_say_link(c, i, "its centre of mass lies %.3g m outside its shapes, which measure %.3g m", distance,
                           size);
        }
    }
}

void check_density(check *c) {
    for (int32_t b = 1; b < c->model->body_count; b++) {
        double mass = c->model->bodies[b].mass.mass;
        double volume = mass > 0.0 && c->bodies[b].volume > 0.0 ? c->bodies[b].volume : 0.0;
        double density = volume > 0.0 ? mass / volume : (double)NAN;
        if (density > DENSEST || density < LIGHTEST) {
            check_say_link(c, c->bodies[b].link, "%g kg in collision shapes of %.3g m^3 is %.3g kg/m^3: %s", mass,
                           volume, density,
                           density > DENSEST ? "denser than any metal; is the mass in kg, are the shapes in m?"
                                             : "lighter than any foam; is the mass in kg, are the shapes in m?");
        }
    }
}

void check_mass_zero(check *c) {
    const stn_model *m = c->model;
    if (stn_total_mass(m) == 0.0) {
        return; // good for kinematics, which the loader says
    }
    double *beyond = STN_ARENA_ZEROED(c->arena, m->body_count, double); // of each body the mass of those further out
    if (beyond == NULL) {
        c->out_of_memory = true;
        return;
    }
    for (int32_t b = m->body_count - 1; b > 0; b--) { // a parent has the smaller number
        beyond[m->bodies[b].parent] += beyond[b] + m->bodies[b].mass.mass;
    }
    for (int32_t b = 1; b < m->body_count; b++) {
        int32_t j = m->bodies[b].joint;
        const stn_joint *joint = &m->joints[j];
        // a step between joints at one place, as in a wrist of several axes
        bool step = beyond[b] > 0.0 && c->bodies[b].collisions + c->bodies[b].visuals == 0;
        if (m->bodies[b].mass.mass == 0.0 && !(joint->reflected_inertia > 0.0) && check_is_own_joint(c, j) && !step) {
            check_say_link(c, c->robot->child_of[j], "it moves by joint '%s' and has no mass of its own", joint->name);
        }
    }
}
