// SPDX-License-Identifier: Apache-2.0
// Rules about shapes: what is missing, and lengths in another unit than the rest. What is wrong with a mesh itself, the
// loader says where it reads the file.
#include <stdlib.h>
#include <string.h>

#include <stiction/mesh.h>

#include "check.h"

static const double LARGEST_ROBOT = 50.0, SMALLEST_ROBOT = 0.005; // [m]
static const double MESH_FACTOR = 100.0, LINK_FACTOR = 50.0;

void check_collision_missing(check *c) {
    const stn_model *m = c->model;
    int32_t collisions = 0, shapes = m->geometry_count;
    for (int32_t b = 0; b < m->body_count; b++) {
        collisions += c->bodies[b].collisions;
    }
    if (shapes == 0) {
        check_note(c, "no link has a shape: the robot is neither seen nor touches anything");
    } else if (collisions == 0) {
        check_say_robot(c, "no link has a collision shape: the robot touches nothing");
    }
    for (int32_t b = 1; b < m->body_count; b++) {
        if (collisions > 0 && c->bodies[b].collisions == 0 && c->bodies[b].visuals > 0 &&
            check_is_own_joint(c, m->bodies[b].joint)) {
            check_say_link(c, c->robot->child_of[m->bodies[b].joint],
                           "it moves and is seen, but has no collision shape: it passes through everything");
        }
    }
}

/// The next shape from `i` on with a mesh that is loaded, -1: none.
static int32_t next_mesh(const stn_model *m, int32_t i) {
    while (i < m->geometry_count && m->geometries[i].shape.mesh == NULL) {
        i++;
    }
    return i < m->geometry_count ? i : -1;
}

void check_scale_robot(check *c) {
    stn_aabb all = cli_robot_box(c->robot, c->kinematics, true), visual = cli_robot_box(c->robot, c->kinematics, false);
    cli_box_add(&all, &visual);
    cli_box_add(&all, &c->origins);
    double size = cli_box_diagonal(&all);
    if (size > LARGEST_ROBOT) {
        check_say_robot(c, "it measures %.4g m from corner to corner: lengths are in m, are these millimetres?", size);
    } else if (size > 0.0 && size < SMALLEST_ROBOT) {
        check_say_robot(c, "it measures %.3g m from corner to corner: lengths are in m", size);
    }
}

static double diagonal_of(const stn_geometry *g) {
    stn_pose here = stn_pose_identity();
    stn_aabb box = cli_box_of(g, &here);
    return cli_box_diagonal(&box);
}

/// Lower median of the sizes of all shapes: that of most meshes when few are wrong; 0 without shapes that are known.
static double usual_size(check *c) {
    const stn_model *m = c->model;
    double *sizes = STN_ARENA(c->arena, m->geometry_count, double);
    int32_t count = 0;
    if (sizes == NULL) {
        c->out_of_memory = true;
        return 0.0;
    }
    for (int32_t i = 0; i < m->geometry_count; i++) {
        double size = diagonal_of(&m->geometries[i]);
        if (size > 0.0) {
            sizes[count++] = size;
        }
    }
    qsort(sizes, (size_t)count, sizeof *sizes, cli_compare_reals);
    return count > 0 ? sizes[(count - 1) / 2] : 0.0;
}

void check_scale_mesh(check *c) {
    double others = usual_size(c), frames = cli_box_diagonal(&c->origins);
    double reference = fmax(frames, others > MESH_FACTOR * frames ? 0.0 : others); // all meshes may be wrong
    for (int32_t i = next_mesh(c->model, 0); i >= 0 && reference > 0.0; i = next_mesh(c->model, i + 1)) {
        double size = diagonal_of(&c->model->geometries[i]);
        if (size > MESH_FACTOR * reference) {
            int32_t mesh = c->model->geometries[i].mesh;
            const char *path = mesh >= 0 ? c->model->meshes[mesh].path : "", *slash = strrchr(path, '/');
            check_say_shape(c, i,
                            "the mesh %s measures %.4g m where the rest is about %.3g m large: is it in millimetres? "
                            "Then add scale=\"0.001 0.001 0.001\"",
                            slash != NULL ? slash + 1 : path, size, reference);
        }
    }
}

void check_scale_link(check *c) {
    for (int32_t i = 0; i < c->model->link_count; i++) {
        const check_shapes *s = &c->links[i];
        double touched = cli_box_diagonal(&s->collision), seen = cli_box_diagonal(&s->visual);
        bool known = s->unknown == 0 && touched > 0.0 && seen > 0.0;
        if (known && (touched > LINK_FACTOR * seen || seen > LINK_FACTOR * touched)) {
            check_say_link(c, i,
                           "its collision shapes measure %.3g m, its visual ones %.3g m: are they in the same unit?",
                           touched, seen);
        }
    }
}

void check_slab_thickness(check *c) {
    for (int32_t i = 0; i < c->model->geometry_count; i++) {
        const stn_geometry *g = &c->model->geometries[i];
        if (g->collision && g->shape.type == STN_SHAPE_HALF_SPACE && stn_geometry_is_compliant(g) &&
            isnan(g->field.thickness)) {
            check_say_shape(c, i,
                            "a compliant plane needs a thickness, at which its pressure is the modulus: give "
                            "<drake:slab_thickness>, or <drake:rigid_hydroelastic/>");
        }
    }
}

void check_friction_direction(check *c) {
    for (int32_t i = 0; i < c->model->geometry_count; i++) {
        const stn_geometry *g = &c->model->geometries[i];
        stn_vec3 d = g->friction_direction;
        if (g->collision && g->shape.type == STN_SHAPE_HALF_SPACE && stn_vec3_norm(d) > 0.0 &&
            hypot(d.x, d.y) <= 1e-9 * stn_vec3_norm(d)) {
            check_say_shape(c, i,
                            "the friction direction is normal to the plane: its second coefficient, %g, acts in all "
                            "directions",
                            g->material.mu2);
        }
    }
}

// --------------------------------------------------------------------------------------------------------- packages

static bool lies_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/// Does a link stand in a file below the folder, one that the robot's file includes?
static bool holds_link(const check *c, const char *folder) {
    const char *last = "";
    for (int32_t i = 0; i < c->model->link_count; i++) {
        const char *where = c->model->links[i].where, *line = strrchr(where, ':');
        size_t length = line != NULL ? (size_t)(line - where) : 0;
        bool known = length == 0 || (strncmp(where, last, length) == 0 && last[length] == ':');
        if (known || (strncmp(where, c->robot->path, length) == 0 && c->robot->path[length] == '\0')) {
            continue; // the file asked for, or the one looked at last
        }
        last = where;
        char *file = stn_allocate(c->robot->context, length + 1, 1), *path = NULL;
        if (file != NULL) {
            memcpy(file, where, length);
            file[length] = '\0';
            path = realpath(file, NULL);
        }
        bool below = path != NULL && lies_below(path, folder);
        free(path);
        stn_release(c->robot->context, file);
        if (below) {
            return true;
        }
    }
    return false;
}

void check_package_unused(check *c) {
    for (const char *const *folder = c->packages; folder != NULL && *folder != NULL; folder++) {
        char *real = realpath(*folder, NULL);
        bool used = real != NULL && holds_link(c, real);
        for (int32_t i = 0; i < c->model->mesh_count && real != NULL && !used; i++) {
            char *path = realpath(c->model->meshes[i].path, NULL);
            used = path != NULL && lies_below(path, real);
            free(path);
        }
        if (!used) {
            check_say_robot(c,
                            real != NULL ? "no mesh and no included model comes from the folder %.300s of --package"
                                         : "the folder %.300s of --package does not exist",
                            *folder);
        }
        free(real);
    }
}
