// my_plugin.c: contact points of spheres with spheres and half spaces. For each pair: the two nearest points of the
// surfaces, and the unit normal from A into B; stn_contact_set_add_point makes id, distance and material of them.
//   sphere, sphere: n = (c_B - c_A)/|c_B - c_A|,   p_A = c_A + r_A n,   p_B = c_B - r_B n
//   sphere, half space with outward normal u at o: p on the plane below the centre, n = -u
// What to change first: handles and touch, another pair of types.
#include <stiction/plugin.h>

/// A shape in the world.
typedef struct posed {
    const stn_shape *shape;
    const stn_pose *pose; // shape frame -> world
} posed;

typedef struct touching {
    stn_vec3 a, b, normal; // on the two surfaces, world [m]; unit, from A into B
} touching;

static bool is(const stn_shape *shape, stn_shape_type type) {
    return shape->type == type;
}

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    (void)self;
    bool sphere_a = is(&a->shape, STN_SHAPE_SPHERE), sphere_b = is(&b->shape, STN_SHAPE_SPHERE);
    return (sphere_a && (sphere_b || is(&b->shape, STN_SHAPE_HALF_SPACE))) ||
           (sphere_b && is(&a->shape, STN_SHAPE_HALF_SPACE));
}

static touching touch_spheres(posed a, posed b) {
    stn_vec3 x = stn_mat3_column(&a.pose->rotation, 0); // for centres that coincide
    stn_vec3 n = stn_vec3_normalize_or(stn_vec3_sub(b.pose->position, a.pose->position), x);
    return (touching){stn_vec3_mul_add(a.pose->position, a.shape->radius, n),
                      stn_vec3_mul_add(b.pose->position, -b.shape->radius, n), n};
}

/// A half space is what lies below the x-y plane of its frame.
static touching touch_plane(posed sphere, posed plane) {
    stn_vec3 up = stn_mat3_column(&plane.pose->rotation, 2), centre = sphere.pose->position;
    double height = stn_vec3_dot(up, stn_vec3_sub(centre, plane.pose->position));
    return (touching){stn_vec3_mul_add(centre, -sphere.shape->radius, up), stn_vec3_mul_add(centre, -height, up),
                      stn_vec3_neg(up)};
}

/// Either order; what is found for (B, A) is turned round.
static touching touch(posed a, posed b) {
    if (is(a.shape, STN_SHAPE_HALF_SPACE)) {
        touching t = touch_plane(b, a);
        return (touching){t.b, t.a, stn_vec3_neg(t.normal)};
    }
    return is(b.shape, STN_SHAPE_HALF_SPACE) ? touch_plane(a, b) : touch_spheres(a, b);
}

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t pair_count,
                          stn_contact_set *set, stn_error *err) {
    (void)self;
    const stn_model *model = scene->model;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < pair_count && status == STN_OK; i++) {
        const stn_contact_pair *pair = &pairs[i];
        posed a = {&model->geometries[pair->geometry_a].shape, &pair->pose_a};
        posed b = {&model->geometries[pair->geometry_b].shape, &pair->pose_b};
        touching t = touch(a, b);
        double distance = stn_vec3_dot(t.normal, stn_vec3_sub(t.b, t.a));
        if (!(distance > pair->margin)) { // also NaN, which the set refuses by name
            uint64_t feature = 0; // of several points of a pair each has its own, the same while the same corners touch
            status = stn_contact_set_add_point(model, set, pair, t.a, t.b, t.normal, feature, err);
        }
    }
    return status;
}

static const stn_contact_ops ops = {.size = sizeof ops, .handles = handles, .collide = collide};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTACT,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "Contact points of spheres with spheres and half spaces",
    .ops.contact = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
