// SPDX-License-Identifier: Apache-2.0
// Mass properties of a body: its <inertial>, or what its geoms weigh, as inertiafromgeom says; then the bounds and the
// total mass that <compiler> may ask for.
#include <string.h>

#include "mjcf.h"

bool mjcf_wants_geoms(robot_reader *reader, const mjcf_parts *parts) {
    int32_t rule = mjcf_of(reader)->compiler.inertia_from_geom;
    bool given = false;
    for (int32_t i = 0; i < parts->count; i++) {
        given |= strcmp(xml_name(parts->items[i].xml), "inertial") == 0;
    }
    return rule == MJCF_ALWAYS || (rule == MJCF_AUTO && !given);
}

static void read_inertial(robot_reader *reader, const mjcf_part *part, stn_mass *out) {
    const xml_element *xml = part->xml;
    double mass = 0.0, v[6] = {0.0}, lambda[3];
    stn_pose pose = mjcf_plain_pose(reader, xml);
    pose = stn_pose_mul(&part->frame, &pose);
    if (!robot_required(reader, xml, "mass", 1, &mass)) {
        return;
    }
    // Moments about the principal axes, or all six: Ixx Iyy Izz Ixy Ixz Iyz.
    bool full = xml_attribute(xml, "fullinertia") != NULL, diagonal = xml_attribute(xml, "diaginertia") != NULL;
    if (full && mjcf_is_turned(xml)) {
        robot_error(reader, xml, "conflict", "<inertial> has fullinertia and says how it is turned: keep one");
        return;
    }
    if (full && diagonal) {
        robot_error(reader, xml, "conflict", "<inertial> has diaginertia and fullinertia: keep one");
        return;
    }
    if (!full && !diagonal) {
        robot_error(reader, xml, "missing",
                    "<inertial> has no inertia: add diaginertia=\"...\" or fullinertia=\"...\"");
        return;
    }
    if (!robot_reals(reader, xml, full ? "fullinertia" : "diaginertia", full ? 6 : 3, v)) {
        return;
    }
    stn_mat3 inertia = stn_mat3_diagonal(v[0], v[1], v[2]);
    inertia.m[0][1] = inertia.m[1][0] = v[3];
    inertia.m[0][2] = inertia.m[2][0] = v[4];
    inertia.m[1][2] = inertia.m[2][1] = v[5];
    if (mass < 0.0) {
        robot_error(reader, xml, "range", "mass = %g kg must be >= 0", mass);
        return;
    }
    stn_mat3_eigenvalues(&inertia, lambda);
    if (mjcf_of(reader)->compiler.balance_inertia && !(lambda[0] + lambda[1] >= lambda[2])) {
        double mean = (lambda[0] + lambda[1] + lambda[2]) / 3.0;
        inertia = stn_mat3_diagonal(mean, mean, mean);
        robot_note(reader, xml, "inertia",
                   "no rigid body has these moments: made equal to their mean, as balanceinertia says");
    }
    robot_check_mass(reader, xml, mass, &inertia);
    *out = (stn_mass){mass, pose.position, stn_mat3_rotate_tensor(&pose.rotation, &inertia)};
}

/// A unit vector v with (A - lambda) v = 0: across two rows of that matrix, or across the one that is left when lambda
/// is a double eigenvalue.
static stn_vec3 find_eigenvector(const stn_mat3 *a, double lambda, double scale) {
    stn_vec3 rows[3], longest = stn_vec3_zero(), best = stn_vec3_zero();
    for (int32_t i = 0; i < 3; i++) {
        rows[i] = stn_vec3_make(a->m[i][0] - (i == 0 ? lambda : 0.0), a->m[i][1] - (i == 1 ? lambda : 0.0),
                                a->m[i][2] - (i == 2 ? lambda : 0.0));
        rows[i] = stn_vec3_scale(1.0 / scale, rows[i]);
        longest = stn_vec3_norm(rows[i]) > stn_vec3_norm(longest) ? rows[i] : longest;
    }
    for (int32_t i = 0; i < 3; i++) {
        stn_vec3 across = stn_vec3_cross(rows[i], rows[(i + 1) % 3]);
        best = stn_vec3_norm(across) > stn_vec3_norm(best) ? across : best;
    }
    if (stn_vec3_norm(best) > 1e-9) {
        return stn_vec3_normalize_or(best, stn_vec3_make(1.0, 0.0, 0.0));
    }
    stn_mat3 frame = stn_contact_frame(stn_vec3_normalize_or(longest, stn_vec3_make(0.0, 0.0, 1.0)));
    return stn_mat3_column(&frame, 0);
}

void mjcf_read_mass(robot_reader *reader, const mjcf_parts *parts, int32_t index, const stn_mass *sum) {
    const mjcf_compiler *c = &mjcf_of(reader)->compiler;
    robot_link *link = &reader->links[index];
    reader->label = robot_text(reader, "body %s", link->name);
    const mjcf_part *inertial = NULL;
    for (int32_t i = 0; i < parts->count; i++) {
        const mjcf_part *part = &parts->items[i];
        bool found = strcmp(xml_name(part->xml), "inertial") == 0;
        if (found && inertial != NULL) {
            robot_warn(reader, part->xml, "repeated",
                       "a second <inertial> is ignored, the one of line %d counts: remove one",
                       (int)xml_line(inertial->xml));
            break;
        }
        inertial = found ? part : inertial;
    }
    if (inertial != NULL && c->inertia_from_geom != MJCF_ALWAYS) {
        read_inertial(reader, inertial, &link->mass);
    } else if (c->inertia_from_geom == MJCF_NEVER) {
        robot_error(reader, link->xml, "missing", "<body> has no <inertial>, and inertiafromgeom is off: add it");
    } else if (sum->mass > 0.0) {
        link->mass = *sum;
    }
    // boundmass, and boundinertia: no principal moment is smaller.
    stn_mat3 *inertia = &link->mass.inertia;
    double lambda[3], trace = inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2];
    link->mass.mass = fmax(link->mass.mass, c->bound_mass);
    for (int32_t k = 0; k < 3 && c->bound_inertia > 0.0; k++) {
        stn_mat3_eigenvalues(inertia, lambda);
        if (!(lambda[0] < c->bound_inertia)) {
            break;
        }
        stn_vec3 v = find_eigenvector(inertia, lambda[0], fmax(fabs(trace), c->bound_inertia));
        const double x[3] = {v.x, v.y, v.z};
        for (int32_t i = 0; i < 9; i++) {
            inertia->m[i / 3][i % 3] += (c->bound_inertia - lambda[0]) * x[i / 3] * x[i % 3];
        }
    }
}

/// Of what is free to move: pinned points have none in MuJoCo.
static double mass_of_soft(const robot_soft *soft) {
    double sum = soft->mass == NULL ? soft->whole_mass : 0.0;
    for (int32_t k = 0; soft->mass != NULL && k < soft->mesh->node_count; k++) {
        sum += soft->holder[k] == ROBOT_FREE_NODE ? soft->mass[k] : 0.0;
    }
    return sum;
}

void mjcf_scale_masses(robot_reader *reader) {
    double wanted = mjcf_of(reader)->compiler.total_mass, total = 0.0;
    for (int32_t i = 0; i < reader->link_count; i++) {
        total += reader->links[i].mass.mass;
    }
    for (int32_t i = 0; i < reader->soft_count; i++) {
        total += mass_of_soft(&reader->softs[i]);
    }
    if (!(wanted > 0.0) || !(total > 0.0)) {
        return;
    }
    for (int32_t i = 0; i < reader->link_count; i++) {
        stn_mass *mass = &reader->links[i].mass;
        mass->mass *= wanted / total;
        for (int32_t k = 0; k < 9; k++) {
            mass->inertia.m[k / 3][k % 3] *= wanted / total;
        }
    }
    for (int32_t i = 0; i < reader->soft_count; i++) {
        robot_soft *soft = &reader->softs[i];
        soft->whole_mass *= wanted / total;
        for (int32_t k = 0; soft->mass != NULL && k < soft->mesh->node_count; k++) {
            soft->mass[k] *= wanted / total;
        }
    }
}
