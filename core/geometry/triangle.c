// SPDX-License-Identifier: Apache-2.0
// One triangle: its nearest point, the foot of the perpendicular or the nearest point of its edges, and where a ray
// meets it [woop-2013].
//
// For the ray, space is sheared and permuted so that the ray runs along z from the origin. It meets the triangle when
// the three edge functions of the corners' shadows, U = C_x B_y - C_y B_x and so on, do not differ in sign. Two
// triangles that share an edge compute this edge's function from the same products, exactly negated, so that no ray
// passes between them; this needs products and differences that are rounded one by one (no fused ones).
#include "geometry/triangle.h"

#include "geometry/raw_mesh.h"

triangle triangle_of(const stn_mesh *mesh, int32_t id) {
    const int32_t *ids = mesh->triangles + 3 * (size_t)id;
    return (triangle){mesh_vertex(mesh->vertices, ids[0]), mesh_vertex(mesh->vertices, ids[1]),
                      mesh_vertex(mesh->vertices, ids[2])};
}

static stn_vec3 nearest_on_edge(stn_vec3 from, stn_vec3 to, stn_vec3 p) {
    stn_vec3 edge = stn_vec3_sub(to, from);
    double length2 = stn_vec3_dot(edge, edge), along = stn_vec3_dot(edge, stn_vec3_sub(p, from));
    if (!(along > 0.0)) {
        return from;
    }
    return along < length2 ? stn_vec3_mul_add(from, along / length2, edge) : to;
}

static double distance2(stn_vec3 p, stn_vec3 q) {
    stn_vec3 d = stn_vec3_sub(q, p);
    return stn_vec3_dot(d, d);
}

stn_vec3 triangle_nearest(const triangle *t, stn_vec3 p) {
    const stn_vec3 corner[4] = {t->a, t->b, t->c, t->a};
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(t->b, t->a), stn_vec3_sub(t->c, t->a)), best = t->a;
    double n2 = stn_vec3_dot(n, n), least = INFINITY;
    bool over = n2 > 0.0;
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 edge = stn_vec3_sub(corner[k + 1], corner[k]), arm = stn_vec3_sub(p, corner[k]);
        if (over && stn_vec3_dot(n, stn_vec3_cross(edge, arm)) > 0.0) {
            continue; // on the inner side of this edge
        }
        over = false;
        stn_vec3 q = nearest_on_edge(corner[k], corner[k + 1], p);
        double d = distance2(p, q);
        if (d < least) {
            least = d;
            best = q;
        }
    }
    return over ? stn_vec3_mul_add(p, -stn_vec3_dot(n, stn_vec3_sub(p, t->a)) / n2, n) : best;
}

static double component(stn_vec3 v, int32_t axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

triangle_ray triangle_ray_make(stn_vec3 origin, stn_vec3 direction) {
    double x = fabs(direction.x), y = fabs(direction.y), z = fabs(direction.z);
    triangle_ray ray = {.origin = origin, .z = z >= x && z >= y ? 2 : y >= x ? 1 : 0};
    double largest = component(direction, ray.z);
    ray.x = (ray.z + 1) % 3;
    ray.y = (ray.z + 2) % 3;
    ray.shear_x = component(direction, ray.x) / largest;
    ray.shear_y = component(direction, ray.y) / largest;
    ray.shear_z = 1.0 / largest;
    return ray;
}

static stn_vec3 sheared(const triangle_ray *ray, stn_vec3 p) {
    stn_vec3 d = stn_vec3_sub(p, ray->origin);
    double z = component(d, ray->z);
    return stn_vec3_make(component(d, ray->x) - ray->shear_x * z, component(d, ray->y) - ray->shear_y * z,
                         ray->shear_z * z);
}

bool triangle_meet(const triangle *t, const triangle_ray *ray, double *at) {
    stn_vec3 a = sheared(ray, t->a), b = sheared(ray, t->b), c = sheared(ray, t->c);
    double u = c.x * b.y - c.y * b.x, v = a.x * c.y - a.y * c.x, w = b.x * a.y - b.y * a.x;
    if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) {
        return false;
    }
    double sum = u + v + w;
    if (sum == 0.0 || !isfinite(sum)) {
        return false;
    }
    *at = (u * a.z + v * b.z + w * c.z) / sum;
    return true;
}
