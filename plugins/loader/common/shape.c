// SPDX-License-Identifier: Apache-2.0
// Shapes of collisions and visuals, whatever the format writes them like. A fault of a visual is a warning and leaves
// it out, one of a collision is an error: contact must not be missing silently.
#include <string.h>

#include "robot.h"

stn_severity robot_fault(const robot_geometry *g) {
    return g->spec.collision ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING;
}

const robot_shape_word *robot_find_shape(robot_reader *reader, const xml_element *xml, const xml_element *geometry,
                                         const robot_shape_word *words, int32_t count, const xml_element **shape) {
    const robot_shape_word *found = NULL;
    for (const xml_element *e = geometry != NULL ? xml_first_child(geometry) : NULL; e != NULL;
         e = xml_next_sibling(e)) {
        int32_t k = 0;
        while (k < count && strcmp(xml_name(e), words[k].name) != 0) {
            k++;
        }
        if (k == count) {
            continue;
        }
        if (found != NULL) {
            robot_warn(reader, e, "repeated",
                       "a second shape <%s> is ignored, the one of line %d counts: give it a <%s> of its own",
                       xml_name(e), (int)xml_line(*shape), xml_name(xml));
            break;
        }
        found = &words[k];
        *shape = e;
    }
    return found;
}

const char *robot_shape_name(robot_reader *reader, const xml_element *xml, int32_t scope) {
    const char *given = xml_attribute(xml, "name");
    if (given == NULL || given[0] == '\0' || robot_name_of(reader, xml, "name") == NULL) {
        return NULL;
    }
    return robot_unique_shape_name(reader, xml, scope, given);
}

bool robot_check_sizes(robot_reader *reader, const xml_element *xml, const char *what, const double *sizes,
                       int32_t count, bool zero_ok, const robot_geometry *g) {
    for (int32_t i = 0; i < count; i++) {
        if (sizes[i] == 0.0 && !zero_ok && strcmp(xml_name(xml), "sphere") == 0) {
            robot_say(reader, robot_fault(g), "size_of_shape", robot_at(xml), ROBOT_POINT_SPHERE, what, xml_name(xml),
                      g->spec.collision ? "" : "; left out");
            return false;
        }
        if (sizes[i] < 0.0 || (sizes[i] == 0.0 && !zero_ok)) {
            robot_say(reader, robot_fault(g), "size_of_shape", robot_at(xml), "%s of <%s> = %g m must be %s 0%s", what,
                      xml_name(xml), sizes[i], zero_ok ? ">=" : ">", g->spec.collision ? "" : "; left out");
            return false;
        }
    }
    return true;
}

bool robot_set_plane(robot_reader *reader, const xml_element *xml, const double n[3], robot_geometry *g) {
    stn_vec3 normal = stn_vec3_normalize_or(stn_vec3_make(n[0], n[1], n[2]), stn_vec3_zero());
    if (stn_vec3_dot(normal, normal) == 0.0) {
        robot_error(reader, xml, "axis", "the normal of <plane> has length 0: give a direction such as \"0 0 1\"");
        return false;
    }
    stn_pose turn = {stn_contact_frame(normal), stn_vec3_zero()};
    g->spec.pose = stn_pose_mul(&g->spec.pose, &turn);
    g->turn = turn.rotation;
    g->spec.shape = stn_shape_half_space();
    return true;
}

bool robot_set_mesh(robot_reader *reader, const xml_element *xml, const char *uri, const double scale[3],
                    robot_geometry *g) {
    if (scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0) {
        robot_say(reader, robot_fault(g), "size_of_shape", robot_at(xml),
                  "scale of <mesh> = %g %g %g: no factor may be 0", scale[0], scale[1], scale[2]);
        return false;
    }
    g->scale = stn_vec3_make(scale[0], scale[1], scale[2]);
    g->file = uri != NULL ? robot_find_mesh(reader, xml, uri, g->spec.collision) : NULL;
    g->mesh = xml;
    if (g->file != NULL) {
        robot_stand_up(g);
    }
    return g->file != NULL;
}

void robot_set_colour(robot_reader *reader, const xml_element *xml, const char *what, const double value[4],
                      float rgba[4]) {
    bool clamped = false;
    for (int32_t i = 0; i < 4; i++) {
        clamped |= value[i] < 0.0 || value[i] > 1.0;
        rgba[i] = (float)fmin(fmax(value[i], 0.0), 1.0);
    }
    if (clamped) {
        robot_warn(reader, xml, "range", "%s = %g %g %g %g must lie in 0 to 1: clamped", what, value[0], value[1],
                   value[2], value[3]);
    }
}
