// Many networks: a table to sort and filter, small multiples, quantiles against depth, and one network in detail.

import { Chart, drawSeries, legend, numbersOf, type Series } from './chart';
import { num, text, type PageData, type Run } from './data';
import { densitySection } from './density';
import { fill, h, section, select, slider, type Child } from './dom';
import { percent, show } from './format';
import { extent, heights, type Law } from './law';
import { agreementSection, bestMetrics, certificateSection, lawsOf, metricsSection } from './sections';
import { sortable, type Column } from './table';

const miniPage = 24;
const central: [number, number, string][] = [[0.01, 0.99, '1–99 %'], [0.1, 0.9, '10–90 %'], [0.25, 0.75, '25–75 %']];

interface Entry {
    run: Run;
    label: string;
    laws: Law[] | null;  // made when they are needed
}

function laws(entry: Entry): Law[] {
    entry.laws ??= lawsOf(entry.run);
    return entry.laws;
}

function best(entry: Entry): Law | undefined {
    const all = laws(entry);
    return all.find((law) => law.id === 'ov') ?? all.find((law) => law.sample) ?? all[0];
}

const parameters: [string, string, (run: Run) => string | number | null][] = [
    ['mixer', 'mixer', (run) => text(run.network.attributes, 'mixer')],
    ['branch', 'branch', (run) => text(run.network.attributes, 'branch')],
    ['n', 'streams', (run) => num(run.network.attributes, 'streams')],
    ['p', 'width', (run) => num(run.network.attributes, 'width')],
    ['L', 'depth', (run) => num(run.network.attributes, 'depth')],
    ['Σσ²', 'total branch variance', (run) => run.noise],
    ['seed', 'seed', (run) => run.seed ?? null],
];

/// Drawn on its own small canvas: densities over s or ln s, without numbers on the axes.
function paintMini(canvas: HTMLCanvasElement, entry: Entry, range: [number, number]): void {
    const scale = devicePixelRatio, width = canvas.clientWidth * scale, height = canvas.clientHeight * scale;
    if (!width) return;
    canvas.width = width;
    canvas.height = height;
    const ctx = canvas.getContext('2d')!;
    const [from, to] = range, edges = Array.from({ length: 61 }, (_, k) => from + (to - from) * k / 60);
    const all = laws(entry);
    // Over s the pile near zero would flatten the rest.
    let top = 0;
    const drawn: Series[] = [];
    let theories = 0;
    for (const law of all) {
        const y = heights(law, edges, false);
        if (law.sample || law.id === 'ov' || all.length === 1) top = Math.max(top, ...y.slice(3));
        if (law.sample) drawn.push({ label: '', mark: 'bars', colour: 7, x: edges, y });
        else {
            const colour = theories++;
            drawn.push({ label: '', mark: 'line', colour, dash: colour ? [4, 3] : undefined,
                         x: law.x.map(Math.exp), y: law.y.map((d, k) => d * Math.exp(-law.x[k])) });
        }
    }
    top = top > 0 ? 1.15 * top : 1;
    drawn.sort((a, b) => Number(b.mark === 'bars') - Number(a.mark === 'bars'));
    const px = (x: number) => (x - from) / (to - from) * width, py = (y: number) => height - Math.min(y / top, 2) * height;
    for (const series of drawn) drawSeries(ctx, series, px, py, height, scale, true);
    ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--ink-2').trim();
    ctx.globalAlpha = 0.5;
    ctx.setLineDash([2 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(px(1), 0);
    ctx.lineTo(px(1), height);
    ctx.stroke();
}

function minis(entries: Entry[], chosen: (k: number) => void): { element: HTMLElement; show: (rows: number[]) => void } {
    const grid = h('ul', { class: 'minis' });
    const more = h('p', { class: 'more' });
    const watcher = new IntersectionObserver((seen) => {
        for (const entry of seen) if (entry.isIntersecting) {
            watcher.unobserve(entry.target);
            (entry.target as HTMLElement).dispatchEvent(new Event('paint'));
        }
    }, { rootMargin: '200px' });
    let most = miniPage, order: number[] = [];
    const draw = () => {
        const some = order.slice(0, most).filter((k) => laws(entries[k]).length);
        let high = 1.3;
        for (const k of some) high = Math.max(high, Math.min(Math.exp(extent(laws(entries[k]))[1]), 4));
        const range: [number, number] = [0, 1.03 * high];
        fill(grid, some.map((k) => {
            const entry = entries[k], metrics = bestMetrics(entry.run);
            const canvas = h('canvas', { 'aria-hidden': 'true' });
            canvas.addEventListener('paint', () => paintMini(canvas, entry, range));
            watcher.observe(canvas);
            return h('li', {}, h('button', { type: 'button', onclick: () => chosen(k) }, h('span', { class: 'name' }, entry.label), canvas,
                h('span', { class: 'caption' }, `in window ${percent(metrics?.window)}, collapsed ${percent(metrics?.collapsed)}${entry.run.doubts.length ? ', not certified' : ''}`)));
        }));
        fill(more, order.length > most && h('button', { type: 'button', onclick: () => { most += 4 * miniPage; draw(); } }, `Show more of ${order.length}`));
    };
    return { element: h('div', {}, h('p', { class: 'note' }, 'Densities over s, all with the same horizontal axis from 0; dotted: s = 1. Bars: simulation, solid: operator-valued theory, dashed: others. Choose one to see it in detail.'), grid, more),
             show: (rows) => { order = rows; most = miniPage; draw(); } };
}

/// Quantiles against depth: one group of networks that differ in depth only.
function depthBands(entries: Entry[], chosen: (k: number) => void): HTMLElement | null {
    const key = (entry: Entry) => parameters.filter(([name]) => name !== 'L').map(([, , value]) => String(value(entry.run))).join('|');
    const groups = new Map<string, number[]>();
    entries.forEach((entry, k) => {
        if (entry.run.theory || entry.run.simulation) groups.set(key(entry), [...(groups.get(key(entry)) ?? []), k]);
    });
    const deep = [...groups.values()].filter((members) => new Set(members.map((k) => num(entries[k].run.network.attributes, 'depth'))).size > 1);
    if (!deep.length) return null;
    const varying = parameters.filter(([name, , value]) => name !== 'L' && new Set(deep.map((members) => value(entries[members[0]].run))).size > 1);
    const title = (members: number[]) => (varying.length ? varying : parameters.slice(0, 1)).map(([name, , value]) => {
        const found = value(entries[members[0]].run);
        return name === 'mixer' ? String(found) : `${name} = ${typeof found === 'number' ? show(found) : found}`;
    }).join(', ');
    const body = h('div', {});
    const draw = (index: number) => {
        const depth = (k: number) => num(entries[k].run.network.attributes, 'depth') ?? 0;
        const members = [...deep[index]].sort((a, b) => depth(a) - depth(b)).filter((k, i, all) => i === 0 || depth(k) !== depth(all[i - 1]));
        const x = members.map(depth);
        const at = (u: number) => members.map((k) => Math.exp(best(entries[k])!.quantile(u)));
        const floor = 1e-6, above = (y: number[]) => y.map((v) => Math.max(v, floor));
        const series: Series[] = central.map(([a, b, label], k) => ({ label, mark: 'band', colour: [0, 0, 0][k], x, y: above(at(b)), lower: above(at(a)), at: (l) => {
            const i = x.reduce((j, d, n) => Math.abs(d - l) < Math.abs(x[j] - l) ? n : j, 0);
            return `${show(at(a)[i], 3)} to ${show(at(b)[i], 3)}`;
        } }));
        series.push({ label: 'median', mark: 'line', colour: 1, x, y: above(at(0.5)) });
        const low = Math.min(...above(at(0.01)));
        const chart = new Chart({ name: `Quantiles of the singular values against depth, ${title(members)}`, x: 'depth L', y: 'singular value s', range: [x[0], x[x.length - 1]], xLog: x[0] > 0 && x[x.length - 1] / x[0] > 30, yLog: low < 0.05, whole: true, marks: [] }, series);
        const detail = h('div', {});
        const step = slider('Depth', 0, members.length - 1, members.length - 1, (i) => `L = ${x[i]}`, (i) => move(i));
        const move = (i: number) => {
            chart.options.marks = [{ x: x[i], label: `L = ${x[i]}` }];
            chart.redraw();
            const entry = entries[members[i]], metrics = bestMetrics(entry.run);
            fill(detail, h('p', {}, h('strong', {}, `L = ${x[i]}: `), `median ${show(at(0.5)[i])}, 10–90 %: ${show(at(0.1)[i], 3)} to ${show(at(0.9)[i], 3)}, in [0.75, 1.25] ${percent(metrics?.window)}, below 0.1 ${percent(metrics?.collapsed)}. `,
                h('button', { type: 'button', onclick: () => chosen(members[i]) }, 'Show this network')));
        };
        fill(body, chart.element, legend(chart), h('div', { class: 'toolbar' }, step.element), detail,
             low <= floor && h('p', { class: 'note' }, 'Values below 10⁻⁶ are drawn there.'),
             numbersOf('Quantiles as a table', () => [['depth', ...[0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99].map((u) => `${100 * u} %`)],
                 ...members.map((k, i) => [x[i], ...[0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99].map((u) => Math.exp(best(entries[k])!.quantile(u)))])]));
        move(members.length - 1);
    };
    draw(0);
    return section('Singular values against depth', h('p', {}, 'Bands hold the central share of the singular values, by the operator-valued theory where there is one, otherwise by the simulation.'),
        h('div', { class: 'toolbar' }, deep.length > 1 && select('Networks', deep.map((members, k) => [String(k), title(members)]), '0', (v) => draw(Number(v)))), body);
}

/// All sections of many networks.
export function runsSections(data: PageData, runs: { run: Run; label: string }[], total: number): HTMLElement[] {
    const entries: Entry[] = runs.map((run) => ({ ...run, laws: null }));
    const detail = section('One network in detail');
    detail.id = 'one-network';
    const choose = (k: number, scroll = true) => {
        const { run, label } = entries[k];
        const heading = detail.firstChild!;
        fill(detail, heading, h('p', { class: 'lead' }, h('strong', {}, label), run.answer ? `. ${run.answer}` : ''),
             run.doubts.length > 0 && h('p', { class: 'bad' }, `Not certified: ${run.doubts.join(', ')}.`),
             laws(entries[k]).length ? densitySection(laws(entries[k]), `${label}: `) : h('p', {}, 'The page has no curves of this network; the file has.'),
             run.metrics && nested(metricsSection(data, run.metrics)), nested(agreementSection(run)), nested(certificateSection(run)));
        if (scroll) {
            detail.scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
            (heading as HTMLElement).setAttribute('tabindex', '-1');
            (heading as HTMLElement).focus({ preventScroll: true });
        }
    };
    const varies = parameters.filter(([name, , value]) => name === 'mixer' || name === 'L' || new Set(entries.map((e) => value(e.run))).size > 1);
    const metric = (name: string) => (k: number) => bestMetrics(entries[k].run)?.[name] ?? null;
    const w1 = (pair: string) => (k: number) => entries[k].run.agreement?.[pair]?.wasserstein1 ?? null;
    const columns = ([
        { heading: 'network', value: (k) => entries[k].label, shown: (k): Child => h('button', { type: 'button', class: 'link', onclick: () => choose(k) }, entries[k].label) },
        ...varies.map(([heading, title, value]): Column => ({ heading, title, value: (k) => value(entries[k].run) })),
        { heading: 'in window', title: 'share in [0.75, 1.25]', value: metric('window'), shown: (k) => percent(metric('window')(k)) },
        { heading: 'collapsed', title: 'share below 0.1', value: metric('collapsed'), shown: (k) => percent(metric('collapsed')(k)) },
        { heading: 'eff. rank', title: 'effective rank', value: metric('effective_rank') },
        { heading: 'mean square', value: metric('mean_square') },
        { heading: 'largest', value: metric('largest') },
        ...['ov', 'scalar', 's-transform', 'printed'].filter((t) => entries.some((e) => e.run.agreement?.[`${t}_montecarlo`])).map((t): Column => ({ heading: `W1 ${t}`, title: 'distance of this theory from the simulation', value: w1(`${t}_montecarlo`) })),
        { heading: 'expected', title: 'what width and samples alone explain of W1', value: (k) => entries[k].run.agreement?.ov_montecarlo?.expected?.wasserstein1?.mean ?? null },
        { heading: 'certified', value: (k) => entries[k].run.doubts.length ? `not: ${entries[k].run.doubts.join(', ')}` : 'yes' },
    ] as Column[]).filter((c) => c.heading !== 'expected' || entries.some((_, k) => c.value(k) !== null));
    const small = minis(entries, choose);
    const byWindow = columns.findIndex((c) => c.heading === 'in window');
    const table = sortable(`${entries.length} networks`, columns, entries.length, (rows) => small.show(rows), byWindow, true);
    const first = entries.reduce((best, _, k) => (metric('window')(k) ?? -1) > (metric('window')(best) ?? -1) ? k : best, 0);
    choose(first, false);
    return [
        section('All networks', total > entries.length && h('p', { class: 'note' }, `The first ${entries.length} of ${total}; the file has all.`),
            h('p', {}, 'Metrics are those of the operator-valued theory where there is one, otherwise of the simulation. Sort by a heading; the small pictures follow the table.'), table),
        section('Small multiples', small.element),
        ...[depthBands(entries, choose)].filter((s): s is HTMLElement => s !== null),
        detail,
    ];
}

/// A section within a section: one level of heading down.
function nested(element: HTMLElement | null): HTMLElement | null {
    if (!element) return null;
    for (const heading of Array.from(element.querySelectorAll('h3'))) {
        const lower = h('h4', {});
        lower.textContent = heading.textContent;
        heading.replaceWith(lower);
    }
    const heading = element.querySelector('h2');
    if (heading) {
        const lower = h('h3', { id: heading.id });
        lower.textContent = heading.textContent;
        heading.replaceWith(lower);
    }
    return element;
}
