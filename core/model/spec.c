// SPDX-License-Identifier: Apache-2.0
// Specs to start from, and whether the numbers of one are physical.
#include <stiction/model.h>

#include "model/built.h"
#include "model/joint.h"

stn_field_spec stn_field_spec_unset(void) {
    return (stn_field_spec){.resolution = NAN, .margin = NAN, .thickness = NAN, .volume_mesh = -1};
}

stn_geometry_spec stn_geometry_spec_default(stn_shape shape) {
    return (stn_geometry_spec){.shape = shape,
                               .pose = stn_pose_identity(),
                               .material = stn_material_unset(),
                               .rgba = {0.5f, 0.5f, 0.5f, 1.0f},
                               .collision = true,
                               .visual = true,
                               .category = 1,
                               .mask = UINT32_MAX,
                               .mesh = -1,
                               .field = stn_field_spec_unset()};
}

stn_joint_spec stn_joint_spec_default(const char *name, stn_joint_type type) {
    return (stn_joint_spec){.name = name,
                            .type = type,
                            .parent = STN_WORLD,
                            .child = -1,
                            .origin = stn_pose_identity(),
                            .axis = {1.0, 0.0, 0.0},
                            .lower = -INFINITY,
                            .upper = INFINITY,
                            .effort = INFINITY,
                            .velocity = INFINITY,
                            .acceleration = INFINITY,
                            .gear_ratio = 1.0,
                            .mimic = -1,
                            .mimic_multiplier = 1.0};
}

// -------------------------------------------------------------------------------------------------------- checks
// Are the numbers of a spec physical? Comparisons are written so that NaN fails them.

/// Largest departure of R^T R from the identity that still counts as a rotation: files carry 6 digits or more.
static const double ROTATION_TOLERANCE = 1e-6;
/// Relative to the trace: public groups carry eigenvalues of -1e-16 of it, and asymmetry of the last printed digit.
static const double INERTIA_TOLERANCE = 1e-9;
static const double TRIANGLE_TOLERANCE = 1e-6;

static stn_status fail_range(stn_error *err, const char *member, double value, const char *unit, const char *bound) {
    return stn_fail(err, STN_ERR_ARGUMENT, "%s = %g%s%s must be %s", member, value, unit[0] != '\0' ? " " : "", unit,
                    bound);
}

static stn_status check_finite(const char *member, stn_vec3 v, const char *unit, stn_error *err) {
    if (!stn_vec3_finite(v)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s = (%g, %g, %g) %s must be finite", member, v.x, v.y, v.z, unit);
    }
    return STN_OK;
}

stn_status check_pose(const char *what, const stn_pose *pose, stn_error *err) {
    const stn_mat3 *r = &pose->rotation;
    stn_status status = check_finite(what, pose->position, "m", err);
    if (status != STN_OK) {
        return status;
    }
    double off = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            double product = stn_vec3_dot(stn_mat3_column(r, i), stn_mat3_column(r, j)) - (i == j ? 1.0 : 0.0);
            off = fabs(product) <= off ? off : fabs(product); // keeps NaN
        }
    }
    stn_vec3 xy = stn_vec3_cross(stn_mat3_column(r, 0), stn_mat3_column(r, 1));
    if (!(off <= ROTATION_TOLERANCE) || !(stn_vec3_dot(xy, stn_mat3_column(r, 2)) > 0.0)) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "%s: the rotation must be right-handed and orthonormal (R^T R is off the identity by %g, at most %g)", what,
            off, ROTATION_TOLERANCE);
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- inertia

static const char *const AXES[3] = {"x", "y", "z"};

bool breaks_triangle_inequality(const stn_mat3 *inertia) {
    double lambda[3];
    stn_mat3_eigenvalues(inertia, lambda);
    return lambda[0] + lambda[1] < lambda[2] * (1.0 - TRIANGLE_TOLERANCE);
}

// --------------------------------------------------------------------------------------------------------- specs

stn_status check_name(const char *name, stn_error *err) {
    if (name == NULL || name[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "the name must not be empty");
    }
    return STN_OK;
}

stn_status check_link(const stn_link_spec *spec, stn_error *err) {
    const stn_mat3 *inertia = &spec->mass.inertia;
    stn_status status = check_name(spec->name, err);
    if (status == STN_OK && !(spec->mass.mass >= 0.0 && isfinite(spec->mass.mass))) {
        status = fail_range(err, "mass", spec->mass.mass, "kg", ">= 0 and finite");
    }
    if (status == STN_OK) {
        status = check_finite("centre of mass", spec->mass.com, "m", err);
    }
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < 9; i++) {
        double value = inertia->m[i / 3][i % 3];
        if (!isfinite(value)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "inertia i%s%s = %g kg m^2 must be finite", AXES[i / 3], AXES[i % 3],
                            value);
        }
    }
    double trace = inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2];
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < i; j++) {
            double a = inertia->m[i][j], b = inertia->m[j][i];
            if (!(fabs(a - b) <= INERTIA_TOLERANCE * fabs(trace))) {
                return stn_fail(err, STN_ERR_ARGUMENT, "inertia i%s%s = %g and i%s%s = %g kg m^2 must be equal",
                                AXES[i], AXES[j], a, AXES[j], AXES[i], b);
            }
        }
    }
    double lambda[3];
    stn_mat3_eigenvalues(inertia, lambda);
    if (!(lambda[0] >= -INERTIA_TOLERANCE * trace)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "inertia has the principal moment %g kg m^2, which must be >= 0 (principal moments %g, %g, %g)",
                        lambda[0], lambda[0], lambda[1], lambda[2]);
    }
    return STN_OK;
}

static stn_status check_limits(const stn_joint_spec *spec, const char *unit, stn_error *err) {
    if (isnan(spec->lower) || spec->lower == (double)INFINITY) {
        return fail_range(err, "lower limit", spec->lower, unit, "a number, or -infinity for none");
    }
    if (isnan(spec->upper) || spec->upper == -(double)INFINITY) {
        return fail_range(err, "upper limit", spec->upper, unit, "a number, or infinity for none");
    }
    if (spec->lower > spec->upper) {
        return stn_fail(err, STN_ERR_ARGUMENT, "lower limit %g %s must not be above the upper limit %g %s", spec->lower,
                        unit, spec->upper, unit);
    }
    return STN_OK;
}

/// Members that must be >= 0; `finite` ones may not be infinite either.
typedef struct bound {
    const char *name, *unit;
    double value;
    bool finite;
} bound;

static stn_status check_bounds(const bound *bounds, int32_t count, stn_error *err) {
    for (int32_t i = 0; i < count; i++) {
        if (!(bounds[i].value >= 0.0) || (bounds[i].finite && !isfinite(bounds[i].value))) {
            return fail_range(err, bounds[i].name, bounds[i].value, bounds[i].unit,
                              bounds[i].finite ? ">= 0 and finite" : ">= 0");
        }
    }
    return STN_OK;
}

static stn_status check_drive(const stn_joint_spec *spec, const stn_joint_units *units, stn_error *err) {
    const bound bounds[] = {
        {"effort limit", units->effort, spec->effort, false},
        {"velocity limit", units->velocity, spec->velocity, false},
        {"acceleration limit", units->acceleration, spec->acceleration, false},
        {"damping", units->damping, spec->damping, true},
        {"friction", units->effort, spec->friction, true},
        {"rotor inertia", units->inertia, spec->rotor_inertia, true},
        {"stiffness", units->stiffness, spec->stiffness, true},
        {"servo gain kp", units->stiffness, spec->servo_kp, true},
        {"servo gain kd", units->damping, spec->servo_kd, true},
    };
    if (!isfinite(spec->gear_ratio)) {
        return fail_range(err, "gear ratio", spec->gear_ratio, "1", "finite");
    }
    if (!isfinite(spec->rest)) {
        return fail_range(err, "rest position of the spring", spec->rest, units->position, "finite");
    }
    if (!isfinite(spec->screw_pitch)) {
        return fail_range(err, "screw pitch", spec->screw_pitch, "m", "finite");
    }
    return check_bounds(bounds, STN_COUNT(bounds), err);
}

stn_status check_joint(const stn_joint_spec *spec, stn_error *err) {
    const joint_kind *kind = joint_kind_get(spec->type);
    if (kind == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "unknown joint type %d", (int)spec->type);
    }
    if (spec->type == STN_JOINT_KINEMATIC) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "a joint cannot be kinematic: stn_builder_make_kinematic makes a group's root so");
    }
    stn_status status = check_name(spec->name, err);
    if (status == STN_OK) {
        status = check_pose("origin", &spec->origin, err);
    }
    stn_vec3 axis = spec->axis;
    double longest = fmax(fabs(axis.x), fmax(fabs(axis.y), fabs(axis.z)));
    if (status == STN_OK && kind->has_axis && (!stn_vec3_finite(axis) || !(longest > 0.0))) {
        return stn_fail(err, STN_ERR_ARGUMENT, "axis (%g, %g, %g) must be finite and not zero", axis.x, axis.y, axis.z);
    }
    if (status == STN_OK && kind->limited) {
        status = check_limits(spec, kind->units->position, err);
    }
    if (status == STN_OK && kind->nv > 0) {
        status = check_drive(spec, kind->units, err);
    }
    if (status != STN_OK || spec->mimic < 0) {
        return status;
    }
    if (kind->nv > 0 && !kind->axial) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a %s joint cannot mimic another", kind->name);
    }
    if (!isfinite(spec->mimic_multiplier) || !isfinite(spec->mimic_offset)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mimic multiplier %g and offset %g must be finite",
                        spec->mimic_multiplier, spec->mimic_offset);
    }
    return STN_OK;
}

stn_status check_material(const stn_material *material, stn_error *err) {
    const bound bounds[] = {
        {"mu", "", material->mu, true},
        {"stiffness", "N/m", material->stiffness, false},
        {"relaxation_time", "s", material->relaxation_time, true},
        {"dissipation", "s/m", material->dissipation, true},
        {"restitution", "", material->restitution, true},
        {"modulus", "Pa", material->modulus, false},
        {"mu_static", "", material->mu_static, true},
        {"mu2", "", material->mu2, true},
    };
    for (int32_t i = 0; i < STN_COUNT(bounds); i++) {
        stn_status status = isnan(bounds[i].value) ? STN_OK : check_bounds(&bounds[i], 1, err);
        if (status != STN_OK) {
            return status;
        }
    }
    if (material->restitution > 1.0) {
        return fail_range(err, "restitution", material->restitution, "", "at most 1");
    }
    if (material->mu_static < material->mu) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mu_static = %g must be at least mu = %g: surfaces at rest hold better",
                        material->mu_static, material->mu);
    }
    return STN_OK;
}

stn_status check_surface(const stn_material *material, stn_error *err) {
    stn_status status = check_material(material, err);
    double mu = stn_material_default().mu;
    if (status == STN_OK && isnan(material->mu) && material->mu_static < mu) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "mu_static = %g must be at least mu, which is %g unless stated: state mu", material->mu_static,
                        mu);
    }
    return status;
}

stn_status check_friction_direction(const stn_material *material, stn_vec3 direction, stn_error *err) {
    bool given = direction.x != 0.0 || direction.y != 0.0 || direction.z != 0.0;
    double length = stn_vec3_norm(direction); // its square must be a number
    if (given && !(length > 1e-100 && length < 1e100)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "friction_direction has the length %g: give it one near 1", length);
    }
    double mu = isnan(material->mu) ? stn_material_default().mu : material->mu;
    if (!given && !isnan(material->mu2) && material->mu2 != mu) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "mu2 = %g beside mu = %g needs a friction_direction, along which mu acts and across which mu2",
                        material->mu2, mu);
    }
    if (given && isnan(material->mu2)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "friction_direction has no effect without mu2, the friction coefficient across it");
    }
    return STN_OK;
}

stn_status check_no_direction(const stn_material *material, const char *why, stn_error *err) {
    if (!isnan(material->mu2)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mu2 = %g: %s", material->mu2, why);
    }
    return STN_OK;
}

stn_status check_field(const stn_field_spec *field, stn_error *err) {
    const bound margin = {"field margin", "m", field->margin, true};
    stn_status status = isnan(field->margin) ? STN_OK : check_bounds(&margin, 1, err);
    if (status == STN_OK && !isnan(field->resolution) && !(field->resolution > 0.0 && isfinite(field->resolution))) {
        return fail_range(err, "resolution", field->resolution, "m", "> 0 and finite");
    }
    if (status == STN_OK && !isnan(field->thickness) && !(field->thickness > 0.0 && isfinite(field->thickness))) {
        return fail_range(err, "slab thickness", field->thickness, "m", "> 0 and finite");
    }
    return status;
}

stn_status check_geometry(const stn_geometry_spec *spec, stn_error *err) {
    stn_status status = stn_shape_check(&spec->shape, err);
    if (status == STN_OK) {
        status = check_pose("pose", &spec->pose, err);
    }
    if (status == STN_OK) {
        status = check_surface(&spec->material, err);
    }
    if (status == STN_OK) {
        status = check_finite("surface velocity", spec->surface_velocity, "m/s", err);
    }
    if (status == STN_OK) {
        status = check_finite("friction direction", spec->friction_direction, "1", err);
    }
    if (status == STN_OK) {
        status = check_friction_direction(&spec->material, spec->friction_direction, err);
    }
    return status == STN_OK ? check_field(&spec->field, err) : status;
}

stn_surface_spec stn_surface_spec_default(void) {
    stn_geometry_spec g = stn_geometry_spec_default((stn_shape){.type = STN_SHAPE_SURFACE});
    stn_surface_spec spec = {
        .collision = g.collision, .visual = g.visual, .material = g.material, .category = g.category, .mask = g.mask};
    for (int32_t i = 0; i < 4; i++) {
        spec.rgba[i] = g.rgba[i];
    }
    return spec;
}

stn_status check_surface_spec(const stn_surface_spec *spec, stn_error *err) {
    if (spec->triangle_count < 1 || spec->triangle_count > INT32_MAX / 64) {
        return stn_fail(err, STN_ERR_ARGUMENT, "triangle_count = %d must be 1 to %d", spec->triangle_count,
                        INT32_MAX / 64);
    }
    if (!(spec->thickness >= 0.0 && isfinite(spec->thickness))) {
        return fail_range(err, "thickness", spec->thickness, "m", ">= 0 and finite");
    }
    if (spec->self_collision && (spec->category & spec->mask) == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "self_collision: its category %u does not meet its own mask %u, so it cannot touch itself",
                        spec->category, spec->mask);
    }
    for (int32_t i = 0; i < 4; i++) {
        if (!(spec->rgba[i] >= 0.0F && spec->rgba[i] <= 1.0F)) {
            return fail_range(err, "rgba", (double)spec->rgba[i], "", "0 to 1");
        }
    }
    stn_status status = check_no_direction(
        &spec->material, "a surface of nodes has no axes: its friction is the same in all directions", err);
    return status == STN_OK ? check_surface(&spec->material, err) : status;
}

/// Of one frame: mass, inertia and the two orientations.
static stn_status check_frame(const stn_nodes_spec *spec, int32_t i, stn_error *err) {
    const double *I = spec->inertia + 3 * (size_t)i;
    if (!(spec->mass[i] > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "node %d: mass = %g kg must be > 0 where nodes are frames", i,
                        spec->mass[i]);
    }
    for (int32_t k = 0; k < 3; k++) {
        if (!(I[k] > 0.0 && isfinite(I[k]))) {
            return stn_fail(err, STN_ERR_ARGUMENT, "node %d: inertia[%d] = %g kg m^2 must be > 0 and finite", i, k,
                            I[k]);
        }
    }
    const double *const turns[2] = {spec->orientation, spec->rest_orientation};
    for (int32_t k = 0; k < 2; k++) {
        const double *u = turns[k] != NULL ? turns[k] + 4 * (size_t)i : NULL;
        const double square = u != NULL ? u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3] : 1.0;
        if (!(fabs(sqrt(square) - 1.0) <= 1e-9)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "node %d: %s (%g, %g, %g, %g) must be a quaternion of length 1", i,
                            k == 0 ? "orientation" : "rest_orientation", u[0], u[1], u[2], u[3]);
        }
    }
    return STN_OK;
}

/// What nodes have that are frames, and points have not.
static stn_status check_frames(const stn_nodes_spec *spec, stn_error *err) {
    if (spec->self_collision_skip < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "self_collision_skip = %d must be >= 0", spec->self_collision_skip);
    }
    if (spec->type != STN_NODE_POINT && spec->type != STN_NODE_FRAME) {
        return stn_fail(err, STN_ERR_ARGUMENT, "type = %d is neither point nor frame", (int)spec->type);
    }
    const bool turned = spec->orientation != NULL || spec->rest_orientation != NULL || spec->inertia != NULL;
    if (spec->type == STN_NODE_POINT) {
        return turned
                   ? stn_fail(err, STN_ERR_ARGUMENT, "points have neither orientation nor inertia: let them be frames")
                   : STN_OK;
    }
    if (spec->inertia == NULL || spec->mass == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "frames need mass and inertia: three principal moments a node [kg m^2]");
    }
    stn_status status = STN_OK;
    for (int32_t i = 0; i < spec->node_count && status == STN_OK; i++) {
        status = check_frame(spec, i, err);
    }
    return status;
}

stn_status check_nodes(const stn_nodes_spec *spec, stn_error *err) {
    stn_status status = check_name(spec->name, err);
    if (status != STN_OK) {
        return status;
    }
    if (spec->node_count < 1 || spec->node_count > INT32_MAX / 64) {
        return stn_fail(err, STN_ERR_ARGUMENT, "node_count = %d must be 1 to %d", spec->node_count, INT32_MAX / 64);
    }
    for (int32_t i = 0; i < spec->node_count; i++) {
        const double *x = spec->position + 3 * (size_t)i;
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) {
            return stn_fail(err, STN_ERR_ARGUMENT, "node %d: position (%g, %g, %g) m must be finite", i, x[0], x[1],
                            x[2]);
        }
        const double *rest = spec->rest != NULL ? spec->rest + 3 * (size_t)i : x;
        if (!isfinite(rest[0]) || !isfinite(rest[1]) || !isfinite(rest[2])) {
            return stn_fail(err, STN_ERR_ARGUMENT, "node %d: rest position (%g, %g, %g) m must be finite", i, rest[0],
                            rest[1], rest[2]);
        }
        if (spec->mass != NULL && !(spec->mass[i] >= 0.0 && isfinite(spec->mass[i]))) {
            return stn_fail(err, STN_ERR_ARGUMENT, "node %d: mass = %g kg must be >= 0 and finite", i, spec->mass[i]);
        }
    }
    status = check_frames(spec, err);
    if (status != STN_OK) {
        return status;
    }
    if (!(spec->contact_radius >= 0.0 && isfinite(spec->contact_radius))) {
        return fail_range(err, "contact_radius", spec->contact_radius, "m", ">= 0 and finite");
    }
    status =
        check_no_direction(&spec->material, "nodes have no axes: their friction is the same in all directions", err);
    return status == STN_OK ? check_surface(&spec->material, err) : status;
}
