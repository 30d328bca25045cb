// Published losses and those that this program finds, as bars.

import { choice, fill, h } from '../page/dom';
import { barCell } from '../page/table';
import { part } from './story';

interface Row {
    model: string;
    published: number | null;
    here: number | null;
    note?: string;
}

/// The EΔ paper's tables 6, 7 and 12; here: docs/training.md, one seed (42), and data/tasks/baselines.json.
const tables: Record<string, { words: string; unit: string; log: boolean; rows: Row[] }> = {
    gyroscope: {
        words: 'Next state of a rotation; validation loss, lower is better.', unit: 'mean square error', log: true, rows: [
            { model: 'gpt', published: 3.78e-3, here: 3.80e-3 },
            { model: 'ddl', published: 3.36e-3, here: 3.48e-3 },
            { model: 'mhc', published: 4.02e-3, here: 4.12e-3 },
            { model: 'jpmhc', published: 3.08e-4, here: 3.04e-4 },
            { model: 'edelta', published: 1.02e-3, here: 7.17e-3, note: 'another seed gives 1.43e-3' },
            { model: 'edelta without the gate’s penalty', published: null, here: 1.7e-4 },
            { model: 'running mean, learns nothing', published: null, here: 8.02e-3 },
            { model: 'copy of the input, learns nothing', published: null, here: 1.18e-2 },
        ],
    },
    stability: {
        words: 'A fixed key in noise; validation loss, lower is better.', unit: 'mean square error', log: true, rows: [
            { model: 'gpt', published: 1.64e-5, here: 1.61e-5 },
            { model: 'ddl', published: 1.53e-5, here: 1.31e-5 },
            { model: 'mhc', published: 8.65e-3, here: 9.69e-3 },
            { model: 'jpmhc', published: 8.19e-6, here: 7.07e-6 },
            { model: 'edelta', published: 4.35e-6, here: 2.66e-6, note: 'sees the mean of the whole sequence, targets included' },
            { model: 'edelta, seeing the past alone', published: null, here: 8.75e-5 },
            { model: 'copy of the input, learns nothing', published: null, here: 2.0e-6 },
            { model: 'running mean, learns nothing', published: null, here: 1.04e-6 },
        ],
    },
    'near π': {
        words: 'Rotations by almost 180°; validation loss, lower is better.', unit: 'mean square error', log: true, rows: [
            { model: 'edelta, one plane', published: 1.44e-6, here: null },
            { model: 'negation of two coordinates, one plane, learns nothing', published: null, here: 9.23e-7 },
            { model: 'edelta, all planes', published: 1.24e-6, here: null },
            { model: 'negation, all planes, learns nothing', published: null, here: 3.96e-8 },
        ],
    },
    negation: {
        words: 'Learn y = −x with the operator alone, 500 samples; cosine to −x, higher is better.', unit: 'cosine', log: false, rows: [
            { model: 'ddl (Householder)', published: 0.96, here: 0.961 },
            { model: 'edelta', published: 0.96, here: 0.959 },
            { model: 'jpmhc (Cayley, two steps)', published: -0.25, here: null, note: 'negative here as well' },
        ],
    },
};

function draw(name: string): HTMLElement {
    const { words, unit, log, rows } = tables[name];
    const values = rows.flatMap((row) => [row.published, row.here]).filter((v): v is number => v !== null).map(Math.abs);
    const low = Math.log(Math.min(...values) / 2), high = Math.log(Math.max(...values));
    const share = (value: number | null) => value === null ? 0 : log ? (Math.log(value) - low) / (high - low) : Math.max(0, value);
    return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: results, ${name}` },
        h('table', { class: 'results' }, h('caption', {}, `${words} Bars are ${log ? 'logarithmic' : 'linear'} in the ${unit}.`),
          h('thead', {}, h('tr', {}, ['model', 'published', 'this program'].map((w) => h('th', { scope: 'col' }, w)))),
          h('tbody', {}, rows.map((row) => h('tr', {}, h('th', { scope: 'row' }, row.model, row.note && h('span', { class: 'expected' }, row.note)),
            barCell(row.published, share(row.published), 'k7'), barCell(row.here, share(row.here), 'k0'))))));
}

export function resultsPart(): HTMLElement {
    const body = h('div');
    fill(body, draw('gyroscope'));
    return part('What was published, and what this program finds', [
        'Four of the five published models agree with the paper here; the fifth, edelta on gyroscope, depends on the seed, and is the best of all once the penalty on its gates is left out.',
        'The published lead of edelta on stability rests on an average over the whole sequence, targets included: with the past alone its loss is 33 times as large, and no model beats a copy of its input.',
        'A trivial predictor belongs beside every loss: on the near-π tasks, changing signs, which learns nothing, beats the best published model.',
    ], 'Do not take numbers on trust: the last part is about your own model.',
    h('div', { class: 'toolbar' }, choice('Task', Object.keys(tables).map((name) => [name, name] as [string, string]), 'gyroscope', (name) => fill(body, draw(name)))),
    body,
    h('p', { class: 'note' }, 'Published: EΔ-MHC-Geo (arXiv 2605.06729), tables 6, 7 and 12, means over three seeds. Here: one seed (42), 2000 steps, one GPU; negation on a CPU. A dash: not published, or not measured.'));
}
