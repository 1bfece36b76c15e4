// SPDX-License-Identifier: Apache-2.0
// See face_parts.h. How far a fan misses friction (test_hydroelastic_friction): turning on the spot a square with one
// row has 7 % too much torque, something slender 10 %, with two rows 0.4 % and 2 %; the power while it slides and turns
// about any centre is within 10 % and 2 %.
#include "face_parts.h"

/// A face with less than this share of its patch's force stays whole where one row is enough for all of it; one that is
/// longer than the patch is wide with less than that.
static const double large_share = 0.16, long_share = 0.03;
/// A triangle of the fan is divided along its outer side when it has more than this share of the patch, or when the
/// side is as long as that of something slender, squared over the face's area.
static const double side_share = 0.28, slender = 5.0;

double part_rows(double error) {
    return fmax(1.0, 0.2 / sqrt(error));
}

stn_vec3 part_centre_of_pressure(const face_part *p) {
    double lowest = 0.0, sum = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        lowest = fmin(lowest, p->pressure[i]);
    }
    stn_vec3 moment = stn_vec3_zero(), o = p->corner[0];
    double first = p->pressure[0] - lowest;
    for (int32_t i = 1; i + 1 < p->count; i++) {
        stn_vec3 u = stn_vec3_sub(p->corner[i], o), v = stn_vec3_sub(p->corner[i + 1], o);
        double q = p->pressure[i] - lowest, r = p->pressure[i + 1] - lowest, all = first + q + r;
        double area = stn_vec3_norm(stn_vec3_cross(u, v));
        sum += 4.0 * area * all;
        moment = stn_vec3_mul_add(moment, area * (all + q), u);
        moment = stn_vec3_mul_add(moment, area * (all + r), v);
    }
    return sum > 0.0 ? stn_vec3_mul_add(o, 1.0 / sum, moment) : p->centre;
}

/// Numbers of a row begin where those of all sides and their columns have ended.
enum { FAN_STRIDE = POLYGON_CORNERS * 10001 };

/// A triangle of the fan: a side and the whole's centre.
typedef struct fan_triangle {
    stn_vec3 start, along, from_centre; // the side; its start seen from the centre
    double length, area;
    int32_t columns, rows;
} fan_triangle;

static fan_triangle side_of(const face_part *p, int32_t side) {
    fan_triangle t = {.start = p->corner[side]};
    t.along = stn_vec3_sub(p->corner[side + 1 < p->count ? side + 1 : 0], t.start);
    t.from_centre = stn_vec3_sub(t.start, p->centre);
    t.length = stn_vec3_norm(t.along);
    t.area = 0.5 * stn_vec3_norm(stn_vec3_cross(t.from_centre, t.along));
    return t;
}

bool part_is_large(const part_rule *rule, const face_part *p) {
    double share = rule->share * rule->rows * rule->rows, longest = 0.0;
    if (share > large_share) {
        return true;
    }
    if (!(share > long_share) && isinf(rule->edge)) {
        return false;
    }
    for (int32_t i = 0; i < p->count; i++) {
        longest = fmax(longest, side_of(p, i).length);
    }
    return longest > 2.0 * rule->edge || (share > long_share && longest * longest > rule->area);
}

static int32_t parts_of(double wanted) {
    return (int32_t)fmax(1.0, fmin(1e4, ceil(wanted - 1e-9)));
}

/// A face while it is divided.
typedef struct dividing {
    const face_part *whole;
    const fan_triangle *fan; // (whole->count)
    double scale;            // of its areas
    part_visit *visit;       // NULL: arms alone
    void *to;
    double factor; // of the distances of points
    double moment; // sum of area times squared distance of the centre, of all parts
} dividing;

/// All parts over one side.
static stn_status divide_triangle(dividing *d, int32_t side, stn_error *err) {
    const face_part *whole = d->whole;
    const fan_triangle *t = &d->fan[side];
    double area = d->scale * t->area;
    int32_t next = side + 1 < whole->count ? side + 1 : 0;
    double first = whole->pressure[side], more = whole->pressure[next] - first;
    double step = 1.0 / t->rows;
    face_part part = {.count = 3, .area = area / ((double)t->columns * t->rows * t->rows)};
    stn_status status = STN_OK;
    for (int32_t k = 0; k < t->columns; k++) {
        // a point is the whole's centre and u and v times the ways to the two ends of the column's side
        stn_vec3 toward[2];
        double rise[2];
        for (int32_t end = 0; end < 2; end++) {
            double share = (double)(k + end) / t->columns;
            toward[end] = stn_vec3_mul_add(t->from_centre, share, t->along);
            rise[end] = first + share * more - whole->level;
        }
        for (int32_t i = 0; i < t->rows * t->rows && status == STN_OK; i++) {
            // rows hold 1, 3, 5, ...: even places stand on their base, the others between them on their tips
            int32_t row = (int32_t)sqrt((double)i + 0.5), place = i - row * row;
            bool base = place % 2 == 0;
            double v = step * (place / 2), u = step * row - v, mean_v = v + (base ? 1.0 : 2.0) / 3.0 * step;
            double mean_u = u + (base ? 1.0 : -1.0) / 3.0 * step;
            const double at[3][2] = {
                {base ? u : u - step, base ? v : v + step}, {base ? u + step : u, v}, {u, v + step}};
            for (int32_t c = 0; c < 3; c++) {
                stn_vec3 along = stn_vec3_mul_add(whole->centre, at[c][0], toward[0]);
                part.corner[c] = stn_vec3_mul_add(along, at[c][1], toward[1]);
                part.pressure[c] = whole->level + at[c][0] * rise[0] + at[c][1] * rise[1];
            }
            part.centre = stn_vec3_mul_add(stn_vec3_mul_add(whole->centre, mean_u, toward[0]), mean_v, toward[1]);
            part.level = whole->level + mean_u * rise[0] + mean_v * rise[1];
            if (d->visit == NULL) {
                stn_vec3 arm = stn_vec3_sub(part.centre, whole->centre);
                d->moment += part.area * stn_vec3_dot(arm, arm);
                continue;
            }
            stn_vec3 from = stn_vec3_sub(part_centre_of_pressure(&part), whole->point);
            part.point = stn_vec3_mul_add(whole->point, d->factor, from);
            int64_t number = side + (int64_t)k * POLYGON_CORNERS + (int64_t)i * FAN_STRIDE;
            status = d->visit(d->to, &part, number, err);
        }
    }
    return status;
}

stn_status part_divide(const part_rule *rule, const face_part *whole, part_visit *visit, void *to, stn_error *err) {
    fan_triangle fan[POLYGON_CORNERS];
    double all = 0.0, moment = 0.0; // the integral of the squared distance from the centre
    for (int32_t i = 0; i < whole->count; i++) {
        fan[i] = side_of(whole, i);
        stn_vec3 a = fan[i].from_centre, b = stn_vec3_add(a, fan[i].along);
        all += fan[i].area;
        moment += fan[i].area / 6.0 * (stn_vec3_dot(a, a) + stn_vec3_dot(a, b) + stn_vec3_dot(b, b));
    }
    if (!(all > 0.0)) {
        return visit(to, whole, 0, err);
    }
    double scale = whole->area / all;
    for (int32_t i = 0; i < whole->count; i++) {
        fan_triangle *t = &fan[i];
        double wanted = rule->share * t->area / (side_share * all);
        wanted = t->length * t->length > slender * all ? fmax(wanted, 2.0 * rule->rows) : wanted;
        t->columns = parts_of(wanted);
        t->rows = parts_of(rule->rows * sqrt(rule->share) - 0.2);
        if (isfinite(rule->edge)) {
            t->rows = parts_of(sqrt(t->area / t->columns) / rule->edge);
            t->columns = t->rows > 1 ? t->columns : parts_of(fmax(wanted, 0.5 * t->length / rule->edge));
        }
    }
    dividing d = {.whole = whole, .fan = fan, .scale = scale, .to = to, .factor = 1.0};
    stn_status status = STN_OK;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < whole->count && status == STN_OK; i++) {
            status = divide_triangle(&d, i, err);
        }
        d.visit = visit;
        d.factor = d.moment > 0.0 ? sqrt(scale * moment / d.moment) : 1.0;
    }
    return status;
}
