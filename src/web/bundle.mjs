// Makes bundle/: the script and style of pages of results (page.js, page.css) and of the explorer (explore.js,
// explore.css), with uPlot, minified, ASCII; the policies that allow them; solver.mjs, which runs the explorer's solver in
// Node for its tests; uPlot's licence; and SHA256SUMS of the sources and of what was made from them, by which
// tests/web_bundle.cmake finds a stale bundle. solver.txt is made by scripts/web.sh --solver.

import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

mkdirSync('bundle', { recursive: true });
const options = { bundle: true, minify: true, charset: 'ascii', legalComments: 'none', logLevel: 'warning', write: false };
const made = [], hash = (text, form) => createHash('sha256').update(text).digest(form);
const built = async (more) => (await build({ ...options, ...more })).outputFiles[0].text.trim();
const script = (entry, define = {}) => built({ entryPoints: [entry], format: 'iife', target: ['es2020'], define });
const style = (entry) => built({ entryPoints: [entry], target: ['chrome100', 'firefox100', 'safari15'] });

function write(name, text) {
    if (/[^\x00-\x7f]/.test(text)) throw new Error(`${name} is not ASCII`);
    if (/<\/(script|style)/i.test(text)) throw new Error(`${name} would end its element`);
    writeFileSync(`bundle/${name}`, text);
    made.push(`bundle/${name}`);
}

const licence = 'Charts: uPlot, Copyright (c) 2022 Leon Sorokin, MIT licence.';
/// A page's script, style and policy. The library's licence goes with every copy, and so with every page.
function writePage(name, policyName, js, css, more) {
    const head = `/* ${licence}\n\n${readFileSync('node_modules/uplot/LICENSE', 'utf8').trim()} */\n`;
    const texts = { script: head + js, style: `/* ${licence} */\n${css}` };
    write(`${name}.js`, texts.script);
    write(`${name}.css`, texts.style);
    write(policyName, `default-src 'none'; script-src 'sha256-${hash(texts.script, 'base64')}'${more.script}; ` +
        `style-src 'sha256-${hash(texts.style, 'base64')}'; ${more.other}base-uri 'none'; form-action 'none'`);
}

writePage('page', 'policy.txt', await script('page/main.ts'), await style('page/style.css'), { script: '', other: '' });
// The explorer's worker is a text in its script. It may be started from memory, and WebAssembly compiled; no more.
const workerScript = JSON.stringify(await script('explore/worker.ts'));
writePage('explore', 'explore-policy.txt', await script('explore/main.ts', { workerScript }), await style('explore/style.css'),
          { script: " 'wasm-unsafe-eval'", other: 'worker-src blob:; ' });
write('solver.mjs', `${await built({ entryPoints: ['explore/wasm.ts'], format: 'esm', target: ['es2022'] })}\n`);
copyFileSync('node_modules/uplot/LICENSE', 'bundle/LICENSE-uPlot');
made.push('bundle/LICENSE-uPlot');

const folder = (name) => readdirSync(name).map((file) => `${name}/${file}`);
const sources = [...folder('page'), ...folder('explore'), 'bundle.mjs', 'package.json', 'package-lock.json'];
writeFileSync('bundle/SHA256SUMS', [...sources, ...made].sort().map((name) => `${hash(readFileSync(name), 'hex')}  ${name}\n`).join(''));
for (const name of made) console.log(`${name} ${readFileSync(name).length} bytes`);
