// SPDX-License-Identifier: Apache-2.0
// Meshes that shapes name. A collision mesh is read as its convex hull, unless it is declared a rigid hydroelastic
// surface that is not convex; the tetrahedra of a file are kept beside that hull for pressure fields. A visual mesh
// stays a reference, unless the caller wants it checked. What is wrong with a file is said once for all its uses, and
// files of any size are bounded by the sum of what one robot may name and read.
#include <string.h>
#include <strings.h>

#include "robot.h"

/// A hull that encloses so many times the volume of its source fills dents: worth a note, and worth a warning.
static const double FILLED = 1.05, BLOATED = 2.0;
enum { MOST_MESHES = 2000, MOST_FORMS = 16, MOST_TRIANGLES = 8000000 };

/// One place of the file that names a mesh.
typedef struct mesh_use {
    const xml_element *xml;
    const robot_file *file;
    bool collision, compliant;
    enum { AS_SURFACE, AS_HULL, AS_REFERENCE } form;
} mesh_use;

static const char *kind_of(const mesh_use *use) {
    return use->collision ? "collision" : "visual";
}

/// Room for one more; NULL without memory.
static robot_mesh *reserve_mesh(robot_reader *reader) {
    reader->meshes =
        robot_reserve(reader, reader->meshes, reader->mesh_count, &reader->mesh_capacity, sizeof *reader->meshes);
    return reader->mesh_count < reader->mesh_capacity ? &reader->meshes[reader->mesh_count] : NULL;
}

bool robot_keep_mesh(robot_reader *reader, const stn_mesh *data) {
    robot_mesh *mesh = reserve_mesh(reader);
    if (mesh == NULL) {
        stn_mesh_release(data);
        return false;
    }
    *mesh = (robot_mesh){.scale = {1.0, 1.0, 1.0}, .data = data};
    reader->mesh_count++;
    return true;
}

/// The mesh of this file, scale and form, read now or before; NULL: no room, said, or no memory.
static robot_mesh *find_mesh(robot_reader *reader, const mesh_use *use, stn_vec3 scale) {
    const char *key = robot_text(reader, "%s\n%a %a %a", use->file->path, scale.x, scale.y, scale.z);
    int32_t index = robot_names_find(&reader->mesh_names, (int32_t)use->form, key);
    if (index >= 0) {
        return &reader->meshes[index];
    }
    // Every scale of a file is a mesh of its own, so their number is bounded too.
    const char *real = use->file->real;
    int32_t forms = robot_names_find(&reader->form_names, 0, real);
    bool room = reader->mesh_count < MOST_MESHES && reader->triangle_count < MOST_TRIANGLES;
    if (!room || forms >= MOST_FORMS) {
        if (robot_first(reader, use->collision ? ROBOT_TOO_MANY_COLLISIONS : ROBOT_TOO_MANY_VISUALS,
                        room ? real : "")) {
            robot_say(reader, use->collision ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING, "size", robot_at(use->xml),
                      "one robot may have %d meshes with %d triangles together, and %d scales of one file%s",
                      (int)MOST_MESHES, (int)MOST_TRIANGLES, (int)MOST_FORMS,
                      use->collision ? "" : "; further visuals are left out");
        }
        return NULL;
    }
    robot_names_add(reader, &reader->form_names, 0, real, forms < 0 ? 1 : forms + 1);
    robot_mesh *mesh = reserve_mesh(reader);
    if (mesh == NULL) {
        return NULL;
    }
    *mesh = (robot_mesh){.scale = scale};
    robot_names_add(reader, &reader->mesh_names, (int32_t)use->form, key, reader->mesh_count++);
    if (use->form == AS_REFERENCE) {
        return mesh;
    }
    const char *path = use->file->path;
    const stn_mesh_request request = {
        .path = path, .scale = scale, .convex = use->form == AS_HULL, .root = use->file->root->path};
    stn_error err = {STN_OK, ""};
    stn_status status = stn_mesh_load(reader->diagnostics->context, &request, &mesh->data, &err);
    reader->out_of_memory |= status == STN_ERR_MEMORY;
    if (status < 0) { // why, without the path that is said anyway
        size_t length = strlen(path);
        bool repeated = strncmp(err.text, path, length) == 0 && strncmp(err.text + length, ": ", 2) == 0;
        mesh->why = robot_text(reader, "%s", repeated ? err.text + length + 2 : err.text);
    }
    reader->triangle_count += mesh->data != NULL ? mesh->data->facts.triangle_count : 0;
    return mesh;
}

#define SAY(severity, code, format, ...) \
    robot_say(reader, severity, code, robot_at(use->xml), "%s mesh '%.200s': " format, kind_of(use), uri, __VA_ARGS__)

/// Is the surface open? The edges of a hull's source were counted with the triangles that were dropped, of which each
/// may have left three that are no holes. That of tetrahedra never is, though it may touch itself along edges.
static bool is_open(const mesh_use *use, const stn_mesh *mesh) {
    const stn_mesh_facts *facts = &mesh->facts;
    if (facts->tetrahedron_count > 0) {
        return false;
    }
    return use->form == AS_HULL ? facts->open_edge_count > 3 * (int64_t)facts->degenerate_count
                                : mesh->solid.mass == 0.0;
}

bool robot_is_gltf(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcasecmp(dot, ".gltf") == 0 || strcasecmp(dot, ".glb") == 0);
}

/// The standard of glTF has y up: a quarter turn R about x, which Drake gives such meshes too. The scale is along the
/// axes of the robot file: S R = R (R^T S R), with y and z exchanged.
void robot_stand_up(robot_geometry *g) {
    const stn_pose turn = {{{{1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}}}, {0.0, 0.0, 0.0}};
    if (robot_is_gltf(g->file->path)) {
        g->spec.pose = stn_pose_mul(&g->spec.pose, &turn);
        g->scale = stn_vec3_make(g->scale.x, g->scale.z, g->scale.y);
    }
}

static void say_surface(robot_reader *reader, const mesh_use *use, const stn_mesh *mesh) {
    const stn_mesh_facts *facts = &mesh->facts;
    const char *uri = use->file->uri;
    if (facts->degenerate_count > 0) {
        bool one = facts->degenerate_count == 1;
        SAY(STN_SEVERITY_WARNING, "degenerate_triangles", "%d triangle%s without area %s dropped",
            (int)facts->degenerate_count, one ? "" : "s", one ? "is" : "are");
    }
    if (is_open(use, mesh)) {
        SAY(STN_SEVERITY_WARNING, "open_mesh", "the surface is not closed (%d edge%s): %s", (int)facts->open_edge_count,
            facts->open_edge_count == 1 ? "" : "s",
            use->form == AS_HULL ? "its convex hull is used" : "it is used as it is");
    } else if (facts->volume < 0.0) {
        SAY(STN_SEVERITY_WARNING, "inside_out", "its triangles look inwards (enclosed volume %g m^3): %s",
            facts->volume, use->form == AS_HULL ? "its convex hull is used" : "they are turned round");
    }
    double ratio = use->form == AS_HULL && !is_open(use, mesh) ? mesh->solid.mass / fabs(facts->volume) : 0.0;
    if (ratio > FILLED && isfinite(ratio)) {
        bool solid = facts->tetrahedron_count > 0, hollow = use->compliant && !solid;
        SAY(ratio > BLOATED && !(use->compliant && solid) ? STN_SEVERITY_WARNING : STN_SEVERITY_NOTE, "convex_hull",
            "its convex hull, which collides%s, encloses %.3g times its volume: %s where dents matter",
            hollow  ? " and is compliant"
            : solid ? " at points"
                    : "",
            ratio,
            hollow  ? "give a file of tetrahedra (.vtk, .msh), or split it,"
            : solid ? "choose a contact model that has patches of its tetrahedra"
                    : "split it");
    }
}

/// Once a file, for collision and visual each.
static void say_facts(robot_reader *reader, const mesh_use *use, const stn_mesh *mesh) {
    const stn_mesh_facts *facts = &mesh->facts;
    const char *uri = use->file->uri;
    if (!robot_first(reader, use->collision ? ROBOT_COLLISION_FACTS : ROBOT_VISUAL_FACTS, use->file->path)) {
        return;
    }
    if (use->collision) {
        say_surface(reader, use, mesh);
        stn_mesh_finding found;
        for (int32_t i = 0; stn_mesh_finding_of(mesh, i, &found); i++) {
            SAY(found.warning ? STN_SEVERITY_WARNING : STN_SEVERITY_NOTE, found.code, "%s", found.text);
        }
    }
    if (facts->up_axis != 'z' && !robot_is_gltf(use->file->path)) {
        SAY(STN_SEVERITY_WARNING, "up_axis", "the file says that %c is up: it is read as if z were", facts->up_axis);
    }
    if (facts->unit != 1.0) {
        SAY(STN_SEVERITY_NOTE, "unit", "its lengths are in units of %g m, which is applied", facts->unit);
    }
}

bool robot_load_mesh(robot_reader *reader, robot_geometry *g) {
    mesh_use use = {g->mesh, g->file, g->spec.collision, isfinite(g->spec.material.modulus), AS_SURFACE};
    if (!g->spec.collision && !reader->request->visual_meshes) {
        use.form = AS_REFERENCE;
    } else if (g->spec.collision && (g->declared_convex || !g->declared_rigid)) {
        use.form = AS_HULL;
    }
    const robot_mesh *mesh = find_mesh(reader, &use, g->scale);
    if (mesh == NULL || reader->out_of_memory) {
        return false;
    }
    if (mesh->why != NULL) {
        if (robot_first(reader, use.collision ? ROBOT_BAD_COLLISION_MESH : ROBOT_BAD_VISUAL_MESH, g->file->path)) {
            robot_say_mesh(reader, g->mesh, g->file->uri, use.collision, "mesh", mesh->why);
        }
        return false;
    }
    if (mesh->data != NULL) {
        say_facts(reader, &use, mesh->data);
    }
    g->data = mesh->data;
    g->spec.shape = stn_shape_mesh(mesh->data);
    if (!use.collision || g->declared_convex || g->data->facts.tetrahedron_count == 0) {
        return true;
    }
    // The tetrahedra beside the hull or surface; also of a rigid shape, which may be made compliant in the builder.
    use.form = AS_SURFACE;
    const robot_mesh *volume = find_mesh(reader, &use, g->scale);
    g->volume = volume != NULL && volume->why == NULL ? volume->data : NULL;
    return g->volume != NULL && !reader->out_of_memory;
}

const stn_mesh *robot_read_mesh(robot_reader *reader, const xml_element *xml, const robot_file *file, stn_vec3 scale) {
    const mesh_use use = {xml, file, true, false, AS_SURFACE};
    const robot_mesh *mesh = find_mesh(reader, &use, scale);
    if (mesh != NULL && mesh->why != NULL) {
        robot_say_mesh(reader, xml, file->uri, true, "mesh", mesh->why);
    }
    return mesh != NULL && !reader->out_of_memory ? mesh->data : NULL;
}

void robot_release_meshes(robot_reader *reader) {
    for (int32_t i = 0; i < reader->mesh_count; i++) {
        stn_mesh_release(reader->meshes[i].data);
    }
}
