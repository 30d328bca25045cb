// How long a signal is after every layer, for three ways to carry it past the branches.

import { Chart, legend, numbersOf, type Series } from '../page/chart';
import { fill, h } from '../page/dom';
import { show } from '../page/format';
import { normals, randomBistochastic, randomOrthogonal } from './maths';
import { dial, part } from './story';

const streams = 4, channels = 64, size = streams * channels;
const ways = ['identity', 'averaging (bistochastic)', 'rotation (orthogonal)'] as const;

interface Setting {
    depth: number;
    variance: number;   // σ² of a branch
    alignment: number;  // c: how far the branch points along its input
    seed: number;
}

/// The lengths of the signal after 0 … L layers, and the share of its square that lies in differences between streams.
/// Layer: x ← A x + σ(c x + √(1 − c²) W x), W with independent entries N(0, 1/N). W is new in every layer, so W x is a
/// vector of independent entries N(0, |x|²/N): there is no need to draw W.
export function rollOut(way: typeof ways[number], { depth, variance, alignment, seed }: Setting): { lengths: number[]; differences: number } {
    const normal = normals(seed), draw = normals(seed + 1000), sigma = Math.sqrt(variance);
    let x = Array.from({ length: streams }, () => Array.from({ length: channels }, normal));
    const square = () => x.flat().reduce((sum, value) => sum + value * value, 0);
    const first = Math.sqrt(square()), lengths = [1];
    for (let layer = 0; layer < depth; ++layer) {
        const mixer = way === 'identity' ? null : way === 'rotation (orthogonal)' ? randomOrthogonal(streams, draw) : randomBistochastic(streams, draw);
        const spread = sigma * Math.sqrt((1 - alignment * alignment) * square() / size);
        const before = x;
        x = before.map((own, i) => own.map((value, j) => {
            const carried = mixer ? mixer[i].reduce((sum, weight, k) => sum + weight * before[k][j], 0) : value;
            return carried + sigma * alignment * value + spread * normal();
        }));
        lengths.push(Math.sqrt(square()) / first);
    }
    const means = x[0].map((_, j) => x.reduce((sum, own) => sum + own[j], 0) / streams);
    const common = streams * means.reduce((sum, m) => sum + m * m, 0);
    return { lengths, differences: 1 - common / square() };
}

/// The mean square after L layers, exactly: a rotation drawn uniformly has mean 0, so c leaves no trace.
export function expected(way: typeof ways[number], { depth, variance, alignment }: Setting): number | null {
    if (way === 'averaging (bistochastic)') return null;
    const perLayer = way === 'identity' ? 1 + variance + 2 * alignment * Math.sqrt(variance) : 1 + variance;
    return Math.sqrt(Math.pow(perLayer, depth));
}

export function signalPart(): HTMLElement {
    const setting: Setting = { depth: 50, variance: 0.02, alignment: 0.2, seed: 1 };
    const chart = new Chart({ name: 'Length of a signal after every layer', x: 'layer', y: 'length, first = 1', range: [0, setting.depth], yLog: true, whole: true, height: 260 }, []);
    const rows = h('tbody');
    let runs = ways.map((way) => rollOut(way, setting));
    const draw = () => {
        runs = ways.map((way) => rollOut(way, setting));
        const x = runs[0].lengths.map((_, k) => k);
        const series: Series[] = ways.map((way, k) => ({ label: way, mark: 'line', colour: k, x, y: runs[k].lengths, dash: k ? [8, 2 + 3 * k] : undefined }));
        chart.change({ range: [0, setting.depth] }, series);
        fill(rows, ways.map((way, k) => h('tr', {}, h('th', { scope: 'row' }, way),
            h('td', { class: 'number' }, show(runs[k].lengths[setting.depth], 3)),
            h('td', { class: 'number' }, show(expected(way, setting), 3)),
            h('td', { class: 'number' }, `${(100 * runs[k].differences).toFixed(1)} %`))));
    };
    draw();
    const change = (to: Partial<Setting>) => { Object.assign(setting, to); draw(); };
    return part('Why depth destroys signals', [
        'A residual layer adds its branch to what it carries past it, and over depth the factors multiply: an independent branch of variance σ² makes the signal √(1 + σ²) times as long per layer, with the identity and with a rotation alike.',
        'A branch that points along its own input makes the identity drift faster, by about 1 + cσ per layer; a fresh rotation in every layer turns the past away from the branch, and on average that part of the drift is gone.',
        'Averaging keeps the mean of the streams and shrinks their differences: past weak branches, the streams soon carry little else than their mean.',
    ], 'What carries the signal past the branches decides what survives. The next four parts build such a mixer, from two vectors.',
    h('div', { class: 'settings' },
      dial('Depth', 1, 100, 1, setting.depth, (depth) => change({ depth })).element,
      dial('Branch variance σ²', 0, 0.2, 0.005, setting.variance, (variance) => change({ variance })).element,
      dial('Alignment c', -1, 1, 0.05, setting.alignment, (alignment) => change({ alignment })).element,
      h('button', { type: 'button', onclick: () => change({ seed: setting.seed + 1 }) }, 'Draw again')),
    chart.element, legend(chart),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: signal after the last layer' },
      h('table', {}, h('caption', {}, `After the last layer; ${streams} streams of ${channels} channels`),
        h('thead', {}, h('tr', {}, ['carried by', 'length', 'root mean square over all draws', 'square in differences between streams'].map((w, k) => h('th', { scope: 'col', class: k ? 'number' : null }, w)))), rows)),
    numbersOf('Lengths as a table', () => [['layer', ...ways], ...runs[0].lengths.map((_, k) => [k, ...runs.map((run) => run.lengths[k])])]));
}
