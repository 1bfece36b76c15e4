# SPDX-License-Identifier: Apache-2.0
"""Describing a world: robot files, bodies of one shape, materials and contact between them."""
import ctypes
import math

from .native import Choice, Error, check, constants, flag, found, library, listed, number, path, reals, structs, text, told, vector

_MATERIAL = [name for name, _ in structs["stn_material"]._fields_]
_WORLD = constants["STN_WORLD"]
DEFAULT_DENSITY = 1000.0  # [kg/m^3], water


def pose_of(what, xyz=None, quat=None, rpy=None):
    """A stn_pose from its words."""
    pose = structs["stn_pose"]()
    rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    if quat is not None and rpy is not None:
        raise Error(f"{what}: either quat or rpy, not both")
    if quat is not None:
        w, x, y, z = (float(value) for value in reals(quat, (4,), f"{what}: quat"))
        length = math.sqrt(w * w + x * x + y * y + z * z)
        if not 0.0 < length < math.inf:
            raise Error(f"{what}: quat has length {length:g}; the four numbers (w, x, y, z) of a rotation are needed")
        w, x, y, z = w / length, x / length, y / length, z / length
        rotation = ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                    (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                    (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))
    if rpy is not None:
        roll, pitch, yaw = (float(value) for value in reals(rpy, (3,), f"{what}: rpy"))
        if not (math.isfinite(roll) and math.isfinite(pitch) and math.isfinite(yaw)):
            raise Error(f"{what}: rpy must be finite")
        cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
        cy, sy = math.cos(yaw), math.sin(yaw)
        rotation = ((cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
                    (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
                    (-sp, cp * sr, cp * cr))
    for i in range(3):
        for j in range(3):
            pose.rotation.m[i][j] = rotation[i][j]
    if xyz is not None:
        pose.position = vector(xyz, f"{what}: xyz")
    return pose


def _material(what, material, values):
    """(stn_material, density): of a name, with what is stated besides."""
    out, density = library.stn_material_unset(), DEFAULT_DENSITY
    if material is not None:
        found = library.stn_named_material_find(text(material, f"{what}: material"))
        if not found:
            raise Error(f"{what}: there is no material called '{material}'; docs/materials.md lists them")
        named = structs["stn_named_material"].from_address(found)
        out, density = structs["stn_material"].from_buffer_copy(named.surface), named.density
    if "mu" in values:  # alone it means all
        out.mu_static = out.mu2 = math.nan
    for name, value in values.items():
        if name not in _MATERIAL:
            raise Error(f"{what}: unknown word '{name}'; of surfaces there are {', '.join(_MATERIAL)}")
        setattr(out, name, number(value, f"{what}: {name}"))
    return out, density


def _shape(what, kind, sizes):
    make = getattr(library, f"stn_shape_{kind}")
    shape = make(*sizes)
    error = structs["stn_error"]()
    if library.stn_shape_check(ctypes.byref(shape), ctypes.byref(error)) < 0:
        raise Error(f"{what}: {told(error.text)}")
    return shape


class Describing:
    """What a World does until its first step."""

    @staticmethod
    def _begin(world, what):
        """The builder, in a call that holds the world."""
        builder = library.stn_world_builder(world)
        if not builder:
            raise Error(f"{what}: the model is complete since the world's state, or a controller, was first asked for; describe before",
                        "called in the wrong order")
        return builder

    def load(self, file, *, name=None, xyz=None, quat=None, rpy=None, fixed=None, mass_factor=1.0, packages=(), allow_absolute=False,
             visual_meshes=False, loader=None, material=None, **surface):
        """Reads a robot file (URDF, MJCF, SDFormat, by its ending and content) and returns the robot, a Group.

        file: as named from the current folder, else in the folder that holds Stiction's models/, "models/panda/panda.urdf".
        name: of the robot, new in the world; None: as in the file, with a number behind it when that is taken.
        xyz [m], quat (w, x, y, z) or rpy [rad]: pose of its root link; without any of them as in the file.
        fixed: True: the root is welded to the world; None: as in the file.
        mass_factor: times which masses and inertias of the file are taken, > 0.
        packages: folders to look for package:// and model:// names, or "name=folder".
        loader: a loader plugin with its parameters, ("urdf", {"bullet_limits": True}).
        material, mu, stiffness [N/m], relaxation_time [s], dissipation [s/m], ...: of all its shapes, as in box().
        """
        what = "World.load"
        request = structs["stn_load_request"]()
        request.path = found(file, f"{what}: file")
        request.robot_name = None if name is None else text(name, f"{what}: name")
        request.allow_absolute = flag(allow_absolute, f"{what}: allow_absolute")
        request.visual_meshes = flag(visual_meshes, f"{what}: visual_meshes")
        folders = [path(folder, f"{what}: packages") for folder in listed(packages, f"{what}: packages")]
        texts = (ctypes.c_char_p * (len(folders) + 1))(*folders, None)
        request.package_paths = ctypes.addressof(texts)
        placed = not (xyz is None and quat is None and rpy is None)
        pose = pose_of(what, xyz, quat, rpy) if placed else None
        fixed = None if fixed is None else flag(fixed, f"{what}: fixed")
        factor = number(mass_factor, f"{what}: mass_factor")
        values, _ = _material(what, material, surface)
        with self._native as world:
            builder, error, context = self._begin(world, what), self._native.error, self._context._pointer
            choice = Choice(context, error, "STN_KIND_LOADER", loader, f"{what}: loader")
            choice.fill(request.loader)
            group, findings = ctypes.c_int32(-1), structs["stn_diagnostics"]()
            library.stn_diagnostics_init(ctypes.byref(findings), context)
            try:
                check(library.stn_load_robot(context, ctypes.byref(request), builder, ctypes.byref(group), ctypes.byref(findings),
                                             ctypes.byref(error)), error)
                diagnostics = _findings(findings)
            finally:
                library.stn_diagnostics_clear(ctypes.byref(findings))
            try:
                if pose is not None or fixed is not None:
                    base, welded = structs["stn_pose"](), ctypes.c_bool()
                    library.stn_builder_get_base(builder, group.value, ctypes.byref(base), ctypes.byref(welded))
                    base = base if pose is None else pose
                    check(library.stn_builder_set_base(builder, group.value, ctypes.byref(base),
                                                       welded.value if fixed is None else fixed, ctypes.byref(error)), error)
                if factor != 1.0:
                    check(library.stn_builder_scale_mass(builder, group.value, factor, ctypes.byref(error)), error)
                if surface or material is not None:
                    check(library.stn_builder_set_material(builder, group.value, ctypes.byref(values), ctypes.byref(error)), error)
            except Error:
                library.stn_builder_discard(builder, group.value)
                raise
            return Group(self, group.value, told(library.stn_builder_group_name(builder, group.value)), diagnostics)

    def ground(self, *, name=None, xyz=None, quat=None, rpy=None, material=None, **surface):
        """The half space z <= 0, turned and moved by a pose. Words of surfaces as in box()."""
        return self._body("ground", "half_space", (), name, dict(xyz=xyz, quat=quat, rpy=rpy), True, 0.0, None, material, surface)

    def box(self, size, *, mass=None, density=None, name=None, xyz=None, quat=None, rpy=None, fixed=False, material=None, **surface):
        """A body of one box, and the link of its name; returns a Group.

        size: (x, y, z), whole edges [m].
        mass [kg] or density [kg/m^3], uniform; default: the density of the material, else 1000.
        name: new in the world; default: type and number, which counts all bodies without a name: "ground1", "box2".
        xyz [m], quat (w, x, y, z) or rpy [rad]: where it is at the start.
        fixed: True: part of the world.
        material: a name of docs/materials.md, "steel".
        surface: mu [1], mu_static [1], stiffness [N/m], relaxation_time [s], dissipation [s/m], restitution [1], modulus [Pa]; they stand
            over those of the material.
        """
        half = vector(size, "World.box: size")
        half.x, half.y, half.z = half.x / 2, half.y / 2, half.z / 2
        return self._body("box", "box", (half,), name, dict(xyz=xyz, quat=quat, rpy=rpy), fixed, mass, density, material, surface)

    def sphere(self, radius, *, mass=None, density=None, name=None, xyz=None, quat=None, rpy=None, fixed=False, material=None, **surface):
        """A body of one sphere, radius [m]; the rest as in box()."""
        sizes = (number(radius, "World.sphere: radius"),)
        return self._body("sphere", "sphere", sizes, name, dict(xyz=xyz, quat=quat, rpy=rpy), fixed, mass, density, material, surface)

    def capsule(self, radius, length, *, mass=None, density=None, name=None, xyz=None, quat=None, rpy=None, fixed=False, material=None,
                **surface):
        """A body of one capsule along z, radius and length without the caps [m]; the rest as in box()."""
        sizes = number(radius, "World.capsule: radius"), number(length, "World.capsule: length") / 2
        return self._body("capsule", "capsule", sizes, name, dict(xyz=xyz, quat=quat, rpy=rpy), fixed, mass, density, material, surface)

    def cylinder(self, radius, length, *, mass=None, density=None, name=None, xyz=None, quat=None, rpy=None, fixed=False, material=None,
                 **surface):
        """A body of one cylinder along z, radius and length [m]; the rest as in box()."""
        sizes = number(radius, "World.cylinder: radius"), number(length, "World.cylinder: length") / 2
        return self._body("cylinder", "cylinder", sizes, name, dict(xyz=xyz, quat=quat, rpy=rpy), fixed, mass, density, material, surface)

    def ellipsoid(self, radii, *, mass=None, density=None, name=None, xyz=None, quat=None, rpy=None, fixed=False, material=None, **surface):
        """A body of one ellipsoid, radii: its semi-axes (x, y, z) [m]; the rest as in box()."""
        sizes = (vector(radii, "World.ellipsoid: radii"),)
        return self._body("ellipsoid", "ellipsoid", sizes, name, dict(xyz=xyz, quat=quat, rpy=rpy), fixed, mass, density, material,
                          surface)

    def _body(self, word, kind, sizes, name, place, fixed, mass, density, material, surface):
        what = f"World.{word}"
        if mass is not None and density is not None:
            raise Error(f"{what}: either mass or density, not both")
        values, usual = _material(what, material, surface)
        shape = _shape(what, kind, sizes)
        pose = pose_of(what, **place)
        fixed = flag(fixed, f"{what}: fixed")
        spec = library.stn_geometry_spec_default(shape)
        spec.material = values
        link_spec = structs["stn_link_spec"]()
        if kind != "half_space":
            density = usual if density is None else number(density, f"{what}: density")
            total = density * library.stn_shape_volume(ctypes.byref(shape)) if mass is None else number(mass, f"{what}: mass")
            if not 0.0 < total < math.inf:
                raise Error(f"{what}: {'mass' if mass is not None else 'density'} must be > 0 and finite")
            error = structs["stn_error"]()
            check(library.stn_shape_mass(ctypes.byref(shape), total, ctypes.byref(link_spec.mass), ctypes.byref(error)), error)
        with self._native as world:
            builder, error = self._begin(world, what), self._native.error
            name = self._free_name(builder, word) if name is None else name
            link_spec.name = spec.name = encoded = text(name, f"{what}: name")
            group, index = ctypes.c_int32(-1), ctypes.c_int32(-1)
            err = ctypes.byref(error)
            check(library.stn_builder_begin_group(builder, encoded, ctypes.byref(group), err), error)
            try:
                check(library.stn_builder_add_link(builder, ctypes.byref(link_spec), ctypes.byref(index), err), error)
                check(library.stn_builder_add_geometry(builder, index.value, ctypes.byref(spec), ctypes.byref(index), err), error)
                check(library.stn_builder_set_base(builder, group.value, ctypes.byref(pose), fixed, err), error)
            except Error:
                library.stn_builder_discard(builder, group.value)
                raise
            return Group(self, group.value, name, [])

    def _free_name(self, builder, word):
        """As Lua has it: the type with a number that counts all bodies without a name."""
        names = {told(library.stn_builder_group_name(builder, i)) for i in range(library.stn_builder_group_count(builder))}
        self._unnamed += 1
        while f"{word}{self._unnamed}" in names:
            self._unnamed += 1
        return f"{word}{self._unnamed}"

    def contact_material(self, a=None, b=None, **contact):
        """Parameters of the contact of two links, whatever their surfaces say; later calls win.

        a, b: a Group (all of its links), "group/link", or "world"; None: all links.
        contact: mu [1], mu_static [1], stiffness [N/m], relaxation_time [s], dissipation [s/m], restitution [1].
        """
        what = "World.contact_material"
        values, _ = _material(what, None, contact)
        with self._native as world:
            builder, error = self._begin(world, what), self._native.error
            any_link = [constants["STN_ANY"]]
            for link_a in any_link if a is None else self._links(builder, a, f"{what}: a"):
                for link_b in any_link if b is None else self._links(builder, b, f"{what}: b"):
                    check(library.stn_builder_set_contact_material(builder, link_a, link_b, ctypes.byref(values), ctypes.byref(error)),
                          error)

    def disable_collisions(self, a, b=None):
        """Links of a and b never collide; without b those of a among each other. Links are named as in contact_material()."""
        what = "World.disable_collisions"
        with self._native as world:
            builder, error = self._begin(world, what), self._native.error
            first = self._links(builder, a, f"{what}: a")
            for link_a in first:
                for link_b in first if b is None else self._links(builder, b, f"{what}: b"):
                    if link_a != link_b:
                        check(library.stn_builder_disable_collisions(builder, link_a, link_b, ctypes.byref(error)), error)

    def attach(self, group, link, *, xyz=None, quat=None, rpy=None):
        """Welds the root of a group, which stands nowhere yet (no pose, not fixed), to a link, "group/link"; the pose is that of the root
        in the link's frame. A body that box() and the others make has a pose: this is for robots that are loaded without one."""
        what = "World.attach"
        pose = pose_of(what, xyz, quat, rpy)
        self._own(group, f"{what}: group")
        with self._native as world:
            builder, error = self._begin(world, what), self._native.error
            (index,) = self._links(builder, text(link, f"{what}: link").decode(), f"{what}: link")
            check(library.stn_builder_attach(builder, group.index, index, ctypes.byref(pose), ctypes.byref(error)), error)

    def _own(self, group, what):
        if not isinstance(group, Group) or group.world is not self:
            raise Error(f"{what}: a group of this world is needed, got {type(group).__name__}")

    def _links(self, builder, named, what):
        """Numbers of the links that a word names."""
        if isinstance(named, str):
            if named == "world":
                return [_WORLD]
            link = library.stn_builder_find_link(builder, -1, text(named, what))
            if link < 0:
                raise Error(f"{what}: there is no link '{named}', or several groups have one; name it as 'group/link'")
            return [link]
        self._own(named, what)
        start, count = ctypes.c_int32(), ctypes.c_int32()
        library.stn_builder_group_links(builder, named.index, ctypes.byref(start), ctypes.byref(count))
        return list(range(start.value, start.value + count.value))


def _findings(findings):
    """What a loader found, as dictionaries."""
    items = (structs["stn_diagnostic"] * findings.count).from_address(findings.items) if findings.count else ()
    severities = ("note", "warning", "error")
    return [dict(severity=severities[item.severity], code=told(item.code), file=told(item.file), line=item.line, where=told(item.where),
                 text=told(item.text)) for item in items]


class Group:
    """A robot, or a single body: links that were described together.

    name: of the group, unique in the world. index: its number. diagnostics: list of dictionaries, what the loader found in its file.
    """

    def __init__(self, world, index, name, diagnostics):
        self.world, self.index, self.name, self.diagnostics = world, index, name, diagnostics

    def __repr__(self):
        return f"<stiction.Group {self.name}>"

    def _joints(self):
        return [joint for joint in self.world.joints if joint.group == self.name]

    @property
    def joints(self):
        """Names of its moving joints, in the order of the coordinates."""
        return [joint.name for joint in self._joints()]

    @property
    def q_index(self):
        """(n) where its coordinates are in q, as a list: world.q[group.q_index], batch.get("q")[:, group.q_index]."""
        return [i for joint in self._joints() for i in range(joint.q_start, joint.q_start + joint.nq)]

    @property
    def v_index(self):
        """(n) where its velocities are in v, as a list."""
        return [i for joint in self._joints() for i in range(joint.v_start, joint.v_start + joint.nv)]

    @property
    def body(self):
        """Number of the body that its root link is part of; 0: the world."""
        return self.world._root_body(self.index)

    def keyframe(self, name):
        """(nq) the coordinates of the world with those of a keyframe of the file in the group's place; set them with world.set_q()."""
        return self.world._keyframe(self.index, name)
