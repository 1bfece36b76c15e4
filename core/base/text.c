// SPDX-License-Identifier: Apache-2.0
// Numbers from text without locale, hashing, and "did you mean".
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LONGEST_NUMBER = 400, LONGEST_WORD = 64 };

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// Length of the decimal number that starts at `text` (sign, digits, point, exponent), 0 when there is none. Checked
/// here because strtod also takes hexadecimal, "inf", "nan" and the locale's decimal comma.
static size_t decimal_length(const char *text) {
    const char *p = text;
    p += *p == '+' || *p == '-';
    size_t digits = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        digits++;
    }
    if (*p == '.') {
        for (p++; *p >= '0' && *p <= '9'; p++) {
            digits++;
        }
    }
    if (digits == 0) {
        return 0;
    }
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1;
        e += *e == '+' || *e == '-';
        if (*e < '0' || *e > '9') {
            return 0;
        }
        while (*e >= '0' && *e <= '9') {
            e++;
        }
        p = e;
    }
    return (size_t)(p - text);
}

/// strtod reads the point that the process's locale prescribes, so it is given that one.
static bool convert(const char *text, size_t length, double *value) {
    char copy[LONGEST_NUMBER];
    if (length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *end = NULL;
    double x = strtod(copy, &end);
    if (end != copy + length) {
        char *point = strchr(copy, '.');
        if (point == NULL) {
            return false;
        }
        *point = ',';
        x = strtod(copy, &end);
        if (end != copy + length) {
            return false;
        }
    }
    if (!isfinite(x)) {
        return false;
    }
    *value = x;
    return true;
}

int32_t stn_parse_reals(const char *text, double *values, int32_t capacity) {
    int32_t count = 0;
    const char *p = text;
    for (;;) {
        while (is_space(*p)) {
            p++;
        }
        if (*p == '\0') {
            return count;
        }
        size_t length = decimal_length(p);
        bool ends = length > 0 && (p[length] == '\0' || is_space(p[length]));
        if (!ends || count == capacity || !convert(p, length, &values[count])) {
            return -1;
        }
        count++;
        p += length;
    }
}

bool stn_parse_real(const char *text, double *value) {
    double x = 0.0;
    if (text == NULL || stn_parse_reals(text, &x, 1) != 1) {
        return false;
    }
    *value = x;
    return true;
}

size_t stn_print_real(char *text, size_t size, double value) {
    int length = 0;
    if (!isfinite(value)) {
        length = snprintf(text, size, "%s", isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf");
        return length > 0 && (size_t)length < size ? (size_t)length : 0;
    }
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        length = snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) {
            break;
        }
    }
    size_t used = 0;
    for (int i = 0; i < length && used + 1 < size; i++) {
        char c = digits[i];
        if (!((c >= '0' && c <= '9') || strchr("+-e", c) != NULL)) {
            if (used > 0 && text[used - 1] == '.') {
                continue; // the locale's decimal sign may be several bytes
            }
            c = '.';
        }
        text[used++] = c;
        if (i + 1 == length) {
            text[used] = '\0';
            return used;
        }
    }
    return 0;
}

void stn_text_append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    if (used + 1 < size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + used, size - used, format, arguments);
        va_end(arguments);
    }
}

uint64_t stn_hash(uint64_t seed, const void *bytes, size_t count) {
    uint64_t h = seed ^ 14695981039346656037u;
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++) {
        h = (h ^ p[i]) * 1099511628211u;
    }
    return h;
}

/// Optimal string alignment distance: insertions, deletions, substitutions, neighbours swapped.
static size_t edit_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_WORD || m > LONGEST_WORD) {
        return LONGEST_WORD;
    }
    size_t rows[3][LONGEST_WORD + 1];
    size_t *before = rows[0], *previous = rows[1], *current = rows[2];
    for (size_t j = 0; j <= m; j++) {
        previous[j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        current[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = previous[j - 1] + (a[i - 1] != b[j - 1]);
            best = previous[j] + 1 < best ? previous[j] + 1 : best;
            best = current[j - 1] + 1 < best ? current[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            current[j] = best;
        }
        size_t *free_row = before;
        before = previous;
        previous = current;
        current = free_row;
    }
    return previous[m];
}

const char *stn_suggest(const char *word, const char *const *candidates, int32_t count) {
    const char *best = NULL;
    size_t length = strlen(word);
    size_t limit = length < 3 ? 1 : 1 + length / 3; // as far off as a typing error goes
    for (int32_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, candidates[i]);
        if (distance <= limit) {
            limit = distance == 0 ? 0 : distance - 1;
            best = candidates[i];
            if (distance == 0) {
                break;
            }
        }
    }
    return best;
}
