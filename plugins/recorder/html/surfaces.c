// SPDX-License-Identifier: Apache-2.0
// What deformables look like: their surfaces; of a cloud without any, faces of tetrahedra that no second one shares,
// and elements of three nodes as they are.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"

/// A triangle, and its corners in ascending order.
typedef struct face {
    int32_t corner[3], key[3];
} face;

typedef struct face_list {
    face *items;
    size_t count;
} face_list;

static void swap_up(int32_t *a, int32_t *b) {
    if (*a > *b) {
        int32_t larger = *a;
        *a = *b;
        *b = larger;
    }
}

static void add_face(face_list *list, int32_t a, int32_t b, int32_t c) {
    face *f = &list->items[list->count++];
    *f = (face){{a, b, c}, {a, b, c}};
    swap_up(&f->key[0], &f->key[1]);
    swap_up(&f->key[1], &f->key[2]);
    swap_up(&f->key[0], &f->key[1]);
}

static void add_element(face_list *list, const int32_t *n, int32_t node_count) {
    if (node_count == 3) {
        add_face(list, n[0], n[1], n[2]);
        return;
    }
    static const int32_t sides[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}; // counter-clockwise from outside
    for (int32_t side = 0; side < 4; side++) {
        add_face(list, n[sides[side][0]], n[sides[side][1]], n[sides[side][2]]);
    }
}

static int by_key(const void *a, const void *b) {
    return memcmp(((const face *)a)->key, ((const face *)b)->key, sizeof((const face *)a)->key);
}

static bool has_surface(const stn_element_group *group, int32_t tree) {
    return group->tree == tree && (group->nodes_per_element == 3 || group->nodes_per_element == 4);
}

/// Adds a surface of a cloud to a list of them, and returns its empty list of triangles.
static cJSON *add_surface(cJSON *surfaces, const stn_tree *tree, const char *name, const float rgba[4]) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", name);
    cJSON_AddNumberToObject(json, "first_node", tree->node_start);
    cJSON_AddNumberToObject(json, "node_count", tree->node_count);
    cJSON *colour = rgba != NULL ? cJSON_AddArrayToObject(json, "rgba") : NULL;
    for (int32_t k = 0; rgba != NULL && k < 4; k++) {
        cJSON_AddItemToArray(colour, cJSON_CreateNumber(1e-4 * round(1e4 * (double)rgba[k])));
    }
    cJSON_AddItemToArray(surfaces, json);
    return cJSON_AddArrayToObject(json, "triangles");
}

static void add_corner(cJSON *triangles, int32_t node) {
    cJSON_AddItemToArray(triangles, cJSON_CreateNumber(node));
}

/// Adds the surfaces of a cloud that are drawn. False: it has none, drawn or not.
static bool add_described(cJSON *surfaces, const stn_model *model, int32_t tree) {
    bool any = false;
    for (int32_t i = 0; i < model->surface_count; i++) {
        const stn_surface *s = &model->surfaces[i];
        const stn_geometry *g = &model->geometries[s->geometry];
        any = any || s->tree == tree;
        if (s->tree != tree || !g->visual) {
            continue;
        }
        cJSON *triangles = add_surface(surfaces, &model->trees[tree], g->name, g->rgba);
        for (int32_t k = 0; k < 3 * s->triangle_count; k++) {
            add_corner(triangles, s->vertex[s->triangle[k]] - model->trees[tree].node_start);
        }
    }
    return any;
}

bool surfaces_add(cJSON *to, const stn_model *model) {
    cJSON *surfaces = cJSON_AddArrayToObject(to, "surfaces");
    int32_t number = 0;
    for (int32_t t = 0; t < model->tree_count; t++) {
        if (model->trees[t].kind != STN_TREE_NODAL) {
            continue;
        }
        number++;
        if (add_described(surfaces, model, t)) {
            continue;
        }
        size_t most = 0;
        for (int32_t g = 0; g < model->element_group_count; g++) {
            const stn_element_group *group = &model->element_groups[g];
            most += has_surface(group, t) ? 4 * (size_t)group->element_count : 0;
        }
        face_list list = {.items = stn_allocate(model->context, most, sizeof *list.items)};
        if (most > 0 && list.items == NULL) {
            return false;
        }
        for (int32_t g = 0; g < model->element_group_count; g++) {
            const stn_element_group *group = &model->element_groups[g];
            for (int32_t e = 0; has_surface(group, t) && e < group->element_count; e++) {
                add_element(&list, group->index + (size_t)e * (size_t)group->nodes_per_element,
                            group->nodes_per_element);
            }
        }
        // those stay that are there once, in the order of their keys
        qsort(list.items, list.count, sizeof *list.items, by_key);
        size_t kept = 0;
        for (size_t i = 0, next = 0; i < list.count; i = next) {
            for (next = i + 1; next < list.count && by_key(&list.items[i], &list.items[next]) == 0;) {
                next++;
            }
            if (next == i + 1) {
                list.items[kept++] = list.items[i];
            }
        }
        list.count = kept;
        if (list.count > 0) {
            char name[32];
            snprintf(name, sizeof name, "deformable %d", (int)number);
            cJSON *triangles = add_surface(surfaces, &model->trees[t], name, NULL);
            for (size_t i = 0; i < 3 * list.count; i++) {
                add_corner(triangles, list.items[i / 3].corner[i % 3]);
            }
        }
        stn_release(model->context, list.items);
    }
    return surfaces != NULL;
}
