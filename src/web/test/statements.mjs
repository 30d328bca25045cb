// What the explorer states, computed: statements(page) runs the functions of its parts in a browser's empty page.

import assert from 'node:assert/strict';
import { build } from 'esbuild';

async function parts(page) {
    const contents = ['maths', 'signal', 'geometry', 'trap'].map((name) => `export * from './explore/${name}';`).join('\n') +
        `export { singularValues, product } from './page/heat';`;
    const made = await build({ stdin: { contents, resolveDir: new URL('..', import.meta.url).pathname }, bundle: true, format: 'iife', globalName: 'parts', write: false });
    await page.addScriptTag({ content: made.outputFiles[0].text });
}

const near = (found, expected, tolerance, what) => assert.ok(Math.abs(found - expected) <= tolerance, `${what}: ${found}, not ${expected}`);

export async function statements(page) {
    await parts(page);

    // Signals: √(1 + σ²) per layer for identity and rotation alike; alignment drifts past the identity alone.
    for (const [way, alignment] of [['identity', 0], ['rotation (orthogonal)', 0], ['identity', 0.5], ['rotation (orthogonal)', 0.5]]) {
        const [found, expected] = await page.evaluate(([w, c]) => {
            const setting = { depth: 10, variance: 0.05, alignment: c, seed: 0 };
            let square = 0;
            for (let seed = 1; seed <= 300; ++seed) square += window.parts.rollOut(w, { ...setting, seed: 7 * seed }).lengths[10] ** 2;
            return [Math.sqrt(square / 300), window.parts.expected(w, setting)];
        }, [way, alignment]);
        near(found / expected, 1, 0.03, `${way}, c = ${alignment}`);
    }
    const kept = await page.evaluate(() => window.parts.rollOut('averaging (bistochastic)', { depth: 20, variance: 0.01, alignment: 0, seed: 3 }).differences);
    assert.ok(kept < 0.05, `averaging leaves ${kept} in differences`);

    // Cayley's rotation, and its mixture with a reflection.
    const worst = await page.evaluate(() => {
        const { cayley, skew, defect, determinant, hybrid, stretches, normals } = window.parts, normal = normals(5);
        let orthogonal = 0, angle = 0, gate = 0;
        for (let k = 0; k < 300; ++k) {
            const u = [normal(), normal()], v = [normal(), normal()], beta = 3 * normal(), g = Math.abs(Math.sin(k));
            const a = skew(u, v), q = cayley(a, beta), area = u[0] * v[1] - u[1] * v[0];
            orthogonal = Math.max(orthogonal, defect(q), Math.abs(determinant(q) - 1));
            angle = Math.max(angle, Math.abs(Math.atan2(q[1][0], q[0][0]) - 2 * Math.atan(beta * area / 2)));
            const [large, small] = stretches(hybrid(q, k, g));
            gate = Math.max(gate, Math.abs(large - 1), Math.abs(small - Math.abs(2 * g - 1)));
        }
        return { orthogonal, angle, gate };
    });
    for (const [name, value] of Object.entries(worst)) near(value, 0, 1e-9, name);

    // In four dimensions too, |2γ − 1| is a singular value of γQ + (1 − γ)H₂.
    const four = await page.evaluate(() => {
        const { randomOrthogonal, normals, singularValues } = window.parts, normal = normals(9);
        let far = 0;
        for (let draw = 0; draw < 50; ++draw) {
            const k = randomOrthogonal(4, normal)[0], g = 0.02 * draw, h = k.map((x, i) => k.map((y, j) => (i === j ? 1 : 0) - 2 * x * y));
            const [c, s] = [Math.cos(draw), Math.sin(draw)], basis = randomOrthogonal(4, normal);
            const plane = [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
            const times = window.parts.product, transposed = basis[0].map((_, j) => basis.map((row) => row[j]));
            const q = times(times(transposed, plane), basis), mixer = q.map((row, i) => row.map((x, j) => g * x + (1 - g) * h[i][j]));
            far = Math.max(far, Math.min(...singularValues(mixer).map((value) => Math.abs(value - Math.abs(2 * g - 1)))));
        }
        return far;
    });
    near(four, 0, 1e-9, '|2γ − 1| in four dimensions');

    // The negation test's map, cut off after two steps, 1 + iw − w²/2: nearest to −1 at a right angle.
    const best = Array.from({ length: 4001 }, (_, k) => k / 1000).reduce((least, w) => {
        const square = (2 - w * w / 2) ** 2 + w * w;
        return square < least.square ? { w, square } : least;
    }, { w: 0, square: Infinity });
    near(1 - best.w ** 2 / 2, 0, 1e-3, 'cosine of the best two-step map');

    // The gate: it stays in the middle only, leaves e-fold every 2/(λ·rate) steps, and has no balance beyond |g| = 4λ.
    const gates = await page.evaluate(() => {
        const { train, balance } = window.parts, at = (start, task = 0) => train({ weight: 0.5, task, start, jitter: 0 });
        return { middle: at(0.5).at(-1), growth: (at(0.5001)[40] - 0.5) / (at(0.5001)[0] - 0.5), above: at(0.56, 0.2).at(-1), below: at(0.54, 0.2).at(-1),
                 balance: balance({ weight: 0.5, task: 0.2 }), none: balance({ weight: 0.5, task: 2.1 }) };
    });
    assert.equal(gates.middle, 0.5);
    near(gates.growth, Math.E, 0.05, 'growth over 2/(λ·rate) steps');
    near(gates.balance, 0.55, 1e-12, 'balance');
    assert.ok(gates.above > 0.9 && gates.below < 0.1, 'either side of the balance goes its way');
    assert.equal(gates.none, null);
}
