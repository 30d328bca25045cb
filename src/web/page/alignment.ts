// How many directions per layer training has tied to those of other layers: the distance to the measured law by triplets
// kept, and which branches read what earlier ones write.

import { Chart, legend, numbersOf, type Series } from './chart';
import { block, matrix, num, text, type Alignment, type Block, type Num } from './data';
import { h, section } from './dom';
import { percent, show, withError } from './format';
import { heat } from './heat';
import { shrinkWords, tripletBars, tripletsFrom } from './triplets';

/// The finding in a sentence.
export function alignmentWords(alignment: Alignment): string {
    const a = alignment.attributes, rank = num(a, 'rank'), width = num(a, 'width') ?? 0;
    const ranks = column(alignment.ranks), last = ranks[ranks.length - 1] ?? 0;
    if (rank === 0)
        return `No alignment is needed: branches that are free of each other explain the measurement (W1 is ${withError(column(alignment.distances)[0], column(alignment.distance_errors)[0])} of the root mean square).`;
    if (rank !== null)
        return `The alignment rank is ${rank} of ${width} (${percent(rank / Math.max(1, width))}): keeping the ${rank === 1 ? 'largest singular triplet' : `${rank} largest singular triplets`} of every branch with ${rank === 1 ? 'its' : 'their'} vectors explains the measurement.`;
    return `Keeping ${last} of ${width} singular triplets of every branch does not explain the measurement to ${show(num(a, 'explain'), 2)} of the root mean square.`;
}

function column(source: Block | undefined): number[] {
    return (source?.data ?? []).map((x: Num) => x ?? NaN);
}

/// No triplets at all are drawn where one half would be.
const place = (rank: number) => Math.max(0.5, rank);

function curve(alignment: Alignment): Chart {
    const ranks = column(alignment.ranks), distances = column(alignment.distances), errors = column(alignment.distance_errors);
    const explain = num(alignment.attributes, 'explain') ?? NaN, theory = num(alignment.attributes, 'theory_distance');
    const x = ranks.map(place), ends = [0.8 * x[0], 1.25 * x[x.length - 1]];
    const series: Series[] = [
        { label: 'error of the draws', mark: 'band', colour: 0, x, y: distances.map((d, k) => d + errors[k]), lower: distances.map((d, k) => Math.max(d - errors[k], 0.05 * d)), at: () => '' },
        { label: 'W1, the rest drawn at random', mark: 'line', colour: 0, x, y: distances },
        { label: '', mark: 'points', colour: 0, x, y: distances },
        { label: 'counts as explained', mark: 'line', colour: 1, dash: [8, 5], x: ends, y: [explain, explain] },
    ];
    if (theory !== null && num(alignment.attributes, 'theory_certified') === 1)
        series.push({ label: 'theory, first input', mark: 'points', colour: 2, x: [place(num(alignment.attributes, 'rank') ?? ranks[ranks.length - 1])], y: [theory] });
    return new Chart({ name: 'Distance to the measured law against triplets kept', x: 'triplets kept of every branch (leftmost: none)', y: 'W1 / root mean square',
                       xLog: true, yLog: true, range: ends as [number, number], height: 260, showX: (v) => `${v < 0.75 ? 'none' : Math.round(v)} kept` }, series);
}

const most = 32;

/// The largest entry of every block of so many rows and columns that the table stays readable.
function coarsened(rows: number[][]): { rows: number[][]; step: number } {
    const step = Math.ceil(rows.length / most), count = Math.ceil(rows.length / step);
    if (step === 1) return { rows, step };
    const within = (i: number, j: number) => rows.slice(i * step, (i + 1) * step).flatMap((cells) => cells.slice(j * step, (j + 1) * step));
    return { step, rows: Array.from({ length: count }, (_, i) => Array.from({ length: count }, (_unused, j) => Math.max(...within(i, j)))) };
}

/// The pair of connections that are most aligned, counted from 1.
function closest(rows: number[][]): { reader: number; writer: number; share: number } {
    let best = { reader: 1, writer: 1, share: -1 };
    rows.forEach((cells, l) => cells.slice(0, l).forEach((share, k) => { if (share > best.share) best = { reader: l + 1, writer: k + 1, share }; }));
    return best;
}

function overlaps(alignment: Alignment): HTMLElement | null {
    const source = block(alignment.overlaps);
    if (!source || source.shape.length !== 3 || source.shape[1] < 2) return null;
    const rows = matrix(source, 0), best = closest(rows), ranks = column(alignment.ranks);
    const chance = Math.max(1, ranks[ranks.length - 1]) / Math.max(1, num(alignment.attributes, 'width') ?? 1);
    const shown = coarsened(rows);
    return h('div', {}, h('h3', {}, 'Which branch reads what an earlier one writes'),
        h('p', {}, `Row l, column k: the share of what branch k writes along its kept vectors that branch l reads along its own. By chance it would be ${percent(chance)}. ` +
            `The largest is ${percent(best.share)}: connection ${best.reader} reads what connection ${best.writer} writes.`),
        heat(shown.step > 1 ? `Overlaps, the largest of every ${shown.step} × ${shown.step} connections` : 'Overlaps', shown.rows, 1));
}

/// Which triplets make the largest singular value.
function leading(alignment: Alignment): HTMLElement | null {
    const triplets = tripletsFrom(alignment.leading_connection, alignment.leading_triplet, alignment.leading_value, alignment.leading_elasticity);
    if (!triplets.length) return null;
    return h('div', {}, h('h3', {}, 'Which triplets make the largest singular value'),
        h('p', {}, `${shrinkWords('branch', triplets)} Measured at the first input; the singular triplets of every branch count from 1, the largest first.`),
        tripletBars('branch', triplets));
}

export function alignmentSection(alignment: Alignment | undefined): HTMLElement | null {
    const ranks = column(alignment?.ranks), distances = column(alignment?.distances);
    if (!alignment || !ranks.length || distances.length !== ranks.length) return null;
    const a = alignment.attributes, rank = num(a, 'rank'), doubt = text(a, 'theory_doubt');
    const chart = ranks.length > 1 ? curve(alignment) : null;
    const largest = column(alignment.largest), draws = column(alignment.draws), errors = column(alignment.distance_errors);
    return section('Alignment between layers',
        h('p', { class: `verdict ${rank === null ? 'fair' : 'good'}` }, alignmentWords(alignment)),
        h('p', {}, 'Predictions take the branches of different connections as free of each other. Here the largest singular triplets of every branch keep their vectors, and the rest is turned at random: the fewer are needed, the less training has tied the layers together.'),
        chart && [chart.element, legend(chart)],
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: distance by triplets kept' },
          h('table', { class: 'alignment' }, h('thead', {}, h('tr', {}, ['triplets kept', 'W1 / root mean square', 'largest singular value', 'draws'].map((w) => h('th', { scope: 'col', class: 'number' }, w)))),
            h('tbody', {}, ranks.map((r, k) => h('tr', {}, [show(r), withError(distances[k], errors[k] ?? null), show(largest[k]), show(draws[k])].map((cell, c) =>
              h('td', { class: 'number', ...(c === 1 ? { 'data-value': distances[k] } : {}) }, cell))))))),
        num(a, 'theory_distance') !== null && h('p', { class: 'note' }, num(a, 'theory_certified') === 1
            ? `The equation with these triplets kept, solved and certified at the first input, lies at ${show(num(a, 'theory_distance'), 3)} of the root mean square.`
            : `The equation with these triplets kept is not certified: ${doubt}.`),
        overlaps(alignment),
        leading(alignment),
        numbersOf('The curve as a table', () => [['triplets kept', 'W1 / rms', 'error', 'largest', 'draws'], ...ranks.map((r, k) => [r, distances[k], errors[k] ?? null, largest[k] ?? null, draws[k] ?? null])]));
}
