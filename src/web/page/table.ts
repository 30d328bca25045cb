// Tables that sort by any column and keep the rows that contain a text, and cells that are bars.

import { copyButton, fill, fresh, h, type Child } from './dom';
import { csv, show } from './format';

export interface Column {
    heading: string;
    title?: string;
    value: (row: number) => string | number | null;
    shown?: (row: number) => Child;
}

/// A number as a bar of that share of the width, with the number beside it.
export function barCell(value: number | null, share: number, colour: string): HTMLElement {
    if (value === null) return h('td', {}, '–');
    const length = h('span', { class: `bar ${colour}`, 'aria-hidden': 'true' });
    length.style.width = `${Math.max(1, 100 * share).toFixed(1)}%`;
    return h('td', { class: 'bars', 'data-value': value }, h('span', { class: 'bar-frame' }, length), h('span', { class: 'number' }, show(value, 3)));
}

const page = 100;

/// A sortable table of `count` rows. `changed` is told the rows that remain, in their order.
export function sortable(caption: string, columns: Column[], count: number, changed?: (rows: number[]) => void,
                         sortBy = -1, descending = false): HTMLElement {
    let order = Array.from({ length: count }, (_, k) => k), most = page, column = sortBy, down = descending, wanted = '';
    const body = h('tbody');
    const more = h('p', { class: 'more' });
    const state = h('p', { class: 'status', role: 'status' });
    const headings = columns.map((entry, k) => {
        const button = h('button', { type: 'button', title: entry.title, onclick: () => {
            down = column === k ? !down : false;
            column = k;
            update();
        } }, entry.heading, h('span', { class: 'arrow', 'aria-hidden': 'true' }));
        return h('th', { scope: 'col' }, button);
    });
    const less = (a: number, b: number): number => {
        const x = columns[column].value(a), y = columns[column].value(b);
        const empty = Number(x === null || Number.isNaN(x)) - Number(y === null || Number.isNaN(y));
        if (empty) return empty;
        const sign = down ? -1 : 1;
        return sign * (typeof x === 'number' && typeof y === 'number' ? x - y
            : String(x).localeCompare(String(y), 'en', { numeric: true }));
    };
    const matches = (k: number) => columns.some((c) => String(c.value(k) ?? '').toLowerCase().includes(wanted));
    function update(): void {
        order = Array.from({ length: count }, (_, k) => k).filter((k) => !wanted || matches(k));
        if (column >= 0) order.sort((a, b) => less(a, b) || a - b);
        headings.forEach((th, k) => {
            if (k === column) th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
            else th.removeAttribute('aria-sort');
        });
        rows();
        state.textContent = wanted ? `${order.length} of ${count} rows` : '';
        changed?.(order);
    }
    function rows(): void {
        fill(body, order.slice(0, most).map((k) => h('tr', {}, columns.map((entry, c) => {
            const value = entry.value(k);
            const content = entry.shown ? entry.shown(k) : typeof value === 'number' ? show(value) : value ?? '–';
            return c === 0 ? h('th', { scope: 'row' }, content)
                           : h('td', { class: typeof value === 'number' || value === null ? 'number' : null }, content);
        }))));
        fill(more, order.length > most && h('button', { type: 'button', onclick: () => { most = order.length; rows(); } },
                                            `Show all ${order.length} rows`));
    }
    const filter = h('input', { type: 'search', id: fresh('filter'), autocomplete: 'off', oninput: () => {
        wanted = filter.value.trim().toLowerCase();
        update();
    } });
    update();
    return h('div', { class: 'sortable' },
             h('div', { class: 'toolbar' },
               count > 5 && h('span', { class: 'control' }, h('label', { for: filter.id }, 'Filter rows'), filter),
               copyButton('Copy as CSV', () => csv([columns.map((c) => c.heading), ...order.map((k) => columns.map((c) => c.value(k)))])),
               state),
             h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: ${caption}` },
               h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, headings)), body)),
             more);
}
