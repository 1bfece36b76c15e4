// SPDX-License-Identifier: Apache-2.0
// Bytes as text, with padding (RFC 4648, section 4).
#include <stiction/base.h>

void stn_base64_encode(const unsigned char *from, size_t count, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t bits = (uint32_t)from[i] << 16;
        bits |= left > 1 ? (uint32_t)from[i + 1] << 8 : 0;
        bits |= left > 2 ? from[i + 2] : 0;
        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[bits & 63] : '=';
    }
}

static int32_t value_of(char c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool stn_base64_decode(const char *from, size_t length, unsigned char *to, size_t *size) {
    size_t padding = length > 1 && from[length - 1] == '=' ? from[length - 2] == '=' ? 2 : 1 : 0;
    size_t digits = length - padding;
    *size = 0;
    if (length % 4 != 0 || length == 0) {
        return false;
    }
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        int32_t value = i < digits ? value_of(from[i]) : 0;
        if (value < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 == 3) {
            size_t bytes = i + 1 == length ? 3 - padding : 3;
            for (size_t k = 0; k < bytes; k++) {
                to[(*size)++] = (unsigned char)(bits >> (16 - 8 * k));
            }
        }
    }
    return true;
}
