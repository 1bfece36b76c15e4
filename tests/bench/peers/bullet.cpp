// SPDX-License-Identifier: Apache-2.0
// Bullet: a discrete dynamics world with its defaults (sequential impulses, 10 iterations), as packaged in single
// precision; nothing falls asleep. Settings: sweeps; directions of friction, 1 or 2.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <vector>

#include "ruler.h"
#include "scene.h"

namespace {

struct peer {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase tree;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &tree, &solver, &configuration};
    std::vector<btCollisionShape *> shapes; // parts after the compound that holds them
    std::vector<btTransform> centre;        // of those that move: principal axes at the centre of mass, in body axes
    std::vector<btRigidBody *> bodies;      // all; those that move first, in the model's order
    btScalar dt{0};
    int moving{0};
    double mu{0};
    std::vector<ruler_body> before; // of a step that is watched

    ~peer() {
        for (btRigidBody *b : bodies) {
            world.removeRigidBody(b);
            delete b;
        }
        for (btCollisionShape *s : shapes) {
            delete s;
        }
    }
};

btTransform transform(const stn_pose &pose) {
    const stn_quat r = stn_quat_from_matrix(&pose.rotation);
    const stn_vec3 &x = pose.position;
    return btTransform(btQuaternion(btScalar(r.x), btScalar(r.y), btScalar(r.z), btScalar(r.w)),
                       btVector3(btScalar(x.x), btScalar(x.y), btScalar(x.z)));
}

btCollisionShape *make_hull(const stn_mesh &mesh) {
    btConvexHullShape *hull = new btConvexHullShape;
    for (int32_t i = 0; i < mesh.vertex_count; i++) {
        const double *x = mesh.vertices + 3 * size_t(i);
        hull->addPoint(btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2])), false);
    }
    hull->recalcLocalAabb();
    hull->setMargin(0); // by default hulls are larger by 40 mm
    return hull;
}

btCollisionShape *make_shape(const stn_shape &s) {
    switch (s.type) {
    case STN_SHAPE_HALF_SPACE:
        return new btStaticPlaneShape(btVector3(0, 0, 1), 0);
    case STN_SHAPE_SPHERE:
        return new btSphereShape(btScalar(s.radius));
    case STN_SHAPE_CAPSULE:
        return new btCapsuleShapeZ(btScalar(s.radius), btScalar(2 * s.half_length));
    case STN_SHAPE_CONVEX:
        return make_hull(*s.mesh);
    default:
        return new btBoxShape(
            btVector3(btScalar(s.half_extents.x), btScalar(s.half_extents.y), btScalar(s.half_extents.z)));
    }
}

void add(peer *p, const peer_scene *scene, btCollisionShape *shape, btScalar mass, const btVector3 &inertia,
         const btTransform &pose) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = pose;
    info.m_friction = btScalar(std::sqrt(scene->mu)); // those of two bodies are multiplied
    p->bodies.push_back(new btRigidBody(info));
    p->bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    p->world.addRigidBody(p->bodies.back());
}

/// One that moves: its shapes in principal axes at the centre of mass, which are a body's axes there.
void add_moving(peer *p, const peer_scene *scene, int32_t b) {
    const stn_model *m = scene->model;
    const stn_mass &mass = m->bodies[b].mass;
    const double(*I)[3] = mass.inertia.m;
    btMatrix3x3 inertia{btScalar(I[0][0]), btScalar(I[0][1]), btScalar(I[0][2]), btScalar(I[1][0]), btScalar(I[1][1]),
                        btScalar(I[1][2]), btScalar(I[2][0]), btScalar(I[2][1]), btScalar(I[2][2])};
    btMatrix3x3 axes;
    inertia.diagonalize(axes, btScalar(1e-9), 50);
    const btTransform centre{axes, btVector3(btScalar(mass.com.x), btScalar(mass.com.y), btScalar(mass.com.z))};
    std::vector<btCollisionShape *> parts;
    std::vector<btTransform> places;
    for (int32_t g = 0; g < m->geometry_count; g++) {
        if (m->geometries[g].body == b && m->geometries[g].collision) {
            parts.push_back(make_shape(m->geometries[g].shape));
            places.push_back(centre.inverse() * transform(m->geometries[g].pose));
        }
    }
    btCollisionShape *shape = parts.size() == 1 ? parts[0] : nullptr;
    if (shape == nullptr || !(places[0] == btTransform::getIdentity())) {
        btCompoundShape *all = new btCompoundShape;
        for (size_t i = 0; i < parts.size(); i++) {
            all->addChildShape(places[i], parts[i]);
        }
        p->shapes.push_back(all);
        shape = all;
    }
    p->shapes.insert(p->shapes.end(), parts.begin(), parts.end());
    const double *q = scene->q + m->joints[m->bodies[b].joint].q_start;
    const btTransform pose{btQuaternion(btScalar(q[4]), btScalar(q[5]), btScalar(q[6]), btScalar(q[3])),
                           btVector3(btScalar(q[0]), btScalar(q[1]), btScalar(q[2]))};
    p->centre.push_back(centre);
    add(p, scene, shape, btScalar(mass.mass), btVector3(inertia[0][0], inertia[1][1], inertia[2][2]), pose * centre);
    p->bodies.back()->setUserIndex(p->moving++);
}

void *create(const peer_scene *scene, const char *setting) {
    const stn_model *m = scene->model;
    const uint32_t shapes = 1U << STN_SHAPE_SPHERE | 1U << STN_SHAPE_BOX | 1U << STN_SHAPE_CAPSULE |
                            1U << STN_SHAPE_CONVEX | 1U << STN_SHAPE_HALF_SPACE;
    if (!peer_scene_is_free(scene, shapes, "Bullet")) {
        return nullptr;
    }
    peer *p = new peer;
    p->dt = btScalar(scene->dt);
    p->mu = scene->mu;
    btContactSolverInfo &info = p->world.getSolverInfo();
    info.m_numIterations = int(peer_setting(setting, "sweeps", info.m_numIterations));
    if (peer_setting(setting, "directions", 1) > 1) {
        info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    }
    p->world.setGravity(btVector3(0, 0, btScalar(-9.81)));
    for (int32_t b = 1; b < m->body_count; b++) {
        add_moving(p, scene, b);
    }
    for (int32_t g = 0; g < m->geometry_count; g++) {
        const stn_geometry &own = m->geometries[g];
        if (own.body == 0 && own.collision) {
            p->shapes.push_back(make_shape(own.shape));
            add(p, scene, p->shapes.back(), 0, btVector3(0, 0, 0), transform(own.pose));
            p->bodies.back()->setUserIndex(-1);
        }
    }
    return p;
}

bool step(void *self) {
    peer *p = static_cast<peer *>(self);
    p->world.stepSimulation(p->dt, 0);
    return true;
}

void report(void *self, peer_report *out) {
    peer *p = static_cast<peer *>(self);
    int contacts = 0;
    for (int i = 0; i < p->dispatcher.getNumManifolds(); i++) {
        contacts += p->dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    }
    *out = peer_report{double(p->world.getSolverInfo().m_numIterations), double(contacts), NAN};
}

stn_vec3 vector(const btVector3 &v) {
    return stn_vec3_make(double(v.x()), double(v.y()), double(v.z()));
}

void watch(void *self) {
    peer *p = static_cast<peer *>(self);
    p->before.clear();
    for (int b = 0; b < p->moving; b++) {
        btRigidBody *own = p->bodies[size_t(b)];
        own->updateInertiaTensor();
        ruler_body body = {};
        body.position = vector(own->getWorldTransform().getOrigin());
        body.inverse_mass = double(own->getInvMass());
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                body.inverse_inertia.m[i][k] = double(own->getInvInertiaTensorWorld()[i][k]);
            }
        }
        p->before.push_back(body);
    }
}

double error(void *self) {
    peer *p = static_cast<peer *>(self);
    std::vector<ruler_contact> met;
    for (int b = 0; b < p->moving; b++) {
        p->before[size_t(b)].velocity = vector(p->bodies[size_t(b)]->getLinearVelocity());
        p->before[size_t(b)].spin = vector(p->bodies[size_t(b)]->getAngularVelocity());
    }
    for (int i = 0; i < p->dispatcher.getNumManifolds(); i++) {
        const btPersistentManifold *m = p->dispatcher.getManifoldByIndexInternal(i);
        for (int k = 0; k < m->getNumContacts(); k++) {
            const btManifoldPoint &at = m->getContactPoint(k);
            ruler_contact c = {};
            c.a = m->getBody1()->getUserIndex(); // impulses act on body 0, along the normal of body 1
            c.b = m->getBody0()->getUserIndex();
            c.point = vector(at.getPositionWorldOnB());
            c.frame = stn_mat3_columns(vector(at.m_lateralFrictionDir1), vector(at.m_lateralFrictionDir2),
                                       vector(at.m_normalWorldOnB));
            if (stn_vec3_norm(vector(at.m_lateralFrictionDir2)) == 0.0) { // it has one direction
                const stn_vec3 t = vector(at.m_lateralFrictionDir1), n = vector(at.m_normalWorldOnB);
                c.frame = stn_mat3_columns(t, stn_vec3_cross(n, t), n);
            }
            c.mu = p->mu;
            // a part of each overlap is undone by the velocities; beside them only below the threshold
            const btContactSolverInfo &info = p->world.getSolverInfo();
            const double distance = double(at.getDistance()) + double(info.m_linearSlop);
            const bool beside = info.m_splitImpulse != 0 && distance <= double(info.m_splitImpulsePenetrationThreshold);
            c.target = -distance / double(p->dt) * (distance > 0.0 ? 1.0 : beside ? 0.0 : double(info.m_erp2));
            c.gamma[0] = double(at.m_appliedImpulseLateral1);
            c.gamma[1] = double(at.m_appliedImpulseLateral2);
            c.gamma[2] = double(at.m_appliedImpulse);
            met.push_back(c);
        }
    }
    const bool two = (p->world.getSolverInfo().m_solverMode & SOLVER_USE_2_FRICTION_DIRECTIONS) != 0;
    return ruler_error(two ? RULER_PYRAMID : RULER_COULOMB, p->before.data(), int32_t(p->before.size()), met.data(),
                       int32_t(met.size()));
}

void read_q(void *self, double *q) {
    const peer *p = static_cast<peer *>(self);
    for (int b = 0; b < p->moving; b++, q += 7) {
        const btTransform pose = p->bodies[size_t(b)]->getWorldTransform() * p->centre[size_t(b)].inverse();
        const btVector3 &x = pose.getOrigin();
        const btQuaternion r = pose.getRotation();
        const btScalar values[7] = {x.x(), x.y(), x.z(), r.w(), r.x(), r.y(), r.z()};
        for (int i = 0; i < 7; i++) {
            q[i] = double(values[i]);
        }
    }
}

void destroy(void *self) {
    delete static_cast<peer *>(self);
}

} // namespace

extern "C" const peer_engine bullet_peer = {"Bullet", create, step, report, read_q, destroy, watch, error};
