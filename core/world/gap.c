// SPDX-License-Identifier: Apache-2.0
#include "world/gap.h"

stn_status stn_step_choose_distances(const step_setup *setup, step_services *services, stn_error *err) {
    distance_model *d = &services->distances;
    const stn_instance *contact = setup->plugin[STN_KIND_CONTACT];
    const stn_contact_ops *ops = contact->desc->ops.contact;
    if (d->contact != NULL) {
        return STN_OK;
    }
    if (!STN_PLUGIN_HAS(ops, no_distances)) {
        *d = (distance_model){.contact = contact, .prepared = services->contact_prepared};
        return STN_OK;
    }
    stn_status status = stn_instance_create(services->context, STN_KIND_CONTACT,
                                            stn_world_standard_plugin(STN_KIND_CONTACT), NULL, 0, &d->own, err);
    if (status == STN_OK && d->own->desc->ops.contact->prepare != NULL) {
        status = d->own->desc->ops.contact->prepare(d->own->self, setup->model, &d->prepared, err);
    }
    if (status < 0) {
        stn_step_release_distances(services);
        return status;
    }
    d->contact = d->own;
    return STN_OK;
}

void stn_step_release_distances(step_services *services) {
    distance_model *d = &services->distances;
    if (d->own != NULL && d->prepared != NULL) {
        d->own->desc->ops.contact->release(d->prepared);
    }
    stn_instance_destroy(d->own);
    *d = (distance_model){.contact = NULL};
}

double stn_step_gap(const step_setup *setup, const state_view *state, const step_frame *frame, step_services *services,
                    int32_t a, int32_t b, double within) {
    stn_error unused = {0};
    if (stn_step_choose_distances(setup, services, &unused) != STN_OK) {
        return (double)NAN;
    }
    const distance_model *d = &services->distances;
    const stn_model *model = setup->model;
    stn_contact_pair pair = {.geometry_a = a < b ? a : b, .geometry_b = a < b ? b : a, .margin = within};
    stn_contact_set set = {.arena = frame->arena};
    stn_step_describe_pair(setup, state, frame, &pair);
    const stn_contact_scene scene = {
        .model = model, .kinematics = frame->kinematics, .prepared = d->prepared, .arena = frame->arena};
    const stn_geometry *first = &model->geometries[pair.geometry_a], *second = &model->geometries[pair.geometry_b];
    if (!d->contact->desc->ops.contact->handles(d->contact->self, first, second) ||
        stn_collide_pairs(d->contact, &scene, &pair, 1, &set, &unused) < 0) {
        return (double)NAN;
    }
    double least = (double)NAN;
    for (int32_t i = 0; i < set.count; i++) {
        least = fmin(least, set.contacts[i].phi0);
    }
    return least;
}
