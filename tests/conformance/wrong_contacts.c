// SPDX-License-Identifier: Apache-2.0
// Contacts of spheres with spheres and half spaces, right and with one fault each.
#include "misconduct.h" // first: it asks for more of the system's headers

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    ONE_ORDER,
    ELSEWHERE,
    FLIPPED,    // the normal goes from B into A
    BENT,       // the normal, by half a radian
    NOT_TURNED, // the normal of (half space, sphere) goes the wrong way round
    UPRIGHT,    // half spaces lie as the world does
    ALL_PAIRS,  // also those beyond the margin
    COUNTS,
    HIDES, // what is no number
    FAILS,
} fault;

typedef struct config {
    int32_t fault;
} config;

static bool sphere(const stn_shape *s) {
    return s->type == STN_SHAPE_SPHERE;
}

static bool plane(const stn_shape *s) {
    return s->type == STN_SHAPE_HALF_SPACE;
}

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    bool one = ((const config *)self)->fault == ONE_ORDER;
    return (sphere(&a->shape) && (sphere(&b->shape) || plane(&b->shape))) ||
           (!one && plane(&a->shape) && sphere(&b->shape));
}

/// A sphere at `x` and the shape at `pose`: nearest points, normal out of the sphere.
static void touch(fault f, double radius, stn_vec3 x, const stn_shape *shape, const stn_pose *pose, stn_vec3 p[2],
                  stn_vec3 *normal) {
    if (sphere(shape)) {
        *normal = stn_vec3_normalize_or(stn_vec3_sub(pose->position, x), stn_vec3_make(1.0, 0.0, 0.0));
        p[1] = stn_vec3_mul_add(pose->position, -shape->radius, *normal);
    } else {
        stn_vec3 up = f == UPRIGHT ? stn_vec3_make(0.0, 0.0, 1.0) : stn_mat3_column(&pose->rotation, 2);
        *normal = stn_vec3_neg(up);
        p[1] = stn_vec3_mul_add(x, stn_vec3_dot(up, stn_vec3_sub(pose->position, x)), up);
    }
    p[0] = stn_vec3_mul_add(x, radius, *normal);
}

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t pair_count,
                          stn_contact_set *set, stn_error *err) {
    const stn_model *model = scene->model;
    stn_arena *arena = scene->arena;
    static double calls;
    fault f = (fault)((const config *)self)->fault;
    if (f == FAILS) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "on purpose");
    }
    double *scratch = STN_ARENA(arena, 4, double);
    if (scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    misbehave((int32_t)f, scratch, 4, arena);
    stn_status status = STN_OK;
    for (int32_t i = 0; i < pair_count && status == STN_OK; i++) {
        const stn_contact_pair *pair = &pairs[i];
        const stn_shape *a = &model->geometries[pair->geometry_a].shape,
                        *b = &model->geometries[pair->geometry_b].shape;
        bool turned = plane(a);
        stn_vec3 p[2], n;
        touch(f, turned ? b->radius : a->radius, turned ? pair->pose_b.position : pair->pose_a.position, turned ? a : b,
              turned ? &pair->pose_a : &pair->pose_b, p, &n);
        double distance = stn_vec3_dot(n, stn_vec3_sub(p[1], p[0]));
        if (!(distance <= pair->margin) && (f == HIDES ? !isfinite(distance) : f != ALL_PAIRS) && isfinite(distance)) {
            continue;
        }
        if (f == HIDES && !isfinite(distance)) {
            p[0] = p[1] = stn_vec3_make(0.0, 0.0, 0.0);
            n = stn_vec3_make(0.0, 0.0, 1.0);
        }
        if (f == ELSEWHERE) {
            p[0] = stn_vec3_mul_add(p[0], -0.5, n);
            p[1] = stn_vec3_mul_add(p[1], -0.5, n);
        }
        if (f == COUNTS) {
            p[0].x += 1e-14 * ++calls;
        }
        if (f == BENT) {
            stn_vec3 across = stn_vec3_cross(n, stn_vec3_make(n.y, n.z, n.x));
            n = stn_vec3_normalize_or(stn_vec3_mul_add(n, 0.5, stn_vec3_normalize_or(across, n)), n);
        }
        n = turned != (f == FLIPPED || (f == NOT_TURNED && turned)) ? stn_vec3_neg(n) : n;
        status = stn_contact_set_add_point(model, set, pair, p[turned], p[!turned], n, 0, err);
    }
    return status;
}

static const stn_contact_ops ops = {.size = sizeof ops, .handles = handles, .collide = collide};

#define CONTACT(word, number)                                                           \
    static const stn_param word##_params[] = {                                          \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")};    \
    static const stn_plugin_desc word = {.size = sizeof word,                           \
                                         .kind = STN_KIND_CONTACT,                      \
                                         .id = "wrong_" #word,                          \
                                         .version = "1",                                \
                                         .summary = "contacts of spheres with a fault", \
                                         .config_size = sizeof(config),                 \
                                         .params = word##_params,                       \
                                         .param_count = 1,                              \
                                         .ops.contact = &ops};

CONTACT(none, NONE)
CONTACT(order, ONE_ORDER)
CONTACT(centre, ELSEWHERE)
CONTACT(normal, FLIPPED)
CONTACT(bent, BENT)
CONTACT(turn, NOT_TURNED)
CONTACT(upright, UPRIGHT)
CONTACT(margin, ALL_PAIRS)
CONTACT(counter, COUNTS)
CONTACT(hidden, HIDES)
CONTACT(fails, FAILS)

#define WITH_MISCONDUCT(word) CONTACT(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&none, &order, &centre, &normal, &bent, &turn, &upright, &margin, &counter, &hidden,
                   &fails STN_MISCONDUCTS(ITS_DESCRIPTOR));
