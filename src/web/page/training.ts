// A training run: losses with trivial predictors, gradients, and what was measured along the network.

import { Chart, legend, numbersOf, type Series } from './chart';
import { num, row, text, type Block, type ResultFile, type Training } from './data';
import { choice, fill, h, section, select, slider } from './dom';
import { brief, show, words } from './format';
import { sortable } from './table';

const numbers = (source: Block | undefined) => (source?.data ?? []).map((v) => v ?? NaN);

const meanings: Record<string, string> = {
    gate: 'gate γ of every sublayer', beta: 'β of every sublayer', effective_rank: 'effective rank of the states',
    gradient_norm: 'gradient norm of every block', stream_cosine: 'cosine between streams', spectral_norm: 'spectral norm of the mixer',
    orthogonality_defect: '‖AᵀA − I‖, largest entry', identity_distance: '‖A − I‖, largest entry',
    row_sum_defect: 'row sums − 1, largest', column_sum_defect: 'column sums − 1, largest',
};

/// In one sentence: is the model better than what needs no model?
export function trainingWords(training: Training): { words: string; good: boolean } {
    const loss = num(training.attributes, 'final_val_loss') ?? numbers(training.val_loss).filter(Number.isFinite).slice(-1)[0] ?? null;
    if (loss === null) return { words: 'No validation loss is stored.', good: false };
    const trivial = training.baselines.filter((b) => b.name !== 'noise_floor' && b.value !== null);
    const better = trivial.filter((b) => b.value! < loss).sort((a, b) => a.value! - b.value!);
    const interrupted = num(training.attributes, 'final_val_loss') === null ? ' (interrupted)' : '';
    if (better.length) return { words: `Validation loss ${show(loss)}${interrupted}: a trivial predictor is better (${better[0].words}, ${show(better[0].value)}).`, good: false };
    const nearest = trivial.sort((a, b) => a.value! - b.value!)[0];
    const floor = training.baselines.find((b) => b.name === 'noise_floor')?.value;
    return { words: `Validation loss ${show(loss)}${interrupted}` + (nearest ? `: ${show(nearest.value! / loss, 3)} times better than the best trivial predictor (${nearest.words}, ${show(nearest.value)})` : '') +
        (floor ? `; ${show(loss / floor, 3)} times the noise floor.` : '.'), good: true };
}

function lossChart(training: Training): HTMLElement[] {
    const step = numbers(training.step), last = step[step.length - 1] ?? 1;
    if (step.length < 2) return [];
    const series: Series[] = [
        { label: 'training loss', mark: 'line', colour: 7, x: step, y: numbers(training.loss) },
        { label: 'validation loss', mark: 'line', colour: 0, x: step, y: numbers(training.val_loss) },
        ...training.baselines.filter((b) => b.value !== null && b.value > 0).map((b, k): Series => ({ label: b.words, mark: 'line', colour: 1 + k % 6, dash: [6, 4], x: [step[0], last], y: [b.value!, b.value!], at: () => show(b.value) })),
    ];
    const chart = new Chart({ name: 'Losses against step', x: 'step', y: 'loss', yLog: true, range: [step[0], last], whole: true }, series);
    return [h('div', { class: 'toolbar' }, choice('Height', [['log', 'logarithmic'], ['linear', 'linear']], 'log', (v) => chart.change({ yLog: v === 'log' }, chart.series, true)), chart.buttons()),
            chart.element, legend(chart),
            numbersOf('The log as a table', () => [['step', 'loss', 'validation loss', 'learning rate', 'gradient norm'],
                ...step.map((s, k) => [s, training.loss?.data[k] ?? null, training.val_loss?.data[k] ?? null, training.learning_rate?.data[k] ?? null, training.gradient_norm?.data[k] ?? null])])];
}

function gradientSection(training: Training): HTMLElement | null {
    const step = numbers(training.step), gradient = numbers(training.gradient_norm), rate = numbers(training.learning_rate);
    if (step.length < 2 || !gradient.some(Number.isFinite)) return null;
    const range: [number, number] = [step[0], step[step.length - 1]];
    const one = (name: string, y: number[], colour: number) => new Chart({ name: `${name} against step`, x: 'step', y: name, yLog: y.some((v) => v > 0), range, height: 220, whole: true }, [{ label: name, mark: 'line', colour, x: step, y }]).element;
    return section('Gradients and learning rate', h('div', { class: 'pair' }, h('div', {}, one('gradient norm', gradient, 0)), h('div', {}, one('learning rate', rate, 1))));
}

function diagnosticsSection(training: Training): HTMLElement | null {
    const entries = Object.entries(training.diagnostics).filter(([, source]) => source.shape.length === 2 && source.shape[0] > 0 && source.shape[1] > 0);
    if (!entries.length) return null;
    const body = h('div', {});
    const step = numbers(training.step);
    const draw = (name: string) => {
        const source = training.diagnostics[name], [rows, places] = source.shape;
        const x = Array.from({ length: places }, (_, k) => k + 1), steps = step.slice(0, rows);
        const along = (k: number) => row(source, k).map((v) => v ?? NaN), over = (p: number) => steps.map((_, k) => source.data[k * places + p] ?? NaN);
        const all = source.data.filter((v): v is number => v !== null);
        const low = all.reduce((m, v) => Math.min(m, v), Infinity), high = all.reduce((m, v) => Math.max(m, v), -Infinity), room = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1;
        const yRange = (): [number, number] => [low - room, high + room];
        const label = brief(words(name), 40);
        const left = new Chart({ name: `${label} along the network`, x: 'place along the network', y: label, range: [0.5, places + 0.5], height: 240, whole: true, yRange }, [{ label, mark: places > 40 ? 'line' : 'points', colour: 0, x, y: along(rows - 1) }]);
        const right = rows > 1 ? new Chart({ name: `${label} during training`, x: 'step', y: label, range: [steps[0], steps[rows - 1]], height: 240, whole: true, yRange }, [{ label, mark: 'line', colour: 1, x: steps, y: over(0) }]) : null;
        fill(body, h('p', { class: 'note' }, meanings[name] ?? label), h('div', { class: 'pair' },
            h('div', {}, left.element, slider('At step', 0, rows - 1, rows - 1, (k) => show(steps[k] ?? k), (k) => left.change({}, [{ ...left.series[0], y: along(k) }], true)).element),
            right && h('div', {}, right.element, slider('At place', 1, places, 1, (p) => `${p} of ${places}`, (p) => right.change({}, [{ ...right.series[0], y: over(p - 1) }], true)).element)),
            numbersOf('As a table', () => [['step', ...x.map((p) => `place ${p}`)], ...steps.map((s, k) => [s, ...row(source, k)])]));
    };
    const first = ['gate', 'beta', 'effective_rank'].find((name) => training.diagnostics[name]) ?? entries[0][0];
    draw(first);
    return section('Along the network', h('div', { class: 'toolbar' }, select('Quantity', entries.map(([name]) => [name, brief(words(name), 60)]), first, draw)), body);
}

export function trainingSections(training: Training): (HTMLElement | null)[] {
    const a = training.attributes, said = trainingWords(training);
    const skip = new Set(['task', 'architecture', 'model', 'device', 'final_val_loss']);
    const facts = Object.entries(a).filter(([key, value]) => !skip.has(key) && !key.startsWith('baseline_') && typeof value === 'number');
    return [
        section('Result', h('p', { class: `verdict ${said.good ? 'good' : 'bad'}` }, said.words),
            h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: losses' },
              h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'predictor'), h('th', { scope: 'col', class: 'number' }, 'validation loss'))),
                h('tbody', {}, h('tr', {}, h('th', { scope: 'row' }, 'this model'), h('td', { class: 'number', 'data-metric': 'final_val_loss', 'data-value': num(a, 'final_val_loss') ?? '' }, show(num(a, 'final_val_loss'), 5))),
                  training.baselines.map((b) => h('tr', {}, h('th', { scope: 'row' }, b.words), h('td', { class: 'number' }, show(b.value, 5)))))))),
        section('Losses', lossChart(training)),
        gradientSection(training),
        diagnosticsSection(training),
        section('The run', h('dl', { class: 'facts' }, ['task', 'architecture', 'model', 'device'].filter((key) => text(a, key)).map((key) => [h('dt', {}, key), h('dd', {}, text(a, key))]),
            facts.map(([key, value]) => [h('dt', {}, words(key)), h('dd', {}, show(value as number, 6))]))),
    ];
}

/// Validation losses of several runs.
export function trainingsSection(files: ResultFile[]): HTMLElement {
    const runs = files.map((file) => file.training!);
    const label = (k: number) => `${text(runs[k].attributes, 'architecture')}, ${text(runs[k].attributes, 'task')} (${files[k].name})`;
    const series = runs.map((training, k): Series => ({ label: label(k), mark: 'line', colour: k % 7, dash: k > 6 ? [6, 4] : undefined, x: numbers(training.step), y: numbers(training.val_loss) }));
    const last = Math.max(1, ...series.map((s) => s.x[s.x.length - 1] ?? 1));
    const chart = new Chart({ name: 'Validation losses of all runs', x: 'step', y: 'validation loss', yLog: true, range: [0, last], whole: true }, series);
    return section('All runs', chart.element, legend(chart), sortable('Runs', [
        { heading: 'run', value: label },
        { heading: 'validation loss', value: (k) => num(runs[k].attributes, 'final_val_loss') },
        { heading: 'parameters', value: (k) => num(runs[k].attributes, 'parameters') },
        { heading: 'steps', value: (k) => num(runs[k].attributes, 'steps') },
        { heading: 'seconds', value: (k) => num(runs[k].attributes, 'seconds') },
    ], runs.length, undefined, 1));
}
