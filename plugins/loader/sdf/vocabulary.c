// SPDX-License-Identifier: Apache-2.0
// The vocabulary of SDFormat files: every element that is read, with its attributes and children. Whatever else stands
// in a file is skipped and said once for each name: a warning, because without it the robot may move otherwise, except
// for what can only be seen, heard or measured. Elements that do nothing at their usual value are said when they have
// another one.
#include <string.h>

#include "sdf.h"

#define TEXT(parent, name) \
    { parent, name, "", "" }
#define SHAPES                                                                                                      \
    "box sphere cylinder capsule drake:capsule ellipsoid drake:ellipsoid mesh plane empty cone heightmap polyline " \
    "image"
#define UNSEEN "drake:illustration_properties drake:perception_properties drake:accepting_renderer drake:visual"
#define AXIS   "xyz limit dynamics mimic use_parent_model_frame initial_position"

static const robot_word words[] = {
    {NULL, "sdf", "version", "world model"},
    {NULL, "world", "name", "model include frame joint gravity"},
    {NULL, "model", "name canonical_link placement_frame namespace",
     "link joint drake:joint frame model include pose static self_collide allow_auto_disable enable_wind "
     "drake:collision_filter_group"},
    {NULL, "include", "merge", "uri name pose static placement_frame namespace"},
    {NULL, "frame", "name attached_to", "pose"},
    {"inertial", "pose", "relative_to frame degrees rotation_format", ""},
    {NULL, "pose", "relative_to frame degrees rotation_format", ""},
    {NULL, "link", "name",
     "pose inertial collision visual gravity kinematic self_collide enable_wind velocity_decay must_be_base_link "
     "drake:deformable_properties drake:wall_boundary_condition"},
    {NULL, "drake:deformable_properties", "",
     "drake:youngs_modulus drake:poissons_ratio drake:mass_damping drake:stiffness_damping drake:mass_density "
     "drake:material_model"},
    {NULL, "drake:wall_boundary_condition", "", "drake:point_on_plane drake:outward_normal"},
    {NULL, "inertial", "auto", "mass inertia pose density"},
    {NULL, "inertia", "", "ixx iyy izz ixy ixz iyz"},
    {NULL, "velocity_decay", "", "linear angular"},
    {NULL, "collision", "name", "pose geometry surface max_contacts density drake:proximity_properties " UNSEEN},
    {NULL, "visual", "name", "pose geometry material transparency cast_shadows " UNSEEN},
    {NULL, "geometry", "", SHAPES},
    {NULL, "box", "", "size"},
    {NULL, "sphere", "", "radius"},
    {NULL, "cylinder", "", "radius length"},
    {NULL, "capsule", "", "radius length"},
    {NULL, "drake:capsule", "", "radius length"},
    {NULL, "ellipsoid", "", "radii"},
    {NULL, "drake:ellipsoid", "", "a b c"},
    {NULL, "plane", "", "normal size"},
    {NULL, "mesh", "optimization", "uri scale convex_decomposition drake:declare_convex"},
    {NULL, "material", "", "diffuse ambient"},
    {NULL, "surface", "", "friction contact bounce"},
    {"surface", "friction", "", "ode torsional"},
    {"friction", "ode", "", "mu mu2 fdir1 slip1 slip2"},
    {NULL, "torsional", "", "coefficient use_patch_radius patch_radius surface_radius ode"},
    {"torsional", "ode", "", "slip"},
    {"surface", "contact", "",
     "ode collide_bitmask category_bitmask collide_without_contact collide_without_contact_bitmask poissons_ratio "
     "elastic_modulus"},
    {"contact", "ode", "", "kp kd soft_cfm soft_erp max_vel min_depth"},
    {NULL, "bounce", "", "restitution_coefficient threshold"},
    {NULL, "drake:proximity_properties", "",
     "drake:mu_static drake:mu_dynamic drake:point_contact_stiffness drake:relaxation_time "
     "drake:hunt_crossley_dissipation drake:hydroelastic_modulus drake:rigid_hydroelastic "
     "drake:compliant_hydroelastic drake:soft_hydroelastic drake:mesh_resolution_hint drake:hydroelastic_margin "
     "drake:slab_thickness"},
    {NULL, "joint", "name type",
     "parent child pose axis axis2 screw_thread_pitch thread_pitch gearbox_ratio gearbox_reference_body "
     "drake:rotor_inertia drake:gear_ratio "
     "drake:controller_gains drake:mimic"},
    {NULL, "axis", "", AXIS},
    {NULL, "axis2", "", AXIS},
    {NULL, "xyz", "expressed_in", ""},
    {NULL, "limit", "", "lower upper effort velocity stiffness dissipation drake:acceleration"},
    {NULL, "dynamics", "", "damping friction spring_reference spring_stiffness"},
    {NULL, "mimic", "joint axis", "multiplier offset reference"},
    {NULL, "drake:mimic", "joint multiplier offset", ""},
    {NULL, "drake:controller_gains", "p d", ""},
    {NULL, "drake:joint", "name type", "drake:parent drake:child drake:damping pose"},
    {NULL, "drake:collision_filter_group", "name ignore",
     "drake:member drake:member_group drake:ignored_collision_filter_group"},
    TEXT(NULL, "drake:member"),
    TEXT(NULL, "drake:member_group"),
    TEXT(NULL, "drake:ignored_collision_filter_group"),
};

/// What nobody feels: such things are a note.
static const char harmless[] =
    "plugin sensor light gui physics scene wind audio audio_sink audio_source atmosphere magnetic_field "
    "spherical_coordinates projector battery particle_emitter laser_retro visibility_flags meta script shader pbr "
    "specular emissive lighting double_sided render_order texture bullet max_contacts actor road author "
    "material_density namespace";

/// Elements that say nothing at one value.
typedef struct neutral {
    const char *parent, *name;
    double value;
    bool note; // else a warning
} neutral;

static const neutral neutrals[] = {
    {"link", "gravity", 1.0, false},
    {"link", "kinematic", 0.0, false},
    {"link", "enable_wind", 0.0, false},
    {"model", "enable_wind", 0.0, false},
    {"velocity_decay", "linear", 0.0, false},
    {"velocity_decay", "angular", 0.0, false},
    {"link", "must_be_base_link", 0.0, false},
    {"torsional", "patch_radius", 0.0, false},
    {"torsional", "surface_radius", 0.0, false},
    {"ode", "slip1", 0.0, false},
    {"ode", "slip2", 0.0, false},
    {"contact", "collide_without_contact", 0.0, false},
    {"contact", "elastic_modulus", -1.0, false},
    {"ode", "soft_cfm", 0.0, true},
    {"ode", "soft_erp", 0.2, true},
    {"ode", "max_vel", 0.01, true},
    {"ode", "min_depth", 0.0, true},
    {"limit", "stiffness", 1e8, false},
    {"limit", "dissipation", 1.0, false},
    {"axis", "initial_position", 0.0, false},
    {"axis2", "initial_position", 0.0, false},
};

/// A number, or a flag as one.
static bool has_value(const char *text, double value) {
    double read = 0.0;
    size_t blanks = strspn(text, " \t\r\n");
    if (strncmp(text + blanks, "true", 4) == 0 || strncmp(text + blanks, "false", 5) == 0) {
        return (text[blanks] == 't') == (value != 0.0);
    }
    return stn_parse_real(text, &read) && read == value;
}

/// As deep as the parser lets elements nest.
static void visit(robot_reader *reader, const xml_element *xml) {
    const char *label = reader->label, *name = xml_name(xml);
    bool named = strcmp(name, "link") == 0 || strcmp(name, "joint") == 0 || strcmp(name, "model") == 0;
    if (named && xml_attribute(xml, "name") != NULL) {
        reader->label = robot_text(reader, "%s %s", name, xml_attribute(xml, "name"));
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        for (int32_t i = 0; i < STN_COUNT(neutrals); i++) {
            const neutral *n = &neutrals[i];
            if (strcmp(n->name, xml_name(e)) != 0 || strcmp(n->parent, name) != 0 || has_value(xml_text(e), n->value) ||
                !robot_first(reader, (robot_topic)SDF_NEUTRAL, n->name)) {
                continue;
            }
            const char *start = xml_text(e) + strspn(xml_text(e), " \t\r\n");
            const char *text = robot_text(reader, "%.*s", (int)strcspn(start, "\t\r\n"), start);
            robot_say(reader, n->note ? STN_SEVERITY_NOTE : STN_SEVERITY_WARNING, "skipped", robot_at(e),
                      "<%s> %.40s is not read%s", n->name, text,
                      n->note ? "" : ": the robot moves as if it were not there");
        }
        double g[3] = {0.0};
        if (strcmp(name, "world") == 0 && strcmp(xml_name(e), "gravity") == 0 &&
            stn_parse_reals(xml_text(e), g, 3) == 3 && (g[0] != 0.0 || g[1] != 0.0 || fabs(g[2] + 9.8) > 0.02)) {
            robot_warn(reader, e, "skipped",
                       "<gravity> %g %g %g m/s^2 is not read: set the gravity of the world that the "
                       "robot is put into",
                       g[0], g[1], g[2]);
        }
        // In Gazebo links of one model do not collide with each other unless this says so, here they do.
        if (strcmp(xml_name(e), "self_collide") == 0 && has_value(xml_text(e), 0.0) &&
            robot_first(reader, (robot_topic)SDF_SELF_COLLIDE, "")) {
            robot_note(reader, e, "self_collide",
                       "<self_collide> is not read: links that no joint connects collide, exclude pairs by "
                       "<drake:collision_filter_group>");
        }
        if (!robot_lists(harmless, xml_name(e))) {
            visit(reader, e);
        }
    }
    reader->label = label;
}

void sdf_note_skipped(robot_reader *reader, const xml_element *root) {
    static const robot_vocabulary vocabulary = {
        .words = words,
        .count = STN_COUNT(words),
        .labels = "model link joint drake:joint frame include drake:collision_filter_group",
        .severity = STN_SEVERITY_WARNING,
        .exceptions = harmless,
    };
    const char *label = reader->label;
    robot_note_skipped(reader, &vocabulary, root);
    reader->label = "sdf";
    visit(reader, root);
    reader->label = label;
}
