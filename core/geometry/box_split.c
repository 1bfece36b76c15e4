// SPDX-License-Identifier: Apache-2.0
#include "geometry/box_split.h"

/// Twice the middle.
static double centre(const stn_aabb *box, int32_t axis) {
    switch (axis) {
    case 0:
        return box->lower.x + box->upper.x;
    case 1:
        return box->lower.y + box->upper.y;
    default:
        return box->lower.z + box->upper.z;
    }
}

/// Returns the axis, and where the middles begin on it.
static int32_t longest_axis(const stn_aabb *boxes, const int32_t *order, int32_t count, double *begin) {
    int32_t best = 0;
    double longest = -1.0;
    *begin = 0.0;
    for (int32_t axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = 0; i < count; i++) {
            double c = centre(&boxes[order[i]], axis);
            low = c < low ? c : low;
            high = c > high ? c : high;
        }
        if (high - low > longest) {
            longest = high - low;
            best = axis;
            *begin = low;
        }
    }
    return best;
}

static void exchange(int32_t *order, float *key, int32_t i, int32_t j) {
    float k = key[i];
    key[i] = key[j];
    key[j] = k;
    int32_t box = order[i];
    order[i] = order[j];
    order[j] = box;
}

static float median_of_three(float a, float b, float c) {
    float low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/// Quickselect: afterwards no key before `middle` exceeds one from `middle` on.
static void select_middle(int32_t *order, float *key, int32_t count, int32_t middle) {
    int32_t first = 0, last = count - 1;
    while (first < last) {
        float pivot = median_of_three(key[first], key[first + (last - first) / 2], key[last]);
        int32_t i = first, j = last;
        while (i <= j) {
            while (key[i] < pivot) {
                i++;
            }
            while (key[j] > pivot) {
                j--;
            }
            if (i <= j) {
                exchange(order, key, i++, j--);
            }
        }
        if (middle <= j) {
            last = j;
        } else if (middle >= i) {
            first = i;
        } else {
            return;
        }
    }
}

void box_split(const stn_aabb *boxes, int32_t *order, float *key, int32_t count, int32_t left) {
    double begin;
    int32_t axis = longest_axis(boxes, order, count, &begin);
    for (int32_t i = 0; i < count; i++) {
        key[i] = (float)(centre(&boxes[order[i]], axis) - begin); // from there: far from the origin floats are coarse
    }
    select_middle(order, key, count, left);
}
