// The explorer's solver against the program: node web_solver.mjs PROGRAM COUNT
// Draws COUNT networks over the whole range of the explorer's controls, solves each in WebAssembly (src/web/bundle) and by
// PROGRAM, and compares certificates, metrics and the curve that a page shows. The tolerance is what the explorer
// promises. A law for which the page does not wait is left out and counted.
// Then moves networks by small steps, as a slider does: a law that starts from the one before must be that of a cold start.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { coarse, compile, fine, Solver } from '../src/web/bundle/solver.mjs';

const program = resolve(process.argv[2]), count = Number(process.argv[3]);
const tolerance = 1e-6, followed = 1e-9;
const few = count <= 10;  // small networks alone, in the tests of every day
const folder = mkdtempSync(join(tmpdir(), 'spectra-solver-'));

let state = 12345;
function uniform() {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) / 16777216;
}
const whole = (least, most) => least + Math.floor(uniform() * (most - least + 1));
const digits = (x) => Number(x.toPrecision(3));

const deep = [25, 30, 40, 50, 70, 100];

function draw(families) {
    const layers = whole(1, few ? 6 : 20 + deep.length);
    return {
        mixer: families[whole(0, families.length - 1)], streams: whole(1, few ? 4 : 8), depth: layers <= 20 ? layers : deep[layers - 21],
        noise: digits(10 ** (4 * uniform() - 3)), seed: whole(1, 999999), shared: uniform() < 0.25,
        gate: digits(uniform()), beta: digits(4 * uniform()), logitScale: digits(6 * uniform()),
    };
}

/// What the program finds: metrics as it prints them, and the curves of its page.
function byProgram(settings) {
    const own = { bistochastic: ['logitScale'], cayley: ['logitScale'], 'cayley-hybrid': ['gate', 'beta'], householder: ['beta'] }[settings.mixer] ?? [];
    const words = ['--mixer', settings.mixer, '--streams', settings.streams, '--depth', settings.depth, '--noise', settings.noise, '--seed', settings.seed];
    if (own.includes('gate')) words.push('--gate', settings.gate);
    if (own.includes('beta')) words.push('--beta', settings.beta);
    if (own.includes('logitScale')) words.push('--logit-scale', settings.logitScale);
    if (settings.shared) words.push('--draws', 'shared');
    const text = run([...words.map(String), '--samples', '0', '--theory', 'ov,scalar', '--json', '--plot', 'html', '--out', 'one', '--force']);
    const page = readFileSync(join(folder, 'one.html'), 'utf8').match(/id="data">(.*?)<\/script>/s)[1];
    return { metrics: JSON.parse(text).metrics, theory: JSON.parse(page).files[0].run.theory };
}

/// Status 3 is a law that is not certified: the explorer must find the same.
function run(words) {
    try {
        return execFileSync(program, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
        if (error.status === 3) return error.stdout;
        throw new Error(`${words.join(' ')}: ${error.stderr ?? error.message}`);
    }
}

const far = (a, b, scale = 1) => Math.abs(a - b) / Math.max(scale, Math.abs(b));

/// The largest difference of two certified laws: of metrics and shares, and of the density where both have the same grid.
function compare(solved, metrics, theory, words) {
    let worst = 0, density = 0;
    for (const [name, value] of Object.entries(metrics)) {
        const found = solved.metrics[name];
        assert.equal(found === null, value === null, `${words}: ${name} is ${found}, ${value} by the program`);
        if (value !== null) worst = Math.max(worst, far(found, value));
    }
    assert.equal(solved.theory.atoms.length, theory.atoms.length, `${words}: atoms`);
    const sameGrid = solved.theory.log_s.length === theory.log_s.length && theory.log_s.every((x, k) => far(solved.theory.log_s[k], x) < 1e-3);
    const top = Math.max(1, ...theory.density_log);
    if (sameGrid) theory.log_s.forEach((x, k) => {
        worst = Math.max(worst, far(solved.theory.log_s[k], x), far(solved.theory.cumulative[k], theory.cumulative[k]));
        density = Math.max(density, Math.abs(solved.theory.density_log[k] - theory.density_log[k]) / top);
    });
    return { worst, density, sameGrid };
}

const module = await compile(readFileSync(new URL('../src/web/bundle/solver.txt', import.meta.url), 'utf8'));
const solver = new Solver(module);
const patience = 30;  // seconds, the page's
let largest = 0, other = 0, doubtful = 0, tooLong = 0;
for (let k = 0; k < count; ++k) {
    const settings = draw(solver.families), words = JSON.stringify(settings);
    const laws = ['ov', 'scalar'].map((method) => [method, solver.solve(settings, method, fine, patience)]).filter(([, solved]) => solved);
    tooLong += 2 - laws.length;
    if (laws.length === 0) continue;
    const expected = byProgram(settings);
    for (const [method, solved] of laws) {
        const theory = expected.theory[method];
        assert.equal(solved.certified, theory.attributes.certified === 1, `${method} of ${words}: ${solved.message}, by the program ${theory.certificate}`);
        if (!solved.certified && ++doubtful) continue;  // nobody promises its numbers
        const { worst, density, sameGrid } = compare(solved, expected.metrics[method], theory, `${method} of ${words}`);
        assert.ok(Math.max(worst, density) <= tolerance, `${method} of ${words}: differs by ${worst}, densities by ${density}`);
        largest = Math.max(largest, worst, density);
        if (!sameGrid) ++other;
    }
}
assert.throws(() => solver.solve({ ...draw(['cayley-hybrid']), gate: 7 }, 'ov', fine), /gate.*must be 0 to 1/);
rmSync(folder, { recursive: true });
console.log(`${count} networks, two theories each: at most ${largest.toExponential(1)} apart; ${other} of ${2 * count} laws on another grid, compared by their metrics; ${doubtful} not certified by either, ${tooLong} beyond the page's ${patience} s`);

/// One step of a slider, up or down.
const moved = (settings) => ({ ...settings, noise: settings.noise * 1.2 ** (2 * uniform() - 1), gate: Math.min(1, Math.max(0, settings.gate + 0.02 * (uniform() - 0.5))),
                               beta: settings.beta * 1.02 ** (2 * uniform() - 1), logitScale: settings.logitScale * 1.02 ** (2 * uniform() - 1) });
const started = new Solver(module), fineStarted = new Solver(module), steps = few ? 10 : 50, spent = { warm: 0, cold: 0 };  // time of this process, whatever else runs beside it
const timed = (kind, act) => {
    const began = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(began);
    spent[kind] += user + system;
};
let apart = 0, settings = null;
for (let k = 0; k < steps; ++k) {
    if (k % 5 === 0) {
        settings = { ...draw(solver.families), streams: whole(1, few ? 3 : 5), depth: whole(1, few ? 4 : 12) };
        for (const method of ['ov', 'scalar']) {
            started.solve(settings, method, coarse, 0, true);
            fineStarted.solve(settings, method, fine, 0, true);
        }
    }
    settings = moved(settings);
    const words = JSON.stringify(settings);
    for (const method of ['ov', 'scalar']) {
        // The first answer, as the page asks for it, beside one from nothing; and the same for the whole law, to compare.
        timed('warm', () => started.solve(settings, method, coarse, 0, true));
        timed('cold', () => solver.solve(settings, method, coarse));
        const warm = fineStarted.solve(settings, method, fine, 0, true), cold = solver.solve(settings, method, fine);
        assert.equal(warm.certified, cold.certified, `${method} of ${words}: ${warm.message}, from nothing ${cold.message}`);
        if (!warm.certified) continue;
        // Rounding is magnified in the density next to an edge, where it is a square root.
        const { worst, density } = compare(warm, cold.metrics, cold.theory, `${method} of ${words}`);
        assert.ok(worst <= followed && density <= 100 * followed, `${method} of ${words}: differs by ${worst} from a cold start, densities by ${density}`);
        apart = Math.max(apart, worst);
    }
}
console.log(`${steps} small steps, two theories each: warm and cold starts at most ${apart.toExponential(1)} apart; first answers take ${(spent.warm / spent.cold).toFixed(2)} of the time`);
