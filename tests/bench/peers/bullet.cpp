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
    std::vector<btCollisionShape *> shapes;
    std::vector<btRigidBody *> bodies; // all; those that move first, in the model's order
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

btCollisionShape *make_shape(const stn_shape &s) {
    if (s.type == STN_SHAPE_HALF_SPACE) {
        return new btStaticPlaneShape(btVector3(0, 0, 1), 0);
    }
    if (s.type == STN_SHAPE_SPHERE) {
        return new btSphereShape(btScalar(s.radius));
    }
    const stn_vec3 &h = s.half_extents;
    return new btBoxShape(btVector3(btScalar(h.x), btScalar(h.y), btScalar(h.z)));
}

void add(peer *p, const peer_scene *scene, const stn_geometry &g, btScalar mass, const btVector3 &inertia,
         const btTransform &pose) {
    p->shapes.push_back(make_shape(g.shape));
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, p->shapes.back(), inertia);
    info.m_startWorldTransform = pose;
    info.m_friction = btScalar(std::sqrt(scene->mu)); // those of two bodies are multiplied
    p->bodies.push_back(new btRigidBody(info));
    p->bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    p->world.addRigidBody(p->bodies.back());
}

const stn_geometry *shape_of(const stn_model *m, int32_t body) {
    for (int32_t g = 0; g < m->geometry_count; g++) {
        if (m->geometries[g].body == body && m->geometries[g].collision) {
            return &m->geometries[g];
        }
    }
    return nullptr;
}

void *create(const peer_scene *scene, const char *setting) {
    const stn_model *m = scene->model;
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
        const double *q = scene->q + m->joints[m->bodies[b].joint].q_start;
        const stn_mass &mass = m->bodies[b].mass;
        const btVector3 inertia{btScalar(mass.inertia.m[0][0]), btScalar(mass.inertia.m[1][1]),
                                btScalar(mass.inertia.m[2][2])};
        add(p, scene, *shape_of(m, b), btScalar(mass.mass), inertia,
            btTransform(btQuaternion(btScalar(q[4]), btScalar(q[5]), btScalar(q[6]), btScalar(q[3])),
                        btVector3(btScalar(q[0]), btScalar(q[1]), btScalar(q[2]))));
        p->moving++;
    }
    for (int32_t g = 0; g < m->geometry_count; g++) {
        const stn_geometry &own = m->geometries[g];
        if (own.body == 0 && own.collision) {
            const stn_vec3 &x = own.pose.position;
            const stn_quat r = stn_quat_from_matrix(&own.pose.rotation);
            add(p, scene, own, 0, btVector3(0, 0, 0),
                btTransform(btQuaternion(btScalar(r.x), btScalar(r.y), btScalar(r.z), btScalar(r.w)),
                            btVector3(btScalar(x.x), btScalar(x.y), btScalar(x.z))));
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

/// The number of a body that moves, -1: none.
int32_t index_of(const peer *p, const btCollisionObject *object) {
    for (int b = 0; b < p->moving; b++) {
        if (p->bodies[size_t(b)] == object) {
            return b;
        }
    }
    return -1;
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
            c.a = index_of(p, m->getBody1()); // impulses act on body 0, along the normal of body 1
            c.b = index_of(p, m->getBody0());
            c.point = vector(at.getPositionWorldOnB());
            c.frame = stn_mat3_columns(vector(at.m_lateralFrictionDir1), vector(at.m_lateralFrictionDir2),
                                       vector(at.m_normalWorldOnB));
            if (stn_vec3_norm(vector(at.m_lateralFrictionDir2)) == 0.0) { // it has one direction
                const stn_vec3 t = vector(at.m_lateralFrictionDir1), n = vector(at.m_normalWorldOnB);
                c.frame = stn_mat3_columns(t, stn_vec3_cross(n, t), n);
            }
            c.mu = p->mu;
            const double distance = double(at.getDistance()); // overlaps are undone beside the velocities
            c.target = distance > 0.0 ? -distance / double(p->dt) : 0.0;
            c.gamma[0] = double(at.m_appliedImpulseLateral1);
            c.gamma[1] = double(at.m_appliedImpulseLateral2);
            c.gamma[2] = double(at.m_appliedImpulse);
            met.push_back(c);
        }
    }
    return ruler_error(RULER_COULOMB, p->before.data(), int32_t(p->before.size()), met.data(), int32_t(met.size()));
}

void read_q(void *self, double *q) {
    const peer *p = static_cast<peer *>(self);
    for (int b = 0; b < p->moving; b++, q += 7) {
        const btTransform &pose = p->bodies[size_t(b)]->getWorldTransform();
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
