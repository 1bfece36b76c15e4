// SPDX-License-Identifier: Apache-2.0
// Soft bodies of a robot: meshes that elements join, in the frame of a link, with the nodes that links hold.
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>
#include <stiction/soft.h>

#include "robot.h"

enum { MOST_BODIES = 1000, LONGEST_NAME = 99 }; // twice with a '/' between: what scripts take

robot_soft *robot_add_soft(robot_reader *reader, const char *name, const char *label, const xml_element *xml) {
    if (strlen(name) > LONGEST_NAME || strchr(name, '/') != NULL) {
        robot_error(reader, xml, "soft", "the name of a soft body must have no '/' and at most %d letters",
                    (int)LONGEST_NAME);
        return NULL;
    }
    for (int32_t i = 0; i < reader->soft_count; i++) {
        if (strcmp(reader->softs[i].name, name) == 0) {
            robot_error(reader, xml, "duplicate_soft", "there is a soft body of the same name: rename one");
            return NULL;
        }
    }
    if (reader->soft_count == MOST_BODIES) {
        robot_error(reader, xml, "size", "one robot may have %d soft bodies, this is one more", (int)MOST_BODIES);
        return NULL;
    }
    reader->softs =
        robot_reserve(reader, reader->softs, reader->soft_count, &reader->soft_capacity, sizeof *reader->softs);
    if (reader->soft_count == reader->soft_capacity) {
        return NULL;
    }
    robot_soft *soft = &reader->softs[reader->soft_count++];
    *soft = (robot_soft){
        .name = name, .label = label, .place = robot_at(xml), .link = -1, .surface = stn_surface_spec_default()};
    return soft;
}

void robot_set_soft(robot_soft *soft, const char *parameter, double value) {
    if (soft->setting_count < STN_COUNT(soft->settings)) {
        soft->settings[soft->setting_count++] =
            (stn_setting){.name = parameter, .form = STN_SETTING_NUMBER, .number = value};
    }
}

void robot_set_soft_text(robot_soft *soft, const char *parameter, const char *text) {
    if (soft->setting_count < STN_COUNT(soft->settings)) {
        soft->settings[soft->setting_count++] =
            (stn_setting){.name = parameter, .form = STN_SETTING_TEXT, .text = text};
    }
}

bool robot_mesh_soft(robot_reader *reader, const xml_element *xml, robot_soft *soft, const robot_soft_data *data) {
    stn_error err = {STN_OK, ""};
    stn_status status = stn_soft_mesh_create(reader->diagnostics->context, &data->mesh, &soft->mesh, &err);
    if (status != STN_OK) {
        reader->out_of_memory |= status == STN_ERR_MEMORY;
        robot_error(reader, xml, "soft", "<%.60s>: %s", xml_name(xml), err.text);
        return false;
    }
    size_t count = (size_t)soft->mesh->node_count;
    soft->holder = ROBOT_NEW(reader, count, int32_t);
    soft->mass = data->mass != NULL ? ROBOT_NEW(reader, count, double) : NULL;
    if (soft->holder == NULL || (data->mass != NULL && soft->mass == NULL)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) { // nodes that nothing uses are gone
        int32_t origin = soft->mesh->origin[i];
        soft->holder[i] = data->holder != NULL ? data->holder[origin] : ROBOT_FREE_NODE;
        if (data->mass != NULL) {
            soft->mass[i] = data->mass[origin];
        }
    }
    return true;
}

bool robot_line_soft(robot_reader *reader, const xml_element *xml, robot_soft *soft, int32_t count,
                     const double *points) {
    stn_error err = {STN_OK, ""};
    stn_status status = stn_soft_mesh_line(reader->diagnostics->context, count, points, count - 1, &soft->mesh, &err);
    if (status != STN_OK) {
        reader->out_of_memory |= status == STN_ERR_MEMORY;
        robot_error(reader, xml, "soft", "<%.60s>: %s", xml_name(xml), err.text);
        return false;
    }
    memcpy(soft->mesh->nodes, points, 3 * (size_t)count * sizeof *points); // also where they are not equally far apart
    soft->holder = ROBOT_NEW(reader, count, int32_t);
    for (int32_t i = 0; soft->holder != NULL && i < count; i++) {
        soft->holder[i] = ROBOT_FREE_NODE;
    }
    return soft->holder != NULL;
}

void robot_release_softs(robot_reader *reader) {
    for (int32_t i = 0; i < reader->soft_count; i++) {
        stn_soft_mesh_destroy(reader->softs[i].mesh);
    }
}

/// The nodes that each link holds, as attachments. NULL: out of memory.
static stn_soft_attachment *attachments_of(robot_reader *reader, const robot_soft *soft, int32_t *count) {
    size_t nodes = (size_t)soft->mesh->node_count, links = (size_t)reader->link_count;
    int32_t *held = ROBOT_NEW(reader, links + 1, int32_t); // by link + 1: the world comes first
    int32_t *number = ROBOT_NEW(reader, links + 1, int32_t), *listed = ROBOT_NEW(reader, nodes, int32_t);
    if (held == NULL || number == NULL || listed == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < nodes; i++) {
        if (soft->holder[i] != ROBOT_FREE_NODE) {
            held[soft->holder[i] + 1]++;
        }
    }
    for (size_t k = 0; k < links + 1; k++) {
        number[k] = *count;
        *count += held[k] > 0;
    }
    stn_soft_attachment *attachments = ROBOT_NEW(reader, *count + 1, stn_soft_attachment);
    stn_soft_selector *selectors = ROBOT_NEW(reader, *count + 1, stn_soft_selector);
    if (attachments == NULL || selectors == NULL) {
        return NULL;
    }
    for (size_t k = 0, start = 0; k < links + 1; start += (size_t)held[k++]) {
        if (held[k] > 0) {
            int32_t a = number[k];
            selectors[a] = (stn_soft_selector){.where = STN_SOFT_LISTED, .listed = &listed[start]};
            attachments[a] =
                (stn_soft_attachment){k > 0 ? reader->links[k - 1].out_index : STN_WORLD, 1, &selectors[a]};
        }
    }
    for (size_t i = 0; i < nodes; i++) {
        if (soft->holder[i] != ROBOT_FREE_NODE) {
            stn_soft_selector *s = &selectors[number[soft->holder[i] + 1]];
            listed[&s->listed[s->node_count++] - listed] = (int32_t)i;
        }
    }
    return attachments;
}

/// A cable, or what triangles or tetrahedra make.
static stn_status build_soft(robot_reader *reader, stn_model_builder *builder, const robot_soft *soft, const char *name,
                             stn_soft_body *body, stn_error *err) {
    const stn_plugin_choice element = {.settings = soft->settings, .setting_count = soft->setting_count};
    const stn_surface_spec *surface = &soft->surface;
    int32_t count = 0;
    const stn_soft_attachment *attachments = attachments_of(reader, soft, &count);
    if (attachments == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", reader->request->path);
    }
    if (!(soft->radius > 0.0)) {
        const stn_soft_spec spec = {.name = name,
                                    .mesh = soft->mesh,
                                    .pose = stn_pose_identity(),
                                    .element = element,
                                    .node_mass = soft->mass,
                                    .surface = *surface,
                                    .attachment_count = count,
                                    .attachments = attachments};
        return stn_soft_add(builder, reader->diagnostics->context, &spec, body, err);
    }
    stn_soft_cable_spec spec = {.name = name,
                                .mesh = soft->mesh,
                                .pose = stn_pose_identity(),
                                .radius = soft->radius,
                                .density = NAN,
                                .mass = soft->whole_mass,
                                .straight = soft->straight,
                                .element = element,
                                .geometry = stn_geometry_spec_default(stn_shape_half_space()),
                                .self_collision = surface->self_collision,
                                .attachment_count = count,
                                .attachments = attachments};
    spec.geometry.material = surface->material;
    memcpy(spec.geometry.rgba, surface->rgba, sizeof spec.geometry.rgba);
    spec.geometry.collision = surface->collision;
    spec.geometry.visual = surface->visual;
    spec.geometry.category = surface->category;
    spec.geometry.mask = surface->mask;
    spec.geometry.where = surface->where;
    return stn_soft_add_cable(builder, reader->diagnostics->context, &spec, body, err);
}

stn_status robot_build_softs(robot_reader *reader, stn_model_builder *builder, const char *group, stn_error *err) {
    stn_status status = STN_OK;
    if (reader->soft_count > 0 && strlen(group) > LONGEST_NAME) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a robot with soft bodies may have a name of %d letters",
                        (int)LONGEST_NAME);
    }
    for (int32_t i = 0; i < reader->soft_count && status == STN_OK; i++) {
        robot_soft *soft = &reader->softs[i];
        const char *name = robot_text(reader, "%s/%s", group, soft->name);
        stn_soft_body body = {.cloud = -1};
        soft->surface.where = robot_text(reader, "%s:%d", soft->place.file, (int)soft->place.line);
        status = build_soft(reader, builder, soft, name, &body, err);
        if (status == STN_OK && soft->link >= 0) {
            status = stn_builder_place_nodes(builder, body.cloud, reader->links[soft->link].out_index, err);
        }
        if (status == STN_OK && reader->request->softs != NULL) {
            status = stn_soft_list_add(reader->request->softs, name, soft->mesh, &body, err);
            soft->mesh = NULL;
        }
        if (status == STN_ERR_ARGUMENT) { // what only the whole body shows
            reader->label = soft->label;
            robot_say(reader, STN_SEVERITY_ERROR, "soft", soft->place, "%s", err->text);
            reader->fault_said = true;
        }
    }
    return status;
}
