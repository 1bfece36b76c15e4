// SPDX-License-Identifier: Apache-2.0
// Drake's deformable bodies: a <link> with <drake:deformable_properties> is no link but tetrahedra of a file, of
// element "fem". Its pose places the mesh as it is at rest, and what is beyond a <drake:wall_boundary_condition> stays
// there. What Drake refuses of such links is refused here too.
#include <string.h>

#include "sdf.h"

/// A material of Drake's, and ours that agrees with it, at all strains or at small ones.
typedef struct material_model {
    const char *name, *ours;
    bool same;
} material_model;

static const material_model models[] = {{"linear_corotated", "corotational", true},
                                        {"corotated", "corotational", false},
                                        {"neohookean", "neo_hookean", false}};

bool sdf_is_deformable(const xml_element *link) {
    for (const xml_element *e = xml_first_child(link); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "drake:deformable_properties") == 0) {
            return true;
        }
    }
    return false;
}

bool sdf_stands_on_deformable(const sdf_reader *sdf, int32_t frame) {
    while (sdf->frames[frame].attached != frame) {
        frame = sdf->frames[frame].attached;
    }
    return sdf->frames[frame].kind == SDF_LINK && sdf->frames[frame].link < 0;
}

void sdf_parse_deformable(robot_reader *reader, int32_t model, const xml_element *xml) {
    sdf_reader *sdf = sdf_of(reader);
    reader->label = "link";
    int32_t frame = sdf_add_frame(reader, SDF_LINK, model, xml, robot_name_of(reader, xml, "name"));
    if (frame < 0) {
        return;
    }
    sdf_frame *f = &sdf->frames[frame];
    reader->label = f->label;
    f->link = -1;
    f->given = sdf_pose(reader, xml, &f->relative_to);
    if (sdf->models[model].is_static) {
        robot_error(reader, xml, "unsupported", "a deformable link in a <static> model: nothing of it would move");
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        if (!robot_lists("pose collision visual drake:deformable_properties drake:wall_boundary_condition",
                         xml_name(e))) {
            robot_error(reader, e, "unsupported",
                        "<%.60s> of a deformable link has no meaning, in Drake neither: take it out", xml_name(e));
        }
    }
    sdf->softs = robot_reserve(reader, sdf->softs, sdf->soft_count, &sdf->soft_capacity, sizeof *sdf->softs);
    if (sdf->soft_count < sdf->soft_capacity) {
        sdf->softs[sdf->soft_count++] = frame;
    }
}

/// A number of the properties within bounds that are excluded, else Drake's default, said.
static double read_property(robot_reader *reader, const xml_element *xml, const char *name, const char *unit,
                            double above, double below, double otherwise) {
    double value = otherwise;
    if (robot_child(reader, xml, name) == NULL) {
        robot_warn(reader, xml, "default", "no <%s>: taken as %g %s, as Drake does", name, otherwise, unit);
    } else if (sdf_number(reader, xml, name, &value) && !(value > above && value < below)) {
        robot_error(reader, robot_child(reader, xml, name), "range", "<%s> = %g %s must be above %g and below %g", name,
                    value, unit, above, below);
    }
    return value;
}

static void read_material(robot_reader *reader, const xml_element *xml, robot_soft *soft) {
    double mass_damping = 0.0, stiffness_damping = 0.0;
    robot_set_soft(soft, "young", read_property(reader, xml, "drake:youngs_modulus", "Pa", 0.0, INFINITY, 1e8));
    robot_set_soft(soft, "poisson", read_property(reader, xml, "drake:poissons_ratio", "", -1.0, 0.5, 0.49));
    robot_set_soft(soft, "density", read_property(reader, xml, "drake:mass_density", "kg/m^3", 0.0, INFINITY, 1500.0));
    sdf_not_negative(reader, xml, "drake:mass_damping", "1/s", &mass_damping);
    sdf_not_negative(reader, xml, "drake:stiffness_damping", "s", &stiffness_damping);
    robot_set_soft(soft, "rayleigh_mass", mass_damping);
    robot_set_soft(soft, "rayleigh_stiffness", stiffness_damping);
    const xml_element *e = robot_child(reader, xml, "drake:material_model");
    const char *name = e != NULL ? robot_text_name(reader, e) : models[0].name;
    int32_t i = 0;
    while (name != NULL && i < STN_COUNT(models) && strcmp(models[i].name, name) != 0) {
        i++;
    }
    if (name == NULL) {
        return;
    }
    if (i == STN_COUNT(models)) {
        robot_error(reader, e, strcmp(name, "linear") == 0 ? "unsupported" : "word",
                    "<drake:material_model> '%.60s' is not read: use linear_corotated, corotated or neohookean", name);
        return;
    }
    if (!models[i].same) {
        robot_warn(
            reader, e, "material",
            "<drake:material_model> %s is read as %s, whose energy is the same at small strains and another one at "
            "large ones",
            models[i].name, models[i].ours);
    }
    robot_set_soft_text(soft, "model", models[i].ours);
}

static void read_surface(robot_reader *reader, const xml_element *collision, robot_soft *soft) {
    robot_geometry g = {.spec = stn_geometry_spec_default(stn_shape_half_space()), .turn = stn_mat3_identity()};
    const xml_element *proximity = robot_child(reader, collision, "drake:proximity_properties");
    if (proximity != NULL) {
        robot_parse_proximity(reader, proximity, &g);
    }
    sdf_parse_surface(reader, collision, &g);
    if (g.declared_rigid || !isnan(g.spec.material.modulus)) {
        robot_error(reader, proximity, "unsupported",
                    "hydroelastic properties of a deformable link, whose elements yield: take them out");
    }
    if (!isnan(g.spec.material.mu2)) {
        robot_warn(reader, collision, "friction",
                   "friction of a deformable link is the same in all directions, %g counts",
                   fmin(g.spec.material.mu, g.spec.material.mu2));
        g.spec.material.mu = fmin(g.spec.material.mu, g.spec.material.mu2);
        g.spec.material.mu2 = NAN;
    }
    soft->surface.material = g.spec.material;
    soft->surface.mask = g.spec.mask;
    // those without bits of their own meet all that have any, as in sdf_complete_filters
    soft->surface.category = sdf_of(reader)->has_bitmask && g.spec.mask > 0xffff ? 0xffff : g.spec.category;
}

/// The colour of <visual>; its shape is that of the tetrahedra.
static void read_visual(robot_reader *reader, const xml_element *xml, robot_soft *soft) {
    const xml_element *visual = robot_child(reader, xml, "visual");
    const xml_element *geometry = visual != NULL ? robot_child(reader, visual, "geometry") : NULL;
    const xml_element *shape = geometry != NULL ? xml_first_child(geometry) : NULL;
    if (visual == NULL) {
        return;
    }
    if (shape != NULL && strcmp(xml_name(shape), "empty") != 0) {
        robot_note(reader, shape, "skipped", "<%.60s> is not read: the surface of the tetrahedra is drawn",
                   xml_name(shape));
    }
    robot_geometry g = {.spec = stn_geometry_spec_default(stn_shape_half_space())};
    sdf_parse_material(reader, visual, &g);
    memcpy(soft->surface.rgba, g.spec.rgba, sizeof soft->surface.rgba);
}

/// The tetrahedra of the only <collision>, scaled; NULL: said.
static const stn_mesh *read_tetrahedra(robot_reader *reader, const xml_element *collision) {
    const xml_element *geometry = robot_child(reader, collision, "geometry");
    const xml_element *shape = geometry != NULL ? xml_first_child(geometry) : NULL;
    const xml_element *xml = geometry != NULL ? robot_child(reader, geometry, "mesh") : NULL;
    const xml_element *uri = xml != NULL ? robot_child(reader, xml, "uri") : NULL;
    if (uri == NULL) {
        robot_error(reader, shape != NULL ? shape : collision, "unsupported",
                    "the shape of a deformable link is a <mesh> with the <uri> of a .vtk file of tetrahedra%s",
                    shape != NULL && strcmp(xml_name(shape), "sphere") == 0
                        ? ": Drake cuts a <sphere> into tetrahedra of its own, which are not known"
                        : "");
        return NULL;
    }
    double scale[3] = {1.0, 1.0, 1.0};
    const xml_element *factors = robot_child(reader, xml, "scale");
    if (factors != NULL && !robot_text_reals(reader, factors, 3, scale)) {
        return NULL;
    }
    if (scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0) {
        robot_error(reader, factors, "size_of_shape", "scale of <mesh> = %g %g %g: no factor may be 0", scale[0],
                    scale[1], scale[2]);
        return NULL;
    }
    const char *name = robot_text_name(reader, uri);
    const robot_file *file = name != NULL ? robot_find_mesh(reader, xml, name, true) : NULL;
    const stn_mesh *mesh =
        file != NULL ? robot_read_mesh(reader, xml, file, stn_vec3_make(scale[0], scale[1], scale[2])) : NULL;
    if (mesh != NULL && mesh->tetrahedron_count == 0) {
        robot_error(reader, xml, "mesh", "'%.200s' holds no tetrahedra, of which a deformable link is made", name);
        return NULL;
    }
    return mesh;
}

/// Nodes beyond walls, (x - point) . normal < 0 in the world as drawn, stay there. false: said.
static bool hold_nodes(robot_reader *reader, const xml_element *xml, const stn_mesh *mesh, const stn_pose *pose,
                       int32_t *holder) {
    int32_t held = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        holder[i] = ROBOT_FREE_NODE;
    }
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "drake:wall_boundary_condition") != 0) {
            continue;
        }
        const xml_element *point = robot_child(reader, e, "drake:point_on_plane");
        const xml_element *normal = robot_child(reader, e, "drake:outward_normal");
        double p[3], n[3];
        if (point == NULL || normal == NULL) {
            robot_error(reader, e, "missing",
                        "<drake:wall_boundary_condition> needs <drake:point_on_plane> and <drake:outward_normal>");
            return false;
        }
        if (!robot_text_reals(reader, point, 3, p) || !robot_text_reals(reader, normal, 3, n)) {
            return false;
        }
        const stn_vec3 q = stn_vec3_make(p[0], p[1], p[2]), out = stn_vec3_make(n[0], n[1], n[2]);
        if (!(stn_vec3_norm(out) > 1e-10)) {
            robot_error(reader, normal, "axis", "<drake:outward_normal> has length 0: give a direction such as 0 0 1");
            return false;
        }
        for (int32_t i = 0; i < mesh->vertex_count; i++) {
            const stn_vec3 x = stn_pose_apply(pose, stn_vec3_at(mesh->vertices, i));
            if (stn_vec3_dot(stn_vec3_sub(x, q), out) < 0.0 && holder[i] == ROBOT_FREE_NODE) {
                holder[i] = STN_WORLD;
                held++;
            }
        }
    }
    if (held == mesh->vertex_count) {
        robot_error(reader, xml, "unsupported",
                    "all nodes of the deformable link are beyond its walls: none would move");
    }
    return held < mesh->vertex_count;
}

/// Vertices of the mesh in the frame of the root. NULL: no memory.
static double *place_nodes(robot_reader *reader, const stn_mesh *mesh, const stn_pose *pose) {
    double *nodes = ROBOT_NEW(reader, 3 * (size_t)mesh->vertex_count, double);
    for (int32_t i = 0; nodes != NULL && i < mesh->vertex_count; i++) {
        const stn_vec3 x = stn_pose_apply(pose, stn_vec3_at(mesh->vertices, i));
        memcpy(&nodes[3 * (size_t)i], (const double[3]){x.x, x.y, x.z}, 3 * sizeof *nodes);
    }
    return nodes;
}

static void build(robot_reader *reader, int32_t frame) {
    const sdf_reader *sdf = sdf_of(reader);
    const sdf_frame *f = &sdf->frames[frame];
    const bool world = strcmp(reader->links[reader->root].name, "world") == 0;
    const stn_pose pose = sdf_pose_between(reader, world ? 0 : sdf->link_frames[reader->root], frame);
    const xml_element *collision = NULL, *properties = robot_child(reader, f->xml, "drake:deformable_properties");
    const char *relative_to = NULL;
    int32_t collisions = 0;
    reader->label = f->label;
    for (const xml_element *e = xml_first_child(f->xml); e != NULL; e = xml_next_sibling(e)) {
        bool found = strcmp(xml_name(e), "collision") == 0;
        collision = found ? e : collision;
        collisions += found;
    }
    if (collisions != 1) {
        robot_error(reader, f->xml, "shape", "a deformable link has one <collision>, not %d", (int)collisions);
        return;
    }
    const stn_pose shift = sdf_pose(reader, collision, &relative_to);
    if (relative_to != NULL || !sdf_is_identity(&shift)) {
        robot_error(reader, collision, "unsupported",
                    "<pose> of the <collision> of a deformable link, which Drake leaves out: give it to the link");
        return;
    }
    robot_soft *soft = robot_add_soft(reader, f->name, f->label, f->xml);
    const stn_mesh *mesh = soft != NULL ? read_tetrahedra(reader, collision) : NULL;
    double *nodes = mesh != NULL ? place_nodes(reader, mesh, &pose) : NULL;
    int32_t *holder = nodes != NULL ? ROBOT_NEW(reader, mesh->vertex_count, int32_t) : NULL;
    if (holder == NULL || !hold_nodes(reader, f->xml, mesh, &f->pose, holder)) {
        return;
    }
    soft->link = reader->root;
    read_material(reader, properties, soft);
    read_surface(reader, collision, soft);
    read_visual(reader, f->xml, soft);
    const robot_soft_data data = {.mesh = {.name = f->name,
                                           .node_count = mesh->vertex_count,
                                           .tetrahedron_count = mesh->tetrahedron_count,
                                           .nodes = nodes,
                                           .tetrahedra = mesh->tetrahedra},
                                  .holder = holder};
    robot_mesh_soft(reader, collision, soft, &data);
}

void sdf_build_deformables(robot_reader *reader) {
    const sdf_reader *sdf = sdf_of(reader);
    for (int32_t i = 0; i < sdf->soft_count && !reader->out_of_memory; i++) {
        build(reader, sdf->softs[i]);
    }
}
