// SPDX-License-Identifier: Apache-2.0
// Lists of what a file describes, in the order in which it does.
#include "robot.h"

static robot_place place_of(const robot_reader *reader, const xml_element *xml) {
    return xml != NULL ? robot_at(xml) : (robot_place){reader->request->path, 0};
}

int32_t robot_add_link(robot_reader *reader, const char *name, const xml_element *xml) {
    reader->links =
        robot_reserve(reader, reader->links, reader->link_count, &reader->link_capacity, sizeof *reader->links);
    if (reader->link_count == reader->link_capacity) {
        return -1;
    }
    int32_t index = reader->link_count++;
    reader->links[index] = (robot_link){
        .name = name,
        .label = robot_text(reader, "link %s", name),
        .xml = xml,
        .place = place_of(reader, xml),
        .joint = -1,
        .geometry_start = reader->geometry_count,
    };
    robot_names_add(reader, &reader->link_names, 0, name, index);
    return index;
}

int32_t robot_add_joint(robot_reader *reader, const char *name, stn_joint_type type, const xml_element *xml) {
    reader->joints =
        robot_reserve(reader, reader->joints, reader->joint_count, &reader->joint_capacity, sizeof *reader->joints);
    if (reader->joint_count == reader->joint_capacity) {
        return -1;
    }
    int32_t index = reader->joint_count++;
    reader->joints[index] = (robot_joint){
        .label = name != NULL ? robot_text(reader, "joint %s", name) : "joint",
        .xml = xml,
        .place = place_of(reader, xml),
        .spec = stn_joint_spec_default(name, type),
    };
    if (name != NULL) {
        robot_names_add(reader, &reader->joint_names, 0, name, index);
    }
    return index;
}

int32_t robot_add_geometry(robot_reader *reader, int32_t link, bool collision, const xml_element *xml) {
    reader->geometries = robot_reserve(reader, reader->geometries, reader->geometry_count, &reader->geometry_capacity,
                                       sizeof *reader->geometries);
    if (reader->geometry_count == reader->geometry_capacity) {
        return -1;
    }
    int32_t index = reader->geometry_count++;
    robot_geometry *g = &reader->geometries[index];
    *g = (robot_geometry){.link = link,
                          .xml = xml,
                          .place = place_of(reader, xml),
                          .scale = {1.0, 1.0, 1.0},
                          .turn = stn_mat3_identity()};
    g->spec = stn_geometry_spec_default(stn_shape_sphere(1.0));
    g->spec.collision = collision;
    g->spec.visual = !collision;
    return index;
}

bool robot_add_exclusion(robot_reader *reader, int32_t link_a, int32_t link_b) {
    reader->exclusions = robot_reserve(reader, reader->exclusions, reader->exclusion_count, &reader->exclusion_capacity,
                                       sizeof *reader->exclusions);
    if (reader->exclusion_count == reader->exclusion_capacity) {
        return false;
    }
    reader->exclusions[reader->exclusion_count++] = (robot_exclusion){link_a, link_b};
    return true;
}

robot_constraint *robot_add_constraint(robot_reader *reader, const char *type, const char *name,
                                       const xml_element *xml) {
    const stn_constraint_end_spec end = {.link = STN_WORLD, .pose = stn_pose_identity(), .joint = -1, .factor = 1.0};
    reader->constraints = robot_reserve(reader, reader->constraints, reader->constraint_count,
                                        &reader->constraint_capacity, sizeof *reader->constraints);
    if (reader->constraint_count == reader->constraint_capacity) {
        return NULL;
    }
    robot_constraint *constraint = &reader->constraints[reader->constraint_count++];
    *constraint = (robot_constraint){.place = place_of(reader, xml), .type = type, .name = name, .ends = {end, end}};
    return constraint;
}

robot_keyframe *robot_add_keyframe(robot_reader *reader, const char *name, const xml_element *xml) {
    reader->keyframes = robot_reserve(reader, reader->keyframes, reader->keyframe_count, &reader->keyframe_capacity,
                                      sizeof *reader->keyframes);
    if (reader->keyframe_count == reader->keyframe_capacity) {
        return NULL;
    }
    robot_keyframe *key = &reader->keyframes[reader->keyframe_count++];
    *key = (robot_keyframe){.place = place_of(reader, xml), .spec = {.name = name}};
    return key;
}

const char *robot_unique_shape_name(robot_reader *reader, const xml_element *xml, int32_t scope, const char *given) {
    const char *name = given;
    int32_t copies = robot_names_find(&reader->shape_names, scope, given); // how often it was given
    if (copies > 0) {
        do {
            name = robot_text(reader, "%s_%d", given, (int)++copies);
        } while (robot_names_find(&reader->shape_names, scope, name) > 0);
        robot_names_add(reader, &reader->shape_names, scope, given, copies);
        robot_warn(reader, xml, "duplicate_name", "a second <%s> named '%.80s': renamed '%.80s'", xml_name(xml), given,
                   name);
    }
    robot_names_add(reader, &reader->shape_names, scope, name, 1);
    return name;
}
