// SPDX-License-Identifier: Apache-2.0
// stiction view: pages of several recordings, and files that are none.
#include "stn_command.h"
#include "stn_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#define ERRORS "2>&1 >/dev/null"

/// Without a desktop to open pages on.
static int enter(void **state) {
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    return enter_folder(state) != 0 || setenv("TMPDIR", *state, 1) != 0;
}

// ---------------------------------------------------------------------------------------------------- files by hand

/// A block's line, appended to `page`.
static void add_block(char *page, const char *kind, const void *payload, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uLongf size = compressBound(count);
    uint8_t *packed = calloc(size + 3, 1);
    assert_non_null(packed);
    assert_int_equal(compress(packed, &size, payload, count), Z_OK);
    size_t length = 4 * ((size + 2) / 3);
    page += strlen(page);
    page +=
        sprintf(page, "<script type=\"application/x-stiction\" data-kind=\"%s\" data-length=\"%zu\">", kind, length);
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = (uint32_t)packed[i] << 16 | (uint32_t)packed[i + 1] << 8 | packed[i + 2];
        for (size_t k = 0; k < 4; k++) {
            *page++ = i + k > size ? '=' : digits[bits >> (18 - 6 * k) & 63];
        }
    }
    strcpy(page, "</script>\n");
    free(packed);
}

static void add_scene(char *page, const char *format, const char *title) {
    char json[512];
    snprintf(json, sizeof json, "{\"format\":\"%s\",\"title\":\"%s\",\"dt\":0.1}", format, title);
    add_block(page, "scene", json, strlen(json));
}

#define HEAD   "<!doctype html>\n<title>v</title>\n"
#define FORMAT "stiction-recording-1"

static const char *page_of(const char *title) {
    static char page[1 << 14];
    strcpy(page, HEAD);
    add_scene(page, FORMAT, title);
    add_block(page, "frames", "any payload", 11);
    add_block(page, "later", "a kind that is not known yet", 28);
    return page;
}

static char *read_text(const char *name) {
    static char text[1 << 16];
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/// The title in the n-th scene of a page.
static void expect_title(const char *page, int32_t n, const char *title) {
    static const char scene[] = "data-kind=\"scene\" data-length=\"";
    for (int32_t i = 0; i <= n; i++) {
        page = strstr(page, scene);
        assert_non_null(page);
        page += strlen(scene);
    }
    uint8_t packed[1 << 12], json[1 << 12] = {0};
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = 0;
    uint32_t bits = 0, k = 0;
    for (page = strchr(page, '>') + 1; *page != '<'; page++, k++) {
        const char *digit = strchr(digits, *page);
        bits = bits << 6 | (digit != NULL ? (uint32_t)(digit - digits) : 0);
        for (int32_t b = 2; b >= 0 && k % 4 == 3; b--) {
            packed[count++] = (uint8_t)(bits >> (8 * b));
        }
    }
    uLongf size = sizeof json - 1;
    z_stream stream = {.next_in = packed, .avail_in = (uInt)count, .next_out = json, .avail_out = (uInt)size};
    assert_int_equal(inflateInit(&stream), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END); // what pads the base64 may follow
    inflateEnd(&stream);
    char member[512];
    snprintf(member, sizeof member, "\"title\":\"%s\"", title);
    if (strstr((char *)json, member) == NULL) {
        fail_msg("no %s in %s", member, (char *)json);
    }
}

// ----------------------------------------------------------------------------------------------------------- views

static void test_one_recording_is_opened_where_it_lies(void **state) {
    char expected[256];
    write_file("a b\xc3\xa4.html", page_of("one"));
    snprintf(expected, sizeof expected, "file://%s/a%%20b%%C3%%A4.html\n", (char *)*state);
    stn_expect("view 'a b\xc3\xa4.html' 2>&1", 0, expected);
}

static void test_several_become_one_page_with_titles_that_differ(void **state) {
    (void)state;
    mkdir("other", 0700);
    write_file("a.html", page_of("one"));
    write_file("b.html", page_of("two \\\"quoted\\\" </script>"));
    write_file("other/a.html", page_of("one"));
    stn_expect_part("view a.html b.html other/a.html a.html -o all.html 2>&1", 0, "/all.html\n");
    const char *page = read_text("all.html");
    assert_memory_equal(page, HEAD "<script", strlen(HEAD "<script"));
    expect_title(page, 0, "one");
    expect_title(page, 1, "two \\\"quoted\\\" </script>");
    expect_title(page, 2, "one (other/a.html)");
    expect_title(page, 3, "one (a.html)");
    int32_t kinds[2] = {0};
    for (const char *at = page; (at = strstr(at, "data-kind=\"")) != NULL; at++) {
        kinds[0] += strncmp(at, "data-kind=\"frames\"", 18) == 0;
        kinds[1] += strncmp(at, "data-kind=\"later\"", 17) == 0;
    }
    assert_int_equal(kinds[0], 4);
    assert_int_equal(kinds[1], 4);
    stn_expect_part("view all.html a.html -o more.html 2>&1", 0,
                    "/more.html\n"); // a page of several is one to go on with
    expect_title(read_text("more.html"), 4, "one (a.html, 2)");
}

/// What a stranger's block holds is copied into the page of several, where a browser would run it.
static void test_text_that_ends_a_block_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"</script><script>alert(1)</script><script>", "<img src=x onerror=alert(1)>",
                                        "AAAA AAAA", "A=AA", "\"&amp;"};
    write_file("good.html", page_of("one"));
    for (int32_t i = 0; i < STN_COUNT(texts); i++) {
        char page[4096];
        snprintf(page, sizeof page,
                 "%s<script type=\"application/x-stiction\" data-kind=\"frames\" data-length=\"%zu\">%s</script>\n",
                 page_of("two"), strlen(texts[i]), texts[i]);
        write_file("evil.html", page);
        stn_expect_part("view good.html evil.html -o m.html 2>&1", 2,
                        "the block 'frames' is no base64; the file is damaged");
        stn_expect_part("view evil.html 2>&1", 2, "the block 'frames' is no base64");
        assert_int_equal(access("m.html", F_OK), -1);
    }
}

static void test_without_a_name_the_page_is_named_by_its_content(void **state) {
    (void)state;
    write_file("a.html", page_of("one"));
    write_file("b.html", page_of("two"));
    char first[256];
    snprintf(first, sizeof first, "%.200s", stn_run_to("view a.html b.html 2>&1", 0)->out);
    stn_expect("view a.html b.html 2>&1", 0, first);
    assert_string_not_equal(stn_run_to("view b.html a.html 2>&1", 0)->out, first);
    assert_non_null(strstr(first, "/stiction-"));
}

static void test_a_recording_that_was_cut_off_is_shown_up_to_there(void **state) {
    (void)state;
    char page[1 << 14];
    snprintf(page, sizeof page, "%s", page_of("one"));
    page[strlen(page) - 40] = '\0';
    write_file("cut.html", page);
    stn_expect_part("view cut.html " ERRORS, 0, "cut.html ends in the middle of a block");
    write_file("b.html", page_of("two"));
    stn_expect_part("view b.html cut.html -o all.html " ERRORS, 0, "cut.html ends in the middle of a block");
    assert_null(strstr(read_text("all.html") + 200, "data-kind=\"later\" data-length=\"48\">\n"));
}

// --------------------------------------------------------------------------------------------------- what is refused

static void expect_refused(const char *name, const char *why) {
    char words[256];
    snprintf(words, sizeof words, "view %s " ERRORS, name);
    const stn_run *run = stn_run_to(words, 2);
    const char *end = strchr(run->out, '\n');
    if (strstr(run->out, why) == NULL || end == NULL || end[1] != '\0') {
        fail_msg("\"%s\" should be one line with \"%s\"", run->out, why);
    }
    snprintf(words, sizeof words, "view good.html %s -o all.html " ERRORS,
             name); // nothing is left of a page that fails
    stn_run_to(words, 2);
    assert_int_not_equal(access("all.html", F_OK), 0);
    assert_int_equal(system("test -z \"$(ls | grep part)\""), 0);
}

static void expect_page_refused(const char *page, const char *why) {
    write_file("bad.html", page);
    expect_refused("bad.html", why);
}

static void test_what_is_no_recording_is_one_line(void **state) {
    (void)state;
    char page[1 << 14];
    write_file("good.html", page_of("good"));
    mkdir("folder.html", 0700);
    expect_refused("nowhere.html", "No such file");
    expect_refused("folder.html", "folder.html");
    expect_refused("/dev/zero", "no regular file");
    expect_page_refused("", "empty");
    expect_page_refused("{}", "is no recording (stiction run SCRIPT --record FILE makes one)");
    expect_page_refused(HEAD, "or its run ended before the first frame");
    strcpy(page, HEAD);
    add_block(page, "frames", "x", 1);
    expect_page_refused(page, "stands before the scene");
    strcpy(page, HEAD);
    add_scene(page, "stiction-recording-2", "t");
    expect_page_refused(page, "\"stiction-recording-2\", this version reads \"stiction-recording-1\"");
    strcpy(page, HEAD);
    add_scene(page, "something", "t");
    expect_page_refused(page, "is no scene");
    strcpy(page, HEAD);
    add_block(page, "scene", "[1, 2", 5);
    expect_page_refused(page, "is no scene");
    strcpy(page, page_of("t"));
    page[strlen(HEAD) + 90] = '\0';
    expect_page_refused(page, "cut off before its scene");
    strcpy(page, page_of("t"));
    page[strlen(HEAD) + 90] = '*';
    expect_page_refused(page, "is no base64");
    strcpy(page, page_of("t"));
    char *digit = strstr(page, "data-kind=\"scene\"") + 45;
    *digit = *digit == 'A' ? 'B' : 'A';
    expect_page_refused(page, "damaged");
    strcpy(page, HEAD "<script type=\"application/x-stiction\" data-kind=\"scene\" "
                      "data-length=\"99999999999999999999\">AA==</script>\n");
    expect_page_refused(page, "no whole block");
    strcpy(page, HEAD "<script type=\"application/x-stiction\" data-kind=\"a-kind-that-is-far-too-long\" "
                      "data-length=\"4\">AA==</script>\n");
    expect_page_refused(page, "no whole block");
}

/// 17 MiB of spaces are 17 KiB in the file.
static void test_a_scene_that_unpacks_to_too_much_is_refused(void **state) {
    (void)state;
    const size_t size = 17 << 20;
    char *spaces = malloc(size), *page = malloc(1 << 16);
    assert_true(spaces != NULL && page != NULL);
    memset(spaces, ' ', size);
    strcpy(page, HEAD);
    add_block(page, "scene", spaces, size);
    write_file("good.html", page_of("good"));
    expect_page_refused(page, "holds more than 16 MiB");
    free(page);
    free(spaces);
}

static void test_a_page_is_not_written_over_what_it_is_made_from(void **state) {
    (void)state;
    write_file("a.html", page_of("one"));
    stn_expect_part("view a.html -o ./a.html " ERRORS, 2, "are one file");
    stn_expect_part("view a.html a.html -o /dev/null " ERRORS, 2, "not a regular file");
    stn_expect_part("view a.html a.html -o nowhere/all.html " ERRORS, 2, "nowhere/all.html: cannot be written");
    stn_expect_part("view " ERRORS, 2, "stiction view");
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_one_recording_is_opened_where_it_lies),
        IN_FOLDER(test_several_become_one_page_with_titles_that_differ),
        IN_FOLDER(test_text_that_ends_a_block_is_refused),
        IN_FOLDER(test_without_a_name_the_page_is_named_by_its_content),
        IN_FOLDER(test_a_recording_that_was_cut_off_is_shown_up_to_there),
        IN_FOLDER(test_what_is_no_recording_is_one_line),
        IN_FOLDER(test_a_scene_that_unpacks_to_too_much_is_refused),
        IN_FOLDER(test_a_page_is_not_written_over_what_it_is_made_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
