import type { Num } from './data';

/// A number for a person: `digits` of them, no more, and a dash for none.
export function show(value: Num | undefined, digits = 4): string {
    if (value === null || value === undefined || Number.isNaN(value)) return '–';
    if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
    if (value === 0) return '0';
    const size = Math.abs(value);
    let text: string;
    if (size >= 1e6 || size < 1e-4) text = value.toExponential(digits - 1).replace(/\.?0+e/, 'e').replace('e+', 'e');
    else {
        text = value.toPrecision(digits);
        if (text.includes('e')) text = String(Math.round(value));
        else if (text.includes('.')) text = text.replace(/\.?0+$/, '');
    }
    return text.replace(/-/g, '−');
}

/// A share in percent; 0 and 100 only where it is exactly that, as on the terminal.
export function percent(share: Num | undefined): string {
    if (share === null || share === undefined || Number.isNaN(share)) return '–';
    if (share < 1e-6) return '0 %';
    if (share > 1 - 1e-6) return '100 %';
    if (share < 0.0001) return 'under 0.01 %';
    if (share > 0.9999) return 'over 99.99 %';
    return `${(100 * share).toFixed(2)} %`;
}

/// "0.00056 ± 0.0002": the error with two digits.
export function withError(value: Num, error: Num): string {
    if (value === null) return '–';
    return error === null ? show(value, 3) : `${show(value, 3)} ± ${show(error, 2)}`;
}

/// CSV as spreadsheets read it. A text that begins like a formula gets an apostrophe.
export function csv(rows: (string | number | null | undefined)[][]): string {
    return rows.map((cells) => cells.map((cell) => {
        if (cell === null || cell === undefined) return '';
        if (typeof cell === 'number') return Number.isFinite(cell) ? String(cell) : '';
        const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
        return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
    }).join(',')).join('\n') + '\n';
}

/// The beginning of a long text, for headings and labels.
export function brief(content: string, most = 160): string {
    return content.length > most ? `${content.slice(0, most)}…` : content;
}

export function words(name: string): string {
    return name.replace(/_/g, ' ');
}
