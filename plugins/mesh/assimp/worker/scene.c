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

static matrix multiply(const matrix *a, const matrix *b) {
    matrix c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            c.m[i][j] = j == 3 ? a->m[i][3] : 0.0;
            for (int k = 0; k < 3; k++) {
                c.m[i][j] += a->m[i][k] * b->m[k][j];
            }
        }
    }
    return c;
}

static uint32_t count_triangles(const struct aiMesh *mesh) {
    uint32_t count = 0;
    for (uint32_t f = 0; f < mesh->mNumFaces; f++) {
        count += mesh->mFaces[f].mNumIndices == 3;
    }
    return count;
}

static void write_vertices(const struct aiMesh *mesh, const matrix *t) {
    for (uint32_t v = 0; v < mesh->mNumVertices; v++) {
        const struct aiVector3D *p = &mesh->mVertices[v];
        double x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = t->m[i][0] * (double)p->x + t->m[i][1] * (double)p->y + t->m[i][2] * (double)p->z + t->m[i][3];
        }
        channel_write(x, sizeof x);
    }
}

static void write_triangles(const struct aiMesh *mesh, uint64_t first) {
    for (uint32_t f = 0; f < mesh->mNumFaces; f++) {
        const struct aiFace *face = &mesh->mFaces[f];
        if (face->mNumIndices == 3) {
            int32_t corners[3];
            for (int i = 0; i < 3; i++) {
                corners[i] = (int32_t)(first + face->mIndices[i]);
            }
            channel_write(corners, sizeof corners);
        }
    }
}

/// Does piece i of a node begin a new part? assimp splits a part by material into pieces of one name and rising ids.
static bool begins_part(const walk *w, const struct aiNode *node, uint32_t i, uint32_t before) {
    if (before == UINT32_MAX) {
        return true;
    }
    if (w->part_per_node) {
        return false;
    }
    uint32_t a = node->mMeshes[before], b = node->mMeshes[i];
    return b <= a || strcmp(w->scene->mMeshes[a]->mName.data, w->scene->mMeshes[b]->mName.data) != 0;
}

static void visit_pieces(walk *w, const struct aiNode *node, const matrix *t) {
    uint32_t before = UINT32_MAX;
    for (uint32_t i = 0; i < node->mNumMeshes; i++) {
        const struct aiMesh *mesh = w->scene->mMeshes[node->mMeshes[i]];
        uint32_t triangles = count_triangles(mesh);
        if (triangles == 0) {
            continue;
        }
        w->tally.instances += begins_part(w, node, i, before);
        before = i;
        if (w->pass == VERTICES) {
            write_vertices(mesh, t);
        } else if (w->pass == TRIANGLES) {
            write_triangles(mesh, w->tally.vertices);
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
        matrix child = from_node(&node->mChildren[i]->mTransformation);
        child = multiply(t, &child);
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

/// The decimal number with fewest digits that gives this float: what the file says, as nearly as double can.
static double shortest_decimal(float value) {
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) {
            break;
        }
    }
    return strtod(text, NULL);
}

static bool is_scaled(const struct aiMatrix4x4 *t, float unit, const int rotation[9]) {
    const float parts[9] = {t->a1, t->a2, t->a3, t->b1, t->b2, t->b3, t->c1, t->c2, t->c3};
    bool same = t->a4 == 0.0f && t->b4 == 0.0f && t->c4 == 0.0f;
    for (int i = 0; i < 9; i++) {
        same = same && parts[i] == unit * (float)rotation[i];
    }
    return same;
}

static void read_collada_root(const struct aiMatrix4x4 *t, mesh_wire_reply *reply) {
    static const struct {
        char axis;
        int rotation[9];
    } known[] = {
        {'y', {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {'z', {1, 0, 0, 0, 0, 1, 0, -1, 0}}, {'x', {0, -1, 0, 1, 0, 0, 0, 0, 1}}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        float unit = known[i].axis == 'x' ? t->b1 : t->a1;
        if (isfinite(unit) && unit > 0.0f && is_scaled(t, unit, known[i].rotation)) {
            reply->unit = shortest_decimal(unit);
            reply->up_axis = (unsigned char)known[i].axis;
            return;
        }
    }
    channel_fail("its unit of length is no number above 0");
}

static void write_files(const file_set *files) {
    for (uint32_t i = 0; i < files->further_count; i++) {
        const source *s = &files->further[i];
        mesh_wire_file file = {{s->hash[0], s->hash[1]}, s->size, (uint32_t)strlen(s->name), 0};
        channel_write(&file, sizeof file);
        channel_write(s->name, file.name_length);
    }
}

void scene_reply(const struct aiScene *scene, mesh_scene_format format, const file_set *files, uint64_t reply_bytes) {
    mesh_wire_reply reply = {.version = MESH_WIRE_VERSION, .unit = 1.0, .up_axis = 'y'};
    memcpy(reply.magic, MESH_WIRE_REPLY, sizeof reply.magic);
    if (format == MESH_SCENE_DAE) {
        read_collada_root(&scene->mRootNode->mTransformation, &reply);
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
    write_files(files);
    channel_flush();
}
