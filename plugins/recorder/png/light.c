// SPDX-License-Identifier: Apache-2.0
// Light: one parallel lamp with a shadow map, and ambient light from above and from the viewer.
//
// A surface with unit normal n and colour C sends C k to the eye,
//   k = a + (1 - a) max(0, n . l) V,  a = 0.30 + 0.08 n_z + 0.12 max(0, n . e),
// l towards the lamp, e towards the eye, V the part of the lamp that is seen from there: what faces the lamp shows its
// colour itself. V compares the point's depth along the light with a map of the nearest depths, over 4 x 4 texels whose
// weights are those of a 3 x 3 box filter moved smoothly.
#include "picture.h"

static float channel_of(float srgb) {
    double c = fmin(fmax((double)srgb, 0.0), 1.0);
    return (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
}

colour colour_of(float red, float green, float blue) {
    return (colour){channel_of(red), channel_of(green), channel_of(blue)};
}

colour colour_mix(colour a, colour b, float t) {
    return (colour){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

colour colour_scale(float s, colour a) {
    return (colour){s * a.r, s * a.g, s * a.b};
}

float light_reaching(const light *l, stn_vec3 point, float facing) {
    if (facing <= 0.0f) {
        return 0.0f;
    }
    const view *v = &l->view;
    stn_vec3 at = stn_mat3_apply(&v->axes, stn_vec3_sub(point, v->origin));
    double x = v->centre_x + v->scale * at.x - 1.5, y = v->centre_y - v->scale * at.y - 1.5;
    if (!(x >= 0.0 && y >= 0.0 && x < SHADOW_SIZE - 4 && y < SHADOW_SIZE - 4)) {
        return 1.0f; // nothing of the scene is between
    }
    float depth = fmaxf((float)view_nearness(v, at.z), 0.0f); // empty texels hold 0
    int32_t column = (int32_t)x, row = (int32_t)y;
    float fx = (float)(x - column), fy = (float)(y - row), sum = 0.0f;
    for (int32_t k = 0; k < 4; k++) {
        // the texels of a row that are not nearer to the light, weighted 1 - f, 1, 1, f
        const float *texel = l->shadow.nearness + (size_t)(row + k) * SHADOW_SIZE + column;
        float weight = k == 0 ? 1.0f - fy : k == 3 ? fy : 1.0f, lit = 0.0f;
        for (int32_t i = 0; i < 4; i++) {
            float part = i == 0 ? 1.0f - fx : i == 3 ? fx : 1.0f;
            lit += texel[i] <= depth ? part : 0.0f;
        }
        sum += weight * lit;
    }
    return sum / 9.0f;
}

float light_shade(const light *l, stn_vec3 normal, stn_vec3 to_eye, float reaching) {
    double ambient = 0.30 + 0.08 * normal.z + 0.12 * fmax(stn_vec3_dot(normal, to_eye), 0.0);
    double lamp = fmax(stn_vec3_dot(normal, l->direction), 0.0) * (double)reaching;
    return (float)(ambient + (1.0 - ambient) * lamp);
}
