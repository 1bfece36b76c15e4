// SPDX-License-Identifier: Apache-2.0
// What queries know of a world: every geometry with its pose and box at the present state, and one probe beside them, a
// shape that belongs to no body.
#ifndef STICTION_CORE_QUERY_QUERY_SCENE_H
#define STICTION_CORE_QUERY_QUERY_SCENE_H

#include <stiction/query.h>

#include "geometry/box_tree.h"
#include "model/compiled.h"

typedef struct query_scene {
    stn_world *world;
    const stn_model *model; // of the world
    double dt;              // of the world [s]
    int32_t count;          // geometries of the model; the probe, where there is one, has this number
    stn_pose *pose;         // (count + 1)
    stn_aabb *box;          // (count + 1), a little larger than the shapes
    bool placed;            // pose, box and tree are those of kinematics number kinematics_number
    uint64_t kinematics_number;
    box_tree tree;               // over the boxes of the geometries, without the probe
    stn_arena *arena;            // one query
    const stn_instance *contact; // that is asked for distances; the world's, as is `prepared`
    void *prepared;              // of it for the model
    model_object *probed;        // the model with one geometry more, on body 0; NULL before the first probe
    void *probed_prepared;       // of the contact model for it
    bool probe_known;            // probed_prepared is that of the present probe
} query_scene;

/// STN_ERR_SEQUENCE before the world is compiled; `what` was asked.
stn_status query_check_compiled(const stn_world *world, const char *what, stn_error *err);
/// The world's scene at its present state, its arena empty.
stn_status query_scene_of(stn_world *world, const char *what, query_scene **out, stn_error *err);
/// Puts a shape into the scene as its probe and prepares the contact model for it.
stn_status query_scene_probe(query_scene *scene, const stn_shape *shape, const stn_pose *pose, stn_error *err);

/// Is the geometry asked for, and is there anything of it?
static inline bool query_wants(const query_scene *scene, const stn_query *query, int32_t g) {
    const stn_geometry *geometry = &scene->model->geometries[g];
    bool drawn = query != NULL && query->visual;
    if (!(drawn ? geometry->visual : geometry->collision) || !(scene->box[g].lower.x <= scene->box[g].upper.x)) {
        return false;
    }
    return query == NULL || query->accepts == NULL || query->accepts(query->user, g);
}

#endif
