// SPDX-License-Identifier: Apache-2.0
// <geom>: a shape with its surface, colour and filter, and what it weighs for bodies without <inertial>.
#include "mjcf.h"

typedef enum geom_type { PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF } geom_type;

static const char types[] = "plane hfield sphere capsule ellipsoid cylinder box mesh sdf";

/// One <geom> on its way into the robot.
typedef struct mjcf_geom {
    mjcf_item item;
    geom_type type;
    robot_geometry *g;
    mjcf_mesh *mesh;
    bool collides;
    mjcf_filter filter;
    double mass, density; // the mass counts when it is given
    bool has_mass;
} mjcf_geom;

static bool read_primitive(robot_reader *reader, mjcf_geom *geom) {
    const mjcf_item *item = &geom->item;
    double size[3] = {0.0}, p[6];
    bool fromto = geom->type >= CAPSULE && geom->type <= BOX && mjcf_holder(reader, item, "fromto") != NULL;
    bool axial = geom->type == CAPSULE || geom->type == CYLINDER;
    // How many numbers of `size` the type has, all > 0, without one that fromto gives.
    int32_t wanted = geom->type == SPHERE ? 1 : axial ? 2 : geom->type == ELLIPSOID || geom->type == BOX ? 3 : 0;
    wanted = fromto ? 1 : wanted;
    const xml_element *holder = mjcf_holder(reader, item, "size");
    int32_t count = mjcf_reals(reader, item, "size", 1, 3, size);
    if (holder != NULL && count == 0) {
        return false; // said
    }
    if (count < wanted) {
        const char *type = mjcf_word(reader, item, "type");
        robot_error(reader, holder != NULL ? holder : item->xml, "size_of_shape",
                    "size of <geom> has %d of the %d numbers of a %s", (int)count, (int)wanted,
                    type != NULL ? type : "sphere");
        return false;
    }
    for (int32_t i = 0; i < wanted; i++) {
        if (size[i] == 0.0 && geom->type == SPHERE) {
            robot_error(reader, holder, "size_of_shape", ROBOT_POINT_SPHERE, "size", "geom", "");
            return false;
        }
        if (!(size[i] > 0.0)) {
            robot_error(reader, holder, "size_of_shape", "size of <geom> = %g m must be > 0", size[i]);
            return false;
        }
    }
    if (fromto) { // two points, between which the shape lies along its z, which looks from the second to the first
        if (mjcf_reals(reader, item, "fromto", 6, 6, p) != 6) {
            return false;
        }
        stn_vec3 a = stn_vec3_make(p[0], p[1], p[2]), b = stn_vec3_make(p[3], p[4], p[5]), v = stn_vec3_sub(a, b);
        double half_length = 0.5 * stn_vec3_norm(v);
        if (!(half_length > 1e-14)) {
            robot_error(reader, item->xml, "size_of_shape", "the two points of fromto are the same");
            return false;
        }
        geom->g->spec.pose = (stn_pose){mjcf_turn_z(v), stn_vec3_add(b, stn_vec3_scale(0.5, v))};
        size[1] = axial ? half_length : size[0];
        size[2] = half_length;
    }
    const stn_vec3 all = stn_vec3_make(size[0], size[1], size[2]);
    geom->g->spec.shape = geom->type == SPHERE      ? stn_shape_sphere(size[0])
                          : geom->type == CAPSULE   ? stn_shape_capsule(size[0], size[1])
                          : geom->type == CYLINDER  ? stn_shape_cylinder(size[0], size[1])
                          : geom->type == ELLIPSOID ? stn_shape_ellipsoid(all)
                          : geom->type == BOX       ? stn_shape_box(all)
                                                    : stn_shape_half_space();
    return true;
}

static bool read_shape(robot_reader *reader, mjcf_geom *geom) {
    const xml_element *xml = geom->item.xml;
    const char *name = mjcf_word(reader, &geom->item, "mesh"), *type = mjcf_word(reader, &geom->item, "type");
    if (geom->type == HFIELD || geom->type == SDF) {
        robot_warn(reader, xml, "shape", "a geom of type %s is not read: it neither collides nor weighs",
                   geom->type == HFIELD ? "hfield" : "sdf");
        return false;
    }
    if (geom->type == MESH && name == NULL) {
        robot_error(reader, xml, "shape", "a geom of type mesh names none: add mesh=\"...\"");
        return false;
    }
    if (name == NULL) {
        return read_primitive(reader, geom);
    }
    mjcf_mesh *mesh = mjcf_find_mesh(reader, mjcf_holder(reader, &geom->item, "mesh"), name);
    if (mesh == NULL) {
        return false;
    }
    geom->mesh = mesh;
    if (geom->type != MESH) {
        robot_warn(reader, xml, "shape", "a %s fitted to mesh '%.80s' is not made: the mesh itself is used",
                   type != NULL ? type : "sphere", name);
    }
    robot_geometry *g = geom->g;
    g->scale = mesh->scale;
    g->mesh = mesh->xml;
    if (mesh->made != NULL) {
        g->data = mesh->made;
        g->spec.shape = stn_shape_mesh(g->data);
    } else {
        g->file = robot_find_mesh(reader, g->mesh, mesh->uri, geom->collides);
    }
    g->spec.pose = stn_pose_mul(&g->spec.pose, &mesh->turn);
    return g->data != NULL || (g->file != NULL && robot_load_mesh(reader, g));
}

static uint32_t read_bits(robot_reader *reader, const mjcf_item *item, const char *attribute) {
    double value = 1.0;
    mjcf_real(reader, item, attribute, &value);
    if (!(value >= -2147483648.0 && value <= 4294967295.0 && value == floor(value))) {
        robot_error(reader, mjcf_holder(reader, item, attribute), "range",
                    "%s of <geom> = %g must be a whole number of 32 bits", attribute, value);
        return 1;
    }
    return (uint32_t)(int64_t)value;
}

/// What it weighs, in the body's frame; mass 0: nothing.
static stn_mass weigh(robot_reader *reader, const mjcf_geom *geom) {
    stn_mass out = {0};
    stn_error err = {STN_OK, ""};
    double given = geom->has_mass ? geom->mass : geom->density;
    if (geom->type == PLANE || given == 0.0) {
        return out;
    }
    if (geom->mesh != NULL) {
        out = *mjcf_weigh_mesh(reader, geom->mesh);
        double factor = !geom->has_mass ? given : out.mass > 0.0 ? given / out.mass : 0.0;
        out.mass *= factor;
        for (int32_t k = 0; k < 9; k++) {
            out.inertia.m[k / 3][k % 3] *= factor;
        }
    } else {
        const stn_shape *shape = &geom->g->spec.shape;
        double mass = geom->has_mass ? given : given * stn_shape_volume(shape);
        if (stn_shape_mass(shape, mass, &out, &err) != STN_OK) {
            robot_error(reader, geom->item.xml, "range", "what <geom> weighs: %s", err.text);
            return (stn_mass){0};
        }
    }
    return stn_mass_transform(&geom->g->spec.pose, &out);
}

static bool counts(robot_reader *reader, const mjcf_geom *geom) {
    const mjcf_compiler *c = &mjcf_of(reader)->compiler;
    double group = 0.0;
    mjcf_real(reader, &geom->item, "group", &group);
    return group >= c->group_range[0] && group <= c->group_range[1];
}

void mjcf_read_geom(robot_reader *reader, const mjcf_part *part, int32_t link, stn_mass *sum) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const xml_element *xml = part->xml;
    const char *name = xml_attribute(xml, "name");
    reader->label = name != NULL ? robot_text(reader, "geom %s", name) : "geom";
    mjcf_geom geom = {.item = mjcf_item_of(reader, xml, MJCF_GEOM, part->class_index), .density = 1000.0};
    double group = 0.0, rgba[4] = {0.5, 0.5, 0.5, 1.0}, friction[3] = {1.0, 0.005, 0.0001}, condim = 3.0;
    geom.type = (geom_type)mjcf_choice(reader, &geom.item, "type", types, SPHERE);
    geom.filter.contype = read_bits(reader, &geom.item, "contype");
    geom.filter.conaffinity = read_bits(reader, &geom.item, "conaffinity");
    geom.collides = geom.filter.contype != 0 || geom.filter.conaffinity != 0;
    int32_t index = robot_add_geometry(reader, link, geom.collides, xml);
    if (index < 0) {
        return;
    }
    geom.g = &reader->geometries[index];
    stn_geometry_spec *spec = &geom.g->spec;
    mjcf_real(reader, &geom.item, "group", &group);
    spec->visual = group <= 2.0; // what MuJoCo's viewer shows at first
    spec->pose = mjcf_pose(reader, &geom.item);
    bool good = read_shape(reader, &geom);
    spec->pose = stn_pose_mul(&part->frame, &spec->pose);
    geom.has_mass = mjcf_not_negative(reader, &geom.item, "mass", "kg", &geom.mass);
    mjcf_not_negative(reader, &geom.item, "density", "kg/m^3", &geom.density);
    mjcf_reals(reader, &geom.item, "friction", 1, 3, friction);
    mjcf_real(reader, &geom.item, "condim", &condim);
    if (friction[0] < 0.0) {
        const xml_element *holder = mjcf_holder(reader, &geom.item, "friction");
        robot_error(reader, holder, "range", "friction of <geom> = %g must be >= 0", friction[0]);
    } else {
        spec->material.mu = condim == 1.0 ? 0.0 : friction[0];
        if (condim > 3.0 && robot_first(reader, (robot_topic)MJCF_LEFT_OUT, "condim")) {
            robot_warn(reader, xml, "friction",
                       "condim = %g: friction against turning and rolling is not read; a script has it as "
                       "world:constraint { \"rolling\", links = { ... }, rolling = %g, torsional = %g }",
                       condim, condim > 4.0 ? friction[2] : 0.0, friction[1]);
        }
    }
    const char *material = mjcf_word(reader, &geom.item, "material");
    bool coloured = mjcf_reals(reader, &geom.item, "rgba", 4, 4, rgba) == 4;
    const mjcf_material *m = material != NULL ? mjcf_find_material(reader, xml, material) : NULL;
    for (int32_t i = 0; i < 4; i++) {
        spec->rgba[i] = !coloured && m != NULL ? m->rgba[i] : (float)fmin(fmax(rgba[i], 0.0), 1.0);
    }
    if (good && sum != NULL && counts(reader, &geom)) {
        stn_mass own = weigh(reader, &geom);
        *sum = stn_mass_add(sum, &own);
    }
    if (!good || !(geom.collides || spec->visual)) {
        reader->geometry_count--;
        return;
    }
    if (name != NULL && name[0] != '\0' && robot_name_of(reader, xml, "name") != NULL) {
        spec->name = robot_unique_shape_name(reader, xml, link, name);
    }
    mjcf->filters = robot_reserve(reader, mjcf->filters, index, &mjcf->filter_capacity, sizeof *mjcf->filters);
    if (index < mjcf->filter_capacity) {
        mjcf->filters[index] = geom.filter;
    }
}
