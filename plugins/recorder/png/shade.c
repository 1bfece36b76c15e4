// SPDX-License-Identifier: Apache-2.0
// Samples to pixels. A sample shows the nearest of: opaque surfaces of the raster, planes (cast by its ray), the
// background; over it the nearest translucent surface. Light is summed linearly and encoded as sRGB.
//
// A sample at (x, y) looks along d = forward + (x - x_0) / s right - (y - y_0) / s up, at depth c it sees origin + c d.
// A plane with the normal n, above which the eye stands at the height h > 0, is met at c = h / (-n . d); this fall -n .
// d is linear in x and y.
#include <stdlib.h>

#include "common/node_values.h"
#include "picture.h"

enum { PER_PIXEL = SAMPLES * SAMPLES };

/// What one sample sees, before light.
typedef struct sight {
    double depth; // of the opaque surface or plane
    int32_t item; // or plane or SKY
    uint32_t normal;
    int32_t glass; // translucent item in front, SKY: none
    uint32_t glass_normal;
    float glass_nearness, value, glass_value; // values: NaN: of its own colour
    int32_t row, column;
} sight;

static void look(const shading *s, int32_t row, int32_t column, sight *seen) {
    const raster *front = &s->picture->front, *glass = &s->picture->glass;
    size_t at = (size_t)(row - front->row_start) * (size_t)front->width + (size_t)column;
    bool hit = front->nearness[at] > 0.0f;
    double depth = hit ? 1.0 / (double)front->nearness[at] : (double)INFINITY;
    seen->item = hit ? front->item[at] : SKY;
    seen->normal = hit ? front->normal[at] : 0;
    seen->value = hit && front->value != NULL ? front->value[at] : NAN;
    for (int32_t i = 0; i < s->picture->scene.plane_count; i++) {
        const shown_plane *plane = &s->planes[i];
        double fall = plane->fall[0] + plane->fall[1] * column + plane->fall[2] * row;
        if (plane->height > 0.0 && fall * depth > plane->height) { // met from outside, and before `depth`
            depth = plane->height / fall;
            seen->item = SKY - 1 - i;
        }
    }
    seen->depth = depth;
    seen->row = row;
    seen->column = column;
    seen->glass = SKY;
    if (glass->nearness != NULL && (double)glass->nearness[at] * depth > 1.0) {
        seen->glass = glass->item[at];
        seen->glass_normal = glass->normal[at];
        seen->glass_nearness = glass->nearness[at];
        seen->glass_value = glass->value != NULL ? glass->value[at] : NAN;
    }
}

static stn_vec3 ray_of(const view *v, const sight *seen) {
    double x = (seen->column + 0.5 - v->centre_x) / v->scale, y = (v->centre_y - 0.5 - seen->row) / v->scale;
    return stn_mat3_apply_transposed(&v->axes, stn_vec3_make(x, y, 1.0));
}

/// Within some ten degrees.
static bool is_alike(uint32_t a, uint32_t b) {
    int32_t sum = 0;
    for (int32_t shift = 0; shift < 30; shift += 10) {
        sum += abs((int32_t)(a >> shift & 1023u) - (int32_t)(b >> shift & 1023u));
    }
    return sum < 100;
}

/// Do two samples of a pixel show the same? Then one is shaded for both.
static bool shows_same(const sight *a, const sight *b) {
    return a->item == b->item && a->glass == b->glass && (a->item < 0 || is_alike(a->normal, b->normal)) &&
           (a->glass < 0 || is_alike(a->glass_normal, b->glass_normal));
}

// ----------------------------------------------------------------------------------------------------------- planes

static double smooth(double t) {
    t = fmin(fmax(t, 0.0), 1.0);
    return t * t * (3.0 - 2.0 * t);
}

/// How much of a line lies under a pixel: the line is `spacing` / 100 wide, at least a pixel, of width `footprint`, and
/// vanishes where lines come too close to be told apart.
static double line(double coordinate, double spacing, double footprint) {
    double distance = fabs(coordinate - spacing * round(coordinate / spacing));
    double half = 0.5 * fmax(0.01 * spacing, footprint);
    double cover = fmin(fmax((half - distance) / footprint + 0.5, 0.0), 1.0);
    return cover * smooth(1.5 - 6.0 * footprint / spacing);
}

static colour shade_plane(const shading *s, const sight *seen, colour behind) {
    const picture *p = s->picture;
    int32_t number = SKY - 1 - seen->item;
    const scene_plane *ground = &p->scene.planes[number];
    stn_vec3 ray = ray_of(&p->view, seen), point = stn_vec3_mul_add(p->view.origin, seen->depth, ray);
    double out = stn_vec3_norm(stn_vec3_sub(point, s->planes[number].centre)) / s->edge;
    if (!(out < 1.0)) {
        return behind;
    }
    stn_vec3 x = stn_mat3_column(&ground->world.rotation, 0), y = stn_mat3_column(&ground->world.rotation, 1),
             n = stn_mat3_column(&ground->world.rotation, 2);
    stn_vec3 offset = stn_vec3_sub(point, ground->world.position);
    // A step of one pixel to the right moves the point by depth / s (right - (n . right) / (n . ray) ray), likewise
    // down.
    double width[2] = {1e-12, 1e-12}, step = SAMPLES * seen->depth / p->view.scale;
    for (int32_t k = 0; k < 2; k++) {
        stn_vec3 side = {p->view.axes.m[k][0], p->view.axes.m[k][1], p->view.axes.m[k][2]};
        stn_vec3 move = stn_vec3_mul_add(side, -stn_vec3_dot(n, side) / stn_vec3_dot(n, ray), ray);
        width[0] += step * fabs(stn_vec3_dot(x, move));
        width[1] += step * fabs(stn_vec3_dot(y, move));
    }
    double lines =
        fmax(line(stn_vec3_dot(x, offset), s->grid, width[0]), line(stn_vec3_dot(y, offset), s->grid, width[1]));
    stn_vec3 to_eye = stn_vec3_normalize_or(stn_vec3_neg(ray), n);
    float reaching = light_reaching(&p->light, point, (float)stn_vec3_dot(n, p->light.direction));
    float k = light_shade(&p->light, n, to_eye, reaching) * (float)(1.0 - 0.22 * lines);
    return colour_mix(colour_scale(k, ground->colour), behind, (float)smooth(2.0 * out - 1.0));
}

// --------------------------------------------------------------------------------------------------------- surfaces

colour shade_value(const picture *p, double value) {
    float srgb[3];
    viridis((value - p->range[0]) / (p->range[1] - p->range[0]), srgb);
    return colour_of(srgb[0], srgb[1], srgb[2]);
}

static colour shade_surface(const shading *s, const sight *seen, int32_t number, uint32_t packed, double depth,
                            float value) {
    const picture *p = s->picture;
    stn_vec3 ray = ray_of(&p->view, seen), normal = normal_unpack(packed);
    stn_vec3 to_eye = stn_vec3_normalize_or(stn_vec3_neg(ray), normal);
    if (number >= p->scene.item_count) { // marks lie over everything: no shadow falls on them
        return colour_scale(light_shade(&p->light, normal, to_eye, 1.0f), s->marks[number - p->scene.item_count]);
    }
    // A surface must not shade itself: the filter reaches two texels aside, where one that slants is nearer to the
    // lamp, and chords of this view lie a quarter of a sample deeper than those of the shadow map. A point as far above
    // the surface is clear of it, whatever the slope.
    double clearance = 2.5 * p->light.texel + 0.5 * depth / p->view.scale;
    stn_vec3 point = stn_vec3_mul_add(stn_vec3_mul_add(p->view.origin, depth, ray), clearance, normal);
    float facing = (float)stn_vec3_dot(normal, p->light.direction);
    float k = light_shade(&p->light, normal, to_eye, light_reaching(&p->light, point, facing));
    if (isnan(value)) {
        return colour_scale(k, p->scene.items[number].colour);
    }
    return colour_scale(0.5f + 0.5f * k, shade_value(p, (double)value)); // nearer to what the legend shows
}

static colour shade_sample(const shading *s, const sight *seen, colour background) {
    colour c = background;
    if (seen->item < SKY) {
        c = shade_plane(s, seen, c);
    } else if (seen->item >= 0) {
        c = shade_surface(s, seen, seen->item, seen->normal, seen->depth, seen->value);
    }
    if (seen->glass >= 0) {
        colour over = shade_surface(s, seen, seen->glass, seen->glass_normal, 1.0 / (double)seen->glass_nearness,
                                    seen->glass_value);
        c = colour_mix(c, over, s->picture->scene.items[seen->glass].alpha);
    }
    return c;
}

static uint8_t encode(const picture *p, float linear) {
    float scaled = linear * ENCODED_MAX + 0.5f;
    return p->encoded[scaled > 0.0f ? scaled < ENCODED_MAX ? (int32_t)scaled : ENCODED_MAX : 0];
}

void shade_colours(shading *s) {
    static const float marks[MARK_PRESSURE][3] = {
        [MARK_CONTACT] = {0.86f, 0.10f, 0.10f},
        [MARK_X] = {0.85f, 0.20f, 0.20f},
        [MARK_Y] = {0.20f, 0.65f, 0.20f},
        [MARK_Z] = {0.20f, 0.35f, 0.85f},
    };
    for (int32_t k = 0; k < MARK_PRESSURE; k++) {
        s->marks[k] = colour_of(marks[k][0], marks[k][1], marks[k][2]);
    }
    for (int32_t k = 0; k < PRESSURES; k++) {
        float srgb[3];
        viridis((k + 0.5) / PRESSURES, srgb);
        s->marks[MARK_PRESSURE + k] = colour_of(srgb[0], srgb[1], srgb[2]);
    }
    s->zenith = colour_of(0.86f, 0.90f, 0.95f);
    s->horizon = colour_of(0.97f, 0.98f, 0.99f);
}

void shade_row(const shading *s, int32_t row, uint8_t *pixels) {
    const picture *p = s->picture;
    double low = 1.5 * (row + 0.5) / p->options.camera.height; // the sky ends at two thirds
    colour background = colour_mix(s->zenith, s->horizon, (float)fmin(low, 1.0));
    for (int32_t column = 0; column < p->options.camera.width; column++) {
        sight seen[PER_PIXEL];
        colour shown[PER_PIXEL], sum = {0.0f, 0.0f, 0.0f};
        for (int32_t k = 0; k < PER_PIXEL; k++) {
            look(s, SAMPLES * row + k / SAMPLES, SAMPLES * column + k % SAMPLES, &seen[k]);
            int32_t same = 0;
            while (same < k && !shows_same(&seen[same], &seen[k])) {
                same++;
            }
            shown[k] = same < k ? shown[same] : shade_sample(s, &seen[k], background);
            sum = (colour){sum.r + shown[k].r, sum.g + shown[k].g, sum.b + shown[k].b};
        }
        colour c = colour_scale(1.0f / PER_PIXEL, sum);
        pixels[3 * column] = encode(p, c.r);
        pixels[3 * column + 1] = encode(p, c.g);
        pixels[3 * column + 2] = encode(p, c.b);
    }
}
