// SPDX-License-Identifier: Apache-2.0
// stiction replay: recordings of scripts made again, changed, cut off and damaged.
#include "stn_command.h"
#include "stn_folder.h"

#include <zlib.h>

#include <cjson/cJSON.h>

#define ERRORS "2>&1 >/dev/null"

static const char moved[] =
    "local stn = require 'stiction'\n"
    "local w = stn.world { dt = 0.002 }\n"
    "w:ground { mu = 0.5 }\n"
    "local cube = w:box { name = 'cube', size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.06 } }\n"
    "local ball = w:sphere { name = 'ball', radius = 0.1, xyz = { 1, 0, 0.2 } }\n"
    "local n = 0\n"
    "for step in w:run { seconds = 0.4 } do\n"
    "  n = n + 1\n"
    "  cube:apply_force { force = { 3 + n, 0, 0 } }\n"
    "  w:plot('push', 3 + n)\n"
    "  if n == 60 then ball:set_velocity { linear = { 0, 0, 0.5 } } end\n"
    "end\n";

static int enter(void **state) {
    if (enter_folder(state) != 0) {
        return -1;
    }
    write_file("moved.lua", moved);
    return 0;
}

static void record(void) {
    stn_run_to("run moved.lua --record r.html 2>/dev/null", 0);
}

// --------------------------------------------------------------------------------------------- changing a recording

typedef struct text {
    char *data;
    size_t size;
} text;

static text read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    text t = {.size = (size_t)ftell(file)};
    rewind(file);
    t.data = malloc(t.size + 1);
    assert_int_equal(fread(t.data, 1, t.size, file), t.size);
    t.data[t.size] = '\0';
    fclose(file);
    return t;
}

static void write_text(const char *path, const char *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_true(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static size_t from_base64(const char *in, size_t size, unsigned char *out) {
    size_t count = 0;
    for (size_t i = 0; i < size; i += 4) {
        uint32_t four = 0;
        int32_t filled = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *digit = in[i + k] == '=' ? NULL : strchr(alphabet, in[i + k]);
            filled += digit != NULL;
            four = four << 6 | (digit != NULL ? (uint32_t)(digit - alphabet) : 0);
        }
        for (int32_t k = 0; k < filled - 1; k++) {
            out[count++] = (unsigned char)(four >> (16 - 8 * k));
        }
    }
    return count;
}

static size_t to_base64(const unsigned char *in, size_t size, char *out) {
    size_t count = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t three =
            (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0u);
        for (size_t k = 0; k < 4; k++) {
            out[count++] = k > left ? '=' : alphabet[three >> (18 - 6 * k) & 63];
        }
    }
    return count;
}

/// Replaces the number `was` by `is` in the first block of a kind that has it, and writes the page as `path`.
static void change(const char *kind, double was, double is, const char *path) {
    text page = read_text("r.html");
    char tag[64];
    snprintf(tag, sizeof tag, "data-kind=\"%s\" data-length=\"", kind);
    bool found = false;
    for (char *at = strstr(page.data, tag); at != NULL && !found; at = strstr(at + 1, tag)) {
        char *number = at + strlen(tag), *begin = NULL;
        size_t length = strtoul(number, &begin, 10);
        begin += 2; // ">
        static unsigned char packed[1 << 20], payload[1 << 20];
        uLongf size = sizeof payload;
        size_t packed_size = from_base64(begin, length, packed);
        assert_int_equal(uncompress(payload, &size, packed, packed_size), Z_OK);
        for (size_t i = 0; i + sizeof was <= size && !found; i++) {
            if (memcmp(payload + i, &was, sizeof was) == 0) {
                memcpy(payload + i, &is, sizeof is);
                found = true;
            }
        }
        if (found) {
            static char line[1 << 21];
            uLongf new_size = sizeof packed;
            assert_int_equal(compress(packed, &new_size, payload, size), Z_OK);
            size_t count = to_base64(packed, new_size, line);
            FILE *out = fopen(path, "wb");
            assert_non_null(out);
            fwrite(page.data, 1, (size_t)(number - page.data), out);
            fprintf(out, "%zu\">%.*s", count, (int)count, line);
            fwrite(begin + length, 1, page.size - (size_t)(begin + length - page.data), out);
            fclose(out);
        }
    }
    assert_true(found);
    free(page.data);
}

// ------------------------------------------------------------------------------------------------------------- tests

static void a_recorded_run_is_the_same_again(void **state) {
    (void)state;
    record();
    stn_expect_part("replay r.html --check " ERRORS, 0, "r.html: the same\n  200 steps, 0.4 s simulated");
    stn_expect_part("replay r.html --check --threads 2 --json 2>/dev/null", 0, "\"the same\"");
    write_file("one.lua", "require 'stiction'.world {}:step()\n");
    stn_expect_part("run one.lua --record one.html " ERRORS, 0, "1 step,");
    stn_expect_part("replay one.html " ERRORS, 0, "\n  1 step,");
    write_file("text.html", "no scene\n");
    stn_expect_part("replay text.html " ERRORS, 2,
                    "text.html: is no recording (stiction run SCRIPT --record FILE makes one)");
}

/// Bodies that are put elsewhere lose what held them, in the replay as in the run.
static void anchors_are_the_same_again(void **state) {
    (void)state;
    static const char script[] =
        "local stn = require 'stiction'\n"
        "local w = stn.world { dt = 0.001 }\n"
        "w:ground { rpy = { 0, 0.3, 0 } }\n"
        "local cube = w:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.052 }, rpy = { 0, 0.3, 0 } }\n"
        "for step in w:run { seconds = 0.3 } do\n"
        "  local pose = cube:pose()\n"
        "  pose.xyz[2] = pose.xyz[2] + 1e-3\n"
        "  if step.index == 100 then cube:set_pose(pose) end\n"
        "  if step.index == 200 then w:set_state(w:state()) end\n"
        "end\n";
    FILE *file = fopen("put.lua", "w");
    assert_non_null(file);
    assert_true(fputs(script, file) >= 0 && fclose(file) == 0);
    stn_run_to("run put.lua --stiction --record held.html 2>/dev/null", 0);
    stn_expect_part("replay held.html --check " ERRORS, 0, "held.html: the same\n");
}

/// Controllers whose references change with every step.
static void an_arm_sweeps_again_as_it_did(void **state) {
    (void)state;
    stn_run_to("run " STN_SOURCE_DIR "/scripts/arm_sweep.lua --seconds 0.5 --record arm.html 2>/dev/null", 0);
    const stn_run *run = stn_run_to("replay arm.html --check --json 2>/dev/null", 0);
    cJSON *json = cJSON_Parse(run->out);
    assert_string_equal(cJSON_GetObjectItem(json, "status")->valuestring, "the same");
    assert_true(cJSON_GetObjectItem(json, "steps")->valuedouble == 250.0);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "whole")));
    cJSON_Delete(json);
}

/// Functions at rates of their own that feed back what a noisy sensor reads, one of them taking over within a blend:
/// the replay has no Lua. With a blow the last step diverges, and its capsule makes it again.
static void controllers_in_lua_are_the_same_again(void **state) {
    (void)state;
    static const char script[] =
        "local stn = require 'stiction'\n"
        "local p = stn.params { blow = false }\n"
        "local w = stn.world { dt = 0.002 }\n"
        "local arm = w:load { '" STN_SOURCE_DIR "/models/iiwa14/iiwa14.urdf', fixed = true }\n"
        "local sensor = w:sensor { 'joint_torque', joint = arm:joints()[2], noise = { torque = { density = 0.1 } } }\n"
        "w:controller { 'lua', target = arm, rate = 130, update = function(view)\n"
        "  local u, read = {}, sensor:read()\n"
        "  for i, q in ipairs(view.position) do u[i] = -60 * q - 6 * view.velocity[i] + (read and read.torque / i or "
        "0) end\n"
        "  if p.blow and view.time > 0.205 then u[1] = 1e300 end\n"
        "  return { effort = u }\n"
        "end, effort_limits = false }\n"
        "local soft = w:controller { 'joint_impedance', target = arm, priority = 1, active = false,\n"
        "  update = function(view) return { position = { iiwa14_joint_4 = -view.time } } end }\n"
        "for step in w:run { seconds = 0.4 } do\n"
        "  if step.index == 100 then soft:activate { blend = 0.1 } end\n"
        "end\n";
    FILE *file = fopen("lua.lua", "w");
    assert_non_null(file);
    assert_true(fputs(script, file) >= 0 && fclose(file) == 0);
    stn_run_to("run lua.lua --record lua.html 2>/dev/null", 0);
    stn_expect_part("replay lua.html --check " ERRORS, 0, "lua.html: the same\n  200 steps");
    stn_expect_part("run lua.lua --set blow=true " ERRORS, 3, "step 104, t = 0.208 s: solver sap: iteration 0");
    stn_expect_part("run --from lua.capsule.json " ERRORS, 3, "step 104, t = 0.208 s: solver sap: iteration 0");
}

/// Height fields, meshes, hulls, mimic joints, keyframes, attached robots, resets and restored states.
static void scenarios_of_every_kind_are_the_same_again(void **state) {
    (void)state;
    static const char *const names[] = {"terrain",     "vessels",  "meshes", "robot_wsg50",
                                        "robot_panda", "two_arms", "state",  "sdformat"};
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        char words[512];
        snprintf(words, sizeof words, "run " STN_SOURCE_DIR "/tests/scenario/%s.lua --record s.html 2>/dev/null",
                 names[i]);
        static stn_run run;
        stn_run_command(&run, words); // whether its checks hold is another test's business
        stn_expect_part("replay s.html --check --json 2>/dev/null", 0, "\"the same\"");
    }
}

static void a_changed_input_is_found_at_its_step(void **state) {
    (void)state;
    record();
    change("steps", 3.0 + 41.0, 44.0000001, "changed.html"); // set after step 41
    stn_expect_part("replay changed.html --check " ERRORS, 1, "changed.html: differs\n  42 steps, 0.084 s simulated");
    stn_expect_part("replay changed.html --check " ERRORS, 1, "differs at step 42, t = 0.084 s: q and v of cube\n");
    stn_expect_part("replay changed.html --check " ERRORS, 1, "\n  kinetic energy ");
    stn_expect_part("replay changed.html --check " ERRORS, 1, " J: difference ");
    stn_expect_part("replay changed.html " ERRORS, 0, "differs at step 42, t = 0.084 s: q and v of cube\n"); // goes on
    const stn_run *run = stn_run_to("replay changed.html --check --json 2>/dev/null", 1);
    cJSON *json = cJSON_Parse(run->out), *difference = cJSON_GetObjectItem(json, "difference");
    assert_string_equal(cJSON_GetObjectItem(json, "status")->valuestring, "differs");
    assert_true(cJSON_GetObjectItem(difference, "step")->valuedouble == 42.0);
    assert_string_equal(cJSON_GetObjectItem(difference, "quantity")->valuestring, "q and v");
    assert_string_equal(cJSON_GetObjectItem(difference, "of")->valuestring, "cube");
    double recorded = cJSON_GetObjectItem(difference, "recorded")->valuedouble;
    double replayed = cJSON_GetObjectItem(difference, "replayed")->valuedouble;
    assert_near(replayed - recorded, 1e-7 * 0.002 * 1.5, 1e-10); // 1e-7 N for one step, at the cube's 1.5 m/s
    cJSON_Delete(json);
}

static void a_replay_that_diverges_says_so(void **state) {
    (void)state;
    record();
    change("steps", 3.0 + 41.0, 1e300, "wild.html");
    stn_expect_part("replay wild.html " ERRORS, 3, "step 41, t = 0.082 s: ");
    stn_expect_part("replay wild.html " ERRORS, 3, "wild.html: diverged\n  41 steps, 0.082 s simulated");
    change("steps", 3.0 + 41.0, NAN, "wild.html"); // no world would have taken it
    stn_expect_part("replay wild.html " ERRORS, 2,
                    "wild.html: inputs of step 42: damaged (impossible sizes or values)");
}

static void a_replay_may_be_recorded_anew(void **state) {
    (void)state;
    record();
    stn_run_to("replay r.html --record again.html --log log.csv 2>/dev/null", 0);
    stn_expect_part("replay again.html --check " ERRORS, 0, "again.html: the same\n  200 steps");
    text log = read_text("log.csv");
    int32_t rows = 0;
    for (const char *c = log.data; *c != '\0'; c++) {
        rows += *c == '\n' && c[1] >= '0' && c[1] <= '9';
    }
    assert_int_equal(rows, 201); // step 0 too
    free(log.data);
    stn_expect_part("replay r.html --record ./r.html " ERRORS, 2, "are one file; name another to write");
    stn_expect_part("replay r.html --check " ERRORS, 0, "the same"); // it is as it was
    stn_expect_part("replay r.html --record out.xyz " ERRORS, 2, "no recorder writes such files");
    stn_expect_part("replay r.html --record /no/such/out.html " ERRORS, 2, "/no/such/out.html");
}

static void a_recording_that_was_cut_off_is_replayed_to_its_end(void **state) {
    (void)state;
    record();
    text page = read_text("r.html");
    const char *run = strstr(page.data, "data-kind=\"run\""), *steps = strstr(page.data, "data-kind=\"steps\"");
    const char *end = strstr(page.data, "data-kind=\"end\"");
    assert_true(run != NULL && steps != NULL && end != NULL);
    write_text("cut.html", page.data, (size_t)(end - page.data));
    stn_expect_part("replay cut.html --check " ERRORS, 0,
                    "the recording was cut off; it was replayed up to step 200\n");
    write_text("cut.html", page.data, (size_t)(steps - page.data) + 40);
    stn_expect_part("replay cut.html --check " ERRORS, 0, "the recording was cut off; it was replayed up to step");
    write_text("cut.html", page.data, (size_t)(run - page.data) + 100);
    stn_expect("replay cut.html --check " ERRORS, 2,
               "stiction replay: cut.html: holds no run to replay: it was written without, or cut off before it\n");
    write_text("cut.html", page.data, 100);
    stn_run_to("replay cut.html " ERRORS, 2);
    free(page.data);
}

/// Without the lines of a kind of block.
static void drop(const char *kind, const char *path) {
    text page = read_text("r.html");
    char tag[64];
    snprintf(tag, sizeof tag, "<script type=\"application/x-stiction\" data-kind=\"%s\"", kind);
    char *line = strstr(page.data, tag), *next = NULL;
    assert_non_null(line);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fwrite(page.data, 1, (size_t)(line - page.data), out);
    for (; *line != '\0'; line = next) {
        next = strchr(line, '\n') + 1;
        if (strncmp(line, tag, strlen(tag)) != 0) {
            fwrite(line, 1, (size_t)(next - line), out);
        }
    }
    fclose(out);
    free(page.data);
}

static void a_page_that_lost_blocks_is_not_the_same(void **state) {
    (void)state;
    record();
    drop("steps", "lost.html");
    stn_expect("replay lost.html --check " ERRORS, 2,
               "stiction replay: lost.html: a run of 200 steps, of which 0 are in the file; it is damaged\n");
    drop("run", "lost.html");
    stn_expect("replay lost.html --check " ERRORS, 2,
               "stiction replay: lost.html: steps before the run that they belong to; the file is damaged\n");
    drop("frames", "lost.html"); // which no replay reads
    stn_expect_part("replay lost.html --check " ERRORS, 0, "lost.html: the same\n  200 steps");
}

static void of_several_recordings_the_first_is_replayed(void **state) {
    (void)state;
    record();
    stn_run_to("run moved.lua --seconds 0.1 --record other.html 2>/dev/null", 0);
    stn_run_to("view r.html other.html -o both.html >/dev/null 2>&1", 0);
    stn_expect_part("replay both.html --check " ERRORS, 0, "both.html: the same\n  200 steps");
    stn_expect_part("replay both.html --check " ERRORS, 0,
                    "  the page holds several recordings; the first was replayed\n");
}

static void what_cannot_be_replayed_is_one_line(void **state) {
    (void)state;
    record();
    change("run", 0.002, -0.002, "bad.html"); // its checksum is wrong then
    stn_expect("replay bad.html " ERRORS, 2,
               "stiction replay: bad.html: a recorded run: damaged or cut off (checksum differs)\n");
    stn_expect_part("replay r.html --solver no_such " ERRORS, 2, "no_such");
    stn_expect_part("replay r.html --threads -1 " ERRORS, 2, "--threads -1: must be from 1 to 1024");
    stn_expect_part("replay nothing.html " ERRORS, 2, "nothing.html");
    stn_expect_part("replay moved.lua " ERRORS, 2, "moved.lua");
    stn_expect("replay r.html --dt 0.001 " ERRORS, 2,
               "stiction replay: unknown option --dt; see stiction replay --help\n"); // which says whose dt is taken
    stn_expect_part("replay --help", 0, "with the recorded steps and parameters");
    stn_expect_part("replay --help", 0, "usage: stiction replay FILE [options]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recorded_run_is_the_same_again, enter, leave_folder),
        cmocka_unit_test_setup_teardown(anchors_are_the_same_again, enter, leave_folder),
        cmocka_unit_test_setup_teardown(an_arm_sweeps_again_as_it_did, enter, leave_folder),
        cmocka_unit_test_setup_teardown(controllers_in_lua_are_the_same_again, enter, leave_folder),
        cmocka_unit_test_setup_teardown(scenarios_of_every_kind_are_the_same_again, enter, leave_folder),
        cmocka_unit_test_setup_teardown(a_changed_input_is_found_at_its_step, enter, leave_folder),
        cmocka_unit_test_setup_teardown(a_replay_that_diverges_says_so, enter, leave_folder),
        cmocka_unit_test_setup_teardown(a_replay_may_be_recorded_anew, enter, leave_folder),
        cmocka_unit_test_setup_teardown(a_recording_that_was_cut_off_is_replayed_to_its_end, enter, leave_folder),
        cmocka_unit_test_setup_teardown(a_page_that_lost_blocks_is_not_the_same, enter, leave_folder),
        cmocka_unit_test_setup_teardown(of_several_recordings_the_first_is_replayed, enter, leave_folder),
        cmocka_unit_test_setup_teardown(what_cannot_be_replayed_is_one_line, enter, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
