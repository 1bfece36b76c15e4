// SPDX-License-Identifier: Apache-2.0
#include "base/shortest_real.h"

#include <charconv>
#include <cmath>

/// Digits of a text "-d.ddde+XX".
static int count_digits(const char *text, int length) {
    int count = 0;
    for (int i = 0; i < length && text[i] != 'e'; i++) {
        count += text[i] >= '0' && text[i] <= '9' ? 1 : 0;
    }
    return count;
}

int stn_shortest_real(double value, char text[STN_SHORTEST_REAL]) {
    const double size = std::fabs(value);
    bool fixed = size == 0.0 || (size >= 1e-4 && size < 1e15);
    if (size >= 1e15 && size < 1e17) { // a whole number of 16 or 17 digits, or one that is written with fewer
        const char *end = std::to_chars(text, text + STN_SHORTEST_REAL, value, std::chars_format::scientific).ptr;
        fixed = count_digits(text, static_cast<int>(end - text)) >= (size < 1e16 ? 16 : 17);
    }
    const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
    return static_cast<int>(std::to_chars(text, text + STN_SHORTEST_REAL, value, format).ptr - text);
}

int stn_rounded_real(double value, int digits, char text[STN_SHORTEST_REAL]) {
    return static_cast<int>(
        std::to_chars(text, text + STN_SHORTEST_REAL, value, std::chars_format::general, digits).ptr - text);
}
