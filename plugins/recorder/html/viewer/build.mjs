// SPDX-License-Identifier: Apache-2.0
// node build.mjs OUT: puts style and program of the viewer and the notices of what it is made from into page.html. Runs in a
// copy of this folder that has node_modules.
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const out = process.argv[2];
const { outputFiles } = await build({
  entryPoints: { program: 'src/main.js', style: 'src/style.css' },
  bundle: true, minify: true, format: 'iife', target: ['es2022', 'chrome105', 'firefox115', 'safari16.4'],
  legalComments: 'none', charset: 'utf8', write: false, outdir: 'out', logLevel: 'warning',
});
const built = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text.trim();

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const notices = Object.keys(dependencies).map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}`;
});

const parts = {
  NOTICES: ['This page holds the Stiction viewer (Apache-2.0) and:', ...notices].join('\n\n').replaceAll('--', '- -'),
  STYLE: built('style.css').replaceAll('</style', '<\\/style'),
  PROGRAM: built('program.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--'),
};
const page = readFileSync('page.html', 'utf8').replace(/@(NOTICES|STYLE|PROGRAM)@/g, (_, name) => parts[name]);
if (page.includes('\n<script type="application/x-stiction"')) {
  throw new Error('a line of the viewer looks like a block of a recording');
}
writeFileSync(out, page);
