// SPDX-License-Identifier: Apache-2.0
// <sdf>: a world or models, models inside models. One file is one robot. With one model its names are the robot's; with
// several each name has its model's before it, "model::link".
#include <string.h>

#include "sdf.h"

static bool is(const xml_element *xml, const char *name) {
    return strcmp(xml_name(xml), name) == 0;
}

/// A model without its frame yet; -1: no memory.
static int32_t add_model(robot_reader *reader, const sdf_model *model) {
    sdf_reader *sdf = sdf_of(reader);
    sdf->models = robot_reserve(reader, sdf->models, sdf->model_count, &sdf->model_capacity, sizeof *sdf->models);
    if (sdf->model_count == sdf->model_capacity) {
        return -1;
    }
    sdf->models[sdf->model_count] = *model;
    return sdf->model_count++;
}

static void parse_children(robot_reader *reader, int32_t model, const xml_element *xml) {
    int32_t version = sdf_of(reader)->models[model].version;
    for (const xml_element *e = xml_first_child(xml); e != NULL && !reader->out_of_memory; e = xml_next_sibling(e)) {
        if (is(e, "link") && model > 0 && sdf_is_deformable(e)) {
            sdf_parse_deformable(reader, model, e);
        } else if (is(e, "link") && model > 0) {
            sdf_parse_link(reader, model, e);
        } else if (is(e, "joint") || is(e, "drake:joint")) {
            sdf_parse_joint(reader, model, e);
        } else if (is(e, "model")) {
            sdf_parse_model(reader, model, version, e, &(sdf_override){0});
        } else if (is(e, "include")) {
            sdf_parse_include(reader, model, e);
        } else if (is(e, "frame")) {
            reader->label = "frame";
            int32_t index = sdf_add_frame(reader, SDF_FRAME, model, e, robot_name_of(reader, e, "name"));
            if (index >= 0) {
                sdf_frame *frame = &sdf_of(reader)->frames[index];
                const char *attached = xml_attribute(e, "attached_to");
                reader->label = frame->label;
                frame->attached_to = attached != NULL && attached[0] != '\0' ? attached : NULL;
                frame->given = sdf_pose(reader, e, &frame->relative_to);
            }
        }
    }
}

static const char *text_attribute(const xml_element *xml, const char *name) {
    const char *text = xml_attribute(xml, name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

void sdf_parse_model(robot_reader *reader, int32_t parent, int32_t version, const xml_element *xml,
                     const sdf_override *over) {
    sdf_reader *sdf = sdf_of(reader);
    reader->label = "model";
    const char *name = over->name != NULL ? over->name : robot_name_of(reader, xml, "name");
    const char *known = name; // for what is merged into its parent, the name that Gazebo gives its frame
    if (over->merge && name != NULL) {
        known = robot_text(reader, "_merged__%s__model__", name);
    }
    int32_t frame = sdf_add_frame(reader, SDF_MODEL, parent, xml, known);
    if (frame < 0) {
        return;
    }
    reader->label = sdf->frames[frame].label;
    bool posed = over->xml != NULL && robot_child(reader, over->xml, "pose") != NULL;
    const sdf_model *around = &sdf->models[parent];
    bool is_static = sdf_flag(reader, xml, "static", false);
    bool whole = parent == 0 && around->prefix[0] == '\0' && !sdf->many; // the robot's names are its names
    const char *prefix = over->merge || whole ? around->prefix : robot_text(reader, "%s%s::", around->prefix, name);
    const xml_element *placed = over->xml != NULL ? robot_child(reader, over->xml, "placement_frame") : NULL;
    const char *placement = placed != NULL ? robot_text_name(reader, placed) : text_attribute(xml, "placement_frame");
    int32_t index =
        add_model(reader, &(sdf_model){
                              .xml = xml,
                              .parent = parent,
                              .scope = over->merge ? around->scope : sdf->model_count,
                              .frame = frame,
                              .version = version,
                              .first = -1,
                              .is_static = around->is_static || (over->has_static ? over->is_static : is_static),
                              .prefix = prefix,
                              .canonical = text_attribute(xml, "canonical_link"),
                              .placement = placement,
                              .place_xml = posed ? over->xml : xml,
                          });
    if (index < 0) {
        return;
    }
    sdf->frames[frame].model = index;
    sdf->frames[frame].given = sdf_pose(reader, posed ? over->xml : xml, &sdf->frames[frame].relative_to);
    parse_children(reader, index, xml);
}

// ------------------------------------------------------------------------------------------------------- the file

static int32_t count_models(const xml_element *xml) {
    int32_t count = 0;
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        count += is(e, "model") || is(e, "include");
    }
    return count;
}

/// What holds the models: <world> or the root itself. NULL: said.
static const xml_element *find_content(robot_reader *reader, const xml_element *root) {
    const xml_element *world = NULL;
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (!is(e, "world")) {
            continue;
        }
        if (world != NULL) {
            robot_error(reader, e, "two_worlds", "a second <world> beside that of line %d: keep one in a file",
                        (int)xml_line(world));
            return NULL;
        }
        world = e;
    }
    if (world != NULL && count_models(root) > 0) {
        robot_error(reader, root, "two_worlds", "<model> beside <world>: put it inside");
        return NULL;
    }
    const xml_element *content = world != NULL ? world : root;
    if (count_models(content) == 0) {
        robot_error(reader, content, "no_link", "<%s> holds no <model> and no <include>: there is no robot",
                    xml_name(content));
        return NULL;
    }
    return content;
}

/// From the parts that were read to one tree.
static bool finish(robot_reader *reader, const xml_element *content) {
    sdf_reader *sdf = sdf_of(reader);
    int32_t errors = reader->diagnostics->error_count;
    if (!sdf_resolve_frames(reader)) {
        return !reader->out_of_memory;
    }
    sdf->link_total = reader->link_count;
    sdf->carried = ROBOT_NEW(reader, sdf->link_total + 1, bool);
    sdf->link_frames = ROBOT_NEW(reader, sdf->link_total + 1, int32_t);
    if (sdf->link_frames == NULL) {
        return false;
    }
    for (int32_t i = 0; i < sdf->frame_count; i++) {
        if (sdf->frames[i].kind == SDF_LINK && sdf->frames[i].link >= 0) {
            sdf->link_frames[sdf->frames[i].link] = i;
        }
    }
    sdf_place_geometries(reader);
    sdf_compute_inertias(reader);
    sdf_complete_filters(reader);
    sdf_add_frame_links(reader);
    for (int32_t i = 0; i < sdf->joint_count; i++) {
        sdf_build_joint(reader, &sdf->joints[i]);
    }
    sdf_build_gearboxes(reader);
    sdf_assemble(reader);
    // The robot is called like its only model, else like the world or the file.
    const char *name = is(content, "world") ? text_attribute(content, "name") : NULL;
    if (!sdf->many && sdf->model_count > 1) {
        reader->name = sdf->frames[sdf->models[1].frame].name;
    } else {
        reader->name = name != NULL ? robot_name_of(reader, content, "name") : robot_stem(reader);
    }
    robot_resolve_mimic(reader);
    if (reader->out_of_memory || !robot_connect(reader)) {
        return false;
    }
    if (reader->diagnostics->error_count == errors) {
        sdf_build_deformables(reader);
    }
    for (int32_t i = 1; i < sdf->model_count && reader->diagnostics->error_count == errors; i++) {
        if (!robot_parse_filters(reader, sdf->models[i].xml, sdf->models[i].prefix)) {
            return false;
        }
    }
    return !reader->out_of_memory;
}

bool sdf_parse(robot_reader *reader, const xml_element *root) {
    sdf_reader *sdf = sdf_of(reader);
    reader->label = "sdf";
    if (!is(root, "sdf")) {
        robot_error(reader, root, "root", "the root element is <%.60s>, SDFormat has <sdf version=\"1.7\">%s",
                    xml_name(root),
                    is(root, "model")    ? ": put <model> inside it"
                    : is(root, "robot")  ? ": this is URDF, name the file .urdf or the loader 'urdf'"
                    : is(root, "mujoco") ? ": this is MJCF, name the file .xml or the loader 'mjcf'"
                    : is(root, "gazebo") ? ": this is older than 1.4"
                                         : "");
        return true;
    }
    int32_t version = sdf_version(reader, root);
    const xml_element *content = version >= 0 ? find_content(reader, root) : NULL;
    if (content == NULL) {
        return true;
    }
    // The world is the first model and the first frame.
    sdf->many = count_models(content) > 1;
    sdf->frame_capacity = 16;
    sdf->frames = ROBOT_NEW(reader, sdf->frame_capacity, sdf_frame);
    const sdf_model world = {.xml = content, .parent = -1, .version = version, .first = -1, .prefix = ""};
    if (!robot_names_init(reader, &sdf->names, 0) || add_model(reader, &world) < 0 || sdf->frames == NULL) {
        return false;
    }
    sdf->frames[sdf->frame_count++] =
        (sdf_frame){.kind = SDF_WORLD, .name = "world", .label = "world", .xml = content, .link = -1};
    int32_t errors = reader->diagnostics->error_count;
    parse_children(reader, 0, content);
    sdf_note_skipped(reader, root);
    if (reader->out_of_memory) {
        return false;
    }
    bool empty = reader->link_count == 0 && sdf->soft_count == 0;
    if (empty && reader->diagnostics->error_count == errors) {
        reader->label = "sdf";
        robot_error(reader, content, "no_link", "no model has a <link>");
    }
    return empty || finish(reader, content);
}
