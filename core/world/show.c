// SPDX-License-Identifier: Apache-2.0
// What a script says about pictures of a world: the camera, and a caption. Neither changes a step.
#include <math.h>
#include <string.h>

#include "world/world.h"

static stn_status check_camera(const stn_world *world, const stn_camera *c, stn_error *err) {
    const stn_model *model = world->setup->model;
    if (model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "camera: the world is not compiled");
    }
    for (int32_t i = 0; i < c->follow_count; i++) {
        if (c->follow[i] < 0 || c->follow[i] >= model->geometry_count) {
            return stn_fail(err, STN_ERR_ARGUMENT, "camera: it is to follow geometry %d, the model has %d",
                            (int)c->follow[i], (int)model->geometry_count);
        }
    }
    const double right = 0.5 * STN_PI;
    const struct {
        const char *name, *unit;
        double value, low, high;
    } numbers[] = {{"azimuth", "rad", c->azimuth, -1e6, 1e6},
                   {"elevation", "rad", c->elevation, -right, right},
                   {"distance", "m", c->distance, 0.0, 1e9},
                   {"field_of_view", "rad", c->field_of_view, STN_PI / 180.0, 120.0 * STN_PI / 180.0},
                   {"seconds", "s", c->seconds, 0.0, 1e9},
                   {"smoothing", "s", c->smoothing, 0.0, 1e9},
                   {"target", "m", c->aimed ? stn_vec3_norm(c->target) : 0.0, 0.0, 1e9}};
    for (int32_t i = 0; i < STN_COUNT(numbers); i++) {
        if (!(numbers[i].value >= numbers[i].low && numbers[i].value <= numbers[i].high)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "camera: %s = %g %s must be between %g and %g", numbers[i].name,
                            numbers[i].value, numbers[i].unit, numbers[i].low, numbers[i].high);
        }
    }
    if (c->aimed && c->follow_count > 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "camera: it looks at a target or follows something, not both");
    }
    return STN_OK;
}

stn_camera stn_camera_default(void) {
    const double degree = STN_PI / 180.0;
    return (stn_camera){
        .azimuth = -56.0 * degree, .elevation = 25.0 * degree, .field_of_view = 35.0 * degree, .smoothing = 0.2};
}

stn_status stn_world_take_camera(stn_world *world, const stn_camera *camera, stn_error *err) {
    stn_status status = check_camera(world, camera, err);
    if (status != STN_OK) {
        return status;
    }
    size_t count = (size_t)camera->follow_count;
    int32_t *follow = stn_allocate(world->services.context, count + 1, sizeof *follow);
    if (follow == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "camera: out of memory");
    }
    if (count > 0) {
        memcpy(follow, camera->follow, count * sizeof *follow);
    }
    stn_release(world->services.context, (int32_t *)(uintptr_t)world->camera.follow);
    world->camera = *camera;
    world->camera.follow = follow;
    world->camera.number = ++world->camera_count;
    world->observation.camera = &world->camera;
    return STN_OK;
}

stn_status stn_world_take_caption(stn_world *world, const char *text, stn_error *err) {
    char *copy = stn_duplicate_text(world->services.context, text);
    if (copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "caption: out of memory");
    }
    stn_release(world->services.context, world->caption);
    world->caption = copy;
    world->observation.caption = copy;
    return STN_OK;
}

const stn_camera *stn_world_camera(const stn_world *world) {
    return world->camera_count > 0 ? &world->camera : NULL;
}

void stn_world_forget_show(stn_world *world) {
    stn_release(world->services.context, (int32_t *)(uintptr_t)world->camera.follow);
    stn_release(world->services.context, world->caption);
}
