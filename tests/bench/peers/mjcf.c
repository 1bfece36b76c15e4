// SPDX-License-Identifier: Apache-2.0
// A compiled model as MJCF: bodies nest as the trees do, in the same order, so that MuJoCo's coordinates are ours.
// Gains: kp is a position servo, kd joins the joint's damping, which MuJoCo takes implicitly as we do.
#include <math.h>
#include <stdio.h>

#include "scene.h"

typedef struct writer {
    FILE *file;
    const peer_scene *scene;
} writer;

static void write_pose(const writer *w, const stn_pose *pose) {
    stn_quat q = stn_quat_from_matrix(&pose->rotation);
    fprintf(w->file, " pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'", pose->position.x, pose->position.y,
            pose->position.z, q.w, q.x, q.y, q.z);
}

static void write_geometry(const writer *w, const stn_geometry *g) {
    static const char *const types[STN_SHAPE_COUNT] = {
        [STN_SHAPE_SPHERE] = "sphere",     [STN_SHAPE_BOX] = "box",          [STN_SHAPE_CAPSULE] = "capsule",
        [STN_SHAPE_CYLINDER] = "cylinder", [STN_SHAPE_HALF_SPACE] = "plane", [STN_SHAPE_ELLIPSOID] = "ellipsoid"};
    const stn_shape *s = &g->shape;
    if (g->collision && s->type == STN_SHAPE_CONVEX) {
        fprintf(w->file, "<geom type='mesh' mesh='m%d'", (int)(g - w->scene->model->geometries));
        write_pose(w, &g->pose);
        fprintf(w->file, "/>\n");
        return;
    }
    if (!g->collision || types[s->type] == NULL) {
        return;
    }
    stn_vec3 size = s->half_extents;
    if (s->type == STN_SHAPE_HALF_SPACE) {
        size = stn_vec3_make(50.0, 50.0, 1.0); // only drawn so large
    } else if (s->type != STN_SHAPE_BOX && s->type != STN_SHAPE_ELLIPSOID) {
        size = stn_vec3_make(s->radius, s->half_length, 0.0);
    }
    fprintf(w->file, "<geom type='%s' size='%.17g %.17g %.17g'", types[s->type], size.x, size.y, size.z);
    write_pose(w, &g->pose);
    fprintf(w->file, "/>\n");
}

/// Convex hulls by their corners.
static void write_hulls(const writer *w) {
    const stn_model *m = w->scene->model;
    fprintf(w->file, "<asset>\n");
    for (int32_t g = 0; g < m->geometry_count; g++) {
        const stn_shape *s = &m->geometries[g].shape;
        if (!m->geometries[g].collision || s->type != STN_SHAPE_CONVEX) {
            continue;
        }
        fprintf(w->file, "<mesh name='m%d' vertex='", (int)g);
        for (int32_t i = 0; i < 3 * s->mesh->vertex_count; i++) {
            fprintf(w->file, "%.17g ", s->mesh->vertices[i]);
        }
        fprintf(w->file, "'/>\n");
    }
    fprintf(w->file, "</asset>\n");
}

static void write_geometries(const writer *w, int32_t body) {
    for (int32_t g = 0; g < w->scene->model->geometry_count; g++) {
        if (w->scene->model->geometries[g].body == body) {
            write_geometry(w, &w->scene->model->geometries[g]);
        }
    }
}

static void write_joint(const writer *w, int32_t index) {
    const stn_joint *j = &w->scene->model->joints[index];
    if (j->type == STN_JOINT_FLOATING) {
        fprintf(w->file, "<freejoint name='j%d'/>\n", (int)index);
        return;
    }
    fprintf(w->file, "<joint name='j%d' type='%s' axis='%.17g %.17g %.17g' damping='%.17g' armature='%.17g'",
            (int)index, j->type == STN_JOINT_PRISMATIC ? "slide" : "hinge", j->axis.x, j->axis.y, j->axis.z,
            j->damping + w->scene->kd[j->v_start], j->reflected_inertia);
    if (isfinite(j->lower) && isfinite(j->upper)) {
        fprintf(w->file, " limited='true' range='%.17g %.17g'", j->lower, j->upper);
    }
    fprintf(w->file, " frictionloss='%.17g'/>\n", j->friction);
}

static void write_body(const writer *w, int32_t b) {
    const stn_model *m = w->scene->model;
    const stn_mass *mass = &m->bodies[b].mass;
    const double(*I)[3] = mass->inertia.m;
    fprintf(w->file, "<body name='b%d'", (int)b);
    write_pose(w, &m->joints[m->bodies[b].joint].origin);
    fprintf(w->file,
            "><inertial pos='%.17g %.17g %.17g' mass='%.17g' fullinertia='%.17g %.17g %.17g %.17g %.17g %.17g'/>\n",
            mass->com.x, mass->com.y, mass->com.z, mass->mass, I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]);
    write_joint(w, m->bodies[b].joint);
    write_geometries(w, b);
    for (int32_t child = b + 1; child < m->body_count; child++) {
        if (m->bodies[child].parent == b) {
            write_body(w, child);
        }
    }
    fprintf(w->file, "</body>\n");
}

/// Pairs of bodies none of whose shapes may touch.
static void write_excludes(const writer *w) {
    const stn_model *m = w->scene->model;
    fprintf(w->file, "<contact>\n");
    for (int32_t a = 1; a < m->body_count; a++) {
        for (int32_t b = 0; b < a; b++) {
            bool shapes = false, meet = false;
            for (int32_t i = 0; i < m->geometry_count && !meet; i++) {
                for (int32_t k = 0; m->geometries[i].body == a && k < m->geometry_count && !meet; k++) {
                    bool both = m->geometries[k].body == b && m->geometries[i].collision && m->geometries[k].collision;
                    shapes = shapes || both;
                    meet = both && stn_model_may_collide(m, i, k);
                }
            }
            if (shapes && !meet) {
                char other[16] = "world";
                if (b > 0) {
                    snprintf(other, sizeof other, "b%d", (int)b);
                }
                fprintf(w->file, "<exclude body1='%s' body2='b%d'/>\n", other, (int)a);
            }
        }
    }
    fprintf(w->file, "</contact>\n");
}

static void write_servos(const writer *w) {
    const stn_model *m = w->scene->model;
    fprintf(w->file, "<actuator>\n");
    for (int32_t d = 0; d < m->nv; d++) {
        double kp = w->scene->kp[d], limit = w->scene->limit[d];
        if (kp > 0.0) {
            fprintf(w->file, "<general joint='j%d' gainprm='%.17g' biastype='affine' biasprm='0 -%.17g 0'",
                    (int)m->dof_joint[d], kp, kp);
            if (isfinite(limit)) {
                fprintf(w->file, " forcelimited='true' forcerange='-%.17g %.17g'", limit, limit);
            }
            fprintf(w->file, "/>\n");
        }
    }
    fprintf(w->file, "</actuator>\n");
}

bool peer_scene_write_mjcf(const peer_scene *scene, const char *path, bool pyramids) {
    const writer w = {fopen(path, "w"), scene};
    if (w.file == NULL) {
        return false;
    }
    // as much memory as its solver asks for when every body has eight contacts, and joints friction and both limits
    int contacts = 8 * scene->model->body_count + 60, rows = (pyramids ? 4 : 3) * contacts;
    for (int32_t j = 0; j < scene->model->joint_count; j++) {
        rows += scene->model->joints[j].type != STN_JOINT_FLOATING ? 3 * scene->model->joints[j].nv : 0;
    }
    double stack = 4.0 * rows * scene->model->nv + (double)scene->model->nv * scene->model->nv + 1e6;
    fprintf(w.file,
            "<mujoco><compiler angle='radian'/><option timestep='%.17g' cone='%s' impratio='%.17g' "
            "solver='Newton' tolerance='1e-8'/>\n"
            "<size nconmax='%d' njmax='%d' nstack='%.0f'/><default><geom condim='3' friction='%.17g 0.005 "
            "0.0001' solref='%.17g 1'/></default>\n",
            scene->dt, pyramids ? "pyramidal" : "elliptic", scene->impratio, contacts, rows, stack, scene->mu,
            scene->time_constant);
    write_hulls(&w);
    fprintf(w.file, "<worldbody>\n");
    write_geometries(&w, 0);
    for (int32_t b = 1; b < scene->model->body_count; b++) {
        if (scene->model->bodies[b].parent == 0) {
            write_body(&w, b);
        }
    }
    fprintf(w.file, "</worldbody>\n");
    write_excludes(&w);
    write_servos(&w);
    fprintf(w.file, "</mujoco>\n");
    return fclose(w.file) == 0;
}
