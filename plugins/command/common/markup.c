// SPDX-License-Identifier: Apache-2.0
#include "markup.h"

#include <stdint.h>

/// Length of the UTF-8 character at `text` that XML may hold, 0 when there is none.
static size_t character_length(const unsigned char *text, size_t left) {
    unsigned char c = text[0];
    if (c < 0x80) {
        return c >= 0x20 || c == '\n' || c == '\t' || c == '\r' ? 1 : 0;
    }
    size_t length = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    static const unsigned char first_bits[] = {0, 0, 0x1f, 0x0f, 0x07};
    uint32_t code = c & first_bits[length];
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool legal = code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && code != 0xfffe &&
                 code != 0xffff;
    return legal ? length : 0;
}

void cli_put_markup(FILE *to, const char *text, size_t size, bool attribute) {
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < size;) {
        size_t length = character_length(bytes + i, size - i);
        if (length == 0) {
            fputs("\xef\xbf\xbd", to);
            i++;
            continue;
        }
        switch (bytes[i]) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\r':
            fputs("&#13;", to);
            break;
        case '\n':
            fputs(attribute ? "&#10;" : "\n", to);
            break;
        default:
            fwrite(bytes + i, 1, length, to);
        }
        i += length;
    }
}
