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

static stn_status read_all(robot_reader *reader, int file, robot_source *source, stn_error *err) {
    const robot_place place = {source->path, 0};
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return stn_fail(err, STN_ERR_FILE, "%s: not a file", source->path);
    }
    if (about.st_size > LARGEST_FILE) {
        robot_say(reader, STN_SEVERITY_ERROR, "size", place, "the file has %lld bytes, the limit is %d",
                  (long long)about.st_size, (int)LARGEST_FILE);
        return STN_OK;
    }
    size_t size = (size_t)about.st_size;
    reader->byte_count += about.st_size;
    if (reader->byte_count > LARGEST_SUM) {
        robot_say(reader, STN_SEVERITY_ERROR, "size", place,
                  "the files of one robot may have %d bytes together, this one exceeds that", (int)LARGEST_SUM);
        return STN_OK;
    }
    char *memory = ROBOT_NEW(reader, size + 1, char);
    if (memory == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", source->path);
    }
    ssize_t got = 1;
    while (source->length < size && (got = read(file, memory + source->length, size - source->length)) > 0) {
        source->length += (size_t)got;
    }
    if (got < 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: %s", source->path, strerror(errno));
    }
    source->text = memory;
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

stn_status robot_read_source(robot_reader *reader, robot_source *source, stn_error *err) {
    const char *path = source->path;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: %s", path, strerror(errno));
    }
    stn_status status = read_all(reader, file, source, err);
    close(file);
    char *text = source->text;
    source->text = NULL; // until it is found good
    if (text == NULL) {
        return status;
    }
    if (memchr(text, '\0', source->length) != NULL) {
        robot_say(reader, STN_SEVERITY_ERROR, "encoding", (robot_place){path, 0},
                  "the file is binary or UTF-16: %s is UTF-8 text", reader->format->name);
        return STN_OK;
    }
    int32_t line = 1; // of a reference to character 0, which would end a text in its middle
    for (const char *p = text; *p != '\0'; p++) {
        line += *p == '\n';
        const char *digits = p[0] == '&' && p[1] == '#' ? p + (p[2] == 'x' ? 3 : 2) : "";
        size_t zeros = strspn(digits, "0");
        if (zeros > 0 && digits[zeros] == ';') {
            robot_say(reader, STN_SEVERITY_ERROR, "encoding", (robot_place){path, line},
                      "&#0; is no character of XML: remove it");
            return STN_OK;
        }
    }
    if (!robot_has_few_marks(text, source->length, &reader->mark_count, &line)) {
        robot_say(reader, STN_SEVERITY_ERROR, "size", (robot_place){path, line},
                  "too much for one robot: the limits are %d elements and attributes, and %d attributes of one element",
                  (int)MOST_MARKS, (int)MOST_ATTRIBUTES);
        return STN_OK;
    }
    blank_late_declaration(reader, path, text);
    source->text = text;
    return STN_OK;
}
