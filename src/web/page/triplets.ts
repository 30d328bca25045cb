// Which kept triplet moves the largest singular value s₁: ∂ ln s₁/∂ ln t as bars, which stand in the table of their numbers.

import { numbersOf } from './chart';
import { block, type Num } from './data';
import { h } from './dom';
import { show } from './format';
import { barCell } from './table';

export interface Triplet {
    place: number;    // of its layer or connection, from 1
    triplet: number;  // within it, from 1
    value: Num;
    elasticity: number;
}

/// From columns of equal length; those that are unknown are left out.
export function tripletsFrom(place: unknown, triplet: unknown, value: unknown, elasticity: unknown): Triplet[] {
    const [p, t, v, e] = [place, triplet, value, elasticity].map((column) => block(column)?.data ?? []);
    return e.flatMap((x, k) => x !== null && p[k] && t[k] ? [{ place: p[k], triplet: t[k], value: v[k] ?? null, elasticity: x }] : []);
}

const most = 10;
const listed = (words: string[]) => words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
const tenth = (t: Triplet) => `${show(10 * Math.abs(t.elasticity), 2)} %`;

/// Which to shrink, in words. `noun`: what has triplets.
export function shrinkWords(noun: string, triplets: Triplet[]): string {
    const lowering = triplets.filter((t) => t.elasticity > 0).sort((a, b) => b.elasticity - a.elasticity);
    if (!lowering.length) return 'Shrinking one of these triplets does not lower the largest singular value.';
    const [first, ...next] = lowering.slice(0, 3);
    return `Shrink triplet ${first.triplet} of ${noun} ${first.place} first: 10 % less lowers the largest singular value by ${tenth(first)}, to first order.` +
        (next.length ? ` Next ${next.length > 1 ? 'are' : 'is'} ${listed(next.map((t) => `triplet ${t.triplet} of ${noun} ${t.place} (${tenth(t)})`))}.` : '');
}

/// The strongest, of either sign, and all of them as numbers.
export function tripletBars(noun: string, triplets: Triplet[]): HTMLElement {
    const order = [...triplets].sort((a, b) => Math.abs(b.elasticity) - Math.abs(a.elasticity)), shown = order.slice(0, most);
    const largest = Math.abs(order[0]?.elasticity ?? 0), title = 'What every triplet does to the largest singular value s₁';
    const change = (t: Triplet) => t.elasticity === 0 ? '0 %' : `${t.elasticity > 0 ? '−' : '+'}${tenth(t)}`;
    return h('div', {},
        h('p', { class: 'note' }, `${title}${order.length > most ? `: the ${most} strongest of ${order.length}` : ''}. ` +
            `A bar has the length of |∂ ln s₁/∂ ln t|${shown.some((t) => t.elasticity < 0) ? '; an orange one belongs to a triplet that holds s₁ down' : ''}.`),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: ${title}` },
          h('table', { class: 'triplets' },
            h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'triplet'), h('th', { scope: 'col' }, '∂ ln s₁/∂ ln t'),
              h('th', { scope: 'col', class: 'number' }, 'singular value t'), h('th', { scope: 'col', class: 'number' }, 's₁ if t shrinks by 10 %'))),
            h('tbody', {}, shown.map((t) => h('tr', { 'data-place': t.place, 'data-triplet': t.triplet },
              h('th', { scope: 'row' }, `${t.triplet} of ${noun} ${t.place}`),
              barCell(t.elasticity, Math.abs(t.elasticity) / (largest || 1), t.elasticity < 0 ? 'k1' : 'k0'),
              h('td', { class: 'number', 'data-value': t.value ?? '' }, show(t.value)), h('td', { class: 'number' }, change(t))))))),
        order.length > most && numbersOf('All triplets as a table', () => [[noun, 'triplet', 'singular value t', '∂ ln s₁/∂ ln t'], ...order.map((t) => [t.place, t.triplet, t.value, t.elasticity])]));
}
