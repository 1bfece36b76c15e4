// SPDX-License-Identifier: Apache-2.0
// The links of a robot drawn as a tree, every link with the joint above it.
#include <stdio.h>
#include <string.h>

#include "info.h"

enum {
    DEEPEST_DRAWN = 40, // levels that are indented
    LONGEST_LINE = 1024,
};

/// How one level is drawn: its trunk when links follow or not, and a branch to a link that others follow or not.
typedef struct strokes {
    const char *trunk, *nothing, *branch, *last;
} strokes;

typedef struct tree {
    const info_report *r;
    const cli_terminal *terminal;
    strokes strokes;
    int32_t *first, *next;        // children of each link as linked lists in the file's order, -1: none
    bool more[DEEPEST_DRAWN + 1]; // do siblings follow at this depth?
} tree;

static int32_t level(int32_t depth) {
    return depth < DEEPEST_DRAWN ? depth : DEEPEST_DRAWN;
}

/// "forearm  (elbow, revolute)  2.275 kg"
static void label(const tree *t, int32_t link, char *text, size_t size) {
    const stn_model *m = t->r->robot.model;
    const stn_link *l = &m->links[link];
    size_t used = (size_t)snprintf(text, size, "%.300s", l->name);
    if (l->joint_name != NULL && used < size) {
        stn_joint_type type = l->joint >= 0 ? m->joints[l->joint].type : STN_JOINT_FIXED;
        used += (size_t)snprintf(text + used, size - used, "  (%.300s, %s)", l->joint_name, stn_joint_type_name(type));
    }
    if (l->mass.mass > 0.0 && used < size) {
        snprintf(text + used, size - used, "  %.4g kg", l->mass.mass);
    }
}

/// The link after `link` depth first, -1 after the last. Without recursion: a file may be one chain of very many links.
static int32_t step(const tree *t, int32_t link, int32_t *depth) {
    int32_t next = t->first[link];
    *depth += next >= 0;
    while (next < 0 && *depth > 0) { // up to a link that has a sibling
        next = t->next[link];
        link = next < 0 ? t->r->robot.model->links[link].parent : link;
        *depth -= next < 0;
    }
    return next;
}

void info_print_tree(const info_report *r, const cli_terminal *terminal) {
    const stn_model *m = r->robot.model;
    tree t = {.r = r, .terminal = terminal};
    t.first = STN_ARENA(r->arena, m->link_count + 1, int32_t);
    t.next = STN_ARENA(r->arena, m->link_count + 1, int32_t);
    if (t.first == NULL || t.next == NULL) {
        return;
    }
    memset(t.first, 0xff, (size_t)m->link_count * sizeof *t.first);
    for (int32_t i = m->link_count - 1; i >= 0; i--) {
        t.next[i] = -1;
        if (m->links[i].parent >= 0) {
            t.next[i] = t.first[m->links[i].parent];
            t.first[m->links[i].parent] = i;
        }
    }
    int32_t root = m->groups[0].root_link, depth = 0;
    bool utf8 = terminal->utf8;
    bool wide = true; // every line fits when a level takes four columns
    for (int32_t link = root; link >= 0 && wide; link = step(&t, link, &depth)) {
        char text[LONGEST_LINE];
        label(&t, link, text, sizeof text);
        wide = 2 + 4 * level(depth) + cli_columns(text) <= terminal->width;
    }
    depth = 0;
    static const strokes all[2][2] = {
        {{"| ", "  ", "|-", "`-"}, {"|   ", "    ", "|-- ", "`-- "}},
        {{"\u2502 ", "  ", "\u251c\u2500", "\u2514\u2500"},
         {"\u2502   ", "    ", "\u251c\u2500\u2500 ", "\u2514\u2500\u2500 "}},
    };
    t.strokes = all[utf8][wide];
    putchar('\n');
    for (int32_t link = root; link >= 0; link = step(&t, link, &depth)) {
        t.more[level(depth)] = t.next[link] >= 0;
        char text[LONGEST_LINE];
        size_t used = (size_t)snprintf(text, sizeof text, "  ");
        for (int32_t d = 1; d < level(depth); d++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     t.more[d] ? t.strokes.trunk : t.strokes.nothing);
        }
        if (depth > 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     t.more[level(depth)] ? t.strokes.branch : t.strokes.last);
        }
        label(&t, link, text + used, sizeof text - used);
        cli_print_cut(t.terminal, text);
    }
}
