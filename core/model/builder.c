// SPDX-License-Identifier: Apache-2.0
// The builder: lists of specs, each checked as it enters, so that a bad number is an error of the call that brought it.
// What needs the whole (roots, loops, names, mimic) is the compiler's business. Here are the lists and the groups, what
// groups consist of is in builder_parts.c.
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

#include "model/built.h"

typedef struct sized_list {
    list *items;
    size_t size; // of an item
} sized_list;

void *list_reserve(stn_context *context, list *items, size_t size) {
    if (items->count == items->capacity) {
        if (items->capacity > INT32_MAX / 2) {
            return NULL;
        }
        int32_t capacity = items->capacity > 0 ? 2 * items->capacity : 8;
        void *grown = stn_reallocate(context, items->items, (size_t)items->capacity, (size_t)capacity, size);
        if (grown == NULL) {
            return NULL;
        }
        items->items = grown;
        items->capacity = capacity;
    }
    void *item = (unsigned char *)items->items + (size_t)items->count * size;
    memset(item, 0, size);
    return item;
}

void *builder_copy(stn_model_builder *builder, const void *data, size_t count, size_t size) {
    void *copy = stn_arena_allocate(builder->memory, count, size);
    if (copy != NULL && count > 0) {
        memcpy(copy, data, count * size);
    }
    return copy;
}

const char *builder_copy_text(stn_model_builder *builder, const char *text) {
    enum { PAGE = 1 << 12 };
    if (text == NULL || text[0] == '\0') {
        return "";
    }
    const size_t size = strlen(text) + 1;
    if (size > builder->text_room) { // one behind the other: each would take 64 bytes of the arena by itself
        const size_t room = size > PAGE ? size : PAGE;
        char *more = stn_arena_allocate(builder->memory, room, 1);
        if (more == NULL) {
            return NULL;
        }
        builder->text = more;
        builder->text_room = room;
    }
    char *copy = builder->text;
    memcpy(copy, text, size);
    builder->text += size;
    builder->text_room -= size;
    return copy;
}

stn_status stn_builder_create(stn_context *context, stn_model_builder **out, stn_error *err) {
    *out = NULL;
    stn_model_builder *builder = stn_allocate(context, 1, sizeof *builder);
    if (builder == NULL) {
        return model_out_of_memory(err);
    }
    builder->context = context;
    builder->memory = stn_arena_create(context);
    if (builder->memory == NULL) {
        stn_release(context, builder);
        return model_out_of_memory(err);
    }
    *out = builder;
    return STN_OK;
}

enum { LIST_COUNT = 13 };

/// The lists, and the sizes of their items.
static sized_list list_at(stn_model_builder *b, int32_t i) {
    const sized_list lists[LIST_COUNT] = {
        {&b->groups, sizeof(built_group)},
        {&b->links, sizeof(built_link)},
        {&b->joints, sizeof(built_joint)},
        {&b->geometries, sizeof(built_geometry)},
        {&b->meshes, sizeof(stn_mesh_reference)},
        {&b->excludes, sizeof(built_exclude)},
        {&b->overrides, sizeof(built_override)},
        {&b->clouds, sizeof(built_cloud)},
        {&b->element_groups, sizeof(built_element_group)},
        {&b->keyframes, sizeof(built_keyframe)},
        {&b->constraints, sizeof(built_constraint)},
        {&b->attachments, sizeof(built_attachment)},
        {&b->surfaces, sizeof(built_surface)},
    };
    return lists[i];
}

bool builder_fit(stn_model_builder *builder) {
    for (int32_t i = 0; i < LIST_COUNT; i++) {
        const sized_list l = list_at(builder, i);
        list *items = l.items;
        if (items->count == items->capacity) {
            continue;
        }
        void *fitting =
            stn_reallocate(builder->context, items->items, (size_t)items->capacity, (size_t)items->count, l.size);
        if (fitting == NULL) {
            return false;
        }
        items->items = fitting;
        items->capacity = items->count;
    }
    return true;
}

/// Empties the lists from these counts on; instances and meshes that they own are let go.
static void truncate_lists(stn_model_builder *builder, const built_counts *start) {
    for (int32_t i = start->element_groups; i < builder->element_groups.count; i++) {
        stn_instance_destroy(element_group_at(builder, i)->instance);
    }
    for (int32_t i = start->constraints; i < builder->constraints.count; i++) {
        stn_instance_destroy(constraint_at(builder, i)->instance);
    }
    for (int32_t i = start->meshes; i < builder->meshes.count; i++) {
        stn_mesh_release(mesh_at(builder, i)->data);
    }
    builder->links.count = start->links;
    builder->joints.count = start->joints;
    builder->geometries.count = start->geometries;
    builder->meshes.count = start->meshes;
    builder->excludes.count = start->excludes;
    builder->overrides.count = start->overrides;
    builder->clouds.count = start->clouds;
    builder->element_groups.count = start->element_groups;
    builder->constraints.count = start->constraints;
    builder->attachments.count = start->attachments;
    builder->surfaces.count = start->surfaces;
}

void stn_builder_destroy(stn_model_builder *builder) {
    if (builder == NULL) {
        return;
    }
    truncate_lists(builder, &(built_counts){0});
    for (int32_t i = 0; i < LIST_COUNT; i++) {
        stn_release(builder->context, list_at(builder, i).items->items);
    }
    stn_release(builder->context, builder->group_slots);
    stn_arena_destroy(builder->memory);
    stn_release(builder->context, builder);
}

// -------------------------------------------------------------------------------------------------------- groups

void stn_builder_number_names(stn_model_builder *builder, bool number) {
    builder->number_names = number;
}

stn_status stn_builder_begin_group(stn_model_builder *builder, const char *name, int32_t *group, stn_error *err) {
    if (name == NULL || name[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "group: the name must not be empty");
    }
    char text[256];
    bool taken = builder_is_taken(builder, name);
    if (taken) {
        builder_free_name(builder, name, text, sizeof text);
    }
    if (taken && !builder->number_names) {
        return stn_fail(err, STN_ERR_ARGUMENT, "group '%s': there is %s of that name already; call it '%s', say", name,
                        builder_find_group(builder, name) >= 0 ? "one" : "a soft body", text);
    }
    built_group *item = list_reserve(builder->context, &builder->groups, sizeof *item);
    const char *copy = builder_copy_text(builder, taken ? text : name);
    if (item == NULL || copy == NULL) {
        return model_out_of_memory(err);
    }
    item->name = copy;
    item->start = (built_counts){builder->links.count,       builder->joints.count,         builder->geometries.count,
                                 builder->meshes.count,      builder->excludes.count,       builder->overrides.count,
                                 builder->clouds.count,      builder->element_groups.count, builder->constraints.count,
                                 builder->attachments.count, builder->surfaces.count};
    item->base = stn_pose_identity();
    item->attached_to = -1;
    if (!builder_index_group(builder, builder->groups.count)) {
        return model_out_of_memory(err);
    }
    *group = builder->groups.count++;
    return STN_OK;
}

void stn_builder_discard(stn_model_builder *builder, int32_t group) {
    if (group < 0 || group >= builder->groups.count) {
        return;
    }
    truncate_lists(builder, &group_at(builder, group)->start);
    int32_t kept = 0;
    for (int32_t i = 0; i < builder->keyframes.count; i++) {
        if (keyframe_at(builder, i)->group < group) {
            *keyframe_at(builder, kept++) = *keyframe_at(builder, i);
        }
    }
    builder->keyframes.count = kept;
    builder_forget_groups(builder, group);
    for (int32_t r = 0; r < group; r++) { // what stays lets go of what went
        built_group *stays = group_at(builder, r);
        stays->attached_to = stays->attached_to < builder->links.count ? stays->attached_to : -1;
    }
    for (int32_t j = 0; j < builder->joints.count; j++) {
        stn_joint_spec *spec = &joint_at(builder, j)->spec;
        spec->mimic = spec->mimic < builder->joints.count ? spec->mimic : -1;
    }
}

stn_status builder_check_group(const stn_model_builder *builder, const char *what, int32_t group, stn_error *err) {
    if (group < 0 || group >= builder->groups.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: there is no group %d (%d groups)", what, group,
                        builder->groups.count);
    }
    return STN_OK;
}

/// "link 'flange' of 'arm'", what a group is attached to.
typedef struct place_name {
    char text[320];
} place_name;

static place_name name_place(const stn_model_builder *builder, int32_t link) {
    place_name name;
    snprintf(name.text, sizeof name.text, "link '%.140s' of '%.140s'", link_at(builder, link)->spec.name,
             group_at(builder, link_at(builder, link)->group)->name);
    return name;
}

static stn_status check_base(const built_group *group, const stn_pose *base, stn_error *err) {
    stn_status status = check_pose("base", base, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "group '%s'", group->name);
    }
    return status;
}

stn_status stn_builder_set_base(stn_model_builder *builder, int32_t group, const stn_pose *base, bool fixed,
                                stn_error *err) {
    stn_status status = builder_check_group(builder, "set base", group, err);
    if (status != STN_OK) {
        return status;
    }
    built_group *item = group_at(builder, group);
    if (item->attached_to >= 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "group '%s': is attached to %s, so it has no base of its own; place that group instead",
                        item->name, name_place(builder, item->attached_to).text);
    }
    status = check_base(item, base, err);
    if (status == STN_OK) {
        item->base = *base;
        item->fixed = fixed;
        item->base_given = true;
    }
    return status;
}

stn_status stn_builder_propose_base(stn_model_builder *builder, int32_t group, const stn_pose *base, bool fixed,
                                    stn_error *err) {
    stn_status status = builder_check_group(builder, "propose base", group, err);
    if (status != STN_OK) {
        return status;
    }
    built_group *item = group_at(builder, group);
    status = check_base(item, base, err);
    if (status == STN_OK && !item->base_given) {
        item->base = *base;
        item->fixed = fixed;
    }
    return status;
}

stn_status stn_builder_make_kinematic(stn_model_builder *builder, int32_t group, stn_error *err) {
    stn_status status = builder_check_group(builder, "make_kinematic", group, err);
    if (status != STN_OK) {
        return status;
    }
    built_group *item = group_at(builder, group);
    if (item->attached_to >= 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "group '%s': is attached to %s, so it moves with that; make that group kinematic instead",
                        item->name, name_place(builder, item->attached_to).text);
    }
    item->kinematic = true;
    return STN_OK;
}

stn_status stn_builder_set_velocity_limits(stn_model_builder *builder, int32_t group, bool kept, stn_error *err) {
    stn_status status = builder_check_group(builder, "set velocity limits", group, err);
    if (status == STN_OK) {
        group_at(builder, group)->velocity_limits = kept;
    }
    return status;
}

static stn_status check_factor(double factor, stn_error *err) {
    return factor > 0.0 && isfinite(factor)
               ? STN_OK
               : stn_fail(err, STN_ERR_ARGUMENT, "a mass factor must be finite and above 0, not %g", factor);
}

stn_status stn_builder_scale_mass(stn_model_builder *builder, int32_t group, double factor, stn_error *err) {
    stn_status status = builder_check_group(builder, "scale mass", group, err);
    if (status != STN_OK) {
        return status;
    }
    status = check_factor(factor, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "group '%s'", group_at(builder, group)->name);
        return status;
    }
    int32_t start, count;
    stn_builder_group_links(builder, group, &start, &count);
    for (int32_t i = start; i < start + count; i++) {
        stn_mass *m = &link_at(builder, i)->spec.mass;
        m->mass *= factor;
        const stn_mat3 scale = stn_mat3_diagonal(factor, factor, factor);
        m->inertia = stn_mat3_mul(&scale, &m->inertia);
    }
    return STN_OK;
}

stn_status stn_builder_scale_nodes_mass(stn_model_builder *builder, int32_t cloud, double factor, stn_error *err) {
    if (cloud < 0 || cloud >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "scale mass: there is no cloud of nodes %d (%d clouds)", cloud,
                        builder->clouds.count);
    }
    stn_status status = check_factor(factor, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "nodes '%s'", cloud_at(builder, cloud)->name);
        return status;
    }
    cloud_at(builder, cloud)->mass_factor *= factor;
    return STN_OK;
}

stn_status stn_builder_attach(stn_model_builder *builder, int32_t group, int32_t link, const stn_pose *pose,
                              stn_error *err) {
    stn_status status = builder_check_group(builder, "attach", group, err);
    if (status != STN_OK) {
        return status;
    }
    built_group *item = group_at(builder, group);
    const char *name = item->name;
    if (link < 0 || link >= builder->links.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "group '%s': there is no link %d to attach it to (%d links)%s", name,
                        link, builder->links.count, link == STN_WORLD ? "; a fixed base welds it to the world" : "");
    }
    if (link_at(builder, link)->group == group) {
        return stn_fail(err, STN_ERR_ARGUMENT, "group '%s': cannot be attached to its own link '%s'", name,
                        link_at(builder, link)->spec.name);
    }
    if (item->attached_to >= 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "group '%s': is attached to %s already", name,
                        name_place(builder, item->attached_to).text);
    }
    if (item->kinematic) {
        return stn_fail(err, STN_ERR_ARGUMENT, "group '%s': it is kinematic, so it cannot be attached to %s", name,
                        name_place(builder, link).text);
    }
    if (item->base_given) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "group '%s': has a base already (pose or fixed), so it cannot be attached to %s; give one of "
                        "the two",
                        name, name_place(builder, link).text);
    }
    status = check_pose("attachment", pose, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "group '%s'", name);
        return status;
    }
    item->attached_to = link;
    item->attached_at = *pose;
    return STN_OK;
}
