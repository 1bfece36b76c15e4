// SPDX-License-Identifier: Apache-2.0
// <compiler>: how the rest of the file is to be read; what several of them say is one. And <option>, of which only what
// would change the motion is worth a word.
#include <string.h>

#include "mjcf.h"

static void read_flag(robot_reader *reader, const xml_element *xml, const char *attribute, bool *flag) {
    *flag = mjcf_plain_choice(reader, xml, attribute, "false true", *flag) == 1;
}

void mjcf_read_compiler(robot_reader *reader, const xml_element *root) {
    mjcf_compiler *c = &mjcf_of(reader)->compiler;
    *c = (mjcf_compiler){.degree = true,
                         .autolimits = true,
                         .inertia_from_geom = MJCF_AUTO,
                         .group_range = {0.0, 5.0},
                         .total_mass = -1.0,
                         .eulerseq = "xyz",
                         .assetdir = ""};
    reader->label = "compiler";
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "compiler") != 0) {
            continue;
        }
        if (mjcf_plain_choice(reader, e, "coordinate", "local global", 0) == 1) {
            robot_error(
                reader, e, "compiler",
                "coordinate=\"global\" is not read, and by MuJoCo no longer: save the file with local coordinates");
        }
        c->degree = mjcf_plain_choice(reader, e, "angle", "radian degree", c->degree) == 1;
        read_flag(reader, e, "autolimits", &c->autolimits);
        read_flag(reader, e, "strippath", &c->strippath);
        bool align = false;
        read_flag(reader, e, "alignfree", &align);
        if (align) {
            robot_warn(reader, e, "compiler",
                       "alignfree is not read: the frames of free bodies stay as they are drawn");
        }
        const char *sequence = xml_attribute(e, "eulerseq");
        if (sequence != NULL && (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3)) {
            robot_error(reader, e, "compiler", "eulerseq '%.20s' must be three of the letters x y z X Y Z", sequence);
        } else if (sequence != NULL) {
            c->eulerseq = sequence;
        }
        robot_not_negative(reader, e, "boundmass", "kg", &c->bound_mass);
        robot_not_negative(reader, e, "boundinertia", "kg m^2", &c->bound_inertia);
        robot_real(reader, e, "settotalmass", &c->total_mass);
        robot_reals(reader, e, "inertiagrouprange", 2, c->group_range);
        c->inertia_from_geom = mjcf_plain_choice(reader, e, "inertiafromgeom", "false true auto", c->inertia_from_geom);
        read_flag(reader, e, "balanceinertia", &c->balance_inertia);
        const char *meshdir = xml_attribute(e, "meshdir"), *assetdir = xml_attribute(e, "assetdir");
        c->meshdir = meshdir != NULL ? meshdir : c->meshdir;
        c->assetdir = assetdir != NULL ? assetdir : c->assetdir;
    }
}

/// A mechanism without its contacts or limits is another one.
static void warn_flags(robot_reader *reader, const xml_element *xml) {
    static const char changing[] = "constraint equality frictionloss limit contact passive spring damper gravity "
                                   "filterparent actuation clampctrl";
    for (const xml_attribute_entry *a = xml_first_attribute(xml); a != NULL; a = xml_next_attribute(a)) {
        const char *name = xml_attribute_name(a), *value = xml_attribute(xml, name);
        if (robot_lists(changing, name) && value != NULL && strcmp(value, "disable") == 0) {
            robot_warn(reader, xml, "option", "%.40s=\"disable\" is not read: the robot moves as if it were enabled",
                       name);
        }
    }
}

void mjcf_note_option(robot_reader *reader, const xml_element *root) {
    static const char *const medium[] = {"density", "viscosity", "wind"};
    reader->label = "option";
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "option") != 0) {
            continue;
        }
        double g[3] = {0.0, 0.0, -9.81};
        if (robot_reals(reader, e, "gravity", 3, g) && !(g[0] == 0.0 && g[1] == 0.0 && g[2] == -9.81)) {
            robot_note(reader, e, "option", "gravity %g %g %g m/s^2 is a setting of the world: give it there", g[0],
                       g[1], g[2]);
        }
        if (xml_attribute(e, "timestep") != NULL) {
            robot_note(reader, e, "option", "timestep is a setting of the world: give it there");
        }
        for (int32_t i = 0; i < STN_COUNT(medium); i++) {
            double value[3] = {0.0};
            if (robot_reals(reader, e, medium[i], i == 2 ? 3 : 1, value) &&
                !(value[0] == 0.0 && value[1] == 0.0 && value[2] == 0.0)) {
                robot_warn(reader, e, "option", "%s is not read: bodies move in a vacuum here", medium[i]);
            }
        }
        for (const xml_element *f = xml_first_child(e); f != NULL; f = xml_next_sibling(f)) {
            if (strcmp(xml_name(f), "flag") == 0) {
                warn_flags(reader, f);
            }
        }
    }
}
