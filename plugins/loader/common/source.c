// SPDX-License-Identifier: Apache-2.0
// The file as text, refused before the XML library sees it when its tree would take much memory or time: the library
// needs about 100 bytes an element or attribute, and compares each attribute of an element with all others.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "robot.h"

enum { LARGEST_FILE = 8 << 20, LARGEST_SUM = 32 << 20, MOST_MARKS = 400000, MOST_ATTRIBUTES = 1000 };

static stn_status read_all(robot_reader *reader, const char *path, int file, char **text, size_t *length,
                           stn_error *err) {
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return stn_fail(err, STN_ERR_FILE, "%s: not a file", path);
    }
    if (about.st_size > LARGEST_FILE) {
        robot_say(reader, STN_SEVERITY_ERROR, "size", (robot_place){path, 0},
                  "the file has %lld bytes, the limit is %d", (long long)about.st_size, (int)LARGEST_FILE);
        return STN_OK;
    }
    size_t size = (size_t)about.st_size;
    reader->byte_count += about.st_size;
    if (reader->byte_count > LARGEST_SUM) {
        robot_say(reader, STN_SEVERITY_ERROR, "size", (robot_place){path, 0},
                  "the files of one robot may have %d bytes together, this one exceeds that", (int)LARGEST_SUM);
        return STN_OK;
    }
    char *memory = ROBOT_NEW(reader, size + 1, char);
    if (memory == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    *length = 0;
    ssize_t got = 1;
    while (*length < size && (got = read(file, memory + *length, size - *length)) > 0) {
        *length += (size_t)got;
    }
    if (got < 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: %s", path, strerror(errno));
    }
    *text = memory;
    return STN_OK;
}

/// Counted without understanding them; comments may count too.
bool robot_has_few_marks(const char *text, size_t length, int32_t *marks, int32_t *line) {
    int32_t at_line = 1, attributes = 0;
    for (size_t i = 0; i < length; i++) {
        at_line += text[i] == '\n';
        if (text[i] == '<') {
            (*marks)++;
            attributes = 0;
        } else if (text[i] == '=' && strchr("\"' \t\r\n", text[i + 1]) != NULL) {
            (*marks)++;
            attributes++;
        }
        if (*marks > MOST_MARKS || attributes > MOST_ATTRIBUTES) {
            if (line != NULL) {
                *line = at_line;
            }
            return false;
        }
    }
    return true;
}

bool robot_is_readable(const char *text, size_t length) {
    int32_t marks = 0;
    return length <= LARGEST_FILE && robot_has_few_marks(text, length, &marks, NULL);
}

/// The line of a reference to character 0, which would end a text in its middle; 0: there is none.
static int32_t find_zero(const char *text) {
    int32_t line = 1;
    for (const char *p = text; *p != '\0'; p++) {
        line += *p == '\n';
        if (p[0] != '&' || p[1] != '#') {
            continue;
        }
        const char *digits = p + (p[2] == 'x' ? 3 : 2);
        size_t zeros = strspn(digits, "0");
        if (zeros > 0 && digits[zeros] == ';') {
            return line;
        }
    }
    return 0;
}

/// Some published files begin with a comment and then have <?xml ...?>, which XML forbids but which harms nobody: it is
/// blanked.
static void blank_late_declaration(robot_reader *reader, const char *path, char *text) {
    char *p = text;
    int32_t line = 1, comments = 0;
    for (;;) {
        for (; *p != '\0' && strchr(" \t\r\n", *p) != NULL; p++) {
            line += *p == '\n';
        }
        char *end = strncmp(p, "<!--", 4) == 0 ? strstr(p + 4, "-->") : NULL;
        if (end == NULL) {
            break;
        }
        for (; p < end + 3; p++) {
            line += *p == '\n';
        }
        comments++;
    }
    char *end = comments > 0 && strncmp(p, "<?xml ", 6) == 0 ? strstr(p, "?>") : NULL;
    if (end == NULL) {
        return;
    }
    robot_say(reader, STN_SEVERITY_WARNING, "declaration", (robot_place){path, line},
              "<?xml ...?> after a comment: make it the first line");
    for (; p < end + 2; p++) {
        *p = *p == '\n' ? '\n' : ' ';
    }
}

char *robot_read_source(robot_reader *reader, const char *path, size_t *length, stn_status *status, stn_error *err) {
    char *text = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        *status = stn_fail(err, STN_ERR_FILE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    *status = read_all(reader, path, file, &text, length, err);
    close(file);
    if (text == NULL) {
        return NULL;
    }
    if (memchr(text, '\0', *length) != NULL) {
        robot_say(reader, STN_SEVERITY_ERROR, "encoding", (robot_place){path, 0},
                  "the file is binary or UTF-16: %s is UTF-8 text", reader->format->name);
        return NULL;
    }
    int32_t line = find_zero(text);
    if (line > 0) {
        robot_say(reader, STN_SEVERITY_ERROR, "encoding", (robot_place){path, line},
                  "&#0; is no character of XML: remove it");
        return NULL;
    }
    if (!robot_has_few_marks(text, *length, &reader->mark_count, &line)) {
        robot_say(reader, STN_SEVERITY_ERROR, "size", (robot_place){path, line},
                  "too much for one robot: the limits are %d elements and attributes, and %d attributes of one element",
                  (int)MOST_MARKS, (int)MOST_ATTRIBUTES);
        return NULL;
    }
    blank_late_declaration(reader, path, text);
    return text;
}
