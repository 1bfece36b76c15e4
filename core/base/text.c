// SPDX-License-Identifier: Apache-2.0
// Numbers from and to text without locale, hashing, and "did you mean".
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/base.h>

#include "base/shortest_real.h"

enum { LONGEST_NUMBER = 400, LONGEST_WORD = 64 };

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// A decimal number as it is written: (-1)^negative * digits * 10^exponent.
typedef struct decimal {
    uint64_t digits;
    int64_t exponent;
    size_t length; // of the text; 0 when there is no number
    bool negative;
    bool whole; // `digits` holds all that were written
} decimal;

/// Takes digits from `p` on. Those that `digits` has no room for only count.
static const char *take_digits(decimal *d, const char *p, const char *end, int32_t *room, int64_t scale) {
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (*room > 0) {
            d->digits = 10 * d->digits + digit;
            d->exponent += scale;
            *room -= d->digits > 0; // leading zeros take none
        } else {
            d->whole = false;
        }
    }
    return p;
}

/// Sign, digits, point, exponent, as far as they go. Checked here because strtod also takes hexadecimal, "inf", "nan"
/// and the locale's decimal comma.
static decimal scan_decimal(const char *text, const char *end) {
    decimal d = {.whole = true};
    const char *p = text;
    if (p < end && (*p == '+' || *p == '-')) {
        d.negative = *p++ == '-';
    }
    int32_t room = 19; // 10^19 < 2^64
    const char *first = p;
    p = take_digits(&d, p, end, &room, 0);
    size_t digits = (size_t)(p - first);
    if (p < end && *p == '.') {
        first = ++p;
        p = take_digits(&d, p, end, &room, -1);
        digits += (size_t)(p - first);
    }
    if (digits == 0) {
        return d;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool down = p + 1 < end && p[1] == '-';
        p += down || (p + 1 < end && p[1] == '+') ? 2 : 1;
        int64_t exponent = 0;
        first = p;
        for (; p < end && *p >= '0' && *p <= '9'; p++) {
            exponent = exponent < 100000 ? 10 * exponent + (*p - '0') : exponent;
        }
        if (p == first) {
            return d;
        }
        d.exponent += down ? -exponent : exponent;
    }
    d.length = (size_t)(p - text);
    return d;
}

/// Up to 2^53 and 10^22 both factors are doubles without error, so that one operation rounds once and rightly
/// (Clinger 1990). This is all but every number that programs write with up to 15 digits.
static bool convert_exactly(const decimal *d, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!d->whole || d->digits > (uint64_t)1 << 53 || d->exponent < -22 || d->exponent > 22) {
        return false;
    }
    double x = (double)d->digits;
    x = d->exponent < 0 ? x / powers[-d->exponent] : x * powers[d->exponent];
    *value = d->negative ? -x : x;
    return true;
}

/// strtod reads the point that the process's locale prescribes, so it is given that one.
static bool convert(const char *text, size_t length, double *value) {
    char copy[LONGEST_NUMBER];
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

size_t stn_scan_real(const char *text, size_t size, double *value) {
    decimal d = scan_decimal(text, text + size);
    if (d.length == 0 || d.length >= LONGEST_NUMBER) {
        return 0;
    }
    return convert_exactly(&d, value) || convert(text, d.length, value) ? d.length : 0;
}

int32_t stn_parse_reals(const char *text, double *values, int32_t capacity) {
    int32_t count = 0;
    const char *p = text, *end = text + strlen(text);
    for (;;) {
        while (is_space(*p)) {
            p++;
        }
        if (p == end) {
            return count;
        }
        double value = 0.0;
        size_t length = stn_scan_real(p, (size_t)(end - p), &value);
        if (length == 0 || !(p + length == end || is_space(p[length])) || count == capacity) {
            return -1;
        }
        values[count++] = value;
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

/// `digits` 0: as few as read back to the same number.
static size_t print_number(char *text, size_t size, double value, int digits) {
    char own[STN_SHORTEST_REAL], *out = size >= sizeof own ? text : own;
    int length = 0;
    if (!isfinite(value)) {
        length = snprintf(out, sizeof own, "%s", isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf");
    } else {
        length = digits == 0 ? stn_shortest_real(value, out) : stn_rounded_real(value, digits, out);
    }
    if ((size_t)length >= size) {
        return 0;
    }
    if (out == own) {
        memcpy(text, own, (size_t)length);
    }
    text[length] = '\0';
    return (size_t)length;
}

size_t stn_print_real(char *text, size_t size, double value) {
    return print_number(text, size, value, 0);
}

size_t stn_print_rounded(char *text, size_t size, double value, int32_t digits) {
    return print_number(text, size, value, digits < 1 ? 1 : digits > 17 ? 17 : digits);
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

size_t stn_utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t length;
    } forms[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (int32_t i = 0; i < STN_COUNT(forms); i++) {
        if (s[0] < forms[i].first || s[0] > forms[i].last) {
            continue;
        }
        bool good = forms[i].length < 2 || (s[1] >= forms[i].second_first && s[1] <= forms[i].second_last);
        for (size_t k = 2; good && k < forms[i].length; k++) {
            good = (s[k] & 0xc0) == 0x80;
        }
        return good ? forms[i].length : 0;
    }
    return 0;
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
