// Sections of one network: metrics, agreement, certificates, mixers, layers, sensitivity, averages.

import { Chart, legend, numbersOf, type Series } from './chart';
import { block, matrix, num, row, text, type Block, type Metrics, type PageData, type Run } from './data';
import { choice, fill, h, section, slider, type Child } from './dom';
import { percent, show, withError } from './format';
import { heat, product, singularValues } from './heat';
import { densityLaw, sampleLaw, type Law } from './law';
import { sortable } from './table';
import { shrinkWords, tripletBars, tripletsFrom } from './triplets';

export const sourceNames: Record<string, string> = {
    ov: 'operator-valued theory', scalar: 'scalar theory', 's-transform': 'S-transform', printed: 'equation as printed',
    montecarlo: 'simulation', measured: 'measured model',
};

const definitions: Record<string, string> = {
    mean_square: '∫ s² ρ(s) ds: the mean squared gain of a random gradient',
    log_mean: '∫ ln s ρ(s) ds; −∞ if there is mass at s = 0',
    window: 'mass of 0.75 ≤ s ≤ 1.25',
    collapsed: 'mass of s < 0.1',
    smallest: 'lower end of the support; for samples the smallest value',
    largest: 'upper end of the support; for samples the largest value',
    effective_rank: 'exp(−∫ (s/μ) ln(s/μ) ρ ds) with μ = ∫ s ρ ds: 1 for an isometry, towards 0 as fewer directions carry everything',
};

const shares = new Set(['window', 'collapsed']);

export function lawsOf(run: Run): Law[] {
    const laws: Law[] = Object.entries(run.theory ?? {}).map(([id, theory]) => {
        const law = densityLaw(id, theory);
        if (theory.attributes.certified === 0) law.label += ' (not certified)';
        return law;
    }).filter((law) => law.x.length || law.atoms.length);
    if (run.simulation && (run.simulation.log_values.length || run.simulation.zeros))
        laws.push(sampleLaw('montecarlo', 'simulation', run.simulation));
    return laws;
}

/// The metrics of the best source: exact theory, measurement, simulation, any other.
export function bestMetrics(run: Run): Metrics | undefined {
    const all = run.metrics ?? {};
    return all.ov ?? all.montecarlo ?? all.measured ?? Object.values(all)[0];
}

export function metricsSection(data: PageData, columns: Record<string, Metrics>, errors: Record<string, string> = {}): HTMLElement {
    const names = Object.keys(columns);
    return section('Metrics',
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: metrics' },
          h('table', { class: 'metrics' },
            h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'metric'), names.map((n) => h('th', { scope: 'col', class: 'number' }, sourceNames[n] ?? n)), h('th', { scope: 'col' }, 'definition'))),
            h('tbody', {}, data.metrics.map((metric) => h('tr', {}, h('th', { scope: 'row' }, metric.label),
              names.map((n) => {
                  const value = columns[n][metric.name];
                  const shown = metric.name === 'log_mean' && value === null ? '−∞ or unknown' : shares.has(metric.name) ? percent(value) : show(value, 5);
                  const error = errors[`${n}.${metric.name}`];
                  return h('td', { class: 'number', 'data-metric': `${n}.${metric.name}`, 'data-value': value ?? '' }, shown, error ? ` ± ${error}` : '');
              }),
              h('td', { class: 'definition' }, definitions[metric.name] ?? '')))))));
}

export function agreementSection(run: Run): HTMLElement | null {
    const pairs = Object.entries(run.agreement ?? {});
    if (!pairs.length) return null;
    const name = (pair: string) => {
        const [a, b] = pair.split('_');
        return `${sourceNames[a] ?? a} – ${sourceNames[b] ?? b}`;
    };
    const verdict = { agree: 'good', close: 'fair', differ: 'bad' };
    const distances: [string, string][] = [['wasserstein1', 'W1'], ['wasserstein1_log', 'W1 in ln s'], ['kolmogorov_smirnov', 'KS']];
    const words = (pair: string, key: string): Child => {
        const entry = run.agreement![pair] as unknown as Record<string, number | null>;
        const expected = run.agreement![pair].expected?.[key];
        return [show(entry[key], 3), expected?.mean !== undefined && expected.mean !== null &&
            h('span', { class: 'expected' }, ` expected ${withError(expected.mean, expected.std)}`)];
    };
    return section('What agrees with what',
        h('ul', { class: 'verdicts' }, pairs.filter(([, a]) => a.words).map(([, a]) =>
            h('li', { class: verdict[a.closeness ?? 'differ'] }, a.words))),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: distances between laws' },
          h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'pair'), distances.map(([, label]) => h('th', { scope: 'col', class: 'number' }, label)))),
            h('tbody', {}, pairs.map(([pair]) => h('tr', {}, h('th', { scope: 'row' }, name(pair)),
              distances.map(([key]) => h('td', { class: 'number' }, words(pair, key)))))))),
        h('p', { class: 'note' }, 'W1 is the Wasserstein-1 distance ∫ |F − G| ds, KS the largest difference of the shares below s. ',
          pairs.some(([, a]) => a.expected) && '“Expected” is what finite width and the number of samples alone explain, ± its standard deviation: a distance of that size is no disagreement. ',
          'Two laws agree where W1 is at most 1 % of the root mean square singular value and at most 0.1 in ln s.'));
}

export function certificateSection(run: Run): HTMLElement | null {
    const theories = Object.entries(run.theory ?? {});
    if (!theories.length) return null;
    return section('Certificates', theories.map(([, theory]) => {
        const a = theory.attributes, sound = a.certified === 1;
        const rules: [string, string, string][] = [['total mass', show(num(a, 'mass'), 8), '1']];
        for (const [key, label] of [['mean_square', 'mean square'], ['log_mean', 'mean of ln s'], ['mean_fourth', 'mean of s⁴'], ['tail_exponent', 'tail exponent at small s']])
            if (typeof a[`${key}_exact`] === 'number') rules.push([label, show(num(a, key), 8), show(num(a, `${key}_exact`), 8)]);
        const words = sound
            ? `Every one of the ${show(num(a, 'points'))} points was shown to be the right solution of the equation, and the law satisfies the sum rules below.`
            : `Not certified: ${text(a, 'message') || 'no reason is stored'}. ${num(a, 'uncertified') ? `${num(a, 'uncertified')} of ${num(a, 'points')} points are doubtful.` : ''}`;
        return h('div', { class: sound ? 'certificate good' : 'certificate bad' },
            h('h3', {}, `${theory.name}: ${theory.certificate}`), h('p', {}, words),
            h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: Sum rules of the ${theory.name}` },
              h('table', {}, h('thead', {}, h('tr', {}, ['sum rule', 'of the law', 'known exactly'].map((w, k) => h('th', { scope: 'col', class: k ? 'number' : null }, w)))),
                h('tbody', {}, rules.map(([label, found, exact]) => h('tr', {}, h('th', { scope: 'row' }, label), h('td', { class: 'number' }, found), h('td', { class: 'number' }, exact)))))),
            h('p', { class: 'note' }, `Largest last Newton step ${show(num(a, 'largest_residual'), 2)}, ${show(num(a, 'newton_steps'))} Newton steps, ${show(num(a, 'seconds'), 3)} s.`,
              (num(a, 'eta') ?? 0) > 0 && ` The curve is smoothed at η = ${show(num(a, 'eta'))}.`,
              theory.support.length > 0 && ` Support: ${theory.support.slice(0, 6).map(([lo, hi]) => `[${lo === null ? '0' : show(Math.exp(lo))}, ${show(hi === null ? null : Math.exp(hi))}]`).join(', ')}${theory.support.length > 6 ? ` and ${theory.support.length - 6} more bands` : ''}.`));
    }));
}

/// Mixers with their running products A_l ··· A_1, and the singular values of these against depth.
export function mixerSection(mixers: Block | undefined, products: Block | undefined, noun: string, start = 0): { element: HTMLElement; show: (k: number) => void } | null {
    if (!mixers || mixers.shape.length !== 3) return null;
    const count = mixers.shape[0];
    const running: number[][][] = [];
    for (let k = 0; k < count; ++k) {
        if (products && k < products.shape[0]) running.push(matrix(products, k));
        else running.push(k === 0 ? matrix(mixers, 0) : product(matrix(mixers, k), running[k - 1]));
    }
    const values = running.map(singularValues), n = mixers.shape[1];
    const x = values.map((_, k) => k + 1);
    const floor = 1e-12;
    const tracks = n <= 8 ? Array.from({ length: n }, (_, j) => j) : [0, Math.floor((n - 1) / 2), n - 1];
    const series: Series[] = tracks.map((j, k) => ({
        label: j === 0 ? 'largest' : j === n - 1 ? 'smallest' : `${j + 1}.`, mark: 'line', colour: k, x,
        y: values.map((v) => Math.max(v[j], floor)), dash: k % 2 ? [6, 4] : undefined,
    }));
    const pair = h('div', { class: 'pair' });
    const bar = slider(noun, 1, count, start + 1, (k) => `${k} of ${mixers.of}`, (k) => draw(k - 1));
    const draw = (k: number) => fill(pair,
        heat(`Mixer A of ${noun.toLowerCase()} ${k + 1}`, matrix(mixers, k)),
        heat(`Product of the first ${k + 1}`, running[k]),
        h('div', {}, h('p', {}, `Singular values of the mixer: ${singularValues(matrix(mixers, k)).slice(0, 8).map((v) => show(v)).join(', ')}${n > 8 ? ', …' : ''}`),
          h('p', {}, `Singular values of the product: ${values[k].slice(0, 8).map((v) => show(v)).join(', ')}${n > 8 ? ', …' : ''}`)));
    draw(start);
    const chart = count > 1 ? new Chart({ name: 'Singular values of the product of the first l mixers', x: `${noun.toLowerCase()} l`, y: 'singular value', range: [1, count], yLog: values.some((v) => v[n - 1] < 0.05 * v[0]), height: 240, whole: true }, series) : null;
    const element = section('Mixers',
        mixers.of > count && h('p', { class: 'note' }, `The first ${count} of ${mixers.of}; the file has all.`),
        h('div', { class: 'toolbar' }, bar.element), pair,
        chart && [h('h3', {}, 'What the mixers alone keep: singular values of A_l ··· A_1'), chart.element, legend(chart),
                  numbersOf('Singular values as a table', () => [[noun.toLowerCase(), ...values[0].map((_, j) => `value ${j + 1}`)], ...values.map((v, k) => [k + 1, ...v])])]);
    return { element, show: (k) => bar.set(Math.min(k, count - 1) + 1) };
}

export function networkSection(run: Run): HTMLElement | null {
    const { attributes, sigma2 } = run.network;
    if (!Object.keys(attributes).length) return null;
    const facts: [string, string][] = [['mixer', text(attributes, 'mixer')], ['layers', text(attributes, 'depth')], ['streams n', text(attributes, 'streams')],
        ['width p', text(attributes, 'width')], ['branch', text(attributes, 'branch')], ['activation', text(attributes, 'activation').replace('none', '')],
        ['total branch variance Σσ²', show(run.noise, 6)], ['seed', run.seed ?? '']];
    const layers = sigma2?.data.length ?? 0;
    const more = (['sigma_w2', 'preactivation_variance', 'weights'] as const).filter((key) => run.network[key]);
    const sides = (['pre', 'post'] as const).filter((key) => run.network[key]);
    return section('The network, layer by layer',
        h('dl', { class: 'facts' }, facts.filter(([, value]) => value).map(([key, value]) => [h('dt', {}, key), h('dd', {}, value)])),
        layers > 0 && sortable('Layers', [
            { heading: 'layer', value: (k) => k + 1 },
            { heading: 'σ²', title: 'branch variance', value: (k) => sigma2!.data[k] },
            ...more.map((key) => ({ heading: key.replace(/_/g, ' '), value: (k: number) => run.network[key]!.data[k] ?? null })),
            ...(run.network.mixers ? [
                { heading: '‖A‖', title: 'spectral norm of the mixer', value: (k: number) => k < run.network.mixers!.shape[0] ? singularValues(matrix(run.network.mixers!, k))[0] : null },
                { heading: 'smallest singular value of A', value: (k: number) => k < run.network.mixers!.shape[0] ? singularValues(matrix(run.network.mixers!, k)).slice(-1)[0] : null },
            ] : []),
            ...sides.map((key) => ({ heading: key, value: (k: number) => k < run.network[key]!.shape[0] ? row(run.network[key]!, k).map((v) => show(v, 3)).join(', ') : null })),
        ], layers));
}

/// Of a network that keeps triplets: which of them to shrink.
function tripletSensitivity(run: Run): HTMLElement | null {
    const source = run.largest_by_triplet;
    const triplets = tripletsFrom(source?.layer, source?.triplet, source?.value, source?.elasticity);
    if (!source || !triplets.length) return null;
    const place = num(source.attributes, 'log_s');
    return section('Sensitivity',
        source.attributes.certified !== 1 && h('p', { class: 'bad' }, 'Not certified.'),
        h('p', { class: 'lead' }, shrinkWords('layer', triplets)),
        h('p', {}, `How much every kept triplet moves the largest singular value s₁ of the network${place === null ? '' : `, which lies around ${show(Math.exp(place))}`}. Triplets count from 1, as in the network’s file.`),
        tripletBars('layer', triplets));
}

export function sensitivitySection(run: Run): HTMLElement | null {
    const entries = Object.entries(run.sensitivity ?? {});
    if (!entries.length) return tripletSensitivity(run);
    const body = h('div', {});
    const draw = (name: string) => {
        const entry = run.sensitivity![name], sigma2 = entry.sigma2?.data ?? [], mixers = entry.mixers;
        const pair = h('div', { class: 'pair' });
        const count = mixers?.shape[0] ?? 0;
        const largest = mixers ? mixers.data.reduce<number>((m, v) => Math.max(m, Math.abs(v ?? 0)), 0) : 0;
        const bar = mixers && slider('Layer', 1, count, 1, (k) => `${k} of ${mixers.of}`, (k) => fill(pair, heat(`Derivative by the entries of A of layer ${k}`, matrix(mixers, k - 1), largest)));
        if (mixers) fill(pair, heat('Derivative by the entries of A of layer 1', matrix(mixers, 0), largest));
        const x = sigma2.map((_, k) => k + 1), y = sigma2.map((v) => v ?? NaN);
        const top = y.reduce((best, v, k) => Math.abs(v) > Math.abs(y[best] ?? 0) ? k : best, 0);
        const chart = new Chart({ name: `Derivative of ${name} by the branch variance of every layer`, x: 'layer', y: 'derivative by σ²', range: [0.5, sigma2.length + 0.5], height: 220, whole: true },
                                [{ label: 'derivative by σ²', mark: 'points', colour: 0, x, y }]);
        fill(body, entry.attributes.certified !== 1 && h('p', { class: 'bad' }, 'Not certified.'),
             h('p', {}, `Derivative by the total branch variance: ${show(num(entry.attributes, 'total_noise'), 5)}. `,
               sigma2.length > 0 && Math.abs(y[top]) > 0 && `Layer ${top + 1} counts most: ${show(y[top], 4)} per unit of its σ².`),
             chart.element, numbersOf('Derivatives by layer', () => [['layer', 'derivative by σ²'], ...x.map((k, j) => [k, sigma2[j]])]),
             bar && h('div', { class: 'toolbar' }, bar.element), pair);
    };
    draw(entries[0][0]);
    return section('Sensitivity', h('p', {}, 'How much a metric of the operator-valued law changes with each layer’s branch variance and each entry of its mixer.'),
        h('div', { class: 'toolbar' }, choice('Metric', entries.map(([name]) => [name, name.replace(/_/g, ' ')] as [string, string]), entries[0][0], draw)), body);
}

export function averageSection(data: PageData, run: Run): HTMLElement | null {
    const average = run.average;
    if (!average) return null;
    const draws = num(average.attributes, 'certified') ?? 0;
    const x = block(average.log_s), mean = block(average.density_log_mean), deviation = block(average.density_log_std);
    let picture: Child = null;
    if (x && mean && deviation && x.data.length > 1) {
        // Cells between places: the last place ends the last cell.
        const places = x.data.slice(0, mean.data.length).map((v) => v ?? NaN), m = mean.data.map((v) => v ?? NaN), d = deviation.data.map((v) => v ?? 0);
        const chart = new Chart({ name: 'Density over draws of the mixers', x: 'ln s', y: 'density per unit of ln s', range: [places[0], places[places.length - 1]], height: 260 }, [
            { label: 'mean ± standard deviation', mark: 'band', colour: 0, x: places, y: m.map((v, k) => v + d[k]), lower: m.map((v, k) => Math.max(0, v - d[k])) },
            { label: 'mean', mark: 'line', colour: 0, x: places, y: m }]);
        picture = [chart.element, numbersOf('Mean and deviation as a table', () => [['ln s', 'mean', 'standard deviation'], ...places.map((p, k) => [p, m[k], d[k]])])];
    }
    return section('Average over draws of the mixers',
        h('p', {}, `${show(num(average.attributes, 'draws'))} draws, ${show(draws)} certified and kept.`), picture,
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: metrics over draws' },
          h('table', {}, h('thead', {}, h('tr', {}, ['metric', 'mean ± standard error', 'standard deviation over draws'].map((w, k) => h('th', { scope: 'col', class: k ? 'number' : null }, w)))),
            h('tbody', {}, data.metrics.map((metric) => {
                const m = num(average.mean, metric.name), s = num(average.std, metric.name);
                return h('tr', {}, h('th', { scope: 'row' }, metric.label), h('td', { class: 'number' }, withError(m, s === null ? null : s / Math.sqrt(Math.max(draws, 1)))), h('td', { class: 'number' }, show(s, 3)));
            })))));
}

export function simulationWords(run: Run): string {
    const a = run.simulation?.attributes;
    if (!a) return '';
    const count = num(a, 'samples') ?? 0, asked = num(a, 'samples_requested') ?? count;
    const size = (num(run.network.attributes, 'streams') ?? 0) * (num(run.network.attributes, 'width') ?? 0);
    const kept = run.simulation!;
    return `Simulation: ${count < asked ? `${count} of ${asked}` : count} sample${count === 1 ? '' : 's'}${size ? `, N = ${size}` : ''}, ${text(a, 'device')} ${text(a, 'precision')}, ${show(num(a, 'seconds'), 3)} s.` +
        (kept.exact ? '' : ` The page has ${kept.log_values.length + kept.zeros} quantiles of it, evenly spaced in share: shares are accurate to ${percent(1 / Math.max(1, kept.log_values.length + kept.zeros))}.`);
}
