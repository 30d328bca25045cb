// The explorer: settings of a network, and its law as the solver finds it.

import type { PageData, Metrics } from '../page/data';
import { copyButton, fill, h, labelled, section, select, slider } from '../page/dom';
import { csv, percent, show } from '../page/format';
import { heat, product, singularValues } from '../page/heat';
import { densityLaw, type Law } from '../page/law';
import { LawView } from './law_view';
import { Asker } from './solve';
import { compile, type Method, type Settings, type Solved } from './wasm';
import type { Answer } from './worker';

/// The program's defaults.
const start: Settings = { mixer: 'bistochastic', streams: 4, depth: 10, noise: 0.05, seed: 1, shared: false, gate: 0.95, beta: 1, logitScale: 1 };
const depths = [...Array.from({ length: 20 }, (_, k) => k + 1), 25, 30, 40, 50, 70, 100];
const noises = [-3, -2, -1, 0].flatMap((power) => [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8].map((m) => Number((m * Math.pow(10, power)).toPrecision(2)))).concat(10);
const families: [string, string][] = [
    ['identity', 'identity'], ['bistochastic', 'bistochastic (averages streams)'], ['orthogonal', 'orthogonal'],
    ['cayley', 'cayley (nearly orthogonal)'], ['cayley-hybrid', 'cayley-hybrid (rotation and reflection)'],
    ['spectral-sphere', 'spectral-sphere'], ['grassmann', 'grassmann (projection)'], ['permutation', 'permutation (mixture)'],
    ['householder', 'householder'], ['gaussian', 'gaussian'],
];
/// Which settings a family reads, and their options on the command line.
const uses: Record<string, string[]> = { bistochastic: ['logitScale'], cayley: ['logitScale'], 'cayley-hybrid': ['gate', 'beta'], householder: ['beta'] };
const options: Record<string, string> = { gate: '--gate', beta: '--beta', logitScale: '--logit-scale' };

/// The command that computes the same.
export function command(settings: Settings): string {
    const words = ['spectra', '--mixer', settings.mixer, '--depth', settings.depth, '--streams', settings.streams, '--noise', settings.noise, '--seed', settings.seed];
    for (const name of uses[settings.mixer] ?? []) words.push(options[name], settings[name as keyof Settings] as number);
    if (settings.shared) words.push('--draws', 'shared');
    return words.join(' ');
}

/// The answer in a sentence, as the program gives it.
export function answer(metrics: Metrics, depth: number): string {
    const layers = depth === 1 ? '1 layer' : `${depth} layers`, value = (name: string) => metrics[name] ?? 0;
    const even = value('effective_rank') >= 0.95, factor = Math.sqrt(value('mean_square'));
    const lead = even && factor < 0.75 ? `Gradients shrink evenly, to ${show(factor, 2)} times their size, over ${layers}`
        : even && factor > 1.25 ? `Gradients grow evenly, to ${show(factor, 3)} times their size, over ${layers}`
        : value('collapsed') > 0.5 ? `Most gradient directions vanish over ${layers}`
        : value('collapsed') > 0.05 ? `Some gradient directions vanish over ${layers}`
        : value('largest') > 2 ? `Gradients pass ${layers}, the largest growing to ${show(value('largest'), 3)} times`
        : value('window') >= 0.9 ? `Gradients survive ${layers}`
        : even ? `Gradients pass ${layers} nearly evenly` : `Gradients pass ${layers} unevenly`;
    return `${lead}: ${percent(value('window'))} of the singular values lie in [0.75, 1.25], ${percent(value('collapsed'))} have collapsed below 0.1.`;
}

/// Rows of mixer k.
function mixerOf(mixers: number[], streams: number, k: number): number[][] {
    return Array.from({ length: streams }, (_, i) => mixers.slice((k * streams + i) * streams, (k * streams + i + 1) * streams));
}

class Explorer {
    readonly element: HTMLElement;
    private readonly settings: Settings = { ...start };
    private readonly view = new LawView('Density of the singular values of the network you set');
    private readonly words = h('p', { class: 'lead', 'aria-live': 'polite' }, 'The solver is starting.');
    private readonly state = h('p', { class: 'status state', role: 'status' });
    private readonly metrics = h('tbody');
    private readonly line = h('code');
    private readonly mixers = h('div', { class: 'pair' });
    private readonly own: Record<string, HTMLElement> = {};
    private readonly moves: Partial<Record<keyof Settings, (value: number) => void>> = {};
    private readonly family = select('Mixer', families, start.mixer, (mixer) => this.set({ mixer }));
    private laws: Partial<Record<Method, Solved>> = {};
    private pinned: Law | null = null;
    private asker: Asker | null = null;
    private asked = 0;       // when
    private answering = 0;   // the question that the laws belong to
    private silent = false;

    constructor(private readonly data: PageData) {
        const seed = h('input', { type: 'number', min: 1, max: 999999, step: 1, value: start.seed, inputmode: 'numeric',
            oninput: () => { const value = Math.floor(Number(seed.value)); if (value >= 1 && value <= 999999) this.set({ seed: value }); } });
        const shared = h('input', { type: 'checkbox', onchange: () => this.set({ shared: shared.checked }) });
        const draws = labelled('one mixer for all layers', shared);
        this.own.gate = this.slide('gate', 'Gate γ', Array.from({ length: 101 }, (_, k) => k / 100));
        this.own.beta = this.slide('beta', 'β', Array.from({ length: 81 }, (_, k) => k / 20));
        this.own.logitScale = this.slide('logitScale', 'Logit scale', Array.from({ length: 61 }, (_, k) => k / 10));
        this.element = section('Move a network, see its singular values',
            h('p', {}, 'The curve is the density of the singular values of the network’s Jacobian: the factors by which gradients are multiplied on their way back. ' +
                'The shaded range is where they keep their length within a quarter. Move anything: the theory is solved again, here in the page, by the program’s own solver.'),
            h('form', { class: 'settings', 'aria-label': 'Settings of the network', onsubmit: (event) => event.preventDefault() },
              this.family, this.slide('depth', 'Depth L', depths), this.slide('noise', 'Noise Lσ²', noises),
              this.slide('streams', 'Streams n', [1, 2, 3, 4, 5, 6, 7, 8]), this.own.gate, this.own.beta, this.own.logitScale,
              labelled('Seed', seed), draws),
            this.words, this.view.element, this.state,
            h('div', { class: 'toolbar' },
              h('button', { type: 'button', onclick: () => this.pin() }, 'Keep this law to compare'),
              h('button', { type: 'button', onclick: () => { this.pinned = null; this.draw(); } }, 'Forget it'),
              copyButton('Copy the data as CSV', () => csv(this.view.rows()))),
            h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: metrics of the network' },
              h('table', { class: 'metrics' }, h('caption', {}, 'Metrics, as the program prints them'),
                h('thead', {}, h('tr', {}, ['metric', 'operator-valued theory', 'scalar theory'].map((w, k) => h('th', { scope: 'col', class: k ? 'number' : null }, w)))), this.metrics)),
            h('h3', {}, 'The same on the command line'),
            h('p', {}, 'The program gives the same numbers, and adds the simulation of a network of finite width.'),
            h('pre', { tabindex: 0, 'aria-label': 'Command' }, this.line), copyButton('Copy the command', () => command(this.settings)),
            h('h3', {}, 'The mixers of this network'), this.mixers);
        this.apply();
        compile(JSON.parse(document.getElementById('solver')!.textContent!) as string).then((module) => {
            this.asker = new Asker(module, (reply) => this.receive(reply));
            this.ask();
        }).catch((error: Error) => {
            this.words.textContent = `The solver could not start: ${error.message}. It needs a browser of 2023 or later.`;
        });
    }

    /// Changes settings, from the controls or from a link of another section.
    set(change: Partial<Settings>): void {
        if (this.silent) return;
        Object.assign(this.settings, change);
        this.apply();
        this.ask();
    }

    /// Moves the controls as well.
    show(change: Partial<Settings>): void {
        this.silent = true;
        for (const [name, value] of Object.entries(change)) this.moves[name as keyof Settings]?.(value as number);
        if (change.mixer) this.family.querySelector('select')!.value = change.mixer;
        this.silent = false;
        this.set(change);
        this.element.scrollIntoView();
    }

    private slide(name: 'depth' | 'noise' | 'streams' | 'gate' | 'beta' | 'logitScale', words: string, values: number[]): HTMLElement {
        const nearest = (value: number) => values.reduce((best, v, k) => Math.abs(v - value) < Math.abs(values[best] - value) ? k : best, 0);
        const bar = slider(words, 0, values.length - 1, nearest(start[name]), (k) => show(values[k], 3), (k) => this.set({ [name]: values[k] }));
        this.moves[name] = (value) => bar.set(nearest(value));
        return bar.element;
    }

    private apply(): void {
        const used = uses[this.settings.mixer] ?? [];
        for (const [name, element] of Object.entries(this.own)) element.hidden = !used.includes(name);
        this.line.textContent = command(this.settings);
    }

    private ask(): void {
        this.asked = performance.now();
        this.state.textContent = 'Solving …';
        this.element.dataset.state = 'asked';
        this.asker?.ask({ ...this.settings });
    }

    private receive(reply: Answer): void {
        const seconds = ((performance.now() - this.asked) / 1000).toFixed(2);
        if (reply.refused !== undefined) {
            this.words.textContent = `The program refuses these settings: ${reply.refused.replace(/`/g, '')}.`;
            this.state.textContent = '';
            return;
        }
        if (reply.id !== this.answering) this.laws = {};
        this.answering = reply.id;
        if (reply.tooLong) {
            this.state.textContent = `Given up after ${seconds} s. ` + (this.laws.ov ? 'The first answer stays; the program may refine it.' : 'Try fewer layers or streams, or use the program.');
            return;
        }
        this.laws[reply.method] = reply.solved!;
        const { theory, certified, message } = this.laws.ov!;
        const points = theory.attributes.points;
        this.state.textContent = reply.final ? `${certified ? 'Certified' : `Not certified: ${message}`}; ${points} points, ${seconds} s.`
            : `A first answer at ${points} points, after ${seconds} s; refining …`;
        if (reply.final && reply.method === 'scalar') this.element.dataset.state = 'done';
        this.draw();
    }

    private pin(): void {
        if (!this.laws.ov) return;
        this.pinned = { ...densityLaw('kept', this.laws.ov.theory), label: `kept: ${command(this.settings).replace('spectra --mixer ', '').replace(/ --/g, ', ')}` };
        this.draw();
    }

    private draw(): void {
        const { ov, scalar } = this.laws;
        if (!ov) return;
        const laws = [densityLaw('ov', ov.theory)];
        if (scalar) laws.push(densityLaw('scalar', scalar.theory));
        if (this.pinned) laws.push(this.pinned);
        this.view.update(laws);
        this.words.textContent = answer(ov.metrics, this.settings.depth);
        fill(this.metrics, this.data.metrics.map((metric) => h('tr', {}, h('th', { scope: 'row' }, metric.label),
            [['ov', ov], ['scalar', scalar]].map(([id, solved]) => this.cell(metric.name, id as string, solved as Solved | undefined)))));
        this.drawMixers(ov.mixers);
    }

    private cell(metric: string, id: string, solved?: Solved): HTMLElement {
        const value = solved?.metrics[metric] ?? null, share = metric === 'window' || metric === 'collapsed';
        const words = solved && metric === 'log_mean' && value === null ? '−∞' : share ? percent(value) : show(value, 5);
        return h('td', { class: 'number', 'data-metric': `${id}.${metric}`, 'data-value': value ?? '' }, words);
    }

    private drawMixers(mixers: number[]): void {
        const { streams, depth } = this.settings;
        if (mixers.length !== streams * streams * depth) return;
        let all = mixerOf(mixers, streams, 0);
        for (let k = 1; k < depth; ++k) all = product(mixerOf(mixers, streams, k), all);
        const values = (matrix: number[][]) => singularValues(matrix).map((v) => show(v, 3)).join(', ');
        const first = mixerOf(mixers, streams, 0);
        fill(this.mixers, heat('Mixer of layer 1', first), heat(`Product of all ${depth}`, all),
            h('div', {}, h('p', {}, `Singular values of the first mixer: ${values(first)}.`), h('p', {}, `Of the product, without branches: ${values(all)}.`)));
    }
}

/// The section, and a function by which others move its controls.
export function networkSection(data: PageData): { element: HTMLElement; show: (change: Partial<Settings>) => void } {
    const explorer = new Explorer(data);
    return { element: explorer.element, show: (change) => explorer.show(change) };
}
