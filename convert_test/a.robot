<?xml version="1.0" encoding="UTF-8"?>
<robot name="my &lt;arm&gt;" xmlns:drake="http://drake.mit.edu">
  <material name="colour_1">
    <color rgba="0.55 0.56 0.58 1"/>
  </material>
  <material name="colour_2">
    <color rgba="0.93 0.42 0.08 1"/>
  </material>
  <link name="iiwa14_link_0">
    <inertial>
      <origin xyz="0 0 0.075"/>
      <mass value="6.847"/>
      <inertia ixx="0.0317102" ixy="0" ixz="0" iyy="0.0317102" iyz="0" izz="0.0377441"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.075"/>
      <geometry>
        <cylinder radius="0.105" length="0.15"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.075"/>
      <geometry>
        <cylinder radius="0.105" length="0.15"/>
      </geometry>
    </collision>
  </link>
  <link name="iiwa14_link_1">
    <inertial>
      <origin xyz="0 0 0.105"/>
      <mass value="4.89"/>
      <inertia ixx="0.0248473" ixy="0" ixz="0" iyy="0.0248473" iyz="0" izz="0.0137531"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.105"/>
      <geometry>
        <cylinder radius="0.075" length="0.21"/>
      </geometry>
      <material name="colour_2"/>
    </visual>
    <visual>
      <origin xyz="0 0 0.21"/>
      <geometry>
        <sphere radius="0.075"/>
      </geometry>
      <material name="colour_2"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.15"/>
      <geometry>
        <drake:capsule radius="0.075" length="0.12"/>
      </geometry>
    </collision>
  </link>
  <joint name="iiwa14_joint_1" type="revolute">
    <parent link="iiwa14_link_0"/>
    <child link="iiwa14_link_1"/>
    <origin xyz="0 0 0.15"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2.9670597283903604" upper="2.9670597283903604" effort="320" velocity="1.4835298641951802"/>
    <dynamics damping="2.16" friction="0"/>
  </joint>
  <link name="iiwa14_link_2">
    <inertial>
      <origin xyz="0 0 0.105"/>
      <mass value="4.89"/>
      <inertia ixx="0.0248473" ixy="0" ixz="0" iyy="0.0248473" iyz="0" izz="0.0137531"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.105"/>
      <geometry>
        <cylinder radius="0.075" length="0.21"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <visual>
      <geometry>
        <sphere radius="0.075"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <visual>
      <origin xyz="0 0 0.21"/>
      <geometry>
        <sphere radius="0.075"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.105"/>
      <geometry>
        <drake:capsule radius="0.075" length="0.21"/>
      </geometry>
    </collision>
  </link>
  <joint name="iiwa14_joint_2" type="revolute">
    <parent link="iiwa14_link_1"/>
    <child link="iiwa14_link_2"/>
    <origin xyz="0 0 0.21"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2.0943951023931953" upper="2.0943951023931953" effort="320" velocity="1.4835298641951802"/>
    <dynamics damping="2.16" friction="0"/>
  </joint>
  <link name="iiwa14_link_3">
    <inertial>
      <origin xyz="0 0 0.105"/>
      <mass value="4.89"/>
      <inertia ixx="0.0248473" ixy="0" ixz="0" iyy="0.0248473" iyz="0" izz="0.0137531"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.105"/>
      <geometry>
        <cylinder radius="0.075" length="0.21"/>
      </geometry>
      <material name="colour_2"/>
    </visual>
    <visual>
      <geometry>
        <sphere radius="0.075"/>
      </geometry>
      <material name="colour_2"/>
    </visual>
    <visual>
      <origin xyz="0 0 0.21"/>
      <geometry>
        <sphere radius="0.075"/>
      </geometry>
      <material name="colour_2"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.105"/>
      <geometry>
        <drake:capsule radius="0.075" length="0.21"/>
      </geometry>
    </collision>
  </link>
  <joint name="iiwa14_joint_3" type="revolute">
    <parent link="iiwa14_link_2"/>
    <child link="iiwa14_link_3"/>
    <origin xyz="0 0 0.21"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2.9670597283903604" upper="2.9670597283903604" effort="176" velocity="1.7453292519943295"/>
    <dynamics damping="1.01" friction="0"/>
  </joint>
  <link name="iiwa14_link_4">
    <inertial>
      <origin xyz="0 0 0.1"/>
      <mass value="4.057"/>
      <inertia ixx="0.0184932" ixy="0" ixz="0" iyy="0.0184932" iyz="0" izz="0.00993965"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.1"/>
      <geometry>
        <cylinder radius="0.07" length="0.2"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <visual>
      <geometry>
        <sphere radius="0.07"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.1"/>
      <geometry>
        <drake:capsule radius="0.07" length="0.2"/>
      </geometry>
    </collision>
  </link>
  <joint name="iiwa14_joint_4" type="revolute">
    <parent link="iiwa14_link_3"/>
    <child link="iiwa14_link_4"/>
    <origin xyz="0 0 0.21"/>
    <axis xyz="0 -1 0"/>
    <limit lower="-2.0943951023931953" upper="2.0943951023931953" effort="176" velocity="1.3089969389957472"/>
    <dynamics damping="1.34" friction="0"/>
  </joint>
  <link name="iiwa14_link_5">
    <inertial>
      <origin xyz="0 0 0.1"/>
      <mass value="2.505"/>
      <inertia ixx="0.0102444" ixy="0" ixz="0" iyy="0.0102444" iyz="0" izz="0.00378881"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.1"/>
      <geometry>
        <cylinder radius="0.055" length="0.2"/>
      </geometry>
      <material name="colour_2"/>
    </visual>
    <visual>
      <geometry>
        <sphere radius="0.055"/>
      </geometry>
      <material name="colour_2"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.04"/>
      <geometry>
        <drake:capsule radius="0.055" length="0.08"/>
      </geometry>
    </collision>
  </link>
  <joint name="iiwa14_joint_5" type="revolute">
    <parent link="iiwa14_link_4"/>
    <child link="iiwa14_link_5"/>
    <origin xyz="0 0 0.2"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2.9670597283903604" upper="2.9670597283903604" effort="110" velocity="2.2689280275926285"/>
    <dynamics damping="0.485" friction="0"/>
  </joint>
  <link name="iiwa14_link_6">
    <inertial>
      <mass value="1.516"/>
      <inertia ixx="0.00256204" ixy="0" ixz="0" iyy="0.00256204" iyz="0" izz="0.00256204"/>
    </inertial>
    <visual>
      <geometry>
        <sphere radius="0.065"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <visual>
      <origin xyz="0 0 0.04"/>
      <geometry>
        <cylinder radius="0.045" length="0.08"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <collision>
      <geometry>
        <sphere radius="0.065"/>
      </geometry>
    </collision>
  </link>
  <joint name="iiwa14_joint_6" type="revolute">
    <parent link="iiwa14_link_5"/>
    <child link="iiwa14_link_6"/>
    <origin xyz="0 0 0.2"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2.0943951023931953" upper="2.0943951023931953" effort="40" velocity="2.356194490192345"/>
    <dynamics damping="0.17" friction="0"/>
  </joint>
  <link name="iiwa14_link_7">
    <inertial>
      <origin xyz="0 0 0.023"/>
      <mass value="0.305"/>
      <inertia ixx="0.000175782" ixy="0" ixz="0" iyy="0.000175782" iyz="0" izz="0.000244"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.023"/>
      <geometry>
        <cylinder radius="0.04" length="0.046"/>
      </geometry>
      <material name="colour_1"/>
    </visual>
    <collision>
      <origin xyz="0 0 0.023"/>
      <geometry>
        <cylinder radius="0.04" length="0.046"/>
      </geometry>
    </collision>
  </link>
  <joint name="iiwa14_joint_7" type="revolute">
    <parent link="iiwa14_link_6"/>
    <child link="iiwa14_link_7"/>
    <origin xyz="0 0 0.08"/>
    <axis xyz="0 0 1"/>
    <limit lower="-3.0543261909900767" upper="3.0543261909900767" effort="40" velocity="2.356194490192345"/>
    <dynamics damping="0.17" friction="0"/>
  </joint>
  <link name="iiwa14_flange"/>
  <joint name="iiwa14_flange_joint" type="fixed">
    <parent link="iiwa14_link_7"/>
    <child link="iiwa14_flange"/>
    <origin xyz="0 0 0.046"/>
  </joint>
  <transmission name="iiwa14_joint_1_transmission">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="iiwa14_joint_1"/>
    <actuator name="iiwa14_motor_1">
      <drake:rotor_inertia value="3.24"/>
      <drake:gear_ratio value="1"/>
    </actuator>
  </transmission>
  <transmission name="iiwa14_joint_2_transmission">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="iiwa14_joint_2"/>
    <actuator name="iiwa14_motor_2">
      <drake:rotor_inertia value="3.24"/>
      <drake:gear_ratio value="1"/>
    </actuator>
  </transmission>
  <transmission name="iiwa14_joint_3_transmission">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="iiwa14_joint_3"/>
    <actuator name="iiwa14_motor_3">
      <drake:rotor_inertia value="1.51"/>
      <drake:gear_ratio value="1"/>
    </actuator>
  </transmission>
  <transmission name="iiwa14_joint_4_transmission">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="iiwa14_joint_4"/>
    <actuator name="iiwa14_motor_4">
      <drake:rotor_inertia value="2.02"/>
      <drake:gear_ratio value="1"/>
    </actuator>
  </transmission>
  <transmission name="iiwa14_joint_5_transmission">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="iiwa14_joint_5"/>
    <actuator name="iiwa14_motor_5">
      <drake:rotor_inertia value="0.7270000000000001"/>
      <drake:gear_ratio value="1"/>
    </actuator>
  </transmission>
  <transmission name="iiwa14_joint_6_transmission">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="iiwa14_joint_6"/>
    <actuator name="iiwa14_motor_6">
      <drake:rotor_inertia value="0.255"/>
      <drake:gear_ratio value="1"/>
    </actuator>
  </transmission>
  <transmission name="iiwa14_joint_7_transmission">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="iiwa14_joint_7"/>
    <actuator name="iiwa14_motor_7">
      <drake:rotor_inertia value="0.255"/>
      <drake:gear_ratio value="1"/>
    </actuator>
  </transmission>
  <drake:collision_filter_group name="iiwa14_link_0">
    <drake:member link="iiwa14_link_0"/>
    <drake:ignored_collision_filter_group name="iiwa14_link_1"/>
  </drake:collision_filter_group>
  <drake:collision_filter_group name="iiwa14_link_1">
    <drake:member link="iiwa14_link_1"/>
  </drake:collision_filter_group>
</robot>
