// SPDX-License-Identifier: Apache-2.0
// Broken files in MuJoCo's XML: one finding each, with severity, code, line and element, and nothing left in the
// builder after an error.
#include "mjcf_fixture.h"

typedef struct broken {
    const char *text;
    stn_severity severity;
    const char *code;
    int32_t line;
    const char *element, *part;
} broken;

#define E           STN_SEVERITY_ERROR
#define W           STN_SEVERITY_WARNING
#define GEOM(more)  MUJOCO(WORLD("<body name='a'>" SOLID "\n<geom name='g' " more "/></body>"))
#define JOINT(more) MUJOCO(WORLD("<body name='a'>" SOLID "\n<joint name='j' " more "/></body>"))
#define BODY(more)  MUJOCO(WORLD("\n<body name='a' " more ">" SOLID "</body>"))
/// A file with an arm and one more section.
#define WITH(more)  MUJOCO(ARM("") more)
#define DRIVE(more) WITH("<actuator>" more "</actuator>")

static const broken files[] = {
    // translations of what the shared broken URDF files have
    {"<mujoco>\n<worldbody>\n<body name='a'>\n<geom size='1'/>", E, "xml", 3, "", "file ends"},
    {"", E, "xml", 1, "", "no element"},
    {"<mujoco>\n<worldbody><body name='a&#x00;b'/></worldbody></mujoco>", E, "encoding", 2, "", "no character"},
    {"<mujoco>\n<worldbody><body name=a/></worldbody></mujoco>", E, "xml", 2, "", "quotes"},
    {"<!DOCTYPE m [<!ENTITY a 'b'>]>\n<mujoco/>", E, "xml", 1, "", "never expanded"},
    {WITH("<actuator><motor/></actuator>"), W, "actuator", 5, "actuator", "drives no joint"},
    {JOINT("type='hunge'"), E, "word", 3, "joint j", "'hunge' must be one of: hinge slide ball free"},
    {DRIVE("<motor name='m' joint='nowhere'/>"), E, "unknown_joint", 5, "actuator m", "'nowhere'"},
    {"<mujoco><worldbody><body name='b'><joint name='shoulder'/><geom size='1'/></body></worldbody>\n"
     "<actuator><motor name='m' joint='sholder'/></actuator></mujoco>",
     E, "unknown_joint", 2, "actuator m", "there is no joint 'sholder': did you mean 'shoulder'?"},
    {WITH("<contact>\n<exclude body1='a' body2='nowhere'/></contact>"), E, "unknown_link", 6, "contact", "'nowhere'"},
    {MUJOCO(WORLD("<body name='a'>" SOLID "</body>\n<body name='a'>" SOLID "</body>")), E, "duplicate_link", 3,
     "body a", "same name"},
    {MUJOCO(WORLD("<body name='a'>" SOLID "<joint name='j'/>\n<body>" SOLID "<joint name='j'/></body></body>")), E,
     "duplicate_joint", 3, "joint j", "same name"},
    {MUJOCO(WORLD("<body name='a'>\n<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/></body>")), E, "range", 3,
     "body a", "mass = -1 kg"},
    {MUJOCO(WORLD("<body name='a'>\n<inertial pos='0 0 0' diaginertia='1 1 1'/></body>")), E, "missing", 3, "body a",
     "no mass"},
    {MUJOCO(WORLD("<body name='a'>\n<inertial pos='0 0 0' mass='1'/></body>")), E, "missing", 3, "body a",
     "no inertia"},
    {MUJOCO(WORLD("<body name='a'>\n<inertial pos='0 0 0' mass='1' diaginertia='1 1 -1'/></body>")), E, "inertia", 3,
     "body a", "negative principal moment"},
    {MUJOCO(WORLD("<body name='a'>\n<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/></body>")), W, "inertia", 3,
     "body a", "no rigid body"},
    {MUJOCO(WORLD("<body name='a'>\n<inertial mass='1' diaginertia='1 1 1' fullinertia='1 1 1 0 0 0'/></body>")), E,
     "conflict", 3, "body a", "keep one"},
    {MUJOCO(WORLD("<body name='a'>\n<inertial mass='1' fullinertia='1 1 1 0 0 0' quat='1 1 0 0'/></body>")), E,
     "conflict", 3, "body a", "how it is turned"},
    {BODY("pos='0 nan 0'"), E, "number", 3, "body a", "'0 nan 0'"},
    {BODY("pos='0 1m 0'"), E, "number", 3, "body a", "'0 1m 0'"},
    {BODY("pos='0 1'"), E, "number", 3, "body a", "three finite"},
    {BODY("quat='0 0 0 0'"), E, "axis", 3, "body a", "length 0"},
    {BODY("quat='1 0 0 0' euler='0 0 0'"), E, "conflict", 3, "body a", "twice"},
    {BODY("xyaxes='1 0 0 2 0 0'"), E, "axis", 3, "body a", "the y axis in xyaxes"},
    {BODY("zaxis='0 0 0'"), E, "axis", 3, "body a", "zaxis"},
    {BODY("childclass='none'"), E, "unknown_class", 3, "body a", "'none'"},
    {JOINT("axis='0 0 0'"), E, "axis", 3, "joint j", "length 0"},
    {JOINT("range='1 -1'"), E, "limit", 3, "joint j", "range of <joint> = 1 -1"},
    {JOINT("limited='true'"), E, "limit", 3, "joint j", "0 0"},
    {JOINT("actuatorfrcrange='5 2'"), E, "limit", 3, "joint j", "actuatorfrcrange of <joint> = 5 2"},
    {MUJOCO("<compiler autolimits='false'/><default><joint range='0 1'/></default>" WORLD(
         "<body>" SOLID "<joint/><joint/><joint/></body>")),
     W, "limit", 2, "joint body1_joint", "unlimited"},
    {JOINT("limited='maybe'"), E, "word", 3, "joint j", "'maybe'"},
    {JOINT("damping='-1'"), E, "range", 3, "joint j", "damping"},
    {JOINT("armature='-1'"), E, "range", 3, "joint j", "armature"},
    {JOINT("class='none'"), E, "unknown_class", 3, "joint j", "'none'"},
    {JOINT("type='free' class='none'"), E, "unknown_class", 3, "joint j", "'none'"},
    {JOINT("type='free' armature='1'"), W, "armature", 3, "joint j", "floating"},
    {JOINT("type='free'/><joint name='k'"), E, "joint_type", 3, "joint j", "only joint"},
    {MUJOCO(WORLD("<body name='a'>" SOLID "<body name='b'>" SOLID "\n<freejoint/></body></body>")), E, "joint_type", 3,
     "joint", "stands in <worldbody>"},
    {WITH("<equality>\n<joint joint1='j' joint2='j'/></equality>"), E, "mimic", 4, "joint j", "itself"},
    {WITH("<equality>\n<joint joint1='k' joint2='j'/></equality>"), E, "unknown_joint", 6, "equality", "'k'"},
    {MUJOCO(WORLD("\n<body name='a'>" SOLID "<body name='b'><joint/></body></body>")), W, "massless", 3, "link b",
     "singular"},
    {GEOM("type='ball' size='1'"), E, "word", 3, "geom g", "'ball' must be one of: plane"},
    {GEOM("type='box' size='1 1'"), E, "size_of_shape", 3, "geom g", "2 of the 3 numbers"},
    {GEOM("size='0'"), E, "size_of_shape", 3, "geom g",
     "size of <geom> = 0 m: a sphere of radius 0, a single point, cannot be loaded yet; give it a small radius"},
    {GEOM("type='box' size='1 0 1'"), E, "size_of_shape", 3, "geom g", "= 0 m must be > 0"},
    {GEOM("size='-1'"), E, "size_of_shape", 3, "geom g", "-1 m must be > 0"},
    {GEOM("size='1 2 3 4'"), E, "number", 3, "geom g", "1 to 3"},
    {MUJOCO(WORLD("<body name='a'>\n<geom name='g' size='1e150'/></body>")), E, "range", 3, "geom g", "weighs"},
    {GEOM("size='1' mass='-1'"), E, "range", 3, "geom g", "mass"},
    {GEOM("size='1' friction='-1'"), E, "range", 3, "geom g", "friction"},
    {GEOM("size='1' contype='1.5'"), E, "range", 3, "geom g", "whole number"},
    {GEOM("size='1' contype='5000000000'"), E, "range", 3, "geom g", "32 bits"},
    {GEOM("type='capsule' size='1' fromto='1 1 1 1 1 1'"), E, "size_of_shape", 3, "geom g", "the same"},
    {GEOM("type='mesh'"), E, "shape", 3, "geom g", "names none"},
    {GEOM("type='mesh' mesh='m'"), E, "unknown_mesh", 3, "geom g", "'m'"},
    {GEOM("type='hfield' hfield='h'"), W, "shape", 3, "geom g", "hfield"},
    {GEOM("size='1' condim='6'"), W, "friction", 3, "geom g", "rolling = 0.0001, torsional = 0.005"},
    {GEOM("size='1' material='m'"), W, "unknown_material", 3, "geom g", "'m'"},
    {GEOM("size='1' shellinertia='true'"), W, "skipped", 3, "geom g", "'shellinertia'"},
    {WITH("<asset>\n<mesh name='m'/></asset>"), E, "missing", 6, "mesh m", "neither file nor vertex"},
    {WITH("<asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0'/></asset>"), E, "number", 6, "mesh m", "three"},
    {WITH("<asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/></asset>"), E, "mesh", 6, "mesh m", "hull"},
    {WITH("<asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'/></asset>"), E, "mesh", 6, "mesh m",
     "4 is no number of a vertex"},
    {WITH("<asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' scale='1 0 1'/></asset>"), E, "size_of_shape", 6,
     "mesh m", "no factor"},
    {WITH("<asset><mesh file='m.stl'/>\n<mesh file='m.obj'/></asset>"), E, "duplicate_mesh", 6, "mesh m", "already"},
    {MUJOCO("<asset>\n<mesh name='m' file='none.stl'/></asset>" WORLD("<body name='a'>" SOLID
                                                                      "<geom name='g' type='mesh' mesh='m'/></body>")),
     E, "missing_mesh", 3, "geom g", "none.stl"},
    {MUJOCO("<asset>\n<mesh name='m' file='none.stl'/></asset>" WORLD(
         "<body name='a'>" SOLID "<geom name='g' type='mesh' mesh='m' contype='0' conaffinity='0'/></body>")),
     W, "missing_mesh", 3, "geom g", "none.stl"},
    {MUJOCO("<compiler meshdir='../../..'/><asset>\n<mesh name='m' file='none.stl'/></asset>" WORLD(
         "<body name='a'>" SOLID "<geom name='g' type='mesh' mesh='m'/></body>")),
     E, "path", 3, "geom g", "leaves"},
    {"<mujocoinclude>\n</mujocoinclude>", E, "root", 1, "mujoco", "load the file that includes"},
    {"<mujoco/>", E, "no_link", 1, "worldbody", "no <worldbody>"},
    {"<mujoco>\n<worldbody><light/></worldbody></mujoco>", E, "no_link", 2, "worldbody", "no body"},
    {MUJOCO(WORLD("<body name='a'>" SOLID "</body>\n<joint/>")), E, "world", 3, "worldbody", "does not move"},
    {MUJOCO(WORLD("\n<body name='world'>" SOLID "</body>")), E, "duplicate_link", 3, "body world", "the world itself"},
    {WITH("<include file='robot.xml'/>"), E, "include", 5, "include", "already"},
    {WITH("<include file='none.xml'/>"), E, "missing_file", 5, "include", "none.xml"},
    {WITH("<include/>"), E, "name", 5, "include", "no file"},
    {WITH("<include file='/etc/passwd'/>"), E, "path", 5, "include", "absolute"},
    {WITH("<compiler angle='grad'/>"), E, "word", 5, "compiler", "radian degree"},
    {WITH("<compiler coordinate='global'/>"), E, "compiler", 5, "compiler", "global"},
    {WITH("<compiler eulerseq='xya'/>"), E, "compiler", 5, "compiler", "'xya'"},
    {WITH("<default><default/></default>"), E, "name", 5, "default", "no class"},
    {WITH("<default><default class='c'/>\n<default class='c'/></default>"), E, "duplicate_class", 6, "default", "'c'"},
    {MUJOCO("<default><geom size='x'/></default>" WORLD("<body>" SOLID "<geom/><geom/></body>")), E, "number", 2,
     "geom", "'x'"},
    {MUJOCO("<compiler inertiafromgeom='false'/>" WORLD("\n<body name='a'><geom size='1'/></body>")), E, "missing", 3,
     "body a", "inertiafromgeom"},
    {WITH("<option viscosity='1'/>"), W, "option", 5, "option", "viscosity"},
    {WITH("<option><flag contact='disable'/></option>"), W, "option", 5, "option", "contact"},
    {WITH("<equality><tendon tendon1='t'/></equality>"), W, "skipped", 5, "mujoco", "<tendon>"},
    {WITH("<equality><connect body1='a'/></equality>"), E, "missing", 5, "equality", "anchor"},
    {WITH("<equality><connect body1='x' anchor='0 0 0'/></equality>"), E, "unknown_link", 5, "equality", "no body 'x'"},
    {WITH("<equality><weld body1='a' body2='x'/></equality>"), E, "unknown_link", 5, "equality", "no body 'x'"},
    {WITH("<equality><weld name='w' site1='s' site2='t'/></equality>"), E, "unknown_link", 5, "equality w",
     "no site 's'"},
    {WITH("<equality><weld body1='a' relpose='0 0 0 1 0 0'/></equality>"), E, "number", 5, "equality", "relpose"},
    {WITH("<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>"), W, "skipped", 5, "mujoco",
     "<tendon>"},
    {WITH("<contact><pair geom1='a' geom2='b'/></contact>"), W, "skipped", 5, "mujoco", "<pair>"},
    {WITH("<equality>\n<joint joint1='j' polycoef='0 1 2'/></equality>"), W, "equality", 6, "equality", "held"},
    {DRIVE("<muscle joint='j'/>"), W, "actuator", 5, "actuator", "<muscle>"},
    {DRIVE("<motor tendon='t'/>"), W, "actuator", 5, "actuator", "drives no joint"},
    {DRIVE("<general joint='j' biastype='affine' biasprm='1 2 3'/>"), W, "actuator", 5, "actuator", "no servo"},
    {DRIVE("<motor joint='j' ctrllimited='true' ctrlrange='1 -1'/>"), E, "limit", 5, "actuator", "1 -1"},
    {DRIVE("<position joint='j' kp='1' kv='-1'/>"), E, "range", 5, "actuator", "kv"},
    {WITH("<keyframe><key name='k' qpos='1 2'/></keyframe>"), E, "keyframe", 5, "key k",
     "2 numbers, the joints of the file "
     "have nq = 1"},
    {WITH("<keyframe><key name='k' qpos='x'/></keyframe>"), E, "number", 5, "key k", "finite"},
    {WITH("<keyframe><key name='k'/>\n<key name='k'/></keyframe>"), E, "duplicate_keyframe", 6, "key k", "same name"},
    {MUJOCO(WORLD("<replicate count='2'><body/></replicate>")), E, "unsupported", 2, "mujoco", "<replicate>"},
    {MUJOCO(WORLD("<body name='a'>" SOLID "\n<composite type='grid'/></body>")), E, "unsupported", 3, "mujoco",
     "<composite>"},
    {MUJOCO(WORLD("<body name='a' gravcomp='1'>" SOLID "</body>")), W, "skipped", 2, "body a", "'gravcomp'"},
    {MUJOCO(WORLD("<body name='a' mocap='true'>" SOLID "</body>")), W, "mocap", 2, "worldbody", "stands"},
};

static bool agrees(const fixture *f, const broken *b) {
    int32_t said = f->list.error_count + f->list.warning_count;
    return said == 1 && (f->status == STN_OK) == (b->severity == W) &&
           find_finding(f, b->severity, b->code, b->line, b->element, b->part) != NULL;
}

static void each_file_gets_one_finding_that_names_its_fault(void **state) {
    fixture *f = *state;
    int32_t wrong = 0;
    for (int32_t i = 0; i < STN_COUNT(files); i++) {
        load_mjcf(f, files[i].text);
        if (!agrees(f, &files[i])) {
            print_message("%s\nexpected [%s] line %d, %s, \"%s\"; status %d, got:\n", files[i].text, files[i].code,
                          (int)files[i].line, files[i].element, files[i].part, (int)f->status);
            print_findings(f);
            wrong++;
        }
    }
    print_message("%d broken files\n", (int)STN_COUNT(files));
    assert_int_equal(wrong, 0);
}

static void nothing_of_a_broken_file_stays_in_the_builder(void **state) {
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(files); i++) {
        stn_model_builder *builder = NULL;
        stn_error err;
        int32_t robot = -1, next = -1;
        if (files[i].severity == W) {
            continue;
        }
        write_text(f, "robot.xml", files[i].text);
        snprintf(f->path, sizeof f->path, "%s/robot.xml", f->folder);
        f->request.path = f->path;
        stn_diagnostics_clear(&f->list);
        assert_ok(stn_builder_create(f->context, &builder, &err), err);
        assert_int_not_equal(stn_load_robot(f->context, &f->request, builder, &robot, &f->list, &err), STN_OK);
        assert_int_equal(robot, -1);
        assert_int_equal(stn_builder_group_count(builder), 0);
        assert_ok(stn_builder_begin_group(builder, "next", &next, &err), err);
        assert_int_equal(next, 0);
        stn_builder_destroy(builder);
    }
}

/// Deep files, and such as take long where every element looks through everything.
static void hostile_sizes_are_bounded(void **state) {
    enum { SIZE = 4 << 20 };
    fixture *f = *state;
    char *text = malloc(SIZE);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, SIZE, "<mujoco><default>");
    for (int32_t i = 0; i < 40; i++) { // more layers than are looked through
        used += (size_t)snprintf(text + used, SIZE - used, "<geom size='1'/>");
    }
    used += (size_t)snprintf(text + used, SIZE - used, "</default><worldbody><body>");
    for (int32_t i = 0; i < 50000; i++) {
        used += (size_t)snprintf(text + used, SIZE - used, "<geom/>");
    }
    snprintf(text + used, SIZE - used, "</body></worldbody></mujoco>");
    load_mjcf(f, text);
    expect_finding(f, E, "size", 1, "default", "16 places");
    used = (size_t)snprintf(text, SIZE, "<mujoco><worldbody><geom size='1'/>");
    for (int32_t i = 1; i < 40; i++) {
        used += (size_t)snprintf(text + used, SIZE - used, "<geom size='1' contype='%d'/>", (int)i);
    }
    snprintf(text + used, SIZE - used, "</worldbody></mujoco>");
    load_mjcf(f, text);
    expect_finding(f, E, "filter", 1, "geom", "31 different pairs");
    used = (size_t)snprintf(text, SIZE, "<mujoco><worldbody>");
    for (int32_t i = 0; i < 200; i++) {
        used += (size_t)snprintf(text + used, SIZE - used, "<body>");
    }
    load_mjcf(f, text);
    expect_finding(f, E, "xml", 0, NULL, "nested too deep");
    for (int32_t i = 0; i < 12; i++) { // files in files
        char name[32], inner[128];
        snprintf(name, sizeof name, "f%d.xml", (int)i);
        snprintf(inner, sizeof inner, "<mujocoinclude><include file='f%d.xml'/></mujocoinclude>", (int)i + 1);
        write_text(f, name, inner);
    }
    load_mjcf(f, MUJOCO("<include file='f0.xml'/>"));
    expect_finding(f, E, "include", 1, "include", "10 deep");
    free(text);
}

/// A text of so many copies of each part, the last of which may count.
static void load_many(fixture *f, const char *begin, int32_t joints, const char *middle, const char *item,
                      int32_t items, const char *end) {
    size_t size =
        strlen(begin) + strlen(middle) + strlen(end) + (size_t)joints * 64 + (size_t)items * (strlen(item) + 1);
    char *text = malloc(size + 1);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "%s", begin);
    for (int32_t i = 0; i < joints; i++) {
        used += (size_t)sprintf(text + used, "<joint name='j%d' armature='1'/>", (int)i);
    }
    used += (size_t)sprintf(text + used, "%s", middle);
    for (int32_t i = 0; i < items; i++) {
        used += (size_t)sprintf(text + used, "%s", item);
    }
    sprintf(text + used, "%s", end);
    load_mjcf(f, text);
    free(text);
}

/// What would take the square of the file's size in time or memory.
static void products_of_lists_are_bounded(void **state) {
    fixture *f = *state;
    static const char begin[] = "<mujoco><worldbody><body>" SOLID;
    load_many(f, begin, 20000, "</body></worldbody><keyframe>", "<key/>", 20000, "</keyframe></mujoco>");
    expect_finding(f, E, "size", 1, "keyframe", "10000 keys");
    load_many(f, "<mujoco><worldbody><body>", 0, "", "<body/>", 40000,
              "</body></worldbody><keyframe><key/><key/><key/><key/></keyframe></mujoco>");
    assert_int_equal(f->status, STN_OK);
    load_many(f, begin, 50, "</body></worldbody><keyframe>", "<key/>", 10000, "</keyframe></mujoco>");
    assert_ok(f->status, f->err);
    assert_int_equal(f->model->keyframe_count, 10000);
    load_many(f, begin, 20000, "</body></worldbody><equality>", "<joint joint1='j0' joint2='j19999'/>", 40000,
              "</equality></mujoco>");
    expect_finding(f, W, "equality", 1, "equality", "already");
    load_many(f, begin, 0, "", "<body/>", 60000, "</body></worldbody></mujoco>");
    expect_finding(f, E, "size", 1, NULL, "50000 links");
    load_many(f, begin, 0, "", "<site name='s'/>", 100, "</body></worldbody></mujoco>");
    assert_int_equal(f->model->link_count, 2);
    load_many(f, begin, 0, "</body></worldbody><asset>", "<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>", 2,
              "</asset></mujoco>");
    assert_int_equal(f->list.error_count, 1);
    load_many(f, "<mujoco><worldbody><body><freejoint/>" SOLID, 0, "", "<body><geom size='1'/></body>", 2000,
              "<body><joint/><joint axis='1 0 0'/><geom size='1'/></body></body></worldbody></mujoco>");
    assert_int_equal(f->status, STN_OK);
    assert_int_equal(f->model->exclude_count, 2000);
}

static void too_many_geoms_and_names_too_long_are_refused_before_they_are_read(void **state) {
    fixture *f = *state;
    load_many(f, "<mujoco><worldbody><body>", 0, "", "<geom size='1'/>", 100001, "</body></worldbody></mujoco>");
    expect_finding(f, E, "size", 1, "mujoco", "100000 geoms");
    char *start = malloc((1 << 20) + 200);
    assert_non_null(start);
    int used = sprintf(start, "<mujoco><worldbody><body name='");
    memset(start + used, 'a', 1 << 20); // each of the joints would be named after it
    sprintf(start + used + (1 << 20), "'>" SOLID);
    load_many(f, start, 0, "", "<joint/>", 20000, "</body></worldbody></mujoco>");
    expect_finding(f, E, "size", 1, "mujoco", "1000 bytes of a name");
    free(start);
}

static void a_load_without_memory_fails_and_leaves_nothing(void **state) {
    static const char text[] =
        MUJOCO("<default><geom size='1'/><default class='c'><joint damping='1'/></default></default>"
               "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/><material name='r' rgba='1 0 0 "
               "1'/></asset>" ARM("<joint class='c' pos='0 0 1'/><geom material='r'/><geom type='mesh' mesh='m'/><site "
                                  "name='s'/>") "<contact><exclude body1='a' body2='b'/></contact><actuator><position "
                                                "joint='j' kp='1'/></actuator>"
                                                "<keyframe><key qpos='0 1'/></keyframe>");
    fixture *f = *state;
    bool reached = true;
    for (long long n = 1; reached; n++) {
        stn_heap_arm(&f->heap, n);
        load_mjcf(f, text);
        reached = f->heap.requests >= n;
        stn_heap_arm(&f->heap, 0);
        if (reached) {
            assert_int_equal(f->status, STN_ERR_MEMORY);
        }
    }
    assert_int_equal(f->status, STN_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_file_gets_one_finding_that_names_its_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_of_a_broken_file_stays_in_the_builder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_geoms_and_names_too_long_are_refused_before_they_are_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(hostile_sizes_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(products_of_lists_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_load_without_memory_fails_and_leaves_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
