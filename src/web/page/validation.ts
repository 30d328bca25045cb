// A trained model: the verdict and what follows from it, measured against predicted, every connection.

import { advise } from './advice';
import { alignmentSection } from './alignment';
import { Chart, legend, numbersOf, type Series } from './chart';
import { block, num, text, type Metrics, type PageData, type ResultFile, type Run, type Trained } from './data';
import { densitySection } from './density';
import { h, section, select, type Child } from './dom';
import { percent, show } from './format';
import { sampleLaw, type Law } from './law';
import { agreementSection, certificateSection, lawsOf, metricsSection, mixerSection, sourceNames } from './sections';
import { sortable, type Column } from './table';

const perConnection: [string, string, string][] = [
    ['layer_wasserstein1', 'W1 to its own theory', 'distance of this connection’s measured law from its predicted law'],
    ['branch_variance', 'branch variance σ²', 'mean over inputs of ‖X‖²/N'],
    ['branch_mixer_share', 'share of σ² by the mixer', 'the part that comes from the derivative of the mixer itself'],
    ['branch_core_variance', 'variance of the core', 'of the Jacobian between pre and post'],
    ['spectral_norms', 'norm of the mixer', 'its largest singular value'],
    ['orthogonality_defects', '‖AᵀA − I‖', 'largest entry'],
    ['identity_distances', '‖A − I‖', 'largest entry'],
    ['composite_spectral_norms', 'norm of the product so far', 'largest singular value of A_l ··· A_1'],
];

export function validationLaws(file: ResultFile): Law[] {
    const laws = file.run ? lawsOf(file.run) : [];
    // A law can have a certified distribution, which was counted, and a density that is not.
    const counted = num(file.trained?.predictions.full, 'counted_error') !== null;
    for (const law of laws) if (law.id === 'ov')
        law.label = law.label.includes('not certified') ? `predicted (density not certified${counted ? '; its metrics are' : ''})` : 'predicted (operator-valued theory)';
    const measured = file.trained?.measured;
    return measured ? [...laws, sampleLaw('measured', 'measured', measured)] : laws;
}

/// "window is 0.63; required window >= 0.9" and so on, and the advice, before everything else.
export function verdictSection(file: ResultFile, goTo: (connection: number) => void): HTMLElement {
    const trained = file.trained!, a = trained.attributes, pass = text(a, 'verdict') === 'PASS';
    const metrics = judged(file), all = advise(trained, metrics, file.run?.agreement?.ov_measured?.wasserstein1_log ?? null);
    const reasons = text(a, 'reasons').split('\n').filter((line) => line);
    return section('Verdict',
        h('p', { class: `verdict ${pass ? 'good' : 'bad'}` }, h('strong', {}, pass ? 'PASS' : 'FAIL'), pass
            ? `: every requirement is met (${text(a, 'requirements')}).`
            : `: ${reasons.length} of ${text(a, 'requirements').split(',').length} requirements ${reasons.length === 1 ? 'is' : 'are'} not met.`),
        reasons.length > 0 && h('ul', {}, reasons.map((line) => h('li', {}, `${line}.`))),
        all.length > 0 && [h('h3', {}, pass ? 'What the numbers say' : 'What to change'), h('ol', { class: 'advice' }, all.map((advice) =>
            h('li', {}, h('strong', {}, `${advice.title}. `), advice.words, advice.connection !== undefined && block(trained.mixers) &&
              [' ', h('button', { type: 'button', class: 'link', onclick: () => goTo(advice.connection!) }, `Show connection ${advice.connection + 1}`)])))],
        h('dl', { class: 'facts' }, [['file', 'file'], ['layout', 'layout'], ['model', 'model'], ['training step', 'step'], ['measured', 'measured'], ['note', 'measured_note'], ['required', 'requirements']]
            .filter(([, key]) => text(a, key)).map(([label, key]) => [h('dt', {}, label), h('dd', {}, text(a, key))])));
}

/// The metrics that are judged: measured ones if the model was run.
export function judged(file: ResultFile): Metrics | undefined {
    const all = file.run?.metrics ?? {};
    return all.measured ?? all.ov ?? (file.trained?.predictions.full as Metrics | undefined) ?? Object.values(file.trained?.predictions ?? {})[0] as Metrics | undefined;
}

function predictionsSection(data: PageData, trained: Trained): HTMLElement | null {
    const names: Record<string, string> = { full: 'predicted (branches as measured)', isotropic: 'isotropic branches', mixers: 'mixers alone' };
    const parts = Object.keys(names).filter((part) => trained.predictions[part]);
    if (!parts.length) return null;
    const rows: [string, (part: string) => string][] = data.metrics.map((metric) => [metric.label, (part) => {
        const value = num(trained.predictions[part], metric.name);
        return metric.name === 'window' || metric.name === 'collapsed' ? percent(value) : show(value, 5);
    }]);
    rows.push(['W1 to the measured law', (part) => show(num(trained.predictions[part], 'wasserstein1'), 4)],
              ['certified', (part) => num(trained.predictions[part], 'certified') === 1 ? 'yes' : `no: ${text(trained.predictions[part], 'doubt')}`]);
    return section('Which part explains what',
        h('p', {}, 'Each column predicts the singular values with less than the one before it: branches with their measured singular values, Gaussian branches of the same variance, no branches.'),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: predictions' },
          h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'quantity'), parts.map((part) => h('th', { scope: 'col', class: 'number' }, names[part])))),
            h('tbody', {}, rows.map(([label, value]) => h('tr', {}, h('th', { scope: 'row' }, label), parts.map((part) => h('td', { class: 'number' }, value(part)))))))));
}

function connectionsSection(trained: Trained, goTo: (connection: number) => void): HTMLElement | null {
    const known = perConnection.filter(([name]) => block(trained[name]));
    const count = Math.max(0, ...known.map(([name]) => block(trained[name])!.data.length));
    if (!count) return null;
    const quantiles = trained.layer_quantiles;
    const columns: Column[] = [
        { heading: 'connection', value: (k) => k + 1, shown: (k): Child => block(trained.mixers) ? h('button', { type: 'button', class: 'link', onclick: () => goTo(k) }, String(k + 1)) : String(k + 1) },
        ...known.map(([name, heading, title]): Column => ({ heading, title, value: (k) => block(trained[name])!.data[k] ?? null })),
        ...(quantiles ? [0, 4].map((at): Column => ({ heading: at ? 'largest s' : 'smallest s', title: 'of the Jacobian of this connection', value: (k) => quantiles[k]?.[at] ?? null })) : []),
    ];
    const x = Array.from({ length: count }, (_, k) => k + 1);
    const of = (name: string): Series[] => [{ label: known.find((entry) => entry[0] === name)![1], mark: count > 60 ? 'line' : 'points', colour: 0, x, y: block(trained[name])!.data.map((v) => v ?? NaN) }];
    const chart = new Chart({ name: 'One quantity of every connection', x: 'connection', y: known[0][1], range: [0.5, count + 0.5], height: 260, whole: true }, of(known[0][0]));
    return section('Every connection',
        h('div', { class: 'toolbar' }, select('Quantity', known.map(([name, label]) => [name, label]), known[0][0], (name) =>
            chart.change({ y: known.find((entry) => entry[0] === name)![1] }, of(name)))),
        chart.element, sortable('Connections', columns, count));
}

export function validationSections(data: PageData, file: ResultFile): (HTMLElement | null)[] {
    const trained = file.trained!, run: Run | undefined = file.run;
    const mixers = mixerSection(block(trained.mixers), block(trained.composite_products), 'Connection');
    const goTo = (connection: number) => {
        mixers?.show(connection);
        mixers?.element.scrollIntoView({ block: 'start' });
        mixers?.element.querySelector('input')?.focus({ preventScroll: true });
    };
    const laws = validationLaws(file), errors: Record<string, string> = {};
    for (const metric of data.metrics) {
        const error = num(trained.attributes, `error_${metric.name}`);
        if (error !== null && error > 0) errors[`measured.${metric.name}`] = show(error, 2);
    }
    return [
        verdictSection(file, goTo),
        laws.length ? section('Measured and predicted', densitySection(laws)) : null,
        run?.metrics && Object.keys(run.metrics).length ? metricsSection(data, run.metrics, errors) : null,
        predictionsSection(data, trained),
        alignmentSection(trained.alignment),
        run ? agreementSection(run) : null,
        connectionsSection(trained, goTo),
        mixers?.element ?? null,
        run ? certificateSection(run) : null,
    ];
}

/// Several validations of one model, or of several: how isometry evolves.
export function evolutionSection(files: ResultFile[]): HTMLElement {
    const metrics = files.map(judged);
    const steps = files.map((file) => num(file.trained!.attributes, 'step'));
    const known = steps.every((s) => s !== null) && new Set(steps).size > 1;
    const order = files.map((_, k) => k).sort((a, b) => (steps[a] ?? a) - (steps[b] ?? b));
    const x = order.map((k, i) => known ? steps[k]! : i + 1);
    const chart = x.length > 1 && known ? new Chart({ name: 'Shares against training', x: known ? 'training step' : 'file', y: 'share', range: [x[0], x[x.length - 1]], height: 240, whole: true, yRange: () => [0, 1.03] },
        (['window', 'collapsed'] as const).map((name, c): Series => ({ label: name === 'window' ? 'in [0.75, 1.25]' : 'below 0.1', mark: 'line', colour: c, dash: c ? [6, 4] : undefined, x, y: order.map((k) => metrics[k]?.[name] ?? NaN) }))) : null;
    return section('All models', chart && [chart.element, legend(chart), numbersOf('Shares as a table', () => [['x', 'in window', 'collapsed'], ...order.map((k, i) => [x[i], metrics[k]?.window ?? null, metrics[k]?.collapsed ?? null])])],
        sortable('Models', [
            { heading: 'file', value: (k) => text(files[k].trained!.attributes, 'file') || files[k].name },
            { heading: 'verdict', value: (k) => text(files[k].trained!.attributes, 'verdict') },
            { heading: 'step', value: (k) => steps[k] },
            { heading: 'in window', value: (k) => metrics[k]?.window ?? null, shown: (k) => percent(metrics[k]?.window) },
            { heading: 'collapsed', value: (k) => metrics[k]?.collapsed ?? null, shown: (k) => percent(metrics[k]?.collapsed) },
            { heading: 'largest', value: (k) => metrics[k]?.largest ?? null },
            { heading: 'W1', title: `distance of the ${sourceNames.measured} from theory`, value: (k) => num(files[k].trained!.predictions.full, 'wasserstein1') },
        ], files.length));
}
