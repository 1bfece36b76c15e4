// SPDX-License-Identifier: Apache-2.0
// The time that is shown, which all recordings of a page share.

export const SPEEDS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4];

export class Playback {
  /** @param {import("./data/recording.js").Recording[]} recordings @param {() => void} onChange */
  constructor(recordings, onChange) {
    this.recordings = recordings;
    this.onChange = onChange;
    this.time = recordings[0].timeOf(0);
    this.playing = false;
    this.loop = true;
    this.speed = 1;
    this.last = null;
  }

  get start() {
    return Math.min(...this.recordings.map((recording) => recording.timeOf(0)));
  }

  /** [s] as far as the files are read, or as they say. */
  get end() {
    return Math.max(...this.recordings.map((recording) => Math.max(recording.lastTime, recording.end?.time ?? 0)));
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.onChange();
  }

  toggle() {
    this.playing = !this.playing;
    this.last = null;
    if (this.playing && this.time >= this.end) this.time = this.start;
    this.onChange();
  }

  pause() {
    if (this.playing) this.toggle();
  }

  /** Goes on by frames of the first recording. @param {number} frames */
  step(frames) {
    this.pause();
    const [recording] = this.recordings;
    const from = recording.frameAt(this.time + 1e-9);
    const between = recording.timeOf(from) < this.time - 1e-9;
    const to = from + frames + (between && frames < 0 ? 1 : 0);
    this.seek(recording.timeOf(Math.min(Math.max(to, 0), recording.frameCount - 1)));
  }

  /** @param {number} by  places in SPEEDS */
  changeSpeed(by) {
    const at = SPEEDS.indexOf(this.speed) + by;
    this.speed = SPEEDS[Math.min(Math.max(at, 0), SPEEDS.length - 1)];
    this.onChange();
  }

  set(name, value) {
    this[name] = value;
    this.onChange();
  }

  /** Moves on when playing. @param {number} now  [ms] @returns {boolean} whether the time has changed */
  tick(now) {
    if (!this.playing) return false;
    const passed = this.last === null ? 0 : Math.min((now - this.last) / 1000, 0.25);
    this.last = now;
    this.time += passed * this.speed;
    if (this.time >= this.end) {
      if (this.loop) this.time = this.start;
      else {
        this.time = this.end;
        this.playing = false;
        this.onChange();
      }
    }
    return true;
  }
}
