// Elements. Text is only ever set as text: nothing that comes from a file becomes markup.

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | null | undefined | ((event: Event) => void);

function append(parent: Node, children: Child[]): void {
    for (const child of children) {
        if (child === null || child === undefined || child === false) continue;
        if (Array.isArray(child)) append(parent, child);
        else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
    }
}

/// h('button', {type: 'button', onclick: f}, 'Copy'): an element. Functions become listeners, true an empty attribute.
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, Value> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === 'function') element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? '' : String(value));
    }
    append(element, children);
    return element;
}

export function fill(element: Node, ...children: Child[]): void {
    while (element.firstChild) element.removeChild(element.firstChild);
    append(element, children);
}

let ids = 0;
/// An id that no other element has.
export function fresh(prefix: string): string {
    return `${prefix}-${++ids}`;
}

/// A control with its label in front.
export function labelled(words: string, control: HTMLElement, ...after: Child[]): HTMLElement {
    if (!control.id) control.id = fresh('control');
    return h('span', { class: 'control' }, h('label', { for: control.id }, words), control, ...after);
}

/// Radio buttons in one frame; `chosen` is called with the value.
export function choice(words: string, values: [string, string][], initial: string,
                       chosen: (value: string) => void): HTMLElement {
    const name = fresh('choice');
    return h('fieldset', { class: 'choice' }, h('legend', {}, words), values.map(([value, label]) => {
        const id = fresh('radio');
        return h('span', {}, h('input', { type: 'radio', id, name, value, checked: value === initial,
                                          onchange: () => chosen(value) }), h('label', { for: id }, label));
    }));
}

export function select(words: string, values: [string, string][], initial: string,
                       chosen: (value: string) => void): HTMLElement {
    const control = h('select', { onchange: () => chosen(control.value) },
                      values.map(([value, label]) => h('option', { value, selected: value === initial }, label)));
    return labelled(words, control);
}

/// A slider over whole numbers from `least` to `most`, with what it shows in words beside it.
export function slider(words: string, least: number, most: number, initial: number, shown: (value: number) => string,
                       moved: (value: number) => void): { element: HTMLElement; set: (value: number) => void } {
    const output = h('output', {}, shown(initial));
    const control = h('input', { type: 'range', min: least, max: most, value: initial, step: 1 });
    const update = () => {
        const value = Number(control.value);
        output.textContent = shown(value);
        control.setAttribute('aria-valuetext', shown(value));
        moved(value);
    };
    control.setAttribute('aria-valuetext', shown(initial));
    control.addEventListener('input', update);
    const element = labelled(words, control, output);
    return { element, set: (value) => { control.value = String(value); update(); } };
}

export function section(title: string, ...children: Child[]): HTMLElement {
    const id = fresh('section');
    return h('section', { 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

export function copyButton(words: string, content: () => string): HTMLElement {
    const status = h('span', { class: 'status', role: 'status' });
    const button = h('button', { type: 'button' }, words);
    button.addEventListener('click', () => {
        copy(content()).then((done) => {
            status.textContent = done ? 'Copied.' : 'Could not copy.';
            setTimeout(() => { status.textContent = ''; }, 4000);
        });
    });
    return h('span', { class: 'copy' }, button, status);
}

async function copy(content: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(content);
        return true;
    } catch {
        const area = h('textarea', { class: 'offscreen', 'aria-hidden': 'true', tabindex: -1 });
        area.value = content;
        document.body.appendChild(area);
        area.select();
        const done = document.execCommand('copy');
        area.remove();
        return done;
    }
}
