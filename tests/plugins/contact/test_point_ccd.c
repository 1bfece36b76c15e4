// SPDX-License-Identifier: Apache-2.0
// Convex pairs beside libccd (where it is installed): GJK and EPA by another author. Its answers are good to 1e-3 on
// curved shapes and not always that; it judges nothing alone. Where the two differ by more, the search over directions
// of point_oracle.h must agree with ours. Whether two bodies overlap it must always say as we do. The printed table
// says how often the depths agree.
#include <ccd/ccd.h>

#include "point_oracle.h"
#include "point_random.h"

enum { CASES = 400 };
static const stn_shape_type types[] = {STN_SHAPE_SPHERE,   STN_SHAPE_BOX,       STN_SHAPE_CAPSULE,
                                       STN_SHAPE_CYLINDER, STN_SHAPE_ELLIPSOID, STN_SHAPE_CONVEX};

static stn_vec3 furthest_vertex(const stn_mesh *mesh, stn_vec3 d) {
    const double *best = mesh->vertices;
    for (int32_t i = 1; i < mesh->vertex_count; i++) {
        const double *p = mesh->vertices + 3 * (size_t)i;
        bool further = p[0] * d.x + p[1] * d.y + p[2] * d.z > best[0] * d.x + best[1] * d.y + best[2] * d.z;
        best = further ? p : best;
    }
    return stn_vec3_make(best[0], best[1], best[2]);
}

static stn_vec3 furthest(const stn_shape *s, stn_vec3 d) {
    stn_vec3 e = s->half_extents,
             ball = stn_vec3_scale(s->radius, stn_vec3_normalize_or(d, stn_vec3_make(1.0, 0.0, 0.0)));
    double l = copysign(s->half_length, d.z), rho = hypot(d.x, d.y), r = rho > 0.0 ? s->radius / rho : 0.0;
    switch (s->type) {
    case STN_SHAPE_BOX:
        return stn_vec3_make(copysign(e.x, d.x), copysign(e.y, d.y), copysign(e.z, d.z));
    case STN_SHAPE_CYLINDER:
        return stn_vec3_make(r * d.x, r * d.y, l);
    case STN_SHAPE_ELLIPSOID: {
        stn_vec3 u = stn_vec3_normalize_or(stn_vec3_make(e.x * d.x, e.y * d.y, e.z * d.z), stn_vec3_zero());
        return stn_vec3_make(e.x * u.x, e.y * u.y, e.z * u.z);
    }
    case STN_SHAPE_CONVEX:
        return furthest_vertex(s->mesh, d);
    default: // a sphere is a capsule without length
        return stn_vec3_add(ball, stn_vec3_make(0.0, 0.0, s->type == STN_SHAPE_CAPSULE ? l : 0.0));
    }
}

static void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out) {
    const placed *p = object;
    stn_vec3 d = {direction->v[0], direction->v[1], direction->v[2]};
    d = stn_pose_apply(&p->pose, furthest(&p->shape, stn_mat3_apply_transposed(&p->pose.rotation, d)));
    ccdVec3Set(out, d.x, d.y, d.z);
}

/// Depth by EPA, negative when it finds them apart, NAN: no answer.
static double depth_by_ccd(const placed *a, const placed *b) {
    ccd_t ccd;
    ccd_real_t depth = 0.0;
    ccd_vec3_t direction, position;
    CCD_INIT(&ccd);
    ccd.support1 = support;
    ccd.support2 = support;
    ccd.max_iterations = 500;
    ccd.epa_tolerance = 1e-9;
    int status = ccdGJKPenetration(a, b, &ccd, &depth, &direction, &position);
    return status == 0 ? depth : status == -1 ? -1.0 : (double)NAN;
}

typedef struct agreement {
    int32_t within_1e6, within_1e3, none, failures;
} agreement;

static void compare(probe *p, const placed *a, const placed *b, agreement *g) {
    stn_error err;
    assert_ok(probe_collide(p, a, b, 1e9, 0.5, &err), err);
    stn_vec3 n = stn_vec3_zero();
    double phi = INFINITY, size = size_of_pair(a, b), theirs = depth_by_ccd(a, b);
    for (int32_t i = 0; i < p->set.count; i++) {
        n = p->set.contacts[i].phi0 < phi ? p->set.contacts[i].normal : n;
        phi = fmin(phi, p->set.contacts[i].phi0);
    }
    double apart = isnan(theirs) ? HUGE_VAL : fabs(fmax(-phi, 0.0) - fmax(theirs, 0.0)) / size;
    bool overlap = phi<0.0, other_verdict = fabs(phi)> 1e-6 * size && overlap != (theirs >= 0.0);
    g->within_1e6 += apart <= 1e-6;
    g->within_1e3 += apart > 1e-6 && apart <= 1e-3;
    g->none += !(apart <= 1e-3);
    bool ours = fabs(oracle_along(a, b, n) - phi) <= 1e-9 * size && oracle_distance(a, b) <= phi + 1e-9 * size;
    if (other_verdict || (!(apart <= 1e-3) && !ours)) {
        g->failures++;
    }
}

static void depths_agree_with_libccd_or_it_is_wrong(void **state) {
    (void)state;
    probe p;
    stn_error err;
    int32_t failures = 0;
    assert_ok(probe_create(&p, NULL, 0, &err), err);
    print_message("A          B           cases   to 1e-6 of the size   to 1e-3   else\n");
    for (int32_t i = 0; i < STN_COUNT(types); i++) {
        for (int32_t j = i; j < STN_COUNT(types); j++) {
            stn_random r = {500 + 10 * (uint64_t)i + (uint64_t)j};
            agreement g = {0};
            for (int32_t k = 0; k < CASES; k++) {
                placed a = {random_shape(&r, p.context, types[i]), random_pose(&r, 0.5)};
                placed b = {random_shape(&r, p.context, types[j]), random_pose(&r, 0.5)};
                compare(&p, &a, &b, &g);
                stn_mesh_release(a.shape.mesh);
                stn_mesh_release(b.shape.mesh);
            }
            print_message("%-10s %-10s %6d   %8d   %19d   %4d\n", stn_shape_name(types[i]), stn_shape_name(types[j]),
                          CASES, g.within_1e6, g.within_1e3, g.none);
            failures += g.failures;
        }
    }
    probe_destroy(&p);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depths_agree_with_libccd_or_it_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
