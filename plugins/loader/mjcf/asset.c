// SPDX-License-Identifier: Apache-2.0
// <asset>: meshes, from files or from numbers in the file, and colours. A mesh that weighs by its volume is read a
// second time as the surface that it is: the hull, which collides, would weigh more.
#include <string.h>

#include "mjcf.h"

/// refpos and refquat say where the origin of the mesh is in the file: x_used = S R^T (x_file - p), which with the
/// scale first is R^T S x_file - S R^T p where S and R commute.
static void read_reference(robot_reader *reader, const mjcf_item *item, mjcf_mesh *mesh) {
    double p[3] = {0.0}, wxyz[4] = {1.0, 0.0, 0.0, 0.0};
    stn_quat q = stn_quat_identity();
    mjcf_reals(reader, item, "refpos", 3, 3, p);
    if (mjcf_reals(reader, item, "refquat", 4, 4, wxyz) == 4) {
        mjcf_quaternion(reader, item->xml, "refquat", wxyz, &q);
    }
    stn_mat3 r = stn_quat_matrix(q);
    stn_vec3 s = mesh->scale, back = stn_mat3_apply_transposed(&r, stn_vec3_make(p[0], p[1], p[2]));
    mesh->turn.rotation = stn_mat3_transpose(&r);
    mesh->turn.position = stn_vec3_make(-s.x * back.x, -s.y * back.y, -s.z * back.z);
    if (!(s.x == s.y && s.x == s.z) && q.x * q.x + q.y * q.y + q.z * q.z > 0.0) {
        robot_error(reader, item->xml, "mesh",
                    "refquat beside a scale that differs between axes is not read: scale and "
                    "turn the mesh in its file");
        mesh->faulty = true;
    }
}

/// As many numbers as an attribute holds, NULL when it is absent or bad.
static double *read_list(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t *count) {
    double *values = mjcf_numbers(reader, xml, attribute, count);
    if (*count % 3 != 0) {
        robot_error(reader, xml, "number", "%s of <mesh> must be numbers three and three, not %d", attribute,
                    (int)*count);
        return NULL;
    }
    return values;
}

/// Triangles from the first point in some order over a segment that ends at it and at the furthest from it: whatever
/// points there are, their hull is that of these triangles, as a point on the line of the segment lies inside it.
static void fan_out(const double *v, int32_t count, int32_t *triangles) {
    int32_t first = 0, last = 0;
    double furthest = -1.0;
    for (int32_t i = 1; i < count; i++) {
        const double *a = v + 3 * i, *b = v + 3 * first;
        first = a[0] < b[0] || (a[0] == b[0] && (a[1] < b[1] || (a[1] == b[1] && a[2] < b[2]))) ? i : first;
    }
    for (int32_t i = 0; i < count; i++) {
        double d =
            hypot(hypot(v[3 * i] - v[3 * first], v[3 * i + 1] - v[3 * first + 1]), v[3 * i + 2] - v[3 * first + 2]);
        last = d > furthest ? i : last;
        furthest = fmax(d, furthest);
    }
    for (int32_t i = 0; i < count; i++) {
        triangles[3 * i] = first;
        triangles[3 * i + 1] = last;
        triangles[3 * i + 2] = i;
    }
}

enum { MOST_MADE = 2000 }; // as many as meshes in files

static stn_status make_hull(robot_reader *reader, mjcf_mesh *mesh, const stn_mesh_data *data, stn_error *err) {
    stn_mesh *surface = NULL, *scaled = NULL, *hull = NULL;
    stn_status status = stn_mesh_create(reader->diagnostics->context, data, &surface, err);
    if (status == STN_OK) {
        status = stn_mesh_create_scaled(surface, mesh->scale, &scaled, err);
    }
    if (status == STN_OK) {
        status = stn_mesh_create_hull(scaled, &hull, err);
    }
    if (status == STN_OK) {
        mesh->solid =
            scaled->solid.mass > 0.0 && data->triangle_count != data->vertex_count ? scaled->solid : hull->solid;
        mesh->weighed = true;
        mesh->made = hull;
        reader->out_of_memory |= !robot_keep_mesh(reader, hull);
    }
    stn_mesh_release(scaled);
    stn_mesh_release(surface);
    return status;
}

/// Numbers in the file instead of one.
static void read_numbers(robot_reader *reader, const xml_element *xml, mjcf_mesh *mesh) {
    stn_mesh_data data = {0};
    stn_error err = {STN_OK, ""};
    if (mjcf_of(reader)->made_count++ == MOST_MADE) {
        robot_error(reader, xml, "size", "one robot may have %d meshes made of numbers", (int)MOST_MADE);
    }
    mesh->faulty |= mjcf_of(reader)->made_count > MOST_MADE;
    if (mesh->faulty) {
        return;
    }
    mesh->faulty = true; // until it is made
    double *v = read_list(reader, xml, "vertex", &data.vertex_count);
    data.vertices = v;
    data.vertex_count /= 3;
    if (v == NULL) {
        return;
    }
    // Corners of the triangles that the file lists, or such that make the hull of the points.
    int32_t corners = 0;
    const double *faces = read_list(reader, xml, "face", &corners);
    if (faces == NULL && xml_attribute(xml, "face") != NULL) {
        return;
    }
    corners = faces != NULL ? corners : 3 * data.vertex_count;
    int32_t *triangles = ROBOT_NEW(reader, corners, int32_t);
    if (triangles == NULL) {
        return;
    }
    if (faces == NULL) {
        fan_out(v, data.vertex_count, triangles);
    }
    for (int32_t i = 0; faces != NULL && i < corners; i++) {
        if (!(faces[i] >= 0.0 && faces[i] < data.vertex_count && faces[i] == floor(faces[i]))) {
            robot_error(reader, xml, "mesh", "face of <mesh>: %g is no number of a vertex, there are %d", faces[i],
                        (int)data.vertex_count);
            return;
        }
        triangles[i] = (int32_t)faces[i];
    }
    data.triangles = triangles;
    data.triangle_count = corners / 3;
    stn_status status = make_hull(reader, mesh, &data, &err);
    reader->out_of_memory |= status == STN_ERR_MEMORY;
    mesh->faulty = status != STN_OK;
    if (mesh->faulty) {
        robot_error(reader, xml, "mesh", "<mesh>: %s", err.text);
    }
}

const char *mjcf_mesh_uri(robot_reader *reader, const char *file) {
    const mjcf_compiler *c = &mjcf_of(reader)->compiler;
    const char *folder = c->meshdir != NULL ? c->meshdir : c->assetdir, *slash = strrchr(file, '/');
    const char *uri = c->strippath && slash != NULL ? slash + 1 : file;
    size_t length = strlen(folder);
    bool relative = uri[0] != '/' && strstr(uri, "://") == NULL && length > 0;
    return relative ? robot_text(reader, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", uri) : uri;
}

static void read_mesh(robot_reader *reader, const xml_element *xml) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const char *given = xml_attribute(xml, "name"), *file = xml_attribute(xml, "file");
    const mjcf_item item = mjcf_item_of(reader, xml, MJCF_MESH, 0);
    mjcf_mesh mesh = {.name = given, .xml = xml, .turn = stn_pose_identity()};
    if (given == NULL && file != NULL) { // the file's name without folder and extension
        const char *slash = strrchr(file, '/'), *start = slash != NULL ? slash + 1 : file, *dot = strrchr(start, '.');
        size_t length = dot != NULL && dot != start ? (size_t)(dot - start) : strlen(start);
        mesh.name = robot_text(reader, "%.*s", (int)length, start);
    } else if (given == NULL) {
        mesh.name = robot_name_of(reader, xml, "name");
    }
    reader->label = mesh.name != NULL ? robot_text(reader, "mesh %s", mesh.name) : "mesh";
    if (mesh.name == NULL) {
        return;
    }
    if (robot_names_find(&mjcf->mesh_names, 0, mesh.name) >= 0) {
        robot_error(reader, xml, "duplicate_mesh", "there is a mesh '%.80s' already: rename one", mesh.name);
        return;
    }
    double s[3] = {1.0, 1.0, 1.0};
    mjcf_reals(reader, &item, "scale", 3, 3, s);
    if (s[0] == 0.0 || s[1] == 0.0 || s[2] == 0.0) {
        robot_error(reader, xml, "size_of_shape", "scale of <mesh> = %g %g %g: no factor may be 0", s[0], s[1], s[2]);
        mesh.faulty = true;
        s[0] = s[1] = s[2] = 1.0;
    }
    mesh.scale = stn_vec3_make(s[0], s[1], s[2]);
    read_reference(reader, &item, &mesh);
    if (file != NULL) {
        mesh.uri = mjcf_mesh_uri(reader, file);
    } else if (xml_attribute(xml, "vertex") != NULL) {
        read_numbers(reader, xml, &mesh);
    } else {
        robot_error(reader, xml, "missing", "<mesh> has neither file nor vertex: give one of them");
        mesh.faulty = true;
    }
    mjcf->meshes = robot_reserve(reader, mjcf->meshes, mjcf->mesh_count, &mjcf->mesh_capacity, sizeof *mjcf->meshes);
    if (mjcf->mesh_count < mjcf->mesh_capacity) {
        robot_names_add(reader, &mjcf->mesh_names, 0, mesh.name, mjcf->mesh_count);
        mjcf->meshes[mjcf->mesh_count++] = mesh;
    }
}

static void read_material(robot_reader *reader, const xml_element *xml) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const mjcf_item item = mjcf_item_of(reader, xml, MJCF_MATERIAL, 0);
    double rgba[4] = {1.0, 1.0, 1.0, 1.0};
    reader->label = "material";
    mjcf_material material = {.name = robot_name_of(reader, xml, "name")};
    if (material.name == NULL) {
        return;
    }
    reader->label = robot_text(reader, "material %s", material.name);
    mjcf_reals(reader, &item, "rgba", 4, 4, rgba);
    for (int32_t i = 0; i < 4; i++) {
        material.rgba[i] = (float)fmin(fmax(rgba[i], 0.0), 1.0);
    }
    if (robot_names_find(&mjcf->material_names, 0, material.name) >= 0) {
        robot_error(reader, xml, "duplicate_material", "there is a material '%.80s' already: rename one",
                    material.name);
        return;
    }
    mjcf->materials =
        robot_reserve(reader, mjcf->materials, mjcf->material_count, &mjcf->material_capacity, sizeof *mjcf->materials);
    if (mjcf->material_count < mjcf->material_capacity) {
        robot_names_add(reader, &mjcf->material_names, 0, material.name, mjcf->material_count);
        mjcf->materials[mjcf->material_count++] = material;
    }
}

void mjcf_read_assets(robot_reader *reader, const xml_element *root) {
    const xml_element *section = NULL;
    while ((section = mjcf_next(root, "asset", section)) != NULL) {
        for (const xml_element *e = xml_first_child(section); e != NULL; e = xml_next_sibling(e)) {
            if (strcmp(xml_name(e), "mesh") == 0) {
                read_mesh(reader, e);
            } else if (strcmp(xml_name(e), "material") == 0) {
                read_material(reader, e);
            }
        }
    }
}

mjcf_mesh *mjcf_find_mesh(robot_reader *reader, const xml_element *xml, const char *name) {
    int32_t index = robot_names_find(&mjcf_of(reader)->mesh_names, 0, name);
    if (index < 0) {
        robot_error(reader, xml, "unknown_mesh", "there is no mesh '%.80s' in <asset>%s", name,
                    robot_names_hint(reader, &mjcf_of(reader)->mesh_names, 0, name));
        return NULL;
    }
    mjcf_mesh *mesh = &mjcf_of(reader)->meshes[index];
    return mesh->faulty ? NULL : mesh;
}

const mjcf_material *mjcf_find_material(robot_reader *reader, const xml_element *xml, const char *name) {
    int32_t index = robot_names_find(&mjcf_of(reader)->material_names, 0, name);
    if (index < 0) {
        if (robot_first(reader, (robot_topic)MJCF_NO_MATERIAL, name)) {
            robot_warn(reader, xml, "unknown_material", "there is no material '%.80s' in <asset>", name);
        }
        return NULL;
    }
    return &mjcf_of(reader)->materials[index];
}

/// The solid that a mesh file encloses; mass 0 when it encloses none.
static void weigh_file(robot_reader *reader, mjcf_mesh *mesh, bool convex) {
    const robot_file *file = robot_find_file(reader, mesh->uri);
    const stn_mesh *surface = NULL;
    stn_error err = {STN_OK, ""};
    if (file == NULL || file->path == NULL) {
        return; // said where it is a shape
    }
    stn_mesh_request request = {.path = file->path, .scale = mesh->scale, .convex = convex, .root = file->root->path};
    stn_status status = stn_mesh_load(reader->diagnostics->context, &request, &surface, &err);
    reader->out_of_memory |= status == STN_ERR_MEMORY;
    if (status >= 0 && surface != NULL) {
        mesh->solid = surface->solid;
    }
    stn_mesh_release(surface);
}

const stn_mass *mjcf_weigh_mesh(robot_reader *reader, mjcf_mesh *mesh) {
    if (!mesh->weighed) {
        mesh->weighed = true;
        weigh_file(reader, mesh, false);
        if (mesh->solid.mass == 0.0) {
            weigh_file(reader, mesh, true);
            if (mesh->solid.mass > 0.0) {
                robot_warn(reader, mesh->xml, "open_mesh",
                           "mesh '%.80s': the surface encloses no volume, that of its convex hull weighs", mesh->name);
            }
        }
    }
    return &mesh->solid;
}
