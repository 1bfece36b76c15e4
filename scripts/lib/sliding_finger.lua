-- SPDX-License-Identifier: Apache-2.0
-- A robot as URDF text: a sphere of this radius [m] on three slides, joints x, y and z, its link "tip".

local function slide(name, parent, child, axis)
  return ([[<joint name="%s" type="prismatic"><parent link="%s"/><child link="%s"/><axis xyz="%s"/>
    <limit lower="-2" upper="2" effort="1000" velocity="10"/></joint>]]):format(name, parent, child, axis)
end

local function link(name, shape)
  return ([[<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>%s</link>]])
    :format(name, shape)
end

return function(radius)
  return '<robot name="finger"><link name="base"/>' .. link("bridge", "") .. link("cart", "")
    .. link("tip", ('<collision><geometry><sphere radius="%g"/></geometry></collision>'):format(radius))
    .. slide("x", "base", "bridge", "1 0 0") .. slide("y", "bridge", "cart", "0 1 0") .. slide("z", "cart", "tip", "0 0 1") .. "</robot>"
end
