// Makes bundle/: page.js and page.css (with uPlot, minified, ASCII), the policy that allows these two, uPlot's licence,
// and SHA256SUMS of the sources and of what was made from them, by which tests/web_bundle.cmake finds a stale bundle.

import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

mkdirSync('bundle', { recursive: true });
const options = { bundle: true, minify: true, charset: 'ascii', legalComments: 'none', logLevel: 'warning', write: false };
const script = await build({ ...options, entryPoints: ['page/main.ts'], format: 'iife', target: ['es2020'] });
const style = await build({ ...options, entryPoints: ['page/style.css'], target: ['chrome100', 'firefox100', 'safari15'] });
const licence = 'Charts: uPlot, Copyright (c) 2022 Leon Sorokin, MIT licence.';
const page = {
    // The library's licence goes with every copy, and so with every page.
    'page.js': `/* ${licence}\n\n${readFileSync('node_modules/uplot/LICENSE', 'utf8').trim()} */\n${script.outputFiles[0].text.trim()}`,
    'page.css': `/* ${licence} */\n${style.outputFiles[0].text.trim()}`,
};
const hash = (text, form) => createHash('sha256').update(text).digest(form);
for (const [name, text] of Object.entries(page)) {
    if (/[^\x00-\x7f]/.test(text)) throw new Error(`${name} is not ASCII`);
    if (/<\/(script|style)/i.test(text)) throw new Error(`${name} would end its element`);
    writeFileSync(`bundle/${name}`, text);
}
writeFileSync('bundle/policy.txt', `default-src 'none'; script-src 'sha256-${hash(page['page.js'], 'base64')}'; ` +
    `style-src 'sha256-${hash(page['page.css'], 'base64')}'; base-uri 'none'; form-action 'none'`);
copyFileSync('node_modules/uplot/LICENSE', 'bundle/LICENSE-uPlot');

const sources = [...readdirSync('page').map((name) => `page/${name}`), 'bundle.mjs', 'package.json', 'package-lock.json'];
const made = ['bundle/page.js', 'bundle/page.css', 'bundle/policy.txt', 'bundle/LICENSE-uPlot'];
writeFileSync('bundle/SHA256SUMS', [...sources, ...made].sort().map((name) => `${hash(readFileSync(name), 'hex')}  ${name}\n`).join(''));
for (const name of made) console.log(`${name} ${readFileSync(name).length} bytes`);
