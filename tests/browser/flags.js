// SPDX-License-Identifier: Apache-2.0
// How Chromium is started: it draws without a graphics card and asks nobody anything.

export const FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-quic", "--no-first-run"];
