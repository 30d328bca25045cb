// What the explanations share: a part with its sentences, tables of live numbers, sliders of real numbers, and the
// state that leads from one part to the next.

import { h, section, slider, type Child } from '../page/dom';
import { show } from '../page/format';
import type { Vector } from './maths';

/// A part of the story: what it shows, in three sentences, the thing itself, and what leads to the next part.
export function part(title: string, sentences: [string, string, string], next: string, ...children: Child[]): HTMLElement {
    return section(title, sentences.map((sentence) => h('p', {}, sentence)), ...children, next && h('p', { class: 'next' }, next));
}

/// A slider over numbers from `least` to `most` in steps.
export function dial(words: string, least: number, most: number, step: number, initial: number, moved: (value: number) => void,
                     shown = (value: number) => show(value, 3)): { element: HTMLElement; set: (value: number) => void } {
    const round = (k: number) => Number((least + k * step).toPrecision(10)), index = (value: number) => Math.round((value - least) / step);
    const bar = slider(words, 0, index(most), index(initial), (k) => shown(round(k)), (k) => moved(round(k)));
    return { element: bar.element, set: (value) => bar.set(index(value)) };
}

/// A table of names and numbers that change: `update` takes the numbers, as texts.
export function facts(caption: string, names: string[]): { element: HTMLElement; update: (values: string[]) => void } {
    const cells = names.map(() => h('td', { class: 'number' }));
    const element = h('table', { class: 'live' }, h('caption', {}, caption),
        h('tbody', {}, names.map((name, k) => h('tr', {}, h('th', { scope: 'row' }, name), cells[k]))));
    return { element, update: (values) => values.forEach((value, k) => { cells[k].textContent = value; }) };
}

/// u, v and β, which several parts show.
export class Generator {
    u: Vector = [1.2, 0.3];
    v: Vector = [-0.2, 1.1];
    beta = 1;
    private readonly listeners: (() => void)[] = [];

    /// u₁v₂ − u₂v₁, the one number of A = uvᵀ − vuᵀ in the plane.
    area(): number {
        return this.u[0] * this.v[1] - this.u[1] * this.v[0];
    }
    /// Calls at once, and whenever something has changed.
    watch(listener: () => void): void {
        this.listeners.push(listener);
        listener();
    }
    change(to: { u?: Vector; v?: Vector; beta?: number }): void {
        Object.assign(this, to);
        for (const listener of this.listeners) listener();
    }
}
