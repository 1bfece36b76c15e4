// SPDX-License-Identifier: Apache-2.0
// Nested dissection [george-1973]: a small set of vertices separates the rest in two parts; these come first, each
// ordered in the same way, the separator comes last. Small parts are ordered by minimum degree.
//
// A separator is a smallest vertex cut between the vertices on either end of the part, by augmenting paths [even-1979]:
// every vertex lets one path through. The ends are first taken by the distance from a vertex on the rim, a quarter
// each; then, for a second cut, a third each by the distance from the first one, which levels a cut near an end.
#include "factor/nested_dissection.h"

#include <string.h>

enum { LEAF = 40, NONE = -1, END = -2, SOURCE = 1, SINK = 2 };

/// A vertex is two states of a path: 2 v arrives, 2 v + 1 leaves.
typedef struct dissection {
    const graph *g;
    int32_t *order;     // parts are ranges of it
    int32_t *part;      // (n) the part of a vertex
    int32_t *number;    // (n) of the vertices of the part at hand: distance, or place in a leaf
    int32_t *queue;     // (2 n) vertices, or states
    int32_t *seen;      // (n) mark of a search
    int32_t *pin;       // (n) SOURCE, SINK, 0
    int32_t *from, *to; // (n) neighbours on the path through a vertex; NONE: no path, END: its end
    int32_t *reached,
        *root;       // (2 n) states: the state before, NONE: not reached, END: the first; where the search began
    bool *finished;  // (n) roots that have their path
    int32_t *cut[2]; // (n) the part as a cut leaves it
    int32_t marks;
    stn_arena *scratch;
} dissection;

/// How many vertices of a part come to either side and into the separator, in this order.
typedef struct split {
    int32_t left, right, separator;
} split;

/// Appends to queue[begin .. end), whose distance is 0, the vertices of the part that are not seen yet by their
/// distance. Returns the new end.
static int32_t search(dissection *d, int32_t part, int32_t begin, int32_t end) {
    const graph *g = d->g;
    int32_t count = end;
    for (int32_t k = begin; k < end; k++) {
        d->seen[d->queue[k]] = d->marks;
        d->number[d->queue[k]] = 0;
    }
    for (int32_t k = begin; k < count; k++) {
        const int32_t v = d->queue[k];
        for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
            const int32_t w = g->neighbour[e];
            if (d->part[w] == part && d->seen[w] != d->marks) {
                d->seen[w] = d->marks;
                d->number[w] = d->number[v] + 1;
                d->queue[count++] = w;
            }
        }
    }
    return count;
}

/// Pins the first and the last `share` of `line` (n vertices of the part). A sink next to a source is free. False: no
/// sink is left.
static bool pin_ends(dissection *d, int32_t n, const int32_t *line, int32_t share) {
    const graph *g = d->g;
    int32_t sinks = 0;
    for (int32_t k = 0; k < n; k++) {
        d->pin[line[k]] = k < share ? SOURCE : k >= n - share ? SINK : 0;
        d->from[line[k]] = d->to[line[k]] = NONE;
    }
    for (int32_t k = n - share; k < n; k++) {
        for (int32_t e = g->start[line[k]]; e < g->start[line[k] + 1]; e++) {
            const int32_t w = g->neighbour[e];
            if (d->part[w] == d->part[line[k]] && d->pin[w] == SOURCE) {
                d->pin[line[k]] = 0;
            }
        }
        sinks += d->pin[line[k]] == SINK;
    }
    return sinks > 0;
}

/// The path that ends with the leaving state `last` becomes part of the flow.
static void augment(dissection *d, int32_t last) {
    d->to[last / 2] = END;
    for (int32_t state = last; state != END; state = d->reached[state]) {
        const int32_t before = d->reached[state], v = state / 2;
        if (before == END) { // the search began by arriving at v
            d->from[v] = END;
        } else if (state % 2 == 0 && before == state + 1) { // both ways through v cancel
            d->from[v] = d->to[v] = NONE;
        } else if (state % 2 == 0) { // from another vertex to v
            d->to[before / 2] = v;
            d->from[v] = before / 2;
        }
    }
}

static void reach(dissection *d, int32_t state, int32_t before, int32_t *count) {
    if (d->reached[state] == NONE) {
        d->reached[state] = before;
        d->root[state] = before == END ? state / 2 : d->root[before];
        d->queue[(*count)++] = state;
    }
}

/// One breadth-first search from all sources; every tree adds at most one path. Returns how many paths were added.
static int32_t sweep(dissection *d, int32_t part, int32_t n, const int32_t *line) {
    const graph *g = d->g;
    int32_t count = 0, found = 0;
    for (int32_t k = 0; k < n; k++) {
        d->reached[2 * line[k]] = d->reached[2 * line[k] + 1] = NONE;
        d->finished[line[k]] = false;
    }
    for (int32_t k = 0; k < n && d->pin[line[k]] == SOURCE; k++) {
        for (int32_t e = g->start[line[k]]; e < g->start[line[k] + 1]; e++) {
            const int32_t w = g->neighbour[e];
            if (d->part[w] == part && d->pin[w] != SOURCE) {
                reach(d, 2 * w, END, &count);
            }
        }
    }
    for (int32_t k = 0; k < count; k++) {
        const int32_t state = d->queue[k], v = state / 2;
        if (d->finished[d->root[state]]) {
            continue;
        }
        if (state % 2 == 0) { // through a free vertex, or back along the path that came this way
            if (d->from[v] == NONE) {
                reach(d, state + 1, state, &count);
            } else if (d->from[v] != END) {
                reach(d, 2 * d->from[v] + 1, state, &count);
            }
            continue;
        }
        if (d->from[v] != NONE) {
            reach(d, state - 1, state, &count);
        }
        for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
            const int32_t w = g->neighbour[e];
            if (d->part[w] != part || d->pin[w] == SOURCE) {
                continue;
            }
            if (d->pin[w] == SINK) {
                augment(d, state);
                d->finished[d->root[state]] = true;
                found++;
                break;
            }
            reach(d, 2 * w, state, &count);
        }
    }
    return found;
}

/// Cuts the part between the ends of `line`; `out` gets left side, right side, separator. False: the ends touch.
static bool cut(dissection *d, int32_t part, int32_t n, const int32_t *line, int32_t share, int32_t *out, split *s) {
    if (!pin_ends(d, n, line, share)) {
        return false;
    }
    while (sweep(d, part, n, line) > 0) {
    }
    *s = (split){0};
    for (int32_t side = 0; side < 3; side++) { // separator: reached, and not left
        for (int32_t k = 0; k < n; k++) {
            const int32_t v = line[k];
            const bool left = d->pin[v] == SOURCE || d->reached[2 * v + 1] != NONE;
            const int32_t own = left ? 0 : d->reached[2 * v] == NONE ? 1 : 2;
            if (own == side) {
                out[s->left + s->right + s->separator] = v;
                *(side == 0 ? &s->left : side == 1 ? &s->right : &s->separator) += 1;
            }
        }
    }
    return true;
}

/// `line` = the part by the signed distance from the separator of a cut, left side first.
static void line_up(dissection *d, int32_t part, const int32_t *parted, split s, int32_t *line) {
    const int32_t n = s.left + s.right + s.separator;
    memcpy(d->queue, parted + s.left + s.right, (size_t)s.separator * sizeof *line);
    d->marks++;
    search(d, part, 0, s.separator);
    int32_t at = 0;
    for (int32_t side = 0; side < 2; side++) { // the queue ascends in distance: left backwards, right forwards
        d->marks++;
        for (int32_t k = 0; k < (side == 0 ? s.left : s.right); k++) {
            d->seen[parted[side == 0 ? k : s.left + k]] = d->marks;
        }
        for (int32_t k = 0; k < n; k++) {
            const int32_t v = d->queue[side == 0 ? n - 1 - k : k];
            if (d->seen[v] == d->marks) {
                line[at++] = v;
            }
        }
        for (int32_t k = 0; k < s.separator && side == 0; k++) {
            line[at++] = parted[s.left + s.right + k];
        }
    }
}

/// separator size over the size of the smaller side: smaller is better.
static bool better(split a, split b) {
    const int64_t of_a = a.left < a.right ? a.left : a.right, of_b = b.left < b.right ? b.left : b.right;
    return a.separator * of_b < b.separator * of_a;
}

/// Splits a connected part, order[first .. first + n), in place. False: it has no separator.
static bool bisect(dissection *d, int32_t part, int32_t first, int32_t n, split *s) {
    int32_t *own = d->order + first;
    d->queue[n - 1] = own[0];
    for (int32_t round = 0; round < 4; round++) { // towards the rim
        d->marks++;
        d->queue[0] = d->queue[n - 1];
        search(d, part, 0, 1);
    }
    memcpy(own, d->queue, (size_t)n * sizeof *own);
    if (!cut(d, part, n, own, n / 4, d->cut[0], s)) {
        return false;
    }
    split second;
    int32_t best = 0;
    line_up(d, part, d->cut[0], *s, own);
    if (cut(d, part, n, own, n / 3, d->cut[1], &second) && better(second, *s)) {
        *s = second;
        best = 1;
    }
    memcpy(own, d->cut[best], (size_t)n * sizeof *own);
    return true;
}

/// Orders a small part, order[first .. first + n), by minimum degree.
static bool order_leaf(dissection *d, int32_t part, int32_t first, int32_t n) {
    int32_t *own = d->order + first, edges = 0;
    for (int32_t k = 0; k < n; k++) {
        d->number[own[k]] = k;
        edges += d->g->start[own[k] + 1] - d->g->start[own[k]];
    }
    int32_t *start = STN_ARENA(d->scratch, n + 1, int32_t), *neighbour = STN_ARENA(d->scratch, edges + 1, int32_t);
    int32_t *weight = STN_ARENA(d->scratch, n + 1, int32_t), *order = STN_ARENA(d->scratch, n + 1, int32_t);
    if (start == NULL || neighbour == NULL || weight == NULL || order == NULL) {
        return false;
    }
    int32_t at = 0;
    for (int32_t k = 0; k < n; k++) {
        start[k] = at;
        weight[k] = 1;
        for (int32_t e = d->g->start[own[k]]; e < d->g->start[own[k] + 1]; e++) {
            const int32_t w = d->g->neighbour[e];
            if (d->part[w] == part) {
                neighbour[at++] = d->number[w];
            }
        }
    }
    start[n] = at;
    const graph leaf = {n, start, neighbour};
    const bool done = minimum_degree(&leaf, weight, d->scratch, order);
    for (int32_t k = 0; k < n && done; k++) {
        order[k] = own[order[k]];
    }
    if (done) {
        memcpy(own, order, (size_t)n * sizeof *own);
    }
    return done;
}

/// Parts that wait to be ordered.
typedef struct range {
    int32_t first, n;
    bool connected;
} range;

static range range_of(dissection *d, int32_t part, int32_t first, int32_t n, bool connected) {
    for (int32_t k = 0; k < n; k++) {
        d->part[d->order[first + k]] = part;
    }
    return (range){first, n, connected};
}

/// Sorts a part by its components and appends them to `waiting`; returns their number.
static int32_t split_components(dissection *d, int32_t part, range whole, int32_t *next_part, range *waiting) {
    int32_t end = 0, found = 0;
    d->marks++;
    for (int32_t k = 0; k < whole.n; k++) {
        const int32_t v = d->order[whole.first + k];
        if (d->seen[v] != d->marks) {
            const int32_t begin = end;
            d->queue[end] = v;
            end = search(d, part, begin, begin + 1);
            waiting[found++] = (range){whole.first + begin, end - begin, true};
        }
    }
    memcpy(d->order + whole.first, d->queue, (size_t)whole.n * sizeof *d->order);
    for (int32_t k = 0; k < found; k++) {
        waiting[k] = range_of(d, (*next_part)++, waiting[k].first, waiting[k].n, true);
    }
    return found;
}

bool nested_dissection(const graph *g, stn_arena *scratch, int32_t *order) {
    dissection d = {.g = g, .order = order, .scratch = scratch};
    const size_t n = (size_t)g->n + 1;
    int32_t **const arrays[] = {&d.part, &d.number, &d.seen, &d.pin, &d.from, &d.to, &d.cut[0], &d.cut[1]};
    int32_t *memory = STN_ARENA_ZEROED(scratch, (STN_COUNT(arrays) + 6) * n, int32_t);
    range *waiting = STN_ARENA(scratch, n, range);
    d.finished = STN_ARENA(scratch, n, bool);
    if (memory == NULL || waiting == NULL || d.finished == NULL) {
        return false;
    }
    for (int32_t k = 0; k < STN_COUNT(arrays); k++, memory += n) {
        *arrays[k] = memory;
    }
    d.queue = memory;
    d.reached = memory + 2 * n;
    d.root = memory + 4 * n;
    for (int32_t i = 0; i < g->n; i++) {
        order[i] = i;
    }
    int32_t count = 0, next_part = 1;
    waiting[count++] = range_of(&d, 0, 0, g->n, false);
    while (count > 0) {
        const range now = waiting[--count];
        const int32_t part = now.n > 0 ? d.part[order[now.first]] : 0;
        split s;
        if (now.n <= LEAF || (now.connected && !bisect(&d, part, now.first, now.n, &s))) {
            if (!order_leaf(&d, part, now.first, now.n)) {
                return false;
            }
        } else if (!now.connected) {
            count += split_components(&d, part, now, &next_part, waiting + count);
        } else {
            waiting[count++] = range_of(&d, next_part++, now.first, s.left, false);
            waiting[count++] = range_of(&d, next_part++, now.first + s.left, s.right, false);
        }
    }
    return true;
}
