// Matrices as coloured tables: the numbers are in the cells, so a heat map is also its table.

import { h } from './dom';
import { show } from './format';

/// Blue below zero, white at it, orange above, in proportion to the largest entry.
function colour(value: number, largest: number): { paper: string; ink: string } {
    const t = largest > 0 ? Math.max(-1, Math.min(1, value / largest)) : 0;
    const [r, g, b] = t < 0 ? [0, 90, 170] : [213, 94, 0];
    const mix = (c: number) => Math.round(255 + (c - 255) * Math.abs(t));
    const rgb = [mix(r), mix(g), mix(b)];
    const linear = rgb.map((c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : Math.pow((c / 255 + 0.055) / 1.055, 2.4));
    const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    return { paper: `rgb(${rgb.join(',')})`, ink: light > 0.179 ? '#000' : '#fff' };
}

export function heat(title: string, rows: number[][], largest?: number): HTMLElement {
    const top = largest ?? rows.flat().reduce((m, x) => Number.isFinite(x) ? Math.max(m, Math.abs(x)) : m, 0);
    const small = rows.length > 8;
    return h('figure', { class: 'heat' }, h('figcaption', {}, title),
             h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Table: ${title}` },
               h('table', { class: small ? 'matrix small' : 'matrix' },
                 h('tbody', {}, rows.map((cells, i) => h('tr', {}, cells.map((value, j) => {
                     const { paper, ink } = colour(value, top);
                     const cell = h('td', { title: `row ${i + 1}, column ${j + 1}: ${show(value, 6)}` }, show(value, small ? 2 : 3));
                     cell.style.backgroundColor = paper;
                     cell.style.color = ink;
                     return cell;
                 })))))));
}

/// Singular values, largest first: one-sided Jacobi rotations.
export function singularValues(source: number[][]): number[] {
    const columns = source[0].map((_, j) => source.map((cells) => cells[j]));
    for (let sweep = 0; sweep < 60; ++sweep) {
        let turned = false;
        for (let i = 0; i < columns.length; ++i)
            for (let j = i + 1; j < columns.length; ++j) {
                let a = 0, b = 0, c = 0;
                for (let k = 0; k < columns[i].length; ++k) {
                    a += columns[i][k] ** 2;
                    b += columns[j][k] ** 2;
                    c += columns[i][k] * columns[j][k];
                }
                if (Math.abs(c) <= 1e-15 * Math.sqrt(a * b)) continue;
                turned = true;
                const zeta = (b - a) / (2 * c);
                const t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta));
                const cosine = 1 / Math.sqrt(1 + t * t), sine = cosine * t;
                for (let k = 0; k < columns[i].length; ++k) {
                    const x = columns[i][k], y = columns[j][k];
                    columns[i][k] = cosine * x - sine * y;
                    columns[j][k] = sine * x + cosine * y;
                }
            }
        if (!turned) break;
    }
    return columns.map((column) => Math.hypot(...column)).sort((x, y) => y - x);
}

export function product(a: number[][], b: number[][]): number[][] {
    return a.map((cells) => b[0].map((_, j) => cells.reduce((sum, x, k) => sum + x * b[k][j], 0)));
}
