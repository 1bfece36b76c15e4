// SPDX-License-Identifier: Apache-2.0
// Bullet: a collision world with the dynamic tree (dbvt) and the default configuration; no dynamics.
#include <btBulletCollisionCommon.h>

#include <vector>

#include "scene.h"

namespace {

struct peer {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase tree;
    btCollisionWorld world{&dispatcher, &tree, &configuration};
    btStaticPlaneShape ground_shape{btVector3(0, 0, 1), 0};
    btCollisionObject ground;
    std::vector<btCollisionShape *> shapes;
    std::vector<btCollisionObject *> objects;

    ~peer() {
        for (btCollisionObject *o : objects) {
            world.removeCollisionObject(o);
            delete o;
        }
        for (btCollisionShape *s : shapes) {
            delete s;
        }
        world.removeCollisionObject(&ground);
    }
};

btCollisionShape *make(const scene_body &b) {
    const btScalar x = btScalar(b.size[0]), y = btScalar(b.size[1]), z = btScalar(b.size[2]);
    switch (b.shape) {
    case SCENE_SPHERE:
        return new btSphereShape(x);
    case SCENE_BOX:
        return new btBoxShape(btVector3(x, y, z));
    case SCENE_CAPSULE:
        return new btCapsuleShapeZ(x, 2 * y);
    case SCENE_CYLINDER:
        return new btCylinderShapeZ(btVector3(x, x, y));
    case SCENE_HULL:
        break;
    }
    double corners[SCENE_CORNERS][3];
    btConvexHullShape *hull = new btConvexHullShape;
    scene_corners(&b, corners);
    for (const double *p : corners) {
        hull->addPoint(btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2])));
    }
    hull->setMargin(0); // by default hulls are larger by 40 mm
    return hull;
}

void place(void *self, const scene *s) {
    peer *p = static_cast<peer *>(self);
    for (int32_t i = 0; i < s->count; i++) {
        const scene_body &b = s->bodies[i];
        const btQuaternion q{btScalar(b.quaternion[1]), btScalar(b.quaternion[2]), btScalar(b.quaternion[3]),
                             btScalar(b.quaternion[0])};
        const btVector3 x{btScalar(b.position[0]), btScalar(b.position[1]), btScalar(b.position[2])};
        p->objects[size_t(i)]->setWorldTransform(btTransform(q, x));
    }
}

void *create(const scene *s) {
    peer *p = new peer;
    p->ground.setCollisionShape(&p->ground_shape);
    p->world.addCollisionObject(&p->ground, btBroadphaseProxy::StaticFilter,
                                btBroadphaseProxy::AllFilter ^ btBroadphaseProxy::StaticFilter);
    p->world.setForceUpdateAllAabbs(false); // the ground stays
    for (int32_t i = 0; i < s->count; i++) {
        p->shapes.push_back(make(s->bodies[i]));
        p->objects.push_back(new btCollisionObject);
        p->objects.back()->setCollisionShape(p->shapes.back());
        p->objects.back()->setUserIndex(i);      // the ground has -1
        p->objects.back()->setCollisionFlags(0); // it moves
        p->objects.back()->setActivationState(DISABLE_DEACTIVATION);
    }
    place(p, s);
    for (btCollisionObject *o : p->objects) {
        p->world.addCollisionObject(o);
    }
    return p;
}

void detect(void *self) {
    static_cast<peer *>(self)->world.performDiscreteCollisionDetection();
}

void visit_contacts(void *self, visit_point *visit, void *user) {
    peer *p = static_cast<peer *>(self);
    for (int i = 0; i < p->dispatcher.getNumManifolds(); i++) {
        const btPersistentManifold *m = p->dispatcher.getManifoldByIndexInternal(i);
        for (int k = 0; k < m->getNumContacts(); k++) {
            const btManifoldPoint &point = m->getContactPoint(k);
            const btVector3 n = point.m_normalWorldOnB;
            const double d = double(point.getDistance()), normal[3] = {double(n.x()), double(n.y()), double(n.z())};
            if (d <= 0.0) {
                visit(user, m->getBody0()->getUserIndex(), m->getBody1()->getUserIndex(), -d, normal);
            }
        }
    }
}

void destroy(void *self) {
    delete static_cast<peer *>(self);
}

} // namespace

extern "C" const engine bullet_engine = {"Bullet", create, place, detect, visit_contacts, destroy};
