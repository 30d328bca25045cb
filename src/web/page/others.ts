// Depth limits, figures, and g at points.

import { Chart, legend, numbersOf, type Mark, type Series } from './chart';
import { num, text, type Block, type Panel, type ResultFile } from './data';
import { h, section } from './dom';
import { brief, percent, show } from './format';
import { heat } from './heat';
import { sortable } from './table';

const numbers = (source: Block | undefined) => (source?.data ?? []).map((v) => v ?? NaN);

export function depthWords(file: ResultFile): string {
    const a = file.depth_limit!.attributes;
    return `${num(a, 'reached') === 1 ? '' : 'At least '}${text(a, 'limit')} ${num(a, 'limit') === 1 ? 'layer keeps' : 'layers keep'} a share of ${percent(num(a, 'keep'))} of the singular values at or above ${show(num(a, 'above'))}${num(a, 'certified') === 1 ? '.' : '; not certified.'}`;
}

export function depthSections(file: ResultFile): HTMLElement[] {
    const found = file.depth_limit!, a = found.attributes;
    const order = numbers(found.depth).map((_, k) => k).sort((p, q) => found.depth!.data[p]! - found.depth!.data[q]!);
    const x = order.map((k) => found.depth!.data[k]!), y = order.map((k) => found.share?.data[k] ?? NaN);
    const out = [section('How deep', h('p', { class: 'verdict' }, depthWords(file)))];
    if (x.length > 1) {
        const keep = num(a, 'keep') ?? 0;
        const chart = new Chart({ name: 'Share kept against depth', x: 'depth L', y: `share at or above ${show(num(a, 'above'))}`, range: [x[0], x[x.length - 1]], xLog: x[x.length - 1] > 30 * x[0], whole: true, yRange: () => [0, 1.03],
            marks: [{ x: num(a, 'limit') ?? 1, label: `limit ${text(a, 'limit')}` }] },
            [{ label: 'share kept', mark: 'line', colour: 0, x, y, at: undefined }, { label: '', mark: 'points', colour: 0, x, y },
             { label: `required ${percent(keep)}`, mark: 'line', colour: 1, dash: [6, 4], x: [x[0], x[x.length - 1]], y: [keep, keep], at: () => percent(keep) }]);
        out[0].append(h('div', { class: 'toolbar' }, chart.buttons()), chart.element, legend(chart));
    }
    out.push(section('Depths that were solved', sortable('Depths', [
        { heading: 'depth L', value: (k) => x[k] }, { heading: 'share kept', value: (k) => y[k], shown: (k) => percent(y[k]) },
        { heading: 'certified', value: (k) => found.certified?.data[order[k]] === 1 ? 'yes' : 'no' }], x.length)));
    const draws = numbers(found.draws);
    if (draws.length) {
        const sorted = [...draws].sort((p, q) => p - q), at = (u: number) => sorted[Math.round(u * (sorted.length - 1))];
        out.push(section('Other draws of the mixers', h('p', {}, `${draws.length} draws: median ${show(at(0.5))}, quartiles ${show(at(0.25))} and ${show(at(0.75))}, from ${show(at(0))} to ${show(at(1))}.`),
            sortable('Limits of the draws', [{ heading: 'draw', value: (k) => k + 1 }, { heading: 'limit', value: (k) => draws[k] }], draws.length)));
    }
    return out;
}

/// A panel of coloured cells: x is the column and y the row, from 1.
function panelCells(panel: Panel, cells: Panel['series'][number]): HTMLElement {
    const x = numbers(cells.x), y = numbers(cells.y), rows: number[][] = [];
    numbers(cells.value).forEach((value, k) => (rows[y[k] - 1] ??= [])[x[k] - 1] = value);
    return h('div', { class: 'panel' }, heat(brief(text(panel.attributes, 'heading')) || text(cells.attributes, 'label'), rows, 1));
}

/// Places are stored as logarithms where an axis is logarithmic.
function panelChart(panel: Panel): HTMLElement {
    const cells = panel.series.find((s) => text(s.attributes, 'mark') === 'cells' && s.value);
    if (cells) return panelCells(panel, cells);
    const logX = text(panel.attributes, 'x_scale') === 'log10', logY = text(panel.attributes, 'y_scale') === 'log10';
    const marks: Record<string, Mark> = { line: 'line', steps: 'steps', impulses: 'stems', points: 'points', band: 'band' };
    let colour = 0;
    const series = panel.series.filter((s) => s.x && s.y).map((s): Series => ({ label: brief(text(s.attributes, 'label'), 80), mark: marks[text(s.attributes, 'mark')] ?? 'line', colour: colour++, x: numbers(s.x), y: numbers(s.y), lower: s.lower ? numbers(s.lower) : undefined }));
    let low = Infinity, high = -Infinity;
    for (const s of series) for (const x of s.x) if (Number.isFinite(x)) { low = Math.min(low, x); high = Math.max(high, x); }
    if (!(high > low)) [low, high] = Number.isFinite(low) ? [low - 1, low + 1] : [0, 1];
    const heading = brief(text(panel.attributes, 'heading'));
    const chart = new Chart({ name: heading || text(panel.attributes, 'y_label'), x: brief(text(panel.attributes, 'x_label'), 60), y: brief(text(panel.attributes, 'y_label'), 40), xLog: logX, yLog: logY, logged: true, range: [low, high], height: 280 }, series);
    return h('div', { class: 'panel' }, heading && h('h3', {}, heading), chart.element, legend(chart), h('div', { class: 'toolbar' }, chart.buttons()),
        numbersOf('As a table', () => [['series', logX ? 'log10 x' : 'x', logY ? 'log10 y' : 'y', 'lower'], ...series.flatMap((s) => s.x.map((x, k): (string | number | null)[] => [s.label, x, s.y[k] ?? null, s.lower?.[k] ?? null]))]));
}

export function figureSections(file: ResultFile): HTMLElement[] {
    const figure = file.figure!, a = figure.attributes;
    const skip = new Set(['name', 'title', 'caption', 'points', 'uncertified']);
    const facts = Object.entries(a).filter(([key, value]) => !skip.has(key) && typeof value === 'number');
    return [section('Figure', text(a, 'caption').split('\n').filter((line) => line).map((line) => h('p', {}, line)),
        (num(a, 'uncertified') ?? 0) > 0 && h('p', { class: 'bad' }, `${text(a, 'uncertified')} of ${text(a, 'points')} points are not certified.`),
        h('div', { class: 'panels' }, figure.panels.map(panelChart))),
        ...(facts.length ? [section('Numbers', sortable('Numbers of the figure', [{ heading: 'quantity', value: (k) => facts[k][0] }, { heading: 'value', value: (k) => facts[k][1] as number }], facts.length))] : [])];
}

export function greenSection(file: ResultFile): HTMLElement | null {
    const green = file.green;
    if (!green?.omega || !green.g) return null;
    const z = (source: Block, k: number) => `${show(source.data[2 * k], 6)} + ${show(source.data[2 * k + 1], 6)} i`;
    return section('g at points that were asked for', sortable('g(ω)', [
        { heading: 'ω', value: (k) => z(green.omega!, k) }, { heading: 'g(ω)', value: (k) => z(green.g!, k) },
        { heading: 'certified', value: (k) => green.certified?.data[k] === 1 ? 'yes' : 'no' }], green.omega.shape[0]));
}
