// SPDX-License-Identifier: Apache-2.0
// Questions to a mesh: what a box or a ball meets, the nearest point, rays. Four boxes of its tree are tested at a
// time; what a test lets pass is looked at exactly. The cells of a height field are found by division.
#include <float.h>
#include <string.h>

#include "geometry/mesh_tree.h"
#include "geometry/triangle_ray.h"

// ------------------------------------------------------------------------------------------------------- one triangle
// One triangle: its nearest point, the foot of the perpendicular or the nearest point of its edges.

stn_vec3 stn_mesh_triangle_normal(const stn_mesh *mesh, int32_t id) {
    mesh_triangle t = triangle_of(mesh, id);
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(t.b, t.a), stn_vec3_sub(t.c, t.a));
    return stn_vec3_normalize_or(n, stn_vec3_make(0.0, 0.0, 1.0));
}

/// The point of the triangle that is nearest to p.
static stn_vec3 triangle_nearest(const mesh_triangle *t, stn_vec3 p) {
    const stn_vec3 corner[4] = {t->a, t->b, t->c, t->a};
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(t->b, t->a), stn_vec3_sub(t->c, t->a)), best = t->a;
    double n2 = stn_vec3_dot(n, n), least = INFINITY;
    bool over = n2 > 0.0;
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 edge = stn_vec3_sub(corner[k + 1], corner[k]), arm = stn_vec3_sub(p, corner[k]);
        if (over && stn_vec3_dot(n, stn_vec3_cross(edge, arm)) > 0.0) {
            continue; // on the inner side of this edge
        }
        over = false;
        double length2 = stn_vec3_dot(edge, edge), along = stn_vec3_dot(edge, arm);
        stn_vec3 q = along < length2 ? stn_vec3_mul_add(corner[k], along / length2, edge) : corner[k + 1];
        q = along > 0.0 ? q : corner[k];
        stn_vec3 away = stn_vec3_sub(q, p);
        double d = stn_vec3_dot(away, away);
        if (d < least) {
            least = d;
            best = q;
        }
    }
    return over ? stn_vec3_mul_add(p, -stn_vec3_dot(n, stn_vec3_sub(p, t->a)) / n2, n) : best;
}

// ---------------------------------------------------------------------------------------- cells of height fields

/// Shares of a cell by which ranges are wider than computed, so that rounding loses no cell.
static const double cell_slack = 1e-9;

/// Rows or columns of cells; none: start = end.
typedef struct cell_range {
    int32_t start, end;
} cell_range;

/// Cells from coordinate `low` to `high`, in cells; `count` are there.
static cell_range cells_between(double low, double high, int32_t count) {
    if (!(low <= count + cell_slack && high >= -cell_slack)) { // NaN too
        return (cell_range){0, 0};
    }
    double first = fmin(fmax(floor(low - cell_slack), 0.0), count - 1.0);
    double last = fmin(fmax(floor(high + cell_slack), 0.0), count - 1.0);
    return (cell_range){(int32_t)first, (int32_t)last + 1};
}

stn_grid_cells stn_grid_cells_under(const stn_mesh *mesh, const stn_aabb *box) {
    const stn_grid *g = &mesh->grid;
    cell_range columns = cells_between((box->lower.x - g->x) / g->dx, (box->upper.x - g->x) / g->dx, g->columns - 1);
    cell_range rows = cells_between((box->lower.y - g->y) / g->dy, (box->upper.y - g->y) / g->dy, g->rows - 1);
    if (columns.start == columns.end || rows.start == rows.end) {
        return (stn_grid_cells){0};
    }
    return (stn_grid_cells){
        .row_start = rows.start, .row_end = rows.end, .column_start = columns.start, .column_end = columns.end};
}

double stn_grid_height(const stn_mesh *mesh, double x, double y) {
    const stn_grid *g = &mesh->grid;
    if (!(fabs(x) <= -g->x && fabs(y) <= -g->y)) {
        return NAN;
    }
    double across = (x - g->x) / g->dx, up = (y - g->y) / g->dy;
    double column = fmin(floor(across), g->columns - 2.0), row = fmin(floor(up), g->rows - 2.0);
    bool second = across - column < up - row; // triangle of the cell
    size_t at = 2 * ((size_t)row * (size_t)(g->columns - 1) + (size_t)column) + second;
    const int32_t *ids = mesh->triangles + 3 * at;
    stn_vec3 a = stn_vec3_at(mesh->vertices, ids[0]), b = stn_vec3_at(mesh->vertices, ids[1]),
             c = stn_vec3_at(mesh->vertices, ids[2]);
    double u = (x - a.x) / g->dx, v = (y - a.y) / g->dy;
    // a - b runs along x and b - c along y in the first one, a - c along y and c - b along x in the second
    return second ? a.z + v * (c.z - a.z) + u * (b.z - c.z) : a.z + u * (b.z - a.z) + v * (c.z - b.z);
}

// --------------------------------------------------------------------------------------------------------- boxes

static bool range_meets(double a, double b, double c, double low, double high) {
    return (a <= high || b <= high || c <= high) && (a >= low || b >= low || c >= low);
}

/// What is asked of triangles whose own boxes overlap one.
typedef struct box_query {
    const stn_mesh *mesh;
    const stn_aabb *box;
    stn_part_filter filter; // NULL: none
    const part_look *looks; // NULL: not known
    stn_triangle_visitor visit;
    void *user;
} box_query;

/// Visits the triangle when its own box overlaps; false when the visitor ends the query.
static bool visit_triangle(const box_query *q, int32_t id) {
    mesh_triangle t = triangle_of(q->mesh, id);
    bool meets = range_meets(t.a.x, t.b.x, t.c.x, q->box->lower.x, q->box->upper.x) &&
                 range_meets(t.a.y, t.b.y, t.c.y, q->box->lower.y, q->box->upper.y) &&
                 range_meets(t.a.z, t.b.z, t.c.z, q->box->lower.z, q->box->upper.z);
    return !meets || q->visit(q->user, id);
}

static bool visit_cells(const box_query *q) {
    stn_grid_cells cells = stn_grid_cells_under(q->mesh, q->box);
    for (int32_t r = cells.row_start; r < cells.row_end; r++) {
        for (int32_t c = cells.column_start; c < cells.column_end; c++) {
            int32_t first = 2 * (r * (q->mesh->grid.columns - 1) + c);
            if (!visit_triangle(q, first) || !visit_triangle(q, first + 1)) {
                return false;
            }
        }
    }
    return true;
}

/// A child of a node as a part of the mesh.
static stn_mesh_part part_of(const mesh_tree *tree, int32_t node, int32_t lane, const part_look *looks) {
    const tree_node *n = &tree->nodes[node];
    const double to_half = 0.5 / tree->scale; // exact
    double middle[3], half[3];
    for (int32_t axis = 0; axis < 3; axis++) {
        middle[axis] = to_half * ((double)n->lower[axis][lane] + (double)n->upper[axis][lane]);
        half[axis] = to_half * ((double)n->upper[axis][lane] - (double)n->lower[axis][lane]);
    }
    stn_mesh_part part = {.centre = stn_vec3_add(tree->centre, stn_vec3_make(middle[0], middle[1], middle[2])),
                          .half = {half[0], half[1], half[2]},
                          .cosine = 2.0};
    if (looks != NULL) {
        const part_look *look = &looks[LANES * (size_t)node + (size_t)lane];
        part.look = stn_vec3_make(look->normal[0], look->normal[1], look->normal[2]);
        part.cosine = look->cosine;
    }
    return part;
}

static bool visit_tree(const box_query *q, const mesh_tree *tree) {
    // the box in the tree's units, cut off just outside of it: far values stay finite, infinite ones become so
    stn_vec3 low = tree_local(tree, q->box->lower), high = tree_local(tree, q->box->upper);
    const double l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    lanes lower[3], upper[3], wide[3];
    for (int32_t axis = 0; axis < 3; axis++) {
        lower[axis] = lanes_of((float)fmin(fmax(l[axis], -2.0), 2.0));
        upper[axis] = lanes_of((float)fmin(fmax(h[axis], -2.0), 2.0));
        wide[axis] = 0.5F * (upper[axis] - lower[axis]);
    }
    int32_t stack[TREE_STACK], count = 0;
    stack[count++] = 0;
    while (count > 0) {
        int32_t id = stack[--count];
        const tree_node *node = &tree->nodes[id];
        lane_mask mask = (node->lower[0] <= upper[0]) & (lower[0] <= node->upper[0]);
        mask &= (node->lower[1] <= upper[1]) & (lower[1] <= node->upper[1]);
        mask &= (node->lower[2] <= upper[2]) & (lower[2] <= node->upper[2]);
        lane_mask small = {0};
        if (q->filter != NULL) {
            small = (node->upper[0] - node->lower[0] <= wide[0]) & (node->upper[1] - node->lower[1] <= wide[1]) &
                    (node->upper[2] - node->lower[2] <= wide[2]);
        }
        for (int32_t k = 0; k < LANES; k++) {
            if (mask[k] && node->child[k] >= 0) {
                // larger ones are worth no question
                if (small[k]) {
                    const stn_mesh_part part = part_of(tree, id, k, q->looks);
                    if (q->filter(q->user, &part)) {
                        continue;
                    }
                }
                stack[count++] = node->child[k];
            } else if (mask[k] && !visit_triangle(q, ~node->child[k])) {
                return false;
            }
        }
    }
    return true;
}

enum { MOST_CELLS = 1024, CELL_WORDS = 2 * MOST_CELLS / 64 };

/// Triangles of the cells under a box, by their order, that no part was left out with.
typedef struct cell_marks {
    const box_query *query;
    stn_grid_cells cells;
    uint64_t words[CELL_WORDS];
} cell_marks;

static bool mark_triangle(void *user, int32_t id) {
    cell_marks *m = user;
    int32_t across = m->query->mesh->grid.columns - 1, row = id / 2 / across, column = id / 2 % across;
    if (row >= m->cells.row_start && row < m->cells.row_end && column >= m->cells.column_start &&
        column < m->cells.column_end) {
        int32_t width = m->cells.column_end - m->cells.column_start;
        int32_t at = 2 * ((row - m->cells.row_start) * width + column - m->cells.column_start) + id % 2;
        m->words[at / 64] |= (uint64_t)1 << at % 64;
    }
    return true;
}

static bool filter_cells(void *user, const stn_mesh_part *part) {
    const cell_marks *m = user;
    return m->query->filter(m->query->user, part);
}

/// Cells in their order, of which the tree leaves parts out; all of them where they are few, or very many.
static bool visit_filtered_cells(const box_query *q, const mesh_tree *tree) {
    enum { FEW_CELLS = 16 };
    cell_marks m = {.query = q, .cells = stn_grid_cells_under(q->mesh, q->box)};
    int32_t width = m.cells.column_end - m.cells.column_start, rows = m.cells.row_end - m.cells.row_start;
    if (width > MOST_CELLS || rows > MOST_CELLS || width * rows > MOST_CELLS || width * rows <= FEW_CELLS) {
        return visit_cells(q);
    }
    box_query marking = *q;
    marking.filter = filter_cells;
    marking.visit = mark_triangle;
    marking.user = &m;
    visit_tree(&marking, tree);
    for (int32_t i = 0; i < CELL_WORDS; i++) {
        for (uint64_t word = m.words[i]; word != 0; word &= word - 1) {
            int32_t at = 64 * i + __builtin_ctzll(word), row = m.cells.row_start + at / 2 / width;
            int32_t column = m.cells.column_start + at / 2 % width;
            if (!q->visit(q->user, 2 * (row * (q->mesh->grid.columns - 1) + column) + at % 2)) {
                return false;
            }
        }
    }
    return true;
}

bool stn_mesh_visit(const stn_mesh *mesh, const stn_aabb *box, stn_triangle_visitor visit, void *user) {
    return stn_mesh_visit_parts(mesh, box, NULL, visit, user);
}

bool stn_mesh_visit_parts(const stn_mesh *mesh, const stn_aabb *box, stn_part_filter filter, stn_triangle_visitor visit,
                          void *user) {
    bool meets = box->lower.x <= box->upper.x && box->lower.y <= box->upper.y && box->lower.z <= box->upper.z;
    if (!meets) {
        return true; // empty, or not a number
    }
    const box_query q = {mesh, box, filter, filter != NULL ? mesh_looks(mesh) : NULL, visit, user};
    if (mesh->grid.rows > 0 && filter == NULL) {
        return visit_cells(&q);
    }
    const mesh_tree *tree = mesh_tree_of(mesh);
    if (mesh->grid.rows > 0) {
        return tree != NULL ? visit_filtered_cells(&q, tree) : visit_cells(&q);
    }
    if (tree != NULL) {
        return visit_tree(&q, tree);
    }
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        if (!visit_triangle(&q, i)) {
            return false;
        }
    }
    return true;
}

// ------------------------------------------------------------------------------------------------- nearest point

typedef double wide_lanes __attribute__((vector_size(32)));
typedef int64_t wide_mask __attribute__((vector_size(32)));

/// A node that waits to be looked at, and the least that it can offer.
typedef struct waiting {
    double least;
    int32_t node;
} waiting;

static void look_nearest(const stn_mesh *mesh, int32_t id, stn_vec3 p, stn_mesh_point *best) {
    mesh_triangle t = triangle_of(mesh, id);
    stn_vec3 q = triangle_nearest(&t, p);
    double distance = stn_vec3_norm(stn_vec3_sub(q, p));
    if (distance < best->distance || (distance == best->distance && (best->triangle < 0 || id < best->triangle))) {
        *best = (stn_mesh_point){id, q, distance};
    }
}

/// Squared distances from p to the boxes, everything in the tree's units.
static wide_lanes box_distances(const tree_node *node, const double p[3]) {
    wide_lanes sum = {0.0, 0.0, 0.0, 0.0}, zero = sum;
    for (int32_t axis = 0; axis < 3; axis++) {
        wide_lanes x = {p[axis], p[axis], p[axis], p[axis]};
        wide_lanes below = __builtin_convertvector(node->lower[axis], wide_lanes) - x;
        wide_lanes above = x - __builtin_convertvector(node->upper[axis], wide_lanes);
        wide_mask first = below > above;
        wide_lanes d = (wide_lanes)((first & (wide_mask)below) | (~first & (wide_mask)above));
        wide_mask outside = d > zero;
        d = (wide_lanes)(outside & (wide_mask)d);
        sum += d * d;
    }
    return sum;
}

/// Appends a node so that the `count` newest, those of one parent, stay sorted with the most promising one last.
static void push_sorted(waiting *stack, int32_t *end, int32_t count, waiting item) {
    int32_t at = (*end)++;
    while (count > 0 && stack[at - 1].least < item.least) {
        stack[at] = stack[at - 1];
        at--;
        count--;
    }
    stack[at] = item;
}

bool stn_mesh_visit_ball(const stn_mesh *mesh, stn_vec3 centre, double radius, stn_triangle_visitor visit, void *user) {
    if (!stn_vec3_finite(centre) || !(radius >= 0.0)) {
        return true;
    }
    const mesh_tree *tree = mesh_tree_of(mesh);
    for (int32_t i = 0; tree == NULL && i < mesh->triangle_count; i++) {
        if (!visit(user, i)) {
            return false;
        }
    }
    if (tree == NULL) {
        return true;
    }
    stn_vec3 local = tree_local(tree, centre);
    const double p[3] = {local.x, local.y, local.z}, reach = tree->scale * radius;
    double limit = reach * reach * (1.0 + 1e-9); // beyond it by rounding
    int32_t stack[TREE_STACK], count = 0;
    stack[count++] = 0;
    while (count > 0) {
        const tree_node *node = &tree->nodes[stack[--count]];
        wide_lanes distance = box_distances(node, p);
        for (int32_t k = 0; k < LANES; k++) {
            if (distance[k] > limit || distance[k] == (double)INFINITY) {
                continue;
            }
            if (node->child[k] >= 0) {
                stack[count++] = node->child[k];
            } else if (!visit(user, ~node->child[k])) {
                return false;
            }
        }
    }
    return true;
}

bool stn_mesh_nearest(const stn_mesh *mesh, stn_vec3 point, double radius, stn_mesh_point *out) {
    if (!stn_vec3_finite(point) || !(radius >= 0.0)) {
        return false;
    }
    stn_mesh_point best = {-1, point, radius};
    const mesh_tree *tree = mesh_tree_of(mesh);
    for (int32_t i = 0; tree == NULL && i < mesh->triangle_count; i++) {
        look_nearest(mesh, i, point, &best);
    }
    stn_vec3 local = tree != NULL ? tree_local(tree, point) : point;
    const double p[3] = {local.x, local.y, local.z};
    waiting stack[TREE_STACK];
    int32_t count = 0;
    if (tree != NULL) {
        stack[count++] = (waiting){0.0, 0};
    }
    while (count > 0) {
        waiting top = stack[--count];
        double reach = tree->scale * best.distance, limit = reach * reach * (1.0 + 1e-9); // beyond it by rounding
        if (top.least > limit) {
            continue;
        }
        const tree_node *node = &tree->nodes[top.node];
        wide_lanes distance = box_distances(node, p);
        int32_t pushed = 0;
        for (int32_t k = 0; k < LANES; k++) {
            if (distance[k] > limit || distance[k] == (double)INFINITY) {
                continue;
            }
            if (node->child[k] >= 0) {
                push_sorted(stack, &count, pushed++, (waiting){distance[k], node->child[k]});
            } else {
                look_nearest(mesh, ~node->child[k], point, &best);
            }
        }
    }
    if (best.triangle >= 0) {
        *out = best;
    }
    return best.triangle >= 0;
}

// ---------------------------------------------------------------------------------------------------------- rays

/// A ray in the tree's units.
typedef struct tree_ray {
    lanes origin[3], inverse[3];
    bool back[3]; // the direction points down this axis: the upper plane comes first
} tree_ray;

/// Where the ray enters the boxes, in the tree's units; infinite where it does not within [0, end].
static lanes enter_boxes(const tree_node *node, const tree_ray *ray, float end) {
    lanes enter = lanes_of(0.0F), leave = lanes_of(end);
    for (int32_t axis = 0; axis < 3; axis++) {
        lanes near = ray->back[axis] ? node->upper[axis] : node->lower[axis];
        lanes far = ray->back[axis] ? node->lower[axis] : node->upper[axis];
        near = (near - ray->origin[axis]) * ray->inverse[axis];
        far = (far - ray->origin[axis]) * ray->inverse[axis];
        enter = select_lanes(near > enter, near, enter);
        leave = select_lanes(far < leave, far, leave);
    }
    return select_lanes(enter <= leave, enter, lanes_of((float)INFINITY));
}

/// One ray from `start`, a point within the bounds of the mesh or nearly, and its candidates, measured from there.
typedef struct search {
    stn_vec3 start, direction;
    double length; // to where it leaves the bounds
    triangle_ray ray;
    double before, most; // from the origin to `start`; the longest allowed from the origin
    double best;         // from `start`; infinite: none yet
    int32_t triangle;
} search;

static void look_ray(const stn_mesh *mesh, int32_t id, search *s) {
    mesh_triangle t = triangle_of(mesh, id);
    double at;
    if (!triangle_ray_meet(&s->ray, t.a, t.b, t.c, &at)) {
        return;
    }
    double whole = s->before + at;
    bool nearer = at < s->best || (at == s->best && id < s->triangle);
    if (nearer && whole >= 0.0 && whole <= s->most) {
        s->best = at;
        s->triangle = id;
    }
}

static void raycast_tree(const stn_mesh *mesh, const mesh_tree *tree, search *s) {
    stn_vec3 start = tree_local(tree, s->start);
    const double o[3] = {start.x, start.y, start.z}, d[3] = {s->direction.x, s->direction.y, s->direction.z};
    tree_ray ray;
    for (int32_t axis = 0; axis < 3; axis++) {
        double size = fmax(fabs(d[axis]), 1e-30); // below, the ray stays within the margin of the boxes
        ray.back[axis] = d[axis] < 0.0;
        ray.origin[axis] = lanes_of((float)o[axis]);
        ray.inverse[axis] = lanes_of((float)((ray.back[axis] ? -1.0 : 1.0) / size));
    }
    waiting stack[TREE_STACK];
    int32_t count = 0;
    stack[count++] = (waiting){0.0, 0};
    while (count > 0) {
        waiting top = stack[--count];
        double end = (fmin(s->best, s->length) * tree->scale) * (1.0 + 0x1p-20) + (double)TREE_MARGIN;
        if (top.least > end) {
            continue;
        }
        const tree_node *node = &tree->nodes[top.node];
        lanes enter = enter_boxes(node, &ray, (float)fmin(end, 16.0));
        int32_t pushed = 0;
        for (int32_t k = 0; k < LANES; k++) {
            if (enter[k] == (float)INFINITY) {
                continue;
            }
            if (node->child[k] >= 0) {
                push_sorted(stack, &count, pushed++, (waiting){(double)enter[k], node->child[k]});
            } else {
                look_ray(mesh, ~node->child[k], s);
            }
        }
    }
}

/// A ray seen from above, in units of cells: strips of cells across the axis along which it crosses more of them.
typedef struct grid_walk {
    const stn_mesh *mesh;
    bool along_rows;           // strips are rows, else columns
    double strip0, strip_rate; // coordinate across strips, and per length of the ray
    double cell0, cell_rate;   // along them
    double z, z_rate, length, slack;
    int32_t strip, last, step;
    bool done;
} grid_walk;

/// The cells that the ray may touch in one strip, and the heights between which it runs there.
typedef struct grid_strip {
    stn_grid_cells cells;
    double low, high;
} grid_strip;

static grid_walk grid_walk_begin(const stn_mesh *mesh, const search *s) {
    stn_vec3 start = s->start, direction = s->direction;
    const stn_grid *g = &mesh->grid;
    double u = (start.x - g->x) / g->dx, v = (start.y - g->y) / g->dy, du = direction.x / g->dx,
           dv = direction.y / g->dy;
    stn_vec3 size = stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower);
    grid_walk walk = {.mesh = mesh,
                      .along_rows = fabs(dv) > fabs(du),
                      .z = start.z,
                      .z_rate = direction.z,
                      .length = s->length,
                      .slack = 1e-7 * fmax(size.x, fmax(size.y, size.z)) + 1e-14 * fabs(start.z)};
    walk.strip0 = walk.along_rows ? v : u;
    walk.strip_rate = walk.along_rows ? dv : du;
    walk.cell0 = walk.along_rows ? u : v;
    walk.cell_rate = walk.along_rows ? du : dv;
    walk.step = walk.strip_rate < 0.0 ? -1 : 1;
    int32_t count = (walk.along_rows ? g->rows : g->columns) - 1;
    double other = walk.strip0 + walk.strip_rate * s->length;
    cell_range strips = cells_between(fmin(walk.strip0, other), fmax(walk.strip0, other), count);
    walk.done = strips.start == strips.end;
    walk.strip = walk.step > 0 ? strips.start : strips.end - 1;
    walk.last = walk.step > 0 ? strips.end - 1 : strips.start;
    return walk;
}

/// The next strip along the ray; false behind the last.
static bool grid_walk_next(grid_walk *walk, grid_strip *strip) {
    if (walk->done) {
        return false;
    }
    // lengths of the ray between which it lies in the strip
    double from = 0.0, to = walk->length;
    if (walk->strip_rate != 0.0) {
        double side = walk->step > 0 ? 0.0 : 1.0;
        double enter = (walk->strip + side - walk->strip0) / walk->strip_rate,
               leave = (walk->strip + 1.0 - side - walk->strip0) / walk->strip_rate;
        from = fmin(fmax(enter, 0.0), walk->length);
        to = fmin(fmax(leave, 0.0), walk->length);
    }
    const stn_grid *g = &walk->mesh->grid;
    double a = walk->cell0 + walk->cell_rate * from, b = walk->cell0 + walk->cell_rate * to;
    cell_range cells = cells_between(fmin(a, b), fmax(a, b), (walk->along_rows ? g->columns : g->rows) - 1);
    if (walk->along_rows) {
        strip->cells = (stn_grid_cells){walk->strip, walk->strip + 1, cells.start, cells.end};
    } else {
        strip->cells = (stn_grid_cells){cells.start, cells.end, walk->strip, walk->strip + 1};
    }
    double z_a = walk->z + walk->z_rate * from, z_b = walk->z + walk->z_rate * to;
    strip->low = fmin(z_a, z_b) - walk->slack;
    strip->high = fmax(z_a, z_b) + walk->slack;
    walk->done = walk->strip == walk->last;
    walk->strip += walk->step;
    return true;
}

/// Cell by cell along the ray: a strip behind the first one that is met holds nothing nearer.
static void raycast_grid(const stn_mesh *mesh, search *s) {
    grid_walk walk = grid_walk_begin(mesh, s);
    size_t columns = (size_t)mesh->grid.columns;
    grid_strip strip;
    while (s->triangle == INT32_MAX && grid_walk_next(&walk, &strip)) {
        const stn_grid_cells *cells = &strip.cells;
        for (int32_t r = cells->row_start; r < cells->row_end; r++) {
            for (int32_t c = cells->column_start; c < cells->column_end; c++) {
                const double *p = mesh->vertices + 3 * ((size_t)r * columns + (size_t)c), *q = p + 3 * columns;
                double least = fmin(fmin(p[2], p[5]), fmin(q[2], q[5]));
                double most = fmax(fmax(p[2], p[5]), fmax(q[2], q[5]));
                if (least <= strip.high && most >= strip.low) {
                    int32_t first = 2 * (r * (mesh->grid.columns - 1) + c);
                    look_ray(mesh, first, s);
                    look_ray(mesh, first + 1, s);
                }
            }
        }
    }
}

bool stn_mesh_raycast(const stn_mesh *mesh, stn_vec3 origin, stn_vec3 direction, double max, stn_mesh_point *out) {
    if (!stn_vec3_finite(origin) || !stn_vec3_finite(direction) || !(max >= 0.0) || !(stn_vec3_norm(direction) > 0.0)) {
        return false;
    }
    // the part of the ray in the bounds of the mesh, grown a little on every side
    const double o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
    const double lower[3] = {mesh->bounds.lower.x, mesh->bounds.lower.y, mesh->bounds.lower.z};
    const double upper[3] = {mesh->bounds.upper.x, mesh->bounds.upper.y, mesh->bounds.upper.z};
    stn_vec3 size = stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower);
    double from = 0.0, to = max, slack = 1e-7 * fmax(size.x, fmax(size.y, size.z));
    for (int32_t axis = 0; axis < 3; axis++) {
        double own = slack + 1e-14 * fabs(o[axis]), low = lower[axis] - own - o[axis],
               high = upper[axis] + own - o[axis];
        if (d[axis] != 0.0) {
            from = fmax(from, (d[axis] > 0.0 ? low : high) / d[axis]);
            to = fmin(to, (d[axis] > 0.0 ? high : low) / d[axis]);
        } else if (low > 0.0 || high < 0.0) {
            return false;
        }
    }
    if (!(from <= to)) {
        return false;
    }
    stn_vec3 start = stn_vec3_mul_add(origin, from, direction);
    search s = {.start = start,
                .direction = direction,
                .length = to - from,
                .ray = triangle_ray_make(start, direction),
                .before = from,
                .most = max,
                .best = (double)INFINITY,
                .triangle = INT32_MAX};
    const mesh_tree *tree = mesh->grid.rows > 0 ? NULL : mesh_tree_of(mesh);
    if (mesh->grid.rows > 0) {
        raycast_grid(mesh, &s);
    } else if (tree != NULL) {
        raycast_tree(mesh, tree, &s);
    } else {
        for (int32_t i = 0; i < mesh->triangle_count; i++) {
            look_ray(mesh, i, &s);
        }
    }
    if (s.triangle == INT32_MAX) {
        return false;
    }
    double distance = s.before + s.best;
    *out = (stn_mesh_point){s.triangle, stn_vec3_mul_add(origin, distance, direction), distance};
    return true;
}
