// SPDX-License-Identifier: Apache-2.0
// The legend of colours: letters are strokes, so that they look alike in pictures of every size.
//
// A letter is 4 units wide and 6 high above its line, with 2 below; the next one follows after 6. A stroke covers of a
// pixel at the distance d from it what lies within half its width w, min(1, max(0, w/2 - d + 1/2)).
#include <stdio.h>
#include <string.h>

#include "common/node_values.h"
#include "picture.h"

enum { ADVANCE = 6, LINE = 8, LINE_BASE = 2 }; // units
static const double WIDTH = 0.9;               // of a stroke [units], at least WIDTH_MIN
static const double WIDTH_MIN = 1.1;           // [pixels]

/// Points (x, y) as two digits each, y from the lowest that a letter reaches; a bar lifts the pen, a point alone is a
/// dot.
static const char *const letters[128] = {
    ['a'] = "16364542|441403123243",
    ['b'] = "0208|0516364543321203",
    ['c'] = "4536160503123243",
    ['d'] = "4248|4536160503123243",
    ['e'] = "04444536160503123243",
    ['f'] = "48382722|0646",
    ['g'] = "4641301001|4536160503123243",
    ['h'] = "0208|0516364542",
    ['i'] = "2226|2828",
    ['j'] = "26211000|2828",
    ['k'] = "0208|460442",
    ['l'] = "28233242",
    ['m'] = "0206|05162522|25364542",
    ['n'] = "0206|0516364542",
    ['o'] = "163645433212030516",
    ['p'] = "0006|0516364543321203",
    ['q'] = "4046|4536160503123243",
    ['r'] = "0206|05163645",
    ['s'] = "45361605143443321203",
    ['t'] = "18132232|0636",
    ['u'] = "0603123243|4642",
    ['v'] = "062246",
    ['w'] = "0612243246",
    ['x'] = "0642|0246",
    ['y'] = "0622|4610",
    ['z'] = "06460242",
    ['0'] = "183847433212030718",
    ['1'] = "172822|1232",
    ['2'] = "07183847460242",
    ['3'] = "0718384746354443321203|1535",
    ['4'] = "32380444",
    ['5'] = "480805354443321203",
    ['6'] = "473818070312324344351504",
    ['7'] = "084812",
    ['8'] = "183847463515060718|1504031232434435",
    ['9'] = "031232434738180706153546",
    ['A'] = "022842|1434",
    ['B'] = "02083847463505|3544433202",
    ['C'] = "4738180703123243",
    ['D'] = "02082846442202",
    ['E'] = "48080242|0535",
    ['F'] = "480802|0535",
    ['G'] = "47381807031232434525",
    ['H'] = "0208|4248|0545",
    ['I'] = "2228|1838|1232",
    ['J'] = "4843321203",
    ['K'] = "0208|480542",
    ['L'] = "080242",
    ['M'] = "0208254842",
    ['N'] = "02084248",
    ['O'] = "183847433212030718",
    ['P'] = "02083847463505",
    ['Q'] = "183847433212030718|2442",
    ['R'] = "02083847463505|2542",
    ['S'] = "473818070615354443321203",
    ['T'] = "0848|2822",
    ['U'] = "080312324348",
    ['V'] = "082248",
    ['W'] = "0812263248",
    ['X'] = "0842|0248",
    ['Y'] = "082548|2522",
    ['Z'] = "08480242",
    ['-'] = "0444",
    ['+'] = "0444|2622",
    ['.'] = "2222",
    [','] = "2211",
    [':'] = "2222|2626",
    ['_'] = "0141",
    ['/'] = "0248",
    ['^'] = "162836",
    ['*'] = "2624|0545|1434",
    ['('] = "38272332",
    [')'] = "18272312",
    ['['] = "38181232",
    [']'] = "18383212",
    ['%'] = "0248|0808|4242",
    [' '] = "",
};

static double distance_to(double x, double y, const char *a, const char *b) {
    double ax = a[0] - '0', ay = a[1] - '0', dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    double t = square > 0.0 ? ((x - ax) * dx + (y - ay) * dy) / square : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return sqrt((x - ax - t * dx) * (x - ax - t * dx) + (y - ay - t * dy) * (y - ay - t * dy));
}

/// How much of a pixel a text covers; x and y [units] from the left lower corner of its first letter, y up. What is no
/// letter is a box.
static double cover(const char *text, double x, double y, double unit) {
    int32_t number = (int32_t)floor((x + 1.0) / ADVANCE); // strokes reach half a unit beyond the letter
    if (number < 0 || number >= (int32_t)strlen(text)) {
        return 0.0;
    }
    unsigned char c = (unsigned char)text[number];
    const char *strokes = c < 128 && letters[c] != NULL ? letters[c] : "0208484202";
    double nearest = INFINITY, width = fmax(WIDTH * unit, WIDTH_MIN);
    for (const char *at = strokes; at[0] != '\0' && at[1] != '\0'; at += at[2] == '|' ? 3 : 2) {
        bool ends = at[2] == '\0' || at[2] == '|' || at[3] == '\0';
        nearest = fmin(nearest, distance_to(x - ADVANCE * number, y, at, ends ? at : at + 2));
    }
    return fmin(fmax(0.5 * width - nearest * unit + 0.5, 0.0), 1.0);
}

bool legend_open(legend *l, const picture *p) {
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G"};
    const camera *c = &p->options.camera;
    const char *unit = p->options.value_unit;
    *l = (legend){.unit = fmax(c->height / 400.0, 1.0)};
    // the ends in thousands of the unit, so that they are short numbers
    double largest = fmax(fabs(p->range[0]), fabs(p->range[1]));
    int32_t thousands = largest > 0.0 ? (int32_t)floor(log10(largest) / 3.0 + 1e-9) : 0;
    thousands = strcmp(unit, "1") == 0 || thousands < -3 || thousands > 3 ? 0 : thousands;
    double scale = pow(1000.0, -thousands);
    snprintf(l->low, sizeof l->low, "%.3g", scale * p->range[0]);
    snprintf(l->high, sizeof l->high, "%.3g", scale * p->range[1]);
    if (strcmp(unit, "1") == 0) {
        snprintf(l->title, sizeof l->title, "%.60s", p->options.value_name);
    } else {
        snprintf(l->title, sizeof l->title, "%.60s [%s%.20s]", p->options.value_name, prefixes[thousands + 3], unit);
    }
    size_t letters_wide = strlen(l->title) > 22 ? strlen(l->title) : 22;
    double margin = 5.0 * l->unit;
    l->bar_width = (int32_t)(l->unit * ADVANCE * (double)letters_wide);
    l->bar_height = (int32_t)(7.0 * l->unit);
    l->width = l->bar_width + (int32_t)(2.0 * margin);
    l->height = l->bar_height + (int32_t)(2.0 * LINE * l->unit + 8.0 * l->unit + 2.0 * margin);
    l->left = (int32_t)(0.6 * margin) + 1;
    l->top = c->height - l->height - l->left;
    l->bar_left = l->left + (int32_t)margin;
    l->bar_top = l->top + (int32_t)(margin + (LINE + 4.0) * l->unit);
    return l->left + l->width <= c->width && l->top >= 0;
}

static void blend(uint8_t *pixel, const float srgb[3], double part) {
    for (int32_t k = 0; k < 3; k++) {
        pixel[k] = (uint8_t)(pixel[k] + part * (255.0 * (double)srgb[k] - pixel[k]) + 0.5);
    }
}

void legend_row(const legend *l, int32_t row, uint8_t *pixels) {
    static const float ground[3] = {1.0f, 1.0f, 1.0f}, ink[3] = {0.13f, 0.14f, 0.16f};
    if (row < l->top || row >= l->top + l->height) {
        return;
    }
    const double title = l->bar_top - 4.0 * l->unit,
                 ends = l->bar_top + l->bar_height + (LINE + 3.0) * l->unit; // lines
    const double high = l->bar_left + l->bar_width - l->unit * (ADVANCE * (double)strlen(l->high) - 2.0);
    for (int32_t column = l->left; column < l->left + l->width; column++) {
        uint8_t *pixel = pixels + 3 * (size_t)column;
        blend(pixel, ground, 0.8);
        int32_t x = column - l->bar_left, y = row - l->bar_top;
        if (x >= 0 && x < l->bar_width && y >= 0 && y < l->bar_height) {
            float srgb[3];
            viridis((x + 0.5) / l->bar_width, srgb);
            blend(pixel, srgb, 1.0);
            continue;
        }
        double at = column + 0.5, below = row + 0.5;
        double covered = cover(l->title, (at - l->bar_left) / l->unit, (title - below) / l->unit + LINE_BASE, l->unit);
        covered =
            fmax(covered, cover(l->low, (at - l->bar_left) / l->unit, (ends - below) / l->unit + LINE_BASE, l->unit));
        covered = fmax(covered, cover(l->high, (at - high) / l->unit, (ends - below) / l->unit + LINE_BASE, l->unit));
        blend(pixel, ink, covered);
    }
}
