// SPDX-License-Identifier: Apache-2.0
// Poses and boxes of all geometries and the tree over these, computed again only when the kinematics have changed, and
// the probe.
//
// Contact models know geometries by their number in a model. A shape that is only asked about becomes one more geometry
// of a second model, which borrows everything else from the world's own.
#include <string.h>

#include "query/query_scene.h"
#include "world/gap.h"

static void release_scene(stn_world *world, void *data) {
    query_scene *scene = data;
    if (scene->probed_prepared != NULL) {
        scene->contact->desc->ops.contact->release(scene->probed_prepared);
    }
    if (scene->probed != NULL) {
        stn_release(world->services.context, (void *)scene->probed->face.geometries);
        stn_release(world->services.context, (void *)scene->probed->filter);
        stn_release(world->services.context, (void *)scene->probed->surface);
    }
    stn_release(world->services.context, scene->probed);
    box_tree_clear(world->services.context, &scene->tree);
    stn_release(world->services.context, scene->pose);
    stn_release(world->services.context, scene->box);
    stn_arena_destroy(scene->arena);
    stn_release(world->services.context, scene);
}

static stn_status make_scene(stn_world *world, query_scene **out, stn_error *err) {
    stn_context *context = world->services.context;
    const stn_model *model = world->setup->model;
    query_scene *scene = stn_allocate(context, 1, sizeof *scene);
    if (scene == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "query: out of memory");
    }
    size_t count = (size_t)model->geometry_count + 1;
    scene->world = world;
    scene->count = model->geometry_count;
    scene->pose = stn_allocate(context, count, sizeof *scene->pose);
    scene->box = stn_allocate(context, count, sizeof *scene->box);
    scene->arena = stn_arena_create(context);
    stn_status status = box_tree_init(context, scene->count, &scene->tree, err);
    if (scene->pose == NULL || scene->box == NULL || scene->arena == NULL || status != STN_OK) {
        status = stn_fail(err, STN_ERR_MEMORY, "query: out of memory");
    } else {
        status = stn_step_choose_distances(world->setup, &world->services, err);
    }
    scene->model = model;
    scene->contact = world->services.distances.contact;
    scene->prepared = world->services.distances.prepared;
    if (status >= 0) {
        status = stn_world_attach(world, release_scene, scene, err);
    }
    if (status < 0) {
        release_scene(world, scene);
        return status;
    }
    *out = scene;
    return STN_OK;
}

/// Larger by more than its own rounding, so that it may exclude shapes.
static stn_aabb safe_box(stn_aabb box) {
    double *lower[3] = {&box.lower.x, &box.lower.y, &box.lower.z},
           *upper[3] = {&box.upper.x, &box.upper.y, &box.upper.z};
    for (int32_t i = 0; i < 3; i++) {
        double low = *lower[i], high = *upper[i];
        double slack = 1e-12 * ((isfinite(low) ? fabs(low) : 0.0) + (isfinite(high) ? fabs(high) : 0.0));
        *lower[i] -= slack;
        *upper[i] += slack;
    }
    return box;
}

stn_status query_check_compiled(const stn_world *world, const char *what, stn_error *err) {
    return world->setup->model != NULL
               ? STN_OK
               : stn_fail(err, STN_ERR_SEQUENCE, "%s: the world is not compiled yet (compile it, or make a step first)",
                          what);
}

stn_status query_scene_of(stn_world *world, const char *what, query_scene **out, stn_error *err) {
    stn_status status = query_check_compiled(world, what, err);
    if (status != STN_OK) {
        return status;
    }
    query_scene *scene = stn_world_attached(world, release_scene);
    status = scene == NULL ? make_scene(world, &scene, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    (void)stn_world_kinematics(world);
    if (!scene->placed || scene->kinematics_number != world->frame.kinematics_number) {
        for (int32_t g = 0; g < scene->count; g++) {
            const stn_geometry *geometry = &world->setup->model->geometries[g];
            stn_step_geometry_pose(&world->frame, geometry, &scene->pose[g]);
            scene->box[g] = safe_box(stn_step_geometry_box(world->setup, &world->frame, g, &scene->pose[g], 0.0));
        }
        box_tree_update(&scene->tree, scene->box, scene->count);
        scene->placed = true;
        scene->kinematics_number = world->frame.kinematics_number;
    }
    scene->dt = world->frame.dt;
    stn_arena_reset(scene->arena);
    *out = scene;
    return STN_OK;
}

// -------------------------------------------------------------------------------------------------------- probe

static void *copy_longer(stn_context *context, const void *array, int32_t count, size_t size) {
    void *memory = stn_allocate(context, (size_t)count + 1, size);
    if (memory != NULL && count > 0) {
        memcpy(memory, array, (size_t)count * size);
    }
    return memory;
}

static stn_status make_probed(query_scene *scene, stn_error *err) {
    const model_object *own = model_object_of(scene->model);
    stn_context *context = scene->world->services.context;
    model_object *probed = stn_allocate(context, 1, sizeof *probed);
    void *geometries = copy_longer(context, own->face.geometries, scene->count, sizeof(stn_geometry));
    void *filter = copy_longer(context, own->filter, scene->count, sizeof(filter_entry));
    void *surface = copy_longer(context, own->surface, scene->count, sizeof(stn_material));
    if (probed == NULL || geometries == NULL || filter == NULL || surface == NULL) {
        void *memory[] = {probed, geometries, filter, surface};
        for (int32_t i = 0; i < STN_COUNT(memory); i++) {
            stn_release(context, memory[i]);
        }
        return stn_fail(err, STN_ERR_MEMORY, "query: out of memory");
    }
    *probed = *own;
    probed->face.geometries = geometries;
    probed->face.geometry_count = scene->count + 1;
    probed->filter = filter;
    probed->surface = surface;
    ((filter_entry *)filter)[scene->count] = (filter_entry){.parent = -1, .link = STN_WORLD};
    ((stn_material *)surface)[scene->count] = stn_material_default();
    scene->probed = probed;
    return STN_OK;
}

stn_status query_scene_probe(query_scene *scene, const stn_shape *shape, const stn_pose *pose, stn_error *err) {
    stn_status status = scene->probed == NULL ? make_probed(scene, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    stn_geometry_spec spec = stn_geometry_spec_default(*shape);
    stn_geometry *geometry = (stn_geometry *)&scene->probed->face.geometries[scene->count];
    // Nothing that the contact model could have prepared is another one when a shape without a mesh only moves.
    const stn_shape *before = &geometry->shape;
    bool known = scene->probe_known && before->type == shape->type && before->mesh == NULL && shape->mesh == NULL &&
                 before->radius == shape->radius && before->half_length == shape->half_length &&
                 before->half_extents.x == shape->half_extents.x && before->half_extents.y == shape->half_extents.y &&
                 before->half_extents.z == shape->half_extents.z;
    *geometry = (stn_geometry){.name = "the shape of the query",
                               .node = -1,
                               .link = STN_WORLD,
                               .shape = *shape,
                               .pose = *pose,
                               .in_link = *pose,
                               .material = spec.material,
                               .collision = true,
                               .category = spec.category,
                               .mask = spec.mask,
                               .mesh = -1,
                               .field = spec.field,
                               .where = ""};
    scene->pose[scene->count] = *pose;
    scene->box[scene->count] = safe_box(stn_shape_aabb(shape, pose, 0.0));
    if (known) {
        return STN_OK;
    }
    const stn_instance *contact = scene->contact;
    const stn_contact_ops *ops = contact->desc->ops.contact;
    if (scene->probed_prepared != NULL) {
        ops->release(scene->probed_prepared);
        scene->probed_prepared = NULL;
    }
    if (ops->prepare != NULL) {
        status = ops->prepare(contact->self, &scene->probed->face, &scene->probed_prepared, err);
    }
    scene->probe_known = status >= 0;
    return status;
}
