// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_BASE_H
#define STICTION_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define STN_BEGIN_C extern "C" { // declarations of C, which C++ may see too
#define STN_END_C   }            // end of them
#else
#define STN_BEGIN_C // nothing in C
#define STN_END_C   // nothing in C
#endif

STN_BEGIN_C

/// Version of the library; the plugin ABI has its own numbers in plugin.h.
#define STN_VERSION "0.1.0"

/// Visible outside of the library or plugin, whose other symbols are hidden.
#define STN_API __attribute__((visibility("default")))
/// Lets the compiler check a format: number of the format among the parameters, of the first value.
#define STN_PRINTF(text, first) __attribute__((format(printf, text, first)))
/// Elements of an array whose size the compiler knows; not of a pointer.
#define STN_COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/// Every status: name, value, text. Negative: failed, data outputs untouched and object outputs NULL.
/// Zero: done. Positive: usable, but qualified.
#define STN_STATUSES(X)                                          \
    X(STN_OK, 0, "ok")                                           \
    X(STN_NOT_CONVERGED, 1, "not converged")                     \
    X(STN_STALLED, 2, "stalled at round-off")                    \
    X(STN_ERR_ARGUMENT, -1, "invalid argument")                  \
    X(STN_ERR_MEMORY, -2, "out of memory")                       \
    X(STN_ERR_FILE, -3, "file cannot be read or written")        \
    X(STN_ERR_PARSE, -4, "malformed input")                      \
    X(STN_ERR_PARAMETER, -5, "bad parameter")                    \
    X(STN_ERR_PLUGIN, -6, "plugin refused")                      \
    X(STN_ERR_UNSUPPORTED, -7, "not supported")                  \
    X(STN_ERR_NUMERIC, -8, "not a number, or a singular matrix") \
    X(STN_ERR_DIVERGED, -9, "simulation diverged")               \
    X(STN_ERR_SEQUENCE, -10, "called in the wrong order")        \
    X(STN_ERR_INTERRUPTED, -11, "interrupted")

/// What a call came to. The list above gives each its text.
typedef enum stn_status {
#define STN_STATUS_ENUM(name, value, text) name = (value),
    STN_STATUSES(STN_STATUS_ENUM)
#undef STN_STATUS_ENUM
} stn_status;

/// A fixed text for a status ("not converged"); never NULL. Thread: [any].
STN_API const char *stn_status_text(stn_status status);

/// What went wrong, in one line that names the object, the value, the bound and the unit. Caller-owned.
/// Functions that return stn_status take one last; NULL is accepted when the text is not wanted.
typedef struct stn_error {
    stn_status status; // as the function returned it
    char text[1024];   // one line without line end, zero-terminated, cut where it is longer
} stn_error;

/// Fills `err` (NULL accepted) and returns `status`, so that failing is one statement:
///     return stn_fail(err, STN_ERR_ARGUMENT, "mass = %g kg must be > 0", mass);
STN_API stn_status stn_fail(stn_error *err, stn_status status, const char *format, ...) STN_PRINTF(3, 4);

/// Puts "prefix: " in front of the text of `err` ("arm.urdf:41", "solver sap, t = 0.3 s"). Returns
/// err->status; NULL is accepted and gives STN_OK.
STN_API stn_status stn_error_prefix(stn_error *err, const char *format, ...) STN_PRINTF(2, 3);

/// Strict, locale-free number: the whole of `text` (surrounding white space allowed) must be one finite
/// decimal number. Returns false for trailing letters, NaN, infinity, overflow and the empty text.
STN_API bool stn_parse_real(const char *text, double *value);

/// Like stn_parse_real for a list separated by white space; returns how many numbers were read, or -1
/// when something is no number or there are more than `capacity`.
STN_API int32_t stn_parse_reals(const char *text, double *values, int32_t capacity);

/// The finite decimal number that `text` (of `size` bytes, of any content) begins with, locale-free and rightly
/// rounded. Returns the length read, after which anything may follow; 0, and `value` as it was, when there is none.
STN_API size_t stn_scan_real(const char *text, size_t size, double *value);

/// Shortest decimal text (15 to 17 digits at most) that stn_parse_real reads back to the same number, with a point
/// whatever the locale; "nan", "inf" and "-inf" for those. Returns the length written; 0 when `size` is too small.
STN_API size_t stn_print_real(char *text, size_t size, double value);

/// Likewise with at most 1 <= digits <= 17 significant digits, as printf's %.*g has them.
STN_API size_t stn_print_rounded(char *text, size_t size, double value, int32_t digits);

/// Adds formatted text behind what `text` (of `size` bytes, terminated) holds; cut where it is full.
STN_API void stn_text_append(char *text, size_t size, const char *format, ...) STN_PRINTF(3, 4);

/// [us] of a clock that only goes forward, from any start. Thread: [any].
STN_API double stn_clock_us(void);

/// Bytes of the UTF-8 character at the start of a text that ends with a zero; 0 when it is none (overlong forms,
/// surrogates and numbers beyond U+10FFFF are none). The end counts as a character of 1 byte.
STN_API size_t stn_utf8_length(const char *text);

/// Digits of base64 for `count` bytes, without a final NUL.
#define STN_BASE64_SIZE(count) (4 * (((size_t)(count) + 2) / 3))
/// Bytes as text: base64 with padding (RFC 4648, section 4). `to` holds STN_BASE64_SIZE(count) digits; no NUL follows.
STN_API void stn_base64_encode(const unsigned char *from, size_t count, char *to);
/// The way back. `to` holds at least 3/4 `length` bytes; `*size` of them are written. False for what is not base64.
STN_API bool stn_base64_decode(const char *from, size_t length, unsigned char *to, size_t *size);

/// FNV-1a over bytes, seeded; used for contact ids and state hashes.
STN_API uint64_t stn_hash(uint64_t seed, const void *bytes, size_t count);

/// The candidate nearest to `word` by edit distance, or NULL when none is near enough to be a typing
/// error. `candidates` holds `count` texts, borrowed.
STN_API const char *stn_suggest(const char *word, const char *const *candidates, int32_t count);

STN_END_C
#endif
