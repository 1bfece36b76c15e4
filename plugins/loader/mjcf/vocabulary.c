// SPDX-License-Identifier: Apache-2.0
// The vocabulary of MJCF as far as it is read. Whatever else stands in a file is a warning, once for each name, unless
// it only draws, measures, or tunes MuJoCo's own solver.
#include "mjcf.h"

#define TURN         "quat axisangle xyaxes zaxis euler"
#define MAKERS       "replicate attach composite" // all but composites of type cable refused elsewhere
#define INSIDE       "inertial joint freejoint geom site body frame flexcomp " MAKERS
#define ACTUATORS    "general motor position velocity"
#define OTHERS       "tendon site body slidersite cranksite refsite" // transmissions, warned of elsewhere
#define FLEX_CONTACT "internal selfcollide activelayers contype conaffinity condim friction passive"
#define DRIVE        "name class joint jointinparent ctrllimited forcelimited ctrlrange forcerange gear " OTHERS

static const robot_word words[] = {
    {NULL, "mujoco", "model",
     "compiler option default asset worldbody deformable contact equality actuator keyframe include"},
    {NULL, "compiler",
     "angle autolimits coordinate eulerseq meshdir assetdir strippath inertiafromgeom inertiagrouprange boundmass "
     "boundinertia balanceinertia settotalmass alignfree",
     ""},
    {NULL, "default", "class", "default joint geom site mesh material include " ACTUATORS},
    {NULL, "asset", "", "mesh material include"},
    {"asset", "mesh", "name class file scale refpos refquat vertex face", ""},
    {"default", "mesh", "scale", ""},
    {NULL, "material", "name class rgba", ""},
    {NULL, "worldbody", "", INSIDE " include"},
    {NULL, "body", "name childclass pos mocap " TURN, INSIDE " include"},
    {NULL, "frame", "name childclass pos " TURN, INSIDE " include"},
    {NULL, "composite", "prefix type count offset quat curve size vertex initial", "plugin joint geom skin site"},
    {"composite", "plugin", "plugin instance", "config"},
    {"composite", "joint", "kind damping stiffness range limited armature frictionloss type axis", ""},
    {"composite", "geom", "type size contype conaffinity condim group friction mass density rgba material", ""},
    {NULL, "inertial", "pos mass diaginertia fullinertia " TURN, ""},
    {"equality", "joint", "name class active joint1 joint2 polycoef", ""},
    {NULL, "joint",
     "name class type pos axis ref range limited damping frictionloss armature stiffness springref actuatorfrcrange "
     "actuatorfrclimited",
     ""},
    {NULL, "freejoint", "name", ""},
    {NULL, "geom",
     "name class type size pos fromto mesh contype conaffinity condim group friction mass density rgba material "
     "hfield " TURN,
     ""},
    {NULL, "site", "name class pos fromto " TURN, ""},
    {NULL, "flexcomp",
     "name type dim dof count spacing point element mass file rigid pos scale radius origin material rgba group "
     "inertiabox flatskin texcoord cellcount " TURN,
     "pin contact edge elasticity plugin"},
    {"flexcomp", "pin", "id range grid gridrange", ""},
    {"flexcomp", "contact", FLEX_CONTACT, ""},
    {"flexcomp", "edge", "equality stiffness damping", ""},
    {"flexcomp", "elasticity", "young poisson damping thickness elastic2d", ""},
    {NULL, "deformable", "", "flex include"},
    {"deformable", "flex",
     "name dim body vertex element radius material rgba group flatskin texcoord elemtexcoord node dof cellcount",
     "contact edge elasticity"},
    {"flex", "contact", FLEX_CONTACT, ""},
    {"flex", "edge", "stiffness damping", ""},
    {"flex", "elasticity", "young poisson damping thickness elastic2d", ""},
    {NULL, "contact", "", "exclude include"},
    {NULL, "exclude", "name body1 body2", ""},
    {NULL, "equality", "", "joint connect weld flex flexvert flexstrain include"},
    {"equality", "flex", "name class active flex", ""},
    {NULL, "connect", "name class active body1 body2 anchor site1 site2", ""},
    {NULL, "weld", "name class active body1 body2 relpose anchor site1 site2", ""},
    {NULL, "actuator", "", ACTUATORS " intvelocity damper cylinder muscle adhesion dcmotor include"},
    {NULL, "general", DRIVE " gainprm biasprm gaintype biastype dyntype", ""},
    {NULL, "motor", DRIVE, ""},
    {NULL, "position", DRIVE " kp kv dampratio timeconst", ""},
    {NULL, "velocity", DRIVE " kv", ""},
    {NULL, "keyframe", "", "key include"},
    {NULL, "key", "name qpos time qvel act ctrl mpos mquat", ""},
};

/// What does not change how the robot moves.
static const char harmless[] =
    // sections and elements that draw, measure or hold numbers for others
    "visual statistic size custom equality sensor light camera texture skin extension layer "
    // of settings
    "discardvisual texturedir usethread fitaabb fusestatic exactmeshinertia saveinertial convexhull "
    // of MuJoCo's contact and constraint solver
    "solref solimp solreffriction solreflimit solimplimit solreffix solimpfix solmix priority margin gap "
    // of looks and of groups
    "group user rgba material size type texrepeat texuniform texture emission specular shininess reflectance metallic "
    "torquescale roughness normal texcoord smoothnormal content_type maxhullvert inheritrange nsample sleep "
    "actdim actlimited actrange actearly cranklength lengthrange align";

void mjcf_note_skipped(robot_reader *reader, const xml_element *root) {
    static const robot_vocabulary vocabulary = {
        .words = words,
        .count = STN_COUNT(words),
        .labels = "flexcomp flex composite body joint geom site mesh material key general motor position velocity",
        .severity = STN_SEVERITY_WARNING,
        .exceptions = harmless,
    };
    robot_note_skipped(reader, &vocabulary, root);
}
