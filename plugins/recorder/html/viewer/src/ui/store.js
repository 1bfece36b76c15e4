// SPDX-License-Identifier: Apache-2.0

/** Values that tell when one of them changes. */
export class Store {
  #listeners = [];

  /** @param {Record<string, any>} values */
  constructor(values) {
    this.values = values;
  }

  get(name) {
    return this.values[name];
  }

  set(name, value) {
    if (this.values[name] === value) return;
    this.values[name] = value;
    this.#listeners.forEach((listener) => listener(name, value));
  }

  toggle(name) {
    this.set(name, !this.values[name]);
  }

  /** @param {(name: string, value: any) => void} listener */
  watch(listener) {
    this.#listeners.push(listener);
  }
}
