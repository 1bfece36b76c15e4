// SPDX-License-Identifier: Apache-2.0
// A scene as one list of triangles. A placement is a part in a node: its vertices are carried by the product of the
// transformations from the root down to the node, and stay in the file's unit and axes.
//     x = T_1 T_2 ... T_n p
// Lines and points are left out. COLLADA's unit u and up axis come from assimp as the transformation u R of the root,
// with R the rotation that would turn the axis to y; u and the axis are read off, and the rotation is not applied.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/worker.h"

enum { DEPTH_MAX = 1000 };

typedef struct matrix {
    double m[3][4];
} matrix;

typedef struct tally {
    uint64_t vertices, triangles, instances;
} tally;

/// The two walks over the placements: first to count, then to write vertices, then triangles.
typedef enum walk_pass { COUNT, VERTICES, TRIANGLES } walk_pass;

typedef struct walk {
    const struct aiScene *scene;
    walk_pass pass;
    uint64_t vertex_limit; // of the count: where it has become hopeless
    bool part_per_node;    // glTF: a node holds one part, whatever pieces it has
    tally tally;
} walk;

static matrix from_node(const struct aiMatrix4x4 *t) {
    return (matrix){{{(double)t->a1, (double)t->a2, (double)t->a3, (double)t->a4},
                     {(double)t->b1, (double)t->b2, (double)t->b3, (double)t->b4},
                     {(double)t->c1, (double)t->c2, (double)t->c3, (double)t->c4}}};
}

static void visit_pieces(walk *w, const struct aiNode *node, const matrix *t) {
    uint32_t before = UINT32_MAX;
    for (uint32_t i = 0; i < node->mNumMeshes; i++) {
        const struct aiMesh *mesh = w->scene->mMeshes[node->mMeshes[i]];
        uint32_t triangles = 0;
        for (uint32_t f = 0; f < mesh->mNumFaces; f++) {
            triangles += mesh->mFaces[f].mNumIndices == 3;
        }
        if (triangles == 0) {
            continue;
        }
        // assimp splits a part by material into pieces of one name and rising ids
        bool begins = before == UINT32_MAX;
        if (!begins && !w->part_per_node) {
            uint32_t a = node->mMeshes[before], b = node->mMeshes[i];
            begins = b <= a || strcmp(w->scene->mMeshes[a]->mName.data, mesh->mName.data) != 0;
        }
        w->tally.instances += begins;
        before = i;
        for (uint32_t v = 0; v < mesh->mNumVertices && w->pass == VERTICES; v++) {
            const struct aiVector3D *p = &mesh->mVertices[v];
            double x[3];
            for (int k = 0; k < 3; k++) {
                x[k] = t->m[k][0] * (double)p->x + t->m[k][1] * (double)p->y + t->m[k][2] * (double)p->z + t->m[k][3];
            }
            channel_write(x, sizeof x);
        }
        for (uint32_t f = 0; f < mesh->mNumFaces && w->pass == TRIANGLES; f++) {
            const struct aiFace *face = &mesh->mFaces[f];
            int32_t corners[3];
            for (int k = 0; k < 3 && face->mNumIndices == 3; k++) {
                corners[k] = (int32_t)(w->tally.vertices + face->mIndices[k]);
            }
            if (face->mNumIndices == 3) {
                channel_write(corners, sizeof corners);
            }
        }
        w->tally.vertices += mesh->mNumVertices;
        w->tally.triangles += triangles;
    }
}

static void visit(walk *w, const struct aiNode *node, const matrix *t, int depth) {
    if (depth > DEPTH_MAX) {
        channel_fail("more than %d nodes inside each other", DEPTH_MAX);
    }
    visit_pieces(w, node, t);
    if (w->tally.vertices > w->vertex_limit || w->tally.triangles > w->vertex_limit) {
        channel_fail("%llu vertices and more are more than a file of this size may give: too many placements",
                     (unsigned long long)w->tally.vertices);
    }
    for (uint32_t i = 0; i < node->mNumChildren; i++) {
        matrix own = from_node(&node->mChildren[i]->mTransformation), child;
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column < 4; column++) {
                double sum = column == 3 ? t->m[row][3] : 0.0;
                for (int k = 0; k < 3; k++) {
                    sum += t->m[row][k] * own.m[k][column];
                }
                child.m[row][column] = sum;
            }
        }
        visit(w, node->mChildren[i], &child, depth + 1);
    }
}

static tally walk_scene(const struct aiScene *scene, mesh_scene_format format, walk_pass pass, uint64_t vertex_limit) {
    walk w = {scene, pass, vertex_limit, format != MESH_SCENE_DAE, {0, 0, 0}};
    matrix root = from_node(&scene->mRootNode->mTransformation);
    if (format == MESH_SCENE_DAE) {
        root = (matrix){{{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};
    }
    visit(&w, scene->mRootNode, &root, 0);
    return w.tally;
}

/// The root of COLLADA: a unit times a rotation.
static const struct {
    char axis;
    int rotation[9];
} known[] = {
    {'y', {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {'z', {1, 0, 0, 0, 0, 1, 0, -1, 0}}, {'x', {0, -1, 0, 1, 0, 0, 0, 0, 1}}};

void scene_reply(const struct aiScene *scene, mesh_scene_format format, const file_set *files, uint64_t reply_bytes) {
    mesh_wire_reply reply = {.version = MESH_WIRE_VERSION, .unit = 1.0, .up_axis = 'y'};
    memcpy(reply.magic, MESH_WIRE_REPLY, sizeof reply.magic);
    const struct aiMatrix4x4 *t = &scene->mRootNode->mTransformation;
    const float parts[9] = {t->a1, t->a2, t->a3, t->b1, t->b2, t->b3, t->c1, t->c2, t->c3};
    bool found = format != MESH_SCENE_DAE;
    for (size_t i = 0; i < sizeof known / sizeof known[0] && !found; i++) {
        float unit = known[i].axis == 'x' ? t->b1 : t->a1;
        found = isfinite(unit) && unit > 0.0f && t->a4 == 0.0f && t->b4 == 0.0f && t->c4 == 0.0f;
        for (int k = 0; k < 9; k++) {
            found = found && parts[k] == unit * (float)known[i].rotation[k];
        }
        // the decimal number with fewest digits that gives this float: what the file says, as nearly as double can
        char text[32] = "";
        for (int digits = 6; digits <= 9 && found && (digits == 6 || strtof(text, NULL) != unit); digits++) {
            snprintf(text, sizeof text, "%.*g", digits, (double)unit);
        }
        reply.unit = found ? strtod(text, NULL) : reply.unit;
        reply.up_axis = found ? (unsigned char)known[i].axis : reply.up_axis;
    }
    if (!found) {
        channel_fail("its unit of length is no number above 0");
    }
    uint64_t vertex_limit = reply_bytes / (3 * sizeof(double));
    if (vertex_limit > INT32_MAX / 4) {
        vertex_limit = INT32_MAX / 4;
    }
    tally total = walk_scene(scene, format, COUNT, vertex_limit);
    if (total.triangles == 0) {
        channel_fail("it holds no triangles");
    }
    reply.vertex_count = (uint32_t)total.vertices;
    reply.triangle_count = (uint32_t)total.triangles;
    reply.instance_count = (uint32_t)total.instances;
    reply.file_count = files->further_count;
    channel_write(&reply, sizeof reply);
    walk_scene(scene, format, VERTICES, vertex_limit);
    walk_scene(scene, format, TRIANGLES, vertex_limit);
    for (uint32_t i = 0; i < files->further_count; i++) {
        const source *s = &files->further[i];
        mesh_wire_file file = {{s->hash[0], s->hash[1]}, s->size, (uint32_t)strlen(s->name), 0};
        channel_write(&file, sizeof file);
        channel_write(s->name, file.name_length);
    }
    channel_flush();
}
