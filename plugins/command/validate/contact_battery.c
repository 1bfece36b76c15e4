// SPDX-License-Identifier: Apache-2.0
// What every contact model must do, for each two types of shapes that it handles: points on the shapes, normals along
// which they part, the same contact whichever comes first and however the world is turned.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/world.h>

#include "random_stream.h"
#include "validate.h"

/// Every type that a contact model may handle without a file, twice, in opposite orders: geometry i of the first half
/// is that of TYPES - 1 - i in the second.
enum { TYPES = 6, GEOMETRIES = 2 * TYPES, ROUNDS = 30, PATCH_ROUNDS = 5 };
static const double margin = 2e-3; // [m]
static const double facets = 4e-3; // by how much a round shape and the one that its patch is cut from may differ [m]

typedef struct subject {
    validate_trial *trial;
    random_stream random;
    stn_instance *instance;
    const stn_contact_ops *ops;
    stn_model *model;
    void *prepared;
    stn_arena *arena;
    stn_error error;
} subject;

/// Two posed shapes of these types, and which of them is geometry a.
typedef struct scene {
    int32_t type[2];
    stn_pose pose[2];
} scene;

static stn_shape shape_of(int32_t type) {
    switch (type) {
    case 0:
        return stn_shape_sphere(0.1);
    case 1:
        return stn_shape_box(stn_vec3_make(0.1, 0.08, 0.12));
    case 2:
        return stn_shape_capsule(0.06, 0.1);
    case 3:
        return stn_shape_cylinder(0.08, 0.1);
    case 4:
        return stn_shape_ellipsoid(stn_vec3_make(0.1, 0.08, 0.12));
    default:
        return stn_shape_half_space();
    }
}

/// Shapes of a contact model that makes patches are compliant, some stiffer than others.
static void soften(const subject *s, int32_t g, stn_geometry_spec *shape) {
    if (stn_plugin_says(s->instance, "modulus")) {
        int32_t type = g < TYPES ? g : GEOMETRIES - 1 - g;
        shape->material.modulus = 1e6 * (1 + type % 3);
        shape->field.thickness = 0.1;
        shape->field.resolution = 0.03;
    }
}

static void end(subject *s) {
    if (s->ops != NULL && s->ops->prepare != NULL) {
        s->ops->release(s->prepared);
    }
    stn_arena_destroy(s->arena);
    stn_instance_destroy(s->instance);
    stn_model_destroy(s->model);
}

static bool begin(subject *s, validate_trial *trial) {
    *s = (subject){.trial = trial};
    s->random.state = stn_hash(trial->request->seed, trial->check, strlen(trial->check));
    s->instance = trial_instance(trial, STN_KIND_CONTACT);
    if (s->instance == NULL) {
        return false;
    }
    s->arena = stn_arena_create(trial->request->context);
    stn_model_builder *builder = NULL;
    stn_status status = stn_builder_create(s->trial->request->context, &builder, &s->error);
    for (int32_t g = 0; g < GEOMETRIES && status == STN_OK; g++) {
        int32_t type = g < TYPES ? g : GEOMETRIES - 1 - g, robot = 0, link = STN_WORLD, geometry = 0;
        char name[16] = {(char)('a' + g), '\0'};
        stn_link_spec spec = {.name = name, .mass = {1.0, {0.0, 0.0, 0.0}, stn_mat3_diagonal(0.01, 0.01, 0.01)}};
        stn_geometry_spec shape = stn_geometry_spec_default(shape_of(type));
        shape.material.stiffness = 1e5;
        soften(s, g, &shape);
        if (type < TYPES - 1) { // half spaces stand in the world
            status = stn_builder_begin_group(builder, name, &robot, &s->error);
            status = status == STN_OK ? stn_builder_add_link(builder, &spec, &link, &s->error) : status;
        }
        status = status == STN_OK ? stn_builder_add_geometry(builder, link, &shape, &geometry, &s->error) : status;
    }
    status = status == STN_OK ? stn_model_compile(builder, &s->model, &s->error) : status;
    stn_builder_destroy(builder);
    s->ops = s->instance->desc->ops.contact;
    if (status == STN_OK && s->ops->prepare != NULL) {
        status = s->ops->prepare(s->instance->self, s->model, &s->prepared, &s->error);
    }
    if (status != STN_OK || s->arena == NULL) {
        trial_fail(trial, "no model of simple shapes: %s", s->error.text);
        end(s);
        return false;
    }
    return true;
}

static bool handles(const subject *s, int32_t a, int32_t b) {
    const stn_geometry *x = &s->model->geometries[a], *y = &s->model->geometries[GEOMETRIES - 1 - b];
    return !(a == TYPES - 1 && b == TYPES - 1) && s->ops->handles(s->instance->self, x, y);
}

// -------------------------------------------------------------------------------------------------------------- scenes

static stn_pose random_pose(subject *s) {
    stn_quat q = {random_normal(&s->random), random_normal(&s->random), random_normal(&s->random),
                  random_normal(&s->random)};
    stn_vec3 x = {random_normal(&s->random), random_normal(&s->random), random_normal(&s->random)};
    return stn_pose_make(stn_quat_normalize(q), x);
}

/// The contacts of a scene, `swapped`: with the other shape as geometry a. The arena begins anew with every `fresh`
/// one.
static stn_contact_set contacts_of(subject *s, const scene *at, bool swapped, bool fresh) {
    int32_t first = at->type[swapped ? 1 : 0], second = at->type[swapped ? 0 : 1];
    stn_contact_pair pair = {.geometry_a = first,
                             .geometry_b = GEOMETRIES - 1 - second,
                             .margin = margin,
                             .pose_a = at->pose[swapped ? 1 : 0],
                             .pose_b = at->pose[swapped ? 0 : 1]};
    if (fresh) {
        stn_arena_reset(s->arena);
    }
    stn_contact_set set = {.arena = s->arena};
    pair.material = stn_model_pair_material(s->model, pair.geometry_a, pair.geometry_b);
    s->error = (stn_error){STN_OK, ""};
    const stn_contact_scene found_in = {.model = s->model, .prepared = s->prepared, .arena = s->arena};
    stn_status status = s->ops->collide(s->instance->self, &found_in, &pair, 1, &set, &s->error);
    if (status != STN_OK) {
        trial_fail(s->trial, "a %s and a %s: %s", stn_shape_name(shape_of(at->type[0]).type),
                   stn_shape_name(shape_of(at->type[1]).type), s->error.text);
        set.count = 0;
    }
    return set;
}

static const stn_contact *deepest(const stn_contact_set *set) {
    const stn_contact *best = set->count > 0 ? &set->contacts[0] : NULL;
    for (int32_t i = 1; i < set->count; i++) {
        best = set->contacts[i].phi0 < best->phi0 ? &set->contacts[i] : best;
    }
    return best;
}

/// Moves B along a random line until the two overlap by a little: by bisection, with what the model itself says.
static bool draw_touching(subject *s, int32_t a, int32_t b, scene *at) {
    *at = (scene){{a, b}, {random_pose(s), random_pose(s)}};
    stn_vec3 u = stn_mat3_column(&at->pose[0].rotation, 2); // out of a half space
    if (b == TYPES - 1) {
        u = stn_vec3_neg(stn_mat3_column(&at->pose[1].rotation, 2));
    }
    double near = 0.0, far = 1.0, wanted = -random_uniform(&s->random, 1e-4, 2e-3);
    for (int32_t i = 0; i < 40 && !s->trial->decided; i++) {
        double middle = 0.5 * (near + far);
        at->pose[1].position = stn_vec3_mul_add(at->pose[0].position, middle, u);
        stn_contact_set set = contacts_of(s, at, false, true);
        const stn_contact *c = deepest(&set);
        if (c != NULL && c->phi0 <= wanted) {
            near = middle;
        } else {
            far = middle;
        }
    }
    at->pose[1].position = stn_vec3_mul_add(at->pose[0].position, near, u);
    if (!s->trial->decided && near == 0.0) {
        trial_fail(s->trial, "a %s and a %s, origins together: no contact that is deeper than %.2g m",
                   stn_shape_name(shape_of(a).type), stn_shape_name(shape_of(b).type), -wanted);
    }
    return !s->trial->decided;
}

/// Looks at one scene; `worst` is what is reported.
typedef void visit(subject *s, const scene *at, const char *words, double *worst);

static void visit_all(validate_trial *trial, visit *look, const char *what) {
    subject s;
    double worst = 0.0;
    int32_t seen = 0;
    if (!begin(&s, trial)) {
        return;
    }
    int32_t rounds = stn_plugin_says(s.instance, "modulus") ? PATCH_ROUNDS : ROUNDS;
    for (int32_t k = 0; k < TYPES * TYPES; k++) {
        int32_t a = k / TYPES, b = k % TYPES;
        scene at;
        for (int32_t round = 0; round < rounds && handles(&s, a, b) && !trial->decided && draw_touching(&s, a, b, &at);
             round++) {
            char words[64];
            snprintf(words, sizeof words, "a %s and a %s", stn_shape_name(shape_of(a).type),
                     stn_shape_name(shape_of(b).type));
            look(&s, &at, words, &worst);
            seen++;
        }
    }
    if (seen == 0) {
        trial_skip(trial, "handles none of sphere, box, capsule, cylinder, ellipsoid, half space");
    }
    trial_ok(trial, "%d touching pairs%s %.1e", seen, what, worst);
    end(&s);
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_contact_ops *ops = trial->request->plugin->desc->ops.contact;
    subject s;
    if (ops == NULL || ops->handles == NULL || ops->collide == NULL || (ops->prepare != NULL && ops->release == NULL)) {
        trial_fail(trial, "handles, collide, or the release of its prepare is missing");
        return;
    }
    if (!begin(&s, trial)) {
        return;
    }
    int32_t count = 0;
    for (int32_t a = 0; a < TYPES; a++) {
        for (int32_t b = 0; b <= a; b++) {
            count += handles(&s, a, b);
            if (handles(&s, a, b) != handles(&s, b, a)) {
                trial_fail(trial, "handles a %s with a %s in one order alone", stn_shape_name(shape_of(a).type),
                           stn_shape_name(shape_of(b).type));
            }
        }
    }
    if (ops->release != NULL) {
        ops->release(NULL);
    }
    trial_ok(trial, "%d of 20 pairs of simple shapes", count);
    end(&s);
}

/// How far outside of both geometries contacts begin by themselves.
static double own_margins(const subject *s, const stn_contact *c) {
    if (!STN_PLUGIN_HAS(s->ops, margin)) {
        return 0.0;
    }
    const stn_geometry *g = s->model->geometries;
    return s->ops->margin(s->instance->self, &g[c->geometry_a]) + s->ops->margin(s->instance->self, &g[c->geometry_b]);
}

/// Each point lies at both shapes, no further than the margin; ids are all different.
static void look_at_points(subject *s, const scene *at, const char *words, double *worst) {
    stn_contact_set set = contacts_of(s, at, false, true);
    for (int32_t i = 0; i < set.count; i++) {
        const stn_contact *c = &set.contacts[i];
        double room = fabs(c->phi0) + (c->patch >= 0 ? facets : 1e-6), out = 0.0;
        for (int32_t side = 0; side < 2; side++) {
            stn_shape shape = shape_of(at->type[side]);
            stn_vec3 p = stn_pose_apply_inverse(&at->pose[side], c->point);
            stn_pose origin = stn_pose_identity();
            stn_aabb box = stn_shape_aabb(&shape, &origin, room);
            if (shape.type == STN_SHAPE_HALF_SPACE) {
                out = fmax(out, p.z - room);
                continue;
            }
            out = fmax(out, fmax(fmax(p.x - box.upper.x, box.lower.x - p.x),
                                 fmax(fmax(p.y - box.upper.y, box.lower.y - p.y),
                                      fmax(p.z - box.upper.z, box.lower.z - p.z))));
        }
        *worst = fmax(*worst, -c->phi0);
        if (!(out <= 0.0) || !(c->phi0 <= (margin + own_margins(s, c)) * (1.0 + 1e-9))) {
            trial_fail(s->trial, "%s: a point %.3g m outside of one of them, phi0 = %.3g m, margin %g m", words, out,
                       c->phi0, margin);
        }
        for (int32_t k = 0; k < i; k++) {
            if (set.contacts[k].id == c->id) {
                trial_fail(s->trial, "%s: contacts %d and %d have the same id", words, k, i);
            }
        }
    }
}

static void check_points(validate_trial *trial) {
    visit_all(trial, look_at_points, ", deepest [m]");
}

/// What a patch does to B at rest [N], and how that grows as B moves along it [N/m].
typedef struct push {
    stn_vec3 force, along;
    double stiffness;
} push;

static push push_of(const stn_contact_set *set) {
    push p = {0};
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        p.force = stn_vec3_mul_add(p.force, c->material.stiffness * fmax(-c->phi0, 0.0), c->normal);
    }
    p.along = stn_vec3_normalize_or(p.force, stn_vec3_make(0.0, 0.0, 1.0));
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        double part = stn_vec3_dot(c->normal, p.along);
        p.stiffness += c->phi0 < 0.0 ? c->material.stiffness * part * part : 0.0;
    }
    return p;
}

/// B moved by h along the force on it: that falls as the stiffness of the faces says.
static void look_at_push(subject *s, const scene *at, const char *words, double *worst) {
    const double h = 1e-5;
    stn_contact_set set = contacts_of(s, at, false, true);
    push before = push_of(&set);
    double part[2];
    for (int32_t side = 0; side < 2; side++) {
        scene moved = *at;
        moved.pose[1].position = stn_vec3_mul_add(moved.pose[1].position, side == 0 ? -h : h, before.along);
        set = contacts_of(s, &moved, false, true);
        part[side] = stn_vec3_dot(push_of(&set).force, before.along);
    }
    double stiffness = (part[0] - part[1]) / (2.0 * h), off = fabs(stiffness / before.stiffness - 1.0);
    *worst = fmax(*worst, off);
    if (!(off <= 0.4)) {
        trial_fail(s->trial, "%s: the force falls by %.3g N/m as B moves along it, the faces say %.3g N/m", words,
                   stiffness, before.stiffness);
    }
}

/// B moved along the normal by h parts by h, moved into A it sinks in by h.
static void look_at_normals(subject *s, const scene *at, const char *words, double *worst) {
    const double h = 2e-5;
    stn_contact_set set = contacts_of(s, at, false, true);
    if (set.count == 0) {
        trial_fail(s->trial, "%s: no contact where there was one", words);
        return;
    }
    if (set.patch_count > 0) {
        look_at_push(s, at, words, worst);
        return;
    }
    stn_contact before = *deepest(&set);
    for (int32_t sign = -1; sign <= 1; sign += 2) {
        scene moved = *at;
        moved.pose[1].position = stn_vec3_mul_add(moved.pose[1].position, sign * h, before.normal);
        set = contacts_of(s, &moved, false, true);
        double change = set.count > 0 ? deepest(&set)->phi0 - before.phi0 : (double)NAN;
        *worst = fmax(*worst, fabs(change / (sign * h) - 1.0));
        if (!(fabs(change - sign * h) <= 0.05 * h)) {
            trial_fail(s->trial, "%s: B moved by %.2g m along the normal from A into B changes phi0 by %.3g m", words,
                       sign * h, change);
        }
    }
}

static void check_normals(validate_trial *trial) {
    visit_all(trial, look_at_normals, ", phi0 follows the normal but for");
}

static void look_at_swap(subject *s, const scene *at, const char *words, double *worst) {
    stn_contact_set one = contacts_of(s, at, false, true), other = contacts_of(s, at, true, false);
    if (one.count == 0 || other.count != one.count) {
        trial_fail(s->trial, "%s: %d contacts, the other way round %d", words, one.count, other.count);
        return;
    }
    for (int32_t i = 0; i < one.count; i++) {
        const stn_contact *c = &one.contacts[i], *same = NULL;
        double least = INFINITY;
        for (int32_t k = 0; k < other.count; k++) {
            double apart = stn_vec3_norm(stn_vec3_sub(other.contacts[k].point, c->point));
            same = apart < least ? &other.contacts[k] : same;
            least = fmin(least, apart);
        }
        double turn = stn_vec3_norm(stn_vec3_add(c->normal, same->normal)), off = fabs(c->phi0 - same->phi0);
        *worst = fmax(*worst, least);
        if (!(least <= 1e-6 && turn <= 1e-4 && off <= 1e-7)) {
            trial_fail(s->trial,
                       "%s: with the other one first a point is %.2g m off, its normal %.2g from opposite, phi0 %.2g m",
                       words, least, turn, off);
        }
    }
}

static void check_swap(validate_trial *trial) {
    visit_all(trial, look_at_swap, " in both orders, points apart by at most [m]");
}

static void look_at_turned(subject *s, const scene *at, const char *words, double *worst) {
    stn_pose turn = random_pose(s);
    scene turned = *at;
    for (int32_t side = 0; side < 2; side++) {
        turned.pose[side] = stn_pose_mul(&turn, &at->pose[side]);
    }
    stn_contact_set one = contacts_of(s, at, false, true), other = contacts_of(s, &turned, false, false);
    if (one.count == 0 || other.count == 0) {
        trial_fail(s->trial, "%s: %d contacts, in a turned world %d", words, one.count, other.count);
        return;
    }
    double off = fabs(deepest(&one)->phi0 - deepest(&other)->phi0);
    stn_vec3 normal = stn_mat3_apply(&turn.rotation, deepest(&one)->normal);
    double bent = stn_vec3_norm(stn_vec3_sub(normal, deepest(&other)->normal));
    *worst = fmax(*worst, off);
    if (!(off <= 1e-7 && bent <= 1e-4)) {
        trial_fail(s->trial, "%s: in a turned world phi0 is %.2g m off, the normal %.2g", words, off, bent);
    }
}

static void check_turned(validate_trial *trial) {
    visit_all(trial, look_at_turned, ", phi0 off by at most [m]");
}

static void look_apart(subject *s, const scene *at, const char *words, double *worst) {
    stn_contact_set set = contacts_of(s, at, false, true);
    const stn_contact *c = deepest(&set);
    if (c == NULL) {
        return;
    }
    scene apart = *at;
    double by = c->patch >= 0 ? 1.0 : margin - c->phi0 + 1e-4; // phi0 of a face is no distance
    apart.pose[1].position =
        stn_vec3_mul_add(apart.pose[1].position, by, c->patch >= 0 ? push_of(&set).along : c->normal);
    set = contacts_of(s, &apart, false, true);
    *worst = 0.0;
    if (set.count > 0) {
        trial_fail(s->trial, "%s: apart by more than the margin of %g m, and %d contacts, phi0 = %.6g m", words, margin,
                   set.count, deepest(&set)->phi0);
    }
}

static void check_apart(validate_trial *trial) {
    visit_all(trial, look_apart, " moved apart beyond the margin, contacts:");
}

/// The same pair again: the same bytes, no allocation, and the pair as it was.
static void look_again(subject *s, const scene *at, const char *words, double *worst) {
    stn_contact_set one = contacts_of(s, at, false, true);
    contacts_of(s, at, false, false); // the arena grows here
    stn_arena_reset(s->arena);
    one = contacts_of(s, at, false, true);
    int64_t before = stn_context_allocations(s->trial->request->context);
    stn_contact_set other = contacts_of(s, at, false, false);
    int64_t more = stn_context_allocations(s->trial->request->context) - before;
    bool same = one.count == other.count;
    for (int32_t i = 0; i < one.count && same; i++) {
        const stn_contact *x = &one.contacts[i], *y = &other.contacts[i];
        same = x->id == y->id && x->phi0 == y->phi0 && memcmp(&x->point, &y->point, sizeof x->point) == 0 &&
               memcmp(&x->normal, &y->normal, sizeof x->normal) == 0;
    }
    *worst = fmax(*worst, (double)more);
    if (!same || more > 0) {
        trial_fail(s->trial, "%s, once more: %s, %lld allocations", words, same ? "the same" : "other contacts",
                   (long long)more);
    }
}

static void check_again(validate_trial *trial) {
    visit_all(trial, look_again, " once more, allocations");
}

/// What cannot be a pose may fail or find nothing, but no contact comes of it.
static void look_at_nan(subject *s, const scene *at, const char *words, double *worst) {
    scene bad = *at;
    bad.pose[1].position.x = (double)NAN;
    validate_trial *trial = s->trial, quiet = *trial;
    s->trial = &quiet;
    stn_contact_set set = contacts_of(s, &bad, false, true);
    s->trial = trial;
    *worst = 0.0;
    if (set.count > 0) {
        trial_fail(trial, "%s, one of them at x = nan: %d contacts", words, set.count);
    } else if (quiet.decided && s->error.text[0] == '\0') {
        trial_fail(trial, "%s, one of them at x = nan: failed without a line", words);
    }
}

static void check_nan(validate_trial *trial) {
    visit_all(trial, look_at_nan, ", one of them at NaN, contacts:");
}

static const validate_check checks[] = {
    {"declares what it is", "handles must give the same answer in both orders, contact.h", check_declares},
    {"points on the shapes", "p_a and p_b are points of the two surfaces; a feature number for each point of a pair",
     check_points},
    {"normals", "the normal goes from A into B, phi0 = n.(p_b - p_a) is negative in overlap", check_normals},
    {"either order", "turn round what is found for (B, A): normal, points and features", check_swap},
    {"rotation of the world", "measure in the frame of a shape, or nothing but differences of positions", check_turned},
    {"apart", "no contact with phi0 beyond the pair's margin", check_apart},
    {"same again", "no static data; scratch memory from the arena", check_again},
    {"NaN in the input", "leave comparisons so that NaN reaches stn_contact_set_add, which refuses it", check_nan},
};

const validate_battery validate_contacts = {STN_KIND_CONTACT, STN_COUNT(checks), checks};
