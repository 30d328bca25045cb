// A chart: axes, zoom and pointer are uPlot's, the marks are drawn here, because every series has its own places.
//
// Keyboard: arrows move the cursor, + and − zoom, 0 shows everything, Shift with arrows marks a range, Escape clears it.

import uPlot from 'uplot';
import { csv, show } from './format';
import { copyButton, fresh, h, type Child } from './dom';

export type Mark = 'line' | 'steps' | 'bars' | 'points' | 'band' | 'stems';

export interface Series {
    label: string;
    mark: Mark;
    colour: number;
    x: number[];  // of bars and steps: edges, one more than heights
    y: number[];
    lower?: number[];
    dash?: number[];
    /// What is shown under the pointer; otherwise the height of the curve there.
    at?: (x: number) => string;
    hidden?: boolean;
}

export interface ChartOptions {
    name: string;  // for screen readers
    x: string;
    y: string;
    xLog?: boolean;
    yLog?: boolean;
    logged?: boolean;  // coordinates on logarithmic axes are log10 already, of numbers that a double may not hold
    height?: number;
    range: [number, number];
    yRange?: (from: number, to: number) => [number, number];
    showX?: (x: number) => string;
    marks?: { x: number; label: string }[];
    band?: [number, number];  // a region that is shaded
    dragMeasures?: boolean;
    measured?: (from: number, to: number) => void;
    whole?: boolean;  // ticks at whole numbers only
}

export const colourCount = 8;

function css(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';
}

/// 10^x, also where a double cannot hold it.
export function powerOfTen(x: number): string {
    return Math.abs(x) < 290 ? show(Math.pow(10, x), 3) : `1e${String(Math.round(x)).replace('-', '−')}`;
}

/// Ticks of a logarithmic axis, in log10: decades, or round numbers within one.
function logTicks(from: number, to: number): number[] {
    const ticks: number[] = [], range = to - from;
    if (range > 1.2) {
        const step = Math.ceil(range / 8);
        for (let k = Math.ceil(from / step) * step; k <= to; k += step) ticks.push(k);
        return ticks;
    }
    const low = Math.pow(10, from), high = Math.pow(10, to), unit = Math.pow(10, Math.floor(Math.log10((high - low) / 4)));
    const step = [1, 2, 5, 10].map((m) => m * unit).find((m) => (high - low) / m <= 6) ?? high - low;
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) ticks.push(Math.log10(v));
    return ticks;
}

const alive = new Set<Chart>();

/// All charts in the colours of now; for paper also those that were not yet seen.
export function repaint(all = false): void {
    for (const chart of alive) {
        if (!chart.element.isConnected) alive.delete(chart);
        else chart.paintAgain(all);
    }
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => repaint());

type Place = (value: number) => number;

/// Draws one series on a canvas.
export function drawSeries(ctx: CanvasRenderingContext2D, series: Series, px: Place, py: Place, zero: number,
                           scale: number, mini = false): void {
    if (series.hidden) return;
    const { x, y } = series, colour = css(`--c${series.colour % colourCount}`);
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    ctx.lineWidth = (mini ? 1.25 : 2) * scale;
    ctx.setLineDash((series.dash ?? []).map((d) => d * scale));
    ctx.lineJoin = 'round';
    if (series.mark === 'bars') {
        ctx.globalAlpha = 0.35;
        ctx.beginPath();
        for (let k = 0; k < y.length; ++k) {
            if (!(y[k] > 0)) continue;
            const left = px(x[k]), right = px(x[k + 1]), top = py(y[k]);
            ctx.rect(left, top, Math.max(right - left, 0.5), zero - top);
        }
        ctx.fill();
        ctx.globalAlpha = 1;
        ctx.lineWidth = scale;
        ctx.beginPath();
        for (let k = 0; k < y.length; ++k) {
            const top = y[k] > 0 ? py(y[k]) : zero;
            if (k === 0) ctx.moveTo(px(x[k]), top);
            else ctx.lineTo(px(x[k]), top);
            ctx.lineTo(px(x[k + 1]), top);
        }
        ctx.stroke();
    } else if (series.mark === 'band' && series.lower) {
        ctx.globalAlpha = 0.3;
        ctx.beginPath();
        for (let k = 0; k < x.length; ++k) ctx[k ? 'lineTo' : 'moveTo'](px(x[k]), py(y[k]));
        for (let k = x.length - 1; k >= 0; --k) ctx.lineTo(px(x[k]), py(series.lower[k]));
        ctx.closePath();
        ctx.fill();
        ctx.globalAlpha = 1;
    } else if (series.mark === 'points') {
        for (let k = 0; k < x.length; ++k) {
            if (!Number.isFinite(y[k])) continue;
            ctx.beginPath();
            ctx.arc(px(x[k]), py(y[k]), 3 * scale, 0, 7);
            ctx.fill();
        }
    } else if (series.mark === 'stems') {
        for (let k = 0; k < x.length; ++k) {
            ctx.beginPath();
            ctx.moveTo(px(x[k]), zero);
            ctx.lineTo(px(x[k]), py(y[k]));
            ctx.stroke();
            ctx.beginPath();
            ctx.arc(px(x[k]), py(y[k]), 4 * scale, 0, 7);
            ctx.fill();
        }
    } else {
        ctx.beginPath();
        let down = false;
        for (let k = 0; k < x.length; ++k) {
            const top = py(y[k]);
            if (!Number.isFinite(top)) { down = false; continue; }
            if (series.mark === 'steps' && down) ctx.lineTo(px(x[k]), py(y[k - 1]));
            ctx[down ? 'lineTo' : 'moveTo'](px(x[k]), top);
            down = true;
        }
        ctx.stroke();
    }
    ctx.setLineDash([]);
}

/// The value of a series nearest to x.
function nearest(series: Series, x: number): number {
    const xs = series.x;
    if (series.mark === 'bars') {
        for (let k = 0; k < series.y.length; ++k) if (x >= xs[k] && x < xs[k + 1]) return series.y[k];
        return NaN;
    }
    let best = -1;
    for (let k = 0; k < xs.length; ++k) if (best < 0 || Math.abs(xs[k] - x) < Math.abs(xs[best] - x)) best = k;
    return best < 0 ? NaN : series.y[best];
}

export class Chart {
    readonly element: HTMLElement;
    private frame: HTMLElement;
    private readout: HTMLElement;
    private plot: uPlot | null = null;
    private from: number;
    private to: number;
    private cursor: number | null = null;
    private anchor: number | null = null;
    private tx: Place;
    private ty: Place;
    private selected: [number, number] | null = null;

    constructor(public options: ChartOptions, public series: Series[]) {
        this.tx = this.ty = (v) => v;
        this.from = this.to = 0;
        this.scales();
        const help = fresh('keys');
        this.readout = h('p', { class: 'readout', 'aria-live': 'off' }, ' ');
        this.frame = h('div', { class: 'chart', tabindex: 0, role: 'group', 'aria-label': options.name,
                                'aria-describedby': help });
        this.frame.style.height = `${this.height()}px`;
        this.element = h('div', { class: 'chart-box' }, this.frame, this.readout,
                         h('p', { class: 'keys', id: help },
                           'Keys: ← → read values, + − zoom, 0 shows everything',
                           options.measured ? ', Shift + ← → marks a range, Esc clears it.' : '.'));
        this.frame.addEventListener('keydown', (event) => this.key(event));
        this.frame.addEventListener('pointermove', () => this.readout.setAttribute('aria-live', 'off'));
        // Only what can be seen is drawn: a page may have a thousand charts.
        new IntersectionObserver((entries) => {
            if (!this.plot && entries[entries.length - 1].isIntersecting) this.create();
        }, { rootMargin: '400px' }).observe(this.element);
        new ResizeObserver(() => {
            const width = this.frame.clientWidth;
            if (!this.plot || width <= 0 || width === this.plot.width) return;
            this.plot.setSize({ width, height: this.height() });
        }).observe(this.frame);
        alive.add(this);
    }

    /// From the coordinates of series to those of the plot, which is linear.
    private scales(keepView = false): void {
        const log = (on?: boolean): Place => on && !this.options.logged ? (v) => Math.log10(v) : (v) => v;
        this.tx = log(this.options.xLog);
        this.ty = log(this.options.yLog);
        if (!keepView) [this.from, this.to] = this.options.range.map(this.tx) as [number, number];
    }

    private back(x: number): number {
        return this.options.xLog && !this.options.logged ? Math.pow(10, x) : x;
    }

    private height(): number {
        return this.options.height ?? (innerWidth < 600 ? 240 : 320);
    }

    private yRange(): [number, number] {
        if (this.options.yRange) return this.options.yRange(this.back(this.from), this.back(this.to)).map(this.ty) as [number, number];
        let low = Infinity, high = -Infinity;
        for (const series of this.series) {
            if (series.hidden) continue;
            for (const list of series.lower ? [series.y, series.lower] : [series.y])
                for (let k = 0; k < list.length; ++k) {
                    const value = this.ty(list[k]), x = this.tx(series.x[k]);
                    if (!Number.isFinite(value) || x < this.from || x > this.to) continue;
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
        }
        if (low > high) return [0, 1];
        const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
        return [!this.options.yLog && low >= 0 && low < 0.4 * high ? 0 : low - room, high + room];
    }

    private create(): void {
        const options = this.options, ink = () => css('--ink-2'), rule = () => css('--rule');
        const width = this.frame.clientWidth || 600;
        // As many decimals as the distance between ticks has.
        const spaced = (values: number[], step: number) => {
            const decimals = (String(Number(step.toPrecision(4))).split('.')[1] ?? '').length;
            return values.map((v) => Math.abs(v) >= 1e6 || step < 1e-4 ? show(v, 4) : v.toFixed(decimals).replace('-', '−'));
        };
        const axis = (label: string, log: boolean, side: boolean): uPlot.Axis => ({
            label, stroke: ink, labelFont: '13px system-ui, sans-serif', font: '12px system-ui, sans-serif',
            labelSize: 20, size: side ? 58 : 34, gap: 4, space: side ? 34 : 56,
            grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1, size: 5 },
            ...(log ? { splits: (_: uPlot, _axis: number, from: number, to: number) => logTicks(from, to) }
                : options.whole && !side ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 1e5, 1e6] } : {}),
            values: (_, values, _axis, _space, step) => log ? values.map(powerOfTen) : spaced(values, step),
        });
        this.plot = new uPlot({
            width, height: this.height(), legend: { show: false }, padding: [12, 14, 0, 0],
            scales: {
                x: { time: false, range: () => [this.from, this.to] },
                y: { range: () => this.yRange() },
            },
            axes: [axis(options.x, !!options.xLog, false), axis(options.y, !!options.yLog, true)],
            series: [{}, { points: { show: false }, paths: () => null }],
            cursor: {
                points: { show: false }, y: false,
                drag: { x: true, y: false, setScale: false },
                bind: { dblclick: () => () => { this.reset(); return null; } },
            },
            hooks: {
                draw: [(plot) => { this.paint(plot); this.select(this.selected); }],
                setCursor: [(plot) => {
                    const left = plot.cursor.left ?? -1;
                    this.say(left < 0 ? null : plot.posToVal(left, 'x'));
                }],
                setSelect: [(plot) => {
                    const { left, width: wide } = plot.select;
                    if (wide < 3) return;
                    const from = plot.posToVal(left, 'x'), to = plot.posToVal(left + wide, 'x');
                    if (options.measured && options.dragMeasures) options.measured(this.back(from), this.back(to));
                    else {
                        this.select(this.selected);
                        this.zoom(from, to);
                    }
                }],
            },
        }, [[this.from, this.to], [1, 1]], this.frame);
        this.plot.root.setAttribute('aria-hidden', 'true');
    }

    private paint(plot: uPlot): void {
        const { ctx } = plot, { left, top, width, height } = plot.bbox, scale = devicePixelRatio;
        const px = (x: number) => plot.valToPos(this.tx(x), 'x', true), py = (y: number) => plot.valToPos(this.ty(y), 'y', true);
        ctx.save();
        ctx.beginPath();
        ctx.rect(left, top, width, height);
        ctx.clip();
        if (this.options.band) {
            ctx.fillStyle = css('--shade');
            const a = px(this.options.band[0]), b = px(this.options.band[1]);
            ctx.fillRect(a, top, b - a, height);
        }
        for (const series of this.series) drawSeries(ctx, series, px, py, top + height, scale);
        for (const mark of this.options.marks ?? []) {
            ctx.strokeStyle = css('--ink-2');
            ctx.lineWidth = scale;
            ctx.setLineDash([4 * scale, 4 * scale]);
            ctx.beginPath();
            ctx.moveTo(px(mark.x), top);
            ctx.lineTo(px(mark.x), top + height);
            ctx.stroke();
            ctx.setLineDash([]);
            ctx.fillStyle = css('--ink-2');
            ctx.font = `${12 * scale}px system-ui, sans-serif`;
            ctx.textAlign = 'left';
            ctx.textBaseline = 'alphabetic';
            const wide = ctx.measureText(mark.label).width, at = px(mark.x) + 5 * scale;
            ctx.fillText(mark.label, at + wide > left + width ? at - wide - 10 * scale : at, top + 14 * scale);
        }
        ctx.restore();
    }

    private say(at: number | null): void {
        this.cursor = at;
        if (at === null) { this.readout.textContent = ' '; return; }
        const x = this.back(at), power = (on?: boolean) => on && this.options.logged ? powerOfTen : show;
        const parts = this.series.filter((s) => !s.hidden && s.label).map((s) =>
            `${s.label} ${s.at ? s.at(x) : power(this.options.yLog)(nearest(s, x))}`);
        const place = this.options.showX ? this.options.showX(x) : `${this.options.x} ${power(this.options.xLog)(x)}`;
        this.readout.textContent = `${place}: ${parts.join('; ')}`;
    }

    private place(x: number): void {
        if (!this.plot) return;
        this.plot.setCursor({ left: this.plot.valToPos(x, 'x'), top: this.plot.over.clientHeight / 2 });
    }

    private key(event: KeyboardEvent): void {
        if (!this.plot || event.ctrlKey || event.metaKey || event.altKey) return;
        const at = this.cursor ?? (this.from + this.to) / 2;
        if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
            const x = Math.min(Math.max(at + (this.to - this.from) * (event.key === 'ArrowLeft' ? -0.02 : 0.02), this.from), this.to);
            this.readout.setAttribute('aria-live', 'polite');
            if (event.shiftKey && this.options.measured) {
                this.anchor ??= at;
                this.options.measured(this.back(Math.min(this.anchor, x)), this.back(Math.max(this.anchor, x)));
            } else this.anchor = null;
            this.place(x);
        } else if (event.key === '+' || event.key === '=') this.scaleBy(0.5);
        else if (event.key === '-') this.scaleBy(2);
        else if (event.key === '0') this.reset();
        else if (event.key === 'Escape') { this.anchor = null; this.select(null); }
        else return;
        event.preventDefault();
    }

    /// Shows a part of the axis, in coordinates of the plot.
    private zoom(from: number, to: number): void {
        if (!(to > from)) return;
        this.from = from;
        this.to = to;
        this.redraw();
    }

    scaleBy(factor: number): void {
        const [low, high] = this.options.range.map(this.tx);
        const at = this.cursor !== null && this.cursor > this.from && this.cursor < this.to ? this.cursor : (this.from + this.to) / 2;
        this.zoom(Math.max(low, at - (at - this.from) * factor), Math.min(high, at + (this.to - at) * factor));
    }

    reset(): void {
        this.scales();
        this.redraw();
    }

    view(): [number, number] {
        return [this.back(this.from), this.back(this.to)];
    }

    /// Marks a range, or none.
    select(range: [number, number] | null): void {
        this.selected = range;
        if (!this.plot) return;
        const [a, b] = (range ?? [0, 0]).map(this.tx);
        if (!range || b <= this.from || a >= this.to) { this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false); return; }
        const left = this.plot.valToPos(Math.max(a, this.from), 'x'), right = this.plot.valToPos(Math.min(b, this.to), 'x');
        this.plot.setSelect({ left, top: 0, width: right - left, height: this.plot.over.clientHeight }, false);
    }

    redraw(): void {
        if (!this.plot) return;
        this.plot.setData([[this.from, this.to], [1, 1]], true);
        this.plot.redraw(false, true);
    }

    paintAgain(create: boolean): void {
        if (create && !this.plot) this.create();
        else this.redraw();
    }

    /// Other series or another kind of axis.
    change(options: Partial<ChartOptions>, series: Series[], keepView = false): void {
        const axes = ['xLog', 'yLog', 'x', 'y'] as const;
        const rebuild = axes.some((key) => key in options && options[key] !== this.options[key]);
        Object.assign(this.options, options);
        this.series = series;
        this.scales(keepView);
        if (rebuild && this.plot) {
            this.plot.destroy();
            this.plot = null;
            this.create();
        } else this.redraw();
    }

    buttons(): HTMLElement {
        return h('span', { class: 'buttons' },
                 h('button', { type: 'button', onclick: () => this.scaleBy(0.5) }, 'Zoom in'),
                 h('button', { type: 'button', onclick: () => this.scaleBy(2) }, 'Zoom out'),
                 h('button', { type: 'button', onclick: () => this.reset() }, 'Show all'));
    }
}

/// Names of the series; each can be switched off, by `toggle` where the series are made anew.
export function legend(chart: Chart, toggle?: (label: string, on: boolean) => void): HTMLElement {
    const items = chart.series.filter((s) => s.label);
    return h('fieldset', { class: 'legend' }, h('legend', {}, 'Series'), items.map((series) => {
        const id = fresh('series');
        const box = h('input', { type: 'checkbox', id, checked: !series.hidden });
        box.addEventListener('change', () => {
            if (toggle) toggle(series.label, box.checked);
            for (const other of chart.series) if (other.label === series.label) other.hidden = !box.checked;
            chart.redraw();
        });
        const swatch = h('span', { class: `swatch ${series.mark}${series.dash ? ' dashed' : ''} k${series.colour % colourCount}`, 'aria-hidden': 'true' });
        return h('span', {}, box, h('label', { for: id }, swatch, series.label));
    }));
}

/// The numbers of a chart as a table, made when it is opened, and a button that copies them.
export function numbersOf(title: string, table: () => (string | number | null)[][]): HTMLDetailsElement {
    const body = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: ${title}` });
    const details = h('details', { class: 'numbers' }, h('summary', {}, title), copyButton('Copy as CSV', () => csv(table())), body);
    details.addEventListener('toggle', () => {
        if (!details.open || body.firstChild) return;
        const [head, ...rows] = table();
        const most = 500, shown = rows.length > most ? rows.filter((_, k) => k % Math.ceil(rows.length / most) === 0) : rows;
        const cells = (list: (string | number | null)[]): Child =>
            list.map((cell) => h('td', {}, typeof cell === 'number' ? show(cell, 6) : cell ?? ''));
        if (shown.length < rows.length)
            body.appendChild(h('p', {}, `${shown.length} of ${rows.length} rows, evenly spaced; the CSV has all.`));
        body.appendChild(h('table', {}, h('thead', {}, h('tr', {}, head.map((cell) => h('th', { scope: 'col' }, cell)))),
                           h('tbody', {}, shown.map((cell) => h('tr', {}, cells(cell))))));
    });
    return details;
}
