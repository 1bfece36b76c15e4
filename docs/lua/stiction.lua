---@meta stiction
-- SPDX-License-Identifier: Apache-2.0
-- The Lua face of Stiction for editors (LuaCATS annotations): completion and checking. Reference: ../lua.md. Nothing here runs.

---@alias stiction.Vector number[] three numbers
---@class stiction.Pose a place and, by one of the other keys, a rotation
---@field xyz? stiction.Vector [m]
---@field quat? number[] w, x, y, z
---@field rpy? stiction.Vector fixed-axis roll, pitch, yaw [rad]
---@field rotation_vector? stiction.Vector axis times angle [rad]
---@field matrix? number[][] rows of the rotation matrix
---@field axes? { x: stiction.Vector?, y: stiction.Vector?, z: stiction.Vector? } directions of its axes, at least one

---@class stiction.pose: stiction.Pose
---@operator mul(stiction.Pose): stiction.pose
---@operator mul(stiction.Vector): stiction.Vector
local pose = {}
---@return stiction.pose
function pose:inverse() end
---@param other stiction.Pose
---@return stiction.pose the other one in this frame
function pose:relative(other) end
---@param vector stiction.Vector a direction, a velocity, a force: without the place
---@return stiction.Vector
function pose:rotate(vector) end
---@param other stiction.Pose
---@return number between the origins [m]
function pose:distance(other) end
---@param other stiction.Pose
---@return number between the rotations [rad]
function pose:angle(other) end
---@param other stiction.Pose
---@param s number 0: this pose, 1: the other one
---@param path? "straight"|"screw"
---@return stiction.pose
function pose:interpolate(other, s, path) end

---@class stiction.Velocity
---@field linear? stiction.Vector [m/s]
---@field angular? stiction.Vector [rad/s]

---@alias stiction.Plugin string|table a plugin's name, or { "name", parameter = value }
---@alias stiction.Links stiction.group|stiction.link|table|string a group, a link, { group, "link" } or "group/link"

---@class stiction.WorldOptions
---@field dt? number step size [s]
---@field gravity? stiction.Vector [m/s^2]
---@field solver? stiction.Plugin
---@field law? stiction.Plugin
---@field contact? stiction.Plugin
---@field integrator? stiction.Plugin
---@field factor? stiction.Plugin
---@field contact_point? "stiffness"|"midpoint"|"a"|"b"
---@field relaxation_rule? "sum"|"series"
---@field margin? number [m]
---@field margin_only? boolean pairs beyond the margin are left out, whatever the law's reach
---@field threads? integer
---@field stiction? boolean what sticks holds its place under load
---@field exact_contacts? boolean rigid contacts as they stand, for solvers of exact friction
---@field varied? boolean masses and frictions can be changed while it runs
---@field sleep_velocity? number groups slower than this for sleep_time sleep; 0: nothing does [m/s]
---@field sleep_time? number [s]
---@field certificate? "full"|"light"
---@field seed? integer

---@class stiction.Material
---@field mu? number friction coefficient; alone it means mu_static and mu2 too [1]
---@field mu2? number friction coefficient across the friction_direction [1]
---@field mu_static? number friction coefficient at rest, at least mu [1]
---@field stiffness? number [N/m]
---@field relaxation_time? number [s]
---@field dissipation? number Hunt-Crossley [s/m]
---@field restitution? number [1]
---@field modulus? number a finite one makes a body compliant [Pa]

---@alias stiction.MaterialName "abs"|"acetal"|"aluminium"|"brass"|"cardboard"|"concrete"|"copper"|"glass"|"ice"|"leather"|"nylon"|"pla"|"polycarbonate"|"rubber"|"silicone"|"steel"|"teflon"|"wood"

---@class stiction.Surface: stiction.Material
---@field material? stiction.MaterialName friction, modulus and density of it, where they are not stated

---@class stiction.Geometry: stiction.Surface
---@field color? number[] r, g, b and perhaps a, 0 to 1
---@field category? integer collision filter bits
---@field mask? integer collision filter bits
---@field surface_velocity? stiction.Vector [m/s]
---@field friction_direction? stiction.Vector of mu, in the shape's axes; mu2 acts across it
---@field visual? boolean

---@class stiction.Samples
---@field times number[] [s], rising
---@field poses stiction.Pose[]
---@field velocities? stiction.Velocity[]
---@field periodic? boolean

---@class stiction.Body: stiction.Geometry
---@field resolution? number hint for the edges of its pressure field [m]
---@field field_margin? number how far outside of it faces of a patch begin [m]
---@field slab_thickness? number of the ground: depth at which a compliant one has its modulus [m]
---@field name? string
---@field pose? stiction.Pose
---@field xyz? stiction.Vector [m]
---@field rpy? stiction.Vector [rad]
---@field quat? number[]
---@field fixed? boolean part of the world
---@field on? stiction.Links one link that it is welded to
---@field velocity? stiction.Velocity|stiction.Vector at the start
---@field mass? number [kg]
---@field density? number [kg/m^3]
---@field radius? number [m]
---@field length? number [m]
---@field size? stiction.Vector edges [m]
---@field radii? stiction.Vector semi-axes of an ellipsoid [m]
---@field file? string of a mesh
---@field scale? number|stiction.Vector of a mesh
---@field convex? boolean of a mesh: its convex hull, the default; stated true also without the file's tetrahedra
---@field shapes? table[] of a compound

---@class stiction.HeightField: stiction.Geometry
---@field name? string
---@field pose? stiction.Pose
---@field xyz? stiction.Vector [m]
---@field rpy? stiction.Vector [rad]
---@field quat? number[]
---@field size number[] whole edges x, y [m]
---@field heights number[][]|fun(x: number, y: number): number rows along y of heights along x [m]
---@field rows? integer of heights; needed for a function
---@field columns? integer

---@class stiction.Distance
---@field distance number [m], negative in overlap
---@field point_a stiction.Vector [m]
---@field point_b stiction.Vector [m]
---@field normal stiction.Vector from a into b
---@field a stiction.group
---@field b stiction.group
---@field link_a stiction.link
---@field link_b stiction.link

---@class stiction.Hit
---@field distance number [m]
---@field point stiction.Vector [m]
---@field normal stiction.Vector outwards
---@field inside? boolean of a ray: it begins inside
---@field group stiction.group
---@field link stiction.link

---@class stiction.contact
---@field id integer
---@field a string
---@field b string
---@field link_a string
---@field link_b string
---@field point stiction.Vector [m]
---@field normal stiction.Vector from a into b
---@field distance number [m], negative in overlap
---@field mu number
---@field state "open"|"stick"|"slip"
---@field impulse stiction.Vector on b [N s]
---@field normal_impulse number [N s]
---@field friction_impulse number [N s]
---@field force stiction.Vector on b [N]
---@field normal_part stiction.Vector of force [N]
---@field friction_part stiction.Vector of force [N]
---@field normal_force number [N]
---@field friction_force number [N]
---@field slip_speed number [m/s]
---@field separation_speed number [m/s]
---@field glide_gap number estimate of the law, 0 unless it slips [m]

---@class stiction.ContactForce
---@field force stiction.Vector on the first side [N]
---@field normal_part stiction.Vector of force [N]
---@field friction_part stiction.Vector of force [N]
---@field normal_force number [N]
---@field friction_force number [N]
---@field torque stiction.Vector about the point [N m]
---@field sticking integer contacts
---@field slipping integer contacts
---@field slip_speed number the largest [m/s]
---@field glide_gap number the largest [m]

---@class stiction.PressureImage
---@field [integer] number[] rows of pressure, the first at the largest y [Pa]
---@field width integer pixels
---@field height integer pixels
---@field extent number[] along x and y [m]
---@field pixel_area number [m^2]
---@field force number pressure x pixel area, summed [N]
---@field max_pressure number [Pa]
---@field pose stiction.Pose of the image in the world, when the step began

---@class stiction.patch
---@field a string?
---@field b string?
---@field link_a string?
---@field link_b string?
---@field geometry_a string?
---@field geometry_b string?
---@field force stiction.Vector on b [N]
---@field normal_part stiction.Vector of force [N]
---@field friction_part stiction.Vector of force [N]
---@field normal_force number [N]
---@field friction_force number [N]
---@field torque stiction.Vector about the center of pressure [N m]
---@field center stiction.Vector of pressure [m]
---@field normal stiction.Vector mean, from a into b
---@field area number of the faces with force [m^2]
---@field mean_pressure number that acts [Pa]
---@field max_pressure number that acts, of a face [Pa]
---@field field_force number of the pressure field when the step began [N]
---@field field_max_pressure number of that field, at a corner [Pa]
---@field faces integer
---@field sticking integer faces
---@field slipping integer faces
---@field slip_speed number the largest [m/s]
---@field glide_gap number the largest [m]
---@field elastic_J number stored when the step began [J]
local patch = {}
---@param options? { width?: integer, height?: integer, extent?: number|number[], link?: stiction.Links, xyz?: stiction.Vector, rpy?: stiction.Vector, quat?: number[] }
---@return stiction.PressureImage
function patch:image(options) end

---@class stiction.certificate
---@field momentum? number [1]
---@field complementarity? number [1]
---@field complementarity_J? number [J]
---@field cone? number [1]
---@field penetration_m? number [m]
---@field natural_ncp? number [m/s]
---@field natural_ccp? number [m/s]
---@field natural_scaled? number [1]
---@field natural_ccp_scaled? number [1]
---@field friction_work_J? number [J]
---@field law_residual? number [1]
---@field box? number [N s]
---@field finite boolean

---@class stiction.step
---@field time number after the step [s]
---@field index integer
---@field certificate stiction.certificate
---@field status "ok"|"not_converged"|"stalled"
---@field converged boolean
---@field approximate boolean
---@field contradiction string? what the solver claims and the certificate contradicts
---@field iterations integer
---@field island_count integer
---@field contact_count integer
---@field constraint_count integer
---@field patch_count integer
---@field face_count integer of patches
---@field kinetic_J number
---@field potential_J number
---@field elastic_J number
---@field energy_J number
---@field input_work_J number
---@field contact_J number stored in contacts after the step [J]
---@field total_energy_J number energy_J + contact_J, the sum that does not rise by itself [J]
---@field overlap_m number
---@field overlap_without_contact_m number
---@field step_us number
---@field solve_us number
---@field cost number
local step = {}
---@return stiction.contact[]
function step:contacts() end
---@return { a: string, link_a: string?, b: string, link_b: string? }[] pairs of links that touch and did not before
function step:begun() end
---@return { a: string, link_a: string?, b: string, link_b: string? }[] pairs of links that touched before
function step:ended() end

---@class stiction.snapshot

---@alias stiction.JointValue number|number[] a list where the joint has several coordinates

---@class stiction.Finding
---@field severity "error"|"warning"|"note"
---@field code string a fixed word
---@field file string
---@field line integer 0: unknown
---@field where string "link b", "joint j"
---@field text string

---@class stiction.joint
---@field name string
---@field type string
local joint = {}
---@return stiction.JointValue
function joint:position() end
---@return stiction.JointValue
function joint:velocity() end
---@return stiction.JointValue what set_effort gave [N m] or [N]
function joint:effort() end
---@param q stiction.JointValue
function joint:set_position(q) end
---@param v stiction.JointValue
function joint:set_velocity(v) end
---@param effort stiction.JointValue [N m] or [N], held until changed
function joint:set_effort(effort) end
---@return { lower: number, upper: number, effort: number, velocity: number, acceleration: number }
function joint:limits() end
---@return { damping: number, friction: number, reflected_inertia: number, stiffness: number, rest: number, servo_kp: number, servo_kd: number }
function joint:dynamics() end
---@return stiction.Vector in the joint's frame
function joint:axis() end
---@return { joint: stiction.joint, multiplier: number, offset: number }?
function joint:mimic() end
---@return stiction.link? nil: the world
function joint:parent() end
---@return stiction.link
function joint:child() end
---@return stiction.group
function joint:group() end

---@class stiction.link
---@field name string
local link = {}
---@return stiction.pose
function link:pose() end
---@return stiction.Vector
function link:position() end
---@return stiction.Velocity
function link:velocity() end
---@return number [m/s]
function link:speed() end
---@param wrench { force?: stiction.Vector, torque?: stiction.Vector, point?: stiction.Vector }
function link:apply_force(wrench) end
---@param velocity stiction.Vector [m/s] in the axes of each shape
function link:set_surface_velocity(velocity) end
---@param factor number of mass and inertia, > 0; worlds with varied = true
function link:set_mass_factor(factor) end
---@param factor number of friction coefficients, >= 0; worlds with varied = true
function link:set_friction_factor(factor) end
---@param point? stiction.Vector in the world, default: the link's origin
---@param group? stiction.group whose velocities the columns are, default: its own
---@return number[][] 6 rows: linear, angular
function link:jacobian(point, group) end
---@return number [kg]
function link:mass() end
---@return stiction.link? nil: a root
function link:parent() end
---@return stiction.joint? the moving joint right above it
function link:joint() end
---@return stiction.group
function link:group() end

---@class stiction.group
---@field name string
local group = {}
---@return stiction.pose
function group:pose() end
---@return stiction.Vector
function group:position() end
---@return stiction.Velocity
function group:velocity() end
---@return number [m/s]
function group:speed() end
---@param wrench { force?: stiction.Vector, torque?: stiction.Vector, point?: stiction.Vector }
function group:apply_force(wrench) end
---@param velocity stiction.Vector [m/s] in the axes of each shape
function group:set_surface_velocity(velocity) end
---@param factor number of mass and inertia, > 0; worlds with varied = true
function group:set_mass_factor(factor) end
---@param factor number of friction coefficients, >= 0; worlds with varied = true
function group:set_friction_factor(factor) end
---@param point? stiction.Vector in the world, default: the link's origin
---@param group? stiction.group whose velocities the columns are, default: its own
---@return number[][] 6 rows: linear, angular
function group:jacobian(point, group) end
---@param path { to: table, from?: table, margin?: number, step?: number, exclude?: stiction.Links|stiction.Links[] }
---@return boolean
---@return string? where it meets what
function group:path_is_free(path) end
---In a task: moves the references of its controllers to a pose or to joint positions and waits until it is there.
---@param goal stiction.Pose|table<string, number>|number[]
---@param options? { speed?: number, seconds?: number, link?: stiction.Links, frame?: stiction.Links, tolerance?: number, timeout?: number }
function group:move_to(goal, options) end
---In a task: the same through waypoints, along a spline.
---@param points (stiction.Pose|table<string, number>|number[])[]
---@param options? { spline?: "monotone"|"cubic"|"quintic", times?: number[], speed?: number, seconds?: number, link?: stiction.Links, frame?: stiction.Links, tolerance?: number, timeout?: number }
function group:follow(points, options) end
---In a task: closes the fingers of a gripper or hand and waits until they stand.
---@param options? { force?: number, timeout?: number } [N], [s]
---@return { force: number, links: integer } what the fingers feel [N], how many links something presses on
function group:close(options) end
---The same: opens them.
---@param options? { force?: number, width?: number, timeout?: number } [N], [m] of grippers, [s]
---@return { force: number, links: integer }
function group:open(options) end
---The same: brings the fingers of a hand halfway.
---@param options? { force?: number, timeout?: number } [N], [s]
---@return { force: number, links: integer }
function group:preshape(options) end
---@param goal { link: stiction.Links, pose: stiction.Pose, seeds?: table[], random_starts?: integer, seed?: integer, tolerance?: number, angle_tolerance?: number, position_only?: boolean, iterations?: integer }
---@return table<string, number>? positions by joint; nil: not reached
---@return string? why not
function group:inverse_kinematics(goal) end
---@param pose stiction.Pose
function group:set_pose(pose) end
---@param velocity stiction.Velocity|stiction.Vector
function group:set_velocity(velocity) end
---@return number[]
function group:q() end
---@return table<string, stiction.JointValue>
function group:positions() end
---@param q number[]|table<string, stiction.JointValue>
function group:set_q(q) end
---@return number[]
function group:v() end
---@return table<string, stiction.JointValue>
function group:velocities() end
---@param v number[]|table<string, stiction.JointValue>
function group:set_v(v) end
---@return string[] names of the configurations that its file names
function group:keyframes() end
---@param name string
function group:set_keyframe(name) end
---@param other stiction.group a hand, or a single body
---@param link string of this group
---@param pose? stiction.Pose of the other's root in the link's frame
function group:attach(other, link, pose) end
---@return number[][] rows of M
function group:mass_matrix() end
---@return number[] of M a + bias = tau
function group:bias() end
---@param motion stiction.Samples|fun(t: number): stiction.Pose, stiction.Velocity?
function group:kinematic(motion) end
---@param name string
---@return stiction.joint
function group:joint(name) end
---@return stiction.joint[]
function group:joints() end
---@param name string
---@return stiction.link
function group:link(name) end
---@return stiction.link[]
function group:links() end
---@return number [kg]
function group:mass() end
---@return stiction.Finding[] of the load that made it
function group:diagnostics() end
---@param path string of the robot file to write
---@param options? { format?: string, name?: string } loader that writes it, else by the extension; name in the file
---@return stiction.Finding[] what the format cannot hold
function group:save(path, options) end

---@class stiction.ControllerView what an update sees: copies
---@field time number [s]
---@field period number between updates [s]
---@field weight number 0 to 1
---@field position number[] of the joints, in the order of controller:joints()
---@field velocity number[] the same
---@field reference table<string, number[]> by channel, as they are

---@class stiction.controller
local controller = {}
---@param references table<string, number|number[]|table<string, number>> channel = values
function controller:set(references) end
---@return string[]
function controller:joints() end
---@param ramp? { blend?: number } seconds of simulated time until it acts in full
function controller:activate(ramp) end
---@param ramp? { blend?: number } seconds of simulated time until it does nothing
function controller:deactivate(ramp) end
---@return number 0 to 1
function controller:weight() end

---@class stiction.sensor
local sensor = {}
---@return table? { time =, and force =, torque =, specific_force =, angular_velocity = as the sensor has them } of the last step
function sensor:read() end
---@return table? the same without noise
function sensor:exact() end

---@alias stiction.Nodes string|table region, { box = }, { plane =, offset = }, { nodes = } or a list of these

---@class stiction.soft
---@field name string
---@field node_count integer
local soft = {}
---@return stiction.Vector[]
function soft:positions() end
---@return stiction.Vector[]
function soft:velocities() end
---@param nodes? stiction.Nodes|integer
---@return stiction.Vector
function soft:position(nodes) end
---@param nodes? stiction.Nodes|integer
---@return stiction.Vector
function soft:velocity(nodes) end
---@param nodes stiction.Nodes
---@return integer[]
function soft:nodes(nodes) end
---@return number [kg]
function soft:mass() end
---@return number [m^3]
function soft:volume() end
---@param link stiction.Links|"world"
---@return stiction.Vector [N] on the soft body
function soft:attachment_force(link) end
---@param by? stiction.Links|stiction.soft all others without it
---@param options? { point: stiction.Vector? }
---@return stiction.ContactForce
function soft:contact_force(by, options) end
---@param chamber integer
---@param pressure? number [Pa]; without it the first argument is the pressure of all chambers
function soft:set_pressure(chamber, pressure) end
---@param chamber integer
---@return number [Pa]
function soft:pressure(chamber) end
---@param chamber integer
---@return number [m^3]
function soft:chamber_volume(chamber) end
---@param name string
---@return number[] one for each element
function soft:output(name) end
---@return number[][] of the elements on each node [N]
function soft:elastic_forces() end

---@class stiction.constraint
---@field name string
---@field type "weld"|"ball"|"distance"|"gear"|string plugin of kind constraint
local constraint = {}
---@return number error [m] of its first block, of a gear in the unit of its first joint
---@return number? angle [rad] of a weld; then those of further blocks
function constraint:error() end
---@return stiction.Vector|number linear [N s] on b
---@return stiction.Vector? angular [N m s] of a weld; then those of further blocks
function constraint:impulse() end
---@param part? integer block, default 0
---@return number ... of each row of the block in the last step [N, N m]
function constraint:force(part) end
---@return boolean nothing was carried in the last step
function constraint:slack() end
---@return stiction.Vector[] points of its line
function constraint:path() end
---@return number? length of its line [m]
function constraint:length() end
---@param channels table<string, number|number[]> inputs of the plugin
function constraint:set(channels) end
---@param name string channel or output of the plugin
---@return number|string|table
function constraint:get(name) end
---@param options? table { timeout = 1 }
function constraint:attach(options) end
---@param options? table { timeout = 1 }
function constraint:release(options) end

---@class stiction.world
---@field time number [s]
---@field dt number [s]
---@field steps integer
---@field gravity stiction.Vector [m/s^2]
---@field parameters string
---@field nq integer
---@field nv integer
---@field body_count integer
---@field integrator stiction.Plugin reads as its name; assigned between steps
local world = {}
---@param description table { "file", name =, base =, fixed =, keyframe =, joints =, packages =, allow_absolute =, visual_meshes =, loader =, velocity_limits =, mass_factor =, mu = ..., modulus =, resolution =, field_margin = }
---@return stiction.group
function world:load(description) end
---@param body? stiction.Body
---@return stiction.group
function world:ground(body) end
---@param body stiction.Body
---@return stiction.group
function world:sphere(body) end
---@param body stiction.Body
---@return stiction.group
function world:box(body) end
---@param body stiction.Body
---@return stiction.group
function world:capsule(body) end
---@param body stiction.Body
---@return stiction.group
function world:cylinder(body) end
---@param body stiction.Body
---@return stiction.group
function world:ellipsoid(body) end
---@param body stiction.Body
---@return stiction.group
function world:mesh(body) end
---@param field stiction.HeightField
---@return stiction.group
function world:height_field(field) end
---@param body stiction.Body
---@return stiction.group
function world:compound(body) end
---@param material stiction.Material with a and b: stiction.Links
function world:contact_material(material) end
---@param a stiction.Links
---@param b? stiction.Links
function world:disable_collisions(a, b) end
---@param description table { "weld"|"ball"|"distance"|"gear"|plugin, a =, b =, a_pose =, b_pose =, a_point =, b_point =, length =, joints =, ratio =, offset =, stiffness =, angular_stiffness =, relaxation_time =, name = }
---@return stiction.constraint
function world:constraint(description) end
---@return stiction.constraint[]
function world:constraints() end
---@param description table { box = |ball = |cylinder = |finger = |mesh =, cells =, xyz =, young =, poisson =, density =, model =, damping =, drag =, mu =, contact_thickness =, regions =, self_collision =, pinned =, attach =, name = }
---@return stiction.soft
function world:soft(description) end
---@param description table { size = |mesh =, cells =, xyz =, young =, poisson =, density =, thickness =, bending =, damping =, drag =, mu =, contact_thickness =, regions =, self_collision =, pinned =, attach =, name = }
---@return stiction.soft
function world:cloth(description) end
---@param description table { points =, segments =, radius =, density =, mass =, young =, poisson =, damping =, rest =, xyz =, mu =, self_collision =, pinned =, attach =, name = }
---@return stiction.soft
function world:cable(description) end
---@param name string
---@return stiction.soft
function world:soft_body(name) end
---@return stiction.soft[]
function world:soft_bodies() end
---@param description table { "plugin", target = group, joints = { names }, priority = 0, active = true, rate = Hz, update = fun(view: stiction.ControllerView): references, parameter = value }; "lua": efforts that update gives
---@return stiction.controller
function world:controller(description) end
---@param description table { "force_torque"|"imu"|"joint_torque"|"contact_force", link =, joint =, on =, by =, noise = { force = { density =, walk = } }, seed =, log = "name" }
---@return stiction.sensor
function world:sensor(description) end
---@return stiction.step
function world:step() end
---@param duration { seconds?: number, steps?: integer }
---@return fun(): stiction.step
function world:run(duration) end
---@return stiction.contact[]
function world:contacts() end
---@param on stiction.Links
---@param by? stiction.Links default: all others
---@param options? { point?: stiction.Vector } where the torque is taken about, default: the origin
---@return stiction.ContactForce of the last step
function world:contact_force(on, by, options) end
---@return stiction.patch[] of the last step
function world:patches() end
---@param a stiction.Links
---@param b stiction.Links
---@return stiction.patch? all faces between the two as one patch, with the forces on b
function world:patch(a, b) end
---@param a stiction.Links
---@param b stiction.Links
---@param options? { max?: number } [m]
---@return stiction.Distance? nil beyond max
function world:distance(a, b, options) end
---@param ray { from: stiction.Vector, direction?: stiction.Vector, to?: stiction.Vector, max?: number, exclude?: stiction.Links|stiction.Links[], visual?: boolean }
---@return stiction.Hit? nil when nothing is met
function world:raycast(ray) end
---@param shape table { "box", size =, xyz =, rpy =, margin =, exclude = }
---@return { distance: number, group: stiction.group, link: stiction.link }[]
function world:overlap(shape) end
---@param place { point: stiction.Vector, radius?: number, exclude?: stiction.Links|stiction.Links[] }
---@return stiction.Hit? nil beyond the radius
function world:nearest(place) end
---@param path string
---@param recorder? stiction.Plugin
function world:record(path, recorder) end
function world:close_recordings() end
---@param camera { follow?: any, target?: stiction.Vector, position?: stiction.Vector, azimuth?: number, elevation?: number, distance?: number, field_of_view?: number, seconds?: number, smoothing?: number } of recorders that draw; lua.md
function world:camera(camera) end
---@param text string what happens from now on; "": nothing
function world:caption(text) end
---@param name string
---@param value number recorders write it with the next step: what a loop plots stands one step late, world:log is in time
function world:plot(name, value) end
---@param columns table { "x", "z", values = function() return x, z end, patches = { { a, b } } }, before the first step and before a table is opened
function world:log(columns) end
---@return { time: number, step: integer, q: number[], v: number[] }
function world:state() end
---@param state { q?: number[], v?: number[] }
function world:set_state(state) end
---@return stiction.snapshot
function world:snapshot() end
---@param snapshot stiction.snapshot
function world:restore(snapshot) end
---@param path string
function world:save_state(path) end
---@param path string
function world:load_state(path) end
---@param path string the contact problem of the last step, as JSON
function world:save_problem(path) end
---Saves contact problems of the steps to come.
---@param options { file: string, every?: integer, when?: (fun(step: stiction.step): boolean), most?: integer, form?: "global"|"local" }
function world:capture(options) end
---@class stiction.solved
---@field status "ok"|"not_converged"|"stalled"
---@field converged boolean
---@field contradiction string? what the solver claims and the certificate contradicts
---@field iterations integer
---@field solve_us number
---@field certificate stiction.certificate
---@field impulses number[][] of contacts() on B, world axes [N s]

---The contact problem of the last step by another solver; the world stays as it is.
---@param solver table { "pgs", tolerance = 1e-10 }
---@return stiction.solved
function world:solve_problem(solver) end
---@return number[][] of each contact of the last step, on B, world axes [N s]
function world:law_impulses() end
---@alias stiction.BatchField "q"|"v"|"effort"|"reference"|"wrench"|"time"|"body_pose"|"contact_force"|"energy"|"report"|"certificate"|"command"

---Many worlds of one description, stepped side by side.
---@class stiction.batch
---@field count integer worlds
local batch = {}
---@param steps? integer 1
---@return integer failed worlds that stand still because they have failed
function batch:step(steps) end
---@param field stiction.BatchField
---@param worlds? integer|integer[] nil: all
---@return number[][]|number[]|number rows of the worlds; of one world its row; of time numbers
function batch:get(field, worlds) end
---@param field stiction.BatchField of the state, or "command"
---@param rows number[][]|number[] a row for each world, or one for all
---@param worlds? integer|integer[] nil: all
function batch:set(field, rows, worlds) end
---@param worlds? integer|integer[] nil: all
function batch:reset(worlds) end
---@param from integer|integer[] one world for all that are copied to, or one for each
---@param to? integer|integer[] nil: all
function batch:copy(from, to) end
---@param world integer
---@param visitor fun(world: stiction.world): ... gets the world for the time of the call
---@return any ... what the visitor returns
function batch:visit(world, visitor) end
---@param world integer
---@return string? why it stands still
function batch:error(world) end
---@param field stiction.BatchField
---@return integer columns 0: not kept
function batch:columns(field) end
---@param world integer that has failed
---@param path string of the capsule
function batch:save_capsule(world, path) end
---@return { steps: integer, not_converged: integer, stalled: integer, failed: integer }
function batch:tally() end
---@param world integer
---@return string
function batch:hash(world) end
function batch:close() end

---@param options { [1]: stiction.world, count?: integer, threads?: integer, outputs?: stiction.BatchField[] }
---@return stiction.batch
function stn.batch(options) end

---@class stiction.Prediction
---@field status "ok"|"not_converged"|"stalled"|"failed"
---@field converged boolean
---@field error string? of one that failed, which has nothing else
---@field q number[] at the step's end
---@field v number[]
---@field contacts stiction.contact[]?
---@field certificate stiction.certificate
---@field dq_dcommand number[][]? nv rows
---@field dq_dq number[][]? nv rows and columns
---@field derivatives_error string? why there are none

---The step that the world would make from there; the world stays as it is.
---@param q? number[] nil: where it is
---@param command? number[]|table<string, table> position references of all controllers, or by robot; nil: those in force
---@param options? { v?: number[], contacts?: boolean, derivatives?: boolean|"command" }
---@return stiction.Prediction
function world:predict(q, command, options) end
---@param q? number[]|number[][] of all, or one for each command
---@param commands (number[]|table<string, table>)[]
---@param options? { v?: number[], contacts?: boolean, derivatives?: boolean|"command", threads?: integer }
---@return stiction.Prediction[]
function world:predict_batch(q, commands, options) end
function world:reset() end
---@return stiction.world
function world:clone() end
function world:close() end
---@return string
function world:hash() end
---@param gravity stiction.Vector [m/s^2]
function world:set_gravity(gravity) end
---@param dt number [s]
function world:set_dt(dt) end
---@param low? number
---@param high? number
---@return number
function world:random(low, high) end
---@param kind "solver" | "law" | "contact" | "integrator" | "factor"
---@return table? plugin { "id", parameter = value, ... }
function world:plugin(kind) end
---@return number condition of the last step's convex problem
function world:condition_number() end
---@return { kinetic: number, potential: number, elastic: number, total: number } [J]
function world:energy() end
---@return stiction.Velocity momentum [kg m/s], about the origin [kg m^2/s]
function world:momentum() end
---@return number [kg]
function world:mass() end
---@param name string
---@return stiction.group
function world:group(name) end
---@return stiction.group[]
function world:groups() end
---@param name string "group/link", or the name of a link that only one group has
---@return stiction.link
function world:link(name) end
---@param name string "group/joint", or the name of a joint that only one group has
---@return stiction.joint
function world:joint(name) end

---@param a stiction.Links
---@param b? stiction.Links default: all others
---@return boolean
function world:in_contact(a, b) end
---@param links stiction.Links
---@return boolean does all of it that moves sleep?
function world:asleep(links) end
---@param hand stiction.Links
---@param object stiction.Links
---@return boolean
---@return string? why not
function world:held(hand, object) end
---@param name string|function for messages, may be left out
---@param f? function
---@param ... any its arguments
---@return stiction.task
function world:task(name, f, ...) end
---@return stiction.task[] that are under way, in the order of their making
function world:tasks() end

---@class stiction.task
---@field name string
---@field state "waiting"|"running"|"done"|"failed"|"cancelled"
local task = {}
---@return boolean whether it has ended, in whatever way
function task:done() end
---@return any ... what it returned; raises its error
function task:result() end
---Ends it where it waits and closes its to-be-closed variables.
function task:cancel() end
---In a task: until it is done.
---@return any ... what it returned; raises its error
function task:wait() end

---@class stiction
---@field deg number pi / 180
---@field version string
local stn = {}
---@param options? stiction.WorldOptions
---@return stiction.world
function stn.world(options) end
---@param path string a failure capsule
---@return stiction.world
function stn.capsule(path) end
---@generic T: table
---@param defaults T
---@return T
function stn.params(defaults) end
---@param choices string[]
---@return string
function stn.choice(choices) end
---@param range { [1]: number, min?: number, max?: number, unit?: string } default and bounds, both included; min, max or both
---@return number
function stn.number(range) end
---@param file string|table a name, or { "file", packages =, allow_absolute =, visual_meshes =, loader = }
---@return stiction.Finding[]
function stn.check_robot(file) end
---@param name stiction.MaterialName
---@return { name: string, density: number, mu: number, mu_static: number, modulus: number } [kg/m^3], [1], [1], [Pa]
function stn.material(name) end
---@param kind string "solver", "law", "contact", ...
---@return string[] ids, sorted
function stn.plugins(kind) end
---@param name string
---@param claim boolean|{ value: number, limit?: number, least?: number, unit?: string }
---@return boolean
function stn.check(name, claim) end
---@param name string
---@param value number
---@param unit? string
function stn.result(name, value, unit) end
---@param format string
function stn.warn(format, ...) end
---@class stn.test_options
---@field limit_s? number wall time after which the test is ended, of every test of a group [s]

---@param name string
---@param options stn.test_options
---@param body function
---@overload fun(name: string, body: function)
function stn.test(name, options, body) end
---The same as stn.test.
---@param name string
---@param options stn.test_options
---@param body fun(...) gets what the fixtures of its groups returned
---@overload fun(name: string, body: fun(...))
function stn.it(name, options, body) end
---@param name string
---@param options stn.test_options
---@param body function declares the tests and fixtures of the group
---@overload fun(name: string, body: function)
function stn.describe(name, options, body) end
---@param fixture fun(...): ... gets what fixtures before it returned; what it returns joins that
function stn.before_all(fixture) end
---@param fixture fun(...): ...
function stn.before_each(fixture) end
---@param fixture fun(...)
function stn.after_each(fixture) end
---@param fixture fun(...)
function stn.after_all(fixture) end
---@param reason string
function stn.skip(reason) end
---@class stn.tolerance
---@field tolerance? number in the unit of the value; of poses [m]
---@field relative? number times what is expected [1]
---@field angle? number of poses [rad]
---@field unit? string for the message

---@param value number|number[]|stn.pose
---@param expected number|number[]|stn.pose
---@param tolerance number|stn.tolerance
---@param what? string
function stn.near(value, expected, tolerance, what) end
---@param name string
---@param value any number, string, boolean, table of these, or world
---@param options? { tolerance?: number, relative?: number, unit?: string }
function stn.reference(name, value, options) end
---@param action function
---@param text? string
---@return string
function stn.fails(action, text) end
---@param pose stiction.Pose
---@return stiction.pose
function stn.pose(pose) end
---Of the world of the task that calls it, else of the only open one.
---@param name string|function for messages, may be left out
---@param f? function
---@param ... any its arguments
---@return stiction.task
function stn.task(name, f, ...) end
---In a task: at least one step.
---@param seconds? number [s]
function stn.wait(seconds) end
---In a task: until the condition returns something true, which it returns; false and a text after the timeout.
---@param condition fun(): any
---@param timeout? number [s]
---@return any
---@return string?
function stn.wait_until(condition, timeout) end
---In a task: until all are done.
---@param ... function|stiction.task
---@return any ... the first result of each
function stn.parallel(...) end
---In a task: until the first is done; the others are cancelled.
---@param ... function|stiction.task
---@return integer place among the arguments
---@return any ... what it returned
function stn.race(...) end

return stn
