// The densities of a network's laws over s and ln s: zoom, series, values under the pointer, and the share and quantiles
// of any range.

import { Chart, legend, numbersOf, type Series } from './chart';
import { choice, copyButton, fill, h, labelled } from './dom';
import { csv, percent, show } from './format';
import { extent, heights, type Law } from './law';

const windowRange: [number, number] = [Math.log(0.75), Math.log(1.25)];
const dashes: (number[] | undefined)[] = [undefined, [8, 5], [2, 4], [10, 4, 2, 4]];

function edgesOf(from: number, to: number, count: number): number[] {
    return Array.from({ length: count + 1 }, (_, k) => from + (to - from) * k / count);
}

/// A curve's points per unit of s.
function overS(law: Law): { x: number[]; y: number[] } {
    return { x: law.x.map(Math.exp), y: law.y.map((d, k) => d * Math.exp(-law.x[k])) };
}

export interface View {
    log: boolean;
    yLog: boolean;
    cumulative: boolean;
}

/// Series of all laws, for the visible range.
export function seriesOf(laws: Law[], view: View, from: number, to: number, hidden: Set<string>): Series[] {
    const place = (x: number) => view.log ? x : x > 0 ? Math.log(x) : -Infinity;
    let theories = 0, samples = 0;
    const all: Series[] = [];
    for (const law of laws) {
        const colour = law.sample ? 7 - samples++ : theories;
        const dash = law.sample ? undefined : dashes[theories++ % dashes.length];
        const off = hidden.has(law.id);
        if (view.cumulative) {
            const x = edgesOf(from, to, 400);
            all.push({ label: law.label, mark: 'line', colour, dash: law.sample ? [1, 3] : dash, hidden: off, x,
                       y: x.map((e) => law.cdf(place(e))), at: (e) => percent(law.cdf(place(e))) });
        } else if (law.sample) {
            const x = edgesOf(from, to, innerWidth < 600 ? 60 : 110);
            const y = heights(law, x, view.log);
            all.push({ label: law.label, mark: 'bars', colour, x, y, hidden: off,
                       at: (e) => `${show(y[Math.min(Math.max(Math.floor((e - from) / (to - from) * y.length), 0), y.length - 1)])} (${percent(law.cdf(place(e)))} below)` });
        } else {
            const { x, y } = view.log ? law : overS(law);
            all.push({ label: law.label, mark: 'line', colour, dash, x, y, hidden: off,
                       at: (e) => `${show(law.density(place(e)) / (view.log ? 1 : e))} (${percent(law.cdf(place(e)))} below)` });
        }
        if (law.atoms.length && !view.cumulative && !law.sample) {
            const seen = law.atoms.filter((a) => !view.log || Number.isFinite(a.x));
            const x = seen.map((a) => view.log ? a.x : Math.exp(a.x));
            if (x.length) all.push({ label: '', mark: 'stems', colour, x, y: x.map(() => NaN), hidden: off });
        }
    }
    // Bars behind curves.
    return all.sort((a, b) => Number(b.mark === 'bars') - Number(a.mark === 'bars'));
}

/// The height of the panel: by mean heights, so that a spike at an edge does not flatten the rest; over s what piles up
/// near zero may leave the panel at its top.
export function panelHeight(laws: Law[], view: View, from: number, to: number, whole: boolean): number {
    const edges = edgesOf(from, to, 100);
    const skip = !view.log && whole ? 5 : 0;
    let inner = 0, all = 0;
    for (const law of laws) {
        const bars = heights(law, edges, view.log);
        all = Math.max(all, ...bars);
        inner = Math.max(inner, ...bars.slice(skip));
    }
    const height = inner > 0.02 * 100 / (to - from) / 100 && inner > 0 ? inner : all;
    // A peak that is not much higher is shown whole.
    const start = from + skip * (to - from) / 100;
    let peak = 0;
    for (const law of laws) law.x.forEach((log, k) => {
        const x = view.log ? log : Math.exp(log), y = view.log ? law.y[k] : law.y[k] / x;
        if (x >= start && x <= to && y > peak) peak = y;
    });
    if (peak < 4 * height) return 1.05 * Math.max(peak, 1.09 * height) || 1;
    return height > 0 ? 1.15 * height : 1;
}

export function densitySection(laws: Law[], prefix = ''): HTMLElement {
    const root = h('div', { class: 'density' });
    if (!laws.length) return root;
    const [low, high] = extent(laws), largest = Math.exp(high);
    const wide = high - low > 3;
    const view: View = { log: wide, yLog: false, cumulative: false };
    const hidden = new Set<string>();
    const ranges = { s: [0, 1.06 * largest] as [number, number],
                     log: [low - 0.04 * (high - low), high + 0.04 * (high - low)] as [number, number] };
    let measured: [number, number] = [...windowRange];  // ln s
    const full = (): [number, number] => view.log ? ranges.log : ranges.s;
    const peak = h('p', { class: 'note' });
    const shown = () => laws.filter((law) => !hidden.has(law.id));

    const chart: Chart = new Chart({
        name: `${prefix}Density of the singular values`, x: '', y: '', range: full(), dragMeasures: true,
        showX: (x) => view.log ? `s = ${show(Math.exp(x))} (ln s = ${show(x)})` : `s = ${show(x)}`,
        measured: (from, to) => setRange(view.log ? from : from > 0 ? Math.log(from) : -Infinity, view.log ? to : Math.log(Math.max(to, 1e-300))),
        yRange: (from, to) => {
            if (view.cumulative) return view.yLog ? [1e-4, 1.2] : [0, 1.03];
            const whole = from === full()[0] && to === full()[1];
            const top = panelHeight(shown(), view, from, to, whole);
            return view.yLog ? [top * 1e-5, top * 2] : [0, top];
        },
    }, []);
    const build = () => {
        const [from, to] = chart.view();
        chart.series = seriesOf(laws, view, from, to, hidden);
        for (const series of chart.series) if (series.mark === 'stems') {
            const top = chart.options.yRange!(from, to)[1];
            series.y = series.y.map(() => 0.95 * top);
        }
    };
    const redraw = chart.redraw.bind(chart);
    chart.redraw = () => {
        build();
        redraw();
        const [a, b] = chart.view();
        let highest = 0;
        for (const series of chart.series) if (series.mark === 'line' && !series.hidden)
            for (let k = 0; k < series.x.length; ++k) if (series.x[k] >= a && series.x[k] <= b && series.y[k] > highest) highest = series.y[k];
        peak.textContent = !view.cumulative && !view.yLog && highest > chart.options.yRange!(a, b)[1]
            ? `The highest peak reaches ${show(highest, 3)} and leaves the panel at its top: zoom in, or take a logarithmic height, to see it.` : '';
    };
    const update = (keep = false) => {
        const unit = view.log ? 'ln s' : 's';
        const range = keep ? chart.view() : full();
        const options = { x: view.log ? 'ln s' : 's', range: full(), yLog: view.yLog,
                          y: view.cumulative ? 'share of singular values below' : `density per unit of ${unit}`,
                          marks: [{ x: view.log ? 0 : 1, label: 's = 1' }] };
        chart.change(options, seriesOf(laws, view, range[0], range[1], hidden), keep);
        chart.redraw();
        mark();
    };

    // The range.
    const from = h('input', { type: 'number', step: 'any', min: 0, inputmode: 'decimal' });
    const to = h('input', { type: 'number', step: 'any', min: 0, inputmode: 'decimal' });
    const result = h('tbody');
    const mark = () => {
        const [a, b] = view.log ? measured : [Math.exp(measured[0]), Math.exp(measured[1])];
        chart.select([a, b]);
    };
    const table = () => {
        const [a, b] = measured;
        fill(result, laws.map((law) => {
            // Both ends belong to the range: F just below its left end.
            const below = a === -Infinity ? 0 : law.cdf(a - 1e-12 * Math.max(1, Math.abs(a))), upto = law.cdf(b);
            const inside = (u: number) => upto > below ? show(Math.exp(law.quantile(below + u * (upto - below)))) : '–';
            return h('tr', {}, h('th', { scope: 'row' }, law.label), [percent(upto - below), percent(below), percent(1 - upto)]
                .map((cell) => h('td', { class: 'number' }, cell)),
                [0.1, 0.5, 0.9].map((u) => h('td', { class: 'number' }, inside(u))));
        }));
    };
    function setRange(a: number, b: number, typed = false): void {
        if (!(b > a)) return;
        measured = [a, b];
        if (!typed) {
            from.value = String(Number(Math.exp(a).toPrecision(4)));
            to.value = String(Number(Math.exp(b).toPrecision(4)));
        }
        table();
        mark();
    }
    const read = () => {
        const a = Number(from.value), b = Number(to.value);
        if (a >= 0 && b > a) setRange(a > 0 ? Math.log(a) : -Infinity, Math.log(b), true);
    };
    from.addEventListener('input', read);
    to.addEventListener('input', read);
    const preset = (words: string, a: number, b: number) =>
        h('button', { type: 'button', onclick: () => setRange(a > 0 ? Math.log(a) : -Infinity, Math.log(b)) }, words);

    const quantiles = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
    const curves = (): (string | number | null)[][] => {
        const rows: (string | number | null)[][] = [['source', 's', 'ln s', 'density per unit of s', 'density per unit of ln s', 'share below']];
        for (const law of laws) {
            if (law.sample) {
                const x = edgesOf(...ranges.log, 110), bars = heights(law, x, true);
                bars.forEach((d, k) => {
                    const middle = (x[k] + x[k + 1]) / 2;
                    rows.push([law.label, Math.exp(middle), middle, d * Math.exp(-middle), d, law.cdf(middle)]);
                });
            } else law.x.forEach((x, k) => rows.push([law.label, Math.exp(x), x, law.y[k] * Math.exp(-x), law.y[k], law.cdf(x)]));
        }
        return rows;
    };
    const near = laws.map((law) => ({ law, mass: law.cdf(Math.log(0.1)) })).filter((e) => e.mass > 0.2);
    const zero = laws.filter((law) => law.atoms.some((a) => a.x === -Infinity));

    chart.series = seriesOf(laws, view, ...full(), hidden);
    root.append(
        h('div', { class: 'toolbar' },
          choice('Axis', [['s', 's'], ['log', 'ln s']], view.log ? 'log' : 's', (v) => { view.log = v === 'log'; update(); }),
          choice('Height', [['linear', 'linear'], ['log', 'logarithmic']], 'linear', (v) => { view.yLog = v === 'log'; update(true); }),
          choice('Show', [['density', 'density'], ['cdf', 'share below s']], 'density', (v) => { view.cumulative = v === 'cdf'; update(true); }),
          choice('Dragging', [['measure', 'measures a range'], ['zoom', 'zooms']], 'measure', (v) => { chart.options.dragMeasures = v === 'measure'; }),
          chart.buttons()),
        chart.element,
        legend(chart, (label, on) => {
            for (const law of laws) if (law.label === label) hidden[on ? 'delete' : 'add'](law.id);
        }),
        h('p', { class: 'note' },
          near.length > 0 && `Below s = 0.1: ${near.map((e) => `${e.law.label} ${percent(e.mass)}`).join(', ')}. Over s these pile up at the left edge; ln s spreads them out. `,
          zero.length > 0 && `At s = 0 exactly: ${zero.map((law) => `${law.label} ${percent(law.atoms.find((a) => a.x === -Infinity)!.mass)}`).join(', ')}.`),
        peak,
        h('h3', {}, 'Shares and quantiles of a range'),
        h('div', { class: 'toolbar' }, labelled('from s =', from), labelled('to s =', to),
          preset('0.75 to 1.25', 0.75, 1.25), preset('below 0.1', 0, 0.1), preset('everything', 0, 2 * largest)),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: shares and quantiles of the range' },
          h('table', { class: 'range' }, h('thead', {}, h('tr', {},
            ['law', 'in the range', 'below it', 'above it', '10 % quantile in it', 'median in it', '90 % quantile in it'].map((w) => h('th', { scope: 'col' }, w)))), result)),
        h('h3', {}, 'Quantiles of the whole law'),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: quantiles of the whole law' },
          h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 's below which lie'), quantiles.map((u) => h('th', { scope: 'col', class: 'number' }, `${100 * u} %`)))),
            h('tbody', {}, laws.map((law) => h('tr', {}, h('th', { scope: 'row' }, law.label),
              quantiles.map((u) => h('td', { class: 'number' }, show(Math.exp(law.quantile(u))))))))),
        ),
        h('div', { class: 'toolbar' }, copyButton('Copy the data as CSV', () => csv(curves()))),
        numbersOf('The curves as a table', curves));
    setRange(...windowRange);
    update();
    return root;
}
