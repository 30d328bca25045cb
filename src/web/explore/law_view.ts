// The picture of a law that changes: densities over s or ln s, with axes that stay while the law moves a little.

import { Chart, legend, numbersOf } from '../page/chart';
import { choice, h } from '../page/dom';
import { panelHeight, seriesOf, type View } from '../page/density';
import { show } from '../page/format';
import { extent, type Law } from '../page/law';

/// The next of 1, 1.5, 2, 3, 5, 7 times a power of ten.
function roundUp(value: number): number {
    const power = Math.pow(10, Math.floor(Math.log10(value)));
    return power * ([1, 1.5, 2, 3, 5, 7, 10].find((m) => m * power >= value) ?? 10);
}

/// What is shown: everything, rounded outwards so that it rarely changes.
function rangeOf(laws: Law[], log: boolean): [number, number] {
    const [low, high] = extent(laws);
    if (!log) return [0, roundUp(Math.max(1.06 * Math.exp(high), 1.5))];
    const step = high - low > 8 ? 5 : 1;
    return [step * Math.floor((low - 0.1) / step), step * Math.ceil((high + 0.1) / step)];
}

export class LawView {
    readonly element: HTMLElement;
    private readonly view: View = { log: false, yLog: false, cumulative: false };
    private readonly hidden = new Set<string>();
    private readonly chart: Chart;
    private readonly names = h('div');
    private labels = '';
    private laws: Law[] = [];
    private table = this.numbers();

    constructor(name: string) {
        this.chart = new Chart({
            name, x: 's', y: 'density per unit of s', range: [0, 1.5],
            showX: (x) => this.view.log ? `s = ${show(Math.exp(x))} (ln s = ${show(x)})` : `s = ${show(x)}`,
            yRange: (from, to) => this.height(from, to), band: [0.75, 1.25],
        }, []);
        this.element = h('div', { class: 'law-view' },
            h('div', { class: 'toolbar' },
              choice('Axis', [['s', 's'], ['log', 'ln s']], 's', (v) => { this.view.log = v === 'log'; this.draw(); }),
              choice('Show', [['density', 'density'], ['cdf', 'share below s']], 'density', (v) => { this.view.cumulative = v === 'cdf'; this.draw(); })),
            this.chart.element, this.names, this.table);
    }

    update(laws: Law[]): void {
        this.laws = laws;
        this.draw();
        // A table is made when it is opened: another law needs another one.
        const table = this.numbers();
        if (this.table.open) table.open = true;
        this.table.replaceWith(table);
        this.table = table;
    }

    private numbers(): HTMLDetailsElement {
        return numbersOf('The curves as a table', () => this.rows());
    }

    rows(): (string | number | null)[][] {
        return [['source', 's', 'ln s', 'density per unit of ln s', 'share below'],
                ...this.laws.flatMap((law) => law.x.map((x, k) => [law.label, Math.exp(x), x, law.y[k], law.cdf(x)]))];
    }

    private height(from: number, to: number): [number, number] {
        if (this.view.cumulative) return [0, 1.03];
        const shown = this.laws.filter((law) => !this.hidden.has(law.id) && law.x.length);
        // Atoms alone have no density; their stems reach the top.
        return [0, shown.length ? roundUp(panelHeight(shown, this.view, from, to, true)) : 1];
    }

    private draw(): void {
        if (!this.laws.length) return;
        const { log, cumulative } = this.view, range = rangeOf(this.laws, log);
        const series = seriesOf(this.laws, this.view, range[0], range[1], this.hidden);
        for (const entry of series) if (entry.mark === 'stems') entry.y = entry.x.map(() => 0.95 * this.height(...range)[1]);
        this.chart.change({
            x: log ? 'ln s' : 's', y: cumulative ? 'share of singular values below' : `density per unit of ${log ? 'ln s' : 's'}`,
            range, band: log ? [Math.log(0.75), Math.log(1.25)] : [0.75, 1.25], marks: [{ x: log ? 0 : 1, label: 's = 1' }],
        }, series);
        this.nameSeries();
    }

    private nameSeries(): void {
        const labels = this.laws.map((law) => law.label).join('\n');
        if (labels === this.labels) return;
        this.labels = labels;
        this.names.replaceChildren(legend(this.chart, (label, on) => {
            for (const law of this.laws) if (law.label === label) this.hidden[on ? 'delete' : 'add'](law.id);
            this.draw();
        }));
    }
}
