// SPDX-License-Identifier: Apache-2.0
// stiction info FILE.stl: the facts of a mesh file as it was given, its mass properties at unit density when it is
// closed, and the size of its convex hull.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <stiction/mesh.h>

#include "common/print.h"
#include "common/progress.h"
#include "info.h"

typedef struct mesh_report {
    const char *path;
    stn_context *context;
    const stn_mesh *mesh;
    stn_mesh *hull;    // NULL: a flat mesh has none
    char no_hull[400]; // why
    double load_ms;
} mesh_report;

static const char *format_of(const char *path) {
    static const char *const formats[] = {"obj", "stl", "vtk", "msh", "dae", "gltf", "glb"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    for (int32_t i = 0; dot != NULL && i < STN_COUNT(formats); i++) {
        if (strcasecmp(dot + 1, formats[i]) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

bool info_is_mesh(const char *path) {
    return format_of(path) != NULL;
}

// ---------------------------------------------------------------------------------------------------------- JSON

static bool print_json(const mesh_report *r) {
    const stn_mesh *mesh = r->mesh;
    const stn_mesh_facts *facts = &mesh->facts;
    char up[2] = {facts->up_axis, '\0'};
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "file", r->path);
    cli_json_add_text(json, "format", format_of(r->path));
    cJSON_AddNumberToObject(json, "vertices", facts->vertex_count);
    cJSON_AddNumberToObject(json, "distinct_vertices", mesh->vertex_count);
    cJSON_AddNumberToObject(json, "triangles", facts->triangle_count);
    cJSON_AddNumberToObject(json, "tetrahedra", facts->tetrahedron_count);
    cJSON_AddBoolToObject(json, "pressure_field", mesh->extents != NULL);
    cJSON *findings = cJSON_AddArrayToObject(json, "findings");
    stn_mesh_finding found;
    for (int32_t i = 0; stn_mesh_finding_of(mesh, i, &found); i++) {
        cJSON_AddItemToArray(findings, cJSON_CreateString(found.text));
    }
    cJSON_AddNumberToObject(json, "degenerate_triangles", facts->degenerate_count);
    cJSON_AddNumberToObject(json, "open_edges", facts->open_edge_count);
    cJSON_AddBoolToObject(json, "closed", facts->open_edge_count == 0);
    cJSON *bounds = cJSON_AddObjectToObject(json, "bounds");
    cli_json_add_box(bounds, &mesh->bounds);
    cli_json_add_real(json, "area_m2", facts->area);
    cli_json_add_real(json, "volume_m3", facts->volume);
    cli_json_add_real(json, "unit_m", facts->unit);
    cli_json_add_text(json, "up_axis", up);
    cJSON_AddNumberToObject(json, "instances", facts->instance_count);
    const stn_mass *solid = &mesh->solid;
    if (solid->mass > 0.0) {
        double moments[3];
        stn_mat3_eigenvalues(&solid->inertia, moments);
        cJSON *mass = cJSON_AddObjectToObject(json, "unit_density");
        cli_json_add_real(mass, "mass_kg", solid->mass);
        cli_json_add_vector(mass, "com", solid->com);
        cli_json_add_reals(mass, "inertia", &solid->inertia.m[0][0], 9);
        cli_json_add_reals(mass, "principal_moments", moments, 3);
    } else {
        cJSON_AddNullToObject(json, "unit_density");
    }
    if (r->hull != NULL) {
        cJSON *hull = cJSON_AddObjectToObject(json, "hull");
        cJSON_AddNumberToObject(hull, "vertices", r->hull->vertex_count);
        cJSON_AddNumberToObject(hull, "triangles", r->hull->triangle_count);
        cli_json_add_real(hull, "volume_m3", r->hull->solid.mass);
    } else {
        cJSON_AddNullToObject(json, "hull");
    }
    cli_json_add_real(json, "load_ms", r->load_ms);
    return cli_json_print(json, true);
}

// ---------------------------------------------------------------------------------------------------------- text

static bool print_text(const mesh_report *r) {
    const stn_mesh *mesh = r->mesh;
    const stn_mesh_facts *f = &mesh->facts;
    stn_vec3 l = mesh->bounds.lower, u = mesh->bounds.upper;
    printf("%s  (%s)\n", r->path, format_of(r->path));
    printf("  vertices  %d, %d of them at places of their own\n", (int)f->vertex_count, (int)mesh->vertex_count);
    printf("  surface   %d triangles, %d without area; %d open edges%s\n", (int)f->triangle_count,
           (int)f->degenerate_count, (int)f->open_edge_count, f->open_edge_count == 0 ? ": closed" : "");
    if (f->tetrahedron_count > 0) {
        printf("  solid of  %d tetrahedra, worst quality %.3g; %s\n", (int)f->tetrahedron_count, f->solid.least_quality,
               mesh->extents != NULL ? "with a pressure field" : "no pressure field");
    }
    stn_mesh_finding found;
    for (int32_t i = 0; stn_mesh_finding_of(mesh, i, &found); i++) {
        printf("  %s   %s\n", found.warning ? "warning" : "note   ", found.text);
    }
    printf("  size      %.6g x %.6g x %.6g m, from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g)\n", u.x - l.x, u.y - l.y,
           u.z - l.z, l.x, l.y, l.z, u.x, u.y, u.z);
    printf("  area      %.6g m^2\n  volume    %.6g m^3%s\n", f->area, f->volume,
           f->volume < 0.0 ? " (inside out)" : "");
    printf("  file      unit %.6g m, %c axis up, %d part%s\n", f->unit, f->up_axis, (int)f->instance_count,
           f->instance_count == 1 ? "" : "s");
    if (mesh->solid.mass > 0.0) {
        const stn_mass *solid = &mesh->solid;
        double p[3];
        stn_mat3_eigenvalues(&solid->inertia, p);
        printf(
            "  solid     centre of mass (%.6g, %.6g, %.6g) m; at 1 kg/m^3 %.6g kg, principal moments %.6g, %.6g, %.6g "
            "kg m^2\n",
            solid->com.x, solid->com.y, solid->com.z, solid->mass, p[0], p[1], p[2]);
    } else {
        puts("  solid     none: the surface is not closed, or inside out");
    }
    if (r->hull != NULL) {
        printf("  hull      %d vertices, %d triangles, %.6g m^3\n", (int)r->hull->vertex_count,
               (int)r->hull->triangle_count, r->hull->solid.mass);
    } else {
        printf("  hull      none: %s\n", r->no_hull);
    }
    fprintf(stderr, "loaded in %.1f ms\n", r->load_ms);
    return fflush(stdout) == 0;
}

int info_mesh(const cli_command *command, const char *path, bool json) {
    stn_error error = {STN_OK, ""}, of_hull = {STN_OK, ""};
    mesh_report r = {.path = path};
    stn_mesh_request request = {.path = path, .scale = {1.0, 1.0, 1.0}};
    double begun = cli_seconds_now();
    stn_status status = stn_context_create(NULL, &r.context, &error);
    if (status == STN_OK) {
        status = stn_mesh_load(r.context, &request, &r.mesh, &error);
    }
    r.load_ms = 1e3 * (cli_seconds_now() - begun);
    if (status == STN_OK && stn_mesh_create_hull(r.mesh, &r.hull, &of_hull) != STN_OK) {
        snprintf(r.no_hull, sizeof r.no_hull, "%s", of_hull.text);
    }
    int result = STN_EXIT_DONE;
    if (status != STN_OK) {
        result = cli_fail_status(command, &error);
    } else if (!(json ? print_json(&r) : print_text(&r))) {
        result = STN_EXIT_BAD_INPUT;
    }
    stn_mesh_release(r.mesh);
    stn_mesh_release(r.hull);
    stn_context_destroy(r.context);
    return result;
}
