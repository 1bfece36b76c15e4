# SPDX-License-Identifier: Apache-2.0
"""A controller of a world: its references and its weight."""
import ctypes
import math

from .native import Error, check, copy, flag, library, number, reals, shown, structs, text, told


def _channels(world, index):
    """(name, unit, count, numbers before it among the controller's) of every channel of controller `index`."""
    instance = structs["stn_instance"].from_address(library.stn_world_controller(world, index))
    desc = structs["stn_plugin_desc"].from_address(instance.desc)
    ops = structs["stn_controller_ops"].from_address(desc.ops)
    target = structs["stn_control_target"].from_address(library.stn_world_controller_target(world, index))
    rows = structs["stn_controller_ops"].channel_rows
    told_rows = ops.size >= rows.offset + rows.size and ops.channel_rows
    found, start = [], 0
    for i in range(ops.channel_count):
        channel = (structs["stn_channel"] * ops.channel_count).from_address(ops.channels)[i]
        length = max(1, (ctypes.c_int32 * ops.channel_count).from_address(ops.channel_rows)[i]) if told_rows else 1
        count = (channel.size if channel.size > 0 else target.dof_count) * length
        found.append((told(channel.name), told(channel.unit), count, start, channel.size == 0 and length == 1))
        start += count
    return found, start


def references(world, count):
    """(controller, channel, start, count, by_velocity) of all channels of all controllers among the `count` references of the state: those
    of controllers are the last."""
    parts, own = [], [_channels(world, i) for i in range(library.stn_world_controller_count(world))]
    start = count - sum(total for _, total in own)
    for index, (channels, total) in enumerate(own):
        parts += [(index, name, start + before, size, by_velocity) for name, _, size, before, by_velocity in channels]
        start += total
    return parts


class Controller:
    """A controller of a world, by its number."""

    def __init__(self, world, index):
        self.world, self.index = world, index

    @property
    def plugin(self):
        """Name of the plugin."""
        with self.world._native as world:
            instance = structs["stn_instance"].from_address(library.stn_world_controller(world, self.index))
            return told(structs["stn_plugin_desc"].from_address(instance.desc).id)

    @property
    def channels(self):
        """Dictionary from names of references to (count, unit)."""
        with self.world._native as world:
            return {name: (count, unit) for name, unit, count, _, _ in _channels(world, self.index)[0]}

    def set(self, **values):
        """Writes references, position=[...]: as many numbers as the channel has (`channels`); they hold until changed."""
        counts = self.channels
        for name, value in values.items():
            if name not in counts:
                raise Error(f"Controller.set: there is no reference '{name}'; there are {', '.join(counts)}")
            array = reals([value] if counts[name][0] == 1 and isinstance(value, (int, float)) else value, (counts[name][0],),
                          f"Controller.set: {name}")
            with self.world._native as world:
                error = self.world._native.error
                check(library.stn_world_set_reference(world, self.index, text(name, "name"), array.ctypes.data, len(array),
                                                      ctypes.byref(error)), error)

    def get(self, name):
        """A reference as it is set; a read-only copy."""
        with self.world._native as world:
            state = self.world._state(world)
            for controller, channel, start, count, _ in references(world, state.sizes.reference_count):
                if controller == self.index and channel == name:
                    return copy(state.reference + 8 * start, count)
        raise Error(f"Controller.get: there is no reference {shown(name)}")

    @property
    def weight(self):
        """Its share of the joints' efforts, 0 to 1."""
        with self.world._native as world:
            return library.stn_world_controller_weight(world, self.index)

    def activate(self, active=True, blend=0.0):
        """Goes to weight 1, or 0, within `blend` [s] of simulated time."""
        active, blend = flag(active, "Controller.activate: active"), number(blend, "Controller.activate: blend")
        if not 0.0 <= blend < math.inf:
            raise Error("Controller.activate: blend must be >= 0 s and finite")
        with self.world._native as world:
            error = self.world._native.error
            check(library.stn_world_activate_controller(world, self.index, active, blend, ctypes.byref(error)), error)
