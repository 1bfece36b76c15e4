// SPDX-License-Identifier: Apache-2.0
// How true the depths are that bench_collision.c times: every overlapping pair of bodies in a heap with cylinders and
// in one of convex hulls, the deepest point of each engine beside the slow oracle of the property tests. Errors are
// relative to the smaller body's radius. Missed: pairs deeper than 1e-6 of it without a point; false: pairs with a
// point that are further apart than that. Errors are those of the pairs that are neither.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../plugins/contact/point_oracle.h"
#include "bench_peer.h"
#include "bench_time.h"
#include "collision/engines.h"
#include "collision/ours.h"

static const double TINY = 1e-6; // of the smaller body

/// Two bodies whose bounding balls overlap.
typedef struct near_pair {
    int64_t key;
    double size;            // of the smaller body [m]
    double distance, depth; // true; by the engine, -1: no point [m]
} near_pair;

typedef struct near_pairs {
    const placed *bodies;
    int32_t count;
    near_pair *pairs; // by ascending key
} near_pairs;

static int64_t key_of(int32_t a, int32_t b) {
    return a < b ? (int64_t)a << 32 | b : (int64_t)b << 32 | a;
}

static double bounding_radius(const scene_body *b) {
    const double *h = b->size;
    switch (b->shape) {
    case SCENE_SPHERE:
        return h[0];
    case SCENE_BOX:
        return hypot(hypot(h[0], h[1]), h[2]);
    case SCENE_CAPSULE:
        return h[0] + h[1];
    case SCENE_CYLINDER:
        return hypot(h[0], h[1]);
    default:
        return fmax(h[0], fmax(h[1], h[2]));
    }
}

static placed *place_bodies(stn_context *context, const scene *s) {
    placed *bodies = calloc((size_t)s->count, sizeof *bodies);
    stn_error err = {0};
    for (int32_t i = 0; bodies != NULL && i < s->count; i++) {
        const scene_body *b = &s->bodies[i];
        stn_quat q = {b->quaternion[0], b->quaternion[1], b->quaternion[2], b->quaternion[3]};
        bodies[i].pose = (stn_pose){stn_quat_matrix(q), {b->position[0], b->position[1], b->position[2]}};
        if (our_shape(context, b, &bodies[i].shape, &err) != STN_OK) {
            fprintf(stderr, "body %d: %s\n", (int)i, err.text);
            abort();
        }
    }
    return bodies;
}

static near_pairs find_pairs(const scene *s, const placed *bodies) {
    enum { MOST_NEIGHBOURS = 64 };
    near_pairs found = {bodies, 0, calloc((size_t)s->count * MOST_NEIGHBOURS, sizeof(near_pair))};
    for (int32_t i = 0; found.pairs != NULL && i < s->count; i++) {
        for (int32_t j = i + 1; j < s->count && found.count < s->count * MOST_NEIGHBOURS; j++) {
            double r = bounding_radius(&s->bodies[i]), q = bounding_radius(&s->bodies[j]);
            if (stn_vec3_norm(stn_vec3_sub(bodies[i].pose.position, bodies[j].pose.position)) < r + q) {
                double distance = oracle_distance(&bodies[i], &bodies[j]);
                found.pairs[found.count++] = (near_pair){key_of(i, j), fmin(r, q), distance, -1.0};
            }
        }
    }
    return found;
}

static int compare_keys(const void *key, const void *pair) {
    int64_t k = *(const int64_t *)key, other = ((const near_pair *)pair)->key;
    return (k > other) - (k < other);
}

static void note_point(void *user, int32_t a, int32_t b, double depth, const double normal[3]) {
    near_pairs *pairs = user;
    int64_t key = a < 0 || b < 0 ? -1 : key_of(a, b); // the ground is not compared
    near_pair *p = bsearch(&key, pairs->pairs, (size_t)pairs->count, sizeof *p, compare_keys);
    if (p != NULL) {
        const placed *first = &pairs->bodies[a], *second = &pairs->bodies[b];
        stn_vec3 n = stn_vec3_make(normal[0], normal[1], normal[2]);
        n = stn_vec3_normalize_or(n, n); // one engine counts in single precision
        double along = fmax(oracle_along(first, second, n), oracle_along(first, second, stn_vec3_neg(n)));
        p->distance = fmax(p->distance, along);
        p->depth = fmax(p->depth, depth);
    }
}

/// False when the engine does not take part.
static bool detect(const engine *e, const scene *s, near_pairs *pairs) {
    void *self = e->create(s);
    if (self == NULL) {
        return false;
    }
    for (int32_t i = 0; i < pairs->count; i++) {
        pairs->pairs[i].depth = -1.0;
    }
    e->place(self, s);
    e->detect(self);
    e->visit(self, note_point, pairs);
    e->destroy(self);
    return true;
}

static void compare_engine(const engine *e, const scene *s, near_pairs *pairs) {
    int32_t overlapping = 0, missed = 0, untrue = 0, compared = 0;
    double sum = 0.0, worst = 0.0;
    if (!detect(e, s, pairs)) {
        return;
    }
    for (int32_t i = 0; i < pairs->count; i++) {
        const near_pair *p = &pairs->pairs[i];
        double tiny = TINY * p->size, error = fabs(p->depth + p->distance) / p->size;
        bool reported = p->depth >= 0.0;
        overlapping += p->distance < -tiny;
        missed += p->distance < -tiny && !reported;
        untrue += p->distance > tiny && reported;
        if (reported && p->distance <= tiny) {
            compared++;
            sum += error;
            worst = fmax(worst, error);
        }
    }
    printf("  %-9s %9d %7d %7d %12.1e %12.1e\n", e->name, (int)overlapping, (int)missed, (int)untrue,
           compared > 0 ? sum / compared : 0.0, worst);
}

static void compare_engines(const char *title, bool (*make)(scene *, int32_t), int32_t count) {
    scene s;
    stn_context *context = NULL;
    stn_error err;
    if (stn_context_create(NULL, &context, &err) != STN_OK || !make(&s, count)) {
        fprintf(stderr, "no scene of %d bodies\n", (int)count);
        abort();
    }
    scene_move(&s, 0);
    placed *bodies = place_bodies(context, &s);
    near_pairs pairs = find_pairs(&s, bodies);
    for (int32_t i = 0; i < ENGINES; i++) { // the normals of all, before any is judged
        detect(engines[i], &s, &pairs);
    }
    printf("%s, %d bodies\n  %-9s %9s %7s %7s %12s %12s\n", title, (int)count, "engine", "overlaps", "missed", "false",
           "mean error", "worst error");
    for (int32_t i = 0; i < ENGINES; i++) {
        compare_engine(engines[i], &s, &pairs);
    }
    for (int32_t i = 0; i < count; i++) {
        stn_mesh_release(bodies[i].shape.mesh);
    }
    free(bodies);
    free(pairs.pairs);
    scene_clear(&s);
    stn_context_destroy(context);
}

/// Argument: the number of bodies.
int main(int argc, char **argv) {
    int32_t count = argc > 1 ? atoi(argv[1]) : 1000;
    print_processor();
    print_missing_peers();
    compare_engines("heap with cylinders", scene_pile_cylinders, count);
    compare_engines("heap of convex hulls", scene_pile_hulls, count);
    return 0;
}
